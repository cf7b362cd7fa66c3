import Synchronization

/// What a job is told from outside: go on, stand still, stop. Its body asks between two items.
///
/// Standing still holds no thread: who asks waits as an `async` call. While nothing is said, asking is one load.
final class JobSwitch: Sendable {
    struct Orders: Sendable {
        var isPaused = false
        var isCancelled = false
        var isInterrupted = false

        var mustStop: Bool { isCancelled || isInterrupted }
    }

    private struct State {
        var orders = Orders()
        var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var next: UInt64 = 0
    }

    private let state = Mutex(State())
    private let isOpen = Atomic<Bool>(true)

    var orders: Orders { state.withLock { $0.orders } }

    /// Whether the body may go on without asking further.
    var mayGoOn: Bool { isOpen.load(ordering: .acquiring) }

    func change(_ body: (inout Orders) -> Void) {
        let woken = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            body(&state.orders)
            let isHeld = state.orders.isPaused || state.orders.mustStop
            isOpen.store(!isHeld, ordering: .releasing)
            guard !state.orders.isPaused || state.orders.mustStop else { return [] }
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in woken { continuation.resume() }
    }

    /// Returns when the body may go on.
    /// - Throws: `CancellationError` where it has to stop, or its task was cancelled.
    func pass() async throws {
        while true {
            try Task.checkCancellation()
            let orders = orders
            if orders.mustStop { throw CancellationError() }
            if !orders.isPaused { return }
            await waitForChange()
        }
    }

    private func waitForChange() async {
        let ticket = state.withLock { state in
            state.next += 1
            return state.next
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                let goesOn = state.withLock { state -> Bool in
                    // The order may have changed, or the handler come, before anybody stood here to be woken.
                    if !state.orders.isPaused || state.orders.mustStop || Task.isCancelled { return true }
                    state.waiting[ticket] = continuation
                    return false
                }
                if goesOn { continuation.resume() }
            }
        } onCancel: {
            let waiting = state.withLock { $0.waiting.removeValue(forKey: ticket) }
            waiting?.resume()
        }
    }
}
