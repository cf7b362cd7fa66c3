import Database

/// One statement of a search, with its values. Apart from ``PhotoQuery``, so that a test can ask SQLite for the plan of
/// every one.
struct PhotoStatement {
    let sql: String
    let values: [(any SQLBindable)?]

    /// Photos in order, one by one. With the index of the filter no more are read than are compared or returned.
    /// - Parameters:
    ///   - range: one of `filter.ranges`.
    ///   - text: folded; photos must contain it. `instr` and not LIKE: `%` and `_` are what they are.
    static func walk(
        _ filter: PhotoFilter, _ range: PhotoFilter.Condition, containing text: String?, limit: Int
    ) -> PhotoStatement {
        var range = range
        if let text { range.add("instr(p.search_text, ?) > 0", text) }
        return PhotoStatement(
            sql: """
                SELECT \(PhotoTable.sharedColumns) FROM photos AS p INDEXED BY \(filter.index) WHERE \(range.sql)
                ORDER BY p.shown_at DESC, p.id DESC LIMIT ?
                """, values: range.values + [limit])
    }

    /// The date of the photo that comes `number` after the first of a range. The index alone tells: none is read.
    static func date(after number: Int, _ filter: PhotoFilter, _ range: PhotoFilter.Condition) -> PhotoStatement {
        PhotoStatement(
            sql: """
                SELECT p.shown_at FROM photos AS p INDEXED BY \(filter.index) WHERE \(range.sql)
                ORDER BY p.shown_at DESC, p.id DESC LIMIT 1 OFFSET ?
                """, values: range.values + [number])
    }

    /// The photos that the text index names, compared and sorted.
    static func gather(
        _ sieve: Sieve, _ filter: PhotoFilter, containing text: String, limit: Int
    ) -> PhotoStatement {
        // CROSS JOIN keeps the order of the tables, whatever SQLite's planner thinks of either.
        PhotoStatement(
            sql: """
                SELECT \(PhotoTable.sharedColumns)
                FROM photo_search AS s CROSS JOIN photos AS p INDEXED BY photos_by_id ON p.id = s.rowid
                WHERE s.photo_search MATCH ? AND \(filter.condition.sql) AND instr(p.search_text, ?) > 0
                ORDER BY p.shown_at DESC, p.id DESC LIMIT ?
                """, values: [sieve.expression] + filter.condition.values + [text, limit])
    }

    /// Dates and ids of the photos that the text index names, the newest first. None is read: an index has what is asked.
    static func places(_ sieve: Sieve, _ filter: PhotoFilter, limit: Int) -> PhotoStatement {
        PhotoStatement(
            sql: """
                SELECT p.shown_at, p.id
                FROM photo_search AS s CROSS JOIN photos AS p INDEXED BY photos_by_id ON p.id = s.rowid
                WHERE s.photo_search MATCH ? AND \(filter.condition.sql)
                ORDER BY p.shown_at DESC, p.id DESC LIMIT ?
                """, values: [sieve.expression] + filter.condition.values + [limit])
    }

    /// The photo with an id, where it contains a text.
    static func compare(_ id: Int64, with text: String) -> PhotoStatement {
        PhotoStatement(
            sql: "SELECT \(PhotoTable.sharedColumns) FROM photos AS p WHERE p.id = ? AND instr(p.search_text, ?) > 0",
            values: [id, text])
    }

    /// How many photos the text index names, counted up to `limit`.
    static func count(_ sieve: Sieve, upTo limit: Int) -> PhotoStatement {
        PhotoStatement(
            sql: "SELECT count(*) FROM (SELECT rowid FROM photo_search WHERE photo_search MATCH ? LIMIT ?)",
            values: [sieve.expression, limit])
    }

    /// How many photos a filter lets pass; from the totals of the categories where no date is asked for.
    static func total(_ filter: PhotoFilter) -> PhotoStatement {
        guard filter.isWithoutDates else {
            let condition = filter.condition
            return PhotoStatement(
                sql: "SELECT count(*) FROM photos AS p INDEXED BY \(filter.index) WHERE \(condition.sql)",
                values: condition.values)
        }
        let column = filter.favoritesOnly ? "favorites" : "photos"
        return PhotoStatement(
            sql: "SELECT coalesce(sum(\(column)), 0) FROM category_totals"
                + (filter.category == nil ? "" : " WHERE category_id = ?"),
            values: filter.category.map { [$0] } ?? [])
    }

    /// How many of them contain a text; without a sieve each is looked at.
    static func total(_ sieve: Sieve?, _ filter: PhotoFilter, containing text: String) -> PhotoStatement {
        let condition = filter.condition
        let compared = "\(condition.sql) AND instr(p.search_text, ?) > 0"
        guard let sieve else {
            return PhotoStatement(
                sql: "SELECT count(*) FROM photos AS p INDEXED BY \(filter.index) WHERE \(compared)",
                values: condition.values + [text])
        }
        return PhotoStatement(
            sql: """
                SELECT count(*) FROM photo_search AS s
                CROSS JOIN photos AS p INDEXED BY photos_by_id ON p.id = s.rowid
                WHERE s.photo_search MATCH ? AND \(compared)
                """, values: [sieve.expression] + condition.values + [text])
    }
}
