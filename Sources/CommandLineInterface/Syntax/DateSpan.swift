import LibraryModel
import ServiceMesh

/// Days as people write them where photos are chosen by date, on the camera's clock: `2025`, `2025-06`, `2025-06-12`,
/// `today`, `yesterday`, and days that were so long ago: `7d`, `2w`, `3m`, `1y`. Or a time of one day,
/// `2025-06-12T14:05`, which is its own beginning and end.
struct DateSpan: Equatable {
    static let forms = "2025, 2025-06, 2025-06-15, 2025-06-15T14:05, today, yesterday, 7d, 2w, 3m or 1y"

    private static let day: Int64 = 86_400_000

    let first: LocalDateTime
    let last: LocalDateTime

    /// - Parameter now: what the clock on the wall shows.
    init?(_ text: String, now: LocalDateTime = LocalDateTime(here: .now())) {
        let begin = now.milliseconds - now.milliseconds.remainder(of: Self.day)
        switch text.lowercased() {
        case "today": self.init(day: begin)
        case "yesterday": self.init(day: begin - Self.day)
        default:
            if let ago = Self.beginning(ago: text, of: begin) {
                self.init(day: ago)
            } else if text.isNumber(count: 4) {
                self.init(from: text + "-01-01", upTo: text + "-12-31")
            } else if text.utf8.count == 7, let month = Int(text.suffix(2)), (1...12).contains(month) {
                let next = month == 12 ? text.prefix(4) + "-12-31" : text.prefix(5) + Self.two(month + 1) + "-01"
                self.init(from: text + "-01", upTo: String(next), isIncluded: month == 12)
            } else if let read = LocalDateTime(text) {
                let isDay = text.utf8.count == 10
                self.init(first: read, milliseconds: isDay ? Self.day : 1)
            } else {
                return nil
            }
        }
    }

    private init(first: LocalDateTime, milliseconds: Int64) {
        self.first = first
        last = LocalDateTime(milliseconds: first.milliseconds + milliseconds - 1)
    }

    private init(day begin: Int64) { self.init(first: LocalDateTime(milliseconds: begin), milliseconds: Self.day) }

    private init?(from: String, upTo: String, isIncluded: Bool = true) {
        guard let first = LocalDateTime(from), let end = LocalDateTime(upTo) else { return nil }
        self.init(first: first, milliseconds: end.milliseconds + (isIncluded ? Self.day : 0) - first.milliseconds)
    }

    /// The beginning of the day that was `7d` or the like before the one that begins at `today`.
    private static func beginning(ago text: String, of today: Int64) -> Int64? {
        guard let unit = text.last, let count = Int64(text.dropLast()), text.dropLast().isNumber(upTo: 5) else {
            return nil
        }
        switch unit {
        case "d": return today - count * day
        case "w": return today - count * 7 * day
        case "m": return beginning(monthsAgo: count, of: today)
        case "y": return beginning(monthsAgo: count * 12, of: today)
        default: return nil
        }
    }

    /// The same day of an earlier month, or the last that it has.
    private static func beginning(monthsAgo count: Int64, of today: Int64) -> Int64? {
        let parts = LocalDateTime(milliseconds: today).description.prefix(10).split(separator: "-").compactMap {
            Int64($0)
        }
        guard parts.count == 3 else { return nil }
        let months = parts[0] * 12 + parts[1] - 1 - count
        guard months >= 0 else { return nil }
        let year = String(months / 12)
        let month = String(repeating: "0", count: 4 - year.count) + year + "-" + two(Int(months % 12) + 1) + "-"
        return (1...parts[2]).reversed().lazy.compactMap { LocalDateTime(month + two(Int($0)))?.milliseconds }.first
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

extension Int64 {
    /// Never negative, also of a time before 1970.
    fileprivate func remainder(of divisor: Int64) -> Int64 {
        let rest = self % divisor
        return rest < 0 ? rest + divisor : rest
    }
}

extension StringProtocol {
    /// Whether it is ASCII digits alone.
    package func isNumber(count: Int) -> Bool { utf8.count == count && isNumber(upTo: count) }

    package func isNumber(upTo count: Int) -> Bool {
        (1...count).contains(utf8.count) && utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}

/// When a photo was taken, as somebody says it: as far as they know.
package struct SaidDate: Equatable {
    package static let forms = "1978, 1978-08, 2025-06-15 or 2025-06-15T14:05"

    package let clock: LocalDateTime
    package let precision: DatePrecision

    package init?(_ text: String) {
        let read: (String, DatePrecision) =
            switch text.utf8.count {
            case 4: (text + "-01-01", .year)
            case 7: (text + "-01", .month)
            case 10: (text, .day)
            case 16: (text, .minute)
            default: (text, .second)
            }
        // An integer of milliseconds has four digits too.
        guard text.utf8.count != 4 || text.isNumber(count: 4), let clock = LocalDateTime(read.0) else { return nil }
        (self.clock, precision) = (clock, read.1)
    }
}
