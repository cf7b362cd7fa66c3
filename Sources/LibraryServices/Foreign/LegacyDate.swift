import LibraryModel
import ServiceMesh

/// Dates of old rows, which may be anything that 64 bits can hold.
package enum LegacyDate {
    /// From 1970 to the end of 2099, in milliseconds: the app's own dates are of this century.
    static let range: ClosedRange<Int64> = 0...4_102_444_799_999

    /// The nearest date that can be meant, and what to tell where that is another one.
    package static func credible(_ milliseconds: Int64?) -> (date: Timestamp, change: String?) {
        guard let milliseconds else { return (.now(), "it has no date and gets today's") }
        guard !range.contains(milliseconds) else { return (Timestamp(milliseconds: milliseconds), nil) }
        let date = Timestamp(milliseconds: min(max(milliseconds, range.lowerBound), range.upperBound))
        return (date, "its date \(milliseconds) is out of range and becomes \(date)")
    }

    /// What the app showed the photo by, on the clock of where this runs; nil where that can be no photo's date. 0 is what
    /// the app has where it has none.
    package static func shown(_ milliseconds: Int64?) -> PhotoDate? {
        guard let milliseconds, milliseconds != 0, range.contains(milliseconds) else { return nil }
        return PhotoDate(clock: LocalDateTime(here: Timestamp(milliseconds: milliseconds)), source: .app)
    }
}
