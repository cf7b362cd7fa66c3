import Files
import Foundation
import Scratch

/// Reads an archive that nobody vouches for.
///
/// Opening checks the structure without inflating anything: an archive whose parts contradict each other is
/// refused whole, an entry with a problem of its own is listed in `refusals` and the others may be taken. Length
/// and CRC-32 show only when an entry is read, so whoever needs certainty before the first file is written runs
/// a `ZipVerification` first.
///
/// Any number of threads may read different entries, or the same one, at once. The descriptor stays the caller's,
/// must stay open, and its position is neither used nor moved. Everything blocks: run it on a `BlockingPool`.
/// Memory: some ten bytes for each entry and a few hundred KiB for each read in work, where it has a folder for what it remembers of
/// the entries; without one also their names and some 50 bytes for each.
public final class ZipReader: Sendable {
    /// In the order of the central directory.
    public let entries: ZipEntries
    /// Bytes in the file before the archive (a self-extractor, a picture). Not every reader finds what is behind them.
    public let bytesInFront: Int64
    /// What is wrong with single entries, in no particular order; an entry may have several problems.
    public let refusals: [ZipRefusal]
    /// By which entries are found; a damaged archive may have a second name for one.
    private let names: TakenNames
    let otherNames: [String: Int]
    private let places: EntryPlaces
    private let offsets: DataPlaces
    /// Where it is kept what is known of the entries.
    let scratch: Scratch
    private let sharing = BlockSharing()
    private let problems: [Int: [EntryProblem]]
    /// Of entries that need not be read to be known.
    package let proven: EntryTable<ContentDigest>
    /// Nil where the archive had to be salvaged.
    package let form: WriterForm?
    /// Nil where nothing had to be salvaged.
    package let salvage: Salvage?

    /// - Throws: `.unusableArchive`, `.readFailed`.
    public convenience init(descriptor: Int32, limits: ZipLimits = ZipLimits()) throws(ZipError) {
        try self.init(descriptor: descriptor, limits: limits, proven: nil)
    }

    /// - Parameters:
    ///   - proven: what is known of this very file by whoever has just written it. What the directory says the same of is not read
    ///     again, neither here nor by a `ZipVerification`.
    ///   - scratch: where it is kept what is known of the entries.
    /// - Throws: also `.scratchFailed`, as everything that asks for an entry.
    package convenience init(
        descriptor: Int32, limits: ZipLimits, proven: ProvenEntries?, scratch: Scratch = .memory
    ) throws(ZipError) {
        let directory = try ZipDirectory(descriptor: descriptor, limits: limits, scratch: scratch)
        let headers = try LocalHeaders(
            directory, descriptor: descriptor, limits: limits,
            proven: proven.flatMap { $0.areIn(descriptor) ? $0 : nil })
        self.init(descriptor, directory, headers)
    }

    private init(_ descriptor: Int32, _ directory: ZipDirectory, _ headers: LocalHeaders) {
        (proven, scratch) = (headers.proven, directory.scratch)
        (entries, names, otherNames) = (directory.entries, directory.names, [:])
        bytesInFront = directory.end.prefix
        (places, offsets) = (.archive(descriptor), headers.places)
        refusals = directory.refusals + headers.refusals
        problems = Dictionary(grouping: refusals, by: \.entry).mapValues { $0.map(\.problem) }
        (form, salvage) = (headers.form, nil)
    }

    /// What was wrong with an archive of which everything is taken that can be.
    package struct Salvage: Sendable {
        /// With the archive as a whole.
        package let problem: ArchiveProblem?
        /// With the directory's record or the header of entries that are taken by the other of the two.
        package let mended: [ZipRefusal]
    }

    /// Opens a damaged archive for what is whole of it: see `EntrySalvage`. One in order is opened as by others.
    ///
    /// - Parameters:
    ///   - scratch: where it is kept what is known of the entries. While entries are looked for it is in memory, some 300 bytes for
    ///     each.
    ///   - cancelled: asked while entries are looked for, which may take as long as to read all.
    /// - Throws: `.unusableArchive` where nothing is found, or more than the limits allow; `.readFailed`, `.cancelled`.
    package static func salvaging(
        _ descriptor: Int32, limits: ZipLimits, scratch: Scratch = .memory, cancelled: @escaping () -> Bool = { false }
    ) throws(ZipError) -> ZipReader {
        var directory: ZipDirectory?
        var problem: ArchiveProblem?
        do throws(ZipError) {
            let parsed = try ZipDirectory(descriptor: descriptor, limits: limits, scratch: scratch)
            directory = parsed
            let reader = ZipReader(
                descriptor, parsed, try LocalHeaders(parsed, descriptor: descriptor, limits: limits))
            guard reader.refusals.contains(where: \.problem.hindersReading) else { return reader }
            // It may say of all entries that they are elsewhere than they are.
            if reader.bytesInFront != 0, reader.entries.indices.allSatisfy({ reader.obstacle(to: $0) != nil }) {
                directory = nil
                throw .unusableArchive(.directoryMisplaced)
            }
        } catch .unusableArchive(let found) {
            problem = found
        }
        let salvage = try EntrySalvage(directory, descriptor: descriptor, limits: limits, cancelled: cancelled)
        if let problem, salvage.told.isEmpty, salvage.searched.isEmpty { throw .unusableArchive(problem) }
        return try ZipReader(descriptor, salvage.all, problem, scratch: scratch)
    }

    /// - Parameter placed: what is known of entries, each at its place in the file.
    init(
        _ descriptor: Int32, _ placed: [EntrySalvage.Found], _ problem: ArchiveProblem? = nil,
        scratch: Scratch = .memory
    ) throws(ZipError) {
        func refusal(_ index: Int, _ problem: EntryProblem) -> ZipRefusal {
            ZipRefusal(entry: index, name: placed[index].entry.name, problem: problem)
        }
        let own = placed.enumerated().flatMap { index, found in found.problems.map { refusal(index, $0) } }
        self.scratch = scratch
        entries = try ZipEntries(placed.enumerated().lazy.map { $1.entry.moved(to: $0) }, in: scratch)
        (bytesInFront, proven) = (0, EntryTable())
        (places, offsets) = (.archive(descriptor), DataPlaces(in: scratch))
        try offsets.put(placed.lazy.map { DataPlaces.Place(data: $0.data) }, at: 0)
        let taken = try entries.takeNames()
        names = taken.names
        refusals = own + taken.refusals
        problems = Dictionary(grouping: refusals, by: \.entry).mapValues { $0.map(\.problem) }
        form = nil
        let others = placed.enumerated().compactMap { index, found in found.otherName.map { ($0, index) } }
        otherNames = Dictionary(
            others.filter { [problems] in (problems[$0.1] ?? []).allSatisfy(\.concernsOtherReaders) },
            uniquingKeysWith: { first, _ in first })
        salvage = Salvage(
            problem: problem,
            mended: placed.enumerated().compactMap { index, found in found.mended.map { refusal(index, $0) } })
    }

    /// The files of a folder, read as the archive that was unpacked into it: by the same rules for names, and without a CRC-32, so that
    /// bytes are only known to be right where something else tells what they should be.
    /// - Throws: `.scratchFailed`.
    package init(unpacked: UnpackedEntries, scratch: Scratch = .memory) throws(ZipError) {
        self.scratch = scratch
        offsets = DataPlaces(in: scratch)
        var spooler = SpooledList<EntryRecord>.Spooler(in: scratch)
        var own: [ZipRefusal] = []
        try ZipError.scratch { [offsets] in
            // Each put by itself would be a call to the system for each.
            var places: [DataPlaces.Place] = []
            var index = 0
            try concurrently(unpacked.files) {
                (file: $0, problem: $0.fault?.problem ?? EntryName.problem(in: $0.name))
            } take: { (file: UnpackedEntries.File, problem: EntryProblem?) in
                defer { index += 1 }
                try spooler.append(EntryRecord(entry: ZipEntry(file, index: index), form: .other))
                places.append(DataPlaces.Place(data: file.offset))
                if places.count == Self.placesTogether || index == unpacked.files.count - 1 {
                    try offsets.put(places, at: index + 1 - places.count)
                    places.removeAll(keepingCapacity: true)
                }
                if let problem { own.append(ZipRefusal(entry: index, name: file.name, problem: problem)) }
            }
        }
        entries = ZipEntries(records: try ZipError.scratch { try spooler.finish() })
        (bytesInFront, proven) = (0, EntryTable())
        places = .folder(unpacked.open)
        let taken = try entries.takeNames()
        (names, otherNames) = (taken.names, [:])
        refusals = own + taken.refusals
        problems = Dictionary(grouping: refusals, by: \.entry).mapValues { $0.map(\.problem) }
        (form, salvage) = (nil, nil)
    }

    private static let placesTogether = 1024

    /// Where in the archive's file the bytes of an entry begin; nil where there is no such file.
    /// - Throws: `.scratchFailed`.
    package func dataOffset(of index: Int) throws(ZipError) -> Int64? {
        guard case .archive = places else { return nil }
        return try offsets[index].data
    }

    /// The entry that has a name; nil where none has, or where it is refused, other than by other readers only. Names are the same
    /// where Swift says so: also if they are composed otherwise.
    /// - Throws: `.scratchFailed`.
    package func index(of name: String) throws(ZipError) -> Int? {
        if let index = try names.index(of: name, nameAt: entries.name(at:)), try entries.name(at: index) == name,
            problems(of: index).allSatisfy(\.concernsOtherReaders)
        {
            return index
        }
        return otherNames[name]
    }

    /// What is wrong with the entry, as far as that shows without reading it.
    public func problems(of index: Int) -> [EntryProblem] { problems[index] ?? [] }

    /// The first problem that keeps the entry's bytes from being read at all, or nil.
    public func obstacle(to index: Int) -> EntryProblem? {
        problems(of: index).first { $0.hindersReading }
    }

    /// The whole entry in memory.
    /// - Parameter limit: bytes that the caller is ready to hold.
    /// - Throws: `.entryTooLarge`, `.unusableEntry`, `.readFailed`.
    public func read(_ index: Int, limit: Int) throws(ZipError) -> Data { try digested(index, limit: limit).bytes }

    /// The whole entry in memory, and the digest of its bytes. Throws as ``read(_:limit:)``; `.changedSinceVerified`.
    package func digested(
        _ index: Int, limit: Int, verified: VerifiedEntry? = nil
    ) throws(ZipError) -> (bytes: Data, digest: ContentDigest) {
        let entry = try entries[index]
        guard entry.size <= Int64(limit) else {
            throw .entryTooLarge(name: entry.name, size: entry.size, limit: Int64(limit))
        }
        var data = Data()
        let read = try stream(entry, verified: verified, cancelled: { false }, progress: { _ in }) {
            bytes, _ throws(ZipError) in
            data.append(contentsOf: bytes)
        }
        return (data, read.digest)
    }

    /// Writes the entry's bytes into a file, from its start on, and checks length and CRC-32. Where the file system can, the
    /// file shares the archive's blocks, and what is checked is what the file has then.
    ///
    /// The file holds bytes that are not to be trusted until this returns; after an error, throw them away.
    /// - Parameters:
    ///   - file: open for reading and writing; it should be empty, since nothing is cut off behind the entry.
    ///   - cancelled: asked before each part (at most 256 KiB).
    ///   - progress: called after each part with the bytes that it had.
    /// - Throws: `.unusableEntry`, `.readFailed`, `.writeFailed`, `.diskFull`, `.cancelled`.
    public func extract(
        _ index: Int, to file: Int32, cancelled: () -> Bool = { false }, progress: (Int) -> Void = { _ in }
    ) throws(ZipError) -> ContentDigest {
        try extract(index, to: file, verified: nil, cancelled: cancelled, progress: progress)
    }

    /// - Parameter verified: what a `ZipVerification` has found: the bytes have to be those of then. They are known again by
    ///   their fingerprint, if it was taken, which costs less than a second digest.
    /// - Throws: as ``extract(_:to:cancelled:progress:)``; `.changedSinceVerified`.
    package func extract(
        _ index: Int, to file: Int32, verified: VerifiedEntry?, cancelled: () -> Bool, progress: (Int) -> Void
    ) throws(ZipError) -> ContentDigest {
        let entry = try entries[index]
        var shared: Int64 = 0
        if entry.method == ZipMethod.stored, entry.size >= ZipLayout.alignedFrom, obstacle(to: index) == nil {
            let offset = try offsets[index].data
            shared = try places.withFile(of: entry) { descriptor in
                sharing.share(descriptor, at: offset, with: file, at: 0, upTo: entry.size)
            }
        }
        return try stream(
            entry, verified: verified, there: (file, shared), cancelled: cancelled, progress: progress
        ) { bytes, position throws(ZipError) in
            if position >= shared { try DescriptorIO.write(file, bytes, at: position) }
        }.digest
    }

    /// Reads the entry, checks length and CRC-32, and keeps nothing.
    ///
    /// - Parameters:
    ///   - forOthers: refuses also what only others refuse: compressed data that ends elsewhere than its size says.
    /// - Throws: `.unusableEntry`, `.readFailed`, `.cancelled`.
    @discardableResult
    public func verify(
        _ index: Int, forOthers: Bool = false, cancelled: () -> Bool = { false },
        progress: (Int) -> Void = { _ in }
    ) throws(ZipError) -> ContentDigest {
        try readThrough(index, forOthers: forOthers, forAgain: false, cancelled: cancelled, progress: progress).digest
    }

    /// As ``verify(_:forOthers:cancelled:progress:)``, with what the entry is known again by.
    /// - Parameter forAgain: whether it is to be read again, and takes a fingerprint for that.
    func readThrough(
        _ index: Int, forOthers: Bool, forAgain: Bool, cancelled: () -> Bool, progress: (Int) -> Void
    ) throws(ZipError) -> VerifiedEntry {
        try stream(entries[index], forOthers: forOthers, forAgain: forAgain, cancelled: cancelled, progress: progress) {
            _, _ throws(ZipError) in
        }
    }

    /// The entry's MD5 in lower-case hex; nil where the system's libcrypto does not allow it.
    /// - Throws: as ``verify(_:forOthers:cancelled:progress:)``.
    package func md5(_ index: Int, cancelled: () -> Bool = { false }) throws(ZipError) -> String? {
        guard let hasher = MD5Hasher() else { return nil }
        _ = try stream(entries[index], cancelled: cancelled, progress: { _ in }) { bytes, _ throws(ZipError) in
            hasher.update(bytes)
        }
        return hasher.finish()
    }

    private typealias Sink = (UnsafeRawBufferPointer, Int64) throws(ZipError) -> Void

    /// Hands the entry's bytes to `sink`, in order and never more than it declares.
    /// - Parameters:
    ///   - verified: what they have to be; where a fingerprint tells, their digest is not taken again.
    ///   - there: a file that has the first bytes of the entry already, from its start on, and how many.
    ///   - forAgain: whether to take a fingerprint.
    private func stream(
        _ entry: ZipEntry, verified: VerifiedEntry? = nil, there: (file: Int32, count: Int64) = (-1, 0),
        forOthers: Bool = false, forAgain: Bool = false, cancelled: () -> Bool, progress: (Int) -> Void,
        into sink: Sink
    ) throws(ZipError) -> VerifiedEntry {
        if let problem = obstacle(to: entry.index) { throw .unusableEntry(name: entry.name, problem) }
        let offset = try offsets[entry.index].data
        return try places.withFile(of: entry) { descriptor throws(ZipError) in
            try stream(
                entry, in: descriptor, at: offset, verified: verified, there: there, forOthers: forOthers,
                forAgain: forAgain, cancelled: cancelled, progress: progress, into: sink)
        }
    }

    private func stream(
        _ entry: ZipEntry, in descriptor: Int32, at offset: Int64, verified: VerifiedEntry?,
        there: (file: Int32, count: Int64), forOthers: Bool, forAgain: Bool, cancelled: () -> Bool,
        progress: (Int) -> Void, into sink: Sink
    ) throws(ZipError) -> VerifiedEntry {
        let lane = CopyLane.take()
        defer { lane.give() }
        let isFingerprinted = forAgain || verified?.fingerprint != nil
        let isDigested = verified?.fingerprint == nil
        var position: Int64 = 0
        func take(_ bytes: UnsafeRawBufferPointer) throws(ZipError) {
            guard Int64(bytes.count) <= entry.size - position else {
                throw .unusableEntry(name: entry.name, .lengthDiffers)
            }
            if isDigested { lane.hasher.update(bytes) }
            if isFingerprinted { lane.fingerprint.update(bytes) }
            try sink(bytes, position)
            position += Int64(bytes.count)
            progress(bytes.count)
        }
        var isDamaged = false
        if entry.method == ZipMethod.stored {
            while position < entry.size {
                if cancelled() { throw .cancelled }
                let isThere = position < there.count
                let wanted = Int(min((isThere ? there.count : entry.size) - position, Int64(CopyLane.capacity)))
                let part =
                    isThere
                    ? try lane.read(OpenFile(there.file), at: position, atMost: wanted)
                    : try lane.read(OpenFile(descriptor), at: offset + position, atMost: wanted)
                if part.isEmpty { break }
                try take(part)
            }
        } else {
            let inflater = try EntryInflater(entry, at: offset, in: descriptor)
            inflating: while true {
                if cancelled() { throw .cancelled }
                switch try inflater.next() {
                case .bytes(let bytes): try take(bytes)
                case .end: break inflating
                case .lastBytes(let bytes):
                    try take(bytes)
                    isDamaged = true
                    break inflating
                }
            }
        }
        let fingerprint = isFingerprinted ? lane.fingerprint.finish() : nil
        if let verified, isFingerprinted {
            guard fingerprint == verified.fingerprint else { throw .changedSinceVerified(entry: entry.name) }
            return verified
        }
        let read = VerifiedEntry(digest: lane.hasher.finish(), fingerprint: fingerprint)
        if let verified {
            guard read.digest == verified.digest else { throw .changedSinceVerified(entry: entry.name) }
            return verified
        }
        if position != entry.size { throw .unusableEntry(name: entry.name, isDamaged ? .damaged : .lengthDiffers) }
        if places.haveChecksums, read.digest.crc32 != entry.crc32 {
            throw .unusableEntry(name: entry.name, .checksumDiffers)
        }
        // Where libarchive still was not content, the compressed data lacks its end, or goes on behind it. The content is
        // as long as declared and has the declared checksum: what was packed is there, so nobody's photo is refused.
        if isDamaged && forOthers { throw .unusableEntry(name: entry.name, .dataEndsElsewhere) }
        return read
    }
}
