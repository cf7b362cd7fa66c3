import Glibc
import ImageWorkerProtocol

/// A date and a time of day as somebody's clock showed them, with the clock's distance from UTC or without.
///
/// No zone of this process has a part in it, and so neither `mktime` nor `timegm`.
///
/// Sidecars reads dates of its own (`CaptureTime`): there a day without a time is a finding, as is a moment without a camera's
/// clock; here a picture's EXIF, XMP and IPTC have one clock, complete or none.
struct WallClock: Equatable {
    private(set) var year: Int
    private(set) var month: Int
    private(set) var day: Int
    private(set) var hour = 0
    private(set) var minute = 0
    private(set) var second = 0
    private(set) var millisecond = 0
    /// Minutes east of UTC; nil where the picture does not say.
    private(set) var offset: Int?

    /// EXIF's `YYYY:MM:DD HH:MM:SS`, fractional digits, and `±HH:MM`. A blank or absurd offset is none.
    init?(exif date: String, fraction: String?, offset: String?) {
        var text = DigitReader(date.utf8)
        guard let day = Self.day(&text), text.take(" T"), let time = Self.time(&text), let second = time.second else {
            return nil
        }
        self.init(day: day)
        guard set(hour: time.hour, minute: time.minute, second: second) else { return nil }
        var digits = DigitReader((fraction ?? "").utf8.drop { $0 == 0x20 })
        millisecond = digits.fraction()
        if let offset {
            var text = DigitReader(offset.utf8)
            self.offset = text.offset()
        }
    }

    /// XMP's ISO 8601, complete to the day at least: a year or a month alone is no day to show a photo on. Without a time
    /// it is the day's beginning.
    ///
    /// Taken as programs write it too: with EXIF's colons in the date (GIMP), with `GMT` before the offset (Apple), and
    /// with something behind it.
    init?(xmp date: String) {
        var text = DigitReader(date.utf8.drop { $0 == 0x20 || (0x09...0x0D).contains($0) })
        guard let day = Self.day(&text) else { return nil }
        self.init(day: day)
        guard !text.isAtEnd else { return }
        guard text.take(" T"), let time = Self.time(&text) else { return nil }
        guard set(hour: time.hour, minute: time.minute, second: time.second ?? 0) else { return nil }
        if time.second != nil, text.take(".,") { millisecond = text.fraction() }
        offset = text.offset()
    }

    /// IPTC's `YYYYMMDD` and `HHMMSS±HHMM`. A time that is none leaves the day's beginning.
    init?(iptc date: String, time: String?) {
        var text = DigitReader(date.utf8)
        guard let day = Self.day(&text) else { return nil }
        self.init(day: day)
        guard let time else { return }
        var rest = DigitReader(time.utf8)
        guard let parts = Self.time(&rest), set(hour: parts.hour, minute: parts.minute, second: parts.second ?? 0)
        else { return }
        offset = rest.offset()
    }

    private init(day: (year: Int, month: Int, day: Int)) {
        (year, month, self.day) = day
    }

    private mutating func set(hour: Int, minute: Int, second: Int) -> Bool {
        guard hour < 24, minute < 60, second <= 60 else { return false }
        self.hour = hour
        self.minute = minute
        // A leap second has no place in a count of milliseconds, and must not begin the next day.
        self.second = min(second, 59)
        return true
    }

    /// Nil for what is no date (zeros, month 13, February 30) or before photography.
    private static func day(_ text: inout DigitReader) -> (year: Int, month: Int, day: Int)? {
        guard let year = text.number(4) else { return nil }
        _ = text.take(":-/")
        guard let month = text.number(2) else { return nil }
        _ = text.take(":-/")
        guard let day = text.number(2), year >= 1800, (1...12).contains(month), day >= 1, day <= days(month, year)
        else { return nil }
        return (year, month, day)
    }

    private static func time(_ text: inout DigitReader) -> (hour: Int, minute: Int, second: Int?)? {
        guard let hour = text.number(2) else { return nil }
        _ = text.take(":")
        guard let minute = text.number(2) else { return nil }
        _ = text.take(":")
        return (hour, minute, text.number(2))
    }

    private static func days(_ month: Int, _ year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    // MARK: Counting

    /// Milliseconds since 1970-01-01 00:00 on this clock.
    var milliseconds: Int64 {
        // Years that begin in March have their leap day at the end.
        let shifted = month > 2 ? year : year - 1
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let days = shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
        return Int64(((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + Int64(millisecond)
    }

    /// This date as a photo's; nil where it lies in the future by more than a day.
    ///
    /// A day, because a clock without an offset may be 14 hours ahead of UTC.
    /// - Parameter now: milliseconds since 1970-01-01 UTC.
    func date(_ source: CameraDate.Source, now: Int64) -> CameraDate? {
        let moment = milliseconds - Int64(offset ?? 0) * 60_000
        return moment <= now + 86_400_000 ? CameraDate(clock: milliseconds, offset: offset, source: source) : nil
    }

    /// Milliseconds since 1970-01-01 UTC, by the machine's clock, but not before 2026: a machine whose battery is empty
    /// wakes up in 1970, and would take every photo for one of the future.
    static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return max(Int64(time.tv_sec) * 1000, 1_767_225_600_000)
    }
}

/// Reads digits and what stands between them; never past the end.
private struct DigitReader {
    private var rest: Substring.UTF8View

    init(_ text: Substring.UTF8View) { rest = text }

    init(_ text: String.UTF8View) { rest = text[...] }

    var isAtEnd: Bool { rest.allSatisfy { $0 == 0x20 || $0 == 0 || (0x09...0x0D).contains($0) } }

    /// Exactly `count` digits.
    mutating func number(_ count: Int) -> Int? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy(Self.isDigit) else { return nil }
        rest = rest.dropFirst(count)
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// The next byte, where it is one of these.
    mutating func take(_ bytes: StaticString) -> Bool {
        guard let next = rest.first else { return false }
        for index in 0..<bytes.utf8CodeUnitCount where bytes.utf8Start[index] == next {
            rest = rest.dropFirst()
            return true
        }
        return false
    }

    /// Milliseconds. `5` is half a second, `05` a twentieth: digits behind the point, not a count.
    mutating func fraction() -> Int {
        var value = 0
        var scale = 100
        while let next = rest.first, Self.isDigit(next) {
            value += Int(next - 0x30) * scale
            scale /= 10
            rest = rest.dropFirst()
        }
        return value
    }

    /// `Z`, `±HH:MM`, `±HHMM` or `±HH` in minutes.
    mutating func offset() -> Int? {
        if rest.starts(with: "GMT".utf8) || rest.starts(with: "UTC".utf8) { rest = rest.dropFirst(3) }
        if take("Z") { return 0 }
        let isWest = rest.first == UInt8(ascii: "-")
        guard take("+-"), let hours = number(2), hours <= 15 else { return nil }
        _ = take(":")
        let minutes = number(2) ?? 0
        guard minutes < 60 else { return nil }
        return (hours * 60 + minutes) * (isWest ? -1 : 1)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }
}
