import Glibc

/// A moment as EXIF writes it: components on a wall clock, with an offset from UTC or without.
struct ExifDate: Equatable {
    var year: Int
    var month: Int
    var day: Int
    var hour: Int
    var minute: Int
    var second: Int
    var millisecond: Int
    /// Seconds east of UTC; nil where the camera did not say.
    var offset: Int?

    /// Reads `YYYY:MM:DD HH:MM:SS`, fractional digits, and `±HH:MM`. Nil for what is no date (zeros, month 13,
    /// February 30) or before photography; a blank or absurd offset is none.
    init?(date: String, fraction: String?, offset: String?) {
        let digits = Array(date.utf8.prefix(19))
        guard digits.count == 19 else { return nil }
        func number(_ start: Int, _ count: Int) -> Int? {
            var value = 0
            for byte in digits[start..<start + count] {
                guard byte >= 0x30, byte <= 0x39 else { return nil }
                value = value * 10 + Int(byte - 0x30)
            }
            return value
        }
        let separators: [(Int, [UInt8])] = [
            (4, [0x3A, 0x2D, 0x2F]), (7, [0x3A, 0x2D, 0x2F]), (10, [0x20, 0x54]), (13, [0x3A]), (16, [0x3A]),
        ]
        guard separators.allSatisfy({ $0.1.contains(digits[$0.0]) }),
            let year = number(0, 4), let month = number(5, 2), let day = number(8, 2),
            let hour = number(11, 2), let minute = number(14, 2), let second = number(17, 2),
            year >= 1800, (1...12).contains(month), day >= 1, day <= Self.days(month, year),
            hour < 24, minute < 60, second <= 60
        else { return nil }
        self.year = year
        self.month = month
        self.day = day
        self.hour = hour
        self.minute = minute
        self.second = second
        millisecond = Self.milliseconds(fraction)
        self.offset = offset.flatMap(Self.seconds)
    }

    /// Milliseconds since 1970-01-01 UTC; without an offset the wall clock is the process's local zone.
    var milliseconds: Int64? {
        var clock = tm()
        clock.tm_year = Int32(year - 1900)
        clock.tm_mon = Int32(month - 1)
        clock.tm_mday = Int32(day)
        clock.tm_hour = Int32(hour)
        clock.tm_min = Int32(minute)
        clock.tm_sec = Int32(second)
        clock.tm_isdst = -1
        let seconds: Int
        if let offset {
            seconds = timegm(&clock) - offset
        } else {
            // -1 is also the last second of 1969; errno alone cannot tell, the weekday that mktime fills in can.
            clock.tm_wday = -1
            seconds = mktime(&clock)
            guard clock.tm_wday >= 0 else { return nil }
        }
        return Int64(seconds) * 1000 + Int64(millisecond)
    }

    private static func days(_ month: Int, _ year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// `5` is half a second, `05` a twentieth: fractional digits, not a count.
    private static func milliseconds(_ text: String?) -> Int {
        var value = 0
        var scale = 100
        for byte in (text ?? "").utf8.drop(while: { $0 == 0x20 }) {
            guard byte >= 0x30, byte <= 0x39, scale > 0 else { break }
            value += Int(byte - 0x30) * scale
            scale /= 10
        }
        return value
    }

    private static func seconds(_ text: String) -> Int? {
        let bytes = Array(text.utf8)
        if bytes.first == UInt8(ascii: "Z") { return 0 }
        guard bytes.count >= 6, bytes[0] == UInt8(ascii: "+") || bytes[0] == UInt8(ascii: "-"),
            bytes[3] == UInt8(ascii: ":"),
            let hours = Int(String(decoding: bytes[1...2], as: UTF8.self)),
            let minutes = Int(String(decoding: bytes[4...5], as: UTF8.self)),
            bytes[1] >= 0x30, bytes[4] >= 0x30, hours <= 15, minutes < 60
        else { return nil }
        return (hours * 60 + minutes) * 60 * (bytes[0] == UInt8(ascii: "-") ? -1 : 1)
    }
}
