import Synchronization

/// A place where a test holds work and sees it arrive: no sleeping, no polling.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var arrivals = 0
        var cancellations = 0
        var nextKey = 0
        var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
        var watchers: [(enough: @Sendable (Int, Int) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []

        mutating func satisfied() -> [CheckedContinuation<Void, Never>] {
            let (arrivals, cancellations) = (arrivals, cancellations)
            let ready = watchers.filter { $0.enough(arrivals, cancellations) }.map(\.continuation)
            watchers.removeAll { $0.enough(arrivals, cancellations) }
            return ready
        }
    }

    private let state = Mutex(State())

    /// Waits until the gate is open.
    /// - Throws: `CancellationError` when the task is cancelled meanwhile.
    func pass() async throws {
        let (key, ready) = state.withLock { state in
            state.arrivals += 1
            state.nextKey += 1
            return (state.nextKey, state.satisfied())
        }
        for watcher in ready { watcher.resume() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let outcome = state.withLock { state -> Result<Void, any Error>? in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if state.isOpen { return .success(()) }
                    state.waiting[key] = continuation
                    return nil
                }
                guard let outcome else { return }
                if case .failure = outcome { noteCancellation() }
                continuation.resume(with: outcome)
            }
        } onCancel: {
            guard let waiter = state.withLock({ $0.waiting.removeValue(forKey: key) }) else { return }
            noteCancellation()
            waiter.resume(throwing: CancellationError())
        }
    }

    /// Counts an arrival without waiting.
    func note() {
        let ready = state.withLock { state in
            state.arrivals += 1
            return state.satisfied()
        }
        for watcher in ready { watcher.resume() }
    }

    private func noteCancellation() {
        let ready = state.withLock { state in
            state.cancellations += 1
            return state.satisfied()
        }
        for watcher in ready { watcher.resume() }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for waiter in waiting { waiter.resume() }
    }

    var arrivals: Int { state.withLock { $0.arrivals } }

    /// Returns when `count` have come to the gate since it was made.
    func arrived(_ count: Int = 1) async { await watch { arrivals, _ in arrivals >= count } }

    /// Returns when `count` of those who waited have been cancelled.
    func cancelled(_ count: Int = 1) async { await watch { _, cancellations in cancellations >= count } }

    private func watch(_ enough: @escaping @Sendable (Int, Int) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isEnough = state.withLock { state in
                if enough(state.arrivals, state.cancellations) { return true }
                state.watchers.append((enough, continuation))
                return false
            }
            if isEnough { continuation.resume() }
        }
    }
}
