import Database
import LibraryStorage

/// One statement of a search, with its values. Apart from ``PhotoQuery``, so that a test can ask SQLite for the plan of
/// every one.
struct PhotoStatement {
    let sql: String
    let values: [(any SQLBindable)?]

    /// Photos in order, one by one. With the index of the filter no more are read than are compared or returned.
    /// - Parameters:
    ///   - range: one of `filter.ranges`.
    ///   - words: of a search; nil where every photo is meant.
    static func walk(
        _ filter: SQLFilter, _ range: SQLFilter.Condition, containing words: FoundWords? = nil, limit: Int
    ) -> PhotoStatement {
        var range = range
        range.add(containing: words)
        return inOrder(PhotoColumns.namesWithID + ", shown_at", filter, range, end: "LIMIT ?", limit)
    }

    /// The rows of a range, newest first; ties by the greater id.
    private static func inOrder(
        _ columns: String, _ filter: SQLFilter, _ range: SQLFilter.Condition, end: String, _ number: Int
    ) -> PhotoStatement {
        let arms = filter.arms.map { arm in
            var arm = arm
            arm.add(range)
            return arm
        }
        let selects = arms.map { "SELECT \(columns) FROM photos AS p INDEXED BY \(filter.index) WHERE \($0.sql)" }
        return PhotoStatement(
            sql: selects.joined(separator: " UNION ALL ") + " ORDER BY shown_at DESC, id DESC \(end)",
            values: arms.flatMap(\.values) + [number])
    }

    /// Ids of photos in their order. No index but that of ids: each page begins where the last one ended, and the walk ends
    /// with the table.
    /// - Parameters:
    ///   - filter: the query's, with its cameras looked up.
    ///   - words: the query's, looked up.
    static func ids(
        _ query: PhotoIDQuery, _ filter: SQLFilter, containing words: FoundWords?, limit: Int
    ) -> PhotoStatement {
        var condition = filter.condition
        condition.add(containing: words)
        return PhotoStatement(
            sql: """
                SELECT p.id FROM photos AS p NOT INDEXED WHERE p.id > ? AND p.id <= ? AND \(condition.sql)
                ORDER BY p.id LIMIT ?
                """, values: [query.after, query.last] + condition.values + [limit])
    }

    /// The date of the photo that comes `number` after the first of a range. The index alone tells: none is read.
    static func date(after number: Int, _ filter: SQLFilter, _ range: SQLFilter.Condition) -> PhotoStatement {
        inOrder("shown_at, id", filter, range, end: "LIMIT 1 OFFSET ?", number)
    }

    /// Places, dates and ids of photos that the text index names and that contain the words, in the order of places.
    /// - Parameter places: those to look at; `filter` narrows them further.
    static func matches(
        _ sieve: Sieve, _ filter: SQLFilter, containing words: FoundWords?, places: ClosedRange<Int64>, limit: Int
    ) -> PhotoStatement {
        var condition = filter.condition
        condition.add(containing: words)
        return PhotoStatement(
            sql: """
                SELECT s.rowid, p.shown_at, p.id FROM \(named)
                WHERE s.photo_search MATCH ? AND s.rowid BETWEEN ? AND ?
                    AND \(condition.sql)
                ORDER BY s.rowid LIMIT ?
                """,
            values: [sieve.expression, places.lowerBound, places.upperBound] + condition.values + [limit])
    }

    /// The date and the id of the photo at a place, where it passes the filter and contains the words.
    static func match(at place: Int64, _ filter: SQLFilter, containing words: FoundWords?) -> PhotoStatement {
        var condition = filter.condition
        condition.add(containing: words)
        return PhotoStatement(
            sql: """
                SELECT p.shown_at, p.id FROM photos AS p INDEXED BY photos_by_place
                WHERE \(self.place) = ? AND \(condition.sql)
                """, values: [place] + condition.values)
    }

    private static let place = SearchPlace.sql(date: "p.shown_at", id: "p.id")

    /// The text index and the photos that it names. CROSS JOIN keeps the order of the tables, whatever SQLite's planner
    /// thinks of either. The plus takes the type from the row id: with one, it does not match the index.
    private static let named = """
        photo_search AS s CROSS JOIN photos AS p INDEXED BY photos_by_place ON \(place) = +s.rowid
        """

    static func photo(_ id: Int64) -> PhotoStatement {
        PhotoStatement(sql: "SELECT \(PhotoColumns.namesWithID) FROM photos AS p WHERE p.id = ?", values: [id])
    }

    /// The same, where it passes a filter.
    static func photo(_ id: Int64, _ filter: SQLFilter) -> PhotoStatement {
        let condition = filter.condition
        return PhotoStatement(
            sql: "SELECT \(PhotoColumns.namesWithID) FROM photos AS p WHERE p.id = ? AND \(condition.sql)",
            values: [id] + condition.values)
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

    /// The first places that the text index names.
    static func places(_ sieve: Sieve, in places: ClosedRange<Int64>, limit: Int) -> PhotoStatement {
        PhotoStatement(
            sql: """
                SELECT s.rowid FROM photo_search AS s
                WHERE s.photo_search MATCH ? AND s.rowid BETWEEN ? AND ? ORDER BY s.rowid LIMIT ?
                """, values: [sieve.expression, places.lowerBound, places.upperBound, limit])
    }

    /// How many photos the text index names.
    static func count(_ sieve: Sieve) -> PhotoStatement {
        PhotoStatement(
            sql: "SELECT count(*) FROM photo_search WHERE photo_search MATCH ?", values: [sieve.expression])
    }

    /// What the counts that are kept have of a filter that asks for nothing else than they tell.
    private static func counted(_ filter: SQLFilter) -> String {
        switch filter.isFavorite {
        case nil: "photos"
        case true?: "favorites"
        case false?: "photos - favorites"
        }
    }

    /// How many photos a filter lets pass; from the totals of the categories where neither date nor review is asked for.
    static func total(_ filter: SQLFilter) -> PhotoStatement {
        guard filter.canUseTotals else {
            let condition = filter.condition
            return PhotoStatement(
                sql: "SELECT count(*) FROM photos AS p INDEXED BY \(filter.index) WHERE \(condition.sql)",
                values: condition.values)
        }
        let categories = countedCategories(filter)
        return PhotoStatement(
            sql: "SELECT coalesce(sum(\(counted(filter))), 0) FROM category_totals WHERE \(categories.sql)",
            values: categories.values)
    }

    /// Whose counts are asked for.
    private static func countedCategories(_ filter: SQLFilter) -> SQLFilter.Condition {
        if let category = filter.category { return SQLFilter.Condition("category_id = ?", category) }
        guard let categories = filter.categories else { return SQLFilter.Condition() }
        return SQLFilter.Condition(
            "category_id IN (SELECT value FROM json_each(?))", SQLFilter.list(of: categories))
    }

    /// Days, and how many photos each has, newest first: from the counts that are kept, for a filter that asks for nothing else
    /// than they tell.
    static func days(_ filter: SQLFilter) -> PhotoStatement {
        let (column, categories) = (counted(filter), countedCategories(filter))
        return PhotoStatement(
            sql: "SELECT day, sum(\(column)) FROM photo_days WHERE \(categories.sql)"
                + " GROUP BY day HAVING sum(\(column)) > 0 ORDER BY day DESC",
            values: categories.values)
    }

    /// How many photos an arm of a filter has in one of its ranges. The index alone tells, unless favourites are asked for with
    /// what reviews said of them.
    static func count(
        _ filter: SQLFilter, _ arm: SQLFilter.Condition, _ range: SQLFilter.Condition
    ) -> PhotoStatement {
        var arm = arm
        arm.add(range)
        return PhotoStatement(
            sql: "SELECT count(*) FROM photos AS p INDEXED BY \(filter.index) WHERE \(arm.sql)", values: arm.values)
    }

    /// Dates and ids of all photos that contain words, in no order; without a sieve each is looked at.
    static func allMatches(_ sieve: Sieve?, _ filter: SQLFilter, containing words: FoundWords?) -> PhotoStatement {
        let counted = total(sieve, filter, containing: words)
        return PhotoStatement(
            sql: counted.sql.replacing("SELECT count(*)", with: "SELECT p.shown_at, p.id", maxReplacements: 1),
            values: counted.values)
    }

    /// How many of them contain words; without a sieve each is looked at.
    static func total(_ sieve: Sieve?, _ filter: SQLFilter, containing words: FoundWords?) -> PhotoStatement {
        var condition = filter.condition
        condition.add(containing: words)
        guard let sieve else {
            return PhotoStatement(
                sql: "SELECT count(*) FROM photos AS p INDEXED BY \(filter.index) WHERE \(condition.sql)",
                values: condition.values)
        }
        let places = filter.searchPlaces
        return PhotoStatement(
            sql: """
                SELECT count(*) FROM \(named)
                WHERE s.photo_search MATCH ? AND s.rowid BETWEEN ? AND ? AND \(condition.sql)
                """, values: [sieve.expression, places.first, places.last] + condition.values)
    }
}
