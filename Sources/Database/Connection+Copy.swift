import CSQLite
import Foundation

extension Connection {
    /// The one number a statement returns; 0 where there is no row.
    func number(_ sql: String) throws -> Int {
        try value(sql) ?? 0
    }

    /// Writes a copy of the whole database as one file of mode 0600, durable and complete under its final name or not
    /// there at all. Must not be in a transaction.
    ///
    /// `VACUUM INTO` rather than SQLite's backup interface: the copy holds no freed pages, hence nothing deleted, and
    /// it reads one snapshot however long it takes. The copy is in rollback-journal mode, so that it is one file
    /// that any SQLite opens without leaving others beside it; `DatabasePool.open` turns it to WAL.
    func copy(to destination: String) throws {
        var source = stat()
        var target = stat()
        if stat(path, &source) == 0, stat(destination, &target) == 0,
            source.st_dev == target.st_dev, source.st_ino == target.st_ino
        {
            throw DatabaseError.cannotOpen(path: destination, reason: "it is the database itself")
        }
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
