import CArchive
import Files
import Foundation
import Scratch
import Synchronization

/// The file of an archive in the making. What is written to it is read back from the disk, and not from memory, which would
/// only prove what we remember.
///
/// Whole pages go past the page cache, both ways (O_DIRECT), and are compared at once. That takes a third less processor time
/// than to write them to the cache, wait for the disk, throw them out and read them again. What shares a page with a neighbour
/// goes through the cache, is remembered by its fingerprint, and read back when all is on the disk.
final class ArchiveFile: Sendable {
    static let page: Int64 = 4096

    static func pageStart(_ position: Int64) -> Int64 { position - position % page }
    static func pageEnd(_ position: Int64) -> Int64 { pageStart(position + page - 1) }

    /// Bytes after which the disk is set to work where they went to the page cache: it writes while we hash, and the caller's
    /// `fsync` finds little left to do. It also keeps a backup from filling memory with pages that the catalogue's own `fsync`
    /// would then have to wait behind. Of several writes together: of each small one for itself, the disk is asked more than
    /// it writes.
    private static let writebackStep: Int64 = 4 << 20

    /// What was written to the page cache since the disk was last set to work.
    private struct Unsent: Sendable {
        var start = Int64.max
        var end: Int64 = 0
        var bytes: Int64 = 0
    }

    /// A few bytes that have yet to be read back.
    private struct Seam: Sendable {
        let range: Range<Int64>
        let fingerprint: Fingerprint

        /// Of ``bytes``.
        static let size = 28

        init(range: Range<Int64>, fingerprint: Fingerprint) { (self.range, self.fingerprint) = (range, fingerprint) }

        /// - Parameter record: as ``bytes`` has it.
        init(_ record: UnsafeRawBufferPointer) {
            let start = record.loadUnaligned(as: Int64.self)
            range = start..<start + Int64(record.loadUnaligned(fromByteOffset: 24, as: UInt32.self))
            fingerprint = Fingerprint(
                size: range.upperBound - range.lowerBound,
                low: record.loadUnaligned(fromByteOffset: 8, as: UInt64.self),
                high: record.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
        }

        /// As it is kept.
        var bytes: [UInt8] {
            var record = RecordBytes()
            record.append(range.lowerBound)
            record.append(fingerprint.low)
            record.append(fingerprint.high)
            record.append(UInt32(range.upperBound - range.lowerBound))
            return record.bytes
        }

        /// The pages that they are in.
        var pages: Range<Int64> {
            ArchiveFile.pageStart(range.lowerBound)..<ArchiveFile.pageEnd(range.upperBound)
        }
    }

    private struct Seams: Sendable {
        /// That there are.
        var count = 0
        /// Of which nobody has read a portion.
        var next = 0
        /// What is left of a portion, by place in the file.
        var portion: ArraySlice<Seam> = []
    }

    /// Seams that are read back together, so that those in one page are read once. They come almost in the order of the file.
    private static let portion = 16 << 10

    let descriptor: Int32
    /// The same file; -1 where the file system knows no way past the page cache.
    private let direct: Int32
    private let isDirect: Atomic<Bool>
    private let layout: ZipLayout
    private let unsent = Mutex(Unsent())
    private let seams = Mutex(Seams())
    private let records: ScratchRecords

    init(_ descriptor: Int32, _ layout: ZipLayout, isDirect: Bool) {
        (self.descriptor, self.layout) = (descriptor, layout)
        records = ScratchRecords(of: Seam.size, in: layout.scratch)
        direct = isDirect ? carchive_open_direct(descriptor) : -1
        self.isDirect = Atomic(direct >= 0)
    }

    deinit { if direct >= 0 { close(direct) } }

    /// Writes bytes that lie in memory as they do in the file: their address is a multiple of 4,096 where their position is.
    /// - Parameters:
    ///   - room: for what is read back: aligned, and as long as `bytes`.
    ///   - cancelled: asked between writing and reading.
    /// - Returns: whether they were read back, or will have been once ``proveSeam(cancelled:)`` has returned false; false where
    ///   nobody knows what the disk has.
    /// - Throws: `.readBackDiffers`; `.readFailed`, `.writeFailed`, `.diskFull`, `.cancelled`.
    func write(
        _ bytes: UnsafeRawBufferPointer, at position: Int64, room: UnsafeMutableRawBufferPointer,
        cancelled: () -> Bool
    ) throws(ZipError) -> Bool {
        guard isDirect.load(ordering: .relaxed) else {
            try writeToCache(bytes, at: position)
            return false
        }
        let whole = Self.wholePages(in: position..<position + Int64(bytes.count))
        let (start, end) = (Int(whole.lowerBound - position), Int(whole.upperBound - position))
        try writeSeam(UnsafeRawBufferPointer(rebasing: bytes[..<start]), at: position)
        try writeSeam(UnsafeRawBufferPointer(rebasing: bytes[end...]), at: whole.upperBound)
        if whole.isEmpty { return true }
        let pages = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
        return try writePages(pages, at: whole.lowerBound, room: room, cancelled: cancelled)
    }

    /// The pages that a range shares with nothing; where there are none, its end.
    private static func wholePages(in range: Range<Int64>) -> Range<Int64> {
        let (start, end) = (pageEnd(range.lowerBound), pageStart(range.upperBound))
        return start < end ? start..<end : range.upperBound..<range.upperBound
    }

    private func writeSeam(_ bytes: UnsafeRawBufferPointer, at position: Int64) throws(ZipError) {
        guard !bytes.isEmpty else { return }
        try DescriptorIO.write(descriptor, bytes, at: position)
        let hasher = FingerprintHasher()
        hasher.update(bytes)
        let seam = Seam(range: position..<position + Int64(bytes.count), fingerprint: hasher.finish())
        // Written before anybody can be told that it is there.
        try seams.withLock { seams throws(ZipError) in
            try ZipError.scratch { try seam.bytes.withUnsafeBytes { try records.write($0, at: seams.count) } }
            seams.count += 1
        }
    }

    private func writePages(
        _ bytes: UnsafeRawBufferPointer, at position: Int64, room: UnsafeMutableRawBufferPointer, cancelled: () -> Bool
    ) throws(ZipError) -> Bool {
        do throws(ZipError) {
            try DescriptorIO.write(direct, bytes, at: position)
        } catch .writeFailed(EINVAL) {
            // Opened, and yet not possible: larger blocks, or a file system that passes on what another one can.
            isDirect.store(false, ordering: .relaxed)
            try writeToCache(bytes, at: position)
            return false
        }
        if cancelled() { throw .cancelled }
        let pages = position..<position + Int64(bytes.count)
        let found = UnsafeMutableRawBufferPointer(rebasing: room[..<bytes.count])
        guard let count = try readBack(pages, into: found) else { return false }
        guard count < bytes.count || memcmp(found.baseAddress!, bytes.baseAddress!, count) != 0 else { return true }
        let same = zip(found[..<count], bytes).prefix { $0 == $1 }.count
        throw .readBackDiffers(entry: try layout.name(at: position + Int64(same)))
    }

    private func writeToCache(_ bytes: UnsafeRawBufferPointer, at position: Int64) throws(ZipError) {
        try DescriptorIO.write(descriptor, bytes, at: position)
        let due = unsent.withLock { unsent -> Unsent? in
            unsent.start = min(unsent.start, position)
            unsent.end = max(unsent.end, position + Int64(bytes.count))
            unsent.bytes += Int64(bytes.count)
            guard unsent.bytes >= Self.writebackStep else { return nil }
            defer { unsent = Unsent() }
            return unsent
        }
        // Only a hint: `fsync` comes later and is what counts, so a failure here says nothing.
        if let due { _ = carchive_start_writeback(descriptor, due.start, due.end - due.start) }
    }

    /// Reads pages from the disk.
    /// - Returns: how many bytes came, fewer only at the end of the file; nil where the file system cannot say what the disk has.
    private func readBack(_ pages: Range<Int64>, into room: UnsafeMutableRawBufferPointer) throws(ZipError) -> Int? {
        let (start, length) = (off_t(pages.lowerBound), off_t(pages.upperBound - pages.lowerBound))
        // A file system may take what is to go past the page cache, and put it there.
        guard carchive_wait_for_writeback(descriptor, pages.lowerBound, Int64(length)) == 0 else {
            if [ENOSYS, EINVAL, ESPIPE].contains(errno) { return nil }
            throw .writing(errno)
        }
        _ = posix_fadvise(descriptor, start, length, POSIX_FADV_DONTNEED)
        while true {
            // Not until all is there: behind a part, or the end of the file, the position may be no page's.
            let count = pread(direct, room.baseAddress, Int(length), start)
            if count >= 0 { return count }
            if errno == EINVAL {
                isDirect.store(false, ordering: .relaxed)
                return nil
            }
            guard errno == EINTR else { throw .readFailed(errno: errno) }
        }
    }

    /// Reads back what shares its pages with neighbours: one page, or a few. To be called when all is written and durable, by one
    /// thread or several.
    /// - Returns: nil where nothing is left; otherwise whether it was read.
    /// - Throws: `.readBackDiffers`; `.readFailed`, `.writeFailed`, `.cancelled`.
    func proveSeam(cancelled: () -> Bool) throws(ZipError) -> Bool? {
        let (taken, pages) = try takeSeams()
        guard !taken.isEmpty else { return nil }
        if cancelled() { throw .cancelled }
        let lane = CopyLane.take()
        defer { lane.give() }
        let room = UnsafeMutableRawBufferPointer(rebasing: lane.buffer[..<Int(pages.upperBound - pages.lowerBound)])
        guard let count = try readBack(pages, into: room) else { return false }
        for seam in taken {
            let (start, end) = (seam.range.lowerBound - pages.lowerBound, seam.range.upperBound - pages.lowerBound)
            if end <= count { lane.fingerprint.update(UnsafeRawBufferPointer(rebasing: room[Int(start)..<Int(end)])) }
            guard lane.fingerprint.finish() == seam.fingerprint else {
                throw .readBackDiffers(entry: try layout.name(at: seam.range.lowerBound))
            }
        }
        return true
    }

    /// The next, and those that share its pages: what one entry ends with, and the header of the one behind it.
    private func takeSeams() throws(ZipError) -> (ArraySlice<Seam>, pages: Range<Int64>) {
        try seams.withLock { seams throws(ZipError) in
            if seams.portion.isEmpty {
                let count = min(Self.portion, seams.count - seams.next)
                seams.portion = try read(seams.next..<seams.next + count)[...]
                seams.next += count
            }
            guard let first = seams.portion.first else { return ([], 0..<0) }
            var pages = first.pages
            let taken = seams.portion.prefix { seam in
                let end = max(pages.upperBound, seam.pages.upperBound)
                guard seam.pages.lowerBound < pages.upperBound, end - pages.lowerBound <= CopyLane.capacity else {
                    return false
                }
                pages = pages.lowerBound..<end
                return true
            }
            seams.portion.removeFirst(taken.count)
            return (taken, pages)
        }
    }

    private func read(_ places: Range<Int>) throws(ZipError) -> [Seam] {
        if places.isEmpty { return [] }
        var bytes = [UInt8](repeating: 0, count: places.count * Seam.size)
        try ZipError.scratch { try bytes.withUnsafeMutableBytes { try records.read(into: $0, at: places.lowerBound) } }
        return bytes.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count, by: Seam.size).map { start in
                Seam(UnsafeRawBufferPointer(rebasing: bytes[start..<start + Seam.size]))
            }
        }.sorted { $0.range.lowerBound < $1.range.lowerBound }
    }
}
