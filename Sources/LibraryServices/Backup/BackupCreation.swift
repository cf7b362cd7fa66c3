import CLinux
import Database
import Executors
import Foundation
import LibraryModel
import ServiceMesh
import ZipArchive

/// Makes one backup: the catalogue as it is, a file under a name of its own, the proof that it can be read, then the
/// name that makes it a backup. A run that was broken off is continued from its checkpoint; where what it left is of
/// no use any more, the backup begins anew.
struct BackupCreation: Sendable {
    let folder: LibraryFolder
    let database: Database
    let bulk: BlockingPool
    let width: Int

    private var unfinished: UnfinishedBackups {
        UnfinishedBackups(folder: folder, database: database, pool: bulk)
    }

    /// Where the backup goes: the file itself, or the standard name in a folder.
    /// - Parameter job: that makes it; nil before there is one.
    func target(_ request: CreateBackup, at time: Timestamp, job: JobID? = nil) async throws -> String {
        guard request.categoryIds?.isEmpty != true else {
            throw MeshError(.invalidArgument, "Name at least one category, or leave them out to save all.")
        }
        let wanted = request.path ?? folder.backups
        try BackupCoordinator.requireAbsolute(wanted)
        let target = try await bulk.run {
            let isFolder = try FileSystem.status(wanted).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false
            return isFolder ? wanted + "/" + BackupFormat.fileName(at: time) : wanted
        }
        let partial = target + BackupFormat.partialSuffix
        let isFree = try await unfinished.isFree(folder.backupName(partial), for: job)
        try await bulk.run {
            let taken = try isFree ? (FileSystem.status(target) == nil ? nil : target) : partial
            if let taken {
                throw MeshError(.alreadyExists, "There is a file \(taken) already. Choose another name.")
            }
            let parent = LibraryFolder.parent(of: target)
            guard let found = try FileSystem.status(parent), found.st_mode & S_IFMT != S_IFREG else {
                throw MeshError(.notFound, "There is no folder \(parent). Make it first.")
            }
        }
        return target
    }

    func create(_ request: CreateBackup, job: Job) async throws -> BackupReceipt {
        if let checkpoint = job.checkpoint.flatMap(BackupCheckpoint.init) {
            if let receipt = try await goOn(from: checkpoint, job: job) { return receipt }
        }
        try await job.mayContinue()
        let time = Timestamp.now()
        let target = try await target(request, at: time, job: job.id)
        let name = folder.backupName(target)
        job.begin(phase: "reading the catalogue")
        // What an earlier run of this job has left may have another name, with the time of then.
        try await unfinished.giveUpAll(of: job.id)
        // Before the catalogue is read, so that no file of it goes from then on.
        try await unfinished.begin(name + BackupFormat.partialSuffix, by: job.id)
        let (snapshot, checkpoint, descriptor): (CatalogueSnapshot, BackupCheckpoint, Int32)
        do {
            var taken = try await database.read { try CatalogueSnapshot.take(request, in: $0) }
            let missing = try await leaveOutMissing(&taken)
            try await requireSpace(for: taken, target: target)
            snapshot = taken
            checkpoint = BackupCheckpoint(target: name, time: time, holdsPart: taken.isPartial, missing: missing)
            descriptor = try await unfinished.make(checkpoint.partial, by: job.id)
        } catch {
            await unfinished.giveUp(name + BackupFormat.partialSuffix)
            throw error
        }
        defer { close(descriptor) }
        return try await complete(snapshot, checkpoint, descriptor, job: job)
    }

    /// Writes, proves and names the file, which is made already.
    private func complete(
        _ snapshot: CatalogueSnapshot, _ checkpoint: BackupCheckpoint, _ descriptor: Int32, job: Job
    ) async throws -> BackupReceipt {
        let (partial, missing) = (checkpoint.partial, checkpoint.missing)
        let progress = BackupProgress(checkpoint, descriptor: descriptor, pool: bulk, job: job)
        let flag = CancellationFlag()
        do {
            let written = try await withTaskCancellationHandler {
                try await write(snapshot, to: descriptor, progress, flag: flag, job: job)
            } onCancel: {
                flag.set()
            }
            let damaged = written.damaged.count + written.unreadable.count + missing.count
            let proven = BackupCheckpoint.Proven(
                receipt: BackupReceipt(
                    path: folder.backupPath(checkpoint.target) ?? checkpoint.target,
                    // Photos that turned out unreadable in an earlier run are not in its snapshot.
                    photos: snapshot.photos.count { written.unreadable[$0.path] == nil },
                    categories: snapshot.categories.count, bytes: written.bytes, damaged: damaged,
                    isPartial: snapshot.isPartial, ending: damaged > 0 ? .completeWithProblems : .complete),
                lines: Self.lines(missing: missing, written))
            // From here on calling the job off would deny a backup that is there.
            try await uncancelled { try await progress.keep(proven: proven) }
            return try await conclude(progress.checkpoint, proven, job: job)
        } catch {
            // Interrupted, it goes on from its checkpoint, and needs the file.
            if !job.isInterrupted || job.checkpoint == nil { await unfinished.giveUp(partial) }
            throw error
        }
    }

    private static func lines(missing: [String], _ written: BackupWriter.Written) -> [ReceiptLine] {
        missing.map { ReceiptLine(item: $0, outcome: "missing", detail: "its file is gone") }
            + written.damaged.map {
                ReceiptLine(
                    item: $0, outcome: "damaged", detail: "its bytes are not those recorded; saved as they are")
            }
            + written.unreadable.sorted { $0.key < $1.key }.map {
                ReceiptLine(item: $0.key, outcome: "unreadable", detail: "left out: \($0.value)")
            }
    }

    /// The file is whole: it gets its name, and the receipt its lines.
    private func conclude(
        _ checkpoint: BackupCheckpoint, _ proven: BackupCheckpoint.Proven, job: Job
    ) async throws -> BackupReceipt {
        job.record(proven.lines)
        try await uncancelled { try await commit(checkpoint) }
        return proven.receipt
    }

    // MARK: Going on

    /// Goes on with a backup that was broken off.
    /// - Returns: nil where what it left is of no use any more; it has been removed, and the backup begins anew.
    private func goOn(from checkpoint: BackupCheckpoint, job: Job) async throws -> BackupReceipt? {
        let partial = checkpoint.partial
        let (id, database) = (job.id, database)
        let isOurs = try await uncancelled {
            try await database.read { try UnfinishedBackupTable.find(partial, in: $0)?.job == id }
        }
        guard isOurs else {
            // What makes it a backup takes it from the unfinished ones: then only the job's end is missing.
            guard let proven = checkpoint.proven, try await uncancelled({ try await isNamed(checkpoint) }) else {
                return nil
            }
            job.record(proven.lines)
            return proven.receipt
        }
        if let proven = checkpoint.proven, try await uncancelled({ try await isThere(checkpoint) }) {
            do {
                return try await conclude(checkpoint, proven, job: job)
            } catch {
                await unfinished.giveUp(partial)
                throw error
            }
        }
        do {
            try await job.mayContinue()
            job.begin(phase: "reading what is there")
            guard let (descriptor, snapshot) = try await open(checkpoint, job: id) else {
                await unfinished.giveUp(partial)
                return nil
            }
            defer { close(descriptor) }
            try await unfinished.claim(partial, descriptor, by: id)
            do {
                return try await complete(snapshot, checkpoint, descriptor, job: job)
            } catch let error as MeshError where error.status == .dataLoss {
                // What was copied before is not what the disk has now. The whole of it once more will tell.
                return nil
            }
        } catch {
            if job.isCancelled { await unfinished.giveUp(partial) }
            throw error
        }
    }

    /// Whether the proven file is there, under the one name or the other.
    private func isThere(_ checkpoint: BackupCheckpoint) async throws -> Bool {
        guard let partial = folder.backupPath(checkpoint.partial) else { return false }
        let isPartial = try await bulk.run { try FileSystem.status(partial) != nil }
        return isPartial ? try await holds(checkpoint, at: partial) : try await isNamed(checkpoint)
    }

    /// Whether the proven file has its final name.
    private func isNamed(_ checkpoint: BackupCheckpoint) async throws -> Bool {
        guard let target = folder.backupPath(checkpoint.target) else { return false }
        return try await holds(checkpoint, at: target)
    }

    private func holds(_ checkpoint: BackupCheckpoint, at path: String) async throws -> Bool {
        try await bulk.run { (try? BackupFile(path: path, in: folder))?.manifest.timestamp == checkpoint.time }
    }

    /// The unfinished file and the catalogue as it was; nil where it is not the file that the checkpoint is about.
    private func open(_ checkpoint: BackupCheckpoint, job: JobID) async throws -> (Int32, CatalogueSnapshot)? {
        guard let place = checkpoint.arrangement,
            (0...Int64(BackupFormat.maximumDocument)).contains(place.metadataSize),
            place.metadataOffset >= 0,
            let descriptor = try await unfinished.open(checkpoint.partial, by: job)
        else { return nil }
        let snapshot = try? await bulk.run { () -> CatalogueSnapshot? in
            var bytes = Data(count: Int(place.metadataSize))
            let count = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress, $0.count, off_t(place.metadataOffset))
            }
            guard count == bytes.count, ContentDigest(of: bytes).sha256.hex == place.metadataDigest,
                let metadata = try? JSONDecoder().decode(BackupMetadata.self, from: bytes)
            else { return nil }
            return CatalogueSnapshot(metadata, isPartial: checkpoint.holdsPart)
        }
        guard let found = snapshot ?? nil else {
            close(descriptor)
            return nil
        }
        return (descriptor, found)
    }

    /// Photos whose file is gone cannot be saved: they are left out, and reported.
    /// - Returns: their paths.
    private func leaveOutMissing(_ snapshot: inout CatalogueSnapshot) async throws -> [String] {
        let folder = folder
        let photos = snapshot.photos
        let present = try await bulk.run {
            try photos.filter { photo in
                let status = try FileSystem.status(folder.location(of: photo.path))
                return status.map { $0.st_mode & S_IFMT == S_IFREG } ?? false
            }
        }
        let kept = Set(present.map(\.id))
        snapshot.photos = present
        return photos.filter { !kept.contains($0.id) }.map(\.path)
    }

    private func requireSpace(for snapshot: CatalogueSnapshot, target: String) async throws {
        let needed = snapshot.photos.reduce(Int64(1 << 20)) { $0 &+ $1.fileSize &+ 8192 }
        let free = try await bulk.run {
            try FileSystem.freeBytes(LibraryFolder.parent(of: target))
        }
        guard needed <= free else {
            throw MeshError(
                short: .space,
                "The backup needs \(needed >> 20) MiB and the disk has \(free >> 20) MiB free. Choose another folder, or free some space.",
                details: ["neededBytes": .integer(needed), "freeBytes": .integer(free)])
        }
    }

    /// Writes the file, makes it durable, and proves it by reading it back.
    private func write(
        _ snapshot: CatalogueSnapshot, to descriptor: Int32, _ progress: BackupProgress, flag: CancellationFlag,
        job: Job
    ) async throws -> BackupWriter.Written {
        let partial = folder.backupPath(progress.checkpoint.partial) ?? progress.checkpoint.partial
        let writer = BackupWriter(folder: folder, pool: bulk, width: width, isCancelled: flag)
        let written = try await writer.write(snapshot, to: descriptor, progress: progress, job: job)
        try await bulk.run {
            try FileSystem.sync(descriptor, partial)
            // Out of the page cache, or reading back would prove what we remember and not what the disk has.
            _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
        }
        let proof = try await bulk.run { try BackupFile(path: partial, in: folder) }
        do {
            _ = try await proof.check(width: width, pool: bulk, isCancelled: flag, job: job)
            try Task.checkCancellation()
        } catch  where job.isInterrupted {
            // All is copied: the next run only has to prove it.
            try? await progress.keep()
            throw error
        }
        return written
    }

    /// From here on it is a backup. Once more where this was done already: it changes nothing.
    private func commit(_ checkpoint: BackupCheckpoint) async throws {
        guard let partial = folder.backupPath(checkpoint.partial), let target = folder.backupPath(checkpoint.target)
        else { return }
        try await bulk.run {
            if try FileSystem.status(partial) != nil { try FileSystem.renameNew(partial, to: target) }
            try FileSystem.sync(LibraryFolder.parent(of: target))
        }
        try await database.write { connection in
            try UnfinishedBackupTable.remove(checkpoint.partial, in: connection)
            try SettingTable.set(.lastBackupDate, to: String(checkpoint.time.milliseconds), in: connection)
        }
    }
}
