import Database
import LibraryModel
import LibraryStorage

/// Files to which nothing refers any more, in SQLite.
struct DiscardedFileTable: DiscardedFileRepository {
    let connection: Connection

    func add(_ paths: [String]) throws {
        for path in paths {
            try connection.execute("INSERT OR IGNORE INTO discarded_files (path) VALUES (?)", path)
        }
    }

    func all() throws -> [String] {
        try connection.query("SELECT path FROM discarded_files ORDER BY path") { try $0[0] as String }
    }

    func among(_ names: [StoredName]) throws -> Set<StoredName> {
        try Set(
            names.filter {
                try connection.value("SELECT EXISTS (SELECT 1 FROM discarded_files WHERE path = ?)", $0.path) as Bool?
                    ?? false
            })
    }

    func remove(_ names: [StoredName]) throws {
        for name in names { try connection.execute("DELETE FROM discarded_files WHERE path = ?", name.path) }
    }
}
