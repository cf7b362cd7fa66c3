import ServiceMesh
import TestSupport

/// Time that passes when the test says so.
final class HandClock: SimulatedTime {
    private struct Sleeper: Sendable {
        let end: UInt64
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State: Sendable {
        var now: UInt64 = 0
        var sleepers: [UInt64: Sleeper] = [:]
        var last: UInt64 = 0
        var lengths: [UInt64] = []
    }

    private let state = Awaited(State())

    func now() -> UInt64 { state.value.now }

    func sleep(until nanoseconds: UInt64) async throws {
        let id = state.change { state in
            state.last += 1
            return state.last
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isDue = state.change { state in
                    state.lengths.append(nanoseconds > state.now ? nanoseconds - state.now : 0)
                    guard !Task.isCancelled, nanoseconds > state.now else { return true }
                    state.sleepers[id] = Sleeper(end: nanoseconds, continuation: continuation)
                    return false
                }
                guard isDue else { return }
                continuation.resume(with: Task.isCancelled ? .failure(CancellationError()) : .success(()))
            }
        } onCancel: {
            state.change { $0.sleepers.removeValue(forKey: id) }?.continuation.resume(throwing: CancellationError())
        }
    }

    func pass(milliseconds: UInt64) { pass(to: now() + milliseconds * 1_000_000) }

    private func pass(to moment: UInt64) {
        let due = state.change { state in
            state.now = max(state.now, moment)
            let due = state.sleepers.filter { $0.value.end <= moment }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
    }

    /// Waits until somebody sleeps.
    func sleeper() async { await state.meets { !$0.sleepers.isEmpty } }

    /// Waits until somebody sleeps, and lets the time come until which all sleep that do.
    func tick() async {
        await sleeper()
        pass(to: state.value.sleepers.values.map(\.end).max() ?? now())
    }

    var sleepers: Int { state.value.sleepers.count }
    /// Nanoseconds of each sleep.
    var lengths: [UInt64] { state.value.lengths }
}
