import BackupFormats
import CLinux
import Executors
import Files
import Foundation
import LibraryModel
import LibraryServices
import LibraryStorage
import Scratch
import ServiceMesh
import Synchronization
import ZipArchive

/// Brings the files of a backup folder to what a backup needs: reads again those whose turn it is, and copies those that are not
/// there or not what they were.
struct FolderCopying: Sendable {
    let hold: SnapshotFolderHold
    let photoFiles: any PhotoFiles
    let namedFiles: NamedFiles
    let pool: BlockingPool
    let width: Int
    let isCancelled: CancellationFlag

    /// What came of it.
    struct Found: Sendable {
        /// Files that the folder has, by their places in the list.
        var there = EntrySet()
        /// What the thumbnails are that were copied, by their places in the list: nothing is on record of those.
        let thumbnails: EntryTable<ContentDigest>
        /// Files that were copied, and their bytes.
        var added = 0
        var addedBytes: Int64 = 0
        /// Files that the last snapshot has, which were gone or damaged and are copied anew.
        var mended: [String] = []
        /// Files of the library whose bytes are not those on record: they are no files of the folder.
        var deviating: [String: FolderInventory.Known] = [:]
        /// Files that could not be read, or cannot be in this folder, and why.
        var unreadable: [String: String] = [:]
    }

    /// Files that are copied, by their places in the list, and those among them that the folder had.
    private struct Wanted: Sendable {
        var places: [Int] = []
        var mended = EntrySet()

        mutating func append(_ place: Int, isMended: Bool) {
            places.append(place)
            if isMended { mended.insert(place) }
        }
    }

    /// Bytes that are copied before they are waited for, and files.
    private static let batchBytes: Int64 = 32 << 20
    private static let batchFiles = 64

    /// - Parameter files: those that are sealed while they are copied are no files of the folder.
    func run(
        _ files: SpooledList<BackedUpFile>, _ inventory: FolderInventory, at time: Timestamp, job: Job
    ) async throws -> Found {
        var (found, reading, copying) = try await pool.run { try sort(files, inventory, at: time) }
        for place in try await readAgain(reading, of: files, inventory, into: &found, job: job) {
            copying.append(place, isMended: true)
        }
        try await copy(copying, of: files, into: &found, job: job)
        return found
    }

    /// One look at each name, on all processors, beside what the last snapshot says in the same order. Blocks.
    /// - Returns: also the places of those that are to be read again.
    private func sort(
        _ files: SpooledList<BackedUpFile>, _ inventory: FolderInventory, at time: Timestamp
    ) throws -> (Found, reading: [Int], Wanted) {
        var found = Found(thumbnails: EntryTable(in: namedFiles.scratch))
        var (reading, copying) = ([Int](), Wanted())
        var (told, place) = (inventory.told, 0)
        let refusal = try refusals(files)
        try concurrently(files) { file in
            try checkCancelled()
            return (file: file, size: file.isSealed ? nil : try inventory.size(of: file.path))
        } take: { (looked: (file: BackedUpFile, size: Int64?)) in
            defer { place += 1 }
            let file = looked.file
            guard !file.isSealed else { return }
            if let reason = try refusal(place, file) {
                found.unreadable[file.path] = reason
                return
            }
            switch inventory.step(for: file, size: looked.size, told: try told.of(file.path), at: time) {
            case .keep: found.there.insert(place)
            case .read: reading.append(place)
            case .copy(let isMended): copying.append(place, isMended: isMended)
            }
        }
        return (found, reading, copying)
    }

    /// Says of each file that this folder cannot have it, and why: with a name that file systems which fold names do not tell from
    /// another's, and larger than files may be there.
    private func refusals(_ files: SpooledList<BackedUpFile>) throws -> (Int, BackedUpFile) throws -> String? {
        let most = FileSystem.largestFile(at: hold.folder.path)
        let folded: @Sendable (BackedUpFile) -> String = { Self.folded($0.path) }
        let index = try files.firstRepeated(by: folded).map { _ in try SpooledIndex(files, by: folded) }
        return { place, file in
            if let most, file.size > most {
                return "the disk of the folder takes files of at most \(most.formatted(.byteCount(style: .file)))"
            }
            guard let index, try index.place(of: file) != place else { return nil }
            return "another file's name differs from its own only in how it is written"
        }
    }

    /// As a file system may see a name: composed, in lower case. Nearly all of ours are of ASCII, which is composed, and Foundation
    /// takes long to say so.
    private static func folded(_ name: String) -> String {
        guard !name.utf8.allSatisfy({ $0 < 0x80 }) else { return name.lowercased() }
        return name.precomposedStringWithCanonicalMapping.lowercased()
    }

    private func requireSpace(_ needed: Int64) async throws {
        let path = hold.folder.path
        let free = try await pool.run { try FileSystem.freeBytes(path) }
        guard needed > free - (16 << 20) else { return }
        throw MeshError(
            short: .space,
            "The backup needs \(needed >> 20) MiB more and the disk has \(free >> 20) MiB free. Choose another folder, or free some space.",
            details: ["neededBytes": .integer(needed), "freeBytes": .integer(free)])
    }

    // MARK: Reading

    /// - Returns: those that are not what they were.
    private func readAgain(
        _ places: [Int], of files: SpooledList<BackedUpFile>, _ inventory: FolderInventory, into found: inout Found,
        job: Job
    ) async throws -> [Int] {
        guard !places.isEmpty else { return [] }
        job.begin(
            phase: "reading older files", items: Int64(places.count), bytes: try await bytes(of: places, in: files))
        let wrong = Mutex(EntrySet())
        try await inTurns(places.count, job: job) { number in
            let file = try files.element(at: places[number])
            let known = try file.isThumbnail ? inventory.told(of: file.path)?.digest : file.digest
            let digest = try? self.digest(of: hold.folder.file(file.path)) { job.advance(bytes: Int64($0)) }
            try checkCancelled()
            if digest?.sha256.hex != known { wrong.withLock { $0.insert(places[number]) } }
            job.advance(items: 1)
            return file.size
        }
        let bad = wrong.withLock { $0 }
        for place in places where !bad.contains(place) { found.there.insert(place) }
        return places.filter(bad.contains)
    }

    private func bytes(of places: [Int], in files: SpooledList<BackedUpFile>) async throws -> Int64 {
        try await pool.run { try places.reduce(0) { try $0 + files.element(at: $1).size } }
    }

    /// Of what the disk has, and not of what is remembered of it.
    private func digest(of path: String, progress: (Int) -> Void = { _ in }) throws -> ContentDigest {
        let (descriptor, _) = try namedFiles.open(path)
        defer { close(descriptor) }
        _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
        defer { _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) }
        let digest = try ContentDigest(ofDescriptor: descriptor, cancelled: { isCancelled.isSet })
        progress(Int(digest.size))
        return digest
    }

    private func checkCancelled() throws { if isCancelled.isSet { throw CancellationError() } }

    // MARK: Copying

    /// What became of one file.
    fileprivate enum Copied: Sendable {
        case whole(ContentDigest)
        case deviating(ContentDigest)
        case unreadable(String)
    }

    private func copy(
        _ wanted: Wanted, of files: SpooledList<BackedUpFile>, into found: inout Found, job: Job
    ) async throws {
        guard !wanted.places.isEmpty else { return }
        let (bytes, batches) = try await pool.run { try Self.batches(wanted.places, of: files) }
        try await requireSpace(bytes)
        job.begin(phase: "copying", items: Int64(wanted.places.count), bytes: bytes)
        let all = Mutex(found)
        try await inTurns(batches.count, job: job) { number in
            let batch = try batches[number].map {
                (place: wanted.places[$0], file: try files.element(at: wanted.places[$0]))
            }
            let copied = try copyBatch(batch.map(\.file), job: job)
            try all.withLock { found in
                for (place, file) in batch {
                    try found.note(copied[file.path], of: file, at: place, isMended: wanted.mended.contains(place))
                }
            }
            return batch.reduce(0) { $0 + $1.file.size }
        }
        found = all.withLock { $0 }
    }

    /// - Returns: also the bytes of all.
    private static func batches(
        _ places: [Int], of files: SpooledList<BackedUpFile>
    ) throws -> (bytes: Int64, batches: [Range<Int>]) {
        var batches: [Range<Int>] = []
        var (start, bytes, all) = (0, Int64(0), Int64(0))
        for (number, place) in places.enumerated() {
            let size = try files.element(at: place).size
            if number > start, bytes + size > batchBytes || number - start == batchFiles {
                batches.append(start..<number)
                (start, bytes) = (number, 0)
            }
            bytes += size
            all += size
        }
        return (all, batches + [start..<places.count])
    }

    /// Copies some files under names that are nobody's, waits until the disk has them, reads them back, and gives them their names: so
    /// a file that has its name is whole, whenever this ends.
    ///
    /// The disk is waited for once for all of them: to wait for each took five times as long for photos of a phone.
    private func copyBatch(_ files: [BackedUpFile], job: Job) throws -> [String: Copied] {
        var copied: [String: Copied] = [:]
        for file in files {
            do {
                copied[file.path] = try write(file, job: job)
            } catch {
                guard let reason = BackupWriter.fault(of: error) else { throw error }
                copied[file.path] = .unreadable(reason)
            }
            job.advance(items: 1)
        }
        try hold.sync(copied.keys)
        for (path, outcome) in copied {
            try checkCancelled()
            let partial = hold.folder.file(path) + BackupFormat.partialSuffix
            guard case .whole(let digest) = outcome else {
                try FileSystem.remove(partial)
                continue
            }
            guard try self.digest(of: partial) == digest else {
                throw MeshError(
                    .dataLoss,
                    "The disk of \(FileSystem.plain(hold.folder.path)) does not give back what was written to it (\(path)). Use another disk."
                )
            }
            try FileSystem.rename(partial, to: hold.folder.file(path))
        }
        return copied
    }

    /// What a file system says of a name, or of a file, that it does not take.
    private static let refusals = [
        EINVAL: "the disk of the folder takes no such name", EILSEQ: "the disk of the folder takes no such name",
        ENAMETOOLONG: "its name is too long for the disk of the folder",
        EFBIG: "it is too large for the disk of the folder",
    ]

    private func write(_ file: BackedUpFile, job: Job) throws -> Copied {
        do {
            return try copyOne(file, job: job)
        } catch let failure as FolderFailure {
            guard let code = (failure.error as? FileSystem.Failure)?.code, let reason = Self.refusals[code] else {
                throw failure
            }
            return .unreadable(reason)
        }
    }

    private func copyOne(_ file: BackedUpFile, job: Job) throws -> Copied {
        let partial = hold.folder.file(file.path) + BackupFormat.partialSuffix
        let digest = try photoFiles.withReader(StoredName(catalogued: file.storedPath)) { source in
            let output = clinux_open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o644)
            guard output >= 0 else {
                throw FolderFailure(FileSystem.Failure(action: "make", path: partial, code: errno))
            }
            defer { close(output) }
            let hasher = ContentHasher()
            let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 4096)
            defer { room.deallocate() }
            var position: Int64 = 0
            while true {
                try checkCancelled()
                let count = try source.read(into: room, at: position)
                if count == 0 { break }
                let part = UnsafeRawBufferPointer(rebasing: room[..<count])
                hasher.update(part)
                do {
                    try FileSystem.write(part, to: output, at: position, partial)
                } catch {
                    throw FolderFailure(error)
                }
                position += Int64(count)
                job.advance(bytes: Int64(count))
            }
            return hasher.finish()
        }
        let isExpected = file.isThumbnail || digest.sha256.hex == file.digest
        return isExpected ? .whole(digest) : .deviating(digest)
    }

    /// Runs `work` for each number, by as many threads as the backup has.
    /// - Parameter work: returns the bytes that it dealt with.
    private func inTurns(
        _ count: Int, job: Job, _ work: @escaping @Sendable (Int) throws -> Int64
    ) async throws {
        let next = Atomic<Int>(0)
        let turn: @Sendable () throws -> Bool = {
            var turn = BackupTurn()
            while turn.mayTakeAnother {
                let number = next.wrappingAdd(1, ordering: .relaxed).oldValue
                guard number < count else { return false }
                turn.bytes += try work(number)
                turn.entries += 1
            }
            return true
        }
        try await withThrowingTaskGroup(of: Void.self) { [pool, isCancelled] group in
            for _ in 0..<width + 2 {
                group.addTask {
                    repeat { try await job.mayContinue() } while try await pool.run(turn)
                }
            }
            do {
                try await group.waitForAll()
            } catch {
                isCancelled.set()
                throw error
            }
        }
    }
}

/// A failure of the folder, and not of the photo that was to be copied into it: it ends the backup.
struct FolderFailure: Error, MeshErrorConvertible {
    let error: any Error

    init(_ error: any Error) { self.error = error }

    var meshError: MeshError { MeshError(describing: error) }
}

extension FolderCopying.Found {
    fileprivate mutating func note(
        _ copied: FolderCopying.Copied?, of file: BackedUpFile, at place: Int, isMended: Bool
    ) throws {
        switch copied {
        case .whole(let digest):
            there.insert(place)
            if file.isThumbnail { try thumbnails.put(digest, at: place) }
            added += 1
            addedBytes += digest.size
            if isMended { mended.append(file.path) }
        case .deviating(let digest): deviating[file.path] = .init(size: digest.size, digest: digest.sha256.hex)
        case .unreadable(let reason): unreadable[file.path] = reason
        case nil: throw MeshError(.internal, "A file was neither copied nor refused. Please report it.")
        }
    }
}

/// What the files in a backup folder are.
struct FolderFiles {
    private let found: FolderCopying.Found
    private var told: FolderInventory.Told
    /// Where the files stand that were copied; nil where those that are asked for are the same list.
    private let places: SpooledIndex<BackedUpFile>?

    /// - Parameters:
    ///   - found: what came of copying these files.
    ///   - areOthers: whether other lists are asked for than `files`. Blocks.
    init(
        _ files: SpooledList<BackedUpFile>, _ found: FolderCopying.Found, _ inventory: FolderInventory, areOthers: Bool
    ) throws {
        (self.found, told) = (found, inventory.told)
        places = areOthers ? try SpooledIndex(files, by: \.path) : nil
    }

    /// Nil for what the folder does not have. Asked for in about the order of the list.
    /// - Parameter place: of `file`, among those that are asked for.
    mutating func known(_ file: BackedUpFile, at place: Int) throws -> FolderInventory.Known? {
        var copied: Int? = place
        if let places { copied = try places.place(of: file.path) }
        guard let copied, found.there.contains(copied) else { return nil }
        guard file.isThumbnail else { return file.digest.map { .init(size: file.size, digest: $0) } }
        if let digest = try found.thumbnails[copied] { return .init(size: digest.size, digest: digest.sha256.hex) }
        return try told.of(file.path)
    }
}
