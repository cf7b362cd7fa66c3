import Database
import LibraryModel
import ServiceMesh

/// One page of a search. A page begins where the one before ended (by date and id, not by offset), so that it stays
/// right while photos are added.
///
/// Without a text, an index has the page in its order. With one there are three ways, since a word may be in three
/// photos or in all, and evenly spread or only in old ones; none of the three is quick for every word:
///
/// 1. Few matches in all: the text index names them, and they are sorted.
/// 2. Matches everywhere: the newest photos are looked at one by one, and soon the page is full.
/// 3. Else the text index names all of them, and their dates are sorted without reading the photos.
struct PhotoQuery {
    static let limits = 1...1000
    static let standardLimit = 100

    /// Matches that are fetched and sorted at once, at most.
    private static let few = 500
    /// Photos that are looked at one by one at first, to see how frequent the text is.
    private static let firstStretch = 1000
    /// Photos that are looked at one by one, at most, where the text index could tell where to look.
    private static let maximumWalk = 10_000

    private let filter: PhotoFilter
    private let text: SearchText?
    private let limit: Int

    /// - Throws: `invalid_argument`.
    init(_ request: SearchPhotos) throws {
        limit = try Self.validated(limit: request.limit)
        filter = try PhotoFilter(request)
        text = try SearchText(request.text)
    }

    static func validated(limit: Int?) throws -> Int {
        guard let limit else { return standardLimit }
        guard limits.contains(limit) else {
            throw MeshError(.invalidArgument, "'limit' is between \(limits.lowerBound) and \(limits.upperBound).")
        }
        return limit
    }

    func page(in connection: Connection) throws -> PhotoPage {
        // One more than asked for tells whether there is a next page.
        let wanted = limit + 1
        let found =
            if let text {
                try matches(text, limit: wanted, in: connection)
            } else {
                try walk(filter, containing: nil, limit: wanted, in: connection)
            }
        let photos = Array(found.prefix(limit))
        let next = found.count > limit ? photos.last.map { PhotoPlace($0).text } : nil
        return PhotoPage(photos: photos, next: next)
    }

    /// Photos that meet the filters, on whichever page. With dates or a text it takes a walk over all of them, though
    /// not over their rows where no text is to be compared.
    func total(in connection: Connection) throws -> Int {
        let all = filter.ofAllPages
        let statement: PhotoStatement
        if let text {
            let sieve = try text.sieve ?? text.shortSieve(in: connection)
            if sieve?.isEmpty == true { return 0 }
            statement = .total(sieve, all, containing: text.folded)
        } else {
            statement = .total(all)
        }
        return try connection.first(statement.sql, values: statement.values) { try $0[0] as Int } ?? 0
    }

    // MARK: Ways to find a text

    private func matches(_ text: SearchText, limit: Int, in connection: Connection) throws -> [Photo] {
        let sieve = text.sieve
        if let sieve, try count(sieve, in: connection) <= Self.few {
            return try gather(sieve, filter, text, limit: limit, in: connection)
        }
        var found: [Photo] = []
        var rest = filter
        var (stretch, walked) = (Self.firstStretch, 0)
        while walked + stretch <= Self.maximumWalk {
            guard let date = try date(after: stretch, rest, in: connection) else {
                return found + (try walk(rest, containing: text, limit: limit - found.count, in: connection))
            }
            let hits = try walk(rest.since(date), containing: text, limit: limit - found.count, in: connection)
            found += hits
            guard found.count < limit else { return found }
            rest = rest.before(PhotoPlace(date: date, id: .min))
            guard !hits.isEmpty else { break }
            walked += stretch
            // At this rate, and a little more.
            stretch = (limit - found.count) * stretch / hits.count * 5 / 4 + 100
        }
        guard let sieve = try sieve ?? text.shortSieve(in: connection) else {
            return found + (try walk(rest, containing: text, limit: limit - found.count, in: connection))
        }
        if !sieve.isEmpty { try add(to: &found, sieve, rest, text, limit: limit, in: connection) }
        return found
    }

    /// Fills the page with those that the text index names, the newest first.
    private func add(
        to found: inout [Photo], _ sieve: Sieve, _ filter: PhotoFilter, _ text: SearchText, limit: Int,
        in connection: Connection
    ) throws {
        var rest = filter
        // More than are missing, since some do not contain the text: the index knows nothing of positions, and of
        // `img_2005` it also offers what was taken in May 2020. Each turn is a walk over all matches, hence few turns.
        var asked = max(200, 2 * (limit - found.count))
        while true {
            let statement = PhotoStatement.places(sieve, rest, limit: asked)
            let places = try connection.query(statement.sql, values: statement.values) {
                PhotoPlace(date: try $0[0], id: try $0[1])
            }
            for place in places {
                let statement = PhotoStatement.compare(place.id, with: text.folded)
                guard
                    let photo = try connection.first(
                        statement.sql, values: statement.values, transform: { try PhotoTable.photo($0) })
                else { continue }
                found.append(photo)
                if found.count == limit { return }
            }
            guard places.count == asked, let last = places.last else { return }
            rest = rest.before(last)
            asked = min(asked * 8, 100_000)
        }
    }

    // MARK: Statements

    /// The photos of `filter` in order, looked at one by one.
    private func walk(
        _ filter: PhotoFilter, containing text: SearchText?, limit: Int, in connection: Connection
    ) throws -> [Photo] {
        var found: [Photo] = []
        for range in filter.ranges where found.count < limit {
            let statement = PhotoStatement.walk(
                filter, range, containing: text?.folded, limit: limit - found.count)
            found += try connection.query(statement.sql, values: statement.values) { try PhotoTable.photo($0) }
        }
        return found
    }

    /// The photos that the text index names, compared and sorted.
    private func gather(
        _ sieve: Sieve, _ filter: PhotoFilter, _ text: SearchText, limit: Int, in connection: Connection
    ) throws -> [Photo] {
        let statement = PhotoStatement.gather(sieve, filter, containing: text.folded, limit: limit)
        return try connection.query(statement.sql, values: statement.values) { try PhotoTable.photo($0) }
    }

    private func count(_ sieve: Sieve, in connection: Connection) throws -> Int {
        let statement = PhotoStatement.count(sieve, upTo: Self.few + 1)
        return try connection.first(statement.sql, values: statement.values) { try $0[0] as Int } ?? 0
    }

    /// The date of the photo that comes `number` after the first, or nil where there are not so many. Where photos of
    /// one date are cut by the cursor, the count begins after the first range that has enough.
    private func date(after number: Int, _ filter: PhotoFilter, in connection: Connection) throws -> Int64? {
        for range in filter.ranges {
            let statement = PhotoStatement.date(after: number, filter, range)
            let date = try connection.first(statement.sql, values: statement.values) { try $0[0] as Int64 }
            if let date { return date }
        }
        return nil
    }
}

extension PhotoPlace {
    init(_ photo: Photo) { self.init(date: photo.shownAt.milliseconds, id: photo.id) }
}
