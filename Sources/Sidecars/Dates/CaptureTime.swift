/// When a picture was taken, as far as what lies beside it or its name says.
public struct CaptureTime: Hashable, Sendable {
    /// Which clock the time was read from.
    public enum Clock: Hashable, Sendable {
        /// UTC: an instant, from which nobody can tell what the camera's clock showed.
        case universal
        /// The camera's clock, with minutes east of UTC (-900 to 900) where they are known.
        case wall(offsetMinutes: Int?)
    }

    /// Milliseconds since 1970-01-01 00:00 on ``clock``, counted as if every day had 24 hours.
    public let milliseconds: Int64
    public let clock: Clock
    /// Only the day is known; ``milliseconds`` is its 00:00.
    public let isDayOnly: Bool

    public var isUTC: Bool { clock == .universal }

    public init(milliseconds: Int64, clock: Clock, isDayOnly: Bool = false) {
        self.milliseconds = milliseconds
        self.clock = clock
        self.isDayOnly = isDayOnly
    }

    /// Whether it lies in `year` or later, and at most a day after `now` (milliseconds since 1970 UTC): no zone's clock
    /// is further ahead.
    func isPlausible(since year: Int, now: Int64) -> Bool {
        guard let first = CivilTime(year: year, month: 1, day: 1) else { return false }
        let (latest, overflow) = now.addingReportingOverflow(CivilTime.dayMilliseconds)
        return milliseconds >= first.milliseconds && (overflow || milliseconds <= latest)
    }
}

/// A moment of the Gregorian calendar without a zone. Not Foundation's `Calendar`: it turns February 30 into March, and
/// what a file says must be a date or none.
struct CivilTime: Hashable {
    static let dayMilliseconds: Int64 = 86_400_000

    let year: Int
    let month: Int
    let day: Int
    let hour: Int
    let minute: Int
    let second: Int
    let millisecond: Int

    /// Nil for what no calendar or clock shows: zeros, month 13, February 30, 24:00, a leap second.
    init?(
        year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0, millisecond: Int = 0
    ) {
        guard (1...9999).contains(year), (1...12).contains(month), day >= 1, day <= Self.days(month, year),
            (0..<24).contains(hour), (0..<60).contains(minute), (0..<60).contains(second),
            (0..<1000).contains(millisecond)
        else { return nil }
        self.year = year
        self.month = month
        self.day = day
        self.hour = hour
        self.minute = minute
        self.second = second
        self.millisecond = millisecond
    }

    /// Since 1970-01-01 00:00. Days are counted as Howard Hinnant's `days_from_civil` does, in years that begin in
    /// March.
    var milliseconds: Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let days = era * 146_097 + dayOfEra - 719_468
        return (Int64(days) * 86_400 + Int64(hour * 3600 + minute * 60 + second)) * 1000 + Int64(millisecond)
    }

    private static func days(_ month: Int, _ year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
