import Synchronization

/// Closed until opened: lets a test hold work at a known place and wait for it to get there, without time.
public final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var arrived = 0
        var held: [CheckedContinuation<Void, Never>] = []
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    public init() {}

    /// Waits until the gate is open. Does not end by cancellation: the test decides when work goes on.
    public func pass() async {
        await withCheckedContinuation { continuation in
            let resumed = state.withLock { state -> [CheckedContinuation<Void, Never>] in
                state.arrived += 1
                let count = state.arrived
                let ready = state.watchers.filter { $0.count <= count }.map(\.continuation)
                state.watchers.removeAll { $0.count <= count }
                if state.isOpen { return ready + [continuation] }
                state.held.append(continuation)
                return ready
            }
            for continuation in resumed { continuation.resume() }
        }
    }

    /// Waits until `count` callers have come to the gate, since it was made.
    public func arrivals(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state -> Bool in
                if state.arrived >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    /// Lets everybody through, now and later.
    public func open() {
        let held = state.withLock { state in
            state.isOpen = true
            defer { state.held = [] }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }
}
