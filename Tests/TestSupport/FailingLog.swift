import CSQLite
import Synchronization

/// Has a connection's log fail to be made durable, as on a disk that is breaking: what was written is in the file, and
/// fsync says EIO. Nothing tells, then, whether the commit will be there.
public enum FailingLog {
    private final class Counter: Sendable {
        let left: Mutex<Int>

        init(_ count: Int) { left = Mutex(count) }
    }

    /// What SQLite says of a sync that failed: SQLITE_IOERR_FSYNC, a macro that Swift does not import.
    public static let failure = SQLITE_IOERR | (4 << 8)

    /// - Parameters:
    ///   - handle: of the connection that writes; it must be in WAL mode and have written once.
    ///   - syncs: how many syncs of the log still succeed.
    public static func install(on handle: OpaquePointer, afterSyncs syncs: Int) {
        let counter = Counter(syncs)
        SyncHook.install(on: handle, file: .log) {
            counter.left.withLock { left in
                left -= 1
                return left >= 0 ? nil : failure
            }
        }
    }
}
