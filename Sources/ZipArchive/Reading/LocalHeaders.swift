import Executors

/// Compares every local header with the central directory and finds where the data is.
///
/// A streaming reader goes by these headers, we by the directory: an archive in which they differ is two archives
/// in one, and whoever checked the other one has checked nothing.
struct LocalHeaders {
    let places: DataPlaces
    private(set) var refusals: [ZipRefusal] = []
    /// Of entries whose header was not read, because it is known as it was written.
    let proven: EntryTable<ContentDigest>
    private(set) var form = WriterForm()

    /// Entries whose headers are looked at before what was found is taken.
    private static let portion = 4096

    /// - Throws: `.unusableArchive` where entries overlap, or together declare more than the limits.
    init(
        _ directory: ZipDirectory, descriptor: Int32, limits: ZipLimits, proven: ProvenEntries? = nil
    ) throws(ZipError) {
        let entries = directory.entries
        let refused = Set(directory.refusals)
        var unreadable: EntrySet = []
        for refusal in directory.refusals where refusal.problem.hindersReading { unreadable.insert(refusal.entry) }
        // Shared with whoever has proven them, unless the directory says something else.
        self.proven = proven?.digests.copy() ?? EntryTable()
        places = DataPlaces(in: directory.scratch)
        var extents = Extents()
        var totals = Totals(limits)
        var records: [EntryRecord] = []
        var found: [DataPlaces.Place] = []
        func take() throws(ZipError) {
            found.removeAll(keepingCapacity: true)
            try concurrently(records) { [unreadable] record throws(ZipError) -> Found in
                try Self.find(
                    record, in: directory, descriptor: descriptor,
                    isRefused: unreadable.contains(record.entry.index), proven)
            } take: { header throws(ZipError) in
                let entry = header.entry
                if !header.isProven { self.proven.forget(entry.index) }
                // What both headers have is one problem.
                refusals += header.problems.map { ZipRefusal(entry: entry.index, name: entry.name, problem: $0) }
                    .filter { !refused.contains($0) }
                if header.problems.contains(where: \.hindersReading) { unreadable.insert(entry.index) }
                let isUnreadable = unreadable.contains(entry.index)
                if !isUnreadable { totals.add(entry) }
                guard let data = header.data else {
                    found.append(DataPlaces.Place(data: -1))
                    form.miss(entry)
                    return
                }
                let place = DataPlaces.Place(data: data, descriptor: isUnreadable ? nil : header.descriptor)
                found.append(place)
                extents.take(Extent(entry, place))
                form.take(entry, isAsWritten: header.isAsWritten, end: place.end(of: entry))
            }
            if let first = records.first { try places.put(found, at: first.entry.index) }
            records.removeAll(keepingCapacity: true)
        }
        try ZipError.scratch {
            try entries.records.forEach { record in
                records.append(record)
                if records.count == Self.portion { try take() }
            }
        }
        try take()
        let end = directory.end.directory.upperBound
        form.takeEnd(
            directory.end, try ZipDirectory.bytes(of: descriptor, end..<max(end, DescriptorIO.size(descriptor))))
        if !extents.areApart { try Self.checkOverlaps(entries, places) }
        try totals.check()
    }

    /// What one entry's local header says.
    private struct Found {
        let entry: ZipEntry
        var isProven = false
        /// Of the entry's first byte; nil where it has no usable header.
        var data: Int64?
        /// Bytes of the data descriptor behind the entry's.
        var descriptor = 0
        var problems: [EntryProblem] = []
        var isAsWritten = false
    }

    /// - Parameter isRefused: as of `check`.
    private static func find(
        _ record: EntryRecord, in directory: ZipDirectory, descriptor: Int32, isRefused: Bool,
        _ proven: ProvenEntries?
    ) throws(ZipError) -> Found {
        let entry = record.entry
        var found = Found(entry: entry)
        if !isRefused, let known = try proven?.dataOffset(of: entry) {
            (found.isProven, found.data) = (true, known)
            found.isAsWritten = record.form != .other
            return found
        }
        let header: LocalHeader?
        (header, found.problems) = try check(
            entry, before: directory.end.directory.lowerBound, descriptor: descriptor, isRefused: isRefused)
        guard let header else { return found }
        found.data = header.data
        if !isRefused, !found.problems.contains(where: \.hindersReading),
            !found.problems.contains(.dataDescriptorWrong), entry.flags & EntryFlags.dataDescriptor != 0
        {
            let behind = header.data + entry.compressedSize..<directory.end.directory.lowerBound
            if let length = try DataDescriptor.length(of: entry, in: behind, of: descriptor) {
                found.descriptor = Int(length)
            } else {
                found.problems.append(.dataDescriptorWrong)
            }
        }
        found.isAsWritten = WriterForm.isAsWritten(entry, record.form, header: header.bytes)
        return found
    }

    /// The entry's local header, if it has one, and what that contradicts.
    /// - Parameters:
    ///   - limit: where headers and data end.
    ///   - isRefused: the directory alone has shown why the entry cannot be read; what else keeps readers from it is not said a
    ///     second time.
    static func check(
        _ entry: ZipEntry, before limit: Int64, descriptor: Int32, isRefused: Bool
    ) throws(ZipError) -> (header: LocalHeader?, problems: [EntryProblem]) {
        let header: LocalHeader
        switch try LocalHeader.read(descriptor, at: entry.headerOffset, before: limit) {
        case .missing: return (nil, [.localHeaderMissing])
        case .pastTheEnd: return (nil, [.pastTheEnd])
        case .header(let found): header = found
        }
        let extra = header.extra
        var problems: [EntryProblem] = []
        if !header.rawName.elementsEqual(entry.nameBytes) { problems.append(.localHeaderDisagrees(.name)) }
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

    /// - Throws: `.unusableArchive` where entries share bytes; `.scratchFailed`.
    private static func checkOverlaps(_ entries: ZipEntries, _ places: DataPlaces) throws(ZipError) {
        var extents: [Extent] = []
        try entries.forEach { entry throws(ZipError) in
            let place = try places[entry.index]
            if place.data >= 0 { extents.append(Extent(entry, place)) }
        }
        extents.sort { ($0.start, $0.entry) < ($1.start, $1.entry) }
        guard var furthest = extents.first else { return }
        for extent in extents.dropFirst() {
            guard extent.start >= furthest.end else {
                let pair = (try entries.name(at: extent.entry), try entries.name(at: furthest.entry))
                throw .unusableArchive(.overlap(entry: pair.0, other: pair.1))
            }
            furthest = extent
        }
    }
}

/// Header and data of one entry; the header alone where the data is refused anyway.
private struct Extent {
    let start: Int64
    let end: Int64
    let entry: Int

    init(_ entry: ZipEntry, _ place: DataPlaces.Place) {
        (start, end, self.entry) = (entry.headerOffset, place.end(of: entry), entry.index)
    }
}

/// Whether entries lie one behind the other, in the order of the directory, as almost every archive has them: then no two share
/// bytes, and nothing has to be sorted to know that.
private struct Extents {
    private(set) var areApart = true
    private var end = Int64.min

    mutating func take(_ extent: Extent) {
        if extent.start < end { areApart = false }
        end = extent.end
    }
}

extension DataPlaces.Place {
    /// Where the bytes end that are the entry's, its data descriptor with them.
    func end(of entry: ZipEntry) -> Int64 { descriptor.map { data + entry.compressedSize + Int64($0) } ?? data }
}

/// What entries declare together.
struct Totals {
    private let limits: ZipLimits
    private var total: Int64 = 0
    private var inflated: Int64 = 0
    private var compressed: Int64 = 0
    private var isTooMuch = false

    init(_ limits: ZipLimits) { self.limits = limits }

    mutating func add(_ entry: ZipEntry) {
        let (sum, overflow) = total.addingReportingOverflow(entry.size)
        isTooMuch = isTooMuch || overflow || sum > limits.maximumTotalBytes
        guard !isTooMuch else { return }
        total = sum
        if entry.method != ZipMethod.stored {
            inflated += entry.size
            let (sum, overflow) = compressed.addingReportingOverflow(entry.compressedSize)
            compressed = overflow ? .max : sum
        }
    }

    /// - Throws: `.unusableArchive` where that is more than the limits.
    func check() throws(ZipError) {
        if isTooMuch { throw .unusableArchive(.tooManyBytes(limit: limits.maximumTotalBytes)) }
        let (free, overflow) = limits.ratioFreeBytes.multipliedReportingOverflow(by: 8)
        if limits.growsTooMuch(compressed, to: inflated, free: overflow ? .max : free) {
            throw .unusableArchive(.inflatesTooMuch(ratio: limits.maximumRatio))
        }
    }
}
