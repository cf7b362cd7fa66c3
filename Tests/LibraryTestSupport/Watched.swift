import LibraryModel
import ServiceMesh
import SmilePile
import Synchronization
import TestSupport
import Testing

/// An observation that somebody follows: its newest value, and a way to wait for one without time.
package final class Watched<Value: Codable & Sendable & Equatable>: Sendable {
    private struct State {
        var values: [Value] = []
        var newest: Change<Value>?
        var changes = 0
        var failure: MeshError?
        var waiter: (condition: @Sendable (Value) -> Bool, continuation: CheckedContinuation<Void, Never>)?
    }

    private let state = Mutex(State())
    private let task = Mutex<Task<Void, Never>?>(nil)

    private let mayRepeat: Bool

    private init(mayRepeat: Bool) { self.mayRepeat = mayRepeat }

    /// - Parameters:
    ///   - mayRepeat: whether equal values may follow each other: two events of one kind are two events.
    ///   - pause: awaited with each change before the next one is taken.
    package static func follow<M: HandledObservation>(
        _ message: M, on mesh: Mesh, mayRepeat: Bool = false, pause: @escaping @Sendable () async -> Void = {}
    ) -> Watched where M.Update == Value {
        let watched = Watched(mayRepeat: mayRepeat)
        let task = Task {
            do {
                _ = try await mesh.observe(message) { change in
                    watched.take(change)
                    await pause()
                }
            } catch {
                watched.state.withLock { $0.failure = MeshError(describing: error) }
            }
        }
        watched.task.withLock { $0 = task }
        return watched
    }

    private func take(_ change: Change<Value>) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            // What every observation promises: sequences rise, a gap is marked, nothing equal is repeated.
            if let last = state.newest {
                #expect(change.sequence > last.sequence)
                #expect(change.overflowed == (change.sequence > last.sequence + 1))
                if !mayRepeat, !change.overflowed { #expect(change.value != last.value) }
            }
            state.newest = change
            state.values.append(change.value)
            state.changes += 1
            guard let waiter = state.waiter, waiter.condition(change.value) else { return nil }
            state.waiter = nil
            return waiter.continuation
        }
        waiter?.resume()
    }

    package var newest: Change<Value>? { state.withLock { $0.newest } }
    /// All that came, the oldest first.
    package var values: [Value] { state.withLock { $0.values } }
    package var changes: Int { state.withLock { $0.changes } }
    package var failure: MeshError? { state.withLock { $0.failure } }

    /// Returns when the newest value meets the condition; one that never comes is found by the suite's time limit, which
    /// cancels the test.
    ///
    /// - Parameter start: how many ``changes`` there had been, where one that came later counts though another has followed it.
    package func value(since start: Int? = nil, where condition: @escaping @Sendable (Value) -> Bool) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isThere = state.withLock { state in
                    if Task.isCancelled { return true }
                    if state.values.suffix(start.map { state.changes - $0 } ?? 1).contains(where: condition) {
                        return true
                    }
                    state.waiter = (condition, continuation)
                    return false
                }
                if isThere { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.continuation.resume()
        }
    }

    package func becomes(_ value: Value) async { await self.value { $0 == value } }

    /// Leaves, and returns when the observation has ended.
    package func end() async {
        let task = task.withLock { $0 }
        task?.cancel()
        await task?.value
    }

    /// Returns when the observation has ended by itself.
    package func ended() async { await task.withLock { $0 }?.value }
}
