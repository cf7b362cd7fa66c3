/// A date as a file writes it, on somebody's clock: as far as it goes, with the clock's distance from UTC or without.
///
/// Everything that reads dates out of pictures, sidecars and names makes one of these, in the worker and in the daemon. No
/// Foundation, whose `Calendar` turns February 30 into March, and which a worker does not have; no zone of this machine.
public struct WrittenDate: Hashable, Sendable {
    public let year: Int
    /// 1 where only the year is known, as ``day`` is; ``hour`` and the parts behind it are 0.
    public private(set) var month = 1
    public private(set) var day = 1
    public private(set) var hour = 0
    public private(set) var minute = 0
    public private(set) var second = 0
    public private(set) var millisecond = 0
    public private(set) var precision = DatePrecision.year
    /// Minutes east of UTC, at most 16 hours either way; nil where nothing says so.
    public internal(set) var offset: Int?

    /// The years that dates may have: those of photography and of what it has taken pictures of.
    static let years = 1800...9999

    /// Nil for a year that no photo is of.
    init?(year: Int) {
        guard Self.years.contains(year) else { return nil }
        self.year = year
    }

    /// A whole date. Nil for what no calendar and no clock shows: month 13, February 30, hour 24, second 60.
    public init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int, millisecond: Int = 0) {
        self.init(year: year, month: month, day: day)
        guard set(hour: hour, minute: minute), set(second: second, millisecond: millisecond) else { return nil }
    }

    /// A day.
    public init?(year: Int, month: Int, day: Int) {
        self.init(year: year)
        guard set(month: month), set(day: day) else { return nil }
    }

    // MARK: Parts

    /// Each of these takes the parts that follow the last one; false, and nothing is changed, where they cannot be.
    mutating func set(month: Int) -> Bool {
        guard precision == .year, (1...12).contains(month) else { return false }
        (self.month, precision) = (month, .month)
        return true
    }

    mutating func set(day: Int) -> Bool {
        guard precision == .month, day >= 1, day <= Self.days(month, year) else { return false }
        (self.day, precision) = (day, .day)
        return true
    }

    mutating func set(hour: Int, minute: Int) -> Bool {
        guard precision == .day, (0..<24).contains(hour), (0..<60).contains(minute) else { return false }
        (self.hour, self.minute, precision) = (hour, minute, .minute)
        return true
    }

    /// A leap second is none: it has no place in a count of milliseconds, and must not begin the next day.
    mutating func set(second: Int, millisecond: Int) -> Bool {
        guard precision == .minute, (0..<60).contains(second), (0..<1000).contains(millisecond) else { return false }
        (self.second, self.millisecond, precision) = (second, millisecond, .second)
        return true
    }

    private static func days(_ month: Int, _ year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    // MARK: Counting

    private static let dayMilliseconds: Int64 = 86_400_000

    /// Of its first moment, since 1970-01-01 00:00 on the same clock.
    public var milliseconds: Int64 {
        let time = Int64(hour * 3600 + minute * 60 + second) * 1000 + Int64(millisecond)
        return Self.daysSince1970(year, month, day) * Self.dayMilliseconds + time
    }

    /// Of all moments that it may mean.
    public var span: Range<Int64> {
        let end =
            switch precision {
            case .year: Self.daysSince1970(year + 1, 1, 1) * Self.dayMilliseconds
            case .month: Self.daysSince1970(month == 12 ? year + 1 : year, month % 12 + 1, 1) * Self.dayMilliseconds
            case .day: milliseconds + Self.dayMilliseconds
            case .minute: milliseconds + 60_000
            case .second: milliseconds + 1
            }
        return milliseconds..<end
    }

    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int64 {
        DayNumber.of(Int64(year), Int64(month), Int64(day))
    }

    // MARK: Judging

    /// Whether it can be when a photo was taken: not in the future, and not what a clock shows that nobody has set.
    ///
    /// Not more than a day in the future, because a clock without an offset may be 14 hours ahead of UTC.
    /// - Parameter now: milliseconds since 1970-01-01 UTC.
    public func isCredible(now: Int64) -> Bool {
        let moment = milliseconds - Int64(offset ?? 0) * 60_000
        let (latest, overflow) = now.addingReportingOverflow(Self.dayMilliseconds)
        return !isOfUnsetClock && (overflow || moment <= latest)
    }

    /// Midnight of a day from which programs, file systems and cameras count: of OLE, of the Macintosh, of Unix, of FAT, and
    /// of cameras without a battery. The day alone is none of these: a person has written it.
    private var isOfUnsetClock: Bool {
        guard precision >= .minute else { return false }
        // Unix's zero is often written as the clock of some zone shows it.
        if let offset, milliseconds / 1000 == Int64(offset) * 60 { return true }
        guard hour == 0, minute == 0 else { return false }
        return [(1899, 12, 30), (1904, 1, 1), (1970, 1, 1), (1980, 1, 1), (2000, 1, 1)]
            .contains { $0 == (year, month, day) }
    }

    /// The more exact one of these two, where the other can mean the same moment; else this one. A day in one property is made
    /// exact by a time of that day in another.
    public func refined(by other: WrittenDate?) -> WrittenDate {
        guard let other, other.precision > precision, span.contains(other.milliseconds) else { return self }
        return other
    }
}
