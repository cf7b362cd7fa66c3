import ServiceMesh

/// How many photos meet every filter given in each month of the camera's clock, newest first, and where in the list each month
/// begins; with `month`, the same for the days of that month. For whoever shows a long list and lets a person jump anywhere:
/// `offset` says how many photos stand before, and `after` is the `after` of a ``SearchPhotos`` with the same filters whose page
/// begins there, at whatever depth without walking there. A day of very many photos has places within it too.
///
/// What was found is kept until photos change, so asking again costs nothing. Dates are those of lists: when a photo was
/// taken, else when it was added, in UTC. Not for following changes: ``ObservePhotos`` tells when to ask again.
///
/// Errors: `invalid_argument` (as ``SearchPhotos``, and a month that is not written `2025-06`).
public struct GetTimeline: FilteredMessage, Hashable {
    public typealias Reply = PhotoTimeline
    public static let method = "photo.timeline"
    public static let access = Role.kid
    public static let kind = MessageKind.read
    public static let summary = "How many photos each month and day has, and where in the list it begins."
    /// Months in one reply, the newest; no family has photos of more.
    public static let maximumMonths = 6_000
    /// Photos of a day between two of its anchors.
    public static let anchorDistance = 1_000

    public let filter: PhotoFilter
    /// `2025-06`: its days are told, and no months.
    public let month: String?

    public init(_ filter: PhotoFilter = PhotoFilter(), month: String? = nil) {
        self.filter = filter
        self.month = month
    }

    private enum CodingKeys: CodingKey {
        case month
    }

    public init(from decoder: any Decoder) throws {
        filter = try PhotoFilter(from: decoder)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        month = try container.decodeIfPresent(String.self, forKey: .month)
    }

    public func encode(to encoder: any Encoder) throws {
        try filter.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(month, forKey: .month)
    }

    /// The same for another month, or for all.
    public func of(month: String?) -> GetTimeline { GetTimeline(filter, month: month) }
}

public struct PhotoTimeline: Codable, Sendable, Equatable {
    /// Photos in all months together.
    public let count: Int
    /// Newest first; those without photos are left out. Nil where one month was asked for.
    public let months: [TimelineSpan]?
    /// The days of one month, likewise. Nil where none was asked for.
    public let days: [TimelineSpan]?

    public init(count: Int, months: [TimelineSpan]? = nil, days: [TimelineSpan]? = nil) {
        self.count = count
        self.months = months
        self.days = days
    }
}

/// A month or a day, and its photos.
public struct TimelineSpan: Codable, Sendable, Equatable {
    /// `2025-06`, `2025-06-15`.
    public let date: String
    public let count: Int
    /// Photos of the list that are newer.
    public let offset: Int
    /// What a search is given whose page begins with its newest photo.
    public let after: String
    /// Of a day: what a search is given whose page begins with its photo number 1,000, 2,000, … from 0. Nil for a month.
    public let anchors: [String]?

    public init(date: String, count: Int, offset: Int, after: String, anchors: [String]?) {
        self.date = date
        self.count = count
        self.offset = offset
        self.after = after
        self.anchors = anchors
    }
}
