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
        /// What each file in the folder is, by its name.
        var files: [String: FolderInventory.Known] = [:]
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

    /// A file that is copied, and whether the folder had it.
    private struct Wanted: Sendable {
        let file: BackedUpFile
        let isMended: Bool
    }

    /// Bytes that are copied before they are waited for, and files.
    private static let batchBytes: Int64 = 32 << 20
    private static let batchFiles = 64

    /// - Parameter files: those that are sealed while they are copied are no files of the folder.
    func run(
        _ files: SpooledList<BackedUpFile>, _ inventory: FolderInventory, at time: Timestamp, job: Job
    ) async throws -> Found {
        var (found, reading, copying) = try await pool.run {
            var found = Found()
            var (reading, copying) = ([(file: BackedUpFile, known: FolderInventory.Known)](), [Wanted]())
            try forEachPossible(files, &found) { file, found in
                switch inventory.step(for: file, at: time) {
                case .keep(let known): found.files[file.path] = known
                case .read(let known): reading.append((file, known))
                case .copy(let isMended): copying.append(Wanted(file: file, isMended: isMended))
                }
            }
            return (found, reading, copying)
        }
        copying += try await readAgain(reading, into: &found, job: job)
        try await requireSpace(copying.reduce(0) { $0 + $1.file.size })
        try await copy(copying, into: &found, job: job)
        return found
    }

    /// Those that this folder can have: with names that are told apart by file systems that fold them, and no larger than they take.
    private func forEachPossible(
        _ files: SpooledList<BackedUpFile>, _ found: inout Found, _ body: (BackedUpFile, inout Found) throws -> Void
    ) throws {
        let most = FileSystem.largestFile(at: hold.folder.path)
        let index = try SpooledIndex(files) { $0.path.precomposedStringWithCanonicalMapping.lowercased() }
        try files.forEach { place, file in
            guard !file.isSealed else { return }
            if let most, file.size > most {
                let most = most.formatted(.byteCount(style: .file))
                found.unreadable[file.path] = "the disk of the folder takes files of at most \(most)"
                return
            }
            if index.firstRepeated != nil, try index.place(of: file) != place {
                found.unreadable[file.path] = "another file's name differs from its own only in how it is written"
                return
            }
            try body(file, &found)
        }
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
        _ files: [(file: BackedUpFile, known: FolderInventory.Known)], into found: inout Found, job: Job
    ) async throws -> [Wanted] {
        guard !files.isEmpty else { return [] }
        job.begin(
            phase: "reading older files", items: Int64(files.count), bytes: files.reduce(0) { $0 + $1.known.size })
        let wrong = Mutex<Set<String>>([])
        try await inTurns(files.count, job: job) { number in
            let (file, known) = files[number]
            let digest = try? self.digest(of: hold.folder.file(file.path)) { job.advance(bytes: Int64($0)) }
            try checkCancelled()
            if digest?.sha256.hex != known.digest { wrong.withLock { _ = $0.insert(file.path) } }
            job.advance(items: 1)
            return known.size
        }
        let bad = wrong.withLock { $0 }
        for (file, known) in files where !bad.contains(file.path) { found.files[file.path] = known }
        return files.filter { bad.contains($0.file.path) }.map { Wanted(file: $0.file, isMended: true) }
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
    private enum Copied: Sendable {
        case whole(ContentDigest)
        case deviating(ContentDigest)
        case unreadable(String)
    }

    private func copy(_ wanted: [Wanted], into found: inout Found, job: Job) async throws {
        guard !wanted.isEmpty else { return }
        job.begin(phase: "copying", items: Int64(wanted.count), bytes: wanted.reduce(0) { $0 + $1.file.size })
        let batches = Self.batches(wanted)
        let all = Mutex<[String: Copied]>([:])
        try await inTurns(batches.count, job: job) { number in
            let batch = batches[number].map { wanted[$0].file }
            let copied = try copyBatch(batch, job: job)
            all.withLock { $0.merge(copied) { _, new in new } }
            return batch.reduce(0) { $0 + $1.size }
        }
        let copied = all.withLock { $0 }
        for wanted in wanted {
            let path = wanted.file.path
            switch copied[path] {
            case .whole(let digest):
                found.files[path] = .init(size: digest.size, digest: digest.sha256.hex)
                found.added += 1
                found.addedBytes += digest.size
                if wanted.isMended { found.mended.append(path) }
            case .deviating(let digest): found.deviating[path] = .init(size: digest.size, digest: digest.sha256.hex)
            case .unreadable(let reason): found.unreadable[path] = reason
            case nil: throw MeshError(.internal, "A file was neither copied nor refused. Please report it.")
            }
        }
    }

    private static func batches(_ wanted: [Wanted]) -> [Range<Int>] {
        var batches: [Range<Int>] = []
        var (start, bytes) = (0, Int64(0))
        for (number, one) in wanted.enumerated() {
            if number > start, bytes + one.file.size > batchBytes || number - start == batchFiles {
                batches.append(start..<number)
                (start, bytes) = (number, 0)
            }
            bytes += one.file.size
        }
        return batches + [start..<wanted.count]
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
