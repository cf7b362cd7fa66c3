import DateTexts
import Foundation

/// A file of XMP beside a picture, as Lightroom, darktable, digiKam and exiftool write them: `x.xmp` or `x.jpg.xmp`.
public struct XMPSidecar: Equatable, Sendable {
    /// ``SidecarFacts/taken`` is the camera's clock (``CaptureTime/Clock/wall(offsetMinutes:)``), from the first of
    /// `exif:DateTimeOriginal`, `photoshop:DateCreated`, `xmp:CreateDate` and `exif:DateTimeDigitized` that is a date.
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

    /// The first that can be counts, made more exact by another that can mean the same moment.
    private static func taken(_ properties: [XMPProperties.Property: String], now: Int64) -> CaptureTime? {
        let order: [XMPProperties.Property] = [.dateTimeOriginal, .dateCreated, .createDate, .dateTimeDigitized]
        let dates = order.compactMap { properties[$0].flatMap { WrittenDate($0) } }
            .filter { $0.isCredible(now: now) }
        return dates.first.map { first in CaptureTime(dates.reduce(first) { $0.refined(by: $1) }) }
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
