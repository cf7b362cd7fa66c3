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
///
/// While nobody waits and the door is open, coming and going is one atomic step on `word`. Otherwise `word` has the
/// mark `slow`, and then only a holder of the lock changes it: the lock's rules can be read without the fast way.
final class Admission: Sendable {
    private struct Waiter {
        let id: UInt64
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var waiting: [Waiter] = []
        var nextID: UInt64 = 0
        var isClosed = false
        var whenDrained: [CheckedContinuation<Void, Never>] = []

        var needsLock: Bool { isClosed || !waiting.isEmpty || !whenDrained.isEmpty }
    }

    private enum Decision { case admitted, wait(UInt64), full, closed }

    let limit: AdmissionLimit
    /// Made once, text and box: under overload it is thrown a million times, and making it would be most of the cost.
    private let full: any Error
    private let state = Mutex(State())
    /// How many calls are running, and `slow`.
    private let word = Atomic<UInt64>(0)
    private static let slow: UInt64 = 1 << 63

    init(limit: AdmissionLimit, serviceName: String) {
        self.limit = limit
        full = MeshError(
            .resourceExhausted,
            "\(serviceName) has \(limit.concurrent) requests at work and \(limit.queued) waiting. Try again shortly.")
    }

    /// Takes a place if one is free and nobody waits for it. Each `true` must be followed by one ``leave()``.
    ///
    /// - Parameter isNested: see ``enter(isNested:)``, which comes next where this returns false.
    func enterNow(isNested: Bool) throws -> Bool {
        if enterFast() { return true }
        return switch decide(isNested: isNested, mayWait: false) {
        case .admitted: true
        case .wait: false
        case .full: throw full
        case .closed: throw closed
        }
    }

    private func enterFast() -> Bool {
        var seen = word.load(ordering: .relaxed)
        while seen < UInt64(limit.concurrent) {
            let (exchanged, original) = word.weakCompareExchange(
                expected: seen, desired: seen &+ 1, ordering: .acquiringAndReleasing)
            if exchanged { return true }
            seen = original
        }
        return false
    }

    /// Waits for a place. Each return without an error must be followed by one ``leave()``.
    ///
    /// - Parameter isNested: whether the call comes from inside the mesh. While the service drains, calls from
    ///   outside are refused and those that running work still needs are let in.
    nonisolated(nonsending) func enter(isNested: Bool) async throws {
        switch decide(isNested: isNested, mayWait: true) {
        case .admitted: return
        case .wait(let id): try await wait(id)
        case .full: throw full
        case .closed: throw closed
        }
    }

    private func decide(isNested: Bool, mayWait: Bool) -> Decision {
        withLock { state, running in
            if state.isClosed && !isNested { return .closed }
            if running < limit.concurrent {
                running += 1
                return .admitted
            }
            guard state.waiting.count < limit.queued else { return .full }
            if mayWait { state.nextID += 1 }
            return .wait(state.nextID)
        }
    }

    private var closed: MeshError {
        MeshError(.unavailable, "The library is shutting down. Start it again and repeat the request.")
    }

    private nonisolated(nonsending) func wait(_ id: UInt64) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let admittedNow = withLock { state, running -> Bool in
                    // A place may have come free since the decision, when nobody was in the queue to take it.
                    if running < limit.concurrent {
                        running += 1
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
        let (waiter, drained) = withLock { state, running -> (Waiter?, [CheckedContinuation<Void, Never>]) in
            guard let index = state.waiting.firstIndex(where: { $0.id == id }) else { return (nil, []) }
            let waiter = state.waiting.remove(at: index)
            return (waiter, Self.takeDrained(&state, running))
        }
        waiter?.continuation.resume(throwing: CancellationError())
        for continuation in drained { continuation.resume() }
    }

    /// Gives the place to the longest waiting call, or back.
    func leave() {
        var seen = word.load(ordering: .relaxed)
        while seen & Self.slow == 0 {
            let (exchanged, original) = word.weakCompareExchange(
                expected: seen, desired: seen &- 1, ordering: .acquiringAndReleasing)
            if exchanged { return }
            seen = original
        }
        let (next, drained) = withLock { state, running -> (Waiter?, [CheckedContinuation<Void, Never>]) in
            if !state.waiting.isEmpty { return (state.waiting.removeFirst(), []) }
            running -= 1
            return (nil, Self.takeDrained(&state, running))
        }
        next?.continuation.resume()
        for continuation in drained { continuation.resume() }
    }

    private static func takeDrained(_ state: inout State, _ running: Int) -> [CheckedContinuation<Void, Never>] {
        guard running == 0, state.waiting.isEmpty else { return [] }
        defer { state.whenDrained = [] }
        return state.whenDrained
    }

    /// Refuses calls from outside from now on.
    func close() { withLock { state, _ in state.isClosed = true } }

    /// Returns when no call is running or waiting.
    func drained() async {
        await withCheckedContinuation { continuation in
            let isDrained = withLock { state, running -> Bool in
                let isDrained = running == 0 && state.waiting.isEmpty
                if !isDrained { state.whenDrained.append(continuation) }
                return isDrained
            }
            if isDrained { continuation.resume() }
        }
    }

    var counts: (running: Int, waiting: Int) { withLock { state, running in (running, state.waiting.count) } }

    /// Whether the next call may come in without the lock.
    var isFast: Bool { word.load(ordering: .relaxed) & Self.slow == 0 }

    /// The slow way: stops the fast one, does `body`, and lets it go on where nothing speaks against it.
    private func withLock<Result>(_ body: (inout State, _ running: inout Int) -> Result) -> Result {
        state.withLock { state in
            let marked = word.bitwiseOr(Self.slow, ordering: .acquiringAndReleasing).newValue
            var running = Int(marked & ~Self.slow)
            defer { word.store(UInt64(running) | (state.needsLock ? Self.slow : 0), ordering: .releasing) }
            return body(&state, &running)
        }
    }
}
