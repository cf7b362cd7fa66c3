import Files
import Foundation

/// Copies entries that stand one behind the other: headers and bytes are put together in memory as they will be in the file, and
/// written, and read back from the disk, in one go. Threads that write to one file wait for each other at each call, and a disk
/// takes as long for little as for much.
///
///     let run = EntryRun(4..<9, of: writer)
///     for index in run.entries { digests[index] = try run.copy(index, reading: photos[index]) }
///     let isProven = try run.finish()
///
/// For one thread at a time. What is not copied, or not finished, may be written again by another run.
package final class EntryRun {
    /// Bytes between two questions whether to go on. They stay in the second-level cache of one core, so that reading and
    /// hashing take each byte from memory once.
    private static let step = 256 << 10

    package let entries: Range<Int>
    private let writer: ZipWriter
    private let buffer: RunBuffer
    /// Of the buffer's first byte in the file: a multiple of the page.
    private var base: Int64
    /// Whether its bytes pass through the buffer in parts: then it has one entry.
    private let isStreamed: Bool
    private var copied: [Copied] = []

    private struct Copied {
        let index: Int
        let placed: ZipLayout.Placed
        let crc32: UInt32
    }

    /// Ranges of the file that need not be written.
    private var shared: [Range<Int64>] = []
    /// Whether the disk is known to have what was written so far.
    private var isProven = true

    /// - Parameter entries: as `ZipLayout.runs(of:)` has them, or a single one.
    /// - Throws: `.scratchFailed`.
    package init(_ entries: Range<Int>, of writer: ZipWriter) throws(ZipError) {
        let first = try writer.layout.placed(at: entries.lowerBound)
        let last = entries.count == 1 ? first : try writer.layout.placed(at: entries.upperBound - 1)
        (self.entries, self.writer) = (entries, writer)
        isStreamed = !ZipLayout.areShort(from: first, to: last)
        // What is large is aligned.
        base = isStreamed ? first.place.data : ArchiveFile.pageStart(first.header)
        buffer = writer.buffers.take()
    }

    deinit {
        for entry in copied { writer.giveUp(entry.index) }
        // After a failure some bytes of the last file are still in it.
        if buffer.hasher.size != 0 { _ = buffer.hasher.finish() }
        writer.buffers.give(buffer)
    }

    /// Reads the bytes of an entry. Each once, in the order of the archive; one that fails may be left out.
    ///
    /// - Parameters:
    ///   - cancelled: asked before each part.
    ///   - progress: called after each part with the bytes that it held.
    /// - Returns: the digest of what the entry will have.
    /// - Throws: `.sourceSizeDiffers` where the source has fewer or more bytes than the layout says; `.readFailed` for the
    ///   source; `.writtenTwice`, `.cancelled`. Of an entry that does not fit into memory, what ``finish(cancelled:)`` throws.
    package func copy(
        _ index: Int, reading source: some ByteSource, cancelled: () -> Bool = { false },
        progress: (Int) -> Void = { _ in }
    ) throws(ZipError) -> ContentDigest {
        let placed = try writer.layout.placed(at: index)
        let (start, size, name) = (placed.place.data, placed.entry.size, placed.entry.name)
        try writer.claim(index)
        do throws(ZipError) {
            var position = writer.share(placed, with: source)
            if position > 0 { position = try readShared(start, position, cancelled, progress) }
            // One byte more than there should be, to find out.
            while position <= size {
                if cancelled() { throw .cancelled }
                let room = try room(at: start + position, atMost: size + 1 - position, cancelled)
                let part = UnsafeRawBufferPointer(
                    rebasing: room[..<(try DescriptorIO.read(source, into: room, at: position))])
                buffer.hasher.update(part)
                position += Int64(part.count)
                if position <= size { progress(part.count) }
                if part.count < room.count { break }
            }
            guard position == size else { throw .sourceSizeDiffers(entry: name, expected: size) }
        } catch {
            _ = buffer.hasher.finish()
            writer.giveUp(index)
            throw error
        }
        let digest = buffer.hasher.finish()
        copied.append(Copied(index: index, placed: placed, crc32: digest.crc32))
        return digest
    }

    /// Hashes what the archive has of the entry already.
    private func readShared(
        _ start: Int64, _ size: Int64, _ cancelled: () -> Bool, _ progress: (Int) -> Void
    ) throws(ZipError) -> Int64 {
        shared.append(start..<start + size)
        var position: Int64 = 0
        while position < size {
            if cancelled() { throw .cancelled }
            let room = try room(at: start + position, atMost: size - position, cancelled)
            guard try DescriptorIO.read(writer.file.descriptor, into: room, at: start + position) == room.count else {
                throw .readFailed(errno: EIO)
            }
            buffer.hasher.update(UnsafeRawBufferPointer(room))
            position += Int64(room.count)
            progress(room.count)
        }
        return position
    }

    /// Where bytes go that will be at a position of the file. What is in front of it is written where the buffer is full.
    private func room(
        at position: Int64, atMost length: Int64, _ cancelled: () -> Bool
    ) throws(ZipError) -> UnsafeMutableRawBufferPointer {
        if position - base >= RunBuffer.capacity {
            try write(base..<position, cancelled)
            base = position
        }
        let offset = Int(position - base)
        return UnsafeMutableRawBufferPointer(
            rebasing: buffer.bytes[offset...].prefix(min(Self.step, Int(clamping: length))))
    }

    /// Writes what was copied, and reads it back.
    /// - Parameter cancelled: asked between writing and reading.
    /// - Returns: whether the disk is known to have it, or will be once ``ZipWriter/proveRest(cancelled:)`` has returned. False where
    ///   the file system knows no way to find out: then the entries have to be read once the archive is finished.
    /// - Throws: `.readBackDiffers`; `.readFailed`, `.writeFailed`, `.diskFull`, `.cancelled`.
    package func finish(cancelled: () -> Bool = { false }) throws(ZipError) -> Bool {
        if isStreamed, let entry = copied.first {
            try write(base..<entry.placed.extent.upperBound, cancelled)
            // It could not be written before its bytes were read.
            base = ArchiveFile.pageStart(entry.placed.header)
            try write(putHeader(entry), cancelled)
        } else {
            var written: Range<Int64>?
            for entry in copied {
                _ = putHeader(entry)
                let extent = entry.placed.extent
                if let before = written, before.upperBound < extent.lowerBound { try write(before, cancelled) }
                let isNext = written?.upperBound == extent.lowerBound
                written = (isNext ? written!.lowerBound : extent.lowerBound)..<extent.upperBound
            }
            if let written { try write(written, cancelled) }
        }
        for entry in copied { try writer.conclude(entry.index, crc32: entry.crc32) }
        copied = []
        return isProven
    }

    /// - Returns: where in the file it belongs.
    private func putHeader(_ entry: Copied) -> Range<Int64> {
        let place = entry.placed.place
        let header = ZipRecords.localHeader(entry.placed.entry, place: place, crc32: entry.crc32)
        let room = buffer.bytes[Int(place.header - base)..<Int(place.data - base)]
        UnsafeMutableRawBufferPointer(rebasing: room).copyBytes(from: header)
        return place.header..<place.data
    }

    /// Writes a range of the file that is in the buffer, without what is there already.
    private func write(_ range: Range<Int64>, _ cancelled: () -> Bool) throws(ZipError) {
        var left = range
        for there in shared where there.overlaps(left) {
            try writeAll(left.lowerBound..<max(left.lowerBound, there.lowerBound), cancelled)
            left = min(left.upperBound, there.upperBound)..<left.upperBound
        }
        try writeAll(left, cancelled)
    }

    private func writeAll(_ range: Range<Int64>, _ cancelled: () -> Bool) throws(ZipError) {
        guard !range.isEmpty else { return }
        let part = Int(range.lowerBound - base)..<Int(range.upperBound - base)
        let isKnown = try writer.file.write(
            UnsafeRawBufferPointer(rebasing: buffer.bytes[part]), at: range.lowerBound, room: buffer.readBack,
            cancelled: cancelled)
        isProven = isProven && isKnown
    }
}
