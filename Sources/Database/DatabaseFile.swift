import CSQLite
import Foundation

/// Creates, recognises and migrates the file behind a database. Runs on the commit thread before anything else.
struct DatabaseFile {
    let path: String
    let schema: Schema

    /// True where the process that had the file last left its log behind: it was killed, or the machine stopped. A close
    /// writes the log back and removes it.
    var hasLog: Bool {
        var log = stat()
        return stat(path + "-wal", &log) == 0 && log.st_size > 0
    }

    /// The read-write connection to the file, in its present form.
    func prepare(statements: Int) throws(DatabaseError) -> Connection {
        try create()
        let hasLog = hasLog
        let connection = try Connection(
            path: path, readOnly: false, statements: statements, functions: schema.functions)
        do {
            // A file that is refused stays as it is, its log included; without one, closing only tidies up.
            try connection.setFlag(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, hasLog)
            let version = try recognise(connection)
            try connection.setFlag(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)
            // Triggers may keep a full-text index. SQLite 3.40 does not count FTS5 as harmless and has no option for it:
            // such a trigger fails as "unsafe use of virtual table". Only now, since the file is known to be one of
            // this program's, and only here: no other connection runs triggers.
            try connection.setFlag(SQLITE_DBCONFIG_TRUSTED_SCHEMA, true)
            try configure(connection)
            if hasLog { try writeBack(connection) }
            try migrate(connection, from: version)
        } catch let error as DatabaseError {
            throw error
        } catch {
            throw .ioFailure(detail: "\(error)")
        }
        return connection
    }

    /// Creates an empty file of mode 0600 where there is none, durably. SQLite gives its log and index the same mode.
    private func create() throws(DatabaseError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            // An existing file is left alone: closing any descriptor of it would drop SQLite's locks.
            if errno == EEXIST { return }
            throw .cannotOpen(path: path, reason: String(cString: strerror(errno)))
        }
        let synced = fsync(descriptor) == 0
        close(descriptor)
        guard synced, Self.syncFolder(of: path) else { throw .ioFailure(detail: String(cString: strerror(errno))) }
    }

    /// The version of the schema in the file, 0 for an empty one. Changes nothing.
    private func recognise(_ connection: Connection) throws -> Int {
        let applicationID = Int32(truncatingIfNeeded: try connection.number("PRAGMA application_id"))
        let version = try connection.number("PRAGMA user_version")
        let isEmpty = try connection.number("SELECT count(*) FROM sqlite_schema") == 0
        if isEmpty, applicationID == 0, version == 0 { return 0 }
        guard applicationID == schema.applicationID else {
            throw DatabaseError.foreign(path: path, applicationID: applicationID)
        }
        guard version <= schema.version else {
            throw DatabaseError.newer(path: path, version: version, supported: schema.version)
        }
        return version
    }

    private func configure(_ connection: Connection) throws {
        let mode = try connection.first("PRAGMA journal_mode = WAL") { row in try row[0] as String }
        guard mode == "wal" else {
            throw DatabaseError.cannotOpen(path: path, reason: "the file system does not support a write-ahead log")
        }
        try connection.executeScript(
            """
            PRAGMA synchronous = FULL;
            -- What is deleted is overwritten, so that erased data does not stay in free pages.
            PRAGMA secure_delete = ON;
            -- Bytes the log keeps after it was written back.
            PRAGMA journal_size_limit = 4194304;
            -- KiB: a transaction of many rows comes back to the same index pages. Given back when idle.
            PRAGMA cache_size = -32768;
            -- Rows of each index that PRAGMA optimize looks at, so that it takes milliseconds however many there are.
            PRAGMA analysis_limit = 400;
            """)
        // A file that was in another mode has its log from its next transaction on: from here, also where none writes.
        _ = try connection.number("SELECT count(*) FROM sqlite_schema")
    }

    /// Writes a log that was found back into the file, before anybody acts on what it says.
    ///
    /// Its last transactions may be in the page cache alone: the program was killed before their fsync, or that failed.
    /// A caller that settled files by such a row would have them without it after a power cut.
    private func writeBack(_ connection: Connection) throws {
        do {
            try connection.writeLogBack()
        } catch DatabaseError.diskFull, DatabaseError.fileTooLarge {
            // Reading still works, and so does deleting what makes room.
        }
    }

    // MARK: Migrating

    private func migrate(_ connection: Connection, from version: Int) throws {
        let pending = schema.migrations.filter { $0.version > version }
        guard let next = pending.first else {
            if version == 0 { try connection.execute("PRAGMA application_id = \(schema.applicationID)") }
            // A kill between the last step and this left them, and no later step would look for them.
            removeCopies()
            return
        }
        // Named after the first step that is missing: where an earlier attempt got part of the way, its copy has
        // another name and stays beside this one.
        let copy = version > 0 ? copyPath(before: next) : nil
        if let copy { try connection.copy(to: copy) }
        // The pragma does nothing inside a transaction, hence outside.
        try connection.execute("PRAGMA foreign_keys = OFF")
        for migration in pending {
            do {
                try apply(migration, connection)
            } catch let error as DatabaseError where error == .diskFull || error == .fileTooLarge {
                // Undone, the file is what the copy is, and the room for a second one is what is missing.
                if let copy, migration.version == next.version { unlink(copy) }
                throw error
            } catch {
                throw DatabaseError.migrationFailed(
                    version: migration.version, name: migration.name, reason: "\(error)", copy: copy)
            }
        }
        try connection.execute("PRAGMA foreign_keys = ON")
        removeCopies()
    }

    private func removeCopies() { for migration in schema.migrations { unlink(copyPath(before: migration)) } }

    private func copyPath(before migration: Migration) -> String { "\(path).before-v\(migration.version)" }

    private func apply(_ migration: Migration, _ connection: Connection) throws {
        try connection.control(.beginWriting)
        do {
            try connection.lent { try migration.apply(connection) }
            let table = try connection.first("PRAGMA foreign_key_check") { row in try row[0] as String }
            if let table { throw DatabaseError.constraint(.foreignKey, detail: table) }
            try connection.execute("PRAGMA application_id = \(schema.applicationID)")
            try connection.execute("PRAGMA user_version = \(migration.version)")
            try connection.control(.commit)
        } catch {
            if connection.isInTransaction { try connection.control(.rollback) }
            throw error
        }
    }

    /// Makes a name in the folder of `path` durable.
    static func syncFolder(of path: String) -> Bool {
        let folder = (path as NSString).deletingLastPathComponent
        let descriptor = open(folder.isEmpty ? "." : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return fsync(descriptor) == 0
    }
}
