import Database
import LibraryModel
import LibraryStorage

/// How a page of a search is found.
///
/// Without words, an index has the page in its order. With some there are two ways, since a word may be in three photos
/// or in all, and evenly spread or only in old ones:
///
/// 1. The newest photos are looked at one by one. Where matches are everywhere, the page is full soon.
/// 2. The text index names the matches, the newest week first, until the page is full.
///
/// The index also knows category and mark (``SearchMark``), so what one of them turns away is not looked at. What takes
/// longest is a text whose trigrams many photos have that do not have it as a whole: each is compared, a microsecond
/// each; and one of many trigrams that a quarter of all photos have: the index walks along their lists, 40 ns a photo.
struct PhotoSearch {
    /// So many matches in all, and the text index alone is asked.
    private static let indexAloneAtMost = 500
    /// Photos that are looked at one by one at first, to see how frequent the text is.
    private static let firstStretch = 500
    /// Photos that are looked at one by one, at most, where the text index could tell where to look.
    private static let maximumWalk = 5000

    private let filter: SQLFilter
    private let words: FoundWords?
    private let limit: Int
    private let connection: Connection

    init(_ query: PhotoQuery, in connection: Connection) throws {
        filter = try SQLFilter(query.filter, in: connection)
        words = try query.words.map { try FoundWords($0, in: connection) }
        limit = query.limit
        self.connection = connection
    }

    func page() throws -> PhotoPage {
        // One more than asked for tells whether there is a next page.
        let wanted = limit + 1
        let found = try connection.filled(wanted) { wanted in
            if let words {
                try matches(words, limit: wanted)
            } else {
                try walk(filter, containing: nil, limit: wanted)
            }
        }
        let photos = Array(found.prefix(limit))
        let next = found.count > limit ? photos.last.map { PhotoPlace($0).text } : nil
        return PhotoPage(photos: photos, next: next)
    }

    /// Photos that meet the filters, on whichever page. With dates or reviews it takes a walk over all of them in an index; with
    /// a text, a look at all that the text index names, a microsecond each, unless the text is three characters long
    /// and the index is asked for no more than it knows. Only observations ask, whose reads are spaced so that they take
    /// half of one reader at most.
    func total() throws -> Int {
        let all = filter.ofAllPages
        let statement: PhotoStatement
        if let words {
            let sieve = try (words.sieve ?? words.shortSieve(in: connection))?.marked(all.mark)
            if sieve?.isEmpty == true { return 0 }
            if let sieve, words.isTrigram, all.canUseTotals, all.category == nil, all.categories == nil,
                all.isFavorite != false
            {
                statement = .count(sieve)
            } else {
                statement = .total(sieve, all, containing: words)
            }
        } else {
            statement = .total(all)
        }
        return try connection.first(statement.sql, values: statement.values) { try $0[0] as Int } ?? 0
    }

    // MARK: Ways to find a text

    private func matches(_ words: FoundWords, limit: Int) throws -> [Photo] {
        if let photo = words.photo {
            let statement = PhotoStatement.photo(photo, filter)
            return try connection.readable("photos", statement.sql, values: statement.values) {
                try PhotoColumns.photo($0)
            }
        }
        let sieve = try words.sieve?.withoutFrequent(in: connection).marked(filter.mark)
        if let sieve, let places = try placesFromIndex(sieve) {
            return try compared(places, words, limit: limit)
        }
        var found: [Photo] = []
        var rest = filter
        var (stretch, walked) = (Self.firstStretch, 0)
        while walked + stretch <= Self.maximumWalk {
            guard let date = try date(after: stretch, rest) else {
                return found + (try walk(rest, containing: words, limit: limit - found.count))
            }
            let hits = try walk(rest.since(date), containing: words, limit: limit - found.count)
            found += hits
            guard found.count < limit else { return found }
            rest = rest.before(PhotoPlace(date: date, id: .min))
            walked += stretch
            guard !hits.isEmpty else { break }
            // At this rate, and a little more.
            stretch = (limit - found.count) * stretch / hits.count * 5 / 4 + 100
        }
        let sieveOfRest: Sieve? =
            if try date(after: Self.maximumWalk - walked, rest) == nil {
                nil  // So few are left that they are looked at.
            } else {
                try sieve ?? words.shortSieve(in: connection)?.marked(filter.mark)
            }
        let missing = limit - found.count
        guard let sieveOfRest else {
            return found + (try walk(rest, containing: words, limit: missing))
        }
        return found + (try named(by: sieveOfRest, rest, words, limit: missing))
    }

    /// The photos that the text index names, the newest first.
    private func named(
        by sieve: Sieve, _ filter: SQLFilter, _ words: FoundWords, limit: Int
    ) throws -> [Photo] {
        if sieve.isEmpty { return [] }
        var (next, last) = filter.searchPlaces
        var found: [PhotoPlace] = []
        // The first statement stops at the match that fills the page, the others take the rest of its week, a part at a
        // time: how many are in memory does not depend on how many that week has.
        var asked = limit
        while next <= last {
            let statement = PhotoStatement.matches(
                sieve, filter, containing: words, places: next...last, limit: asked)
            var place = next
            let before = found.count
            try connection.forEach(statement.sql, values: statement.values) { row in
                place = try row[0]
                found.append(PhotoPlace(date: try row[1], id: try row[2]))
            }
            guard found.count - before == asked else { break }
            found.sort(by: >)
            found.removeLast(found.count - limit)
            (next, last, asked) = (place + 1, min(last, SearchPlace.lastOfWeek(place)), 2000)
        }
        return try photos(found, limit: limit)
    }

    /// The places that the text index names, where they are no more than ``indexAloneAtMost``; else nil.
    private func placesFromIndex(_ sieve: Sieve) throws -> [Int64]? {
        let (first, last) = filter.searchPlaces
        guard first <= last else { return [] }
        let statement = PhotoStatement.places(sieve, in: first...last, limit: Self.indexAloneAtMost + 1)
        let places = try connection.query(statement.sql, values: statement.values) { try $0[0] as Int64 }
        return places.count <= Self.indexAloneAtMost ? places : nil
    }

    /// The photos at these places that are matches indeed.
    private func compared(
        _ places: [Int64], _ words: FoundWords, limit: Int
    ) throws -> [Photo] {
        var found: [PhotoPlace] = []
        for place in places {
            let statement = PhotoStatement.match(at: place, filter, containing: words)
            try connection.forEach(statement.sql, values: statement.values) { row in
                found.append(PhotoPlace(date: try row[0], id: try row[1]))
            }
        }
        return try photos(found, limit: limit)
    }

    private func photos(_ places: [PhotoPlace], limit: Int) throws -> [Photo] {
        try places.sorted(by: >).prefix(limit).flatMap { place in
            let statement = PhotoStatement.photo(place.id)
            return try connection.readable("photos", statement.sql, values: statement.values) {
                try PhotoColumns.photo($0)
            }
        }
    }

    // MARK: Statements

    /// The photos of `filter` in order, looked at one by one.
    private func walk(
        _ filter: SQLFilter, containing words: FoundWords?, limit: Int
    ) throws -> [Photo] {
        var found: [Photo] = []
        for range in filter.ranges where found.count < limit {
            let statement = PhotoStatement.walk(
                filter, range, containing: words, limit: limit - found.count)
            found += try connection.readable("photos", statement.sql, values: statement.values) {
                try PhotoColumns.photo($0)
            }
        }
        return found
    }

    /// The date of the photo that comes `number` after the first, or nil where there are not so many. Where photos of
    /// one date are cut by the cursor, the count begins after the first range that has enough.
    private func date(after number: Int, _ filter: SQLFilter) throws -> Int64? {
        for range in filter.ranges {
            let statement = PhotoStatement.date(after: number, filter, range)
            let date = try connection.first(statement.sql, values: statement.values) { try $0[0] as Int64 }
            if let date { return date }
        }
        return nil
    }
}
