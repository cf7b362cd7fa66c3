import Database
import Foundation
import LibraryModel
import LibraryStorage

/// How SQLite is asked for what a filter lets pass: the filter, and the cameras that it was found to mean.
struct SQLFilter {
    private var filter: IndexFilter
    /// Nil where the filter says nothing of cameras.
    private let cameras: FoundCameras?

    /// What the catalogue has found of a ``CameraFilter``.
    private struct FoundCameras {
        /// Nil for photos without one.
        let names: [String]?
        /// Taken with them.
        let photos: Int
        /// Whether fewer photos are left by what reviews must have said of them.
        let isLessThanReview: Bool
    }

    var category: Int64? { filter.category }
    /// As ``IndexFilter/categories``.
    var categories: [Int64]? { filter.categories }
    var isFavorite: Bool? { filter.isFavorite }
    private var favoritesOnly: Bool { filter.favoritesOnly }
    private var review: ReviewFilter { filter.review }
    private var from: Int64? { filter.from }
    private var end: PhotoPlace? { filter.end }

    /// As ``IndexFilter/ofAllPages``.
    var ofAllPages: SQLFilter { with(filter.ofAllPages) }

    /// As ``IndexFilter/since(_:)``.
    func since(_ date: Int64) -> SQLFilter { with(filter.since(date)) }

    /// As ``IndexFilter/before(_:)``.
    func before(_ place: PhotoPlace) -> SQLFilter { with(filter.before(place)) }

    private func with(_ filter: IndexFilter) -> SQLFilter {
        var other = self
        other.filter = filter
        return other
    }

    /// Whether nothing but the category and the mark decides: what the totals of categories tell.
    var canUseTotals: Bool {
        // The texts of a search are no part of this filter, and every other member counts, also one that is added later.
        var others = filter.wanted
        (others.text, others.words, others.categoryId, others.favoritesOnly) = (nil, nil, nil, nil)
        return filter.isWithoutDates && others == PhotoFilter()
    }

    /// The index that has the photos in question together and in order. Named in every statement: what SQLite's
    /// planner would choose depends on statistics, and a wrong choice costs seconds.
    ///
    /// Favourites are few among all: what reviews said of them is looked up in their rows; of most photos the row says that
    /// they are none.
    var index: String {
        if isByCamera {
            return favoritesOnly
                ? "photos_favorite_by_camera" : category == nil ? "photos_by_camera" : "photos_by_category_and_camera"
        }
        if isByKind { return "photos_films" }
        if categories != nil { return favoritesOnly ? "photos_favorite_by_category" : "photos_by_category" }
        return switch (category != nil, favoritesOnly) {
        case (true, true): "photos_favorite_by_category"
        case (true, false): review == .any ? "photos_by_category" : "photos_by_category_and_decision"
        case (false, true): "photos_favorite"
        case (false, false): review == .any ? "photos_by_date" : "photos_by_decision"
        }
    }

    /// What the parts of a filter have to meet besides one of ``ranges``, each of which has its photos in order in the
    /// index. Three of what was reviewed, one for each decision: SQLite merges them as it goes. An index of all of them
    /// together would be written with each decision. One for each camera, likewise; of more than are worth merging, the
    /// photos are few, and SQLite sorts them. One for each category of a child's device, of which all else is asked in the rows: it has
    /// few categories, and asks for little else.
    var arms: [Condition] {
        if let categories { return categories.map { Condition("p.category_id = ?", $0) } }
        if hasArmsOfCameras { return (cameras?.names ?? []).map { Condition("p.camera = ?", $0) } }
        guard hasArmsOfDecisions else { return [Condition()] }
        return SwipeAction.allCases.map { Condition("p.last_decision = ?", $0.rawValue) }
    }

    private var hasArmsOfDecisions: Bool {
        review == .reviewed && !favoritesOnly && !isByCamera && !isByKind && categories == nil
    }

    /// Whether the photos are found among the films, which have an index of their own. Pictures are found among all.
    private var isByKind: Bool { filter.wanted.kind == .film && !isByCamera && categories == nil }

    private var hasArmsOfCameras: Bool {
        isByCamera && (2...Self.mostArms).contains(cameras?.names?.count ?? 0)
    }

    /// Whether the photos are found by their cameras, and the rest is looked up in their rows. Not where reviews leave fewer;
    /// nor where there are more cameras than can be merged, and most photos are theirs. What is slow is what many photos
    /// have of either, and hardly any of both; an index of both would be written with each decision.
    private var isByCamera: Bool {
        guard let cameras, categories == nil else { return false }
        guard cameras.photos > Self.rowByRowAtMost else { return true }
        return cameras.isLessThanReview && (cameras.names?.count ?? 1) <= Self.mostArms
    }

    /// Cameras in one statement; SQLite merges 500 at most.
    private static let mostArms = 64
    /// Photos of which looking at each row takes no more than some milliseconds.
    private static let rowByRowAtMost = 2000

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
        if let ofCategories { condition.add(ofCategories) }
        if hasArmsOfDecisions { condition.add(Self.reviewed(review)) }
        if hasArmsOfCameras { condition.add(ofCameras) }
        if let from { condition.add("p.shown_at >= ?", from) }
        if let end { condition.add("(p.shown_at, p.id) < (?, ?)", end.date, end.id) }
        return condition
    }

    /// One of several, as one value, however many there are.
    private var ofCategories: Condition? {
        categories.map { ids in
            Condition("p.category_id IN (SELECT value FROM json_each(?))", SQLFilter.list(of: ids))
        }
    }

    /// Numbers as JSON.
    static func list(of ids: [Int64]) -> String { "[" + ids.map(String.init).joined(separator: ",") + "]" }

    private var chosen: Condition {
        var condition = Condition()
        if let isFavorite { condition.add("p.is_favorite = \(isFavorite ? 1 : 0)") }
        if let category { condition.add("p.category_id = ?", category) }
        if !hasArmsOfDecisions { condition.add(Self.reviewed(review)) }
        if !hasArmsOfCameras { condition.add(ofCameras) }
        condition.add(ofKind)
        return condition
    }

    /// In words that SQLite finds in the index's own condition, which it does not in a value.
    private var ofKind: Condition {
        switch filter.wanted.kind {
        case nil: Condition()
        case .picture: Condition("p.kind IS NOT 'film'")
        case .moving: Condition("p.kind = 'moving'")
        case .film: Condition("p.kind = 'film'")
        }
    }

    private static func reviewed(_ review: ReviewFilter) -> Condition {
        switch review {
        case .any: Condition()
        case .notReviewed: Condition("p.last_decision IS NULL")
        case .reviewed: Condition("p.last_decision IS NOT NULL")
        case .decided(let decision): Condition("p.last_decision = ?", decision.rawValue)
        }
    }

    private var ofCameras: Condition {
        guard let cameras else { return Condition() }
        guard let names = cameras.names else { return Condition("p.camera IS NULL") }
        if names.count == 1 { return Condition("p.camera = ?", names[0]) }
        // One value, however many there are; of none, nothing passes.
        let list = (try? JSONEncoder().encode(names)).map { String(decoding: $0, as: UTF8.self) } ?? "[]"
        return Condition("p.camera IN (SELECT value FROM json_each(?))", list)
    }

    /// Looks up the cameras of a filter. There are few, so their names are compared one by one.
    init(_ filter: IndexFilter, in connection: Connection) throws {
        self.filter = filter
        var names: [String]?
        var photos = 0
        switch filter.camera {
        case .any:
            cameras = nil
            return
        case .unknown:
            let withCamera: Int? = try connection.value("SELECT coalesce(sum(photos), 0) FROM cameras")
            photos = try PhotoTable(connection: connection).totals().photos - (withCamera ?? 0)
        case .named:
            var found: [String] = []
            try connection.forEach("SELECT name, photos FROM cameras ORDER BY name") { row in
                let name: String = try row[0]
                guard filter.camera.passes(name) else { return }
                found.append(name)
                photos += try row[1] as Int
            }
            names = found
        }
        let isLess = try photos <= Self.rowByRowAtMost || !Self.hasFew(byReviewOf: filter, in: connection)
        cameras = FoundCameras(names: names, photos: photos, isLessThanReview: isLess)
    }

    private static func hasFew(byReviewOf filter: IndexFilter, in connection: Connection) throws -> Bool {
        guard filter.review != .any else { return false }
        var ofReview = Condition()
        if let category = filter.category { ofReview.add("p.category_id = ?", category) }
        ofReview.add(reviewed(filter.review))
        let index = filter.category == nil ? "photos_by_decision" : "photos_by_category_and_decision"
        let count = try connection.first(
            "SELECT count(*) FROM (SELECT 1 FROM photos AS p INDEXED BY \(index) WHERE \(ofReview.sql) LIMIT ?)",
            values: ofReview.values + [rowByRowAtMost + 1]
        ) { try $0[0] as Int }
        return (count ?? 0) <= rowByRowAtMost
    }

    /// A condition over `p` (photos), and its values.
    struct Condition {
        private(set) var sql = "TRUE"
        private(set) var values: [(any SQLBindable)?] = []

        init() {}

        init(_ sql: String, _ values: any SQLBindable...) {
            self.sql = sql
            self.values = values
        }

        mutating func add(_ part: String, _ values: any SQLBindable...) {
            sql = sql == "TRUE" ? part : "\(sql) AND \(part)"
            self.values += values
        }

        /// - Parameter words: of a search; nil where every photo is meant.
        mutating func add(containing words: FoundWords?) {
            if let words { add(words.condition) }
        }

        mutating func add(_ other: Condition) {
            guard other.sql != "TRUE" else { return }
            sql = sql == "TRUE" ? other.sql : "\(sql) AND \(other.sql)"
            values += other.values
        }
    }
}
