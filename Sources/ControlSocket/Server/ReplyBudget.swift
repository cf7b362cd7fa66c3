import ServiceMesh
import Synchronization

/// The bytes that all connections together may hold for replies: of replies that wait for their client, and of the room set
/// aside for replies that are being made.
///
/// Room for a reply that may be large is asked for before its request starts, because once the reply is there, it is too
/// late: it can only be kept or thrown away. A request that finds none waits in a queue, in which each connection
/// has one place, so that a connection with sixty requests does not push back one with a single request.
///
/// Small replies are counted and wait for nobody: they are bounded by the number of requests, and the owner who wants to
/// see what is going on, or to stop it, must not wait for clients that do not read.
final class ReplyBudget: Sendable {
    private struct State {
        var held = 0
        var waiting: [ClientConnection] = []
    }

    private let limit: Int
    private let page: Int
    private let state = Mutex(State())
    /// Since when somebody waits, 0 for nobody; to be read without the lock.
    private let contended = Atomic<UInt64>(0)

    init(_ limits: ControlLimits) {
        limit = limits.totalBytes
        page = limits.pageBytes
    }

    /// Since when there was always a connection that waited because of what others hold; nil where none does.
    var contendedSince: UInt64? {
        let since = contended.load(ordering: .relaxed)
        return since == 0 ? nil : since
    }

    enum Outcome { case taken, queued }

    /// Sets room for one large reply aside, or puts the connection into the queue; it is told by its state's
    /// `hasGrant` when its turn has come. Not for one that is in the queue already.
    func takePage(for connection: ClientConnection) -> Outcome {
        state.withLock { state in
            if state.waiting.isEmpty, state.held + page <= limit {
                state.held += page
                return .taken
            }
            if state.waiting.isEmpty { contended.store(max(1, MonotonicClock.now()), ordering: .relaxed) }
            state.waiting.append(connection)
            return .queued
        }
    }

    /// Counts what a connection holds more or less than before.
    /// - Returns: the connections whose turn has come by that. Each has its room already, and is to be told by
    ///   its state's `hasGrant`, when no other connection's lock is held.
    func count(_ difference: Int) -> [ClientConnection] {
        state.withLock { state in
            state.held += difference
            var granted = 0
            while granted < state.waiting.count, state.held + page <= limit {
                state.held += page
                granted += 1
            }
            guard granted > 0 else { return [] }
            defer {
                state.waiting.removeFirst(granted)
                if state.waiting.isEmpty { contended.store(0, ordering: .relaxed) }
            }
            return Array(state.waiting.prefix(granted))
        }
    }

    /// Takes a connection out of the queue.
    /// - Returns: false where it is not there: its turn has come, and it will be told.
    func leave(_ connection: ClientConnection) -> Bool {
        state.withLock { state in
            guard let index = state.waiting.firstIndex(where: { $0 === connection }) else { return false }
            state.waiting.remove(at: index)
            if state.waiting.isEmpty { contended.store(0, ordering: .relaxed) }
            return true
        }
    }
}
