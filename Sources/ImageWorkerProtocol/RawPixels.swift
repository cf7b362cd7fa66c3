/// A picture as bytes that need no decoder: rows from the top, pixels from the left, red, green and blue in a byte each, in sRGB.
public struct RawPixels: Codable, Sendable, Equatable {
    /// Pixels.
    public var width: Int
    public var height: Int

    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    public var byteCount: Int { width * height * 3 }
}
