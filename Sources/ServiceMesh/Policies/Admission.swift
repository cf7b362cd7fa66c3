import Synchronization

/// How many calls of one service run at once, and how many may wait for their turn.
public struct AdmissionLimit: Sendable {
    public let concurrent: Int
    public let queued: Int

    /// - Parameters:
    ///   - concurrent: calls past admission at the same time, 1 or more.
    ///   - queued: calls that wait, 0 or more; the next one is refused at once.
    public init(concurrent: Int, queued: Int) {
        precondition(concurrent >= 1 && queued >= 0)
        self.concurrent = concurrent
        self.queued = queued
    }

    public static let standard = AdmissionLimit(concurrent: 64, queued: 256)
}

/// One service's door: decides before the hop to its actor whether a call goes in, waits, or is refused now.
///
/// An actor's own mailbox has no bound and cannot refuse; under overload it grows until memory ends. So the
/// bound stands before it, and a full queue answers `resource_exhausted` immediately.
final class Admission: Sendable {
    private struct Waiter {
        let id: UInt64
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var running = 0
        var waiting: [Waiter] = []
        var nextID: UInt64 = 0
        var isClosed = false
        var whenDrained: [CheckedContinuation<Void, Never>] = []

        var isDrained: Bool { running == 0 && waiting.isEmpty }
    }

    private enum Decision { case admitted, wait(UInt64), full, closed }

    let limit: AdmissionLimit
    private let serviceName: String
    private let state = Mutex(State())

    init(limit: AdmissionLimit, serviceName: String) {
        self.limit = limit
        self.serviceName = serviceName
    }

    /// Waits for a place. Each return without an error must be followed by one ``leave()``.
    ///
    /// - Parameter isNested: whether the call comes from inside the mesh. While the service drains, calls from
    ///   outside are refused and those that running work still needs are let in.
    nonisolated(nonsending) func enter(isNested: Bool) async throws {
        let decision = state.withLock { state -> Decision in
            if state.isClosed && !isNested { return .closed }
            if state.running < limit.concurrent {
                state.running += 1
                return .admitted
            }
            guard state.waiting.count < limit.queued else { return .full }
            state.nextID += 1
            return .wait(state.nextID)
        }
        switch decision {
        case .admitted: return
        case .wait(let id): try await wait(id)
        case .full:
            throw MeshError(
                .resourceExhausted,
                "\(serviceName) has \(limit.concurrent) requests at work and \(limit.queued) waiting. Try again shortly."
            )
        case .closed:
            throw MeshError(.unavailable, "The library is shutting down. Start it again and repeat the request.")
        }
    }

    private nonisolated(nonsending) func wait(_ id: UInt64) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let admittedNow = state.withLock { state -> Bool in
                    // A place may have come free since the decision, when nobody was in the queue to take it.
                    if state.running < limit.concurrent {
                        state.running += 1
                        return true
                    }
                    state.waiting.append(Waiter(id: id, continuation: continuation))
                    return false
                }
                if admittedNow {
                    continuation.resume()
                } else if Task.isCancelled {
                    // onCancel may have come before the waiter stood in the queue.
                    giveUp(id)
                }
            }
        } onCancel: {
            giveUp(id)
        }
    }

    private func giveUp(_ id: UInt64) {
        let waiter = state.withLock { state -> Waiter? in
            guard let index = state.waiting.firstIndex(where: { $0.id == id }) else { return nil }
            return state.waiting.remove(at: index)
        }
        waiter?.continuation.resume(throwing: CancellationError())
    }

    /// Gives the place to the longest waiting call, or back.
    func leave() {
        let (next, drained) = state.withLock { state -> (Waiter?, [CheckedContinuation<Void, Never>]) in
            if !state.waiting.isEmpty { return (state.waiting.removeFirst(), []) }
            state.running -= 1
            guard state.isDrained else { return (nil, []) }
            defer { state.whenDrained = [] }
            return (nil, state.whenDrained)
        }
        next?.continuation.resume()
        for continuation in drained { continuation.resume() }
    }

    /// Refuses calls from outside from now on.
    func close() { state.withLock { $0.isClosed = true } }

    /// Returns when no call is running or waiting.
    func drained() async {
        await withCheckedContinuation { continuation in
            let isDrained = state.withLock { state -> Bool in
                if !state.isDrained { state.whenDrained.append(continuation) }
                return state.isDrained
            }
            if isDrained { continuation.resume() }
        }
    }

    var counts: (running: Int, waiting: Int) { state.withLock { ($0.running, $0.waiting.count) } }
}
