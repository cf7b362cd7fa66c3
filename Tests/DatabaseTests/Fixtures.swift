import Database
import TestSupport

/// A small schema that has every kind of rule.
enum Album {
    static let applicationID: Int32 = 0x534D_5445

    static let first = Migration(
        version: 1, name: "albums",
        script: """
            CREATE TABLE album (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE CHECK (name <> ''));
            CREATE TABLE picture (
                id INTEGER PRIMARY KEY, title TEXT, album INTEGER NOT NULL REFERENCES album (id) ON DELETE CASCADE);
            """)

    static let schema = Schema(applicationID: applicationID, migrations: [first])

    static func add(_ name: String, to connection: Connection) throws -> Int64 {
        try connection.execute("INSERT INTO album (name) VALUES (?)", name)
        return connection.lastInsertRowID
    }

    static func names(_ connection: Connection) throws -> [String] {
        try connection.query("SELECT name FROM album ORDER BY id") { row in try row[0] }
    }
}

/// An open database in a folder of its own.
struct OpenDatabase {
    let folder: TemporaryFolder
    let path: String
    let database: Database

    init(schema: Schema = Album.schema, readers: Int = 2, limits: DatabaseLimits = DatabaseLimits()) async throws {
        folder = try TemporaryFolder("database")
        path = folder.file("library.db")
        database = try await Database.open(at: path, schema: schema, readers: readers, limits: limits)
    }
}
