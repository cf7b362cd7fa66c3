import CArchive
import Files
import Foundation
import Synchronization

/// Writes the stored-only archive that a `ZipLayout` describes into a file, entries in any order, from several
/// threads at once.
///
///     let writer = ZipWriter(descriptor: file, layout: try ZipLayout(entries: entries))
///     try writer.writeEntry(0, bytes: manifest)                 // any thread
///     let digest = try writer.copyEntry(1, from: photo)         // another thread, at the same time
///     try writer.finish()                                       // once all have returned
///
/// The file must be empty or hold nothing of value; the descriptor stays the caller's, who also calls `fsync`.
/// Until `finish()` has returned there is no central directory, so that no reader takes a part for a whole.
/// Everything blocks: run it on a `BlockingPool`. A failed or cancelled entry may be written again.
public final class ZipWriter: Sendable {
    private enum Progress: Sendable, Hashable {
        case untouched
        case inWork
        case written(crc32: UInt32)
    }

    /// Bytes after which the disk is set to work: it writes while we hash, and the caller's `fsync` finds little left to do.
    /// It also keeps a backup from filling memory with pages that the catalogue's own `fsync` would then have to wait behind.
    /// Of several entries together: of each small one for itself, the disk is asked more than it writes.
    private static let writebackStep: Int64 = 4 << 20

    /// What was written since the disk was last set to work.
    private struct Unsent: Sendable {
        var start = Int64.max
        var end: Int64 = 0
        var bytes: Int64 = 0
    }

    public let layout: ZipLayout
    private let descriptor: Int32
    private let progress: Mutex<[Progress]>
    private let sharing = BlockSharing()
    private let unsent = Mutex(Unsent())

    public init(descriptor: Int32, layout: ZipLayout) {
        self.descriptor = descriptor
        self.layout = layout
        progress = Mutex(Array(repeating: .untouched, count: layout.entries.count))
    }

    /// Writes an entry whose bytes are in memory.
    /// - Throws: `.sourceSizeDiffers` where `bytes` has another size than the layout says; `.writtenTwice`,
    ///   `.diskFull`, `.writeFailed`.
    @discardableResult
    public func writeEntry(_ index: Int, bytes: some ContiguousBytes) throws(ZipError) -> ContentDigest {
        let entry = layout.entries[index]
        return try claiming(index) { () throws(ZipError) -> ContentDigest in
            let result = bytes.withUnsafeBytes { bytes -> Result<ContentDigest, ZipError> in
                guard Int64(bytes.count) == entry.size else {
                    return .failure(.sourceSizeDiffers(entry: entry.name, expected: entry.size))
                }
                do throws(ZipError) {
                    try DescriptorIO.write(descriptor, bytes, at: layout.places[index].data)
                    let digest = ContentDigest(of: bytes)
                    try writeHeader(index, crc32: digest.crc32)
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
    ///   - cancelled: asked before each buffer (256 KiB).
    ///   - progress: called after each buffer with the bytes that it held.
    /// - Returns: the digest of what was written, to compare with the one on record.
    /// - Throws: `.sourceSizeDiffers` where the file is shorter or longer than the layout says; `.readFailed` for
    ///   the source, `.diskFull` and `.writeFailed` for the archive; `.writtenTwice`, `.cancelled`.
    public func copyEntry(
        _ index: Int, from source: Int32, cancelled: () -> Bool = { false }, progress: (Int) -> Void = { _ in }
    ) throws(ZipError) -> ContentDigest {
        try copyEntry(index, reading: OpenFile(source), cancelled: cancelled, progress: progress).digest
    }

    /// As ``copyEntry(_:from:cancelled:progress:)``, from any bytes.
    package func copyEntry(
        _ index: Int, reading source: some ByteSource, cancelled: () -> Bool = { false },
        progress: (Int) -> Void = { _ in }
    ) throws(ZipError) -> CopiedEntry {
        let entry = layout.entries[index]
        let start = layout.places[index].data
        let lane = CopyLane.take()
        defer { lane.give() }
        var unread: CopiedEntry.Part?
        let digest = try claiming(index) { () throws(ZipError) -> ContentDigest in
            let shared = try share(entry, with: source, at: start, lane, cancelled: cancelled, progress: progress)
            if shared == 0, start - layout.places[index].header + entry.size < Int64(CopyLane.capacity) {
                if cancelled() { throw .cancelled }
                let digest = try copySmall(index, source, lane)
                unread = .init(offset: 0, fingerprint: lane.fingerprint.finish())
                progress(Int(entry.size))
                return digest
            }
            var position = shared
            while position < entry.size {
                if cancelled() { throw .cancelled }
                let wanted = Int(min(entry.size - position, Int64(CopyLane.capacity)))
                let part = try lane.read(source, at: position, atMost: wanted)
                guard part.count == wanted else {
                    throw .sourceSizeDiffers(entry: entry.name, expected: entry.size)
                }
                lane.hasher.update(part)
                lane.fingerprint.update(part)
                try DescriptorIO.write(descriptor, part, at: start + position)
                noteWritten(at: start + position, Int64(wanted))
                position += Int64(wanted)
                progress(wanted)
            }
            guard try lane.read(source, at: position, atMost: 1).isEmpty else {
                throw .sourceSizeDiffers(entry: entry.name, expected: entry.size)
            }
            let digest = lane.hasher.finish()
            let rest = lane.fingerprint.finish()
            if rest.size > 0 { unread = .init(offset: shared, fingerprint: rest) }
            try writeHeader(index, crc32: digest.crc32)
            return digest
        }
        return CopiedEntry(index: index, digest: digest, unread: unread)
    }

    /// Copies an entry that fits into the lane's buffer together with its header: one read, which also finds out whether the file
    /// ends where it should, and one write. Threads that write to one file wait for each other at each call.
    private func copySmall(
        _ index: Int, _ source: some ByteSource, _ lane: CopyLane
    ) throws(ZipError) -> ContentDigest {
        let (entry, place) = (layout.entries[index], layout.places[index])
        let (header, size) = (Int(place.data - place.header), Int(entry.size))
        let bytes = try lane.read(source, at: 0, atMost: size + 1, behind: header)
        guard bytes.count == size else { throw .sourceSizeDiffers(entry: entry.name, expected: entry.size) }
        lane.hasher.update(bytes)
        lane.fingerprint.update(bytes)
        let digest = lane.hasher.finish()
        let all = lane.buffer[..<(header + size)]
        UnsafeMutableRawBufferPointer(rebasing: all)
            .copyBytes(from: ZipRecords.localHeader(entry, place: place, crc32: digest.crc32))
        try DescriptorIO.write(descriptor, UnsafeRawBufferPointer(rebasing: all), at: place.header)
        noteWritten(at: place.header, Int64(header + size))
        return digest
    }

    private func noteWritten(at position: Int64, _ bytes: Int64) {
        let due = unsent.withLock { unsent -> Unsent? in
            unsent.start = min(unsent.start, position)
            unsent.end = max(unsent.end, position + bytes)
            unsent.bytes += bytes
            guard unsent.bytes >= Self.writebackStep else { return nil }
            defer { unsent = Unsent() }
            return unsent
        }
        // Only a hint: `fsync` comes later and is what counts, so a failure here says nothing.
        if let due { _ = carchive_start_writeback(descriptor, due.start, due.end - due.start) }
    }

    /// Has the archive share the blocks of the entry's file where that can be, and reads them, from the disk, into the lane's
    /// hasher.
    /// - Returns: how many bytes of the entry are there; the rest is to be copied.
    private func share(
        _ entry: ZipLayout.Entry, with source: some ByteSource, at start: Int64, _ lane: CopyLane,
        cancelled: () -> Bool, progress: (Int) -> Void
    ) throws(ZipError) -> Int64 {
        guard entry.size >= ZipLayout.alignedFrom, let file = source as? OpenFile else { return 0 }
        let shared = sharing.share(file.descriptor, at: 0, with: descriptor, at: start, upTo: entry.size)
        var position: Int64 = 0
        while position < shared {
            if cancelled() { throw .cancelled }
            let wanted = Int(min(shared - position, Int64(CopyLane.capacity)))
            let part = try lane.read(OpenFile(descriptor), at: start + position, atMost: wanted)
            guard part.count == wanted else { throw .readFailed(errno: EIO) }
            lane.hasher.update(part)
            position += Int64(wanted)
            progress(wanted)
        }
        return shared
    }

    /// Reads what was copied of entries back from the disk: not from memory, which would only prove what we remember.
    ///
    /// Best some time after they were copied, when the disk has them already. What it has may still not be found after a power
    /// cut: that is the caller's `fsync`. Small entries share pages with their neighbours, which may not be written yet, and
    /// are left to whoever reads the finished archive.
    ///
    /// Entries that stand one behind the other are waited for, and read, in one go, with the headers between them.
    /// - Returns: what was read; nothing where the file system cannot wait for a part of a file.
    /// - Throws: `.readBackDiffers` where one is not what was written; `.readFailed`, `.writeFailed`, `.diskFull`, `.cancelled`.
    package func readBack(
        _ copied: [CopiedEntry], cancelled: () -> Bool = { false }
    ) throws(ZipError) -> ReadBack {
        var done = ReadBack()
        var rest: [(entry: CopiedEntry, unread: CopiedEntry.Part)] = []
        for entry in copied where layout.entries[entry.index].size >= ZipLayout.alignedFrom {
            if let unread = entry.unread { rest.append((entry, unread)) } else { done.entries.append(entry) }
        }
        rest.sort { $0.entry.index < $1.entry.index }
        var left = rest[...]
        while let first = left.first {
            var last = first.entry.index - 1
            let run = left.prefix { place in
                guard place.entry.index == last + 1, last < first.entry.index || place.unread.offset == 0 else {
                    return false
                }
                last += 1
                return true
            }
            left = left[run.endIndex...]
            let start =
                first.unread.offset == 0
                ? layout.places[first.entry.index].header
                : layout.places[first.entry.index].data + first.unread.offset
            let range = start..<layout.places[last].data + layout.entries[last].size
            guard try evict(range, cancelled: cancelled) else { return done }
            for place in run {
                try read(place.unread, of: place.entry, cancelled: cancelled)
                done.entries.append(place.entry)
            }
            // The pages at its ends are its neighbours' too, which are perhaps being written.
            let pages = Self.page(range.lowerBound + ZipLayout.alignment - 1)..<Self.page(range.upperBound)
            if !pages.isEmpty { done.ranges.append(pages) }
        }
        return done
    }

    private static func page(_ position: Int64) -> Int64 { position - position % ZipLayout.alignment }

    /// Takes all of the finished file out of memory but what ``readBack(_:cancelled:)`` has read, and has the disk begin to read
    /// it. To be called once it is durable.
    /// - Parameter read: in any order.
    package static func evict(_ descriptor: Int32, size: Int64, except read: [Range<Int64>]) {
        var position: Int64 = 0
        var ahead: Int64 = 256 << 20
        for range in read.sorted(by: { $0.lowerBound < $1.lowerBound }) + [size..<size] {
            let length = range.lowerBound - position
            if length > 0 {
                _ = posix_fadvise(descriptor, off_t(position), off_t(length), POSIX_FADV_DONTNEED)
                if length <= ahead {
                    _ = posix_fadvise(descriptor, off_t(position), off_t(length), POSIX_FADV_WILLNEED)
                    ahead -= length
                }
            }
            position = max(position, range.upperBound)
        }
    }

    /// Waits until the disk has a part of the file, takes it out of memory, and has the disk read it.
    /// - Returns: false where the file system cannot.
    private func evict(_ range: Range<Int64>, cancelled: () -> Bool) throws(ZipError) -> Bool {
        var position = Self.page(range.lowerBound)
        while position < range.upperBound {
            // To the end of the last page, or it would stay in memory.
            let step = min(range.upperBound, position + Self.writebackStep)
            let pages = (step + ZipLayout.alignment - 1) / ZipLayout.alignment * ZipLayout.alignment - position
            guard carchive_wait_for_writeback(descriptor, position, pages) == 0 else {
                if [ENOSYS, EINVAL, ESPIPE].contains(errno) { return false }
                throw .writing(errno)
            }
            _ = posix_fadvise(descriptor, off_t(position), off_t(pages), POSIX_FADV_DONTNEED)
            position = step
            if cancelled() { throw .cancelled }
        }
        // A hint too. Several threads read this file at several places, which the system's own guess cannot follow.
        let length = min(range.upperBound - range.lowerBound, 2 * Self.writebackStep)
        _ = posix_fadvise(descriptor, off_t(range.lowerBound), off_t(length), POSIX_FADV_WILLNEED)
        return true
    }

    private func read(_ unread: CopiedEntry.Part, of copied: CopiedEntry, cancelled: () -> Bool) throws(ZipError) {
        let lane = CopyLane.take()
        defer { lane.give() }
        var position = layout.places[copied.index].data + unread.offset
        let end = position + unread.fingerprint.size
        while position < end {
            if cancelled() { throw .cancelled }
            let wanted = Int(min(end - position, Int64(CopyLane.capacity)))
            let part = try lane.read(OpenFile(descriptor), at: position, atMost: wanted)
            if part.isEmpty { break }
            lane.fingerprint.update(part)
            position += Int64(part.count)
        }
        guard lane.fingerprint.finish() == unread.fingerprint else {
            throw .readBackDiffers(entry: layout.entries[copied.index].name)
        }
    }

    /// Marks an entry whose bytes were put at their place by other means (a shared block, a hole) as written.
    package func adoptEntry(_ index: Int, crc32: UInt32) throws(ZipError) {
        try claiming(index) { () throws(ZipError) -> ContentDigest in
            try writeHeader(index, crc32: crc32)
            return ContentDigest(size: layout.entries[index].size, sha256: .zero, crc32: crc32)
        }
    }

    /// Writes the central directory and the end records, and cuts off what lay behind them.
    /// - Throws: `.unwritten` while entries are missing; `.diskFull`, `.writeFailed`.
    public func finish() throws(ZipError) {
        let progress = progress.withLock { $0 }
        var checksums: [UInt32] = []
        checksums.reserveCapacity(progress.count)
        for case .written(let crc32) in progress { checksums.append(crc32) }
        if checksums.count < progress.count {
            let first = progress.firstIndex { if case .written = $0 { false } else { true } } ?? 0
            throw .unwritten(entry: layout.entries[first].name, count: progress.count - checksums.count)
        }
        var position = layout.directoryOffset
        var pending: [UInt8] = []
        for (index, entry) in layout.entries.enumerated() {
            pending += ZipRecords.centralHeader(entry, place: layout.places[index], crc32: checksums[index])
            if pending.count >= CopyLane.capacity {
                try write(pending, at: position)
                position += Int64(pending.count)
                pending.removeAll(keepingCapacity: true)
            }
        }
        let size = position + Int64(pending.count) - layout.directoryOffset
        pending += ZipRecords.end(
            count: layout.entries.count, directoryOffset: layout.directoryOffset, directorySize: size)
        try write(pending, at: position)
        guard ftruncate(descriptor, off_t(layout.totalSize)) == 0 else { throw .writing(errno) }
    }

    /// Runs `body`, which writes an entry with its header, where nobody else does.
    @discardableResult
    private func claiming(
        _ index: Int, _ body: () throws(ZipError) -> ContentDigest
    ) throws(ZipError) -> ContentDigest {
        let entry = layout.entries[index]
        let isOurs = progress.withLock { progress in
            guard progress[index] == .untouched else { return false }
            progress[index] = .inWork
            return true
        }
        guard isOurs else { throw .writtenTwice(entry: entry.name) }
        do throws(ZipError) {
            let digest = try body()
            progress.withLock { $0[index] = .written(crc32: digest.crc32) }
            return digest
        } catch {
            progress.withLock { $0[index] = .untouched }
            throw error
        }
    }

    private func writeHeader(_ index: Int, crc32: UInt32) throws(ZipError) {
        let place = layout.places[index]
        try write(ZipRecords.localHeader(layout.entries[index], place: place, crc32: crc32), at: place.header)
    }

    private func write(_ bytes: [UInt8], at position: Int64) throws(ZipError) {
        try bytes.span.bytes.withUnsafeBytes { bytes throws(ZipError) in
            try DescriptorIO.write(descriptor, bytes, at: position)
        }
    }
}

/// What was read back from the disk.
package struct ReadBack: Sendable {
    package var entries: [CopiedEntry] = []
    /// Whole pages of the file, headers included.
    package var ranges: [Range<Int64>] = []
}

/// An entry whose bytes were given to the archive's file.
package struct CopiedEntry: Sendable {
    /// Bytes of the entry from an offset to its end.
    struct Part: Sendable {
        let offset: Int64
        let fingerprint: Fingerprint
    }

    /// Its place in the layout.
    package let index: Int
    package let digest: ContentDigest
    /// What has not been read from the disk since it was written; nil where all has.
    let unread: Part?
}
