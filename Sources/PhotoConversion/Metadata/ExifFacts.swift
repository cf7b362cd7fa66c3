import CExif

/// What the catalogue wants to know from EXIF, read by libexif.
struct ExifFacts {
    /// DateTimeOriginal: when the picture was taken.
    var original: WallClock?
    /// CreateDate (DateTimeDigitized): when it became a file, which for most cameras is the same moment.
    var created: WallClock?
    /// Degrees, north and east positive.
    var location: (latitude: Double, longitude: Double)?
    /// ImageDescription, where a person wrote it.
    var caption: String?
    /// Of the camera, each fit to be shown.
    var make: String?
    var model: String?

    /// - Parameter block: beginning at its TIFF header.
    init(block: [UInt8]) {
        guard let data = exif_data_new() else { return }
        defer { exif_data_unref(data) }
        // As found: no tags dropped for being newer than libexif, none added for the specification's sake.
        exif_data_unset_option(data, EXIF_DATA_OPTION_IGNORE_UNKNOWN_TAGS)
        exif_data_unset_option(data, EXIF_DATA_OPTION_FOLLOW_SPECIFICATION)
        exif_data_set_option(data, EXIF_DATA_OPTION_DONT_CHANGE_MAKER_NOTE)
        // libexif looks for the name that JPEG puts before the block.
        let named = Array("Exif\0\0".utf8) + block
        exif_data_load_data(data, named, UInt32(named.count))
        let order = exif_data_get_byte_order(data)
        let directories = withUnsafeBytes(of: &data.pointee.ifd) { raw in
            Array(raw.bindMemory(to: UnsafeMutablePointer<ExifContent>?.self))
        }
        // libexif gives up on a directory whose tags it finds in no order it knows; the date is worth a second look.
        let walker = ExifBlock(block)
        func date(_ tag: UInt32, fraction: UInt32, offset: UInt32) -> WallClock? {
            Self.date(tag, fraction, offset) { Self.text($0, directories) }
                ?? Self.date(tag, fraction, offset) { walker?.photoText(UInt16($0)) }
        }
        original = date(0x9003, fraction: 0x9291, offset: 0x9011)
        created = date(0x9004, fraction: 0x9292, offset: 0x9012)
        location = Self.location(directories, order)
        (make, model) = (Self.words(EXIF_TAG_MAKE, directories), Self.words(EXIF_TAG_MODEL, directories))
        caption = Self.caption(directories, make: make, model: model)
    }

    private typealias Directories = [UnsafeMutablePointer<ExifContent>?]

    private static func entry(_ tag: UInt32, _ directory: ExifIfd, _ directories: Directories)
        -> UnsafeMutablePointer<ExifEntry>?
    {
        let index = Int(directory.rawValue)
        guard index < directories.count, let content = directories[index] else { return nil }
        return exif_content_get_entry(content, ExifTag(rawValue: tag))
    }

    /// ASCII up to its first zero; other bytes than ASCII end it too.
    private static func text(_ tag: UInt32, _ directories: Directories) -> String? {
        for directory in [EXIF_IFD_EXIF, EXIF_IFD_0] {
            guard let found = entry(tag, directory, directories), found.pointee.format == EXIF_FORMAT_ASCII,
                let bytes = found.pointee.data
            else { continue }
            let characters = UnsafeBufferPointer(start: bytes, count: min(Int(found.pointee.size), 64))
            return String(decoding: characters.prefix { $0 >= 0x20 && $0 < 0x7F }, as: UTF8.self)
        }
        return nil
    }

    /// Each date has sub-seconds and an offset of its own.
    private static func date(_ tag: UInt32, _ fraction: UInt32, _ offset: UInt32, _ text: (UInt32) -> String?)
        -> WallClock?
    {
        text(tag).flatMap { WallClock(exif: $0, fraction: text(fraction), offset: text(offset)) }
    }

    private static func caption(_ directories: Directories, make: String?, model: String?) -> String? {
        guard let caption = words(EXIF_TAG_IMAGE_DESCRIPTION, directories) else { return nil }
        return CameraPhrase.isOne(caption, make: make ?? "", model: model ?? "") ? nil : caption
    }

    /// A text for people of the main directory: ASCII by the specification, and anything in fact.
    private static func words(_ tag: ExifTag, _ directories: Directories) -> String? {
        guard let found = entry(tag.rawValue, EXIF_IFD_0, directories), found.pointee.format == EXIF_FORMAT_ASCII,
            let bytes = found.pointee.data
        else { return nil }
        let characters = UnsafeBufferPointer(start: bytes, count: Int(found.pointee.size)).prefix { $0 != 0 }
        return EmbeddedText.caption(
            EmbeddedText.decoded(EmbeddedText.prefix(Array(characters)[...], upTo: PhotoFacts.captionBytes)))
    }

    private static func location(_ directories: Directories, _ order: ExifByteOrder)
        -> (latitude: Double, longitude: Double)?
    {
        func angle(_ tag: UInt32, _ reference: UInt32, positive: UInt8, negative: UInt8, most: Double) -> Double? {
            guard let sign = entry(reference, EXIF_IFD_GPS, directories), let letter = sign.pointee.data,
                sign.pointee.size >= 1, letter[0] == positive || letter[0] == negative,
                let found = entry(tag, EXIF_IFD_GPS, directories), found.pointee.format == EXIF_FORMAT_RATIONAL,
                found.pointee.components == 3, found.pointee.size >= 24, let bytes = found.pointee.data
            else { return nil }
            var degrees = 0.0
            for (index, unit) in [1.0, 60, 3600].enumerated() {
                let part = exif_get_rational(bytes + index * 8, order)
                // Cameras write 0/0 for parts that they do not have.
                guard part.denominator != 0 else {
                    if index == 0 { return nil }
                    continue
                }
                degrees += Double(part.numerator) / Double(part.denominator) / unit
            }
            guard degrees <= most else { return nil }
            return letter[0] == negative ? -degrees : degrees
        }
        let north = angle(2, 1, positive: UInt8(ascii: "N"), negative: UInt8(ascii: "S"), most: 90)
        let east = angle(4, 3, positive: UInt8(ascii: "E"), negative: UInt8(ascii: "W"), most: 180)
        guard let north, let east, north != 0 || east != 0 else { return nil }
        return (north, east)
    }
}
