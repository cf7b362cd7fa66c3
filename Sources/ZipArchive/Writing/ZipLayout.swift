import Foundation
import Scratch

/// Where everything of an archive will be, known before its first byte is written.
///
/// All entries are stored, so all sizes are known, so all offsets are: that is what lets several threads write
/// different entries at once. Data of large entries starts at a multiple of 4,096 bytes, so that a copy-on-write
/// file system can share blocks; the gap is an extra field of the local header, in the form that Android's
/// zipalign uses (0xD935), which every reader skips.
public struct ZipLayout: Sendable {
    /// One file to be stored.
    public struct Entry: Sendable, Hashable {
        /// Relative path with `/` between components; UTF-8.
        public let name: String
        /// In bytes.
        public let size: Int64
        /// Milliseconds since 1970-01-01 UTC. Seconds reach the archive; DOS time, which all readers know, has
        /// even seconds from 1980 to 2107 and is written in UTC.
        public let modified: Int64

        public init(name: String, size: Int64, modified: Int64) {
            self.name = name
            self.size = size
            self.modified = modified
        }
    }

    /// Where one entry's parts are.
    struct Place: Sendable, Hashable {
        /// Of the local header, in bytes from the start of the file.
        let header: Int64
        /// Of the entry's first byte.
        let data: Int64
        /// Bytes of the padding extra field, its four header bytes included; 0 where there is none.
        let padding: Int
    }

    /// An entry, and where it is.
    struct Placed: Sendable, Hashable {
        let entry: Entry
        /// Of the local header, in bytes from the start of the file.
        let header: Int64

        var place: Place { ZipLayout.place(of: entry, at: header) }
        /// Of all bytes of the entry, its header included.
        var extent: Range<Int64> { header..<place.data + entry.size }
    }

    /// Entries smaller than this are packed tightly: aligning them costs more than sharing a block gains.
    public static let alignedFrom: Int64 = 64 << 10
    static let alignment: Int64 = 4096

    /// In the order of their bytes.
    let placed: SpooledList<Placed>
    /// Where the central directory starts: the bytes before it are headers and data.
    public let directoryOffset: Int64
    /// Size of the finished archive in bytes.
    public let totalSize: Int64
    /// Where it is kept what is known of the entries.
    package let scratch: Scratch

    /// Entries.
    public var count: Int { placed.count }

    /// - Throws: `.scratchFailed`.
    public func entry(at index: Int) throws(ZipError) -> Entry { try placed(at: index).entry }

    /// Where the bytes of the entry at `index` start in the file.
    /// - Throws: `.scratchFailed`.
    public func dataOffset(of index: Int) throws(ZipError) -> Int64 { try placed(at: index).place.data }

    func placed(at index: Int) throws(ZipError) -> Placed {
        try ZipError.scratch { try placed.element(at: index) }
    }

    /// Whether entries and their headers fit into one buffer, each with a byte behind it.
    static func areShort(from first: Placed, to last: Placed) -> Bool {
        last.extent.upperBound - ArchiveFile.pageStart(first.header) < Int64(RunBuffer.capacity)
    }

    /// Entries in portions that are best copied together: as many as fit into one buffer, where they stand one behind the other.
    /// - Parameter indices: ascending.
    /// - Throws: `.scratchFailed`.
    package func runs(of indices: some Sequence<Int>) throws(ZipError) -> EntryRuns {
        var runs = EntryRuns()
        var first: Placed?
        for index in indices {
            let next = try placed(at: index)
            if let start = first, runs.last?.upperBound == index, Self.areShort(from: start, to: next) {
                runs.extendLast()
            } else {
                runs.append(index)
                first = next
            }
        }
        return runs
    }

    /// The name of the entry whose header or bytes are at a position before the directory.
    func name(at position: Int64) throws(ZipError) -> String {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if try placed(at: middle).header <= position { low = middle + 1 } else { high = middle }
        }
        return try entry(at: max(0, low - 1)).name
    }

    /// - Throws: `.unusableName` for a name that `ZipReader` would refuse, `.unusableSize` for sizes below zero or
    ///   past 2^63 - 1 in total.
    public init(entries: some Sequence<Entry>) throws(ZipError) {
        var maker = Maker(in: .memory)
        for entry in entries { try maker.append(entry) }
        self = try maker.finish()
    }

    /// Makes a layout of entries that do not have to fit into memory.
    package struct Maker {
        private let scratch: Scratch
        private var spooler: SpooledList<Placed>.Spooler
        private var position: Int64 = 0
        private var directorySize: Int64 = 0

        /// - Parameter scratch: where it is kept what is known of the entries, also by those who write and read them.
        package init(in scratch: Scratch) {
            self.scratch = scratch
            spooler = SpooledList<Placed>.Spooler(in: scratch)
        }

        /// - Throws: `.unusableName`, `.unusableSize`; `.scratchFailed`.
        package mutating func append(_ entry: Entry) throws(ZipError) {
            try ZipLayout.check(entry)
            let placed = Placed(entry: entry, header: position)
            let place = placed.place
            // Half of Int64 leaves room for every header, so that nothing after this can overflow.
            let (end, overflow) = place.data.addingReportingOverflow(entry.size)
            guard !overflow, end < .max / 2 else { throw .unusableSize(entry: entry.name) }
            do {
                try spooler.append(placed)
            } catch {
                throw ZipError(scratch: error)
            }
            position = end
            directorySize += Int64(ZipRecords.centralHeaderSize(entry, place: place))
        }

        /// - Throws: `.unusableName` for one that another entry has already; `.scratchFailed`.
        package mutating func finish() throws(ZipError) -> ZipLayout {
            do {
                let layout = ZipLayout(
                    try spooler.finish(), scratch, directoryOffset: position, directorySize: directorySize)
                try layout.requireNames()
                return layout
            } catch {
                throw ZipError(scratch: error)
            }
        }
    }

    private init(
        _ placed: SpooledList<Placed>, _ scratch: Scratch, directoryOffset: Int64, directorySize: Int64
    ) {
        (self.placed, self.scratch, self.directoryOffset) = (placed, scratch, directoryOffset)
        totalSize =
            directoryOffset + directorySize
            + Int64(
                ZipRecords.endSize(
                    count: placed.count, directoryOffset: directoryOffset, directorySize: directorySize))
    }

    private func requireNames() throws {
        var taken = TakenNames(capacity: count)
        let nameAt = { (index: Int) throws(ZipError) in try self.entry(at: index).name }
        try placed.forEach { index, placed in
            if let other = try taken.take(placed.entry.name, index: index, nameAt: nameAt) {
                throw ZipError.unusableName(entry: placed.entry.name, problem: .nameTaken(by: try nameAt(other)))
            }
        }
    }

    /// Whether an entry can be in an archive, as far as that does not depend on the others.
    /// - Throws: `.unusableName`, `.unusableSize`.
    package static func check(_ entry: Entry) throws(ZipError) {
        if let problem = EntryName.problem(in: entry.name) ?? folderProblem(entry.name) {
            throw .unusableName(entry: entry.name, problem: problem)
        }
        guard entry.size >= 0 else { throw .unusableSize(entry: entry.name) }
    }

    /// - Parameter position: of its header; half of Int64 at most.
    static func place(of entry: Entry, at position: Int64) -> Place {
        let tight = position + Int64(ZipRecords.localHeaderSize(entry, padding: 0))
        let padding = entry.size >= alignedFrom ? Self.padding(after: tight) : 0
        return Place(header: position, data: tight + Int64(padding), padding: padding)
    }

    private static func folderProblem(_ name: String) -> EntryProblem? {
        name.utf8.last == UInt8(ascii: "/") ? .nameNotPlain : nil
    }

    /// Size of the extra field that moves data from `position` to the next multiple of the alignment.
    private static func padding(after position: Int64) -> Int {
        let gap = (alignment - position % alignment) % alignment
        if gap == 0 { return 0 }
        return Int(gap < ZipRecords.leastPadding ? gap + alignment : gap)
    }
}

extension ZipLayout.Placed: Codable {
    private enum Key: CodingKey { case name, size, modified, header }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(entry.name, forKey: .name)
        try values.encode(entry.size, forKey: .size)
        try values.encode(entry.modified, forKey: .modified)
        try values.encode(header, forKey: .header)
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        entry = ZipLayout.Entry(
            name: try values.decode(String.self, forKey: .name), size: try values.decode(Int64.self, forKey: .size),
            modified: try values.decode(Int64.self, forKey: .modified))
        header = try values.decode(Int64.self, forKey: .header)
    }
}
