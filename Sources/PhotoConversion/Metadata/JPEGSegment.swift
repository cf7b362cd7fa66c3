/// An application segment of a JPEG that is written.
struct JPEGSegment {
    /// The length that a segment's two bytes can say, less those.
    static let mostBytes = 65_533
    /// The marker of a comment.
    static let comment: UInt8 = 0xFE

    /// The second byte of its marker: 0xE0 for APP0, and so on.
    var marker: UInt8
    /// At most ``mostBytes``.
    var bytes: [UInt8]
}
