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
        facts.entry = Self.entry(properties)
        facts.taken = Self.taken(properties, facts.entry, now: now)
        facts.caption = properties[.description].flatMap { text in
            facts.entry == nil ? SidecarText.line(text) : SidecarText.lines(text)
        }
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
    ///
    /// What a person has said in a library is believed, midnight of an unset clock too: there it was checked.
    private static func taken(
        _ properties: [XMPProperties.Property: String], _ entry: LibraryEntry?, now: Int64
    ) -> CaptureTime? {
        let order: [XMPProperties.Property] = [.dateTimeOriginal, .dateCreated, .createDate, .dateTimeDigitized]
        let isSaid = entry?.dateSource == LibraryEntry.person
        let dates = order.compactMap { properties[$0].flatMap { WrittenDate($0) } }
            .filter { isSaid || $0.isCredible(now: now) }
        guard let first = dates.first else { return nil }
        let time = CaptureTime(dates.reduce(first) { $0.refined(by: $1) })
        guard time.clock == .wall(offsetMinutes: nil), let minutes = entry?.minutesFromUTC else { return time }
        return CaptureTime(
            milliseconds: time.milliseconds, clock: .wall(offsetMinutes: minutes), precision: time.precision)
    }

    private static func entry(_ properties: [XMPProperties.Property: String]) -> LibraryEntry? {
        guard let category = properties[.category].flatMap({ SidecarText.line($0, limit: LibraryEntry.categoryLength) })
        else { return nil }
        let minutes = properties[.minutesFromUTC].flatMap { Int($0) }
        return LibraryEntry(
            category: category,
            name: properties[.name].flatMap { SidecarText.line($0, limit: LibraryEntry.nameLength) },
            dateSource: properties[.dateSource],
            minutesFromUTC: minutes.flatMap { (-960...960).contains($0) ? $0 : nil },
            rotation: properties[.rotation].flatMap { Int($0) }.flatMap { [90, 180, 270].contains($0) ? $0 : nil })
    }
}
