import Database
import LibraryModel
import LibraryStorage

/// Files to which nothing refers any more, in SQLite.
struct DiscardedFileTable: DiscardedFileRepository {
    let connection: Connection

    func add(_ paths: [String]) throws {
        for some in paths.parts(of: Self.pathsInStatement) {
            if some.count == Self.pathsInStatement {
                try connection.execute(Self.insertion, values: Array(some))
            } else {
                // Each number of rows would be a statement that is prepared and kept.
                for path in some {
                    try connection.execute("INSERT OR IGNORE INTO discarded_files (path) VALUES (?)", path)
                }
            }
        }
    }

    private static let pathsInStatement = 100
    private static let insertion = """
        INSERT OR IGNORE INTO discarded_files (path)
        VALUES \(Array(repeating: "(?)", count: pathsInStatement).joined(separator: ", "))
        """

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
