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
    /// As in ``ConvertedPhoto``, as the next one.
    package var facts: PictureFacts
    package var shortfall: String?
    /// Pixels of the thumbnail.
    package var thumbnailWidth: Int
    package var thumbnailHeight: Int

    package init(
        width: Int, height: Int, sourceMediaType: String, sourceWidth: Int, sourceHeight: Int, keepsSource: Bool,
        freshDigest: String? = nil, facts: PictureFacts = PictureFacts(), shortfall: String? = nil, thumbnailWidth: Int,
        thumbnailHeight: Int
    ) {
        self.width = width
        self.height = height
        self.sourceMediaType = sourceMediaType
        self.sourceWidth = sourceWidth
        self.sourceHeight = sourceHeight
        self.keepsSource = keepsSource
        self.freshDigest = freshDigest
        self.facts = facts
        self.shortfall = shortfall
        self.thumbnailWidth = thumbnailWidth
        self.thumbnailHeight = thumbnailHeight
    }
}
