import BackupFormats
import CLinux
import Executors
import Files
import Foundation
import LibraryModel
import LibraryStorage
import Scratch
import Sealing
import ServiceMesh
import Sidecars
import Synchronization
import ZipArchive

/// Writes one backup file: documents and photos at offsets that are known before the first byte, copied, hashed
/// and checked against the catalogue by several threads at once. Blocks on its pool.
struct BackupWriter: Sendable {
    let photoFiles: any PhotoFiles
    let pool: BlockingPool
    let width: Int
    let isCancelled: CancellationFlag
    /// Seals what is sealed while it is copied; nil where nothing is.
    var sealing: Keyring?

    struct Written {
        let bytes: Int64
        /// Photo paths whose bytes were not those recorded.
        let damaged: [String]
        /// Photos whose bytes could not be read, and why: they are not in the file.
        var unreadable: [String: String]
        /// Entries that were read back from the disk and are what was written; nil where nothing was written now.
        var proven: ProvenEntries?
        /// What a backup folder has got; nil of a backup in one file.
        var folder: Folder?

        struct Folder {
            /// Files that were copied into it, and their bytes.
            let added: Int
            let addedBytes: Int64
            /// Those among them that its last snapshot had, and it had not.
            let mended: [String]
        }
    }

    /// Times that the file is written because something was not as it was known. What a photo may be found to be is
    /// bounded, so only another program that changes files all the time gets here.
    private static let rounds = 20

    typealias Deviation = BackupCheckpoint.Deviation

    /// What copying found out.
    private struct Findings: Sendable {
        var deviations: [String: Deviation] = [:]
        var unreadable: [String: String] = [:]
        /// Digests of entries that nobody knew before, by the places of their files.
        let digests: EntryTable<SHA256Digest>
        /// Digests of entries that the disk has.
        let proven: EntryTable<ContentDigest>

        init(in scratch: Scratch) { (digests, proven) = (EntryTable(in: scratch), EntryTable(in: scratch)) }

        /// Whether everything was as it was known.
        var isEmpty: Bool { deviations.isEmpty && unreadable.isEmpty }
    }

    /// Errors of the source that are the photo's own. Others, as too many open files, are ours and end the backup.
    private static func isItsOwn(_ code: Int32) -> Bool {
        [EIO, EACCES, EPERM, ENOENT, ENOTDIR, ELOOP, EISDIR, ENXIO, EUCLEAN, ESTALE, EBADMSG].contains(code)
    }

    /// Why a photo cannot be saved, where that is its own: a path that names no stored file, what is no file, a name that no
    /// archive has, errors of its file. Nil for what is ours
    /// and ends the backup.
    static func fault(of error: any Error) -> String? {
        switch error {
        case let failure as FileSystem.Failure where isItsOwn(failure.code): String(cString: strerror(failure.code))
        case ZipError.readFailed(let code) where isItsOwn(code): String(cString: strerror(code))
        case let failure as ReadFailure where isItsOwn(failure.code): String(cString: strerror(failure.code))
        case ZipError.unusableName(_, let problem): "\(problem)"
        case ZipError.unusableSize: "its size cannot be right"
        case let error as MeshError where [.dataLoss, .invalidArgument].contains(error.status): error.message
        default: nil
        }
    }

    /// Writes `contents` to `descriptor`: an empty file, or one that a run of the same backup has begun.
    ///
    /// Where it is interrupted, a last checkpoint is kept before it throws.
    ///
    /// A photo whose bytes differ from the catalogue is still saved, as it is: it may be all there is. Because the
    /// manifest stands first and must name its true digest, the file is then written again with what is known;
    /// that happens to broken disks, not to every backup. So is a photo left out that cannot be read, or whose bytes are
    /// others each time they are read: one bad sector must not keep all the others from being saved. Each round writes
    /// fewer photos, or knows more of them, so there is an end to it.
    func write(_ contents: BackupContents, to descriptor: Int32, progress: BackupProgress, job: Job) async throws
        -> Written
    {
        let begun = progress.checkpoint
        var deviations = begun.deviations
        var unreadable = begun.unreadable
        var contents = contents
        if !unreadable.isEmpty {
            contents = try await pool.run { [contents, unreadable] in try contents.without(Set(unreadable.keys)) }
        }
        for _ in 0..<Self.rounds {
            let round = try await pool.run { [contents, deviations] in try plan(contents, deviations, at: begun.time) }
            let (files, documents, layout) = (round.files, round.documents, round.layout)
            try requireFile(of: layout.totalSize, descriptor)
            job.begin(phase: "copying", items: Int64(contents.photos.count), bytes: layout.totalSize)
            let there = progress.begin(
                try documents.arrangement(in: layout), deviations: deviations, unreadable: unreadable)
            let writer = ZipWriter(descriptor: descriptor, layout: layout)
            let left =
                there.isEmpty
                ? Array(files.indices)
                : try await pool.run { try adopt(there, in: writer, files, documents, job) }
            let found: Findings
            var proven: ProvenEntries?
            do {
                found = try await copy(files, left, documents, with: writer, deviations, progress, job: job)
                if found.isEmpty {
                    // Last, because it names the digests of thumbnails, which are known by now; as long as it was planned.
                    let size = try await pool.run { [contents, deviations] in
                        let first =
                            contents.isForPhone
                            ? documents.all[0]
                            : try SmilePileDialect.manifest(
                                of: contents, documents: Array(documents.all.dropFirst()),
                                files: listed(files, deviations, { try found.digests[$0] }, contents.scratch),
                                at: begun.time)
                        try writer.write(first, as: 0)
                        try writer.finish()
                        return first.bytes.count
                    }
                    job.advance(bytes: Int64(size))
                    proven = try await prove(found.proven, with: writer, descriptor, begun.partial)
                }
            } catch  where job.isInterrupted {
                try? await progress.keep()
                throw error
            }
            guard !found.isEmpty else {
                return Written(
                    bytes: layout.totalSize,
                    damaged: deviations.keys.filter { unreadable[$0] == nil && !BackedUpFile.isThumbnail($0) }.sorted(),
                    // A thumbnail can be made again.
                    unreadable: unreadable.filter { !BackedUpFile.isThumbnail($0.key) }, proven: proven)
            }
            for path in found.deviations.keys where deviations[path] != nil {
                unreadable[path] = "its bytes change while they are read"
            }
            deviations.merge(found.deviations) { _, new in new }
            unreadable.merge(found.unreadable) { _, new in new }
            contents = try await pool.run { [contents, unreadable] in
                guard ftruncate(descriptor, 0) == 0 else { throw Self.failure("truncate") }
                return try contents.without(Set(unreadable.keys))
            }
        }
        throw MeshError(
            .unavailable,
            "Other programs keep changing photo files of the library while they are backed up. Stop them, then try again."
        )
    }

    /// Has the whole file on the disk, and reads back what was not yet.
    /// - Returns: what of it need not be read once more.
    private func prove(
        _ digests: EntryTable<ContentDigest>, with writer: ZipWriter, _ descriptor: Int32, _ path: String
    ) async throws -> ProvenEntries {
        try await pool.run { try FileSystem.sync(descriptor, path) }
        let isProven = try await withThrowingTaskGroup(of: Bool.self) { [pool, isCancelled] group in
            for _ in 0..<width + 2 {
                group.addTask { try await pool.run { try writer.proveSeams(cancelled: { isCancelled.isSet }) } }
            }
            return try await group.reduce(true) { $0 && $1 }
        }
        return try await pool.run { try writer.proven(isProven ? digests : EntryTable()) }
    }

    private static func failure(_ action: String) -> FileSystem.Failure {
        FileSystem.Failure(action: action, path: "the backup", code: errno)
    }

    /// Takes over what an earlier run has copied.
    /// - Returns: the numbers of the files that are left.
    private func adopt(
        _ there: [Int: UInt32], in writer: ZipWriter, _ files: SpooledList<BackedUpFile>, _ documents: Documents,
        _ job: Job
    ) throws -> [Int] {
        var left: [Int] = []
        try files.forEach { number, file in
            guard let crc32 = there[number] else { return left.append(number) }
            let entry = documents.all.count + number
            try writer.adoptEntry(entry, crc32: crc32)
            job.advance(items: file.path.hasPrefix(BackupFormat.photoPrefix) ? 1 : 0, bytes: file.size)
        }
        return left
    }

    /// Copies the files that are left and reads them back, and writes every document but the manifest.
    private func copy(
        _ files: SpooledList<BackedUpFile>, _ left: [Int], _ documents: Documents, with writer: ZipWriter,
        _ deviations: [String: Deviation], _ progress: BackupProgress, job: Job
    ) async throws -> Findings {
        let first = documents.all.count
        let runs = try await pool.run { try writer.layout.runs(of: left.lazy.map { first + $0 }) }
        let next = Atomic<Int>(0)
        let found = Mutex(Findings(in: writer.layout.scratch))
        /// What became of an entry, and of the stored file where that is not what it was known to be.
        typealias Copied = (entry: ContentDigest?, deviation: Deviation?)
        let copyStored: @Sendable (Int, BackedUpFile, any ByteSource, EntryRun) throws -> Copied = {
            [isCancelled] index, file, source, run in
            do {
                let digest = try run.copy(
                    first + index, reading: source, cancelled: { isCancelled.isSet },
                    progress: { job.advance(bytes: Int64($0)) })
                let isExpected =
                    file.isThumbnail || digest.sha256.hex == deviations[file.path]?.sha256 ?? file.digest
                return isExpected ? (digest, nil) : (nil, Deviation(size: digest.size, sha256: digest.sha256.hex))
            } catch ZipError.sourceSizeDiffers {
                let digest = try ContentDigest(reading: source, cancelled: { isCancelled.isSet })
                return (nil, Deviation(size: digest.size, sha256: digest.sha256.hex))
            }
        }
        let copySealed: @Sendable (Int, BackedUpFile, SealedSidecar, any ByteSource, EntryRun) throws -> Copied = {
            [isCancelled, sealing] index, file, sidecar, source, run in
            let bytes = try SealedSidecar.bytes(of: source)
            let digest = ContentDigest(of: bytes)
            let size = SealedSidecar.entrySize(digest.size)
            guard digest.sha256.hex == deviations[file.path]?.sha256 ?? file.digest,
                size == deviations[file.path]?.size ?? file.size
            else { return (nil, Deviation(size: size, sha256: digest.sha256.hex)) }
            guard let sealing else { throw MeshError(.internal, "There is no key to seal a sidecar with.") }
            let entry = try run.copy(
                first + index, reading: HeldBytes(sidecar.seal(bytes, with: sealing)),
                cancelled: { isCancelled.isSet }, progress: { job.advance(bytes: Int64($0)) })
            return (entry, nil)
        }
        /// Nil where the file is not what it was known to be.
        let copyFile: @Sendable (Int, BackedUpFile, EntryRun) throws -> ContentDigest? = {
            [photoFiles] index, file, run in
            let copied = try photoFiles.withReader(StoredName(catalogued: file.storedPath)) { source in
                if case .sealed(let sidecar) = file.content {
                    return try copySealed(index, file, sidecar, source, run)
                }
                return try copyStored(index, file, source, run)
            }
            let digests = found.withLock { found in
                if let deviation = copied.deviation { found.deviations[file.path] = deviation }
                return found.digests
            }
            if let entry = copied.entry, !file.isKnown { try digests.put(entry.sha256, at: index) }
            return copied.entry
        }
        /// - Returns: bytes of the files.
        let copyRun: @Sendable (Range<Int>) throws -> Int64 = { [isCancelled] entries in
            let run = try EntryRun(entries, of: writer)
            let some = try files.elements(entries.lowerBound - first..<entries.upperBound - first)
            var digests: [Int: ContentDigest] = [:]
            for (entry, file) in zip(entries, some) {
                do {
                    digests[entry] = try copyFile(entry - first, file, run)
                } catch {
                    guard let reason = Self.fault(of: error) else { throw error }
                    found.withLock { $0.unreadable[file.path] = reason }
                }
                if file.path.hasPrefix(BackupFormat.photoPrefix) { job.advance(items: 1) }
            }
            let isProven = try run.finish(cancelled: { isCancelled.isSet })
            // A later run would not know the digest of what it finds here, which the manifest needs.
            for (entry, digest) in digests where some[entry - entries.lowerBound].isKnown {
                progress.finish(entry - first, crc32: digest.crc32)
            }
            if isProven {
                let proven = found.withLock { $0.proven }
                for (entry, digest) in digests { try proven.put(digest, at: entry) }
            }
            return some.reduce(0) { $0 + $1.size }
        }
        /// One turn; false where no run is left.
        let copyRuns: @Sendable () throws -> Bool = {
            var turn = BackupTurn()
            while turn.mayTakeAnother {
                let place = next.wrappingAdd(1, ordering: .relaxed).oldValue
                guard place < runs.count else { return false }
                turn.bytes += try copyRun(runs[place])
                turn.entries += runs[place].count
            }
            return true
        }
        try await pool.run {
            for (index, document) in documents.all.enumerated().dropFirst() {
                try writer.write(document, as: index)
                job.advance(bytes: Int64(document.bytes.count))
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            // One writes, one hashes, one waits for the disk: all that the pool has.
            for _ in 0..<width + 2 {
                group.addTask {
                    repeat {
                        // A job that stands still may not be woken before the daemon is.
                        if job.isPaused { try await progress.keep() } else { try await progress.keepIfDue() }
                        try await job.mayContinue()
                    } while try await pool.run(copyRuns)
                }
            }
            do {
                try await group.waitForAll()
            } catch {
                // The first failure decides; the other threads stop at their next part.
                isCancelled.set()
                throw error
            }
        }
        return found.withLock { $0 }
    }
}
