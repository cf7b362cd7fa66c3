import CLinux
import Files
import Foundation
import Scratch
import ZipArchive

/// The bytes of a document: of a small one in memory, of a large one in a scratch file.
package struct DocumentBytes: ByteSource, Sendable {
    private enum Content: Sendable {
        case memory(Data)
        case file(ScratchFile)
    }

    /// Bytes that a document may have in memory.
    static let short = 1 << 20

    private let content: Content
    package let count: Int

    package init(_ bytes: Data) {
        content = .memory(bytes.startIndex == 0 ? bytes : Data(bytes))
        count = bytes.count
    }

    /// - Parameter count: bytes that were written into the file.
    init(_ file: ScratchFile, count: Int) { (content, self.count) = (.file(file), count) }

    /// Some of them, in memory.
    func bytes(_ range: Range<Int>) throws -> Data {
        switch content {
        case .memory(let bytes): return bytes[range]
        case .file(let file):
            var bytes = Data(count: range.count)
            try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: Int64(range.lowerBound)) }
            return bytes
        }
    }

    /// Lets `body` walk over all of them once, from the first to the last.
    /// - Parameter body: is to tell from time to time up to which byte it has come.
    func walk<Value>(_ body: (UnsafeRawBufferPointer, _ passed: (Int) -> Void) throws -> Value) throws -> Value {
        switch content {
        case .memory(let bytes): try bytes.withUnsafeBytes { try body($0) { _ in } }
        case .file(let file): try file.walk(count, body)
        }
    }

    package func read(into room: UnsafeMutableRawBufferPointer, at position: Int64) throws(ReadFailure) -> Int {
        guard (0..<Int64(count)).contains(position) else { return 0 }
        let some = Int(position)..<min(count, Int(position) + room.count)
        switch content {
        case .memory(let bytes): room.copyBytes(from: bytes[some])
        case .file(let file):
            do {
                try file.read(into: UnsafeMutableRawBufferPointer(rebasing: room[..<some.count]), at: position)
            } catch {
                throw ReadFailure(code: (error as? FileSystem.Failure)?.code ?? EIO)
            }
        }
        return some.count
    }
}

/// A document that is written.
final class DocumentOutput {
    /// Where it is written, if it is long.
    private var scratch: Scratch
    private let hasher = ContentHasher()
    private var file: ScratchFile?
    private var written = 0
    private var buffer = Data()

    init(in scratch: Scratch) { self.scratch = scratch }

    /// - Throws: `FileSystem.Failure` where the disk does not give back what was written.
    func append(_ bytes: Data) throws {
        bytes.withUnsafeBytes { hasher.update($0) }
        buffer.append(bytes)
        if buffer.count > DocumentBytes.short { try flush() }
    }

    private func flush() throws {
        do {
            guard let file = try file ?? scratch.makeFile() else { return }
            try buffer.withUnsafeBytes { try file.write($0, at: Int64(written)) }
            self.file = file
            written += buffer.count
            buffer.removeAll(keepingCapacity: true)
        } catch is FileSystem.Failure {
            // The library's disk is full, and all the more is a backup wanted.
            buffer = Data(try file?.bytes(written) ?? []) + buffer
            (file, written, scratch) = (nil, 0, .memory)
        }
    }

    func finish() throws -> (bytes: DocumentBytes, digest: ContentDigest) {
        if file != nil { try flush() }
        return (file.map { DocumentBytes($0, count: written) } ?? DocumentBytes(buffer), hasher.finish())
    }
}

/// One that is to stand in a backup.
package struct BackupDocument: Sendable {
    package let name: String
    package let bytes: DocumentBytes
    package let digest: ContentDigest

    init(_ name: String, _ written: (bytes: DocumentBytes, digest: ContentDigest)) {
        (self.name, bytes, digest) = (name, written.bytes, written.digest)
    }
}

extension ZipReader {
    /// A document, in memory if it is short.
    /// - Throws: as ``/ZipArchive/ZipReader/extract(_:to:cancelled:progress:)``; `.entryTooLarge`.
    func document(_ index: Int, in scratch: Scratch) throws -> DocumentBytes {
        let entry = try entries[index]
        guard entry.size > DocumentBytes.short, let file = try? scratch.makeFile() else {
            return DocumentBytes(try read(index, limit: BackupFormat.maximumDocument))
        }
        guard entry.size <= BackupFormat.maximumDocument else {
            throw ZipError.entryTooLarge(
                name: entry.name, size: entry.size, limit: Int64(BackupFormat.maximumDocument))
        }
        do {
            _ = try extract(index, to: file.descriptor)
        } catch ZipError.diskFull {
            return DocumentBytes(try read(index, limit: BackupFormat.maximumDocument))
        }
        return DocumentBytes(file, count: Int(entry.size))
    }
}
