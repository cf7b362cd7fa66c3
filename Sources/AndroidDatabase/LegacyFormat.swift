import Database
import ServiceMesh

/// Which tables and columns the app's database has in each version, checked before anything is read:
/// <doc:/LibraryModel/OldLibraries>.
struct LegacyFormat: Sendable {
    static let versions = 4...8
    /// The app's encrypted columns: sealed under a key in the phone's own keystore.
    static let encrypted = [
        "encrypted_child_name", "encrypted_child_age", "encrypted_notes", "encrypted_tags", "encrypted_milestone",
        "encrypted_location", "encrypted_metadata",
    ]

    let version: Int
    /// Those of ``encrypted`` that this database has.
    let encryptedColumns: [String]

    var hasFavorites: Bool { version <= 6 }
    var hasIcons: Bool { version >= 6 }
    var hasJoins: Bool { version >= 6 }

    init(checking connection: Connection, path: String) throws {
        guard try Self.tables(in: connection).isSuperset(of: ["category_entities", "photo_entities"]) else {
            throw LegacyDatabaseFault.foreign(path, "it has no tables category_entities and photo_entities")
        }
        let number: Int64 = try connection.value("PRAGMA user_version") ?? 0
        guard let version = Int(exactly: number), Self.versions.contains(version) else {
            throw LegacyDatabaseFault.version(number, path)
        }
        self.version = version
        let encoding = try connection.value("PRAGMA encoding") as String?
        guard encoding == "UTF-8" else {
            throw LegacyDatabaseFault.foreign(path, "its text is \(encoding ?? "of no encoding"), not UTF-8")
        }
        try Self.refuseComputedColumns(in: connection, path)
        let photos = try Self.columns(of: "photo_entities", in: connection)
        encryptedColumns = Self.encrypted.filter(photos.contains)
        var needed: [(table: String, columns: Set<String>)] = [
            ("category_entities", ["id", "display_name", "color_hex", "position", "is_default", "created_at"]),
            ("photo_entities", ["id", "uri", "category_id", "timestamp"]),
        ]
        if hasIcons { needed[0].columns.insert("icon_name") }
        if hasFavorites { needed[1].columns.insert("is_favorite") }
        if hasJoins { needed.append(("photo_category_join", ["photo_id", "category_id", "is_primary"])) }
        for (table, columns) in needed {
            let missing = columns.subtracting(try Self.columns(of: table, in: connection)).sorted()
            guard missing.isEmpty else {
                throw LegacyDatabaseFault.foreign(
                    path,
                    "version \(version) has \(table) with \(missing.joined(separator: ", ")), and this one has not")
            }
        }
    }

    /// In any table: checking the file computes them, and one call of `instr` or `LIKE` on long texts can take hours,
    /// during which nothing stops it. The app has none. (CHECK constraints are left alone by ``LegacyLibrary``.)
    private static func refuseComputedColumns(in connection: Connection, _ path: String) throws {
        let found = try connection.first(
            """
            SELECT CAST(substr(s.name, 1, 100) AS BLOB) FROM sqlite_schema s JOIN pragma_table_xinfo(s.name) c
            WHERE s.type = 'table' AND s.rootpage > 0 AND c.hidden IN (2, 3)
            """
        ) { String(decoding: $0.rawBytes(0) ?? [], as: UTF8.self) }
        guard let found else { return }
        throw LegacyDatabaseFault.foreign(path, "its table \(found) has computed columns")
    }

    /// Real tables: a view or a virtual table of that name would run what somebody else wrote.
    private static func tables(in connection: Connection) throws -> Set<String> {
        Set(
            try connection.query(
                """
                SELECT CAST(lower(name) AS BLOB) FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND lower(name) IN
                    ('category_entities', 'photo_entities', 'photo_category_join')
                """
            ) { String(decoding: $0.rawBytes(0) ?? [], as: UTF8.self) })
    }

    private static func columns(of table: String, in connection: Connection) throws -> Set<String> {
        guard try tables(in: connection).contains(table) else { return [] }
        return Set(
            try connection.query("SELECT CAST(lower(name) AS BLOB) FROM pragma_table_info(?)", table) {
                String(decoding: $0.rawBytes(0) ?? [], as: UTF8.self)
            })
    }
}
