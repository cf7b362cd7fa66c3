import DateTexts
import ImageWorkerProtocol

/// What the catalogue wants to know from EXIF.
struct ExifFacts {
    /// DateTimeOriginal: when the picture was taken.
    var original: WrittenDate?
    /// CreateDate (DateTimeDigitized): when it became a file, which for most cameras is the same moment.
    var created: WrittenDate?
    /// GPSDateStamp and GPSTimeStamp.
    var satellites: WrittenDate?
    /// ModifyDate (DateTime of the main directory).
    var modified: WrittenDate?
    var location: PicturePlace?
    /// ImageDescription, UserComment, XPComment and XPTitle, as texts of anybody's.
    var description: String?
    var comment: String?
    var windowsComment: String?
    var windowsTitle: String?
    /// 0…5.
    var rating: Int?
    var percentRating: Int?
    /// Of the camera, each fit to be shown.
    var make: String?
    var model: String?
    /// What says that a picture and a film are a pair.
    var contentIdentifier: String?

    /// - Parameter bytes: a block beginning at its TIFF header.
    init(block bytes: [UInt8]) {
        guard var block = ExifBlock(bytes) else { return }
        contentIdentifier = block.makerNote.flatMap(AppleMakerNote.init)?.contentIdentifier
        // Their makers alone know what else is in them, nothing of which is wanted here: what is not read cannot be misread.
        block.hideMakerNotes()
        guard let values = ExifValues(block) else { return }
        original = Self.date(values, 0x9003, fraction: 0x9291, offset: 0x9011)
        created = Self.date(values, 0x9004, fraction: 0x9292, offset: 0x9012)
        modified = Self.date(values, 0x0132, fraction: 0x9290, offset: 0x9010)
        satellites = Self.satelliteDate(values)
        location = Self.location(values)
        description = Self.words(values, 0x010E)
        comment = values.text(.photo, 0x9286).flatMap {
            UserComment.text($0[...], isBigEndian: values.isBigEndian)
        }
        windowsComment = Self.wideWords(values, 0x9C9C)
        windowsTitle = Self.wideWords(values, 0x9C9B)
        rating = values.number(.image, 0x4746).flatMap { (0...5).contains($0) ? $0 : nil }
        percentRating = values.number(.image, 0x4749).flatMap(Rating.stars(percent:))
        (make, model) = (Self.words(values, 0x010F), Self.words(values, 0x0110))
    }

    // MARK: Dates

    /// Where a writer put it: each date has sub-seconds and an offset of its own. The main directory is looked into as well,
    /// because some writers know no other.
    private static func date(_ values: ExifValues, _ tag: UInt16, fraction: UInt16, offset: UInt16) -> WrittenDate? {
        // The main directory's own date is in it first.
        let directories: [ExifValues.Directory] = tag == 0x0132 ? [.image, .photo] : [.photo, .image]
        func text(_ tag: UInt16) -> String? {
            directories.lazy.compactMap { values.text($0, tag).flatMap(Self.digits) }.first
        }
        return text(tag).flatMap { WrittenDate($0, fraction: text(fraction), offset: text(offset)) }
    }

    /// ASCII up to its first zero; other bytes than ASCII end it too. Nil where that is nothing.
    private static func digits(_ bytes: [UInt8]) -> String? {
        let text = bytes.prefix(64).prefix { $0 >= 0x20 && $0 < 0x7F }
        return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
    }

    /// Satellites tell UTC. A day alone has no offset either: which day it was elsewhere, nobody knows.
    private static func satelliteDate(_ values: ExifValues) -> WrittenDate? {
        guard let day = values.text(.gps, 0x001D).flatMap(digits)?.prefix(10) else { return nil }
        let parts = values.fractions(0x0007)?.compactMap { $0 } ?? []
        guard parts.count == 3, parts.allSatisfy({ (0..<100).contains($0) }) else {
            return WrittenDate(String(day))
        }
        let milliseconds = Int((parts[2] * 1000).rounded(.down))
        let time = [Int(parts[0]), Int(parts[1]), milliseconds / 1000].map { padded($0, 2) }.joined(separator: ":")
        return WrittenDate("\(day) \(time)", fraction: padded(milliseconds % 1000, 3), offset: "+00:00")
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    // MARK: Places

    private static func location(_ values: ExifValues) -> PicturePlace? {
        func angle(_ tag: UInt16, _ reference: UInt16, _ axis: PicturePlace.Axis) -> Double? {
            guard let parts = values.fractions(tag), let degrees = parts.first ?? nil else { return nil }
            // Cameras write 0/0 for parts that they do not have.
            let minutes = parts.dropFirst().map { $0 ?? 0 }
            let value = zip([60.0, 3600], minutes).reduce(abs(degrees)) { $0 + abs($1.1) / $1.0 }
            let isNegative = degrees < 0 || minutes.contains { $0 < 0 }
            let letters = values.value(.gps, reference).map { EmbeddedText.decoded($0.bytes.prefix { $0 != 0 }) }
            return axis.degrees(isNegative ? -value : value, reference: letters)
        }
        return PicturePlace(latitude: angle(2, 1, .latitude), longitude: angle(4, 3, .longitude))
    }

    // MARK: Texts

    /// A text for people of the main directory: ASCII by the specification, and anything in fact.
    private static func words(_ values: ExifValues, _ tag: UInt16) -> String? {
        guard let bytes = values.text(.image, tag)?.prefix(while: { $0 != 0 }) else { return nil }
        return EmbeddedText.caption(EmbeddedText.decoded(EmbeddedText.prefix(bytes, upTo: EmbeddedText.captionBytes)))
    }

    /// Windows' own tags are UTF-16 in its own byte order, whatever that of the block is.
    private static func wideWords(_ values: ExifValues, _ tag: UInt16) -> String? {
        guard let bytes = values.text(.image, tag) else { return nil }
        return EmbeddedText.caption(
            EmbeddedText.wide(bytes.prefix(EmbeddedText.captionBytes), isBigEndian: false))
    }
}
