import Database
import LibraryModel
import LibraryStorage
import ServiceMesh

/// Categories in SQLite.
struct CategoryTable: CategoryRepository {
    let connection: Connection

    // MARK: Reading

    private static let selection = """
        SELECT c.id AS id, c.display_name AS display_name, c.position AS position, c.icon_resource AS icon_resource,
            c.color_hex AS color_hex, c.is_default AS is_default, c.created_at AS created_at,
            t.photos AS photo_count
        FROM categories c JOIN category_totals t ON t.category_id = c.id
        """

    static let all = "\(selection) ORDER BY c.position, c.id"

    /// One whose name or colour cannot be read is called by its id until it gets another: passed over, it would leave its photos without.
    private func category(_ row: borrowing Row) throws -> Category {
        let id: Int64 = try row["id"]
        do {
            return try Self.whole(row)
        } catch DatabaseError.unexpectedValue(let column, let problem) {
            connection.unreadable.note(
                UnreadableRow(table: "categories", id: "\(id)", problem: "\(column): \(problem)"))
            return Category(
                id: id, displayName: CategoryName.named(number: "\(id)"), position: try row["position"],
                iconResource: nil, colorHex: CategoryColor.fallback, isDefault: try row["is_default"],
                createdAt: Timestamp(milliseconds: try row["created_at"]), photoCount: try row["photo_count"])
        }
    }

    private static func whole(_ row: borrowing Row) throws -> Category {
        Category(
            id: try row["id"], displayName: try row["display_name"], position: try row["position"],
            iconResource: try row["icon_resource"], colorHex: try row["color_hex"], isDefault: try row["is_default"],
            createdAt: Timestamp(milliseconds: try row["created_at"]), photoCount: try row["photo_count"])
    }

    func all() throws -> [Category] { try connection.query(Self.all) { try category($0) } }

    func find(_ key: CategoryKey) throws -> Category? {
        switch key {
        case .id(let id): try connection.first("\(Self.selection) WHERE c.id = ?", id) { try category($0) }
        case .displayName(let name):
            try connection.first("\(Self.selection) WHERE c.name_key = ?", CategoryName.key(name)) {
                try category($0)
            }
        case .name(let name): try all().first { $0.name == name }
        }
    }

    func count() throws -> Int { try connection.value("SELECT count(*) FROM categories") ?? 0 }

    func lastID() throws -> Int64 {
        try connection.value("SELECT seq FROM sqlite_sequence WHERE name = 'categories'") ?? 0
    }

    /// As ``require(_:)`` without reading the category, for requests that would do so for each photo.
    func requireExists(_ id: Int64) throws {
        let exists: Bool? = try connection.value("SELECT EXISTS (SELECT 1 FROM categories WHERE id = ?)", id)
        guard exists == true else { throw CatalogueError.noCategory(.id(id), known: []) }
    }

    // MARK: Changing

    func insert(_ new: [CategoryEntry]) throws -> [Category] { try new.map { try enter($0) } }

    private func enter(_ new: CategoryEntry) throws -> Category {
        try refuseClash(new.details.displayName, except: nil)
        guard try count() < CategoryLimits.count else { throw CatalogueError.tooManyCategories }
        try connection.execute(
            """
            INSERT INTO categories (id, display_name, name_key, position, icon_resource, color_hex, is_default, created_at)
            VALUES (?, ?, ?, coalesce(?, (SELECT coalesce(max(position), -1) + 1 FROM categories)), ?, ?, ?, ?)
            """,
            new.id, new.details.displayName, CategoryName.key(new.details.displayName), new.position,
            new.details.iconResource, new.details.colorHex, new.isDefault, new.createdAt.milliseconds)
        return try require(.id(connection.lastInsertRowID))
    }

    private func refuseClash(_ displayName: String, except id: Int64?) throws {
        guard let other = try find(.displayName(displayName)), other.id != id else { return }
        throw CatalogueError.nameTaken(other)
    }

    func update(_ changes: [(id: Int64, to: CategoryDetails)]) throws -> [Category] {
        try changes.map { id, new in
            try requireExists(id)
            try refuseClash(new.displayName, except: id)
            try connection.execute(
                "UPDATE categories SET display_name = ?, name_key = ?, color_hex = ?, icon_resource = ? WHERE id = ?",
                new.displayName, CategoryName.key(new.displayName), new.colorHex, new.iconResource, id)
            return try require(.id(id))
        }
    }

    func reorder(_ ids: [Int64]) throws {
        for (position, id) in ids.enumerated() {
            try connection.execute("UPDATE categories SET position = ? WHERE id = ?", position, id)
        }
    }

    func delete(id: Int64) throws {
        try requireExists(id)
        try connection.execute("DELETE FROM categories WHERE id = ?", id)
    }

    func removeAll() throws {
        try PhotoTable(connection: connection).removeAll()
        try connection.execute("DELETE FROM categories WHERE id <> 0")
    }
}
