import Database
import LibraryModel
import LibraryStorage

/// Photos counted by month and by day.
///
/// The months of all photos, of a category, or of favourites come from counts by day that triggers keep: they are what every
/// page asks for first, and again after every change, and counting a million photos takes 60 ms, or seconds where the index
/// has to be read from the disk. With other filters, a span that has photos is found by the newest one that is left, and
/// counted in the index alone: some ten nanoseconds a photo, so that a month of few costs nothing; so are the days of a month.
/// With a text, all matches are looked at once.
///
/// Rejected: `GROUP BY` a date, for which SQLite sorts all of them.
struct PhotoCalendar {
    private let filter: SQLFilter
    private let words: FoundWords?
    private let connection: Connection

    init(_ query: PhotoQuery, in connection: Connection) throws {
        filter = try SQLFilter(query.filter.ofAllPages, in: connection)
        words = try query.words.map { try FoundWords($0, in: connection) }
        self.connection = connection
    }

    /// Newest first.
    func months(most: Int) throws -> [PhotoSpan] {
        if let words {
            let counts = try matches(words, in: filter).reduce(into: [CalendarSpan: Int]()) { counts, place in
                counts[CalendarSpan.month(of: place.date), default: 0] += 1
            }
            return counts.map { PhotoSpan($0, count: $1) }.sorted { $0.span.start > $1.span.start }.prefix(most)
                .map { $0 }
        }
        return filter.canUseTotals ? try keptMonths(most: most) : try spans(of: filter, most: most, CalendarSpan.month)
    }

    /// The days of a month, newest first, with their anchors.
    func days(of month: CalendarSpan, anchorDistance: Int) throws -> [PhotoSpan] {
        let filter = filter.within(month)
        if let words { return Self.days(try matches(words, in: filter), anchorDistance) }
        return try spans(of: filter, most: 31) { CalendarSpan.day(of: $0) }.map { day in
            guard day.count > anchorDistance else { return day }
            return PhotoSpan(
                day.span, count: day.count,
                anchors: try anchors(filter.within(day.span), count: day.count, distance: anchorDistance))
        }
    }

    private func keptMonths(most: Int) throws -> [PhotoSpan] {
        let statement = PhotoStatement.days(filter)
        let days = try connection.query(statement.sql, values: statement.values) {
            (day: try $0[0] as Int64, count: try $0[1] as Int)
        }
        var months: [PhotoSpan] = []
        for (day, count) in days {
            // The first day of all began before there were milliseconds.
            let (start, overflow) = day.multipliedReportingOverflow(by: Self.dayLength)
            let date = overflow ? .min : start
            if let last = months.last, last.span.start <= date {
                months[months.count - 1] = PhotoSpan(last.span, count: last.count + count)
            } else if months.count < most {
                months.append(PhotoSpan(CalendarSpan.month(of: date), count: count))
            } else {
                break
            }
        }
        return months
    }

    /// Milliseconds.
    private static let dayLength: Int64 = 86_400_000

    // MARK: Without a text

    private func spans(
        of filter: SQLFilter, most: Int, _ span: (Int64) -> CalendarSpan
    ) throws -> [PhotoSpan] {
        var spans: [PhotoSpan] = []
        var rest = filter
        while spans.count < most, let newest = try place(0, rest) {
            let span = span(newest.date)
            spans.append(PhotoSpan(span, count: try count(filter.within(span))))
            rest = rest.before(PhotoPlace(date: span.start, id: .min))
        }
        return spans
    }

    private func count(_ filter: SQLFilter) throws -> Int {
        try filter.ranges.reduce(0) { try $0 + count(filter, $1) }
    }

    private func count(_ filter: SQLFilter, _ range: SQLFilter.Condition) throws -> Int {
        try filter.arms.reduce(0) { sum, arm in
            let statement = PhotoStatement.count(filter, arm, range)
            return try sum + (connection.first(statement.sql, values: statement.values) { try $0[0] as Int } ?? 0)
        }
    }

    /// Where the photo with this number stands, from 0; nil where there are not so many.
    private func place(_ number: Int, _ filter: SQLFilter) throws -> PhotoPlace? {
        var number = number
        let ranges = filter.ranges
        for (index, range) in ranges.enumerated() {
            let statement = PhotoStatement.date(after: number, filter, range)
            let found = try connection.first(statement.sql, values: statement.values) {
                PhotoPlace(date: try $0[0], id: try $0[1])
            }
            if let found { return found }
            // Fewer than `number` are there, so that counting them takes no longer.
            if index + 1 < ranges.count { number -= try count(filter, range) }
        }
        return nil
    }

    private func anchors(_ filter: SQLFilter, count: Int, distance: Int) throws -> [PhotoPlace] {
        var anchors: [PhotoPlace] = []
        var rest = filter
        while anchors.count < (count - 1) / distance, let last = try place(distance - 1, rest) {
            anchors.append(last)
            rest = rest.before(last)
        }
        return anchors
    }

    // MARK: With a text

    private func matches(_ words: FoundWords, in filter: SQLFilter) throws -> [PhotoPlace] {
        let sieve = try (words.sieve ?? words.shortSieve(in: connection))?.marked(filter.mark)
        if sieve?.isEmpty == true { return [] }
        let statement = PhotoStatement.allMatches(sieve, filter, containing: words)
        return try connection.query(statement.sql, values: statement.values) {
            PhotoPlace(date: try $0[0], id: try $0[1])
        }
    }

    private static func days(_ places: [PhotoPlace], _ distance: Int) -> [PhotoSpan] {
        let byDay = Dictionary(grouping: places) { CalendarSpan.day(of: $0.date) }
        return byDay.map { day, places in
            let anchors =
                places.count <= distance
                ? []
                : places.sorted(by: >).enumerated().filter { ($0.offset + 1) % distance == 0 }.map(\.element)
                    .prefix((places.count - 1) / distance).map { $0 }
            return PhotoSpan(day, count: places.count, anchors: anchors)
        }.sorted { $0.span.start > $1.span.start }
    }
}

extension SQLFilter {
    /// The same, but only what is shown within a span.
    fileprivate func within(_ span: CalendarSpan) -> SQLFilter {
        // Nothing comes after the end of all, not even the end of the last span.
        let narrower = span.end == .max ? self : before(PhotoPlace(date: span.end, id: .min))
        return narrower.since(span.start)
    }
}
