import Scratch

/// The entries of an archive, in the order of its central directory.
///
/// They do not have to fit into memory: where the reader has a folder for that, they lie in a file there once they are many, and
/// half a byte is left of each. Reading them may fail with that file, so that they are no `Collection`. Any number of threads may
/// read at once.
public struct ZipEntries: Sendable {
    let records: SpooledList<EntryRecord>

    init(records: SpooledList<EntryRecord>) { self.records = records }

    /// Entries of which nobody knows whether the writer would have made them so.
    init(_ entries: some Sequence<ZipEntry>, in scratch: Scratch) throws(ZipError) {
        var spooler = SpooledList<EntryRecord>.Spooler(in: scratch)
        records = try ZipError.scratch {
            for entry in entries { try spooler.append(EntryRecord(entry: entry, form: .other)) }
            return try spooler.finish()
        }
    }

    public var count: Int { records.count }
    public var isEmpty: Bool { records.isEmpty }
    public var indices: Range<Int> { 0..<records.count }

    /// - Throws: `.scratchFailed`.
    public subscript(index: Int) -> ZipEntry {
        get throws(ZipError) { try record(at: index).entry }
    }

    func record(at index: Int) throws(ZipError) -> EntryRecord {
        try ZipError.scratch { try records.element(at: index) }
    }

    /// Each in order.
    /// - Throws: `.scratchFailed`, and what `body` throws.
    public func forEach(_ body: (ZipEntry) throws(ZipError) -> Void) throws(ZipError) {
        try ZipError.scratch { try records.forEach { try body($0.entry) } }
    }

    /// What is made of each, in memory: for archives of few entries.
    /// - Throws: `.scratchFailed`, and what `transform` throws.
    public func map<Value>(_ transform: (ZipEntry) throws(ZipError) -> Value) throws(ZipError) -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(count)
        try forEach { entry throws(ZipError) in values.append(try transform(entry)) }
        return values
    }

    /// - Throws: `.scratchFailed`.
    public func allSatisfy(_ predicate: (ZipEntry) -> Bool) throws(ZipError) -> Bool {
        var isTrue = true
        try forEach { entry throws(ZipError) in isTrue = isTrue && predicate(entry) }
        return isTrue
    }

    /// The name of an entry that there is.
    func name(at index: Int) throws(ZipError) -> String { try self[index].name }

    /// Enters every name.
    /// - Returns: the names, and the later entries under a name that was there before: which of the two is meant cannot be known.
    func takeNames() throws(ZipError) -> (names: TakenNames, refusals: [ZipRefusal]) {
        var names = TakenNames(capacity: count)
        var refusals: [ZipRefusal] = []
        try forEach { entry throws(ZipError) in
            guard let other = try names.take(entry.name, index: entry.index, nameAt: name(at:)) else { return }
            let problem = EntryProblem.nameTaken(by: try name(at: other))
            refusals.append(ZipRefusal(entry: entry.index, name: entry.name, problem: problem))
        }
        return (names, refusals)
    }
}

/// What is kept of an entry.
struct EntryRecord: Sendable {
    let entry: ZipEntry
    /// Whether its record in the directory is what the writer would have made it.
    let form: WrittenForm
}

extension EntryRecord: Codable {
    private enum Key: CodingKey {
        case index, name, traits, flags, size, compressedSize, crc32, modified, headerOffset, rawName
    }

    /// A folder, and the form, in one number; the method above.
    private var traits: Int {
        (entry.isFolder ? 1 : 0) | form.rawValue << 1 | Int(entry.method) << 8
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(entry.index, forKey: .index)
        try values.encode(entry.name, forKey: .name)
        try values.encode(traits, forKey: .traits)
        try values.encode(Int(entry.flags), forKey: .flags)
        try values.encode(entry.size, forKey: .size)
        // Most are stored.
        try values.encode(entry.compressedSize &- entry.size, forKey: .compressedSize)
        try values.encode(Int(entry.crc32), forKey: .crc32)
        try values.encodeIfPresent(entry.modified, forKey: .modified)
        try values.encode(entry.headerOffset, forKey: .headerOffset)
        try values.encodeIfPresent(entry.rawName, forKey: .rawName)
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        let index = try values.decode(Int.self, forKey: .index)
        let name = try values.decode(String.self, forKey: .name)
        let traits = try values.decode(Int.self, forKey: .traits)
        let flags = try values.decode(Int.self, forKey: .flags)
        let size = try values.decode(Int64.self, forKey: .size)
        let compressed = try values.decode(Int64.self, forKey: .compressedSize)
        let crc32 = try values.decode(Int.self, forKey: .crc32)
        let modified = try values.decodeIfPresent(Int64.self, forKey: .modified)
        let headerOffset = try values.decode(Int64.self, forKey: .headerOffset)
        let rawName = try values.decodeIfPresent([UInt8].self, forKey: .rawName)
        entry = ZipEntry(
            index: index, name: name, isFolder: traits & 1 != 0, method: UInt16(truncatingIfNeeded: traits >> 8),
            size: size, compressedSize: compressed &+ size, crc32: UInt32(truncatingIfNeeded: crc32),
            modified: modified, flags: UInt16(truncatingIfNeeded: flags), headerOffset: headerOffset, rawName: rawName)
        form = WrittenForm(rawValue: traits >> 1 & 3) ?? .other
    }
}

/// Where the bytes of entries begin in the archive's file, and where they end with what belongs to them: nine bytes for each entry.
struct DataPlaces: Sendable {
    private let records: ScratchRecords

    /// One entry's.
    struct Place: Sendable {
        /// Of the entry's first byte, from the start of the file; -1 where it has no usable header.
        let data: Int64
        /// Bytes of the data descriptor behind the entry's; nil where only its header counts, since its bytes are refused anyway.
        var descriptor: Int? = 0
    }

    private static let size = 9

    init(in scratch: Scratch) { records = ScratchRecords(of: Self.size, in: scratch) }

    /// - Parameter index: of the first.
    func put(_ places: some Sequence<Place>, at index: Int) throws(ZipError) {
        var bytes = RecordBytes()
        for place in places {
            bytes.append(place.data)
            bytes.append(place.descriptor.map { UInt8($0) } ?? .max)
        }
        try ZipError.scratch { try bytes.bytes.withUnsafeBytes { try records.write($0, at: index) } }
    }

    subscript(index: Int) -> Place {
        get throws(ZipError) {
            try ZipError.scratch {
                try withUnsafeTemporaryAllocation(byteCount: Self.size, alignment: 8) { bytes in
                    try records.read(into: bytes, at: index)
                    let descriptor = bytes[Self.size - 1]
                    return Place(
                        data: Int64(littleEndian: bytes.load(as: Int64.self)),
                        descriptor: descriptor == .max ? nil : Int(descriptor))
                }
            }
        }
    }
}
