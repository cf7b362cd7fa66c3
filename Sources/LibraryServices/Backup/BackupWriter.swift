import CLinux
import Executors
import Files
import Foundation
import LibraryModel
import LibraryStorage
import ServiceMesh
import Synchronization
import ZipArchive

/// Writes one backup file: documents and photos at offsets that are known before the first byte, copied, hashed
/// and checked against the catalogue by several threads at once. Blocks on its pool.
struct BackupWriter: Sendable {
    let photoFiles: any PhotoFiles
    let pool: BlockingPool
    let width: Int
    let isCancelled: CancellationFlag

    struct Written {
        let bytes: Int64
        /// Photo paths whose bytes were not those recorded.
        let damaged: [String]
        /// Photos whose bytes could not be read, and why: they are not in the file.
        let unreadable: [String: String]
    }

    /// Times that the file is written because something was not as it was known. What a photo may be found to be is
    /// bounded, so only another program that changes files all the time gets here.
    private static let rounds = 20

    private typealias Deviation = BackupCheckpoint.Deviation

    /// What copying found out.
    private struct Findings: Sendable {
        var deviations: [String: Deviation] = [:]
        var unreadable: [String: String] = [:]

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
        var contents = contents
        let begun = progress.checkpoint
        var deviations = begun.deviations
        var unreadable = begun.unreadable
        for _ in 0..<Self.rounds {
            let documents = try self.documents(contents, deviations, at: begun.time)
            let layout = try layout(contents, documents, deviations, at: begun.time)
            job.begin(phase: "copying", items: Int64(contents.photos.count), bytes: layout.totalSize)
            let there = progress.begin(
                try documents.arrangement(in: layout), deviations: deviations, unreadable: unreadable)
            let writer = ZipWriter(descriptor: descriptor, layout: layout)
            let left = try adopt(there, in: writer, contents, documents, job)
            let found: Findings
            do {
                found = try await copy(contents, left, documents, with: writer, deviations, progress, job: job)
            } catch  where job.isInterrupted {
                try? await progress.keep()
                throw error
            }
            guard !found.isEmpty else {
                return Written(
                    bytes: layout.totalSize,
                    damaged: deviations.keys.filter { unreadable[$0] == nil }.sorted(), unreadable: unreadable)
            }
            for path in found.deviations.keys where deviations[path] != nil {
                unreadable[path] = "its bytes change while they are read"
            }
            deviations.merge(found.deviations) { _, new in new }
            unreadable.merge(found.unreadable) { _, new in new }
            let gone = unreadable
            contents.photos.removeAll { gone[$0.photo.path] != nil }
            try await pool.run { guard ftruncate(descriptor, 0) == 0 else { throw Self.failure("truncate") } }
        }
        throw MeshError(
            .unavailable,
            "Other programs keep changing photo files of the library while they are backed up. Stop them, then try again."
        )
    }

    private static func failure(_ action: String) -> FileSystem.Failure {
        FileSystem.Failure(action: action, path: "the backup", code: errno)
    }

    private struct Documents: Sendable {
        let all: [(name: String, bytes: Data)]

        /// By the document that holds everything but the photos' bytes.
        func arrangement(in layout: ZipLayout) throws -> BackupCheckpoint.Arrangement {
            guard let index = all.firstIndex(where: { $0.name == SmilePileDialect.metadataEntry }) else {
                throw MeshError(.internal, "A backup was to be written without its metadata. Please report it.")
            }
            let metadata = all[index].bytes
            return BackupCheckpoint.Arrangement(
                metadataOffset: layout.dataOffset(of: index), metadataSize: Int64(metadata.count),
                metadataDigest: ContentDigest(of: metadata).sha256.hex, totalSize: layout.totalSize)
        }
    }

    /// - Parameter contents: with what is known of photos whose files are not what the catalogue says.
    private func documents(
        _ contents: BackupContents, _ deviations: [String: Deviation], at time: Timestamp
    ) throws -> Documents {
        var contents = contents
        contents.photos = contents.photos.map { sourced in
            guard let deviation = deviations[sourced.photo.path] else { return sourced }
            var sourced = sourced
            (sourced.photo.fileSize, sourced.photo.contentDigest) = (deviation.size, deviation.sha256)
            return sourced
        }
        return Documents(
            all: try SmilePileDialect.documents(of: contents, at: time, damaged: Set(deviations.keys)))
    }

    private func layout(
        _ contents: BackupContents, _ documents: Documents, _ deviations: [String: Deviation], at time: Timestamp
    ) throws -> ZipLayout {
        let documents = documents.all.map {
            ZipLayout.Entry(name: $0.name, size: Int64($0.bytes.count), modified: time.milliseconds)
        }
        let photos = contents.photos.map(\.photo).map {
            ZipLayout.Entry(
                name: $0.path, size: deviations[$0.path]?.size ?? $0.fileSize, modified: $0.shownMoment.milliseconds)
        }
        return try ZipLayout(entries: documents + photos)
    }

    /// Takes over what an earlier run has copied.
    /// - Returns: the numbers of the photos that are left.
    private func adopt(
        _ there: [Int: UInt32], in writer: ZipWriter, _ contents: BackupContents, _ documents: Documents, _ job: Job
    ) throws -> [Int] {
        try contents.photos.indices.filter { number in
            guard let crc32 = there[number] else { return true }
            let entry = documents.all.count + number
            try writer.adoptEntry(entry, crc32: crc32)
            job.advance(items: 1, bytes: writer.layout.entries[entry].size)
            return false
        }
    }

    /// Copies the photos that are left; finishes the file only where every one was what was expected.
    private func copy(
        _ contents: BackupContents, _ left: [Int], _ documents: Documents, with writer: ZipWriter,
        _ deviations: [String: Deviation], _ progress: BackupProgress, job: Job
    ) async throws -> Findings {
        let first = documents.all.count
        let next = Atomic<Int>(0)
        let found = Mutex(Findings())
        let copyPhoto: @Sendable (Int) throws -> Void = { [photoFiles, isCancelled] index in
            let photo = contents.photos[index].photo
            let expected = deviations[photo.path] ?? Deviation(size: photo.fileSize, sha256: photo.contentDigest)
            try photoFiles.withReader(StoredName(catalogued: photo.path)) { source in
                let digest: ContentDigest
                var isWritten = true
                do {
                    digest = try writer.copyEntry(
                        first + index, reading: source, cancelled: { isCancelled.isSet },
                        progress: { job.advance(bytes: Int64($0)) })
                } catch ZipError.sourceSizeDiffers {
                    isWritten = false
                    digest = try ContentDigest(reading: source, cancelled: { isCancelled.isSet })
                }
                guard !isWritten || digest.sha256.hex != expected.sha256 else {
                    return progress.finish(index, crc32: digest.crc32)
                }
                found.withLock {
                    $0.deviations[photo.path] = Deviation(size: digest.size, sha256: digest.sha256.hex)
                }
            }
        }
        /// One turn; false where no photo is left.
        let copyPhotos: @Sendable () throws -> Bool = {
            var turn = BackupTurn()
            while turn.mayTakeAnother {
                let place = next.wrappingAdd(1, ordering: .relaxed).oldValue
                guard place < left.count else { return false }
                let index = left[place]
                let photo = contents.photos[index].photo
                do {
                    try copyPhoto(index)
                } catch {
                    guard let reason = Self.fault(of: error) else { throw error }
                    found.withLock { $0.unreadable[photo.path] = reason }
                }
                turn.entries += 1
                turn.bytes += photo.fileSize
                job.advance(items: 1)
            }
            return true
        }
        try await pool.run {
            for (index, document) in documents.all.enumerated() {
                try writer.writeEntry(index, bytes: document.bytes)
                job.advance(bytes: Int64(document.bytes.count))
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<width {
                group.addTask {
                    repeat {
                        // A job that stands still may not be woken before the daemon is.
                        if job.isPaused { try await progress.keep() } else { try await progress.keepIfDue() }
                        try await job.mayContinue()
                    } while try await pool.run(copyPhotos)
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
        let findings = found.withLock { $0 }
        if findings.isEmpty { try await pool.run { try writer.finish() } }
        return findings
    }
}
