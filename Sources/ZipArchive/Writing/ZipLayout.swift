import Foundation

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

    /// Entries smaller than this are packed tightly: aligning them costs more than sharing a block gains.
    public static let alignedFrom: Int64 = 64 << 10
    static let alignment: Int64 = 4096

    public let entries: [Entry]
    /// Where the central directory starts: the bytes before it are headers and data.
    public let directoryOffset: Int64
    /// Size of the finished archive in bytes.
    public let totalSize: Int64
    let places: [Place]

    /// Where the bytes of the entry at `index` start in the file.
    public func dataOffset(of index: Int) -> Int64 { places[index].data }

    /// Of all bytes of the entry at `index`, its header included.
    func extent(of index: Int) -> Range<Int64> {
        places[index].header..<places[index].data + entries[index].size
    }

    /// Whether entries and their headers fit into one buffer, each with a byte behind it.
    func isShort(_ run: Range<Int>) -> Bool {
        guard let last = run.last else { return true }
        let start = ArchiveFile.pageStart(places[run.lowerBound].header)
        return extent(of: last).upperBound - start < Int64(RunBuffer.capacity)
    }

    /// Entries in portions that are best copied together: as many as fit into one buffer, where they stand one behind the other.
    /// - Parameter indices: ascending.
    package func runs(of indices: [Int]) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        for index in indices {
            if let last = runs.last, last.upperBound == index, isShort(last.lowerBound..<index + 1) {
                runs[runs.count - 1] = last.lowerBound..<index + 1
            } else {
                runs.append(index..<index + 1)
            }
        }
        return runs
    }

    /// The name of the entry whose header or bytes are at a position before the directory.
    func name(at position: Int64) -> String {
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            if places[middle].header <= position { low = middle + 1 } else { high = middle }
        }
        return entries[max(0, low - 1)].name
    }

    /// - Throws: `.unusableName` for a name that `ZipReader` would refuse, `.unusableSize` for sizes below zero or
    ///   past 2^63 - 1 in total.
    public init(entries: [Entry]) throws(ZipError) {
        var places: [Place] = []
        places.reserveCapacity(entries.count)
        var taken = TakenNames(capacity: entries.count)
        var position: Int64 = 0
        var directorySize: Int64 = 0
        for (index, entry) in entries.enumerated() {
            try Self.check(entry)
            if let other = try taken.take(entry.name, index: index, nameAt: { entries[$0].name }) {
                throw .unusableName(entry: entry.name, problem: .nameTaken(by: entries[other].name))
            }
            let place = Self.place(of: entry, at: position)
            places.append(place)
            // Half of Int64 leaves room for every header, so that nothing after this can overflow.
            let (end, overflow) = place.data.addingReportingOverflow(entry.size)
            guard !overflow, end < .max / 2 else { throw .unusableSize(entry: entry.name) }
            position = end
            directorySize += Int64(ZipRecords.centralHeaderSize(entry, place: place))
        }
        self.entries = entries
        self.places = places
        directoryOffset = position
        totalSize =
            position + directorySize
            + Int64(ZipRecords.endSize(count: entries.count, directoryOffset: position, directorySize: directorySize))
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
