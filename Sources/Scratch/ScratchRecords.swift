import Files
import Synchronization

/// Records of one size, each at its place: in memory while they are few, and where the disk is full; else in a ``ScratchFile``.
///
/// Any number of threads may write and read at once, as long as no two of them are at the same place. It does not know which
/// records were written; its owner does.
package final class ScratchRecords: Sendable {
    private struct Content: Sendable {
        var memory: [UInt8] = []
        var file: ScratchFile?
        /// Records for which the file's disk had no room, by their places.
        var rest: [Int: [UInt8]] = [:]
        /// Whether a file was wanted, and none could be made: then all stays in memory.
        var hasNoFile = false
    }

    /// Bytes that are kept in memory where there is a folder.
    private static let most = 256 << 10

    /// Of a record, in bytes.
    package let size: Int
    private let folder: String?
    private let content = Mutex(Content())

    /// - Parameter size: of each record, in bytes; more than 0.
    package init(of size: Int, in scratch: Scratch) {
        (self.size, folder) = (size, scratch.folder)
    }

    /// Writes one record, or several that stand one behind the other.
    /// - Parameter index: of the first.
    package func write(_ records: UnsafeRawBufferPointer, at index: Int) throws {
        let start = index * size
        let file = try content.withLock { content throws -> ScratchFile? in
            if let file = content.file { return file }
            let end = start + records.count
            if let folder, end > Self.most, !content.hasNoFile {
                do {
                    let file = try ScratchFile(in: folder)
                    try content.memory.withUnsafeBytes { try file.write($0, at: 0) }
                    content = Content(file: file)
                    return file
                } catch is FileSystem.Failure {
                    content.hasNoFile = true
                }
            }
            if content.memory.count < end {
                content.memory.append(contentsOf: repeatElement(0, count: end - content.memory.count))
            }
            content.memory.withUnsafeMutableBytes { memory in
                UnsafeMutableRawBufferPointer(rebasing: memory[start..<end]).copyMemory(from: records)
            }
            return nil
        }
        guard let file else { return }
        var isWritten = true
        do {
            try file.write(records, at: Int64(start))
        } catch is FileSystem.Failure {
            isWritten = false
        }
        content.withLock { content in
            guard !isWritten || !content.rest.isEmpty else { return }
            for place in 0..<records.count / size {
                content.rest[index + place] =
                    isWritten ? nil : Array(records[place * size..<(place + 1) * size])
            }
        }
    }

    /// Fills a buffer with records that were written.
    /// - Parameter index: of the first.
    /// - Throws: `FileSystem.Failure`.
    package func read(into records: UnsafeMutableRawBufferPointer, at index: Int) throws {
        let start = index * size
        let file = content.withLock { content -> ScratchFile? in
            if let file = content.file { return file }
            precondition(start + records.count <= content.memory.count, "no such record was written")
            content.memory.withUnsafeBytes { memory in
                records.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[start..<start + records.count]))
            }
            return nil
        }
        guard let file else { return }
        let rest = content.withLock { $0.rest }
        guard !rest.isEmpty else { return try file.read(into: records, at: Int64(start)) }
        for place in 0..<records.count / size {
            let record = UnsafeMutableRawBufferPointer(rebasing: records[place * size..<(place + 1) * size])
            if let kept = rest[index + place] {
                record.copyBytes(from: kept)
            } else {
                try file.read(into: record, at: Int64(start + place * size))
            }
        }
    }
}
