import Database
import LibraryModel
import LibraryStorage

// How SQLite is asked for what a filter lets pass.
extension PhotoFilter {
    /// The index that has the photos in question together and in order. Named in every statement: what SQLite's
    /// planner would choose depends on statistics, and a wrong choice costs seconds.
    ///
    /// Favourites are few among all: what reviews said of them is looked up in their rows.
    var index: String {
        switch (category != nil, favoritesOnly) {
        case (true, true): "photos_favorite_by_category"
        case (true, false): review == .any ? "photos_by_category" : "photos_by_category_and_decision"
        case (false, true): "photos_favorite"
        case (false, false): review == .any ? "photos_by_date" : "photos_by_decision"
        }
    }

    /// What the parts of a filter have to meet besides one of ``ranges``, each of which has its photos in order in the
    /// index. Three of what was reviewed, one for each decision: SQLite merges them as it goes. An index of all of them
    /// together would be written with each decision.
    var arms: [Condition] {
        guard review == .reviewed, !favoritesOnly else { return [Condition()] }
        return SwipeAction.allCases.map { decision in
            var arm = Condition()
            arm.add("p.last_decision = ?", decision.rawValue)
            return arm
        }
    }

    /// The parts in which an index finds the photos without passing any other, one after the other.
    ///
    /// Two, where the page begins among photos of one date: for `(shown_at, id) < (?, ?)` SQLite would walk over all
    /// of that date, and after a batch of scans that may be the whole library.
    var ranges: [Condition] {
        var dates = self.chosen
        if let from { dates.add("p.shown_at >= ?", from) }
        guard let end else { return [dates] }
        dates.add("p.shown_at < ?", end.date)
        guard end.id > .min, end.date >= from ?? .min else { return [dates] }
        var sameDate = self.chosen
        sameDate.add("p.shown_at = ?", end.date)
        sameDate.add("p.id < ?", end.id)
        return [sameDate, dates]
    }

    /// The trigram that the text index has of all such photos; nil where it has none.
    var mark: String? { SearchMark.trigram(category: category, favoritesOnly: favoritesOnly) }

    /// The first and the last place of the text index where such photos can be; the first is greater where there are
    /// none.
    var searchPlaces: (first: Int64, last: Int64) {
        (SearchPlace.first(shownAt: end?.date ?? .max), SearchPlace.last(shownAt: from ?? .min))
    }

    /// All of it as one condition, for photos that something else has found.
    var condition: Condition {
        var condition = self.chosen
        if arms.count > 1 { condition.add("p.last_decision IS NOT NULL") }
        if let from { condition.add("p.shown_at >= ?", from) }
        if let end { condition.add("(p.shown_at, p.id) < (?, ?)", end.date, end.id) }
        return condition
    }

    private var chosen: Condition {
        var condition = Condition()
        if favoritesOnly { condition.add("p.is_favorite = 1") }
        if let category { condition.add("p.category_id = ?", category) }
        switch review {
        case .any: break
        case .notReviewed: condition.add("p.last_decision IS NULL")
        case .reviewed: if arms.count == 1 { condition.add("p.last_decision IS NOT NULL") }
        case .decided(let decision): condition.add("p.last_decision = ?", decision.rawValue)
        }
        return condition
    }

    /// A condition over `p` (photos), and its values.
    struct Condition {
        private(set) var sql = "TRUE"
        private(set) var values: [(any SQLBindable)?] = []

        mutating func add(_ part: String, _ values: any SQLBindable...) {
            sql = sql == "TRUE" ? part : "\(sql) AND \(part)"
            self.values += values
        }

        mutating func add(_ other: Condition) {
            guard other.sql != "TRUE" else { return }
            sql = sql == "TRUE" ? other.sql : "\(sql) AND \(other.sql)"
            values += other.values
        }
    }
}
