import Files
import Foundation
import ServiceMesh

/// A file without a name, for what does not fit into memory; it is gone with the last who holds it, and with the process.
///
/// Any number of threads may read at once what was written before.
package final class ScratchFile: Sendable {
    /// For whoever writes into it by other means; it is closed with this.
    package let descriptor: Int32
    private let folder: String

    /// - Parameter folder: on a disk that has room; not in memory, as `/tmp` is on many machines.
    /// - Throws: `FileSystem.Failure`.
    package init(in folder: String) throws {
        self.folder = folder
        let unnamed = FileSystem.openUnnamed(in: folder)
        if unnamed >= 0 {
            descriptor = unnamed
            return
        }
        // FAT and some file systems of networks know no files without a name: mkstemp gives it one, and it loses that at once.
        var template = Array((folder + "/scratch-XXXXXX").utf8CString)
        descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw FileSystem.Failure(action: "make", path: folder, code: errno) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        unlink(template)
    }

    deinit { close(descriptor) }

    package func write(_ bytes: UnsafeRawBufferPointer, at position: Int64) throws {
        try FileSystem.write(bytes, to: descriptor, at: position, folder)
    }

    /// All that was written, of which there are so many bytes.
    package func bytes(_ count: Int) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            try read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
            initialized = count
        }
    }

    /// Fills the buffer with what was written at a position.
    /// - Throws: `FileSystem.Failure`, also where less was written than is asked for.
    package func read(into bytes: UnsafeMutableRawBufferPointer, at position: Int64) throws {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[done...])
            let read = pread(descriptor, rest.baseAddress, rest.count, off_t(position) + off_t(done))
            if read < 0 && errno == EINTR { continue }
            guard read > 0 else {
                throw FileSystem.Failure(action: "read a scratch file in", path: folder, code: read < 0 ? errno : EIO)
            }
            done += read
        }
    }

    /// Lets `body` walk once over the first bytes, as if they were in memory.
    ///
    /// They are the file's own pages, and count as this process's memory until it says that they are behind. A disk that does not
    /// give back what was just written ends the process, as it does for a page that was swapped out.
    /// - Parameter body: is to tell from time to time up to which byte it has come.
    package func walk<Value>(
        _ count: Int, _ body: (UnsafeRawBufferPointer, _ passed: (Int) -> Void) throws -> Value
    ) throws -> Value {
        guard count > 0 else { return try body(UnsafeRawBufferPointer(start: nil, count: 0)) { _ in } }
        let start = mmap(nil, count, PROT_READ, MAP_PRIVATE, descriptor, 0)
        guard let start, start != MAP_FAILED else {
            throw FileSystem.Failure(action: "read a scratch file in", path: folder, code: errno)
        }
        defer { munmap(start, count) }
        var behind = 0
        return try body(UnsafeRawBufferPointer(start: start, count: count)) { position in
            let end = position - position % (1 << 20)
            guard end > behind else { return }
            madvise(start + behind, end - behind, MADV_DONTNEED)
            behind = end
        }
    }
}
