/// What became of one source file: the facts a catalogue row needs.
public struct ConvertedPhoto: Codable, Sendable, Equatable {
    /// Media type of the stored photo, for example `image/jpeg`.
    public var mediaType: String
    /// Bytes of the stored photo.
    public var fileSize: Int64
    /// Pixels of the stored photo, upright.
    public var width: Int
    public var height: Int
    /// Media type of the source, decided by its content.
    public var sourceMediaType: String
    /// Bytes of the source, those that ``sourceDigest`` is of.
    public var sourceSize: Int64
    /// SHA-256 of the source's bytes, 64 lower-case hexadecimal digits.
    public var sourceDigest: String
    /// SHA-256 of the stored photo's bytes, 64 lower-case hexadecimal digits.
    public var contentDigest: String
    /// Whether the photo was stored byte for byte.
    public var keptOriginal: Bool
    /// Milliseconds since 1970-01-01 UTC from EXIF; without an offset there, in the worker's local zone.
    public var takenAtMilliseconds: Int64?
    /// Degrees, north and east positive, from EXIF. Both or neither.
    public var latitude: Double?
    public var longitude: Double?
    /// Pixels of the thumbnail.
    public var thumbnailWidth: Int
    public var thumbnailHeight: Int
    /// Bytes of the thumbnail.
    public var thumbnailSize: Int64

    public init(
        mediaType: String, fileSize: Int64, width: Int, height: Int, sourceMediaType: String, sourceSize: Int64,
        sourceDigest: String, contentDigest: String, keptOriginal: Bool, takenAtMilliseconds: Int64?, latitude: Double?,
        longitude: Double?,
        thumbnailWidth: Int, thumbnailHeight: Int, thumbnailSize: Int64
    ) {
        self.mediaType = mediaType
        self.fileSize = fileSize
        self.width = width
        self.height = height
        self.sourceMediaType = sourceMediaType
        self.sourceSize = sourceSize
        self.sourceDigest = sourceDigest
        self.contentDigest = contentDigest
        self.keptOriginal = keptOriginal
        self.takenAtMilliseconds = takenAtMilliseconds
        self.latitude = latitude
        self.longitude = longitude
        self.thumbnailWidth = thumbnailWidth
        self.thumbnailHeight = thumbnailHeight
        self.thumbnailSize = thumbnailSize
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
