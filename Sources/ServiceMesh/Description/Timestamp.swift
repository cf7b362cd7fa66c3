import Foundation

/// A moment: Int64 milliseconds since 1970-01-01 UTC in storage and in Swift, RFC 3339 in JSON that people read.
///
/// In JSON a text like `2025-06-15T10:00:00.250Z` (any offset is accepted), or an integer of milliseconds; a
/// moment outside the years 0 to 9999, which RFC 3339 cannot say, is written as the integer.
public struct Timestamp: Codable, Sendable, Hashable, Comparable, CustomStringConvertible {
    public var milliseconds: Int64

    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }

    /// The system's clock, now.
    public static func now() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    private static let yearZero: Int64 = -62_167_219_200_000
    private static let afterYear9999: Int64 = 253_402_300_800_000

    public var description: String { rfc3339 ?? String(milliseconds) }

    /// `2025-06-15T10:00:00Z`, with `.250` where there are milliseconds; nil outside the years 0 to 9999.
    public var rfc3339: String? {
        guard milliseconds >= Self.yearZero, milliseconds < Self.afterYear9999 else { return nil }
        let seconds = Int((Double(milliseconds) / 1000).rounded(.down))
        let fraction = Int(milliseconds - Int64(seconds) * 1000)
        var time = time_t(seconds)
        var parts = tm()
        gmtime_r(&time, &parts)
        func pad(_ number: Int32, _ width: Int = 2) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, width - text.count)) + text
        }
        let date = "\(pad(parts.tm_year + 1900, 4))-\(pad(parts.tm_mon + 1))-\(pad(parts.tm_mday))"
        let clock = "\(pad(parts.tm_hour)):\(pad(parts.tm_min)):\(pad(parts.tm_sec))"
        return fraction == 0 ? "\(date)T\(clock)Z" : "\(date)T\(clock).\(pad(Int32(fraction), 3))Z"
    }

    /// Reads RFC 3339 (`2025-06-15T10:00:00+02:00`, fraction optional), or a bare date `2025-06-15` as midnight UTC.
    /// Nil for anything else, and for days and times that do not exist.
    public init?(rfc3339 text: String) {
        var rest = Array(text.utf8)[...]
        func digits(_ count: Int) -> Int? {
            guard rest.count >= count else { return nil }
            var value = 0
            for byte in rest.prefix(count) {
                guard byte >= 48, byte <= 57 else { return nil }
                value = value * 10 + Int(byte - 48)
            }
            rest = rest.dropFirst(count)
            return value
        }
        func skip(_ characters: String) -> Bool {
            guard let first = rest.first, characters.utf8.contains(first) else { return false }
            rest = rest.dropFirst()
            return true
        }
        guard let year = digits(4), skip("-"), let month = digits(2), skip("-"), let day = digits(2),
            (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        var hour = 0
        var minute = 0
        var second = 0
        var fraction = 0
        var offset = 0
        if !rest.isEmpty {
            guard skip("Tt "), let hours = digits(2), skip(":"), let minutes = digits(2), skip(":"),
                let seconds = digits(2), hours < 24, minutes < 60, seconds < 61
            else { return nil }
            (hour, minute, second) = (hours, minutes, min(seconds, 59))
            if skip(".") {
                var scale = 100
                guard let first = rest.first, (48...57).contains(first) else { return nil }
                while let byte = rest.first, (48...57).contains(byte) {
                    fraction += Int(byte - 48) * scale
                    scale /= 10
                    rest = rest.dropFirst()
                }
            }
            if !skip("Zz") {
                guard let sign = rest.first, skip("+-"), let hours = digits(2), skip(":"), let minutes = digits(2),
                    hours < 24, minutes < 60
                else { return nil }
                offset = (hours * 60 + minutes) * (sign == UInt8(ascii: "-") ? -1 : 1)
            }
            guard rest.isEmpty else { return nil }
        }
        var parts = tm()
        parts.tm_year = Int32(year - 1900)
        parts.tm_mon = Int32(month - 1)
        parts.tm_mday = Int32(day)
        let midnight = timegm(&parts)
        // timegm turns 31 February into March: a day that does not come back the same does not exist.
        guard parts.tm_mday == Int32(day), parts.tm_mon == Int32(month - 1) else { return nil }
        let total = Int64(midnight) + Int64(hour * 3600 + minute * 60 + second - offset * 60)
        self.init(milliseconds: total * 1000 + Int64(fraction))
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // As it is written first: a guess that is wrong makes an error, and there are some of these in every photo.
        guard let text = try? container.decode(String.self) else {
            self.init(milliseconds: try container.decode(Int64.self))
            return
        }
        guard let read = Timestamp(rfc3339: text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "write \(Self.form).")
        }
        self = read
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let rfc3339 { try container.encode(rfc3339) } else { try container.encode(milliseconds) }
    }
}

extension Timestamp: SchemaDescribed {
    private static let form = "a date as 2025-06-15 or 2025-06-15T10:00:00Z, or milliseconds since 1970"
    public static let jsonSchema: JSONValue = [
        "type": ["string", "integer"], "format": "date-time", "description": .string(form),
    ]
    public static let schemaExample = Timestamp(milliseconds: 0)
}
