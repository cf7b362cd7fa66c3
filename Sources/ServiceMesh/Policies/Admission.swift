import Synchronization

/// How many calls of one service run at once, and how many may wait for their turn.
public struct AdmissionLimit: Sendable {
    public let concurrent: Int
    public let queued: Int

    /// - Parameters:
    ///   - concurrent: calls past admission at the same time, 1 or more. Each takes 16 bytes, used or not.
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
/// While nobody waits and the door is open, a call comes by claiming a place and leaves by freeing it, without the
/// lock. Otherwise `isSlow` is set, and who comes takes the lock. Dekker's rule keeps both honest: the fast way
/// changes a place and then reads the mark, the slow way sets the mark and then reads the places, all in one total
/// order, so at least one of them sees the other.
final class Admission: Sendable {
    private struct Waiter {
        let id: UInt64
        let message: UInt8
        let since: UInt64
        let continuation: CheckedContinuation<Int32, any Error>
    }

    private struct State {
        var waiting: [Waiter] = []
        var nextID: UInt64 = 0
        var isClosed = false
        var whenDrained: [CheckedContinuation<Void, Never>] = []

        var needsLock: Bool { isClosed || !waiting.isEmpty || !whenDrained.isEmpty }
    }

    private enum Decision { case admitted(Int32), wait(UInt64), full, closed }

    let limit: AdmissionLimit
    let running: InFlightTable
    /// Made once, text and box: under overload it is thrown a million times, and making it would be most of the cost.
    private let full: any Error
    private let clock: MeshClock
    private let state = Mutex(State())
    private let isSlow = Atomic(false)

    init(limit: AdmissionLimit, serviceName: String, clock: MeshClock = .system) {
        self.limit = limit
        self.clock = clock
        running = InFlightTable(count: limit.concurrent)
        full = MeshError(
            .resourceExhausted,
            "\(serviceName) has \(limit.concurrent) requests at work and \(limit.queued) waiting. Try again shortly.")
    }

    /// Takes a place if one is free and nobody waits for it. Each place must be given back by one ``leave(_:)``.
    ///
    /// - Parameters:
    ///   - message: the service's number for it.
    ///   - now: nanoseconds on the mesh's clock.
    ///   - isNested: see ``enter(_:isNested:)``, which comes next where this returns nil.
    func enterNow(_ message: UInt8, now: UInt64, isNested: Bool) throws -> Int32? {
        if !isSlow.load(ordering: .sequentiallyConsistent),
            let place = running.claim(InFlightTable.word(message: message, began: now))
        {
            if !isSlow.load(ordering: .sequentiallyConsistent) { return place }
            // A queue has formed, or the door was closed, at this very moment: the place may not be ours.
            leave(place)
        }
        return switch decide(message, now: now, isNested: isNested, mayWait: false) {
        case .admitted(let place): place
        case .wait: nil
        case .full: throw full
        case .closed: throw closed
        }
    }

    /// Waits for a place, which must be given back by one ``leave(_:)``.
    ///
    /// - Parameter isNested: whether the call comes from inside the mesh. While the service drains, calls from
    ///   outside are refused and those that running work still needs are let in.
    nonisolated(nonsending) func enter(_ message: UInt8, isNested: Bool) async throws -> Int32 {
        switch decide(message, now: clock.now(), isNested: isNested, mayWait: true) {
        case .admitted(let place): return place
        case .wait(let id): return try await wait(id, message)
        case .full: throw full
        case .closed: throw closed
        }
    }

    private func decide(_ message: UInt8, now: UInt64, isNested: Bool, mayWait: Bool) -> Decision {
        withLock { state in
            if state.isClosed && !isNested { return .closed }
            if let place = take(message, now: now, state) { return .admitted(place) }
            guard state.waiting.count < limit.queued else { return .full }
            if mayWait { state.nextID += 1 }
            return .wait(state.nextID)
        }
    }

    /// A place for who has just come; nobody passes those that wait.
    private func take(_ message: UInt8, now: UInt64, _ state: State) -> Int32? {
        guard state.waiting.isEmpty else { return nil }
        return running.claim(InFlightTable.word(message: message, began: now))
    }

    private var closed: MeshError {
        MeshError(.unavailable, "The library is shutting down. Start it again and repeat the request.")
    }

    private nonisolated(nonsending) func wait(_ id: UInt64, _ message: UInt8) async throws -> Int32 {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Int32, any Error>) in
                let now = clock.now()
                let decision = withLock { state -> Decision in
                    // A place may have come free since the decision, when nobody was in the queue to take it.
                    if let place = take(message, now: now, state) { return .admitted(place) }
                    // Or the queue may be full since: who decided at the same moment stands in it by now.
                    guard state.waiting.count < limit.queued else { return .full }
                    state.waiting.append(Waiter(id: id, message: message, since: now, continuation: continuation))
                    return .wait(id)
                }
                switch decision {
                case .admitted(let place): continuation.resume(returning: place)
                case .full, .closed: continuation.resume(throwing: full)
                // onCancel may have come before the waiter stood in the queue.
                case .wait: if Task.isCancelled { giveUp(id) }
                }
            }
        } onCancel: {
            giveUp(id)
        }
    }

    private func giveUp(_ id: UInt64) {
        let (waiter, drained) = withLock { state -> (Waiter?, [CheckedContinuation<Void, Never>]) in
            guard let index = state.waiting.firstIndex(where: { $0.id == id }) else { return (nil, []) }
            let waiter = state.waiting.remove(at: index)
            return (waiter, takeDrained(&state))
        }
        waiter?.continuation.resume(throwing: CancellationError())
        for continuation in drained { continuation.resume() }
    }

    /// Gives the place back, and on to the call that has waited longest.
    func leave(_ place: Int32) {
        running.release(place)
        if isSlow.load(ordering: .sequentiallyConsistent) { moveUp() }
    }

    /// Lets in calls that wait, as far as there are places, the longest waiting first.
    private func moveUp() {
        let (admitted, drained) = withLock { state -> ([(Waiter, Int32)], [CheckedContinuation<Void, Never>]) in
            var admitted: [(Waiter, Int32)] = []
            if !state.waiting.isEmpty {
                let now = clock.now()
                while let first = state.waiting.first,
                    let place = running.claim(InFlightTable.word(message: first.message, began: now))
                {
                    admitted.append((state.waiting.removeFirst(), place))
                }
            }
            return (admitted, takeDrained(&state))
        }
        for (waiter, place) in admitted { waiter.continuation.resume(returning: place) }
        for continuation in drained { continuation.resume() }
    }

    private func takeDrained(_ state: inout State) -> [CheckedContinuation<Void, Never>] {
        guard !state.whenDrained.isEmpty, state.waiting.isEmpty, running.runningCount == 0 else { return [] }
        defer { state.whenDrained = [] }
        return state.whenDrained
    }

    /// Refuses calls from outside from now on.
    func close() { withLock { $0.isClosed = true } }

    /// Returns when no call is running or waiting.
    func drained() async {
        await withCheckedContinuation { continuation in
            let isDrained = withLock { state -> Bool in
                let isDrained = state.waiting.isEmpty && running.runningCount == 0
                if !isDrained { state.whenDrained.append(continuation) }
                return isDrained
            }
            if isDrained { continuation.resume() }
        }
    }

    var counts: (running: Int, waiting: Int) {
        (running.runningCount, state.withLock { $0.waiting.count })
    }

    /// Since when each waiting call has been waiting, by the service's number for its message; the longest first.
    var queue: [(message: UInt8, since: UInt64)] {
        state.withLock { $0.waiting.map { ($0.message, $0.since) } }
    }

    /// Whether the next call may come in without the lock.
    var isFast: Bool { !isSlow.load(ordering: .sequentiallyConsistent) }

    /// The slow way: stops the fast one, does `body`, and lets it go on where nothing speaks against it.
    private func withLock<Result>(_ body: (inout State) -> Result) -> Result {
        state.withLock { state in
            isSlow.store(true, ordering: .sequentiallyConsistent)
            defer { isSlow.store(state.needsLock, ordering: .sequentiallyConsistent) }
            return body(&state)
        }
    }
}
