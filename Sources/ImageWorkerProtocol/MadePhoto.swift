/// What a worker says of a photo: nothing that its parent can see for itself. How many bytes there are, and their digests, the
/// parent finds out from the files (``ConvertedPhoto``).
package struct MadePhoto: Codable, Equatable, Sendable {
    /// Pixels of the photo, upright.
    package var width: Int
    package var height: Int
    /// Media type of the source, by its content.
    package var sourceMediaType: String
    /// Pixels of the source, upright: those of the photo, or more.
    package var sourceWidth: Int
    package var sourceHeight: Int
    /// Whether the photo is the source byte for byte, and was not written: a JPEG within ``ImageLimits/photoSide`` is.
    package var keepsSource: Bool
    /// SHA-256 of the bytes that were decoded, in lower-case hexadecimal; only where the source was written to so lately that its
    /// state cannot tell a later change (`FileState.isFresh`).
    package var freshDigest: String?
    /// As in ``ConvertedPhoto``.
    package var taken: CameraDate?
    package var latitude: Double?
    package var longitude: Double?
    package var caption: String?
    package var rating: Int?
    package var camera: String?
    package var shortfall: String?
    /// Pixels of the thumbnail.
    package var thumbnailWidth: Int
    package var thumbnailHeight: Int

    package init(
        width: Int, height: Int, sourceMediaType: String, sourceWidth: Int, sourceHeight: Int, keepsSource: Bool,
        freshDigest: String? = nil, taken: CameraDate? = nil, latitude: Double? = nil, longitude: Double? = nil,
        caption: String? = nil, rating: Int? = nil, camera: String? = nil, shortfall: String? = nil,
        thumbnailWidth: Int, thumbnailHeight: Int
    ) {
        self.width = width
        self.height = height
        self.sourceMediaType = sourceMediaType
        self.sourceWidth = sourceWidth
        self.sourceHeight = sourceHeight
        self.keepsSource = keepsSource
        self.freshDigest = freshDigest
        self.taken = taken
        self.latitude = latitude
        self.longitude = longitude
        self.caption = caption
        self.rating = rating
        self.camera = camera
        self.shortfall = shortfall
        self.thumbnailWidth = thumbnailWidth
        self.thumbnailHeight = thumbnailHeight
    }
}
