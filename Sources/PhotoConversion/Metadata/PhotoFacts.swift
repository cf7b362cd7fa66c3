import ImageWorkerProtocol

/// What a picture says of itself, from all that it carries: the first source that says it counts.
struct PhotoFacts {
    var taken: CameraDate?
    /// Degrees, north and east positive; from EXIF alone.
    var location: (latitude: Double, longitude: Double)?
    var caption: String?
    /// 0…5.
    var rating: Int?
    /// Make and model, of 1 to ``ImageLimits/cameraLength`` Unicode scalars.
    var camera: String?

    /// Bytes of a caption that are read: more than what is kept of it, because references and spaces shrink.
    static let captionBytes = 32 << 10

    /// - Parameter now: milliseconds since 1970-01-01 UTC, after which nothing was taken.
    init(_ metadata: EmbeddedMetadata, now: Int64 = WallClock.now()) {
        let exif = metadata.exif.map(ExifFacts.init(block:))
        let packets = [metadata.xmp, metadata.extendedXMP].compactMap { $0.flatMap(XMPPacket.init) }
        let iptc = metadata.iptc.map(IPTCRecord.init)
        let dates: [(CameraDate.Source, WallClock?)] =
            [(.exif, exif?.original), (.exifCreated, exif?.created)]
            + Self.xmpDates.map { name in (.xmp, Self.date(name, packets)) } + [(.iptc, iptc?.date)]
        taken = dates.lazy.compactMap { source, clock in clock?.date(source, now: now) }.first
        location = exif?.location
        caption =
            packets.lazy.compactMap {
                $0.alternative(.dublinCore, "description", upTo: Self.captionBytes).flatMap(EmbeddedText.caption)
            }.first
            ?? iptc?.caption.flatMap(EmbeddedText.caption) ?? exif?.caption
        rating = packets.lazy.compactMap { $0.text(.xmp, "Rating").flatMap(Self.rating) }.first
        camera =
            CameraName.name(make: exif?.make, model: exif?.model)
            ?? packets.lazy.compactMap {
                CameraName.name(make: $0.text(.tiff, "Make"), model: $0.text(.tiff, "Model"))
            }.first
    }

    private static let xmpDates: [(XMPPacket.Namespace, StaticString)] = [
        (.exif, "DateTimeOriginal"), (.photoshop, "DateCreated"), (.xmp, "CreateDate"),
    ]

    private static func date(_ name: (XMPPacket.Namespace, StaticString), _ packets: [XMPPacket]) -> WallClock? {
        packets.lazy.compactMap { $0.text(name.0, name.1).flatMap(WallClock.init(xmp:)) }.first
    }

    /// Stars, of which some programs write halves and tenths: rounded down. -1 is a photo that was rejected, which is no
    /// rating.
    private static func rating(_ text: String) -> Int? {
        let digits = text.utf8.drop(while: XMLScanner.isSpace)
        guard let first = digits.first, (0x30...0x35).contains(first) else { return nil }
        let rest = digits.dropFirst().prefix { !XMLScanner.isSpace($0) }
        let isNumber =
            rest.isEmpty
            || (rest.first == UInt8(ascii: ".") && rest.dropFirst().allSatisfy { (0x30...0x39).contains($0) })
        guard isNumber else { return nil }
        let isOver = first == 0x35 && rest.dropFirst().contains { $0 != 0x30 }
        return isOver ? nil : Int(first - 0x30)
    }
}
