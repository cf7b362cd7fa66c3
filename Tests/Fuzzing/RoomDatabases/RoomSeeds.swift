import Foundation
import FuzzSupport
import TestSupport

/// Databases of every version in pages of 512 bytes, so that an input is small; two with a log, one with a journal.
enum RoomSeeds {
    static func all() throws -> [[UInt8]] {
        let folder = try TemporaryFolder("seeds")
        var seeds: [[UInt8]] = []
        for version in 4...8 {
            let path = folder.file("version\(version)")
            let database = try OpenRoomDatabase(path)
            try database.run("PRAGMA page_size = 512; \(RoomDatabase.schema(version)) \(rows(version))")
            database.close()
            seeds.append(try files(path))
        }
        for (number, shape) in shapes.enumerated() {
            let path = folder.file("shape\(number)")
            let database = try OpenRoomDatabase(path)
            try database.run("PRAGMA page_size = 512; \(RoomDatabase.schema(6)) \(rows(6)) \(shape)")
            database.close()
            seeds.append(try files(path))
        }
        for commits in 1...2 {
            let path = folder.file("log\(commits)")
            let database = try OpenRoomDatabase(path)
            try database.run("PRAGMA page_size = 512; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
            try database.run("BEGIN; \(RoomDatabase.schema(6)) \(rows(6)) COMMIT")
            if commits == 2 { try database.run("DELETE FROM photo_entities WHERE id = 'b'") }
            // As a phone that is copied while the app is open: the log has not been written back.
            seeds.append(try files(path))
            database.close()
        }
        let path = folder.file("journal")
        let database = try OpenRoomDatabase(path)
        try database.run("PRAGMA page_size = 512; PRAGMA cache_size = 1; \(RoomDatabase.schema(8)) \(rows(8))")
        // A transaction that is larger than the cache reaches the file before it is committed.
        try database.run("BEGIN; UPDATE photo_entities SET uri = uri || hex(zeroblob(600))")
        seeds.append(try files(path))
        database.close()
        return seeds
    }

    /// What the app's own database does not have, and SQLite acts on when it reads.
    private static let shapes = [
        "ALTER TABLE photo_entities ADD COLUMN extra AS (uri || id)",
        "ALTER TABLE category_entities RENAME TO c; CREATE VIEW category_entities AS SELECT * FROM c",
        "CREATE TRIGGER t AFTER INSERT ON photo_entities BEGIN DELETE FROM category_entities; END",
        "CREATE INDEX i ON photo_entities (lower(uri)) WHERE id > 'a'",
        "CREATE TABLE w (a PRIMARY KEY, b CHECK (abs(b) > 0)) WITHOUT ROWID; INSERT INTO w VALUES (1, 2)",
        "CREATE VIRTUAL TABLE f USING fts5(x); INSERT INTO f VALUES ('x')", "PRAGMA auto_vacuum = FULL; VACUUM",
    ]

    private static func files(_ path: String) throws -> [UInt8] {
        Parts.joined(
            ["", "-wal", "-journal"].map { suffix in
                (try? Data(contentsOf: URL(fileURLWithPath: path + suffix))).map { Array($0) } ?? []
            })
    }

    private static func rows(_ version: Int) -> String {
        let icon = version >= 6 ? ", 'star'" : ""
        let favorite = version <= 6 ? "1, " : ""
        let photos = ["a", "b"].map { id in
            """
            INSERT INTO photo_entities VALUES ('\(id)', 'content://media/\(id).jpg', 1, 1700000000000, \(favorite)
                NULL, NULL, 'sealed', NULL, NULL, NULL, NULL);
            """
        }
        let joins =
            version >= 6
            ? "INSERT INTO photo_category_join VALUES ('a', 1, 5, 1), ('a', 2, 5, 0), ('b', 2, 5, 1);" : ""
        return """
            INSERT INTO category_entities VALUES (1, 'Family', '#4CAF50', 0, 1, 5\(icon));
            INSERT INTO category_entities VALUES (2, 'Été', NULL, 1, 0, 6\(icon));
            """ + photos.joined() + joins
    }
}
