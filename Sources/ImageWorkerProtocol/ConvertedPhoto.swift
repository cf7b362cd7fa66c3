/// What became of one source file: the facts a catalogue row needs.
public struct ConvertedPhoto: Codable, Sendable, Equatable {
    /// Bytes of the stored photo, which is a JPEG.
    public var fileSize: Int64
    /// Pixels of the stored photo, upright.
    public var width: Int
    public var height: Int
    /// Media type of the source, decided by its content.
    public var sourceMediaType: String
    /// Bytes of the source, those that ``sourceDigest`` is of.
    public var sourceSize: Int64
    /// Pixels of the source, upright: those of the stored photo, or more.
    public var sourceWidth: Int
    public var sourceHeight: Int
    /// SHA-256 of the source's bytes, 64 lower-case hexadecimal digits.
    public var sourceDigest: String
    /// SHA-256 of the stored photo's bytes, 64 lower-case hexadecimal digits.
    public var contentDigest: String
    /// Whether the photo was stored byte for byte: a JPEG within ``ImageLimits/photoSide`` is.
    public var keptOriginal: Bool
    /// When it was taken, from EXIF, XMP or IPTC; nil where none of them has a date that can be.
    public var taken: CameraDate?
    /// Degrees, north and east positive, from EXIF. Both or neither.
    public var latitude: Double?
    public var longitude: Double?
    /// What somebody wrote under it, from XMP, IPTC or EXIF: one line, 1 to ``ImageLimits/captionLength`` Unicode scalars,
    /// none of them a control character.
    public var caption: String?
    /// Stars that somebody gave it, 0 to 5, from XMP.
    public var rating: Int?
    /// Make and model of the camera, from EXIF or XMP: one line like the caption, of ``ImageLimits/cameraLength`` at most.
    public var camera: String?
    /// What is missing of the picture, where its file ended early and it is shown all the same: one line like the caption, of
    /// ``ImageLimits/shortfallLength`` at most. Nil where nothing is.
    public var shortfall: String?
    /// Pixels of the thumbnail.
    public var thumbnailWidth: Int
    public var thumbnailHeight: Int
    /// Bytes of the thumbnail.
    public var thumbnailSize: Int64

    public init(
        fileSize: Int64, width: Int, height: Int, sourceMediaType: String, sourceSize: Int64,
        sourceWidth: Int, sourceHeight: Int, sourceDigest: String, contentDigest: String, keptOriginal: Bool,
        taken: CameraDate?, latitude: Double?, longitude: Double?, caption: String? = nil, rating: Int? = nil,
        camera: String? = nil, shortfall: String? = nil,
        thumbnailWidth: Int, thumbnailHeight: Int, thumbnailSize: Int64
    ) {
        self.fileSize = fileSize
        self.width = width
        self.height = height
        self.sourceMediaType = sourceMediaType
        self.sourceSize = sourceSize
        self.sourceWidth = sourceWidth
        self.sourceHeight = sourceHeight
        self.sourceDigest = sourceDigest
        self.contentDigest = contentDigest
        self.keptOriginal = keptOriginal
        self.taken = taken
        self.latitude = latitude
        self.longitude = longitude
        self.caption = caption
        self.rating = rating
        self.camera = camera
        self.shortfall = shortfall
        self.thumbnailWidth = thumbnailWidth
        self.thumbnailHeight = thumbnailHeight
        self.thumbnailSize = thumbnailSize
    }
}

extension ConvertedPhoto {
    /// Whether a character of a caption is fit to be shown: no control character, no line of its own, nothing that turns the
    /// direction of the text beside it.
    package static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
        default: !(0x202A...0x202E).contains(scalar.value) && !(0x2066...0x2069).contains(scalar.value)
        }
    }

    /// Whether a text is one line of characters that can be shown, `length` Unicode scalars at most.
    package static func isLine(_ text: String, upTo length: Int) -> Bool {
        let scalars = text.unicodeScalars
        return text.utf8.count <= length * 4 && (1...length).contains(scalars.count) && scalars.allSatisfy(isShown)
            && scalars.contains { !$0.properties.isWhitespace }
    }
}

/// A thumbnail made again from a stored photo.
public struct ConvertedThumbnail: Codable, Sendable, Equatable {
    /// Pixels.
    public var width: Int
    public var height: Int
    /// Bytes.
    public var fileSize: Int64

    public init(width: Int, height: Int, fileSize: Int64) {
        self.width = width
        self.height = height
        self.fileSize = fileSize
    }
}

/// A picture that says nothing but what can be seen: a JPEG within ``ImageLimits/photoSide``, upright, in sRGB, with no EXIF, XMP,
/// IPTC, profile, comment or thumbnail.
public struct BarePicture: Codable, Sendable, Equatable {
    /// Pixels.
    public var width: Int
    public var height: Int
    /// Bytes.
    public var fileSize: Int64

    public init(width: Int, height: Int, fileSize: Int64) {
        self.width = width
        self.height = height
        self.fileSize = fileSize
    }
}
