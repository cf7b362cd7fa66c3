import Foundation

/// The entries of an archive whose directory is damaged, or disagrees with the headers.
///
/// Every entry is described twice, and either description is enough. What both say alike is believed as in any archive; of
/// what one of them says alone, only that of which the bytes have the checksum. Entries that the directory does not tell of,
/// as where there is none, are looked for by their headers, between those that were found. Nothing that is taken shares
/// bytes, and whoever has digests of its own still has to compare them: a file that is an archive itself, in a place where
/// no header tells of it, looks like entries.
///
/// Bounded: whatever looks like an entry and is none costs of a budget, four times the file's bytes. Once that is used up nothing
/// more is looked for.
struct EntrySalvage {
    /// An entry that is described well enough to be read.
    struct Found {
        var entry: ZipEntry
        let data: Int64
        /// What is wrong with it all the same.
        var problems: [EntryProblem]
        /// The one in the other description, where they differ.
        var otherName: String?
        /// Why one description of it does not count.
        var mended: EntryProblem?

        var end: Int64 { data + entry.compressedSize }
    }

    /// What the directory tells of, by its place in the file, and what was found between.
    private(set) var told: [Found] = []
    private(set) var searched: [Found] = []
    /// What the directory tells of and cannot be read: nothing says where its bytes are. Or it has none.
    private var lost: [Found] = []
    private let descriptor: Int32
    private let limits: ZipLimits
    private let directory: ZipDirectory?
    /// Where headers and data end.
    private let limit: Int64
    private let cancelled: () -> Bool
    /// Bytes that may still be read in vain.
    private var budget: Int64

    /// So much each try counts at least: there may be many for a few bytes each.
    private static let leastCost: Int64 = 4096
    /// A signature with nothing behind it that is a header: to read that may take as much, and to search on.
    private static let searchCost: Int64 = 32 << 10
    /// Bytes that are searched for a header at a time.
    private static let window: Int64 = 64 << 10

    /// - Parameter directory: nil where it cannot be used.
    /// - Throws: `.unusableArchive` where more is found than the limits allow; `.readFailed`, `.cancelled`.
    init(
        _ directory: ZipDirectory?, descriptor: Int32, limits: ZipLimits, cancelled: @escaping () -> Bool
    ) throws(ZipError) {
        let size = try DescriptorIO.size(descriptor)
        (self.directory, self.descriptor, self.limits, self.cancelled) = (directory, descriptor, limits, cancelled)
        limit = directory?.end.directory.lowerBound ?? size
        budget = 64 << 20 + min(size, .max / 8) * 4
        if let directory { try takeTold(by: directory) }
        var end: Int64 = 0
        for entry in told {
            try search(end..<max(end, entry.entry.headerOffset))
            end = entry.end
        }
        try search(end..<max(end, limit))
        var totals = Totals(limits)
        for found in told + searched { totals.add(found.entry) }
        try totals.check()
    }

    /// What was found, and behind that what was not, unless it is there under the same name. Of several under one name the first
    /// counts: one of which nothing is wrong, or else one that the directory tells of.
    var all: [Found] {
        let found = told.filter { $0.mended == nil } + told.filter { $0.mended != nil } + searched
        let names = Set(found.map(\.entry.name) + found.compactMap(\.otherName))
        return found + lost.filter { !names.contains($0.entry.name) }
    }

    // MARK: What the directory tells of

    /// An entry as the directory has it, and what its header says to that.
    private struct Record {
        let entry: ZipEntry
        /// What the directory alone shows to be wrong.
        let own: [EntryProblem]
        /// Of its first byte, where both say the same.
        let data: Int64?
        /// Why it cannot be read as it is told of.
        let problem: EntryProblem?
    }

    private mutating func takeTold(by directory: ZipDirectory) throws(ZipError) {
        // Which names are there twice is found out when they are mended.
        let refusals = Dictionary(grouping: directory.refusals, by: \.entry).mapValues { refusals in
            refusals.map(\.problem).filter { if case .nameTaken = $0 { false } else { true } }
        }
        var records: [Record] = []
        let entries = try directory.entries.map { $0 }
        for entry in entries.sorted(by: { ($0.headerOffset, $0.index) < ($1.headerOffset, $1.index) }) {
            if cancelled() { throw .cancelled }
            let own = refusals[entry.index] ?? []
            if let problem = own.first(where: \.hindersReading) {
                lost.append(Found(entry: entry, data: -1, problems: [problem]))
                continue
            }
            let (header, problems) = try LocalHeaders.check(
                entry, before: limit, descriptor: descriptor, isRefused: false)
            let problem = problems.first(where: \.hindersReading)
            records.append(Record(entry: entry, own: own, data: problem == nil ? header?.data : nil, problem: problem))
        }
        // Before the next entry that needs no proof, the others end.
        var limits = Array(repeating: limit, count: records.count)
        for place in records.indices.dropLast().reversed() {
            let next = records[place + 1]
            limits[place] = next.data == nil ? limits[place + 1] : next.entry.headerOffset
        }
        var end: Int64 = 0
        for (place, record) in records.enumerated() {
            if cancelled() { throw .cancelled }
            let next = place + 1 < records.count ? records[place + 1].entry.headerOffset : limit
            if let taken = try take(record, from: end, before: limits[place], next: next) {
                end = taken.end
                told.append(taken)
            }
        }
    }

    /// - Parameters:
    ///   - free: where the entry before it ends.
    ///   - next: where the next one is said to begin.
    private mutating func take(
        _ record: Record, from free: Int64, before limit: Int64, next: Int64
    ) throws(ZipError) -> Found? {
        let (entry, start) = (record.entry, record.entry.headerOffset)
        guard let problem = record.problem else {
            return record.data.flatMap { start >= free ? Found(entry: entry, data: $0, problems: record.own) : nil }
        }
        var header: LocalHeader?
        if start >= free,
            case .header(let there) = try LocalHeader.read(descriptor, at: start, before: limit, signed: false)
        {
            header = there
        }
        var candidates: [Found] = []
        if let header, let own = described(by: header, from: free, before: limit) { candidates.append(own) }
        // Its bytes end where the next header begins, whatever is wrong with the lengths in its own.
        for data in [header?.data, next - min(entry.compressedSize, next)] {
            guard let data, start >= free, data >= start, entry.compressedSize <= limit - data else { continue }
            candidates.append(Found(entry: entry, data: data, problems: record.own))
        }
        // No bytes have their checksum anywhere, which says nothing of the place.
        candidates.removeAll { $0.entry.compressedSize == 0 }
        for candidate in candidates.filter({ $0.problems.isEmpty }) + candidates.filter({ !$0.problems.isEmpty }) {
            guard try isWhole(candidate) else { continue }
            var taken = candidate
            taken.mended = problem
            let names = [entry.name, header?.name.text].compactMap { $0 }
            taken.otherName = names.first { $0 != candidate.entry.name && EntryName.problem(in: $0) == nil }
            return taken
        }
        let isEmpty = entry.size == 0 && entry.compressedSize == 0 && entry.crc32 == 0
        lost.append(
            isEmpty
                ? Found(entry: entry, data: 0, problems: record.own, mended: problem)
                : Found(entry: entry, data: -1, problems: [problem]))
        return nil
    }

    // MARK: What headers tell of

    /// Takes what headers describe in a range of which the directory tells nothing.
    private mutating func search(_ range: Range<Int64>) throws(ZipError) {
        var (position, isSigned) = (range.lowerBound, false)
        while position < range.upperBound, budget > 0 {
            if cancelled() { throw .cancelled }
            if let taken = try take(at: position, before: range.upperBound) {
                (position, isSigned) = (taken.end, false)
                let count = told.count + searched.count
                guard count < limits.maximumEntries else {
                    throw .unusableArchive(.tooManyEntries(count: UInt64(count) + 1, limit: limits.maximumEntries))
                }
                searched.append(taken)
            } else if let next = try nextHeader(in: position + 1..<range.upperBound) {
                if isSigned { budget -= Self.searchCost }
                (position, isSigned) = (next, true)
            } else {
                return
            }
        }
    }

    private mutating func take(at position: Int64, before limit: Int64) throws(ZipError) -> Found? {
        guard case .header(let header) = try LocalHeader.read(descriptor, at: position, before: limit),
            let candidate = described(by: header, from: position, before: limit)
        else { return nil }
        // Without a directory to hold it against, a record that begins where it ends says that its lengths are right. Its
        // bytes are read later, as those of every entry.
        if directory == nil, try isRecord(at: candidate.end) { return candidate }
        return try isWhole(candidate) ? candidate : nil
    }

    /// What a header says alone; nil where that is not enough.
    private func described(by header: LocalHeader, from free: Int64, before limit: Int64) -> Found? {
        // With a data descriptor nobody knows from the front where the bytes end.
        guard header.start >= free, header.flags & EntryFlags.dataDescriptor == 0, !header.isShort,
            !header.extra.isAmbiguous
        else { return nil }
        let record = CentralRecord(header)
        let problems = record.problems(limits)
        guard !problems.contains(where: \.hindersReading), record.entry.compressedSize <= limit - header.data else {
            return nil
        }
        return Found(entry: record.entry, data: header.data, problems: problems)
    }

    private static let records: Set<UInt32> = [LocalHeader.signature, 0x0201_4B50, 0x0606_4B50, 0x0605_4B50]

    private func isRecord(at position: Int64) throws(ZipError) -> Bool {
        let bytes = try ZipDirectory.bytes(of: descriptor, position..<position + 4)
        return RecordView(bytes[...]).u32(0).map(Self.records.contains) ?? false
    }

    /// The first place where a header might be.
    private func nextHeader(in range: Range<Int64>) throws(ZipError) -> Int64? {
        var start = range.lowerBound
        while start < range.upperBound {
            if cancelled() { throw .cancelled }
            let bytes = try ZipDirectory.bytes(of: descriptor, start..<min(range.upperBound, start + Self.window))
            let found = bytes.withUnsafeBytes { bytes in
                bytes.indices.dropLast(3).first { offset in
                    bytes[offset] == 0x50 && bytes[offset + 1] == 0x4B && bytes[offset + 2] == 3
                        && bytes[offset + 3] == 4
                }
            }
            if let found { return start + Int64(found) }
            guard Int64(bytes.count) == Self.window else { return nil }
            start += Self.window - 3
        }
        return nil
    }

    /// Whether the bytes have length and checksum.
    private mutating func isWhole(_ candidate: Found) throws(ZipError) -> Bool {
        guard budget > 0 else { return false }
        var read: Int64 = 0
        do throws(ZipError) {
            let reader = try ZipReader(descriptor, [candidate])
            try reader.verify(0, cancelled: cancelled, progress: { read += Int64($0) })
            return true
        } catch .unusableEntry {
            budget -= max(read, Self.leastCost)
            return false
        }
    }
}
