import DateTexts

/// When a photo was taken, as the clock of the camera showed it.
///
/// The clock and not a moment: most cameras do not say how far they are from UTC, and a moment computed in the zone of
/// whatever machine imports the photo shows another time of day, or another day, than the family remembers.
public struct CameraDate: Codable, Sendable, Equatable {
    /// What in the picture said so.
    public enum Source: String, Codable, Sendable, CaseIterable {
        /// EXIF DateTimeOriginal.
        case exif
        /// EXIF CreateDate (DateTimeDigitized).
        case exifCreated
        /// `exif:DateTimeOriginal`, `photoshop:DateCreated`, `xmp:CreateDate` or `exif:DateTimeDigitized`.
        case xmp
        /// IPTC DateCreated (2:55) and TimeCreated (2:60), else when it became a file (2:62 and 2:63).
        case iptc
        /// PNG's text `Creation Time`, else its chunk tIME.
        case png
        /// The satellites' clock, in EXIF or XMP: UTC.
        case gps
        /// A film's own clock: `com.apple.quicktime.creationdate`.
        case film
        /// A film's header: a moment, in UTC.
        case filmMoment
        /// EXIF ModifyDate or `xmp:ModifyDate`: when somebody last changed the picture.
        case modified
    }

    /// Milliseconds since 1970-01-01 00:00 on the camera's clock, as if that were UTC: of the first moment that is meant. From
    /// the year 1800 to 9999.
    public var clock: Int64
    /// How far it is known.
    public var precision: DatePrecision
    /// Minutes by which the camera's clock was ahead of UTC (east), where the picture says it; at most 16 hours either way.
    public var offset: Int?
    public var source: Source

    public init(clock: Int64, precision: DatePrecision = .second, offset: Int?, source: Source) {
        self.clock = clock
        self.precision = precision
        self.offset = offset
        self.source = source
    }

    /// The years 1800 to 9999, which every source can say.
    package static let clocks: ClosedRange<Int64> = -5_364_662_400_000...253_402_300_799_999
    /// More than any zone has had.
    package static let offsets = -16 * 60...16 * 60
}
