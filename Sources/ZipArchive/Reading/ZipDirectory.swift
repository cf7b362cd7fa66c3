import Executors
import Foundation
import Scratch

/// The central directory, parsed and counted: the one description of an archive that we go by.
///
/// Our own parser, because libarchive lets local names win over the directory's and lets entries overlap (3.6.2).
/// Memory: eight bytes for each entry, and its name and some 30 bytes where the entries are kept in memory.
struct ZipDirectory: Sendable {
    let entries: ZipEntries
    let names: TakenNames
    let end: ZipEnd
    /// What the directory alone shows to be wrong, in its order.
    let refusals: [ZipRefusal]
    /// Where its entries are kept.
    let scratch: Scratch

    init(descriptor: Int32, limits: ZipLimits, scratch: Scratch = .memory) throws(ZipError) {
        end = try ZipEnd.find(in: descriptor)
        let size = end.directory.upperBound - end.directory.lowerBound
        guard end.count <= UInt64(limits.maximumEntries) else {
            throw .unusableArchive(.tooManyEntries(count: end.count, limit: limits.maximumEntries))
        }
        guard size <= Int64(limits.maximumDirectoryBytes) else {
            throw .unusableArchive(.directoryTooLarge(size: UInt64(size), limit: limits.maximumDirectoryBytes))
        }
        guard try DescriptorIO.size(descriptor) >= end.directory.upperBound else {
            throw .unusableArchive(.directoryMisplaced)
        }
        var spooler = SpooledList<EntryRecord>.Spooler(in: scratch)
        var refusals: [ZipRefusal] = []
        var window = Window(descriptor, end)
        while let records = try window.next() {
            try concurrently(records) { [end] place throws(ZipError) -> Parsed in
                try Parsed(place, prefix: end.prefix, limits)
            } take: { parsed throws(ZipError) in
                try ZipError.scratch { try spooler.append(parsed.record) }
                let entry = parsed.record.entry
                refusals += parsed.problems.map { ZipRefusal(entry: entry.index, name: entry.name, problem: $0) }
            }
        }
        try window.requireAll()
        entries = ZipEntries(records: try ZipError.scratch { try spooler.finish() })
        let taken = try entries.takeNames()
        names = taken.names
        self.refusals = refusals + taken.refusals
        self.scratch = scratch
    }

    /// A record, and where it is in the bytes that were read.
    private struct Place: Sendable {
        let bytes: [UInt8]
        let start: Int
        let index: Int
    }

    private struct Parsed: Sendable {
        let record: EntryRecord
        let problems: [EntryProblem]

        init(_ place: Place, prefix: Int64, _ limits: ZipLimits) throws(ZipError) {
            let record = try CentralRecord(place.bytes, at: place.start, index: place.index, prefix: prefix)
            let bytes = place.bytes[place.start..<place.start + record.size]
            self.record = EntryRecord(entry: record.entry, form: WriterForm.written(record.entry, record: bytes))
            problems = record.problems(limits)
        }
    }

    /// Reads the directory a part at a time, and finds where its records begin.
    private struct Window {
        /// Bytes that are read at once.
        private static let size = 1 << 20
        /// No record is longer: three lengths of 16 bits stand in it.
        private static let longestRecord = CentralRecord.fixedSize + 3 * 0xFFFF

        private let descriptor: Int32
        private let end: ZipEnd
        private var position: Int64
        private var count: UInt64 = 0

        init(_ descriptor: Int32, _ end: ZipEnd) {
            (self.descriptor, self.end) = (descriptor, end)
            position = end.directory.lowerBound
        }

        /// The next records, as far as their lengths tell where they are: one that is damaged is the last that counts.
        /// - Returns: nil where none is left, or more would be there than are declared.
        mutating func next() throws(ZipError) -> [Place]? {
            guard position < end.directory.upperBound, count < end.count else { return nil }
            let until = min(end.directory.upperBound, position + Int64(Self.size))
            let bytes = try ZipDirectory.bytes(of: descriptor, position..<until)
            guard bytes.count == Int(until - position) else { throw .unusableArchive(.directoryMisplaced) }
            let view = RecordView(bytes[...])
            let isLast = until == end.directory.upperBound
            var places: [Place] = []
            var start = 0
            while start < bytes.count, isLast || bytes.count - start >= Self.longestRecord, count < end.count {
                places.append(Place(bytes: bytes, start: start, index: Int(count)))
                count += 1
                guard let name = view.u16(start + 28), let extra = view.u16(start + 30),
                    let comment = view.u16(start + 32)
                else {
                    start = bytes.count
                    break
                }
                start += CentralRecord.fixedSize + Int(name) + Int(extra) + Int(comment)
            }
            position += Int64(start)
            return places
        }

        /// - Throws: where the directory has more records than are declared, or fewer.
        func requireAll() throws(ZipError) {
            let found = position < end.directory.upperBound ? count + 1 : count
            guard found == end.count else {
                throw .unusableArchive(.countDisagrees(declared: end.count, found: found))
            }
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
