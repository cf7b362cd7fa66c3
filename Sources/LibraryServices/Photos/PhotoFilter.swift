import Database
import LibraryModel
import ServiceMesh

/// Every filter of a search but its text, and the place before which its page begins: all that an index can answer
/// alone, in order.
///
/// There is one upper bound, the lower of the cursor and `to`: of two, SQLite would use only one, and with the wrong
/// one each page would walk over all those before it.
struct PhotoFilter {
    let category: Int64?
    let favoritesOnly: Bool
    /// The earliest date, milliseconds.
    private(set) var from: Int64?
    /// Photos stand before it, in the order of dates and ids; nil for all.
    private(set) var end: PhotoPlace?
    /// The same for all pages together: where `to` ends.
    private let endOfAll: PhotoPlace?

    /// - Throws: `invalid_argument`.
    init(_ request: SearchPhotos) throws {
        if let from = request.from, let to = request.to, from > to {
            throw MeshError(.invalidArgument, "'from' must not be later than 'to'.")
        }
        category = request.categoryId
        favoritesOnly = request.favoritesOnly == true
        from = request.from?.milliseconds
        endOfAll = request.to.flatMap { $0.milliseconds < .max ? PhotoPlace(date: $0.milliseconds + 1, id: .min) : nil }
        end = endOfAll
        if let cursor = try request.after.map(PhotoPlace.init) { end = min(end ?? cursor, cursor) }
    }

    /// The same without the place at which the page begins.
    var ofAllPages: PhotoFilter {
        var wider = self
        wider.end = endOfAll
        return wider
    }

    /// Whether nothing but the category and the mark decides.
    var isWithoutDates: Bool { from == nil && end == nil }

    /// The same, but only what is shown at `date` or later.
    func since(_ date: Int64) -> PhotoFilter {
        var narrower = self
        narrower.from = max(from ?? date, date)
        return narrower
    }

    /// The same, but only what stands before `place`.
    func before(_ place: PhotoPlace) -> PhotoFilter {
        var narrower = self
        narrower.end = min(end ?? place, place)
        return narrower
    }

    /// The index that has the photos in question together and in order. Named in every statement: what SQLite's
    /// planner would choose depends on statistics, and a wrong choice costs seconds.
    var index: String {
        switch (category != nil, favoritesOnly) {
        case (true, true): "photos_favorite_by_category"
        case (true, false): "photos_by_category"
        case (false, true): "photos_favorite"
        case (false, false): "photos_by_date"
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
        if let from { condition.add("p.shown_at >= ?", from) }
        if let end { condition.add("(p.shown_at, p.id) < (?, ?)", end.date, end.id) }
        return condition
    }

    private var chosen: Condition {
        var condition = Condition()
        if favoritesOnly { condition.add("p.is_favorite = 1") }
        if let category { condition.add("p.category_id = ?", category) }
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
    }
}

/// Where a photo stands in every list: by its date, then by its id. As text (`date.id`) it is the cursor, which for
/// clients is opaque.
struct PhotoPlace: Comparable {
    let date: Int64
    let id: Int64

    init(date: Int64, id: Int64) {
        self.date = date
        self.id = id
    }

    /// - Throws: `invalid_argument`.
    init(_ text: String) throws {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let date = Int64(parts[0]), let id = Int64(parts[1]) else {
            throw MeshError(.invalidArgument, "'after' takes the 'next' of the page before, as it was.")
        }
        self.init(date: date, id: id)
    }

    var text: String { "\(date).\(id)" }

    static func < (left: PhotoPlace, right: PhotoPlace) -> Bool { (left.date, left.id) < (right.date, right.id) }
}
