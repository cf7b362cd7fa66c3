import CLinux
import Database
import Executors
import Foundation
import LibraryModel
import ServiceMesh
import ZipArchive

/// A restore that has been made: kept as its job's checkpoint by the transaction that made it, so that a kill after
/// that leads to this receipt and not to a second restore.
struct MadeRestore: Codable, Sendable {
    let receipt: RestoreReceipt
    let lines: [ReceiptLine]
}

/// Restores one checked backup: plan, stage, switch, clean up. Until the switch nothing of the library changes, and
/// whatever goes wrong leaves no trace.
struct BackupRestorer: Sendable {
    let folder: LibraryFolder
    let database: Database
    let discards: DiscardedFiles
    let pool: BlockingPool
    let width: Int
    let mesh: Mesh
    let isCancelled: CancellationFlag

    func restore(_ backup: BackupFile, mode: RestoreMode, dryRun: Bool, job: Job) async throws -> RestoreReceipt {
        let metadata = backup.metadata
        let strangers = backup.strangers
        var preview = try await database.read { connection in
            try RestorePlan.make(metadata, strangers: strangers, mode: mode, in: connection)
        }
        if mode == .replace && !dryRun { preview = try await distrustDamagedFiles(preview, metadata, job: job) }
        guard !dryRun else {
            for line in preview.lines { job.record(line) }
            return receipt(backup, preview, mode: mode, dryRun: true)
        }
        try await requireSpace(for: preview)
        let staged = try await stage(preview, from: backup, job: job)
        let made: MadeRestore
        do {
            made = try await switchOver(backup, mode: mode, preview: preview, staged: staged, job: job)
        } catch {
            if MeshError(describing: error).mayHaveBeenStored { throw error }
            try await pool.run { folder.abandon(staged.values.map(\.files)) }
            throw error
        }
        // The library is the new one already: whoever calls the job off now gets the truth, which is its receipt.
        try await uncancelled { try await cleanUp(staged) }
        job.record(made.lines)
        return made.receipt
    }

    private func receipt(
        _ backup: BackupFile, _ plan: RestorePlan, mode: RestoreMode, dryRun: Bool
    ) -> RestoreReceipt {
        RestoreReceipt(
            backup: backup.summary, mode: mode, isDryRun: dryRun, categoriesAdded: plan.newCategories.count,
            photosAdded: plan.newPhotos.count, photosKept: plan.kept.count, photosRemoved: plan.removed.count,
            swipeSessionsAdded: plan.newSessions.count,
            ending: plan.lines.contains { $0.outcome != "ignored" } ? .completeWithProblems : .complete)
    }

    /// A replacement may go on using a file of the library only if its bytes are those of the backup.
    private func distrustDamagedFiles(
        _ plan: RestorePlan, _ metadata: BackupMetadata, job: Job
    ) async throws -> RestorePlan {
        guard !plan.kept.isEmpty else { return plan }
        job.begin(phase: "comparing", items: Int64(plan.kept.count))
        var sound: Set<String> = []
        for (uuid, photo) in plan.kept {
            try await job.mayContinue()
            let digest = try await pool.run {
                try? folder.withFile(named: folder.location(of: photo.path)) {
                    try ContentDigest(ofDescriptor: $0, cancelled: { isCancelled.isSet }).sha256.hex
                }
            }
            if digest == photo.contentDigest { sound.insert(uuid) }
            job.advance(items: 1)
        }
        // A photo whose reading was called off is not a damaged one.
        try Task.checkCancellation()
        let trusted = sound
        return plan.distrusting(metadata: metadata) { trusted.contains($0) }
    }

    private func requireSpace(for plan: RestorePlan) async throws {
        // Thumbnails are about 20 kB each; the catalogue's log is small against that.
        let needed = plan.newPhotos.reduce(Int64(10 << 20)) { $0 &+ $1.fileSize &+ 32_768 }
        let path = folder.path
        let free = try await pool.run { try FileSystem.freeBytes(path) }
        guard needed <= free else {
            throw MeshError(
                short: .space,
                "The restore needs \(needed >> 20) MiB and the disk has \(free >> 20) MiB free. Free some space first.",
                details: ["neededBytes": .integer(needed), "freeBytes": .integer(free)])
        }
    }

    // MARK: Staging

    /// A photo in `staging/`, and its line where something is to be said of it.
    private struct StagedPhoto: Sendable {
        let files: LibraryFolder.Staged
        let line: ReceiptLine?
    }

    /// Extracts every new photo into `staging/` and makes its thumbnail, by the photo's uuid.
    private func stage(
        _ plan: RestorePlan, from backup: BackupFile, job: Job
    ) async throws -> [String: StagedPhoto] {
        job.begin(
            phase: "restoring", items: Int64(plan.newPhotos.count),
            bytes: plan.newPhotos.reduce(0) { $0 &+ $1.fileSize })
        var staged: [String: StagedPhoto] = [:]
        do {
            try await withThrowingTaskGroup(of: (String, StagedPhoto).self) { group in
                var next = plan.newPhotos.makeIterator()
                func startNext() {
                    guard let photo = next.next() else { return }
                    group.addTask { (photo.uuid, try await stage(photo, from: backup, job: job)) }
                }
                for _ in 0..<(width + 2) { startNext() }
                do {
                    while let (uuid, item) = try await group.next() {
                        staged[uuid] = item
                        startNext()
                    }
                } catch {
                    group.cancelAll()
                    isCancelled.set()
                    while let ended = await group.nextResult() {
                        if case .success(let (uuid, item)) = ended { staged[uuid] = item }
                    }
                    throw error
                }
            }
        } catch {
            let leftovers = staged.values
            try await pool.run { folder.abandon(leftovers.map(\.files)) }
            throw error
        }
        return staged
    }

    private func stage(
        _ photo: BackupMetadata.Photo, from backup: BackupFile, job: Job
    ) async throws -> StagedPhoto {
        try await job.mayContinue()
        let names = folder.temporaryNames()
        let path = folder.staging + "/" + names.photo
        guard let entry = backup.photoEntries[photo.path] else {
            throw MeshError(.internal, "The photo \(photo.path) has no entry.")
        }
        do {
            try await pool.run {
                try FileSystem.withFile(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW) { file in
                    let digest = try backup.reader.extract(
                        entry, to: file, cancelled: { isCancelled.isSet },
                        progress: { job.advance(bytes: Int64($0)) })
                    guard digest.sha256.hex == photo.contentDigest else {
                        throw MeshError(.dataLoss, "The backup's file changed while it was read. Restore it again.")
                    }
                    try FileSystem.sync(file, path)
                }
            }
            let problem = try await makeThumbnail(of: path, named: names.thumbnail, for: photo)
            job.advance(items: 1)
            let fileName = try await freeName(like: photo)
            return StagedPhoto(
                files: LibraryFolder.Staged(
                    photo: names.photo, thumbnail: problem == nil ? names.thumbnail : nil, fileName: fileName),
                line: problem)
        } catch {
            try? await pool.run {
                try FileSystem.remove(path)
                try FileSystem.remove(folder.staging + "/" + names.thumbnail)
            }
            throw error
        }
    }

    /// The photo's name in the backup where that is one of ours and free, else a new one. A backup names files; it
    /// does not decide where they go.
    ///
    /// Free is what neither the disk nor the catalogue knows. A photo whose file was lost still has its row, perhaps
    /// in the trash soon, and a discarded file may be about to be removed: a second photo of that name would lose
    /// its files with the first.
    private func freeName(like photo: BackupMetadata.Photo) async throws -> String {
        guard let wanted = folder.ownName(of: photo) else {
            return folder.newFileName(takenAt: photo.takenAt, fileExtension: folder.fileExtension(of: photo))
        }
        let (path, thumbnail) = ("photos/" + wanted, "thumbnails/" + LibraryFolder.thumbnailPrefix + wanted)
        let isKnown = try await database.read { connection in
            try PhotoTable.isStored(path: path, in: connection)
                || DiscardedFileTable.contains(path, in: connection)
                || DiscardedFileTable.contains(thumbnail, in: connection)
        }
        let isThere = try await pool.run {
            try [path, thumbnail].contains { try FileSystem.status(folder.location(of: $0)) != nil }
        }
        guard isKnown || isThere else { return wanted }
        return folder.newFileName(takenAt: photo.takenAt, fileExtension: folder.fileExtension(of: photo))
    }

    /// - Returns: a line for a photo that cannot be opened: its bytes are what was saved, so it is restored all the
    ///   same, without a thumbnail.
    /// What can be wrong with a picture itself. A full disk, or workers that do not start, end the restore instead: it can
    /// be repeated, a library without thumbnails could not.
    private static let faultsOfPictures: Set = ["unsupported_media", "damaged", "too_large"]

    private func makeThumbnail(
        of path: String, named name: String, for photo: BackupMetadata.Photo
    ) async throws -> ReceiptLine? {
        do {
            _ = try await mesh.send(MakeThumbnail(photo: path, thumbnail: folder.staging + "/" + name))
            return nil
        } catch let error as MeshError {
            guard let fault = error.details["imaging"]?.stringValue, Self.faultsOfPictures.contains(fault) else {
                throw error
            }
            return ReceiptLine(item: photo.path, outcome: "no_thumbnail", detail: error.message)
        }
    }

    // MARK: The switch

    private func switchOver(
        _ backup: BackupFile, mode: RestoreMode, preview: RestorePlan,
        staged: [String: StagedPhoto], job: Job
    ) async throws -> MadeRestore {
        try await job.mayContinue()
        job.begin(phase: "switching")
        let items = staged.values.map(\.files)
        try await pool.run { try folder.publish(items) }
        let metadata = backup.metadata
        let strangers = backup.strangers
        let names = staged.mapValues(\.files.fileName)
        let unopened = staged.values.compactMap(\.line).sorted { $0.item < $1.item }
        let id = job.id
        return try await database.writeAlone { connection in
            // Looked at again: requests went on while files were staged.
            var plan = try RestorePlan.make(metadata, strangers: strangers, mode: mode, in: connection)
            if mode == .replace { plan = plan.distrusting(metadata: metadata) { preview.kept[$0] != nil } }
            try RestoreApplication(metadata: metadata, plan: plan, mode: mode, fileNames: names).apply(in: connection)
            let made = MadeRestore(
                receipt: receipt(backup, plan, mode: mode, dryRun: false), lines: unopened + plan.lines)
            try JobTable.setCheckpoint(JSONEncoder().encode(made), of: id, in: connection)
            return made
        }
    }

    /// The switch is made; nothing here can undo it, and what fails is done by the next start.
    private func cleanUp(_ staged: [String: StagedPhoto]) async throws {
        let used = try await database.read { connection in
            try Set(
                staged.values.map(\.files.fileName).filter {
                    try PhotoTable.isStored(path: "photos/" + $0, in: connection)
                })
        }
        try await pool.run {
            let names = staged.values.map(\.files.fileName)
            for name in names where used.contains(name) { try? folder.settle(name) }
            try? folder.withdraw(names.filter { !used.contains($0) })
        }
        let problems = try await database.integrityCheck(quick: true)
        guard problems.isEmpty else {
            throw MeshError(
                .dataLoss, "The catalogue is damaged: \(problems[0]). Restore the backup into a new library.")
        }
    }
}

extension RestorePlan {
    /// The plan with kept files that are not trusted taken from the backup instead; the library's own copies of
    /// them go to the trash.
    func distrusting(metadata: BackupMetadata, _ isSound: (String) -> Bool) -> RestorePlan {
        var plan = self
        for photo in metadata.photos {
            guard let there = plan.kept[photo.uuid], !isSound(photo.uuid) else { continue }
            plan.kept[photo.uuid] = nil
            plan.newPhotos.append(photo)
            plan.removed.append(there)
        }
        return plan
    }
}

extension LibraryFolder {
    /// The photo's name in the backup where it is like those that we give: in lower case behind `IMG_`, so that no two
    /// differ in case alone, which no backup could hold.
    fileprivate func ownName(of photo: BackupMetadata.Photo) -> String? {
        let wanted = photo.path.dropFirst(BackupFormat.photoPrefix.count)
        let prefix = "IMG_"
        guard wanted.hasPrefix(prefix), wanted.utf8.count <= 128, wanted.utf8.last != UInt8(ascii: ".") else {
            return nil
        }
        let isOurs = wanted.dropFirst(prefix.count).utf8.allSatisfy { byte in
            (48...57).contains(byte) || (97...122).contains(byte) || byte == UInt8(ascii: "_")
                || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
        }
        return isOurs ? String(wanted) : nil
    }

    /// With the dot; by the photo's name where that says something harmless.
    fileprivate func fileExtension(of photo: BackupMetadata.Photo) -> String {
        guard let dot = photo.path.lastIndex(of: ".") else { return ".jpg" }
        let letters = photo.path[photo.path.index(after: dot)...].lowercased()
        let isHarmless =
            (1...5).contains(letters.utf8.count)
            && letters.utf8.allSatisfy { (48...57).contains($0) || (97...122).contains($0) }
        return isHarmless ? "." + letters : ".jpg"
    }
}
