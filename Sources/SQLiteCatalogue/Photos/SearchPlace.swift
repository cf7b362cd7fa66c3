import LibraryModel

/// Where a photo stands in the text index: row ids there begin with the photo's date, to the week, the newest first, and
/// end with its id. So the index names matches in the order in which a page has them, and a search that has enough stops: of
/// a word that is in half of a million photos, only the newest matches are ever looked at.
///
/// A week and not the moment: lists of row ids are kept as differences, and with the moment in them they take three
/// times as much room. Within a week the search sorts. Dates beyond 1691…2248 count as the first or last of that
/// time, which only puts them into one week.
enum SearchPlace {
    /// The greatest id that a photo in the text index can have.
    static let maximumID: Int64 = 1 << idBits - 1

    /// The greatest id that a photo from elsewhere keeps. The catalogue gives out ids past the greatest that it ever had,
    /// and those have to fit as well: two photos at one place would break the index.
    static let maximumKeptID: Int64 = maximumID >> 1

    private static let idBits: Int64 = 48
    private static let farthest: Int64 = 1 << 43
    /// 2^29 milliseconds, 6.2 days.
    private static let weekBits: Int64 = 29
    private static let lastWeek: Int64 = (2 * farthest - 1) >> weekBits

    /// The place, as SQL: two expressions for the date in milliseconds and for the id. The same as
    /// ``first(shownAt:)`` with the id in its last bits.
    static func sql(date: String, id: String) -> String {
        let clamped = "max(\(-farthest), min(\(farthest - 1), \(date)))"
        return "((\(lastWeek) - ((\(clamped) + \(farthest)) >> \(weekBits))) << \(idBits) | (\(id) & \(maximumID)))"
    }

    /// The id of the photo at a place, as SQL.
    static func id(of place: String) -> String { "(\(place) & \(maximumID))" }

    /// The first place of the week of a date, milliseconds.
    static func first(shownAt date: Int64) -> Int64 {
        let clamped = max(-farthest, min(farthest - 1, date))
        return (lastWeek - ((clamped + farthest) >> weekBits)) << idBits
    }

    /// The last one of that week.
    static func last(shownAt date: Int64) -> Int64 { first(shownAt: date) | maximumID }

    /// The last place of the week of a place.
    static func lastOfWeek(_ place: Int64) -> Int64 { place | maximumID }
}
