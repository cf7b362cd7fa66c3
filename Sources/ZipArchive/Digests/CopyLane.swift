import Files
import Foundation
import Synchronization

/// What one thread needs to move and hash bytes: a buffer and a hasher, used again for the next file.
///
/// 256 KiB stays in the second-level cache of one core, so that SHA-256, CRC-32 and the copy into the page cache
/// read each byte from memory once; a fresh buffer for every photo would cost its page faults each time.
///
/// Unchecked, because the compiler cannot see this: a lane is either in the idle list, where nothing touches it,
/// or held by the one caller that `take()` gave it to, until that caller gives it back.
final class CopyLane: @unchecked Sendable {
    static let capacity = 256 << 10
    private static let mostIdle = 8
    private static let idle = Mutex<[CopyLane]>([])

    let hasher = ContentHasher()
    let fingerprint = FingerprintHasher()
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 4096)

    private init() {}

    deinit { buffer.deallocate() }

    static func take() -> CopyLane {
        idle.withLock { $0.popLast() } ?? CopyLane()
    }

    func give() {
        // After a failure some bytes of the last file are still in it.
        if hasher.size != 0 { _ = hasher.finish() }
        _ = fingerprint.finish()
        Self.idle.withLock { idle in
            if idle.count < Self.mostIdle { idle.append(self) }
        }
    }

    /// Reads up to `length` bytes into the buffer; fewer only at the end of the source, and none there.
    /// - Parameter offset: where in the buffer the first goes.
    func read(
        _ source: some ByteSource, at position: Int64, atMost length: Int, behind offset: Int = 0
    ) throws(ZipError) -> UnsafeRawBufferPointer {
        let room = UnsafeMutableRawBufferPointer(rebasing: buffer[offset..<min(offset + length, buffer.count)])
        let count = try DescriptorIO.read(source, into: room, at: position)
        return UnsafeRawBufferPointer(rebasing: room[..<count])
    }
}

/// Positioned reads and writes that go on until they are done.
enum DescriptorIO {
    /// Fills `room` from `position` on. Returns how many bytes came: fewer than asked only at the end of the source.
    static func read(
        _ source: some ByteSource, into room: UnsafeMutableRawBufferPointer, at position: Int64
    ) throws(ZipError) -> Int {
        do {
            return try source.read(into: room, at: position)
        } catch {
            throw .readFailed(errno: error.code)
        }
    }

    static func read(
        _ descriptor: Int32, into room: UnsafeMutableRawBufferPointer, at position: Int64
    ) throws(ZipError) -> Int {
        try read(OpenFile(descriptor), into: room, at: position)
    }

    /// Writes all of `bytes` from `position` on.
    static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at position: Int64) throws(ZipError) {
        var done = 0
        while done < bytes.count {
            let count = pwrite(
                descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done, off_t(position) + off_t(done))
            if count > 0 {
                done += count
            } else if count == 0 {
                throw .writeFailed(errno: EIO)
            } else if errno != EINTR {
                throw .writing(errno)
            }
        }
    }

    /// The size of the file in bytes.
    static func size(_ descriptor: Int32) throws(ZipError) -> Int64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .readFailed(errno: errno) }
        return Int64(status.st_size)
    }
}
