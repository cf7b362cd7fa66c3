import CLinux
import Files
import Foundation
import Imaging
import ImageWorkerProtocol
import ServiceMesh
import ZipArchive

extension NamedFiles {
    /// Reads a file that somebody else may be writing to.
    /// - Throws: ``ImagingError/changed`` where it was written to, cut or replaced while `body` read it; what
    ///   `NamedFiles/open(_:_:links:)` throws.
    func withSteadyFile<T>(_ path: FilePath, _ body: (Int32) throws -> T) throws -> T {
        try withFile(path) { descriptor in
            let before = try Self.state(of: descriptor, path.text)
            let result = try body(descriptor)
            guard try Self.state(of: descriptor, path.text) == before else { throw ImagingError.changed }
            return result
        }
    }

    /// Whether nobody writes to a file: nobody has it open for that or, where that cannot be known, nobody has written to it within
    /// the last seconds. Blocks.
    func isSettled(_ path: FilePath, at now: Timestamp) throws -> Bool {
        try withFile(path) { descriptor in
            let isBeingWritten = clinux_is_being_written(descriptor)
            guard isBeingWritten < 0 else { return isBeingWritten == 0 }
            var found = stat()
            try FileSystem.check(fstat(descriptor, &found), "look at", path.text)
            let age = now.milliseconds / 1000 - Int64(found.st_mtim.tv_sec)
            // A time to come is none that a writer has just left behind.
            return !(-Self.settling...Self.settling).contains(age)
        }
    }

    /// Seconds.
    private static let settling: Int64 = 5

    private static func state(of descriptor: Int32, _ path: String) throws -> FileState {
        var found = stat()
        try FileSystem.check(fstat(descriptor, &found), "look at", path)
        return FileState(found)
    }
}

/// A source that is open, and is to be copied once it has been decoded.
struct OpenSource: Sendable {
    let descriptor: Int32
    private let state: FileState
    /// Whether another change may leave the state as it was. Asked when it was looked at: later every change seems old.
    private let isFresh: Bool

    init(_ descriptor: Int32, _ status: stat) {
        self.descriptor = descriptor
        state = FileState(status)
        isFresh = state.isFresh
    }

    /// Makes its copy in the staging place, byte for byte and durable. Blocks.
    ///
    /// It was hashed when it was decoded; that its state is the same since tells that these are the same bytes. The copy is
    /// hashed as well only where the state cannot tell.
    /// - Parameter digest: of the bytes that were decoded; SHA-256, lower-case hex.
    /// - Throws: ``ImagingError/changed`` where the copy would be other bytes; failures of the file system.
    func copy(_ digest: String, to target: Int32, _ name: String) throws {
        try copy(to: target, name)
        if isFresh, try ContentDigest(ofDescriptor: target).sha256.hex != digest { throw ImagingError.changed }
        try FileSystem.sync(target, name)
    }

    /// The same of a source that nobody has hashed, since it was not decoded. Blocks.
    /// - Returns: the digest of the copy.
    /// - Throws: as ``copy(_:to:_:)``; a cancellation where `isCancelled` said so.
    func copyAndDigest(
        to target: Int32, _ name: String, isCancelled: () -> Bool = { false }
    ) throws -> ContentDigest {
        try copy(to: target, name, isCancelled)
        let digest = try ContentDigest(ofDescriptor: target, cancelled: isCancelled)
        try FileSystem.sync(target, name)
        return digest
    }

    private func copy(to target: Int32, _ name: String, _ isCancelled: () -> Bool = { false }) throws {
        let copied = try FileSystem.copy(descriptor, to: target, name, isCancelled: isCancelled)
        // A copy that ends early without an error is one that a file system has got wrong, and it is noticed here or never.
        guard copied == (try unchangedSize(name)) else { throw ImagingError.changed }
    }

    /// Its digest, where no copy is wanted. Blocks.
    /// - Throws: ``ImagingError/changed``; failures of the file system.
    func digest(_ name: String, isCancelled: () -> Bool = { false }) throws -> ContentDigest {
        let digest = try ContentDigest(ofDescriptor: descriptor, cancelled: isCancelled)
        guard digest.size == (try unchangedSize(name)) else { throw ImagingError.changed }
        return digest
    }

    private func unchangedSize(_ name: String) throws -> Int64 {
        var status = stat()
        try FileSystem.check(fstat(descriptor, &status), "look at", name)
        guard FileState(status) == state else { throw ImagingError.changed }
        return Int64(status.st_size)
    }
}
