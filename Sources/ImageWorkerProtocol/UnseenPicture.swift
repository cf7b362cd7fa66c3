/// What is known of a picture that was not decoded, from its header and what else it carries.
public struct UnseenPicture: Codable, Sendable, Equatable {
    /// Media type of the source, decided by its content.
    public var mediaType: String
    /// Pixels; upright where it says how it is turned and that could be read, else as it is stored.
    public var width: Int
    public var height: Int
    /// Those of them that could be read.
    public var facts: PictureFacts

    public init(mediaType: String, width: Int, height: Int, facts: PictureFacts = PictureFacts()) {
        self.mediaType = mediaType
        self.width = width
        self.height = height
        self.facts = facts
    }

    /// Pixels for each byte of a file that a picture may have and be believed. Photos have 1 to 10, drawings some hundred;
    /// what claims more was made to fill memory.
    public static let mostPixelsPerByte = 1000.0

    /// Whether a file of so many bytes can hold so many pixels.
    public func isPlausible(bytes: Int64) -> Bool {
        Double(width) * Double(height) <= Double(bytes) * Self.mostPixelsPerByte
    }
}
