import CSQLite
import Foundation

/// Databases of the Android app as Room makes them, from SQL: for each version its tables, and what a test puts in.
public enum RoomDatabase {
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    /// The tables of a version, with Room's and Android's own.
    public static func schema(_ version: Int) -> String {
        let id = version == 4 ? "TEXT NOT NULL PRIMARY KEY" : "INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL"
        let reference = version == 4 ? "TEXT" : "INTEGER"
        let favorite = version <= 6 ? "is_favorite INTEGER NOT NULL," : ""
        let icon = version >= 6 ? ", icon_name TEXT" : ""
        var sql = """
            CREATE TABLE android_metadata (locale TEXT);
            INSERT INTO android_metadata VALUES ('en_US');
            CREATE TABLE room_master_table (id INTEGER PRIMARY KEY, identity_hash TEXT);
            INSERT INTO room_master_table VALUES (42, 'd41d8cd98f00b204e9800998ecf8427e');
            CREATE TABLE category_entities (id \(id), display_name TEXT NOT NULL, color_hex TEXT,
                position INTEGER NOT NULL, is_default INTEGER NOT NULL, created_at INTEGER NOT NULL\(icon));
            CREATE TABLE photo_entities (id TEXT NOT NULL, uri TEXT NOT NULL, category_id \(reference) NOT NULL,
                timestamp INTEGER NOT NULL, \(favorite)
                encrypted_child_name TEXT, encrypted_child_age TEXT, encrypted_notes TEXT, encrypted_tags TEXT,
                encrypted_milestone TEXT, encrypted_location TEXT, encrypted_metadata TEXT, PRIMARY KEY (id));
            CREATE INDEX index_photo_entities_category_id ON photo_entities (category_id);
            PRAGMA user_version = \(version);
            """
        if version >= 6 {
            sql += """
                CREATE TABLE photo_category_join (photo_id TEXT NOT NULL, category_id INTEGER NOT NULL,
                    assigned_at INTEGER NOT NULL, is_primary INTEGER NOT NULL, PRIMARY KEY (photo_id, category_id),
                    FOREIGN KEY (photo_id) REFERENCES photo_entities (id) ON DELETE CASCADE);
                """
        }
        if version >= 8 {
            sql += """
                CREATE TABLE deletion_tracking (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, photo_id TEXT);
                CREATE TABLE deletion_archives (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, photo_id TEXT);
                """
        }
        return sql
    }

    /// Makes a database with the tables of `version` and runs `sql` in it.
    public static func make(at path: String, version: Int, _ sql: String = "") throws {
        let database = try OpenRoomDatabase(path)
        try database.run("BEGIN; \(schema(version)) \(sql); COMMIT")
        database.close()
    }

    /// Everything in a folder that could show a change: names, bytes, and when each was written.
    public static func state(of folder: String) throws -> [String: Data] {
        var state: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            var found = stat()
            guard lstat(folder + "/" + name, &found) == 0, found.st_mode & S_IFMT == S_IFREG else { continue }
            var data = try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name))
            data.append(contentsOf: "\(found.st_mtim.tv_sec).\(found.st_mtim.tv_nsec).\(found.st_mode)".utf8)
            state[name] = data
        }
        return state
    }
}

/// A connection that a test holds open, as the app on the phone would. For one thread.
public final class OpenRoomDatabase {
    private var handle: OpaquePointer?

    public init(_ path: String) throws {
        guard sqlite3_open(path, &handle) == SQLITE_OK else {
            throw RoomDatabase.Failure(description: "\(path) cannot be opened")
        }
    }

    deinit { close() }

    public func run(_ sql: String) throws {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else {
            throw RoomDatabase.Failure(description: String(cString: sqlite3_errmsg(handle)) + ": \(sql.prefix(300))")
        }
    }

    public func close() {
        sqlite3_close_v2(handle)
        handle = nil
    }
}
