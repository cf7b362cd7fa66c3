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
/// 3. Else period by period, the newest first: the text index tells which periods have any, and in each the
///    first or the second way is quick.
struct PhotoQuery {
    static let limits = 1...1000
    static let standardLimit = 100

    /// Matches that are fetched and sorted at once, at most.
    private static let few = 500
    /// Photos that are looked at one by one before the text index is asked where to look.
    private static let stretch = 1000

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

    // MARK: Ways to find a text

    private func matches(_ text: SearchText, limit: Int, in connection: Connection) throws -> [Photo] {
        let sieve = text.sieve
        if let sieve, try count(sieve, in: connection) <= Self.few {
            return try gather(sieve, filter, text, limit: limit, in: connection)
        }
        guard let date = try date(after: Self.stretch, filter, in: connection) else {
            return try walk(filter, containing: text, limit: limit, in: connection)
        }
        var found = try walk(filter.since(date), containing: text, limit: limit, in: connection)
        guard found.count < limit else { return found }
        let rest = filter.before(date)
        if let sieve = try sieve ?? text.shortSieve(in: connection) {
            guard !sieve.isEmpty else { return found }
            try addByPeriods(to: &found, sieve, rest, text, limit: limit, in: connection)
        } else {
            found += try walk(rest, containing: text, limit: limit - found.count, in: connection)
        }
        return found
    }

    private func addByPeriods(
        to found: inout [Photo], _ sieve: Sieve, _ filter: PhotoFilter, _ text: SearchText, limit: Int,
        in connection: Connection
    ) throws {
        var rest = filter
        while found.count < limit, let date = try date(after: 0, rest, in: connection) {
            var period = SearchPeriod.long(date)
            var matches = try count(sieve.within(period), in: connection)
            if matches > Self.few, let short = SearchPeriod.short(date) {
                period = short
                matches = try count(sieve.within(period), in: connection)
            }
            let part = rest.since(period.start)
            let missing = limit - found.count
            if matches > Self.few {
                found += try walk(part, containing: text, limit: missing, in: connection)
            } else if matches > 0 {
                found += try gather(sieve.within(period), part, text, limit: missing, in: connection)
            }
            rest = rest.before(period.start)
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
