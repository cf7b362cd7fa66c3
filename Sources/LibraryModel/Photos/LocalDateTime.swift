import DateTexts
import Foundation
import ServiceMesh

/// How far a date is known, from the year to the second.
public typealias DatePrecision = DateTexts.DatePrecision

/// What a clock on a wall, or in a camera, showed: a date and a time that are in no zone. A photo taken at 14:05 was taken
/// at 14:05 wherever it is looked at, which no ``/ServiceMesh/Timestamp`` can say.
///
/// In JSON `2025-06-15T14:05:00.250`, the form that RFC 9557 and TOML call a local date-time. Read are also a day alone,
/// which is its first moment, times without seconds, an integer of ``milliseconds``, and texts with an offset, which is
/// passed over.
public struct LocalDateTime: Codable, Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Since 1970-01-01T00:00 on the same clock, as if it were in UTC.
    public var milliseconds: Int64

    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Of the years 1 to 9999, which is what a date may be set to. What is read from files and older catalogues may be any.
    public static let years: ClosedRange<Int64> = -62_135_596_800_000...253_402_300_799_999

    /// What a clock in UTC shows at a moment.
    public init(utc moment: Timestamp) { milliseconds = moment.milliseconds }

    /// What clocks show at a moment where this process is.
    public init(here moment: Timestamp) {
        var seconds = time_t((Double(moment.milliseconds) / 1000).rounded(.down))
        var parts = tm()
        localtime_r(&seconds, &parts)
        milliseconds = moment.milliseconds + Int64(parts.tm_gmtoff) * 1000
    }

    /// The moment at which a clock showed this: one that was so far ahead of UTC, else one where this process is.
    /// - Parameter offset: minutes.
    public func moment(offset: Int?) -> Timestamp {
        let clock = Timestamp(milliseconds: milliseconds)
        // Past the years that a calendar has, an hour more or less says nothing.
        guard clock.rfc3339 != nil else { return clock }
        if let offset { return Timestamp(milliseconds: milliseconds - Int64(offset) * 60_000) }
        var seconds = time_t((Double(milliseconds) / 1000).rounded(.down))
        let fraction = milliseconds - Int64(seconds) * 1000
        var parts = tm()
        gmtime_r(&seconds, &parts)
        // Ask the zone whether summer time holds then.
        parts.tm_isdst = -1
        return Timestamp(milliseconds: Int64(mktime(&parts)) * 1000 + fraction)
    }

    /// Reads the forms named above but for the integer. Nil for anything else, and for days and times that do not exist.
    public init?(_ text: String) {
        var complete = text
        // Without seconds: 2025-06-15T14:05.
        if text.utf8.count == 16 { complete += ":00" }
        let clock = complete.utf8.prefix(19).count == 19 ? Self.withoutZone(complete) + "Z" : complete
        guard let read = Timestamp(rfc3339: clock) else { return nil }
        milliseconds = read.milliseconds
    }

    /// Where an offset stands, if one does, nothing else may.
    private static func withoutZone(_ text: String) -> String {
        let clock = text.prefix(19)
        let rest = text.dropFirst(19)
        let fraction = rest.prefix { $0 == "." || $0.isASCII && $0.isNumber }
        let zone = String(rest.dropFirst(fraction.count))
        let isZone = zone.isEmpty || Timestamp(rfc3339: "2000-01-01T00:00:00" + zone) != nil
        return isZone ? String(clock + fraction) : text
    }

    public static func < (left: LocalDateTime, right: LocalDateTime) -> Bool { left.milliseconds < right.milliseconds }

    /// `2025-06-15T14:05:00`, with `.250` where there are milliseconds; the integer outside the years 0 to 9999.
    public var description: String { text ?? String(milliseconds) }

    /// The first moment of the year, month, day, minute or second that this is in.
    public func beginning(of precision: DatePrecision) -> LocalDateTime {
        guard precision < .second, let text else { return self }
        let kept: (count: Int, rest: String) =
            switch precision {
            case .year: (4, "-01-01T00:00:00")
            case .month: (7, "-01T00:00:00")
            case .day: (10, "T00:00:00")
            case .minute: (16, ":00")
            case .second: (19, "")
            }
        return LocalDateTime(text.prefix(kept.count) + kept.rest) ?? self
    }

    /// `2025-06-15 14:05:00`, or as much of that as is known: `2025-06-15 14:05`, `2025-06-15`, `2025-06`, `2025`. The integer
    /// outside the years 0 to 9999.
    package func text(to precision: DatePrecision) -> String {
        guard let text else { return description }
        let length =
            switch precision {
            case .year: 4
            case .month: 7
            case .day: 10
            case .minute: 16
            case .second: 19
            }
        return String(text.prefix(length)).replacing("T", with: " ")
    }

    /// As XMP writes dates, cut behind what is known: `1978-08`, `2019-06-12T14:05:33.250+02:00`. A day has no offset there. Nil
    /// outside the years 0 to 9999.
    package func iso8601(to precision: DatePrecision, offset: Int?) -> String? {
        guard let text else { return nil }
        let length: Int =
            switch precision {
            case .year: 4
            case .month: 7
            case .day: 10
            case .minute: 16
            case .second: text.utf8.count
            }
        guard precision > .day, let offset else { return String(text.prefix(length)) }
        func digits(_ number: UInt) -> String { number < 10 ? "0\(number)" : String(number) }
        let (hours, minutes) = offset.magnitude.quotientAndRemainder(dividingBy: 60)
        return text.prefix(length) + (offset < 0 ? "-" : "+") + digits(hours) + ":" + digits(minutes)
    }

    private var text: String? { Timestamp(milliseconds: milliseconds).rfc3339.map { String($0.dropLast()) } }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // As it is written first, as with `Timestamp`.
        guard let text = try? container.decode(String.self) else {
            self.init(milliseconds: try container.decode(Int64.self))
            return
        }
        guard let read = LocalDateTime(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "write \(Self.form).")
        }
        self = read
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let text { try container.encode(text) } else { try container.encode(milliseconds) }
    }
}

extension LocalDateTime: SchemaDescribed {
    private static let form = "a date as 2025-06-15 or 2025-06-15T14:05:00, or milliseconds since 1970"
    public static let jsonSchema: JSONValue = ["type": ["string", "integer"], "description": .string(form)]
    public static let schemaExample = LocalDateTime(milliseconds: 0)
}

/// Where a photo's date comes from, from what is most to be trusted on.
public enum DateSource: String, Codable, Sendable, CaseIterable {
    /// Somebody said so.
    case person
    /// EXIF, when the picture was taken.
    case exif
    /// EXIF, when it was made into a file.
    case exifCreated = "exif_created"
    case xmp
    case iptc
    /// A film's header, in its camera's clock or as a moment.
    case film
    /// A file beside the picture.
    case sidecar
    /// A text of a PNG.
    case png
    /// The clock of the satellites.
    case gps
    /// When the picture was last saved, as it says itself.
    case modified
    /// The phone app, which showed the photo by it.
    case app
    case fileName = "file_name"
    /// When the file was last written to.
    case fileTime = "file_time"

    /// Whether it may well be wrong: apps show what they have, names are given and files are copied.
    public var isGuess: Bool { self == .app || self == .fileName || self == .fileTime }

    /// Whether it is to be trusted more than another.
    package func isBetter(than other: DateSource) -> Bool { rank < other.rank }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? Self.allCases.count }
}

/// A photo's date, and what said so.
public struct PhotoDate: Codable, Sendable, Equatable {
    /// The first moment that it can mean.
    public let clock: LocalDateTime
    /// How far it is known.
    public let precision: DatePrecision
    /// Minutes that the clock was ahead of UTC, where that is known.
    public let offset: Int?
    public let source: DateSource

    public init(
        clock: LocalDateTime, precision: DatePrecision = .second, offset: Int? = nil, source: DateSource
    ) {
        self.clock = clock
        self.precision = precision
        self.offset = offset
        self.source = source
    }

    /// The one whose source is most to be trusted, the first of several.
    package static func best(of dates: [PhotoDate?]) -> PhotoDate? {
        dates.compactMap { $0 }.reduce(nil) { best, next in
            best.map { next.source.isBetter(than: $0.source) ? next : $0 } ?? next
        }
    }
}
