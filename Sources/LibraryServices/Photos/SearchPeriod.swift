/// A stretch of time with a token of its own in the text index: long ones of 2^35 ms (398 days), each of sixteen
/// short ones of 2^31 ms (25 days). Powers of two and not calendar months, because a trigger has to find them.
///
/// The tokens are trigrams of the private-use area: of the four characters `P P L S`, the first three say which long
/// period, the last three which short one. Where somebody writes these characters into a caption, the index
/// only offers a photo too many.
///
/// Dates further than 400 long periods (435 years) from 1970 share the last long one on their side.
struct SearchPeriod: Equatable {
    private static let longShift: Int64 = 35
    private static let shortShift: Int64 = 31
    private static let farthest: Int64 = 400
    private static let mark: UInt32 = 0xE000
    private static let firstLong: UInt32 = 0xE400
    private static let firstShort: UInt32 = 0xE800

    /// The first millisecond.
    let start: Int64
    /// What photos of the period have in the index.
    let token: String

    /// The long period in which `date` (milliseconds) lies.
    static func long(_ date: Int64) -> SearchPeriod {
        let number = clamped(date)
        let start = number == -farthest ? Int64.min : number << longShift
        return SearchPeriod(start: start, token: text([mark, mark, character(number)]))
    }

    /// The short period in which `date` lies; nil for dates so far away that they have only a long one.
    static func short(_ date: Int64) -> SearchPeriod? {
        let number = clamped(date)
        guard number == date >> longShift, abs(number) < farthest else { return nil }
        let short = UInt32(truncatingIfNeeded: (date >> shortShift) & 15)
        return SearchPeriod(
            start: (date >> shortShift) << shortShift, token: text([mark, character(number), firstShort + short]))
    }

    /// The four characters of a photo shown at `column`, as SQL.
    static func sql(_ column: String) -> String {
        """
        char(\(mark), \(mark), \(Int64(firstLong) + farthest) \
        + max(-\(farthest), min(\(farthest), \(column) >> \(longShift))), \
        \(firstShort) + ((\(column) >> \(shortShift)) & 15))
        """
    }

    private static func clamped(_ date: Int64) -> Int64 { max(-farthest, min(farthest, date >> longShift)) }

    private static func character(_ number: Int64) -> UInt32 {
        firstLong + UInt32(truncatingIfNeeded: number + farthest)
    }

    private static func text(_ characters: [UInt32]) -> String {
        String(String.UnicodeScalarView(characters.compactMap(Unicode.Scalar.init)))
    }
}
