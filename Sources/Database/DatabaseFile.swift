import CSQLite
import Foundation

/// Creates, recognises and migrates the file behind a database. Runs on the commit thread before anything else.
struct DatabaseFile {
    let path: String
    let schema: Schema

    /// The read-write connection to the file, in its present form.
    func prepare(statements: Int) throws(DatabaseError) -> Connection {
        try create()
        let connection = try Connection(
            path: path, readOnly: false, statements: statements, functions: schema.functions)
        do {
            let version = try recognise(connection)
            try configure(connection)
            try migrate(connection, from: version)
        } catch let error as DatabaseError {
            throw naming(error)
        } catch {
            throw .ioFailure(detail: "\(error)")
        }
        return connection
    }

    /// Errors that came from a statement do not know the path.
    private func naming(_ error: DatabaseError) -> DatabaseError {
        if case .notADatabase = error { return .notADatabase(path: path) }
        return error
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
            PRAGMA cell_size_check = ON;
            -- What is deleted is overwritten, so that erased data does not stay in free pages.
            PRAGMA secure_delete = ON;
            -- Nothing spills into files outside the library's folder.
            PRAGMA temp_store = MEMORY;
            -- Bytes the log keeps after it was written back.
            PRAGMA journal_size_limit = 4194304;
            """)
    }

    // MARK: Migrating

    private func migrate(_ connection: Connection, from version: Int) throws {
        let pending = schema.migrations.filter { $0.version > version }
        guard !pending.isEmpty else {
            if version == 0 { try connection.execute("PRAGMA application_id = \(schema.applicationID)") }
            return
        }
        let copy = version > 0 ? "\(path).before-v\(schema.version)" : nil
        // A copy from an earlier attempt is the older state: keep that one.
        if let copy, access(copy, F_OK) != 0 { try connection.copy(to: copy) }
        // The pragma does nothing inside a transaction, hence outside.
        try connection.execute("PRAGMA foreign_keys = OFF")
        for migration in pending {
            do {
                try apply(migration, connection)
            } catch DatabaseError.diskFull {
                throw DatabaseError.diskFull
            } catch {
                throw DatabaseError.migrationFailed(
                    version: migration.version, name: migration.name, reason: "\(error)", copy: copy)
            }
        }
        try connection.execute("PRAGMA foreign_keys = ON")
        if let copy { unlink(copy) }
    }

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

extension Connection {
    /// The one number a statement returns; 0 for NULL or no row.
    func number(_ sql: String) throws -> Int {
        try first(sql) { row in try row[0] as Int? }.flatMap { $0 } ?? 0
    }

    /// Writes a copy of the whole database as one file of mode 0600, durable and complete under its final name or not
    /// there at all. Must not be in a transaction.
    ///
    /// `VACUUM INTO` rather than SQLite's backup interface: the copy holds no freed pages, hence nothing deleted, and
    /// it reads one snapshot however long it takes. The copy is in rollback-journal mode, so that it is one file
    /// that any SQLite opens without leaving others beside it; `Database.open` turns it to WAL.
    func copy(to destination: String) throws {
        let partial = destination + ".partial"
        unlink(partial)
        // An empty file is accepted by VACUUM INTO and keeps its mode.
        let descriptor = open(partial, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw DatabaseError.cannotOpen(path: destination, reason: String(cString: strerror(errno)))
        }
        defer { close(descriptor) }
        do {
            try execute("VACUUM INTO ?", partial)
            guard fsync(descriptor) == 0, rename(partial, destination) == 0 else {
                throw DatabaseError.ioFailure(detail: String(cString: strerror(errno)))
            }
        } catch {
            unlink(partial)
            throw error
        }
        guard DatabaseFile.syncFolder(of: destination) else {
            throw DatabaseError.ioFailure(detail: String(cString: strerror(errno)))
        }
    }
}
