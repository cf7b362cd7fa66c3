import BackupFormats
import CLinux
import Executors
import Files
import Foundation
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh
import ZipArchive

/// Makes one backup: the catalogue as it is, a file under a name of its own, the proof that it can be read, then the
/// name that makes it a backup. A run that was broken off is continued from its checkpoint; where what it left is of
/// no use any more, the backup begins anew.
struct BackupCreation: Sendable {
    let catalogue: any Catalogue
    let photoFiles: any PhotoFiles
    let namedFiles: NamedFiles
    let places: BackupPlaces
    let fields: SealedFields
    let bulk: BlockingPool
    let width: Int
    let clock: MeshClock

    var unfinished: UnfinishedBackups {
        UnfinishedBackups(catalogue: catalogue, places: places, namedFiles: namedFiles, pool: bulk)
    }

    /// Where the backup goes: the file itself, or the standard name in a folder.
    /// - Parameter job: that makes it; nil before there is one.
    func target(_ request: CreateBackup, at time: Timestamp, job: Job? = nil) async throws -> String {
        guard request.categoryIds?.isEmpty != true else {
            throw MeshError(.invalidArgument, "Name at least one category, or leave them out to save all.")
        }
        let wanted = request.path ?? places.standard
        try BackupCoordinator.requireAbsolute(wanted)
        let begun = job?.checkpoint.flatMap(BackupCheckpoint.init)
        let isFolder = try await bulk.run {
            // What was a folder when the job began is one still: a stick that has gone must not become a file.
            try begun.map { $0.isNamedByUs(in: wanted) }
                ?? FileSystem.status(wanted).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false
        }
        var target = wanted
        for number in 1... {
            if isFolder {
                target =
                    wanted + "/"
                    + BackupFormat.fileName(at: time, forPhone: request.forPhone == true, number: number)
            }
            guard let taken = try await taken(by: target, for: job) else { break }
            // Nobody has chosen the name that has a date in it, so another one is as good.
            guard isFolder, number < Self.maximumNumber else {
                throw MeshError(.alreadyExists, "There is a file \(taken) already. Choose another name.")
            }
        }
        try await bulk.run { [target] in
            let parent = FileSystem.parent(of: target)
            guard let found = try FileSystem.status(parent), found.st_mode & S_IFMT != S_IFREG else {
                throw MeshError(.notFound, "There is no folder \(parent). Make it first.")
            }
            try places.requireFree(parent)
        }
        return target
    }

    /// Backups that may get names of one second.
    static let maximumNumber = 1000

    /// Which file stands in the way of a backup of this name; nil where none does.
    func taken(by target: String, for job: Job?) async throws -> String? {
        let partial = target + BackupFormat.partialSuffix
        guard try await unfinished.isFree(places.name(partial), for: job?.id) else { return partial }
        return try await bulk.run { try FileSystem.status(target) == nil ? nil : target }
    }

    /// For a backup that goes on.
    /// - Throws: ``JobObstacle`` where the folder that it goes to is not there.
    func requireFolder(_ request: CreateBackup, _ checkpoint: Data?) throws {
        let begun = checkpoint.flatMap(BackupCheckpoint.init).flatMap { places.path($0.target) }
        guard let target = begun ?? request.path, target.hasPrefix("/") else { return }
        try FileSystem.requireThere(FileSystem.parent(of: target))
    }

    /// What a backup then has not, as ``UnreadableEntry/kind`` calls it. Categories are in it, under another name.
    private static let leftOut: Set = ["photo", "review", "decision", "group", "member of a group"]

    func create(_ request: CreateBackup, job: Job) async throws -> BackupReceipt {
        if let checkpoint = job.checkpoint.flatMap(BackupCheckpoint.init) {
            if let receipt = try await resume(from: checkpoint, job: job) { return receipt }
        }
        try await job.mayContinue()
        let time = clock.timestamp()
        let hold = request.incremental == true ? try await hold(request) : nil
        // Before anybody hears that the job has ended.
        defer { hold?.release() }
        let target =
            if let hold {
                try await snapshotTarget(in: hold.folder, at: time, job: job)
            } else {
                try await target(request, at: time, job: job)
            }
        let name = places.name(target)
        // Where it goes is decided; a job that is broken off before there is more to keep goes on there.
        let beginning = BackupCheckpoint(target: name, time: time, holdsPart: false, missing: [])
        try await job.keep(checkpoint: beginning.encoded())
        job.begin(phase: "reading the catalogue")
        // What an earlier run of this job has left may have another name, with the time of then.
        try await unfinished.giveUpAll(of: job.id)
        // Before the catalogue is read, so that no file of it goes from then on.
        try await unfinished.begin(name + BackupFormat.partialSuffix, by: job.id)
        let (contents, checkpoint, descriptor): (BackupContents, BackupCheckpoint, Int32)
        do {
            var (taken, trashed, hubGroups) = try await catalogue.read {
                let hubGroups = try $0.groups.groups(nil).count { $0.hub != nil }
                return (
                    try BackupContents(of: request, from: $0, scratch: namedFiles.scratch), try $0.trash.count(),
                    hubGroups
                )
            }
            try Self.requireHeld(taken.photos.count)
            let leftForPhone = request.forPhone == true ? try taken.keepWhatPhonesRead() : nil
            var leftOut = 0
            if request.withoutOriginals == true {
                try taken.photos.forEach { if $0.photo.isLessWithoutOriginals { leftOut += 1 } }
                taken = try taken.withoutOriginals()
            }
            var (missing, unreadable) = try await leaveOutMissing(&taken)
            unreadable.merge(try await sealSidecars(&taken, job: job)) { first, _ in first }
            for row in try await catalogue.unreadableRows() where Self.leftOut.contains(row.kind) {
                unreadable[row.name] = "\(row.problem). \(row.advice)"
            }
            let unopened = try await reseal(&taken, under: request.key)
            // A folder needs room for what it has not.
            if hold == nil { try await requireSpace(for: taken, target: target) }
            contents = taken
            var begun = BackupCheckpoint(target: name, time: time, holdsPart: taken.isPartial, missing: missing)
            begun.unreadable = unreadable
            (begun.trashed, begun.hubGroups) = (trashed, hubGroups)
            begun.unopened = unopened.isEmpty ? nil : unopened
            begun.originals = leftOut
            begun.leftForPhone = leftForPhone
            checkpoint = begun
            descriptor = try await unfinished.make(checkpoint.partial, by: job.id)
        } catch {
            await unfinished.giveUp(name + BackupFormat.partialSuffix)
            throw error
        }
        var isMade = false
        defer { letGo(descriptor, isMade: isMade) }
        let receipt = try await complete(contents, checkpoint, descriptor, in: hold, job: job)
        isMade = true
        return receipt
    }

    /// Closes the file of a backup. That of one which was called off has no name by then, and to close it frees all its blocks:
    /// more than a second for some gigabytes, which nobody is made to wait for.
    func letGo(_ descriptor: Int32, isMade: Bool) {
        guard !isMade else {
            close(descriptor)
            return
        }
        let bulk = bulk
        Task(executorPreference: MeshClock.executor) {
            do {
                try await bulk.run { _ = close(descriptor) }
            } catch {
                // Nobody is left to do it for us.
                close(descriptor)
            }
        }
    }

    /// Writes, proves and names the file, which is made already.
    /// - Parameter hold: of the backup folder that the file is a snapshot in; nil of a backup in one file.
    func complete(
        _ contents: BackupContents, _ checkpoint: BackupCheckpoint, _ descriptor: Int32,
        in hold: SnapshotFolderHold? = nil,
        job: Job
    ) async throws -> BackupReceipt {
        let partial = checkpoint.partial
        var checkpoint = checkpoint
        if hold != nil { checkpoint.isSnapshot = true }
        let progress = BackupProgress(checkpoint, descriptor: descriptor, pool: bulk, job: job)
        let flag = CancellationFlag()
        do {
            let written = try await withTaskCancellationHandler {
                if let hold {
                    try await write(contents, to: descriptor, progress.checkpoint, in: hold, flag: flag, job: job)
                } else {
                    try await write(contents, to: descriptor, progress, flag: flag, job: job)
                }
            } onCancel: {
                flag.set()
            }
            let (target, known) = (places.path(checkpoint.target) ?? checkpoint.target, checkpoint)
            let proven = try await uncancelled {
                try await bulk.run { try Self.proven(written, contents, target, known) }
            }
            // From here on calling the job off would deny a backup that is there.
            do {
                try await uncancelled { try await progress.keep(proven: proven) }
            } catch  where job.checkpoint != nil {
                // That it is proven need not be noted where something is: the next run proves it again, or finds it under
                // its name. Where nothing is, that one would begin anew, and be refused because of this one's file.
            }
            return try await conclude(progress.checkpoint, proven, job: job)
        } catch {
            if let hold { try? await uncancelled { try await bulk.run { try hold.removePartials() } } }
            // Interrupted, it goes on from its checkpoint, and needs the file.
            if !job.isInterrupted || job.checkpoint == nil { await unfinished.giveUp(partial) }
            throw error
        }
    }

    static func lines(missing: [String], _ written: BackupWriter.Written) -> [ReceiptLine] {
        missing.map { ReceiptLine(item: $0, outcome: "missing", detail: "its file is gone") }
            + written.damaged.map {
                ReceiptLine(
                    item: $0, outcome: "damaged", detail: "its bytes are not those recorded; saved as they are")
            }
            + written.unreadable.sorted { $0.key < $1.key }.map {
                ReceiptLine(item: $0.key, outcome: "unreadable", detail: "left out: \($0.value)")
            }
            + (written.folder?.mended ?? []).map {
                ReceiptLine(
                    item: $0, outcome: "mended",
                    detail: "it was gone from the folder, or was not what it had been; it is copied anew")
            }
    }

    static func unopenedLines(_ paths: [String]) -> [ReceiptLine] {
        paths.map {
            ReceiptLine(
                item: $0, outcome: BackupFormat.sealedOutcome,
                detail: "a sealed field does not open here; saved as it is, and not under the passphrase")
        }
    }

    /// The file is whole: it gets its name, and the receipt its lines.
    func conclude(
        _ checkpoint: BackupCheckpoint, _ proven: BackupCheckpoint.Proven, job: Job
    ) async throws -> BackupReceipt {
        let problems = try await uncancelled { try await commit(checkpoint, proven.receipt) }
        job.record(proven.lines + problems)
        let (places, path) = (places, proven.receipt.path)
        let isOnLibraryDisk = try? await uncancelled { try await bulk.run { places.isOnLibraryDisk(path) } }
        return proven.receipt.completed(isOnLibraryDisk: isOnLibraryDisk ?? nil, hasProblems: !problems.isEmpty)
    }

    /// Refuses what could not be read back before anything of it is copied, and says the way out.
    static func requireHeld(_ photos: Int) throws {
        guard photos > BackupFormat.maximumPhotos else { return }
        throw MeshError(
            .failedPrecondition,
            "A backup can have \(BackupFormat.maximumPhotos) photos on this machine, because of its memory, and these are \(photos). Make several of parts, with "
                + "--category or --since; whether every photo is in one of them says: smilepile backup verify FILE FILE",
            details: ["photos": .integer(Int64(photos))])
    }

    private func requireSpace(for contents: BackupContents, target: String) async throws {
        let (needed, free) = try await bulk.run {
            var needed = Int64(1 << 20)
            try contents.sealed?.values.forEach { needed = needed &+ Int64($0.sealed.count) &* 2 &+ 128 }
            try contents.files().forEach { needed = needed &+ $0.size &+ 8192 }
            return (needed, try FileSystem.freeBytes(FileSystem.parent(of: target)))
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
        _ contents: BackupContents, to descriptor: Int32, _ progress: BackupProgress, flag: CancellationFlag,
        job: Job
    ) async throws -> BackupWriter.Written {
        let partial = places.path(progress.checkpoint.partial) ?? progress.checkpoint.partial
        let writer = BackupWriter(
            photoFiles: photoFiles, pool: bulk, width: width, isCancelled: flag, sealing: try await sealing(contents))
        let written = try await writer.write(contents, to: descriptor, progress: progress, job: job)
        let proof = try await bulk.run { [namedFiles] in
            try BackupFile(path: partial, namedFiles, proven: written.proven)
        }
        do {
            if contents.isForPhone { try await bulk.run { try Self.requireAll(contents, but: written, in: proof) } }
            _ = try await proof.check(
                forOthers: true, width: width, pool: bulk, isCancelled: flag, job: job)
            try Task.checkCancellation()
        } catch  where job.isInterrupted {
            // All is copied: the next run only has to prove it.
            try? await progress.keep()
            throw error
        }
        return written
    }

    /// Its photos as the apps' document tells of them, each with its entry; that has no digests which would say so.
    private static func requireAll(
        _ contents: BackupContents, but written: BackupWriter.Written, in proof: BackupFile
    ) throws {
        let wanted = try contents.photos.compactMap { written.unreadable[$0.photo.path] == nil ? $0.photo.path : nil }
        guard try Set(proof.contents.photos.compactMap { $0.photo.path }) == Set(wanted) else {
            throw MeshError(.dataLoss, "The backup does not have all of its photos. Try again, on another disk.")
        }
    }

    /// Gives the file its name; once more where this was done already, which changes nothing.
    /// - Returns: what could not be done after that. The backup is there, so it is no failure.
    private func commit(_ checkpoint: BackupCheckpoint, _ receipt: BackupReceipt) async throws -> [ReceiptLine] {
        guard let partial = places.path(checkpoint.partial), let target = places.path(checkpoint.target)
        else { throw MeshError(.internal, "The backup has no place.") }
        var problems: [ReceiptLine] = []
        let (known, provenAt) = (MadeBackups(catalogue: catalogue, places: places, pool: bulk), clock.timestamp())
        let made = try await bulk.run { () -> MadeBackup? in
            let isNamed = try FileSystem.status(partial) == nil
            // A snapshot is not as large as what it names; that it is the one that was made has been looked at before.
            let size = try FileSystem.status(target).map { Int64($0.st_size) }
            guard !isNamed || (checkpoint.isSnapshot == true ? size != nil : size == receipt.bytes) else {
                throw MeshError(
                    .notFound,
                    "The file of the backup was removed while it was being made, so there is none. Make it once more.")
            }
            // Looked at before it has its name: from then on its stick may be pulled out.
            let made = try? known.made(
                checkpoint.target, in: isNamed ? target : partial, receipt, at: checkpoint.time, provenAt: provenAt)
            if !isNamed { try FileSystem.renameNew(partial, to: target) }
            return made
        }
        do {
            try await bulk.run { try FileSystem.sync(FileSystem.parent(of: target)) }
        } catch {
            problems.append(
                ReceiptLine(
                    item: target, outcome: "unsynced",
                    detail:
                        "it is whole and has its name, but that may not survive a power cut, because its folder could not be synced (\(error)). Check the disk"
                ))
        }
        do {
            try await catalogue.write { transaction in
                try transaction.unfinishedBackups.remove(checkpoint.partial)
                // No library comes back from one for the phone apps as it was.
                guard receipt.isForPhone != true else { return }
                try transaction.settings.setLastBackupDate(checkpoint.time)
                if let made { try transaction.madeBackups.put(made) }
            }
        } catch {
            problems.append(
                ReceiptLine(
                    item: target, outcome: "unnoted",
                    detail:
                        "it is whole and has its name, but the library could not note when it was made: \(MeshError(describing: error).message)"
                ))
        }
        return problems
    }
}

extension BackupReceipt {
    /// The same for a backup that is there.
    /// - Parameter hasProblems: whether something is to be said of it.
    fileprivate func completed(isOnLibraryDisk: Bool?, hasProblems: Bool) -> BackupReceipt {
        BackupReceipt(
            path: path, photos: photos, categories: categories, bytes: bytes, damaged: damaged,
            originalsLeftOut: originalsLeftOut, isPartial: isPartial, sealedValues: sealedValues,
            sealedWith: sealedWith, trashed: trashed, hubGroups: hubGroups, isForPhone: isForPhone,
            added: added, addedBytes: addedBytes, mended: mended,
            isOnLibraryDisk: isOnLibraryDisk == true ? true : nil,
            ending: hasProblems ? .completeWithProblems : ending)
    }
}
