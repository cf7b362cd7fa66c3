import BackupFormats
import Executors
import Files
import Foundation
import LibraryModel
import LibraryServices
import LibraryStorage
import Scratch
import ServiceMesh
import ZipArchive

/// A restore that has been made: kept as its job's checkpoint by the transaction that made it, so that a kill after
/// that leads to this receipt and not to a second restore.
struct MadeRestore: Codable, Sendable {
    let receipt: RestoreReceipt
    let lines: [ReceiptLine]
    /// In which mode the library is since; nil where it is in the one that it was in.
    var mode: AppMode?
}

/// Restores one checked backup: plan, stage, switch, clean up. Until the switch nothing of the library changes, and
/// whatever goes wrong leaves no trace.
struct BackupRestorer: Sendable {
    let catalogue: any Catalogue
    let photoFiles: any PhotoFiles
    let fields: SealedFields
    let pool: BlockingPool
    let width: Int
    let mesh: Mesh
    let access: LibraryAccess
    let isCancelled: CancellationFlag
    /// Whether a merge takes the backup's word where it differs.
    let prefersBackup: Bool

    /// Times that only what has been deleted meanwhile is staged.
    private static let rounds = 3

    func restore(
        _ whole: CheckedBackup, _ open: OpenedFields, mode: RestoreMode, dryRun: Bool, job: Job
    ) async throws -> RestoreReceipt {
        let others = mode == .merge ? try await otherPictures(whole) : nil
        let backup = try await pool.run { try others.map(whole.telling(apart:)) ?? whole }
        let opened = others.map(open.telling(apart:)) ?? open
        let contents = backup.contents
        var preview = try await catalogue.read { transaction in
            try RestorePlan.make(
                contents, opened, digests: backup.digest(of:), damaged: backup.damagedWhenSaved, mode: mode,
                prefersBackup: prefersBackup, in: transaction)
        }
        if mode == .replace { preview = try await distrustDamagedFiles(preview, backup, dryRun: dryRun, job: job) }
        guard !dryRun else {
            let told = preview
            return try await pool.run {
                var plan = told
                plan.lines = try backup.lines + plan.damagedLines(contents) + plan.lines
                job.record(plan.lines)
                try plan.completions.forEach { job.record($0.line) }
                return try receipt(backup, plan, mode: mode, dryRun: true)
            }
        }
        // What is told, and what is sealed, comes from the plan that is made for the switch.
        (preview.lines, preview.sealed) = ([], [])
        var staged = StagedPhotos()
        let made: MadeRestore
        do {
            made = try await stageAndSwitch(
                backup, opened, mode: mode, preview: preview, staged: &staged, job: job)
        } catch {
            if MeshError(describing: error).mayHaveBeenStored { throw error }
            let leftovers = staged.lists
            try await pool.run {
                for staged in leftovers { photoFiles.abandon(staged) }
            }
            throw error
        }
        if let mode = made.mode { await access.begin(mode) }
        // The library is the new one already: whoever calls the job off now gets the truth, which is its receipt, and so
        // does whoever's disk fails.
        let files = staged
        let problems = await Task(executorPreference: MeshClock.executor) { await cleanUp(files) }.value
        job.record(made.lines + problems)
        return problems.isEmpty ? made.receipt : made.receipt.withProblems
    }

    private func otherPictures(_ backup: CheckedBackup) async throws -> OtherPictures {
        let (contents, damaged) = (backup.contents, Set(backup.damagedWhenSaved))
        return try await catalogue.read { try OtherPictures(contents, damaged, in: $0) }
    }

    /// Stages what the library lacks, and makes the switch. Photos that were deleted meanwhile are staged too, and the
    /// switch tried again; after some rounds everything that the backup has is staged, so that there is an end to it.
    ///
    /// Rejected: to stage everything at once, which costs as much for a merge of ten new photos as for all; and to keep
    /// requests from changing anything, for the minutes that staging takes.
    private func stageAndSwitch(
        _ backup: CheckedBackup, _ opened: OpenedFields, mode: RestoreMode, preview: RestorePlan,
        staged: inout StagedPhotos, job: Job
    ) async throws -> MadeRestore {
        var wanted = preview.newPhotos
        var round = 1
        try await requireSpace(
            for: wanted, from: backup, more: try await pool.run { try preview.completions.size() })
        let completed = try await stage(preview.completions, from: backup, job: job)
        try await staged.add(completed, pool)
        if !completed.isEmpty { try await publish(completed) }
        while true {
            try await requireSpace(for: wanted, from: backup)
            let more = try await stage(wanted, from: backup, job: job)
            try await staged.add(more, pool)
            try await job.mayContinue()
            job.begin(phase: "switching")
            try await publish(more)
            switch try await switchOver(backup, opened, mode: mode, preview: preview, staged: staged, job: job) {
            case .made(let made): return made
            case .keysChanged:
                fields.forget()
                guard round < Self.rounds * 2 else {
                    throw MeshError(
                        .unavailable, "The keys of the sealed fields are being changed. Restore once more in a moment.")
                }
                wanted = [] as SpooledList<Photo>
                round += 1
            case .lacking(let photos):
                let there = staged
                wanted =
                    round < Self.rounds
                    ? photos
                    : try await pool.run {
                        try backup.contents.photos.spooled(in: backup.contents.scratch) { sourced in
                            try there[sourced.photo.uuid].map { $0.completed != nil } ?? true ? sourced.photo : nil
                        }
                    }
                round += 1
            }
        }
    }

    /// Photos and thumbnails at once: the system lets one thread at a time change a folder.
    private func publish(_ staged: SpooledList<StagedPhoto>) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for kind in StoredName.Kind.allCases {
                group.addTask { try await pool.run { try photoFiles.publish(staged, kind) } }
            }
            try await group.waitForAll()
        }
    }

    private func receipt(
        _ backup: CheckedBackup, _ plan: RestorePlan, mode: RestoreMode, dryRun: Bool
    ) throws -> RestoreReceipt {
        var sealed = 0
        if backup.contents.sealed != nil {
            try plan.sealed.forEach { sealed += $0.fields.count }
            try plan.forEachNewSidecar { if backup.isSealed($0.path) { sealed += 1 } }
        }
        return RestoreReceipt(
            backup: backup.summary, mode: mode, isDryRun: dryRun, categoriesAdded: plan.newCategories.count,
            photosAdded: plan.newPhotos.count, photosKept: plan.kept.count, photosRemoved: plan.removed.count,
            swipeSessionsAdded: plan.newSessions.count,
            groupsAdded: backup.contents.groups.isEmpty ? nil : plan.newGroups.count,
            sealedValuesAdded: backup.contents.sealed == nil ? nil : sealed,
            becameBackup: mode == .merge && plan.mode == .replace ? true : nil,
            takeableDifferences: plan.mode == .merge && plan.takeable > 0 ? plan.takeable : nil,
            ending: plan.hasLosses(fromDamaged: backup.file.isSalvaged) ? .completeWithProblems : .complete)
    }

    /// A replacement may go on using a file of the library only if its bytes are those of the backup: the photo's own, and
    /// those of its original and its sidecars, where the backup has these whole and from the same source.
    /// - Parameter dryRun: whether those alone are read of which it is to be said whether they stay.
    private func distrustDamagedFiles(
        _ plan: RestorePlan, _ backup: CheckedBackup, dryRun: Bool, job: Job
    ) async throws -> RestorePlan {
        let wanted = try await pool.run {
            var wanted = PlaceSet()
            guard !plan.kept.isEmpty, !dryRun || !plan.damaged.isEmpty else { return wanted }
            try backup.contents.photos.forEach { place, sourced in
                guard let there = try plan.kept.find(sourced.photo.uuid) else { return }
                if !dryRun || there.isInsteadOfDamaged { wanted.insert(place) }
            }
            return wanted
        }
        guard !wanted.isEmpty else { return plan }
        job.begin(phase: "comparing", items: Int64(wanted.count))
        var unsound = PlaceSet()
        for place in backup.contents.photos.indices where wanted.contains(place) {
            let (sourced, found) = try await pool.run {
                let sourced = try backup.contents.photos.element(at: place)
                return (sourced, try plan.kept.find(sourced.photo.uuid))
            }
            guard let found else { continue }
            let there = found.photo
            try await job.mayContinue()
            var isSound = try await isSound(there.path, there.contentDigest)
            if isSound, found.isOfSameSource {
                for (path, digest) in sourced.filesBeside
                where try await pool.run({ try backup.digest(of: path) }) == digest {
                    guard let own = there.fileBeside(of: digest, sourced) else { continue }
                    isSound = try await self.isSound(own, digest)
                    if !isSound { break }
                }
            }
            if !isSound { unsound.insert(place) }
            job.advance(items: 1)
        }
        // A photo whose reading was called off is not a damaged one.
        try Task.checkCancellation()
        let distrusted = unsound
        return try await pool.run { try plan.distrusting(backup.contents, distrusted) }
    }

    private func isSound(_ path: String, _ expected: String) async throws -> Bool {
        try await pool.run {
            let digest = try? photoFiles.withReader(StoredName(catalogued: path)) {
                try ContentDigest(reading: $0, cancelled: { isCancelled.isSet }).sha256.hex
            }
            return digest == expected
        }
    }

    /// - Parameter backup: where the photos come from.
    private func requireSpace(
        for photos: SpooledList<Photo>, from backup: CheckedBackup, more: Int64 = 0
    ) async throws {
        let (needed, free) = try await pool.run {
            // What another program saved becomes a photo beside its original. Thumbnails are about 20 kB each; the catalogue's log
            // is small against that.
            let isForeign = backup.contents.isForeign
            var needed = Int64(10 << 20) &+ more &+ (isForeign ? 0 : try backup.originalBytes(of: photos))
            try photos.forEach { needed = needed &+ $0.fileSize &* (isForeign ? 2 : 1) &+ 32_768 }
            return (needed, try photoFiles.room())
        }
        guard needed <= free else {
            throw MeshError(
                short: .space,
                "The restore needs \(needed >> 20) MiB and the disk has \(free >> 20) MiB free. Free some space first.",
                details: ["neededBytes": .integer(needed), "freeBytes": .integer(free)])
        }
    }

    // MARK: The switch

    private enum Switch: Sendable {
        case made(MadeRestore)
        /// Nothing was done: of these photos, which the library had before, there are no files.
        case lacking(SpooledList<Photo>)
        /// Nothing was done: the library seals with another key since a moment ago.
        case keysChanged
    }

    private func switchOver(
        _ backup: CheckedBackup, _ opened: OpenedFields, mode: RestoreMode, preview: RestorePlan,
        staged: StagedPhotos, job: Job
    ) async throws -> Switch {
        let contents = try await pool.run { try backup.contents.taking(staged) }
        let (unknown, damaged) = (backup.lines, backup.damagedWhenSaved)
        let (opened, unsealed) = try await adding(backup.contents.isForeign ? staged : StagedPhotos(), to: opened)
        // With the key of now, and not with that of when the restore began.
        let keyring = opened.isEmpty ? nil : try await fields.keyring()
        let unopened = try await pool.run {
            (try staged.compactMap(\.line) + unsealed).sorted { $0.item < $1.item }
        }
        let id = job.id
        return try await catalogue.writeAlone { transaction in
            // Looked at again: requests went on while files were staged.
            var plan = try RestorePlan.make(
                contents, opened, digests: backup.digest(of:), damaged: damaged, mode: mode,
                prefersBackup: prefersBackup,
                in: transaction)
            if plan.mode == .replace { plan = try plan.distrusting(contents, unlessKeptBy: preview) }
            plan.lines = try unknown + plan.damagedLines(contents) + plan.lines
            plan.completions = try plan.completions.spooled(in: contents.scratch) { completion in
                // What was staged is called after the photo as it was then.
                guard let there = try staged[completion.uuid], let completed = there.completed,
                    completed.path == completion.there.path
                else { return nil }
                return completion.with(original: completed.original != nil, sidecars: there.sidecars)
            }
            let lacking = try plan.newPhotos.spooled(in: contents.scratch) { photo in
                try staged[photo.uuid]?.names == nil ? photo : nil
            }
            guard lacking.isEmpty else { return .lacking(lacking) }
            if !plan.sealed.isEmpty {
                guard let keyring, try transaction.sealedFields.activeKey() == keyring.active.description else {
                    return .keysChanged
                }
            }
            try RestoreApplication(
                contents: contents, plan: plan, staged: { try staged[$0] }, opened: opened, job: id, keyring: keyring
            ).apply(in: transaction)
            let made = MadeRestore(
                receipt: try receipt(backup, plan, mode: mode, dryRun: false),
                lines: unopened + plan.lines + (try plan.completions.compactMap(\.line)), mode: plan.lock?.mode)
            try transaction.jobs.setCheckpoint(JSONEncoder().encode(made), of: id)
            return .made(made)
        }
    }

    /// Where pictures of another program were taken is sealed with all else.
    private func adding(
        _ staged: StagedPhotos, to opened: OpenedFields
    ) async throws -> (OpenedFields, [ReceiptLine]) {
        let found = try await pool.run {
            try staged.compactMap { photo in photo.made?.position.map { (photo.uuid, $0) } }
        }
        guard !found.isEmpty else { return (opened, []) }
        let positions = Dictionary(found, uniquingKeysWith: { first, _ in first })
        do {
            return (opened.adding(positions, try await fields.keyringMakingOne()), [])
        } catch {
            try Task.checkCancellation()
            let why = MeshError(describing: error).message
            let line = ReceiptLine(
                item: BackupFormat.sealedEntry, outcome: BackupFormat.sealedOutcome,
                detail: "where \(positions.count) photos were taken is not kept: \(why)")
            return (opened, [line])
        }
    }

    /// The switch is made: nothing here can undo it, and what fails is done by the next start.
    /// - Returns: what a person has to know of it.
    private func cleanUp(_ staged: StagedPhotos) async -> [ReceiptLine] {
        async let check = catalogue.check()
        for list in staged.lists {
            for portion in list.portions(of: SpooledList<StagedPhoto>.portion) { try? await settle(list, portion) }
        }
        do {
            let found = try await check
            return found.prefix(1).map { problem in
                ReceiptLine(
                    item: "catalogue.sqlite", outcome: "damaged",
                    detail:
                        "the restored catalogue is damaged (\(problem)); restore the backup into a new library, and check the disk"
                )
            }
        } catch {
            return [
                ReceiptLine(
                    item: "catalogue.sqlite", outcome: "unchecked",
                    detail: "the restored catalogue could not be checked: \(MeshError(describing: error).message)")
            ]
        }
    }
}

extension BackupRestorer {
    /// What no photo names goes.
    private func settle(_ staged: SpooledList<StagedPhoto>, _ portion: Range<Int>) async throws {
        let names = try await pool.run { try staged.elements(portion).flatMap(\.files).map(\.name) }
        let used = try await catalogue.read { try $0.photos.inUse(names) }
        try await pool.run {
            try? photoFiles.settle(names.filter { used.contains($0) })
            try? photoFiles.withdraw(names.filter { !used.contains($0) })
        }
    }
}

extension SpooledList<RestorePlan.Completion> {
    /// Bytes of all that photos get.
    func size() throws -> Int64 {
        var size: Int64 = 0
        try forEach { size &+= $0.size }
        return size
    }
}

extension SourcedPhoto {
    /// The original and the sidecars that are files of their own: path and SHA-256.
    var filesBeside: [(path: String, digest: String)] {
        let original = photo.originalPath.flatMap { $0 == photo.path ? nil : ($0, sourceDigest) }
        return [original].compactMap { $0 } + photo.sidecars.map { ($0.path, $0.contentDigest) }
    }
}

extension Photo {
    /// Where a photo of the library has the file of a digest that the same photo of a backup has; nil where it has none.
    func fileBeside(of digest: String, _ sourced: SourcedPhoto) -> String? {
        if digest == sourced.sourceDigest, let originalPath, originalPath != path { return originalPath }
        return sidecars.first { $0.contentDigest == digest }?.path
    }
}

extension RestoreReceipt {
    /// The same, for a restore that is made and of which something is to be said.
    fileprivate var withProblems: RestoreReceipt {
        RestoreReceipt(
            backup: backup, mode: mode, isDryRun: isDryRun, categoriesAdded: categoriesAdded, photosAdded: photosAdded,
            photosKept: photosKept, photosRemoved: photosRemoved, swipeSessionsAdded: swipeSessionsAdded,
            groupsAdded: groupsAdded, sealedValuesAdded: sealedValuesAdded, becameBackup: becameBackup,
            takeableDifferences: takeableDifferences, ending: .completeWithProblems)
    }
}
