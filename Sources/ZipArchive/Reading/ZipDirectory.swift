import Foundation

/// The central directory, parsed and counted: the one description of an archive that we go by.
///
/// Our own parser, because libarchive lets local names win over the directory's and lets entries overlap (3.6.2).
/// Memory: the directory's bytes (bounded by the limits) plus about 130 bytes and the name for each entry.
struct ZipDirectory: Sendable {
    let entries: [ZipEntry]
    let end: ZipEnd
    /// What the directory alone shows to be wrong, in its order.
    let refusals: [ZipRefusal]
    private let bytes: [UInt8]

    init(descriptor: Int32, limits: ZipLimits) throws(ZipError) {
        end = try ZipEnd.find(in: descriptor)
        let size = end.directory.upperBound - end.directory.lowerBound
        guard end.count <= UInt64(limits.maximumEntries) else {
            throw .unusableArchive(.tooManyEntries(count: end.count, limit: limits.maximumEntries))
        }
        guard size <= Int64(limits.maximumDirectoryBytes) else {
            throw .unusableArchive(.directoryTooLarge(size: UInt64(size), limit: limits.maximumDirectoryBytes))
        }
        bytes = try Self.bytes(of: descriptor, end.directory)
        guard bytes.count == Int(size) else { throw .unusableArchive(.directoryMisplaced) }

        var entries: [ZipEntry] = []
        entries.reserveCapacity(min(Int(end.count), bytes.count / CentralRecord.fixedSize))
        var refusals: [ZipRefusal] = []
        var offset = 0
        while offset < bytes.count {
            let index = entries.count
            guard UInt64(index) < end.count else {
                throw .unusableArchive(.countDisagrees(declared: end.count, found: UInt64(index) + 1))
            }
            let record = try CentralRecord(bytes, at: offset, index: index, prefix: end.prefix)
            entries.append(record.entry)
            refusals += record.problems(limits).map {
                ZipRefusal(entry: index, name: record.entry.name, problem: $0)
            }
            offset += record.size
        }
        guard UInt64(entries.count) == end.count else {
            throw .unusableArchive(.countDisagrees(declared: end.count, found: UInt64(entries.count)))
        }
        self.entries = entries
        self.refusals = refusals + Self.takenNames(entries)
    }

    /// The name of `entry` as it stands in the directory.
    func rawName(of entry: ZipEntry) -> ArraySlice<UInt8> { bytes[entry.rawName] }

    /// All bytes of the entry's record.
    func record(of entry: ZipEntry) -> ArraySlice<UInt8> {
        func start(_ entry: ZipEntry) -> Int { entry.rawName.lowerBound - CentralRecord.fixedSize }
        let next = entry.index + 1
        return bytes[start(entry)..<(next < entries.count ? start(entries[next]) : bytes.count)]
    }

    /// Later entries under a name that was there before: which of the two is meant cannot be known.
    static func takenNames(_ entries: [ZipEntry]) -> [ZipRefusal] {
        var taken = TakenNames(capacity: entries.count)
        return entries.compactMap { entry in
            guard let other = taken.take(entry.name, index: entry.index, nameAt: { entries[$0].name }) else {
                return nil
            }
            let problem = EntryProblem.nameTaken(by: entries[other].name)
            return ZipRefusal(entry: entry.index, name: entry.name, problem: problem)
        }
    }

    /// The bytes of a part of the file: fewer where the file has become shorter meanwhile.
    static func bytes(of descriptor: Int32, _ range: Range<Int64>) throws(ZipError) -> [UInt8] {
        var failure: ZipError?
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(range.upperBound - range.lowerBound)) { room, count in
            do throws(ZipError) {
                let wanted = UnsafeMutableRawBufferPointer(room)
                count = try DescriptorIO.read(descriptor, into: wanted, at: range.lowerBound)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }
}
