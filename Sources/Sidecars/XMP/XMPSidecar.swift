import DateTexts
import Foundation

/// A file of XMP beside a picture, as Lightroom, darktable, digiKam and exiftool write them: `x.xmp` or `x.jpg.xmp`.
public struct XMPSidecar: Equatable, Sendable {
    /// ``SidecarFacts/taken`` is the camera's clock (``CaptureTime/Clock/wall(offsetMinutes:)``), from the first of
    /// `exif:DateTimeOriginal`, `photoshop:DateCreated`, `xmp:CreateDate` and `exif:DateTimeDigitized` that is a date.
    /// ``SidecarFacts/isFavorite`` is always missing, and so is a caption without a description:
    /// ``SidecarFacts/init(_:named:now:)`` knows whether the title is one.
    public let facts: SidecarFacts

    /// A property that makes no sense is taken as missing, so that an odd rating does not cost the date.
    /// - Parameters:
    ///   - data: the file; UTF-8, UTF-16, or Windows-1252, which Latin-1 is taken for.
    ///   - now: milliseconds since 1970 UTC.
    public init(_ data: Data, now: Int64) throws(SidecarError) {
        let properties = try XMPProperties(SidecarText.utf8(of: data, fallback: .latin1)).values
        var facts = SidecarFacts()
        facts.taken = Self.taken(properties, now: now)
        facts.caption = properties[.description].flatMap { SidecarText.line($0) }
        facts.title = properties[.title].flatMap { SidecarText.line($0) }
        facts.fileExtension = properties[.sidecarExtension].flatMap(XMPValue.fileExtension)
        facts.rating = XMPValue.rating(properties[.rating], percent: properties[.percentRating])
        if let latitude = XMPValue.degrees(properties[.latitude], properties[.latitudeReference], .latitude),
            let longitude = XMPValue.degrees(properties[.longitude], properties[.longitudeReference], .longitude)
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
}
