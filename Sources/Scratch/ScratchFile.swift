import Files
import Foundation
import ServiceMesh

/// A file without a name, for what does not fit into memory; it is gone with the last who holds it, and with the process.
///
/// Any number of threads may read at once what was written before.
package final class ScratchFile: Sendable {
    private let descriptor: Int32
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
        // FAT and some file systems of networks know no files without a name: it gets one, and loses it at once.
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
}
