import ServiceMesh

/// A photo as plain pixels, for who shows it and has no decoder, or should not have one: a terminal program. They are decoded
/// by an image worker from the photo as it is shown, so a program that trusts the daemon opens no hostile file. Not for
/// browsers and desktops, which can show the files: ``GetThumbnail``, ``Photo/path``.
///
/// Errors: `invalid_argument` (both keys or none, a size out of range), and those of ``GetThumbnail``.
public struct GetPhotoPixels: Message {
    public typealias Reply = PhotoPixels
    public static let method = "photo.pixels"
    public static let access = Role.kid
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let summary = "A photo as plain pixels, to be shown without a decoder."
    /// Pixels on a side.
    public static let sides = 1...2048
    /// In one answer: as base64 they stay under the 1 MiB that a line may have.
    public static let maximumPixels = 240_000
    public let id: Int64?
    public let uuid: String?
    /// The room that there is, 1…2048 each. The picture is within it, in its own proportions, and never enlarged; one of more than
    /// ``maximumPixels`` is reduced to these.
    public let width: Int
    public let height: Int

    public init(id: Int64, width: Int, height: Int) {
        self.id = id
        uuid = nil
        self.width = width
        self.height = height
    }

    public init(uuid: String, width: Int, height: Int) {
        id = nil
        self.uuid = uuid
        self.width = width
        self.height = height
    }
}

public struct PhotoPixels: Codable, Sendable, Equatable {
    public let width: Int
    public let height: Int
    /// Rows from the top, pixels from the left, red, green and blue in a byte each, in sRGB; base64.
    public let rgb: String
    /// Of the photo whose pixels these are: what a decision about it names.
    public let contentDigest: String

    public init(width: Int, height: Int, rgb: String, contentDigest: String) {
        self.width = width
        self.height = height
        self.rgb = rgb
        self.contentDigest = contentDigest
    }
}
