import CLinux
import Foundation

extension FileSystem {
    /// Bytes that are copied between two looks at whether to go on.
    private static let part = 16 << 20

    /// Makes an empty file the same bytes as another one. On a file system that can, both share them (a reflink, which is
    /// also the state of one moment); else the kernel copies, or, between file systems that it cannot copy between, this
    /// process does. Blocks.
    /// - Parameters:
    ///   - source: its descriptor; the position is neither used nor moved.
    ///   - name: of the new file, for errors.
    /// - Returns: bytes that it has now.
    /// - Throws: ``Failure``; a cancellation where `isCancelled` said so. The new file may have any part then.
    package static func copy(
        _ source: Int32, to target: Int32, _ name: String, isCancelled: () -> Bool = { false }
    ) throws -> Int64 {
        if clinux_clone(source, target) == 0 {
            var status = stat()
            try check(fstat(target, &status), "look at", name)
            return Int64(status.st_size)
        }
        return try copy(source, to: target, name, by: clinux_copy_range, isCancelled: isCancelled)
    }

    /// Copies by the kernel, and where that ends before the source does, through memory.
    /// - Parameter range: copies so many bytes from a position on; returns how many they were, or less than 0 and `errno`.
    static func copy(
        _ source: Int32, to target: Int32, _ name: String,
        by range: (_ from: Int32, _ to: Int32, _ position: Int64, _ length: Int) -> Int,
        isCancelled: () -> Bool = { false }
    ) throws -> Int64 {
        var position: Int64 = 0
        while true {
            if isCancelled() { throw CancellationError() }
            let count = range(source, target, position, part)
            if count > 0 {
                position += Int64(count)
            } else if count == 0 {
                // Some file systems, as those of a process in user space, end here though there is more to read.
                return try copyThroughMemory(source, to: target, name, from: position, isCancelled: isCancelled)
            } else if errno != EINTR {
                guard position == 0, [EXDEV, EINVAL, ENOSYS, EOPNOTSUPP, EPERM, EIO].contains(errno) else {
                    throw Failure(action: "copy to", path: name, code: errno)
                }
                return try copyThroughMemory(source, to: target, name, from: 0, isCancelled: isCancelled)
            }
        }
    }

    /// Copies a file into whatever bytes can be written to one after the other: a pipe too. Blocks.
    /// - Throws: ``Failure``; `EPIPE` where nobody reads any more.
    package static func pour(_ source: Int32, into target: Int32, _ name: String) throws {
        _ = try copyThroughMemory(source, to: target, name, from: 0, inSequence: true, isCancelled: { false })
    }

    private static func copyThroughMemory(
        _ source: Int32, to target: Int32, _ name: String, from start: Int64, inSequence: Bool = false,
        isCancelled: () -> Bool
    ) throws -> Int64 {
        let reader = OpenFile(source)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        defer { buffer.deallocate() }
        var position = start
        while true {
            if isCancelled() { throw CancellationError() }
            let count: Int
            do {
                count = try reader.read(into: buffer, at: position)
            } catch {
                throw Failure(action: "read for", path: name, code: error.code)
            }
            guard count > 0 else { return position }
            let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            try write(bytes, to: target, at: inSequence ? nil : position, name)
            position += Int64(count)
        }
    }

    /// Writes all of `bytes`. Blocks.
    /// - Parameters:
    ///   - position: of a file, where they go; nil at the descriptor's own, which is moved.
    ///   - name: of the file, for errors.
    package static func write(
        _ bytes: UnsafeRawBufferPointer, to target: Int32, at position: Int64? = 0, _ name: String
    ) throws {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            let written =
                if let position {
                    pwrite(target, rest.baseAddress, rest.count, off_t(position) + off_t(done))
                } else {
                    Foundation.write(target, rest.baseAddress, rest.count)
                }
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else { throw Failure(action: "write", path: name, code: errno) }
            done += written
        }
    }
}
