import Database
import LibraryModel
import ServiceMesh

/// The SQL of categories. Every function works inside the caller's transaction.
enum CategoryTable {
    static let columns = """
        SELECT c.id AS id, c.display_name AS display_name, c.position AS position, c.icon_resource AS icon_resource,
            c.color_hex AS color_hex, c.is_default AS is_default, c.created_at AS created_at,
            t.photos AS photo_count
        FROM categories c JOIN category_totals t ON t.category_id = c.id
        """

    private static func category(_ row: borrowing Row) throws -> Category {
        Category(
            id: try row["id"], displayName: try row["display_name"], position: try row["position"],
            iconResource: try row["icon_resource"], colorHex: try row["color_hex"], isDefault: try row["is_default"],
            createdAt: Timestamp(milliseconds: try row["created_at"]), photoCount: try row["photo_count"])
    }

    static func all(in connection: Connection) throws -> [Category] {
        try connection.query("\(columns) ORDER BY c.position, c.id") { try category($0) }
    }

    static func find(id: Int64, in connection: Connection) throws -> Category? {
        try connection.first("\(columns) WHERE c.id = ?", id) { try category($0) }
    }

    static func find(displayName: String, in connection: Connection) throws -> Category? {
        try connection.first("\(columns) WHERE c.name_key = ?", CategoryName.key(displayName)) { try category($0) }
    }

    /// - Throws: `noCategory`.
    static func require(id: Int64, in connection: Connection) throws -> Category {
        guard let category = try find(id: id, in: connection) else { throw missing(id) }
        return category
    }

    /// As ``require(id:in:)`` without reading the category, for requests that would do so for each photo.
    static func requireExists(id: Int64, in connection: Connection) throws {
        let exists = try connection.first("SELECT EXISTS (SELECT 1 FROM categories WHERE id = ?)", id) {
            try $0[0] as Bool
        }
        guard exists == true else { throw missing(id) }
    }

    private static func missing(_ id: Int64) -> CatalogueError { .noCategory(.id(id), known: []) }

    static func count(in connection: Connection) throws -> Int {
        try connection.first("SELECT count(*) FROM categories") { try $0[0] as Int } ?? 0
    }

    /// Enters a category at the end, whose name and colour were validated before.
    /// - Parameter id: for data from elsewhere that keeps its ids; else the catalogue gives one.
    /// - Throws: `nameTaken`; `tooManyCategories`.
    @discardableResult
    static func add(
        displayName: String, colorHex: String, iconResource: String?, isDefault: Bool, createdAt: Timestamp,
        id: Int64? = nil, position: Int? = nil, in connection: Connection
    ) throws -> Category {
        try refuseClash(displayName, except: nil, in: connection)
        guard try count(in: connection) < CategoryLimits.count else {
            throw CatalogueError.tooManyCategories
        }
        try connection.execute(
            """
            INSERT INTO categories (id, display_name, name_key, position, icon_resource, color_hex, is_default, created_at)
            VALUES (?, ?, ?, coalesce(?, (SELECT coalesce(max(position), -1) + 1 FROM categories)), ?, ?, ?, ?)
            """,
            id, displayName, CategoryName.key(displayName), position, iconResource, colorHex, isDefault,
            createdAt.milliseconds)
        return try require(id: connection.lastInsertRowID, in: connection)
    }

    static func refuseClash(_ displayName: String, except id: Int64?, in connection: Connection) throws {
        guard let other = try find(displayName: displayName, in: connection), other.id != id else { return }
        throw CatalogueError.nameTaken(other)
    }

    static func update(
        id: Int64, displayName: String, colorHex: String, iconResource: String?, in connection: Connection
    ) throws {
        try connection.execute(
            "UPDATE categories SET display_name = ?, name_key = ?, color_hex = ?, icon_resource = ? WHERE id = ?",
            displayName, CategoryName.key(displayName), colorHex, iconResource, id)
    }

    static func setPosition(_ position: Int, of id: Int64, in connection: Connection) throws {
        try connection.execute("UPDATE categories SET position = ? WHERE id = ?", position, id)
    }

    static func delete(id: Int64, in connection: Connection) throws {
        try connection.execute("DELETE FROM categories WHERE id = ?", id)
    }
}
