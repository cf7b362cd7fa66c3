import CSQLite
import Executors
import Synchronization

/// What can stop one read: its task's cancellation, or its deadline.
///
/// `sqlite3_interrupt` alone is not enough: SQLite forgets it when the next statement starts while none runs, so one
/// that falls between two statements would be lost. The connection therefore looks here before every step and, from
/// SQLite's progress handler, about every 1,000 instructions; the interrupt only makes a running statement notice
/// sooner. It is sent under the lock that `begin` and `end` take, so it never reaches another caller's statement.
final class Interruption: Sendable {
    enum Reason: Int {
        case cancelled = 1
        case deadline

        var error: any Error {
            switch self {
            case .cancelled: CancellationError()
            case .deadline: DatabaseError.deadlineExceeded
            }
        }
    }

    let deadline: ContinuousClock.Instant?
    private let reason = Atomic<Int>(0)
    private let running = Mutex<RunningConnection?>(nil)

    init(deadline: ContinuousClock.Instant?) { self.deadline = deadline }

    /// The error to stop with, or nil to go on.
    var error: (any Error)? {
        if let reason = Reason(rawValue: reason.load(ordering: .acquiring)) { return reason.error }
        guard let deadline, ContinuousClock.now >= deadline else { return nil }
        return DatabaseError.deadlineExceeded
    }

    /// Stops the read, now or as soon as it begins. The first reason counts.
    func stop(_ why: Reason) {
        running.withLock { connection in
            _ = reason.compareExchange(expected: 0, desired: why.rawValue, ordering: .acquiringAndReleasing)
            connection?.interrupt()
        }
    }

    /// From here until `end`, statements on `connection` are this read's.
    func begin(on connection: Connection) {
        let handle = RunningConnection(handle: connection.handle)
        running.withLock { $0 = handle }
    }

    func end() { running.withLock { $0 = nil } }
}

/// A handle that another thread may interrupt.
///
/// Unchecked because a pointer is not `Sendable`. It is used for `sqlite3_interrupt` alone, which SQLite allows from
/// any thread while the connection is open; it exists only between `begin` and `end`, under their lock, and during
/// that time the thread that owns the connection is inside a read.
private struct RunningConnection: @unchecked Sendable {
    let handle: OpaquePointer

    func interrupt() { sqlite3_interrupt(handle) }
}
