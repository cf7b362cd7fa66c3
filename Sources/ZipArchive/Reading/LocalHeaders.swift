/// Compares every local header with the central directory and finds where the data is.
///
/// A streaming reader goes by these headers, we by the directory: an archive in which they differ is two archives
/// in one, and whoever checked the other one has checked nothing.
struct LocalHeaders {
    /// Of each entry's first byte, from the start of the file; -1 where it has no usable header.
    private(set) var dataOffsets: [Int64] = []
    private(set) var refusals: [ZipRefusal] = []
    /// Of entries whose header was not read, because it is known as it was written.
    private(set) var proven: [Int: ContentDigest] = [:]

    private static let fixedSize = 30
    /// Enough for a header without padding; a longer one is read again in full.
    private static let firstRead = 512

    /// - Throws: `.unusableArchive` where entries overlap, or together declare more than the limits.
    init(
        _ directory: ZipDirectory, descriptor: Int32, limits: ZipLimits, proven: ProvenEntries? = nil
    ) throws(ZipError) {
        let known = Set(directory.refusals)
        var unreadable = Set(directory.refusals.lazy.filter { $0.problem.hindersReading }.map(\.entry))
        var extents: [Extent] = []
        extents.reserveCapacity(directory.entries.count)
        dataOffsets.reserveCapacity(directory.entries.count)
        for entry in directory.entries {
            if !unreadable.contains(entry.index),
                let known = proven?.find(entry, rawName: directory.rawName(of: entry))
            {
                self.proven[entry.index] = known.digest
                dataOffsets.append(known.dataOffset)
                let end = known.dataOffset + entry.size
                extents.append(Extent(start: entry.headerOffset, end: end, entry: entry.index))
                continue
            }
            var (data, problems) = try Self.check(
                entry, in: directory, descriptor: descriptor, isRefused: unreadable.contains(entry.index))
            var length = entry.compressedSize
            if let data, !unreadable.contains(entry.index), !problems.contains(where: \.hindersReading),
                !problems.contains(.dataDescriptorWrong), entry.flags & EntryFlags.dataDescriptor != 0
            {
                let behind = data + length..<directory.end.directory.lowerBound
                if let found = try DataDescriptor.length(of: entry, in: behind, of: descriptor) {
                    length += found
                } else {
                    problems.append(.dataDescriptorWrong)
                }
            }
            // What both headers have is one problem.
            refusals += problems.map { ZipRefusal(entry: entry.index, name: entry.name, problem: $0) }
                .filter { !known.contains($0) }
            if problems.contains(where: \.hindersReading) { unreadable.insert(entry.index) }
            dataOffsets.append(data ?? -1)
            if let data {
                if unreadable.contains(entry.index) { length = 0 }
                extents.append(Extent(start: entry.headerOffset, end: data + length, entry: entry.index))
            }
        }
        try Self.checkOverlaps(&extents, directory.entries)
        try Self.checkTotals(directory.entries.lazy.filter { !unreadable.contains($0.index) }, limits)
    }

    /// Where the entry's data starts, if it has a local header, and what that header contradicts.
    /// - Parameter isRefused: the directory alone has shown why the entry cannot be read; what else keeps readers from
    ///   it is not said a second time.
    private static func check(
        _ entry: ZipEntry, in directory: ZipDirectory, descriptor: Int32, isRefused: Bool
    ) throws(ZipError) -> (data: Int64?, problems: [EntryProblem]) {
        let limit = directory.end.directory.lowerBound
        let start = entry.headerOffset
        guard start >= 0, start <= limit - Int64(fixedSize) else { return (nil, [.localHeaderMissing]) }
        var bytes = try ZipDirectory.bytes(of: descriptor, start..<min(limit, start + Int64(firstRead)))
        var view = RecordView(bytes[...])
        guard view.u32(0) == 0x0403_4B50, let nameLength = view.u16(26), let extraLength = view.u16(28) else {
            return (nil, [.localHeaderMissing])
        }
        let headerSize = fixedSize + Int(nameLength) + Int(extraLength)
        let data = start + Int64(headerSize)
        guard data <= limit else { return (nil, [.pastTheEnd]) }
        if headerSize > bytes.count {
            bytes = try ZipDirectory.bytes(of: descriptor, start..<data)
            view = RecordView(bytes[...])
        }
        guard let version = view.u16(4), let flags = view.u16(6), let method = view.u16(8), let crc32 = view.u32(14),
            let compressed = view.u32(18), let size = view.u32(22), let name = view.slice(fixedSize, Int(nameLength)),
            let rawExtra = view.slice(fixedSize + Int(nameLength), Int(extraLength))
        else { return (nil, [.localHeaderMissing]) }

        var problems: [EntryProblem] = []
        if name != directory.rawName(of: entry) { problems.append(.localHeaderDisagrees(.name)) }
        if method != entry.method { problems.append(.localHeaderDisagrees(.method)) }
        if !EntryFlags.agree(flags, entry.flags, method: entry.method) {
            problems.append(.localHeaderDisagrees(.flags))
        }
        let extra = ExtraFields(rawExtra)
        if !isRefused {
            if (flags ^ entry.flags) & EntryFlags.dataDescriptor != 0 { problems.append(.dataDescriptorWrong) }
            if extra.isAES { problems.append(.encrypted) }
            if !ZipMethod.mayNeed(version) { problems.append(.versionUnsupported(version & 0xFF)) }
            if let damage = extra.damage { problems.append(EntryProblem(damage)) }
        }
        if let path = extra.unicodePath {
            let text = NameText(name, isUTF8: flags & EntryFlags.utf8Name != 0, unicodePath: path)
            if text.isBroken || !text.text.utf8.elementsEqual(entry.name.utf8) {
                problems.append(.localHeaderDisagrees(.name))
            }
        }
        var wide = Zip64Values(extra.zip64)
        let wideSize = wide.value(size)
        let wideCompressed = wide.value(compressed)
        // With a data descriptor the three may be left at zero; where they are given, they count.
        let mayBeZero = flags & EntryFlags.dataDescriptor != 0
        func agrees(_ local: UInt64, _ central: UInt64) -> Bool { local == central || (mayBeZero && local == 0) }
        if !agrees(UInt64(crc32), UInt64(entry.crc32)) { problems.append(.localHeaderDisagrees(.checksum)) }
        if extra.damage == nil && wide.isShort || extra.isAmbiguous || !agrees(wideSize, UInt64(entry.size)) {
            problems.append(.localHeaderDisagrees(.size))
        }
        if !agrees(wideCompressed, UInt64(entry.compressedSize)) {
            problems.append(.localHeaderDisagrees(.compressedSize))
        }
        if entry.compressedSize > limit - data { problems.append(.pastTheEnd) }
        return (data, problems)
    }

    /// Header and data of one entry; the header alone where the data is refused anyway.
    private struct Extent {
        let start: Int64
        let end: Int64
        let entry: Int
    }

    private static func checkOverlaps(_ extents: inout [Extent], _ entries: [ZipEntry]) throws(ZipError) {
        extents.sort { ($0.start, $0.entry) < ($1.start, $1.entry) }
        guard var furthest = extents.first else { return }
        for extent in extents.dropFirst() {
            guard extent.start >= furthest.end else {
                let pair = (entries[extent.entry].name, entries[furthest.entry].name)
                throw .unusableArchive(.overlap(entry: pair.0, other: pair.1))
            }
            furthest = extent
        }
    }

    private static func checkTotals(_ entries: some Sequence<ZipEntry>, _ limits: ZipLimits) throws(ZipError) {
        var total: Int64 = 0
        var inflated: Int64 = 0
        var compressed: Int64 = 0
        for entry in entries {
            let (sum, overflow) = total.addingReportingOverflow(entry.size)
            guard !overflow, sum <= limits.maximumTotalBytes else {
                throw .unusableArchive(.tooManyBytes(limit: limits.maximumTotalBytes))
            }
            total = sum
            if entry.method != ZipMethod.stored {
                inflated += entry.size
                compressed += entry.compressedSize
            }
        }
        let (free, overflow) = limits.ratioFreeBytes.multipliedReportingOverflow(by: 8)
        if limits.growsTooMuch(compressed, to: inflated, free: overflow ? .max : free) {
            throw .unusableArchive(.inflatesTooMuch(ratio: limits.maximumRatio))
        }
    }
}
