import Foundation
import Glibc

/// A file in memory that is given other bytes for each input. It has no name, so nothing is left of it.
public final class ScratchFile: Sendable {
    public let descriptor: Int32

    public init() {
        let name = "/smilepile-fuzz-\(UUID().uuidString)"
        descriptor = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0o600)
        shm_unlink(name)
        if descriptor < 0 { fail("no file in memory: errno \(errno)") }
    }

    public convenience init(_ bytes: some Collection<UInt8>) {
        self.init()
        replace(with: Array(bytes))
    }

    deinit { close(descriptor) }

    public func replace(with bytes: [UInt8]) {
        let written = pwrite(descriptor, bytes, bytes.count, 0)
        if written != bytes.count || ftruncate(descriptor, off_t(bytes.count)) != 0 { fail("the file in memory") }
    }

    public func bytes() -> [UInt8] {
        var status = stat()
        fstat(descriptor, &status)
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return Array(bytes.prefix(max(0, count)))
    }
}
