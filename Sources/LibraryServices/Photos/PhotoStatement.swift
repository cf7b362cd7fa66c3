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

    /// Places, dates and ids of photos that the text index names and that contain the text, in the order of places.
    /// - Parameter places: those to look at; `filter` narrows them further.
    static func matches(
        _ sieve: Sieve, _ filter: PhotoFilter, containing text: String, places: ClosedRange<Int64>, limit: Int
    ) -> PhotoStatement {
        PhotoStatement(
            sql: """
                SELECT s.rowid, p.shown_at, p.id FROM \(named(filter))
                WHERE s.photo_search MATCH ? AND s.rowid BETWEEN ? AND ?
                    AND \(filter.condition.sql) AND instr(p.search_text, ?) > 0
                ORDER BY s.rowid LIMIT ?
                """,
            values: [sieve.expression, places.lowerBound, places.upperBound] + filter.condition.values + [text, limit])
    }

    /// The text index and the photos that it names. CROSS JOIN keeps the order of the tables, whatever SQLite's planner
    /// thinks of either. Where a category or the mark will turn many away, an index tells it without their rows.
    private static func named(_ filter: PhotoFilter) -> String {
        let index = filter.category != nil || filter.favoritesOnly ? "INDEXED BY photos_by_id" : "NOT INDEXED"
        return "photo_search AS s CROSS JOIN photos AS p \(index) ON p.id = \(SearchPlace.id(of: "s.rowid"))"
    }

    static func photo(_ id: Int64) -> PhotoStatement {
        PhotoStatement(sql: "SELECT \(PhotoTable.sharedColumns) FROM photos AS p WHERE p.id = ?", values: [id])
    }

    /// How many of the newest photos contain each trigram, one column for each.
    static func frequencies(_ trigrams: [String], newest count: Int) -> PhotoStatement {
        let columns = trigrams.map { _ in "coalesce(sum(instr(search_text, ?) > 0), 0)" }
        return PhotoStatement(
            sql: """
                SELECT \(columns.joined(separator: ", ")) FROM (
                    SELECT search_text FROM photos INDEXED BY photos_by_date
                    ORDER BY shown_at DESC, id DESC LIMIT ?)
                """, values: trigrams + [count])
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
                SELECT count(*) FROM \(named(filter))
                WHERE s.photo_search MATCH ? AND \(compared)
                """, values: [sieve.expression] + condition.values + [text])
    }
}
