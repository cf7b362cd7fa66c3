import CDeflate
import Files
import Foundation

/// What reading some bytes once tells about them.
public struct ContentDigest: Hashable, Sendable {
    public let size: Int64
    public let sha256: SHA256Digest
    public let crc32: UInt32

    /// Reads a file from its start to its end. The descriptor's own position is neither used nor moved.
    ///
    /// Memory: one buffer of 256 KiB, whatever the size. Blocks: run it on a `BlockingPool`.
    /// - Parameter cancelled: asked before each buffer.
    /// - Throws: `.readFailed`, `.cancelled`.
    public init(ofDescriptor descriptor: Int32, cancelled: () -> Bool = { false }) throws(ZipError) {
        try self.init(reading: OpenFile(descriptor), cancelled: cancelled)
    }

    /// As ``init(ofDescriptor:cancelled:)``, of any bytes.
    package init(reading source: some ByteSource, cancelled: () -> Bool = { false }) throws(ZipError) {
        let lane = CopyLane.take()
        defer { lane.give() }
        var position: Int64 = 0
        while true {
            if cancelled() { throw .cancelled }
            let part = try lane.read(source, at: position, atMost: CopyLane.capacity)
            if part.isEmpty { break }
            lane.hasher.update(part)
            position += Int64(part.count)
        }
        self = lane.hasher.finish()
    }

    /// The digest of bytes in memory.
    public init(of bytes: UnsafeRawBufferPointer) {
        let hasher = ContentHasher()
        hasher.update(bytes)
        self = hasher.finish()
    }

    /// The digest of bytes in memory.
    public init(of bytes: some ContiguousBytes) {
        self = bytes.withUnsafeBytes { ContentDigest(of: $0) }
    }

    init(size: Int64, sha256: SHA256Digest, crc32: UInt32) {
        self.size = size
        self.sha256 = sha256
        self.crc32 = crc32
    }
}

/// A running `ContentDigest`. For one thread at a time.
public final class ContentHasher {
    private let sha256 = SHA256Hasher()
    private var crc: UInt32 = 0
    /// Bytes since the last `finish()`.
    public private(set) var size: Int64 = 0

    public init() {}

    public func update(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
        sha256.update(bytes)
        // zlib's has a quarter of the speed: Debian's does not multiply without carries.
        crc = libdeflate_crc32(crc, start, bytes.count)
        size += Int64(bytes.count)
    }

    /// The digest of all bytes since the last `finish()`; the hasher then starts anew.
    public func finish() -> ContentDigest {
        defer {
            crc = 0
            size = 0
        }
        return ContentDigest(size: size, sha256: sha256.finish(), crc32: crc)
    }
}
