import CLinux
import Foundation
import Randomness
import Synchronization
import TestSupport

@testable import ZipArchive

/// A file of a test's own and its descriptor, closed when the value goes out of scope.
final class TestFile: Sendable {
    let path: String
    let descriptor: Int32
    private let isRemovedAtEnd: Bool

    /// An empty file, open for reading and writing.
    init(creating path: String, removedAtEnd: Bool = false) throws {
        self.path = path
        isRemovedAtEnd = removedAtEnd
        descriptor = clinux_open(path, O_RDWR | O_CREAT | O_TRUNC, 0o600)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    /// An existing file, open for reading.
    init(reading path: String) throws {
        self.path = path
        isRemovedAtEnd = false
        descriptor = clinux_open(path, O_RDONLY, 0)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    convenience init(creating path: String, bytes: [UInt8]) throws {
        try self.init(creating: path)
        try replace(with: bytes)
    }

    deinit {
        close(descriptor)
        if isRemovedAtEnd { unlink(path) }
    }

    func replace(with bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try DescriptorIO.write(descriptor, $0, at: 0) }
        guard ftruncate(descriptor, off_t(bytes.count)) == 0 else { throw ZipError.writeFailed(errno: errno) }
    }

    func bytes() throws -> [UInt8] {
        try ZipDirectory.bytes(of: descriptor, 0..<DescriptorIO.size(descriptor))
    }
}

/// Bytes that look random and are the same in every run.
func noise(_ count: Int, seed: UInt64) -> [UInt8] {
    var generator = SplitMix64(seed: seed)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 8)
    while bytes.count < count { withUnsafeBytes(of: generator.next()) { bytes.append(contentsOf: $0) } }
    return Array(bytes.prefix(count))
}

extension ZipError {
    /// What is wrong with the archive as a whole, if that is what this error says.
    var archiveProblem: ArchiveProblem? {
        if case .unusableArchive(let problem) = self { problem } else { nil }
    }
}

/// Runs `body` for 0..<count on several threads at once and returns what it threw.
func concurrently(_ count: Int, _ body: @Sendable (Int) throws -> Void) -> [any Error] {
    let failures = Mutex<[any Error]>([])
    DispatchQueue.concurrentPerform(iterations: count) { index in
        do { try body(index) } catch { failures.withLock { $0.append(error) } }
    }
    return failures.withLock { $0 }
}
