/// What a picture says of when it was taken.
public struct EmbeddedDate: Codable, Sendable, Equatable {
    /// From EXIF, XMP or IPTC; nil where none of them has a date that can be.
    public var taken: CameraDate?

    public init(taken: CameraDate?) { self.taken = taken }
}
