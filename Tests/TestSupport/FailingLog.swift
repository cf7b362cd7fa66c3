import CSQLite
import Foundation
import Synchronization

/// Has a connection's log fail to be made durable, as on a disk that is breaking: what was written is in the file, and
/// fsync says EIO. Nothing tells, then, whether the commit will be there.
public enum FailingLog {
    private struct Fault {
        var syncsLeft: Int
        let methods: sqlite3_io_methods
    }

    /// By the address of SQLite's file.
    private static let faults = Mutex<[UInt: Fault]>([:])

    /// - Parameters:
    ///   - handle: of the connection that writes; it must be in WAL mode and have written once.
    ///   - syncs: how many syncs of the log still succeed.
    public static func install(on handle: OpaquePointer, afterSyncs syncs: Int) {
        var file: UnsafeMutablePointer<sqlite3_file>?
        // In WAL mode the journal is the log.
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) == SQLITE_OK, let file,
            let original = file.pointee.pMethods
        else { fatalError("the connection has no log yet") }
        faults.withLock { $0[UInt(bitPattern: file)] = Fault(syncsLeft: syncs, methods: original.pointee) }
        var methods = original.pointee
        methods.xSync = { file, flags in FailingLog.sync(file, flags) }
        // SQLite keeps the pointer until it closes the file: a few bytes that a test may leak.
        let kept = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        kept.initialize(to: methods)
        file.pointee.pMethods = UnsafePointer(kept)
    }

    private static func sync(_ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32) -> Int32 {
        let passOn = faults.withLock {
            faults -> (@convention(c) (UnsafeMutablePointer<sqlite3_file>?, Int32) -> Int32)? in
            guard var fault = faults[UInt(bitPattern: file)], fault.syncsLeft > 0 else { return nil }
            fault.syncsLeft -= 1
            faults[UInt(bitPattern: file)] = fault
            return fault.methods.xSync
        }
        // SQLITE_IOERR_FSYNC, a macro that Swift does not import.
        return passOn?(file, flags) ?? SQLITE_IOERR | (4 << 8)
    }
}
