import CSQLite
import Dispatch
import Executors
import Synchronization

/// Checkpoints whose sync is done by a thread of its own, while the commit thread goes on writing.
///
/// That sync is most of a checkpoint: 12 to 27 ms for a thousand pages that lie all over the file, on a disk that syncs
/// a commit in 0.2, and every write waits for it. Until it is done only the log has what a power cut would take from the
/// file, so the log must not start over: a reader holds the snapshot of its end, and SQLite starts a log over that nobody
/// reads. What is written meanwhile goes behind.
///
/// A checkpoint by a second connection was rejected: see ``CommitThread``.
///
/// Belongs to the commit thread. Its own thread does the sync and nothing else.
final class BackgroundSync {
    /// How many pages the log had when its pages were written into the file.
    private(set) var pages = 0
    /// True from the checkpoint until `settle`.
    private(set) var isPending = false
    private let reader: Connection
    private let thread = BlockingPool(name: "db-sync", threads: 1)
    private let running = DispatchGroup()
    private let outcome = Outcome()

    /// What the sync came to, in the terms of SQLite.
    private final class Outcome: Sendable {
        let code = Atomic<Int32>(SQLITE_OK)
    }

    init(path: String, functions: [ScalarFunction]) throws(DatabaseError) {
        reader = try Connection(path: path, readOnly: true, statements: 1, functions: functions)
    }

    /// Writes the pages of the log into the file and begins to sync that. False where it could not be begun: then
    /// everything is as it was, or as after a checkpoint that did not come to its end.
    func begin(_ writer: Connection) -> Bool {
        precondition(!isPending, "the last sync has not been settled")
        guard let file = writer.mainFile, hold() else { return false }
        guard writer.checkpointWithoutSync() else {
            release()
            return false
        }
        pages = writer.logPages
        running.enter()
        let accepted = thread.submit { [running, outcome] in
            outcome.code.store(file.sync(), ordering: .releasing)
            running.leave()
        }
        if !accepted {
            outcome.code.store(file.sync(), ordering: .releasing)
            running.leave()
        }
        isPending = true
        return true
    }

    /// Whether `settle` would wait.
    var isRunning: Bool { isPending && running.wait(timeout: .now()) == .timedOut }

    /// Waits for the sync and lets the log start over. Returns nil, or why the file may lack what the log has: then the
    /// log is held for ever, because SQLite believes that it has been written back.
    func settle() -> DatabaseError? {
        guard isPending else { return nil }
        running.wait()
        isPending = false
        let code = outcome.code.load(ordering: .acquiring)
        guard code == SQLITE_OK else { return .ioFailure(detail: String(cString: sqlite3_errstr(code))) }
        release()
        return nil
    }

    /// Keeps the log as it is now from being started over.
    private func hold() -> Bool {
        do {
            try reader.control(.begin)
            // A transaction has its snapshot once it has read.
            _ = try reader.number("SELECT count(*) FROM sqlite_schema")
            return true
        } catch {
            release()
            return false
        }
    }

    private func release() {
        if reader.isInTransaction { try? reader.control(.rollback) }
    }
}

/// SQLite's handle on the file of a database.
///
/// Not a descriptor of our own: POSIX drops a process's locks on a file when any descriptor of it is closed.
struct MainFile: @unchecked Sendable {
    // Unchecked: the one thing that is done with it, xSync, reads the descriptor, which stays the same from open to close, and calls
    // fdatasync. The connection that has the file open is closed after the sync was waited for (`CommitThread.run`).
    fileprivate let file: UnsafeMutablePointer<sqlite3_file>

    /// Makes durable what was written into the file. A code of SQLite's.
    func sync() -> Int32 { csqlite_sync(file) }
}

extension Connection {
    /// The file without its log; nil where SQLite does not tell it.
    var mainFile: MainFile? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK, let file else {
            return nil
        }
        return MainFile(file: file)
    }

    /// Writes the pages of the log into the file, which is not synced. True where all of them were.
    fileprivate func checkpointWithoutSync() -> Bool {
        // The log itself needs none: every commit has synced it.
        guard sqlite3_exec(handle, "PRAGMA synchronous = OFF", nil, nil, nil) == SQLITE_OK else { return false }
        defer { sqlite3_exec(handle, "PRAGMA synchronous = FULL", nil, nil, nil) }
        return checkpoint(SQLITE_CHECKPOINT_PASSIVE)
    }
}
