import Database
import LibraryModel
import ServiceMesh

/// A search as SQL: every filter is a condition with its own values, and a page begins where the one before ended
/// (by date and id, not by offset), so that it stays right while photos are added.
struct PhotoQuery {
    static let limits = 1...1000
    static let standardLimit = 100

    private var conditions: [String] = []
    private var values: [(any SQLBindable)?] = []
    /// The last conditions and values are the page's and no filter's.
    private var isFirstPage = true
    private let limit: Int

    /// - Throws: `invalid_argument`.
    init(_ request: SearchPhotos) throws {
        limit = try Self.validated(limit: request.limit)
        if let from = request.from, let to = request.to, from > to {
            throw MeshError(.invalidArgument, "'from' must not be later than 'to'.")
        }
        if let category = request.categoryId { add("category_id = ?", category) }
        if let from = request.from { add("shown_at >= ?", from.milliseconds) }
        if let to = request.to { add("shown_at <= ?", to.milliseconds) }
        if request.favoritesOnly == true { conditions.append("is_favorite = 1") }
        if let text = request.text, !text.isEmpty {
            guard text.count <= 1000 else {
                throw MeshError(.invalidArgument, "A search text has 1,000 characters at most. Shorten it.")
            }
            // instr, not LIKE: `%` and `_` are what they are.
            add("instr(search_text, ?) > 0", text.searchFolded)
        }
        if let cursor = request.after {
            let place = try Cursor(cursor)
            isFirstPage = false
            conditions.append("(shown_at, id) < (?, ?)")
            values += [place.date, place.id]
        }
    }

    private mutating func add(_ condition: String, _ value: any SQLBindable) {
        conditions.append(condition)
        values.append(value)
    }

    static func validated(limit: Int?) throws -> Int {
        guard let limit else { return standardLimit }
        guard limits.contains(limit) else {
            throw MeshError(.invalidArgument, "'limit' is between \(limits.lowerBound) and \(limits.upperBound).")
        }
        return limit
    }

    func page(in connection: Connection) throws -> PhotoPage {
        let filter = conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
        // One more than asked for tells whether there is a next page.
        let found = try connection.query(
            """
            SELECT \(PhotoTable.sharedColumns) FROM photos \(filter)
            ORDER BY shown_at DESC, id DESC LIMIT ?
            """, values: values + [limit + 1]
        ) { try PhotoTable.photo($0) }
        let photos = Array(found.prefix(limit))
        let next = found.count > limit ? photos.last.map { Cursor(date: $0.shownAt.milliseconds, id: $0.id).text } : nil
        return PhotoPage(photos: photos, next: next)
    }

    /// Photos that meet the filters, on whichever page.
    func total(in connection: Connection) throws -> Int {
        let filters = isFirstPage ? conditions[...] : conditions.dropLast()
        let filter = filters.isEmpty ? "" : "WHERE " + filters.joined(separator: " AND ")
        return try connection.first(
            "SELECT count(*) FROM photos \(filter)", values: isFirstPage ? values : values.dropLast(2)
        ) { try $0[0] as Int } ?? 0
    }

    /// The place after which a page begins: `date.id`, for clients an opaque text.
    struct Cursor {
        let date: Int64
        let id: Int64

        init(date: Int64, id: Int64) {
            self.date = date
            self.id = id
        }

        init(_ text: String) throws {
            let parts = text.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 2, let date = Int64(parts[0]), let id = Int64(parts[1]) else {
                throw MeshError(.invalidArgument, "'after' takes the 'next' of the page before, as it was.")
            }
            self.init(date: date, id: id)
        }

        var text: String { "\(date).\(id)" }
    }
}
