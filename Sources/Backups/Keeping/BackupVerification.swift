import BackupFormats
import Executors
import Files
import Foundation
import LibraryModel
import LibraryStorage
import Scratch
import Sealing
import ServiceMesh

/// Whether backups are good, one by one and together.
extension BackupCoordinator {
    func verify(_ request: VerifyBackup, job: Job) async throws -> VerificationReceipt {
        let path = try await bulk.run { try SnapshotFolder.resolve(request.path, date: request.snapshot) }
        guard let others = request.others, !others.isEmpty else {
            return try await verify(path, key: request.key, naming: "", job: job).receipt
        }
        var (entries, bytes, opened) = (0, Int64(0), 0)
        var isSound = true
        var held: [SpooledIndex<SourcedPhoto>] = []
        for path in others {
            let other = try await bulk.run { try SnapshotFolder.resolve(path, date: nil) }
            let (receipt, photos) = try await verify(other, key: nil, naming: path + ": ", job: job)
            (entries, bytes) = (entries + receipt.entries, bytes + receipt.bytes)
            opened += receipt.sealedOpened ?? 0
            isSound = isSound && receipt.ending == .complete
            held.append(photos)
        }
        let (last, photos) = try await verify(path, key: request.key, naming: request.path + ": ", job: job)
        held.append(photos)
        let together = try await together(held, backups: others.count + 1, job: job)
        opened += last.sealedOpened ?? 0
        return VerificationReceipt(
            backup: last.backup, entries: entries + last.entries, bytes: bytes + last.bytes,
            sealedOpened: opened > 0 ? opened : nil, together: together,
            ending: isSound && last.ending == .complete && together.missing == 0 ? .complete : .completeWithProblems)
    }

    /// Lines for photos that are in none; the receipt has the number of all.
    private static let mostMissingLines = 10_000

    /// Bytes are compared, and not dates: what came out of the trash or of another backup was added long ago.
    private func together(
        _ held: [SpooledIndex<SourcedPhoto>], backups: Int, job: Job
    ) async throws -> VerificationReceipt.Together {
        let (together, lines) = try await catalogue.read { transaction in
            var (present, missing) = (0, 0)
            var lines: [ReceiptLine] = []
            try transaction.photos.forEach(since: nil) { photo in
                if try held.contains(where: { try $0.place(of: photo.photo.contentDigest) != nil }) {
                    present += 1
                    return
                }
                missing += 1
                guard missing <= Self.mostMissingLines else { return }
                lines.append(
                    ReceiptLine(
                        item: "photo \(photo.photo.id)", outcome: "missing",
                        detail: "\(photo.photo.name) is in none of them"))
            }
            return (VerificationReceipt.Together(backups: backups, photos: present, missing: missing), lines)
        }
        job.record(lines)
        return together
    }

    /// - Parameter naming: before what a line is about.
    /// - Returns: also the photos that are whole in it, by their digests.
    private func verify(
        _ path: String, key: BackupKey?, naming: String, job: Job
    ) async throws -> (receipt: VerificationReceipt, photos: SpooledIndex<SourcedPhoto>) {
        try await job.mayContinue()
        job.begin(phase: "opening")
        do {
            let found = try await read(path, key: key, naming: naming, CancellationFlag(), job: job)
            await note(path, verifiedAt: clock.timestamp())
            return found
        } catch let error as MeshError where error.status == .dataLoss {
            await note(path, verifiedAt: nil)
            throw error
        }
    }

    /// Remembers of a backup of this library whether it is sound. That this may fail is no reason to deny what was found.
    private func note(_ path: String, verifiedAt time: Timestamp?) async {
        let (made, bulk) = (MadeBackups(catalogue: catalogue, places: places, pool: bulk), bulk)
        _ = try? await uncancelled {
            let all = try await made.catalogue.read { try $0.madeBackups.all() }
            let names = try await bulk.run { made.names(of: path, among: all) }
            try await made.catalogue.write { try $0.madeBackups.setVerified(time, names) }
        }
    }

    private func read(
        _ path: String, key: BackupKey?, naming: String, _ flag: CancellationFlag, job: Job
    ) async throws -> (receipt: VerificationReceipt, photos: SpooledIndex<SourcedPhoto>) {
        try await withTaskCancellationHandler {
            // Of a snapshot every file that is not right is named: what is wrong with one says nothing of the others.
            let (archive, isSnapshot) = try await bulk.run { [namedFiles] in
                let archive = try BackupArchive(path: path, namedFiles, maximumBytes: .max, salvaging: false)
                return (archive, archive.isSnapshot)
            }
            let checked = try await BackupFile.checked(
                archive, salvaging: isSnapshot, forAgain: false, width: width, pool: bulk, isCancelled: flag, job: job)
            let backup = checked.file
            let opened = try await opened(backup, key: key, making: false)
            let problems = try await bulk.run { try Self.damagedLines(opened, backup) }
            let damaged = backup.damaged.map {
                ReceiptLine(item: $0, outcome: "damaged", detail: "it was damaged when it was saved")
            }
            job.record(
                (checked.lines + problems + damaged).map {
                    ReceiptLine(item: naming + $0.item, outcome: $0.outcome, detail: $0.detail)
                })
            if isSnapshot, let first = checked.leftOut.first {
                throw MeshError(
                    refusingBackup:
                        "\(checked.leftOut.count) of its files are gone or damaged, '\(first.prefix(200))' the first. The next backup into this folder mends them, as far as the library has them.",
                    entry: first)
            }
            let isSound = damaged.isEmpty && checked.isAsPromised && problems.isEmpty
            let unsound = Set(backup.damaged)
            let photos = try await bulk.run {
                try SpooledIndex(checked.contents.photos) { sourced in
                    unsound.contains(sourced.photo.path) ? nil : sourced.photo.contentDigest
                }
            }
            return (
                VerificationReceipt(
                    backup: backup.summary, entries: backup.archive.entryCount, bytes: checked.bytes,
                    sealedOpened: opened.count > 0 ? opened.count : nil,
                    ending: isSound ? .complete : .completeWithProblems),
                photos
            )
        } onCancel: {
            flag.set()
        }
    }

    /// Where others open, what does not is damaged; where none does, no key for them is here, and nothing is known.
    private static func damagedLines(_ opened: OpenedFields, _ backup: BackupFile) throws -> [ReceiptLine] {
        guard opened.problem == nil else { return [] }
        return try opened.lines(backup.contents, "a sealed field does not open: it is damaged, or under another key")
    }
}

extension VerifyBackup: HandledJob {
    public typealias Service = BackupCoordinator
    public static var resumption: JobResumption { .again }

    public func prepare(on service: BackupCoordinator) async throws {
        guard (others?.count ?? 0) <= Self.maximumOthers else {
            throw MeshError(.invalidArgument, "Name \(Self.maximumOthers) other backups at most.")
        }
        for path in (others ?? []) + [path] { try BackupCoordinator.requireAbsolute(path) }
        try await service.offered.requireBackups((others ?? []) + [path])
    }

    public func prepareAgain(on service: BackupCoordinator, job: Job) async throws {
        try await prepare(on: service)
        for path in (others ?? []) + [path] { try await service.checkAgain(reading: path) }
    }

    public func run(on service: BackupCoordinator, job: Job) async throws -> VerificationReceipt {
        try await service.verify(self, job: job)
    }
}
