import Database
import ServiceMesh

/// What an old database holds, as it says it: nothing here is believed yet. Bounded in rows and in bytes for each.
struct LegacyLibrary: Sendable {
    struct Category: Sendable {
        /// The id as text, whatever it was; nil for NULL.
        let key: String?
        /// As stored, at most ``LegacyLibrary/nameBytes`` bytes; nil for NULL.
        let name: [UInt8]?
        let color: String?
        let position: Int64?
        let isDefault: Int64?
        let createdAt: Int64?
        let icon: [UInt8]?
    }

    struct Photo: Sendable {
        let id: String
        let uri: String
        /// The id of its category, as text.
        let categoryKey: String?
        /// Further categories that it was in, the main one left out.
        var furtherKeys: [String] = []
        let timestamp: Int64?
        let isFavorite: Bool
    }

    static let maximumCategories = 20_000
    static let maximumPhotos = 200_000
    static let maximumJoins = 1_000_000
    /// Bytes of a name that are read; past what a name may have here, so that a longer one is recognised.
    static let nameBytes = 8_192
    /// No file has a longer path.
    static let uriBytes = 4_096

    let version: Int
    /// In their old order.
    private(set) var categories: [Category] = []
    private(set) var photos: [Photo] = []
    private(set) var encryptedValues: [String: Int] = [:]

    /// Runs on the connection's own thread.
    /// - Throws: ``MeshError`` in the words of ``LegacyDatabaseFault``, or what the database throws.
    init(reading connection: Connection, path: String) throws {
        let format = try LegacyFormat(checking: connection, path: path)
        version = format.version
        // Before the rows: a query that does not come to the torn page would take half a library for all of it.
        let check = try connection.first("PRAGMA quick_check(1)") {
            String(decoding: $0.rawBytes(0) ?? [], as: UTF8.self)
        }
        guard check == "ok" else { throw LegacyDatabaseFault.damaged(path, String((check ?? "no answer").prefix(200))) }
        categories = try Self.categories(format, in: connection)
        guard categories.count <= Self.maximumCategories else {
            throw LegacyDatabaseFault.tooMany("categories", Self.maximumCategories, path)
        }
        if format.hasJoins, try connection.value("SELECT count(*) FROM photo_category_join") ?? 0 > Self.maximumJoins {
            throw LegacyDatabaseFault.tooMany("places of photos in categories", Self.maximumJoins, path)
        }
        let joins = format.hasJoins ? try Self.joins(in: connection) : [:]
        photos = try Self.photos(format, joins, in: connection)
        guard photos.count <= Self.maximumPhotos else {
            throw LegacyDatabaseFault.tooMany("photos", Self.maximumPhotos, path)
        }
        encryptedValues = try Self.encryptedValues(format, in: connection)
    }

    // MARK: Columns that may hold anything

    /// As bytes: SQL's own text functions stop at a NUL, and text that is not valid UTF-8 cannot be read as text. A
    /// number becomes its digits.
    private static func bytes(_ column: String, _ maximum: Int) -> String {
        "substr(CAST(\(column) AS BLOB), 1, \(maximum))"
    }

    /// A whole number, also one that stands there as text; else NULL.
    private static func number(_ column: String) -> String {
        """
        CASE WHEN typeof(\(column)) = 'integer' THEN \(column)
            WHEN typeof(\(column)) = 'text' AND CAST(CAST(\(column) AS INTEGER) AS TEXT) = \(column)
                THEN CAST(\(column) AS INTEGER) END
        """
    }

    private static func text(_ bytes: [UInt8]?) -> String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

    // MARK: Tables

    private static func categories(_ format: LegacyFormat, in connection: Connection) throws -> [Category] {
        let found = try connection.query(
            """
            SELECT \(bytes("id", 1_000)), \(bytes("display_name", nameBytes)), \(bytes("color_hex", 16)),
                \(number("position")), \(number("is_default")), \(number("created_at")),
                \(format.hasIcons ? bytes("icon_name", 2_000) : "NULL")
            FROM category_entities LIMIT \(maximumCategories + 1)
            """
        ) { row in
            Category(
                key: text(row.rawBytes(0)), name: row.rawBytes(1), color: text(row.rawBytes(2)), position: try row[3],
                isDefault: try row[4], createdAt: try row[5], icon: row.rawBytes(6))
        }
        // Ties in the order of the table, so that two runs do the same.
        return found.enumerated().sorted {
            ($0.element.position ?? .max, $0.offset) < ($1.element.position ?? .max, $1.offset)
        }.map(\.element)
    }

    private static func photos(
        _ format: LegacyFormat, _ joins: [String: [String]], in connection: Connection
    ) throws -> [Photo] {
        try connection.query(
            """
            SELECT \(bytes("id", 1_000)), \(bytes("uri", uriBytes + 1)), \(bytes("category_id", 1_000)),
                \(number("timestamp")), \(format.hasFavorites ? number("is_favorite") : "0")
            FROM photo_entities LIMIT \(maximumPhotos + 1)
            """
        ) { row in
            let id = text(row.rawBytes(0)) ?? ""
            let own = text(row.rawBytes(2))
            // The main one first, wherever it stands: the app shows a photo there.
            let all = (joins[id] ?? []) + (own.map { [$0] } ?? [])
            let favorite: Int64? = try row[4]
            var further: [String] = []
            for key in all.dropFirst() where key != all[0] && !further.contains(key) { further.append(key) }
            return Photo(
                id: id, uri: text(row.rawBytes(1)) ?? "", categoryKey: all.first, furtherKeys: further,
                timestamp: try row[3], isFavorite: (favorite ?? 0) != 0)
        }
    }

    /// The categories of each photo by its id. The first is the main one where any is marked as that, else the photo's
    /// own category stands before them.
    private static func joins(in connection: Connection) throws -> [String: [String]] {
        var joins: [String: [String]] = [:]
        try connection.forEach(
            """
            SELECT \(bytes("j.photo_id", 1_000)), \(bytes("j.category_id", 1_000)), \(bytes("p.category_id", 1_000)),
                max(coalesce(j.is_primary = 1, 0)) OVER (PARTITION BY j.photo_id)
            FROM photo_category_join j JOIN photo_entities p ON p.id = j.photo_id
            ORDER BY j.photo_id, j.is_primary = 1 DESC, j.category_id
            """
        ) { row in
            guard let photo = text(row.rawBytes(0)), let category = text(row.rawBytes(1)) else { return }
            let hasMain: Int64 = try row[3]
            if joins[photo] == nil, hasMain == 0, let own = text(row.rawBytes(2)) { joins[photo] = [own] }
            joins[photo, default: []].append(category)
        }
        return joins
    }

    private static func encryptedValues(_ format: LegacyFormat, in connection: Connection) throws -> [String: Int] {
        guard !format.encryptedColumns.isEmpty else { return [:] }
        let counts = format.encryptedColumns.map { "count(\($0))" }.joined(separator: ", ")
        let found = try connection.first("SELECT \(counts) FROM photo_entities") { row in
            try (0..<format.encryptedColumns.count).map { try row[$0] as Int }
        }
        return Dictionary(uniqueKeysWithValues: zip(format.encryptedColumns, found ?? [])).filter { $0.value > 0 }
    }
}
