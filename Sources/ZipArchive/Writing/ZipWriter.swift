import Files
import Foundation
import Scratch
import Synchronization

/// Writes the stored-only archive that a `ZipLayout` describes into a file, entries in any order, from several
/// threads at once.
///
///     let writer = ZipWriter(descriptor: file, layout: try ZipLayout(entries: entries))
///     try writer.writeEntry(0, bytes: manifest)                 // any thread
///     let digest = try writer.copyEntry(1, from: photo)         // another thread, at the same time
///     try writer.finish()                                       // once all have returned
///
/// The file must be empty or hold nothing of value, and be open for reading too; the descriptor stays the caller's, who also
/// calls `fsync`.
/// Until `finish()` has returned there is no central directory, so that no reader takes a part for a whole.
/// Everything blocks: run it on a `BlockingPool`. A failed or cancelled entry may be written again.
public final class ZipWriter: Sendable {
    private struct Progress: Sendable {
        /// In work, or written.
        var claimed: EntrySet = []
        var written: EntrySet = []
    }

    /// Entries of which the checksums are read at once.
    private static let portion = 4096

    /// Bytes that the disk is told to read before anybody asks for them.
    private static let readAhead: Int64 = 256 << 20

    public let layout: ZipLayout
    let file: ArchiveFile
    let buffers = RunBuffers()
    private let progress = Mutex(Progress())
    /// CRC-32 of what is written.
    private let checksums: ScratchRecords
    private let sharing = BlockSharing()
    private var descriptor: Int32 { file.descriptor }

    public convenience init(descriptor: Int32, layout: ZipLayout) {
        self.init(descriptor: descriptor, layout: layout, isDirect: true)
    }

    /// - Parameter isDirect: whether to write past the page cache where the file system can.
    init(descriptor: Int32, layout: ZipLayout, isDirect: Bool) {
        file = ArchiveFile(descriptor, layout, isDirect: isDirect)
        self.layout = layout
        checksums = ScratchRecords(of: MemoryLayout<UInt32>.size, in: layout.scratch)
    }

    /// Writes an entry whose bytes are in memory.
    /// - Throws: `.sourceSizeDiffers` where `bytes` has another size than the layout says; `.writtenTwice`,
    ///   `.diskFull`, `.writeFailed`.
    @discardableResult
    public func writeEntry(_ index: Int, bytes: some ContiguousBytes) throws(ZipError) -> ContentDigest {
        let placed = try layout.placed(at: index)
        let entry = placed.entry
        return try claiming(index) { () throws(ZipError) -> ContentDigest in
            let result = bytes.withUnsafeBytes { bytes -> Result<ContentDigest, ZipError> in
                guard Int64(bytes.count) == entry.size else {
                    return .failure(.sourceSizeDiffers(entry: entry.name, expected: entry.size))
                }
                do throws(ZipError) {
                    try DescriptorIO.write(descriptor, bytes, at: placed.place.data)
                    let digest = ContentDigest(of: bytes)
                    try writeHeader(placed, crc32: digest.crc32)
                    return .success(digest)
                } catch {
                    return .failure(error)
                }
            }
            return try result.get()
        }
    }

    /// Copies an entry from a file, reading it once for SHA-256, CRC-32 and copy.
    ///
    /// Where the file system can, an aligned entry shares the blocks of its file instead, and what is read is what the
    /// archive has then.
    ///
    /// - Parameters:
    ///   - source: a descriptor that `pread` can read; its own position is neither used nor moved.
    ///   - cancelled: asked before each part (at most 256 KiB).
    ///   - progress: called after each part with the bytes that it held.
    /// - Returns: the digest of what was written, to compare with the one on record.
    /// - Throws: `.sourceSizeDiffers` where the file is shorter or longer than the layout says; `.readFailed` for
    ///   the source, `.diskFull` and `.writeFailed` for the archive; `.readBackDiffers`, `.writtenTwice`, `.cancelled`.
    public func copyEntry(
        _ index: Int, from source: Int32, cancelled: () -> Bool = { false }, progress: (Int) -> Void = { _ in }
    ) throws(ZipError) -> ContentDigest {
        let run = try EntryRun(index..<index + 1, of: self)
        let digest = try run.copy(index, reading: OpenFile(source), cancelled: cancelled, progress: progress)
        _ = try run.finish(cancelled: cancelled)
        return digest
    }

    /// Has the archive share the blocks of the entry's file where that can be.
    /// - Returns: how many bytes of the entry are there; the rest is to be copied.
    func share(_ placed: ZipLayout.Placed, with source: some ByteSource) -> Int64 {
        guard placed.entry.size >= ZipLayout.alignedFrom, let source = source as? OpenFile else { return 0 }
        return sharing.share(
            source.descriptor, at: 0, with: descriptor, at: placed.place.data, upTo: placed.entry.size)
    }

    /// Reads back what runs could not, because it shares pages with its neighbours. To be called when all is written and durable;
    /// several threads may share the work.
    /// - Returns: false where the file system cannot say what the disk has.
    /// - Throws: `.readBackDiffers`; `.readFailed`, `.writeFailed`, `.cancelled`.
    package func proveSeams(cancelled: () -> Bool = { false }) throws(ZipError) -> Bool {
        while let isRead = try file.proveSeam(cancelled: cancelled) {
            if !isRead { return false }
        }
        return true
    }

    /// What the finished archive may be opened with, once ``proveSeams(cancelled:)`` has said that it is so. Takes the rest of it
    /// out of memory, so that it is read from the disk, which is told to begin.
    /// - Parameter digests: of entries of which a run's `finish` has said that the disk has them.
    /// - Throws: `.scratchFailed`.
    package func proven(_ digests: EntryTable<ContentDigest>) throws(ZipError) -> ProvenEntries {
        _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
        var ahead = Self.readAhead
        for index in 0..<layout.count where !digests.contains(index) && ahead > 0 {
            let extent = try layout.placed(at: index).extent
            let length = extent.upperBound - extent.lowerBound
            _ = posix_fadvise(descriptor, off_t(extent.lowerBound), off_t(length), POSIX_FADV_WILLNEED)
            ahead -= length
        }
        return ProvenEntries(digests, of: layout, in: descriptor)
    }

    /// Marks an entry whose bytes were put at their place by other means (a shared block, a hole) as written.
    package func adoptEntry(_ index: Int, crc32: UInt32) throws(ZipError) {
        let placed = try layout.placed(at: index)
        try claiming(index) { () throws(ZipError) -> ContentDigest in
            try writeHeader(placed, crc32: crc32)
            return ContentDigest(size: placed.entry.size, sha256: .zero, crc32: crc32)
        }
    }

    /// Writes the central directory and the end records, and cuts off what lay behind them.
    /// - Throws: `.unwritten` while entries are missing; `.diskFull`, `.writeFailed`.
    public func finish() throws(ZipError) {
        let written = progress.withLock { $0.written }
        if written.count < layout.count {
            let first = (0..<layout.count).first { !written.contains($0) } ?? 0
            throw .unwritten(entry: try layout.entry(at: first).name, count: layout.count - written.count)
        }
        var position = layout.directoryOffset
        var pending: [UInt8] = []
        var crc32s: [UInt32] = []
        try ZipError.scratch {
            try layout.placed.forEach { index, placed in
                if index % Self.portion == 0 { crc32s = try checksums(from: index) }
                pending += ZipRecords.centralHeader(
                    placed.entry, place: placed.place, crc32: crc32s[index % Self.portion])
                if pending.count >= CopyLane.capacity {
                    try write(pending, at: position)
                    position += Int64(pending.count)
                    pending.removeAll(keepingCapacity: true)
                }
            }
        }
        let size = position + Int64(pending.count) - layout.directoryOffset
        pending += ZipRecords.end(
            count: layout.count, directoryOffset: layout.directoryOffset, directorySize: size)
        try write(pending, at: position)
        guard ftruncate(descriptor, off_t(layout.totalSize)) == 0 else { throw .writing(errno) }
    }

    /// Of a portion of the entries.
    private func checksums(from index: Int) throws -> [UInt32] {
        var crc32s = [UInt32](repeating: 0, count: min(Self.portion, layout.count - index))
        try crc32s.withUnsafeMutableBytes { try checksums.read(into: $0, at: index) }
        return crc32s
    }

    /// Runs `body`, which writes an entry with its header, where nobody else does.
    @discardableResult
    private func claiming(
        _ index: Int, _ body: () throws(ZipError) -> ContentDigest
    ) throws(ZipError) -> ContentDigest {
        try claim(index)
        do throws(ZipError) {
            let digest = try body()
            try conclude(index, crc32: digest.crc32)
            return digest
        } catch {
            giveUp(index)
            throw error
        }
    }

    /// Whoever has claimed an entry concludes it or gives it up.
    func claim(_ index: Int) throws(ZipError) {
        let isOurs = progress.withLock { progress in
            guard !progress.claimed.contains(index) else { return false }
            progress.claimed.insert(index)
            return true
        }
        guard isOurs else { throw .writtenTwice(entry: try layout.entry(at: index).name) }
    }

    /// - Throws: `.scratchFailed`; then it is as before.
    func conclude(_ index: Int, crc32: UInt32) throws(ZipError) {
        try ZipError.scratch { try withUnsafeBytes(of: crc32) { try checksums.write($0, at: index) } }
        progress.withLock { $0.written.insert(index) }
    }

    func giveUp(_ index: Int) {
        progress.withLock { progress in
            progress.claimed.remove(index)
            progress.written.remove(index)
        }
    }

    private func writeHeader(_ placed: ZipLayout.Placed, crc32: UInt32) throws(ZipError) {
        try write(ZipRecords.localHeader(placed.entry, place: placed.place, crc32: crc32), at: placed.header)
    }

    private func write(_ bytes: [UInt8], at position: Int64) throws(ZipError) {
        try bytes.span.bytes.withUnsafeBytes { bytes throws(ZipError) in
            try DescriptorIO.write(descriptor, bytes, at: position)
        }
    }
}
