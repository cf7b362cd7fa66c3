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
    /// What the source says of itself.
    public var facts: PictureFacts
    /// What is missing of the picture, where its file ended early and it is shown all the same: one line like a caption, of
    /// ``ImageLimits/shortfallLength`` at most. Nil where nothing is.
    public var shortfall: String?
    /// Pixels of the thumbnail.
    public var thumbnailWidth: Int
    public var thumbnailHeight: Int
    /// Bytes of the thumbnail.
    public var thumbnailSize: Int64
    /// Bytes of the preview, whose pixels are ``ImageLimits/previewSize(ofPhoto:_:)``; nil where the photo has none.
    public var previewSize: Int64?

    public init(
        fileSize: Int64, width: Int, height: Int, sourceMediaType: String, sourceSize: Int64,
        sourceWidth: Int, sourceHeight: Int, sourceDigest: String, contentDigest: String, keptOriginal: Bool,
        facts: PictureFacts, shortfall: String? = nil, thumbnailWidth: Int, thumbnailHeight: Int, thumbnailSize: Int64,
        previewSize: Int64? = nil
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
        self.facts = facts
        self.shortfall = shortfall
        self.thumbnailWidth = thumbnailWidth
        self.thumbnailHeight = thumbnailHeight
        self.thumbnailSize = thumbnailSize
        self.previewSize = previewSize
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

/// A preview made again from a stored photo.
public struct ConvertedPreview: Codable, Sendable, Equatable {
    /// Pixels of the photo, upright; those of the preview follow from them.
    public var photoWidth: Int
    public var photoHeight: Int
    /// Bytes; nil where the photo has none (``ImageLimits/previewSize(ofPhoto:_:)``).
    public var fileSize: Int64?

    public init(photoWidth: Int, photoHeight: Int, fileSize: Int64?) {
        self.photoWidth = photoWidth
        self.photoHeight = photoHeight
        self.fileSize = fileSize
    }
}

/// A picture that says nothing but what can be seen: a JPEG within ``ImageLimits/photoSide``, upright, in sRGB, with no EXIF, XMP,
/// IPTC, profile, comment or thumbnail; where the whole photo was asked for, with its EXIF, XMP and IPTC.
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
