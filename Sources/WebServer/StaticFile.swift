/// A file that everybody may have: it is the same for all, and holds nothing of a library.
public struct StaticFile: Sendable {
    /// As in an address: `/assets/app.js`.
    public let path: String
    public let mediaType: String
    /// Of the bytes: the same digest means the same bytes.
    public let digest: String
    public let bytes: PermanentBytes
    /// The same by gzip, where that is smaller.
    public let compressed: PermanentBytes?

    public init(
        path: String, mediaType: String, digest: String, bytes: PermanentBytes, compressed: PermanentBytes? = nil
    ) {
        self.path = path
        self.mediaType = mediaType
        self.digest = digest
        self.bytes = bytes
        self.compressed = compressed
    }
}

/// Bytes that are there, unchanged, for as long as the program, so that they are sent without being copied.
public struct PermanentBytes: @unchecked Sendable {
    // Sendable because an UnsafeRawBufferPointer cannot be written through, and because who makes one promises that
    // nobody else writes or frees what it points to.
    public let buffer: UnsafeRawBufferPointer

    /// - Parameter buffer: is neither written nor freed from now on.
    public init(_ buffer: UnsafeRawBufferPointer) { self.buffer = buffer }
}
