import CSQLite
import Foundation
import Synchronization

/// Puts something before each sync of a connection's files: for tests of disks that fail, or take their time.
public enum SyncHook {
    public enum File: Sendable {
        /// The write-ahead log.
        case log
        /// The database itself.
        case database
    }

    private typealias Sync = @convention(c) (UnsafeMutablePointer<sqlite3_file>?, Int32) -> Int32

    private struct Hook {
        let body: @Sendable () -> Int32?
        let sync: Sync
    }

    /// By the address of SQLite's file.
    private static let hooks = Mutex<[UInt: Hook]>([:])

    /// - Parameters:
    ///   - handle: of the connection that writes; it must be in WAL mode and have written once.
    ///   - body: called on the thread that syncs. Returns nil for the file to be synced, or the code with which that fails.
    public static func install(on handle: OpaquePointer, file which: File, _ body: @escaping @Sendable () -> Int32?) {
        var file: UnsafeMutablePointer<sqlite3_file>?
        // In WAL mode the journal is the log.
        let code = which == .log ? SQLITE_FCNTL_JOURNAL_POINTER : SQLITE_FCNTL_FILE_POINTER
        guard sqlite3_file_control(handle, "main", code, &file) == SQLITE_OK, let file,
            let original = file.pointee.pMethods, let sync = original.pointee.xSync
        else { fatalError("the connection has no log yet") }
        hooks.withLock { $0[UInt(bitPattern: file)] = Hook(body: body, sync: sync) }
        var methods = original.pointee
        methods.xSync = { file, flags in SyncHook.sync(file, flags) }
        // SQLite keeps the pointer until it closes the file: a few bytes that a test may leak.
        let kept = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        kept.initialize(to: methods)
        file.pointee.pMethods = UnsafePointer(kept)
    }

    private static func sync(_ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32) -> Int32 {
        guard let hook = hooks.withLock({ $0[UInt(bitPattern: file)] }) else { return SQLITE_MISUSE }
        return hook.body() ?? hook.sync(file, flags)
    }
}
