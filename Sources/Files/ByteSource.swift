import Foundation

/// Bytes that are there already and can be read from any position: a file, or an object of a store that has no files.
///
/// A descriptor alone would do for files, and for nothing else.
package protocol ByteSource {
    /// Fills `room` with the bytes from `position` on. Blocks.
    /// - Returns: how many came: fewer than there is room for only at the end, none past it.
    func read(into room: UnsafeMutableRawBufferPointer, at position: Int64) throws(ReadFailure) -> Int
}

/// Bytes that could not be read, and `errno`.
package struct ReadFailure: Error, Equatable {
    package let code: Int32

    package init(code: Int32) { self.code = code }
}

/// Bytes in memory.
package struct HeldBytes: ByteSource, Sendable {
    private let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package func read(into room: UnsafeMutableRawBufferPointer, at position: Int64) throws(ReadFailure) -> Int {
        guard position >= 0, position < bytes.count else { return 0 }
        let part = bytes[Int(position)...].prefix(room.count)
        room.copyBytes(from: part)
        return part.count
    }
}

/// A file that somebody else has open. Its own position is neither used nor moved.
package struct OpenFile: ByteSource, Sendable {
    package let descriptor: Int32

    package init(_ descriptor: Int32) { self.descriptor = descriptor }

    package func read(into room: UnsafeMutableRawBufferPointer, at position: Int64) throws(ReadFailure) -> Int {
        var done = 0
        while done < room.count {
            let count = pread(
                descriptor, room.baseAddress.map { $0 + done }, room.count - done, off_t(position) + off_t(done))
            if count == 0 { break }
            if count > 0 {
                done += count
            } else if errno != EINTR {
                throw ReadFailure(code: errno)
            }
        }
        return done
    }
}
