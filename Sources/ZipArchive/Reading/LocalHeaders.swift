import Executors

/// Compares every local header with the central directory and finds where the data is.
///
/// A streaming reader goes by these headers, we by the directory: an archive in which they differ is two archives
/// in one, and whoever checked the other one has checked nothing.
struct LocalHeaders {
    /// Of each entry's first byte, from the start of the file; -1 where it has no usable header.
    private(set) var dataOffsets: [Int64] = []
    private(set) var refusals: [ZipRefusal] = []
    /// Of entries whose header was not read, because it is known as it was written.
    private(set) var proven = EntryTable<ContentDigest>()
    private(set) var form = WriterForm()

    /// - Throws: `.unusableArchive` where entries overlap, or together declare more than the limits.
    init(
        _ directory: ZipDirectory, descriptor: Int32, limits: ZipLimits, proven: ProvenEntries? = nil
    ) throws(ZipError) {
        let entries = directory.entries
        let refused = Set(directory.refusals)
        var unreadable = Set(directory.refusals.lazy.filter { $0.problem.hindersReading }.map(\.entry))
        var extents: [Extent] = []
        extents.reserveCapacity(entries.count)
        // Shared with whoever has proven them, unless the directory says something else.
        self.proven = proven?.digests ?? EntryTable()
        self.proven.keepFirst(entries.count)
        dataOffsets.reserveCapacity(entries.count)
        try concurrently(entries) { [unreadable] entry throws(ZipError) -> Found in
            try Self.find(
                entry, in: directory, descriptor: descriptor, isRefused: unreadable.contains(entry.index), proven)
        } take: { found throws(ZipError) in
            let entry = entries[found.entry]
            if !found.isProven, self.proven[entry.index] != nil { self.proven[entry.index] = nil }
            // What both headers have is one problem.
            refusals += found.problems.map { ZipRefusal(entry: entry.index, name: entry.name, problem: $0) }
                .filter { !refused.contains($0) }
            if found.problems.contains(where: \.hindersReading) { unreadable.insert(entry.index) }
            guard let data = found.data else {
                dataOffsets.append(-1)
                form.miss(entry)
                return
            }
            dataOffsets.append(data)
            let end = unreadable.contains(entry.index) ? data : data + found.length
            extents.append(Extent(start: entry.headerOffset, end: end, entry: entry.index))
            form.take(entry, isAsWritten: found.isAsWritten, end: end)
        }
        let end = directory.end.directory.upperBound
        form.takeEnd(
            directory.end, try ZipDirectory.bytes(of: descriptor, end..<max(end, DescriptorIO.size(descriptor))))
        try Self.checkOverlaps(&extents, entries)
        try Self.checkTotals(entries.lazy.filter { !unreadable.contains($0.index) }, limits)
    }

    /// What one entry's local header says.
    private struct Found {
        let entry: Int
        var isProven = false
        /// Of the entry's first byte; nil where it has no usable header.
        var data: Int64?
        /// Bytes that it takes, with a data descriptor behind them.
        var length: Int64 = 0
        var problems: [EntryProblem] = []
        var isAsWritten = false
    }

    /// - Parameter isRefused: as of `check`.
    private static func find(
        _ entry: ZipEntry, in directory: ZipDirectory, descriptor: Int32, isRefused: Bool, _ proven: ProvenEntries?
    ) throws(ZipError) -> Found {
        var found = Found(entry: entry.index, length: entry.compressedSize)
        let record = directory.record(of: entry)
        if !isRefused, let known = proven?.dataOffset(of: entry, rawName: directory.rawName(of: entry)) {
            (found.isProven, found.data) = (true, known)
            found.isAsWritten = WriterForm.isAsWritten(entry, record: record, header: nil)
            return found
        }
        let header: LocalHeader?
        (header, found.problems) = try check(entry, in: directory, descriptor: descriptor, isRefused: isRefused)
        guard let header else { return found }
        found.data = header.data
        if !isRefused, !found.problems.contains(where: \.hindersReading),
            !found.problems.contains(.dataDescriptorWrong), entry.flags & EntryFlags.dataDescriptor != 0
        {
            let behind = header.data + entry.compressedSize..<directory.end.directory.lowerBound
            if let length = try DataDescriptor.length(of: entry, in: behind, of: descriptor) {
                found.length += length
            } else {
                found.problems.append(.dataDescriptorWrong)
            }
        }
        found.isAsWritten = WriterForm.isAsWritten(entry, record: record, header: header.bytes)
        return found
    }

    /// The entry's local header, if it has one, and what that contradicts.
    /// - Parameter isRefused: the directory alone has shown why the entry cannot be read; what else keeps readers from
    ///   it is not said a second time.
    static func check(
        _ entry: ZipEntry, in directory: ZipDirectory, descriptor: Int32, isRefused: Bool
    ) throws(ZipError) -> (header: LocalHeader?, problems: [EntryProblem]) {
        let limit = directory.end.directory.lowerBound
        let header: LocalHeader
        switch try LocalHeader.read(descriptor, at: entry.headerOffset, before: limit) {
        case .missing: return (nil, [.localHeaderMissing])
        case .pastTheEnd: return (nil, [.pastTheEnd])
        case .header(let found): header = found
        }
        let extra = header.extra
        var problems: [EntryProblem] = []
        if header.rawName != directory.rawName(of: entry) { problems.append(.localHeaderDisagrees(.name)) }
        if header.method != entry.method { problems.append(.localHeaderDisagrees(.method)) }
        if !EntryFlags.agree(header.flags, entry.flags, method: entry.method) {
            problems.append(.localHeaderDisagrees(.flags))
        }
        if !isRefused {
            if (header.flags ^ entry.flags) & EntryFlags.dataDescriptor != 0 { problems.append(.dataDescriptorWrong) }
            if extra.isAES { problems.append(.encrypted) }
            if !ZipMethod.mayNeed(header.version) { problems.append(.versionUnsupported(header.version & 0xFF)) }
            if let damage = extra.damage { problems.append(EntryProblem(damage)) }
        }
        if extra.unicodePath != nil {
            let name = header.name
            if name.isBroken || !name.text.utf8.elementsEqual(entry.name.utf8) {
                problems.append(.localHeaderDisagrees(.name))
            }
        }
        // With a data descriptor the three may be left at zero; where they are given, they count.
        let mayBeZero = header.flags & EntryFlags.dataDescriptor != 0
        func agrees(_ local: UInt64, _ central: UInt64) -> Bool { local == central || (mayBeZero && local == 0) }
        if !agrees(UInt64(header.crc32), UInt64(entry.crc32)) { problems.append(.localHeaderDisagrees(.checksum)) }
        if extra.damage == nil && header.isShort || extra.isAmbiguous || !agrees(header.size, UInt64(entry.size)) {
            problems.append(.localHeaderDisagrees(.size))
        }
        if !agrees(header.compressedSize, UInt64(entry.compressedSize)) {
            problems.append(.localHeaderDisagrees(.compressedSize))
        }
        if entry.compressedSize > limit - header.data { problems.append(.pastTheEnd) }
        return (header, problems)
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

    static func checkTotals(_ entries: some Sequence<ZipEntry>, _ limits: ZipLimits) throws(ZipError) {
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
