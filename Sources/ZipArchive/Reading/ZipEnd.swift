/// What the end of the file says about where the central directory is.
struct ZipEnd: Sendable {
    /// Entries, as declared.
    let count: UInt64
    /// Of the central directory, from the start of the file, in bytes.
    let directory: Range<Int64>
    /// Bytes before the archive (a self-extractor, a picture): every offset in the archive counts from here.
    let prefix: Int64

    private static let endSize = 22
    private static let locatorSize = 20
    private static let zip64Size = 56
    private static let longestComment = 0xFFFF

    /// Finds the end record and its ZIP64 form.
    ///
    /// The rule is strict, because every leniency is a place where two readers see two archives: the comment must
    /// reach exactly to the end of the file, and the directory must end where the end records begin.
    static func find(in descriptor: Int32) throws(ZipError) -> ZipEnd {
        let fileSize = try DescriptorIO.size(descriptor)
        let wanted = Int(min(fileSize, Int64(longestComment + endSize + locatorSize + zip64Size)))
        let tailStart = fileSize - Int64(wanted)
        let tail = try ZipDirectory.bytes(of: descriptor, tailStart..<fileSize)
        let view = RecordView(tail[...])

        let candidates = endCandidates(in: tail)
        guard let end = candidates.first else { throw .unusableArchive(.endNotFound) }
        guard candidates.count == 1, !hasSignature(in: tail, behind: end) else { throw .unusableArchive(.endAmbiguous) }
        guard let disk = view.u16(end + 4), let directoryDisk = view.u16(end + 6),
            let diskCount = view.u16(end + 8), let count = view.u16(end + 10),
            let size = view.u32(end + 12), let offset = view.u32(end + 16)
        else { throw .unusableArchive(.endNotFound) }

        let short = Values(
            disk: UInt32(disk), directoryDisk: UInt32(directoryDisk), diskCount: UInt64(diskCount),
            count: UInt64(count), size: UInt64(size), offset: UInt64(offset))
        guard view.u32(end - locatorSize) == 0x0706_4B50, end >= locatorSize else {
            return try short.end(directoryEnd: tailStart + Int64(end))
        }
        let locator = tailStart + Int64(end - locatorSize)
        guard let locatedDisk = view.u32(end - locatorSize + 4), let located = view.u64(end - locatorSize + 8),
            let disks = view.u32(end - locatorSize + 16)
        else { throw .unusableArchive(.zip64Disagrees) }
        guard locatedDisk == 0, disks == 1 else { throw .unusableArchive(.severalDisks) }
        let (position, long) = try zip64Values(in: descriptor, before: locator)
        guard short.allow(long) else { throw .unusableArchive(.zip64Disagrees) }
        let result = try long.end(directoryEnd: position)
        guard UInt64(position - result.prefix) == located else { throw .unusableArchive(.zip64Disagrees) }
        return result
    }

    /// Offsets in `tail` of end records whose comment ends where the file ends.
    private static func endCandidates(in tail: [UInt8]) -> [Int] {
        guard tail.count >= endSize else { return [] }
        let view = RecordView(tail[...])
        return (0...tail.count - endSize).filter { offset in
            tail[offset] == 0x50 && view.u32(offset) == 0x0605_4B50
                && view.u16(offset + 20).map { Int($0) } == tail.count - endSize - offset
        }
    }

    /// Whether the comment could be taken for an end record by those who look for the last one (Python, unzip).
    private static func hasSignature(in tail: [UInt8], behind end: Int) -> Bool {
        let view = RecordView(tail[...])
        // Without a comment nobody looks on.
        guard end + endSize < tail.count else { return false }
        return (end + 1..<tail.count).contains { tail[$0] == 0x50 && view.u32($0) == 0x0605_4B50 }
    }

    /// Reads the ZIP64 record that ends where its locator begins. The format lets more data follow in it; what looks
    /// for the record there, as Python does, would find none.
    private static func zip64Values(in descriptor: Int32, before locator: Int64) throws(ZipError) -> (Int64, Values) {
        let position = locator - Int64(zip64Size)
        guard position >= 0 else { throw .unusableArchive(.zip64Disagrees) }
        let record = try ZipDirectory.bytes(of: descriptor, position..<locator)
        let view = RecordView(record[...])
        guard view.u32(0) == 0x0606_4B50, view.u64(4) == UInt64(zip64Size - 12),
            let disk = view.u32(16), let directoryDisk = view.u32(20), let diskCount = view.u64(24),
            let count = view.u64(32), let size = view.u64(40), let offset = view.u64(48)
        else { throw .unusableArchive(.zip64Disagrees) }
        let values = Values(
            disk: disk, directoryDisk: directoryDisk, diskCount: diskCount, count: count, size: size, offset: offset)
        return (position, values)
    }

    /// The fields that both forms of the record have.
    private struct Values {
        let disk: UInt32
        let directoryDisk: UInt32
        let diskCount: UInt64
        let count: UInt64
        let size: UInt64
        let offset: UInt64

        /// Whether the short record either leaves each field to the long one or says the same. Of the two counts it
        /// leaves both or none.
        func allow(_ long: Values) -> Bool {
            (diskCount == 0xFFFF) == (count == 0xFFFF) && (disk == 0xFFFF || disk == long.disk)
                && (directoryDisk == 0xFFFF || directoryDisk == long.directoryDisk)
                && (diskCount == 0xFFFF || diskCount == long.diskCount) && (count == 0xFFFF || count == long.count)
                && (size == 0xFFFF_FFFF || size == long.size) && (offset == 0xFFFF_FFFF || offset == long.offset)
        }

        func end(directoryEnd: Int64) throws(ZipError) -> ZipEnd {
            guard disk == 0, directoryDisk == 0, diskCount == count else { throw .unusableArchive(.severalDisks) }
            guard size <= UInt64(directoryEnd), offset <= UInt64(directoryEnd) - size else {
                throw .unusableArchive(.directoryMisplaced)
            }
            let start = directoryEnd - Int64(size)
            return ZipEnd(count: count, directory: start..<directoryEnd, prefix: start - Int64(offset))
        }
    }
}
