import Database
import ServiceMesh

/// What an old database holds, as it says it: nothing here is believed yet. Bounded in rows and in bytes for each.
package struct LegacyLibrary: Sendable {
    package struct Category: Sendable {
        /// The id as text, whatever it was; nil for NULL.
        package let key: String?
        /// As stored, at most ``LegacyLibrary/nameBytes`` bytes; nil for NULL.
        package let name: [UInt8]?
        package let color: String?
        package let position: Int64?
        package let isDefault: Int64?
        package let createdAt: Int64?
        package let icon: [UInt8]?
    }

    package struct Photo: Sendable {
        package let id: String
        package let uri: String
        /// The id of its category, as text.
        package fileprivate(set) var categoryKey: String?
        /// Further categories that it was in, the main one left out.
        package fileprivate(set) var furtherKeys: [String] = []
        package let timestamp: Int64?
        package let isFavorite: Bool
    }

    package static let maximumCategories = 20_000
    package static let maximumPhotos = 200_000
    package static let maximumJoins = 1_000_000
    /// Bytes of all texts together: 200,000 photos with long paths take half of it.
    package static let textBytes = 64 << 20
    /// Bytes of a name that are read; past what a name may have here, so that a longer one is recognised.
    package static let nameBytes = 8_192
    /// No file has a longer path.
    package static let uriBytes = 4_096

    package let version: Int
    /// In their old order.
    package private(set) var categories: [Category] = []
    package private(set) var photos: [Photo] = []
    package private(set) var encryptedValues: [String: Int] = [:]

    /// Runs on the connection's own thread.
    /// - Throws: ``MeshError`` in the words of ``LegacyDatabaseFault``, or what the database throws.
    init(reading connection: Connection, path: String) throws {
        let format = try LegacyFormat(checking: connection, path: path)
        version = format.version
        // What a foreign schema says of its own values is no concern here, and may take for ever to find out.
        try connection.execute("PRAGMA ignore_check_constraints = ON")
        // Before the rows: a query that does not come to the torn page would take half a library for all of it.
        let check = try connection.first("PRAGMA quick_check(1)") {
            String(decoding: $0.rawBytes(0) ?? [], as: UTF8.self)
        }
        guard check == "ok" else { throw LegacyDatabaseFault.damaged(path, check ?? "no answer") }
        var budget = Budget(path: path)
        categories = try Self.categories(format, &budget, in: connection)
        photos = try Self.photos(format, &budget, in: connection)
        if format.hasJoins { try placePhotos(&budget, in: connection) }
        encryptedValues = try Self.encryptedValues(format, in: connection)
    }

    /// What may still be read. Rows and lengths of values are bounded each; a hostile file could have the most of both.
    private struct Budget {
        let path: String
        private var bytes = LegacyLibrary.textBytes

        init(path: String) { self.path = path }

        mutating func take(_ texts: [UInt8]?...) throws {
            for text in texts { bytes -= text?.count ?? 0 }
            guard bytes >= 0 else {
                throw LegacyDatabaseFault.tooMany("bytes of text", LegacyLibrary.textBytes, path)
            }
        }
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

    private static func categories(
        _ format: LegacyFormat, _ budget: inout Budget, in connection: Connection
    ) throws -> [Category] {
        var found: [Category] = []
        try connection.forEach(
            """
            SELECT \(bytes("id", 1_000)), \(bytes("display_name", nameBytes)), \(bytes("color_hex", 16)),
                \(number("position")), \(number("is_default")), \(number("created_at")),
                \(format.hasIcons ? bytes("icon_name", 2_000) : "NULL")
            FROM category_entities LIMIT \(maximumCategories + 1)
            """
        ) { row in
            let (key, name, icon) = (row.rawBytes(0), row.rawBytes(1), row.rawBytes(6))
            try budget.take(key, name, icon)
            found.append(
                Category(
                    key: text(key), name: name, color: text(row.rawBytes(2)), position: try row[3],
                    isDefault: try row[4], createdAt: try row[5], icon: icon))
        }
        guard found.count <= maximumCategories else {
            throw LegacyDatabaseFault.tooMany("categories", maximumCategories, budget.path)
        }
        // Ties in the order of the table, so that two runs do the same.
        return found.enumerated().sorted {
            ($0.element.position ?? .max, $0.offset) < ($1.element.position ?? .max, $1.offset)
        }.map(\.element)
    }

    private static func photos(
        _ format: LegacyFormat, _ budget: inout Budget, in connection: Connection
    ) throws -> [Photo] {
        var photos: [Photo] = []
        try connection.forEach(
            """
            SELECT \(bytes("id", 1_000)), \(bytes("uri", uriBytes + 1)), \(bytes("category_id", 1_000)),
                \(number("timestamp")), \(format.hasFavorites ? number("is_favorite") : "0")
            FROM photo_entities LIMIT \(maximumPhotos + 1)
            """
        ) { row in
            let (id, uri, category) = (row.rawBytes(0), row.rawBytes(1), row.rawBytes(2))
            try budget.take(id, uri, category)
            let favorite: Int64? = try row[4]
            photos.append(
                Photo(
                    id: text(id) ?? "", uri: text(uri) ?? "", categoryKey: text(category), timestamp: try row[3],
                    isFavorite: (favorite ?? 0) != 0))
        }
        guard photos.count <= maximumPhotos else {
            throw LegacyDatabaseFault.tooMany("photos", maximumPhotos, budget.path)
        }
        return photos
    }

    /// Reads which categories each photo is in. The main one is the first that is marked as that, wherever it stands:
    /// the app shows a photo there. Else it is the photo's own.
    ///
    /// Brought together here and not by SQL: in a hostile file ids are not unique, and a join of two tables then has
    /// more rows than anybody can read, or sort, in the memory there is.
    private mutating func placePhotos(_ budget: inout Budget, in connection: Connection) throws {
        // Of several photos with one id, the first has the places.
        let indices = Dictionary(photos.enumerated().map { ($0.element.id, $0.offset) }) { first, _ in first }
        var places: [Int: [(isMain: Bool, key: String)]] = [:]
        var rows = 0
        try connection.forEach(
            """
            SELECT \(Self.bytes("photo_id", 1_000)), \(Self.bytes("category_id", 1_000)), coalesce(is_primary = 1, 0)
            FROM photo_category_join LIMIT \(Self.maximumJoins + 1)
            """
        ) { row in
            rows += 1
            guard rows <= Self.maximumJoins else {
                throw LegacyDatabaseFault.tooMany("places of photos in categories", Self.maximumJoins, budget.path)
            }
            let category = row.rawBytes(1)
            guard let id = Self.text(row.rawBytes(0)), let key = Self.text(category), let index = indices[id] else {
                return
            }
            try budget.take(category)
            places[index, default: []].append((try row[2] as Int64 != 0, key))
        }
        for (index, found) in places {
            let sorted = found.sorted { one, other in
                guard one.isMain == other.isMain else { return one.isMain }
                let (number, otherNumber) = (Int64(one.key) ?? .max, Int64(other.key) ?? .max)
                return number == otherNumber ? one.key < other.key : number < otherNumber
            }
            let own = photos[index].categoryKey
            let main = sorted[0].isMain ? sorted[0].key : own ?? sorted[0].key
            var seen: Set<String> = [main]
            photos[index].categoryKey = main
            photos[index].furtherKeys = (sorted.map(\.key) + (own.map { [$0] } ?? [])).filter {
                seen.insert($0).inserted
            }
        }
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

extension LegacyLibrary {
    /// The most that reading an old database may take: a hostile one could keep SQLite busy for ever.
    private static let readingTime: Duration = .seconds(600)

    /// Reads a private copy whole.
    /// - Parameter original: as a person named it, for what is said of it.
    /// - Throws: ``MeshError`` in the words of ``LegacyDatabaseFault``.
    package init(reading copy: LegacyDatabaseCopy, of original: String) async throws {
        do {
            self = try await DatabasePool.inspect(
                at: copy.path, isOwnCopy: true, deadline: .now.advanced(by: Self.readingTime)
            ) { try LegacyLibrary(reading: $0, path: original) }
        } catch {
            throw LegacyDatabaseFault.explaining(error, original)
        }
    }
}
