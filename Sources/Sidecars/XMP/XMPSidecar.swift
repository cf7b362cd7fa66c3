import Foundation

/// A file of XMP beside a picture, as Lightroom, darktable, digiKam and exiftool write them: `x.xmp` or `x.jpg.xmp`.
public struct XMPSidecar: Equatable, Sendable {
    /// ``SidecarFacts/taken`` is the camera's clock (``CaptureTime/Clock/wall(offsetMinutes:)``), from the first of
    /// `exif:DateTimeOriginal`, `photoshop:DateCreated` and `xmp:CreateDate` that is a date.
    /// ``SidecarFacts/isFavorite`` is always missing.
    public let facts: SidecarFacts

    /// A property that makes no sense is taken as missing, so that an odd rating does not cost the date.
    /// - Parameters:
    ///   - data: the file; UTF-8, UTF-16, or Latin-1.
    ///   - now: milliseconds since 1970 UTC.
    public init(_ data: Data, now: Int64) throws(SidecarError) {
        let properties = try XMPProperties(SidecarText.utf8(of: data, fallback: .latin1)).values
        var facts = SidecarFacts()
        facts.taken = Self.taken(properties, now: now)
        facts.caption = properties[.description].flatMap { SidecarText.line($0) }
        facts.title = properties[.title].flatMap { SidecarText.line($0) }
        facts.rating = properties[.rating].flatMap(Self.rating)
        if let latitude = properties[.latitude].flatMap({ Self.degrees($0, "N", "S") }),
            let longitude = properties[.longitude].flatMap({ Self.degrees($0, "E", "W") })
        {
            facts.setLocation(latitude: latitude, longitude: longitude)
        }
        self.facts = facts
    }

    private static func taken(_ properties: [XMPProperties.Property: String], now: Int64) -> CaptureTime? {
        let order: [XMPProperties.Property] = [.dateTimeOriginal, .dateCreated, .createDate]
        let times = order.compactMap { properties[$0].flatMap(XMPDate.time) }
            .filter { $0.isPlausible(since: SidecarFacts.firstYear, now: now) }
        guard let first = times.first, first.isDayOnly else { return times.first }
        // The other properties may have the time of the same day.
        let day = first.milliseconds..<first.milliseconds + CivilTime.dayMilliseconds
        return times.first { !$0.isDayOnly && day.contains($0.milliseconds) } ?? first
    }

    /// 0 to 5, also as `4.0`.
    private static func rating(_ text: String) -> Int? {
        guard let value = Double(text.filter { !$0.isWhitespace }), value >= 0, value <= 5 else { return nil }
        return Int(value.rounded())
    }

    /// `48,9.00318N`, `48,9,0N`; also `48.15` and `-48.15`, which some programs write.
    private static func degrees(_ text: String, _ positive: String, _ negative: String) -> Double? {
        var digits = text.filter { !$0.isWhitespace }[...]
        var sign = 1.0
        if digits.hasSuffix(positive) || digits.hasSuffix(negative) {
            sign = digits.hasSuffix(negative) ? -1 : 1
            digits.removeLast()
        }
        let parts = digits.split(separator: ",", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { Double($0) }
        guard (1...3).contains(parts.count), numbers.count == parts.count,
            numbers.dropFirst().allSatisfy({ $0 >= 0 && $0 < 60 }), parts.count == 1 || numbers[0] >= 0
        else { return nil }
        return sign * zip(numbers, [1.0, 60, 3600]).reduce(0) { $0 + $1.0 / $1.1 }
    }
}

/// Dates of XMP (ISO 8601, cut after any part), and of EXIF, which darktable and others put in their place.
enum XMPDate {
    /// `2019-06-12`, `2019-06-12T14:05`, `2019-06-12T14:05:33.123+02:00`, `2019:06:12 14:05:33`. Nil for a year or a
    /// month alone, and for a date that no calendar has. An offset that no place has is taken as missing.
    static func time(_ text: String) -> CaptureTime? {
        let digits = DigitText(bytes: Array(text.utf8.drop { $0 <= 0x20 }.prefix(64)))
        guard digits[4] == UInt8(ascii: "-") || digits[4] == UInt8(ascii: ":"), digits[7] == digits[4],
            let year = digits.number(0, 4), let month = digits.number(5, 2), let day = digits.number(8, 2)
        else { return nil }
        guard digits[10] == UInt8(ascii: "T") || digits[10] == UInt8(ascii: " "), digits.isDigit(11) else {
            guard !digits.isDigit(10) else { return nil }
            return CivilTime(year: year, month: month, day: day).map {
                CaptureTime(milliseconds: $0.milliseconds, clock: .wall(offsetMinutes: nil), isDayOnly: true)
            }
        }
        guard let hour = digits.number(11, 2), digits[13] == UInt8(ascii: ":"), let minute = digits.number(14, 2)
        else { return nil }
        var end = 16
        var second = 0
        var millisecond = 0
        if digits[16] == UInt8(ascii: ":") {
            guard let value = digits.number(17, 2) else { return nil }
            second = value
            end = 19
            if digits[19] == UInt8(ascii: "."), digits.isDigit(20) {
                let fraction = digits.digits(at: 20)
                // `.5` is half a second.
                for place in 20..<23 {
                    millisecond *= 10
                    if fraction.contains(place) { millisecond += digits.number(place, 1) ?? 0 }
                }
                end = fraction.upperBound
            }
        }
        return CivilTime(
            year: year, month: month, day: day, hour: hour, minute: minute, second: second, millisecond: millisecond
        ).map {
            CaptureTime(
                milliseconds: $0.milliseconds, clock: .wall(offsetMinutes: offset(digits, end)))
        }
    }

    /// `Z` is what a camera in Greenwich writes, and a program that does not know better: the clock's digits stay as
    /// they are.
    private static func offset(_ text: DigitText, _ index: Int) -> Int? {
        if text[index] == UInt8(ascii: "Z") { return 0 }
        guard text[index] == UInt8(ascii: "+") || text[index] == UInt8(ascii: "-"),
            let hours = text.number(index + 1, 2), text[index + 3] == UInt8(ascii: ":"),
            let minutes = text.number(index + 4, 2), hours <= 15, minutes < 60
        else { return nil }
        return (hours * 60 + minutes) * (text[index] == UInt8(ascii: "-") ? -1 : 1)
    }
}
