import DateTexts
import ImageWorkerProtocol

/// What the catalogue wants to know from XMP.
struct XMPFacts {
    /// `exif:DateTimeOriginal`, else `photoshop:DateCreated`, `xmp:CreateDate` and `exif:DateTimeDigitized`.
    var dates = [WrittenDate?](repeating: nil, count: dateNames.count)
    /// `exif:GPSTimeStamp`.
    var satellites: WrittenDate?
    /// `xmp:ModifyDate`.
    var modified: WrittenDate?
    var location: PicturePlace?
    /// `dc:description` and `dc:title`, as texts of anybody's.
    var description: String?
    var title: String?
    /// 0…5.
    var rating: Int?
    var percentRating: Int?
    /// Of the camera.
    var make: String?
    var model: String?

    static let dateNames = [
        "exif.DateTimeOriginal", "photoshop.DateCreated", "xmp.CreateDate", "exif.DateTimeDigitized",
    ]

    init(packet: [UInt8]) {
        guard let values = XMPValues(packet) else { return }
        func date(_ name: String) -> WrittenDate? { values.text(name).flatMap { WrittenDate($0) } }
        func words(_ name: String) -> String? {
            values.text(name, upTo: EmbeddedText.captionBytes).flatMap(EmbeddedText.caption)
        }
        func angle(_ name: String, _ axis: PicturePlace.Axis) -> Double? {
            values.text("exif." + name).flatMap { axis.degrees($0, reference: values.text("exif.\(name)Ref")) }
        }
        dates = Self.dateNames.map(date)
        satellites = date("exif.GPSTimeStamp")
        modified = date("xmp.ModifyDate")
        location = PicturePlace(
            latitude: angle("GPSLatitude", .latitude), longitude: angle("GPSLongitude", .longitude))
        (description, title) = (words("dc.description"), words("dc.title"))
        rating = values.text("xmp.Rating").flatMap(Rating.stars)
        percentRating = values.text("MicrosoftPhoto.Rating").flatMap { Int($0) }.flatMap(Rating.stars(percent:))
        (make, model) = (values.text("tiff.Make"), values.text("tiff.Model"))
    }
}
