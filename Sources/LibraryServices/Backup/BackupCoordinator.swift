import CLinux
import Database
import Executors
import Foundation
import LibraryModel
import ServiceMesh

/// Writes, checks and restores backups, each as a job. One restore or backup runs at a time; looking at backups is
/// always possible.
public actor BackupCoordinator: MeshService {
    public static let serviceName = "BackupCoordinator"
    public static var messages: MessageList<BackupCoordinator> {
        CreateBackup.self
        InspectBackup.self
        VerifyBackup.self
        RestoreBackup.self
    }

    private let folder: LibraryFolder
    private let database: Database
    private let discards: DiscardedFiles
    private let bulk: BlockingPool
    private let width: Int
    private unowned var mesh: Mesh?
    /// What is writing at the moment, in words.
    private var running: String?

    init(folder: LibraryFolder, database: Database, discards: DiscardedFiles, bulk: BlockingPool, width: Int) {
        self.folder = folder
        self.database = database
        self.discards = discards
        self.bulk = bulk
        self.width = width
    }

    public func start(on mesh: Mesh) { self.mesh = mesh }

    private func begin(_ what: String) throws {
        if let running {
            throw MeshError(
                .failedPrecondition, "\(running) is running. Wait for it, or cancel it: smilepile jobs.")
        }
        running = what
    }

    private func end() { running = nil }

    func refuseWhileRunning() throws {
        if running != nil { try begin("") }
    }

    static func requireAbsolute(_ path: String) throws {
        guard path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw MeshError(.invalidArgument, "Paths are absolute here; '\(path.prefix(200))' is not.")
        }
    }

    // MARK: Creating

    /// Where the backup goes: the file itself, or the standard name in a folder.
    func target(_ request: CreateBackup, at time: Timestamp) async throws -> String {
        guard request.categoryIds?.isEmpty != true else {
            throw MeshError(.invalidArgument, "Name at least one category, or leave them out to save all.")
        }
        let wanted = request.path ?? folder.backups
        try Self.requireAbsolute(wanted)
        let target = try await bulk.run {
            let isFolder = try FileSystem.status(wanted).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false
            return isFolder ? wanted + "/" + BackupFormat.fileName(at: time) : wanted
        }
        let partial = Self.partial(target)
        // One that we could not remove ourselves is no obstacle; any other is somebody's.
        let isOurs = try await database.read { try DiscardedFileTable.contains(partial, in: $0) }
        try await bulk.run {
            for path in isOurs ? [target] : [target, partial] where try FileSystem.status(path) != nil {
                throw MeshError(.alreadyExists, "There is a file \(path) already. Choose another name.")
            }
            let parent = target.lastIndex(of: "/").map { $0 == target.startIndex ? "/" : String(target[..<$0]) } ?? "/"
            guard let found = try FileSystem.status(parent), found.st_mode & S_IFMT != S_IFREG else {
                throw MeshError(.notFound, "There is no folder \(parent). Make it first.")
            }
        }
        return target
    }

    private static func partial(_ target: String) -> String { target + ".partial" }

    func create(_ request: CreateBackup, job: Job) async throws -> BackupReceipt {
        try begin("A backup")
        defer { end() }
        let time = Timestamp.now()
        let target = try await target(request, at: time)
        job.begin(phase: "reading the catalogue")
        var snapshot = try await database.read { try CatalogueSnapshot.take(request, in: $0) }
        let missing = try await leaveOutMissing(&snapshot, job: job)
        try await requireSpace(for: snapshot, target: target)

        let partial = Self.partial(target)
        let descriptor = try await makePartial(partial)
        defer { close(descriptor) }
        let flag = CancellationFlag()
        do {
            let written = try await withTaskCancellationHandler {
                try await write(snapshot, to: descriptor, partial, at: time, flag: flag, job: job)
            } onCancel: {
                flag.set()
            }
            for path in written.damaged {
                job.record(
                    ReceiptLine(
                        item: path, outcome: "damaged", detail: "its bytes are not those recorded; saved as they are"))
            }
            for (path, reason) in written.unreadable.sorted(by: { $0.key < $1.key }) {
                job.record(ReceiptLine(item: path, outcome: "unreadable", detail: "left out: \(reason)"))
            }
            // It is proven; calling the job off now would deny a backup that is there.
            try await uncancelled { try await self.commit(partial, as: target, at: time) }
            let damaged = written.damaged.count + written.unreadable.count + missing
            return BackupReceipt(
                path: target, photos: snapshot.photos.count - written.unreadable.count,
                categories: snapshot.categories.count,
                bytes: written.bytes, damaged: damaged, isPartial: snapshot.isPartial,
                ending: damaged > 0 ? .completeWithProblems : .complete)
        } catch {
            await discards.remove([partial])
            throw error
        }
    }

    /// Makes the file that is to become the backup, and only if there is none of that name.
    private func makePartial(_ partial: String) async throws -> Int32 {
        if try await database.read({ try DiscardedFileTable.contains(partial, in: $0) }) {
            try await bulk.run { try FileSystem.remove(partial) }
        }
        // Before the file exists: a kill from here on leaves a file that the next start knows to remove.
        try await database.write { try DiscardedFileTable.add([partial], in: $0) }
        do {
            return try await bulk.run {
                let descriptor = clinux_open(partial, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
                guard descriptor >= 0 else { throw FileSystem.Failure(action: "make", path: partial, code: errno) }
                return descriptor
            }
        } catch {
            // It was not made, so what may be there is not ours to remove.
            let database = database
            try await uncancelled { try await database.write { try DiscardedFileTable.remove([partial], in: $0) } }
            throw error
        }
    }

    /// Photos whose file is gone cannot be saved: they are reported and left out.
    private func leaveOutMissing(_ snapshot: inout CatalogueSnapshot, job: Job) async throws -> Int {
        let folder = folder
        let photos = snapshot.photos
        let present = try await bulk.run {
            try photos.filter { photo in
                let status = try FileSystem.status(folder.absolute(photo.path))
                return status.map { $0.st_mode & S_IFMT == S_IFREG } ?? false
            }
        }
        let kept = Set(present.map(\.id))
        for photo in photos where !kept.contains(photo.id) {
            job.record(ReceiptLine(item: photo.path, outcome: "missing", detail: "its file is gone"))
        }
        snapshot.photos = present
        return photos.count - present.count
    }

    private func requireSpace(for snapshot: CatalogueSnapshot, target: String) async throws {
        let needed = snapshot.photos.reduce(Int64(1 << 20)) { $0 &+ $1.fileSize &+ 8192 }
        let free = try await bulk.run {
            try FileSystem.freeBytes(String(target[..<(target.lastIndex(of: "/") ?? target.startIndex)]) + "/")
        }
        guard needed <= free else {
            throw MeshError(
                .resourceExhausted,
                "The backup needs \(needed >> 20) MiB and the disk has \(free >> 20) MiB free. Choose another folder, or free some space.",
                details: ["neededBytes": .integer(needed), "freeBytes": .integer(free)])
        }
    }

    /// Writes the file, makes it durable, and proves it by reading it back.
    private func write(
        _ snapshot: CatalogueSnapshot, to descriptor: Int32, _ partial: String, at time: Timestamp,
        flag: CancellationFlag, job: Job
    ) async throws -> BackupWriter.Written {
        let writer = BackupWriter(folder: folder, pool: bulk, width: width, isCancelled: flag)
        let written = try await writer.write(snapshot, to: descriptor, at: time, job: job)
        try await bulk.run {
            try FileSystem.sync(descriptor, partial)
            // Out of the page cache, or reading back would prove what we remember and not what the disk has.
            _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
        }
        let proof = try await bulk.run { try BackupFile(path: partial) }
        _ = try await proof.check(width: width, pool: bulk, isCancelled: flag, job: job)
        try Task.checkCancellation()
        return written
    }

    /// From here on it is a backup.
    private func commit(_ partial: String, as target: String, at time: Timestamp) async throws {
        try await bulk.run {
            try FileSystem.renameNew(partial, to: target)
            try FileSystem.sync(String(target[..<(target.lastIndex(of: "/") ?? target.startIndex)]) + "/")
        }
        try await database.write { connection in
            try DiscardedFileTable.remove([partial], in: connection)
            try SettingTable.set(.lastBackupDate, to: String(time.milliseconds), in: connection)
        }
    }

    // MARK: Reading

    func inspect(_ path: String) async throws -> BackupSummary {
        try Self.requireAbsolute(path)
        return try await bulk.run { try BackupFile(path: path).summary }
    }

    func verify(_ path: String, job: Job) async throws -> VerificationReceipt {
        job.begin(phase: "opening")
        let flag = CancellationFlag()
        return try await withTaskCancellationHandler {
            let backup = try await bulk.run { try BackupFile(path: path) }
            let bytes = try await backup.check(width: width, pool: bulk, isCancelled: flag, job: job)
            for name in backup.strangers {
                job.record(ReceiptLine(item: name, outcome: "ignored", detail: "it is not part of a backup"))
            }
            let damaged = backup.manifest.files?.filter { $0.damaged == true } ?? []
            for file in damaged {
                job.record(
                    ReceiptLine(item: file.path, outcome: "damaged", detail: "it was damaged when it was saved"))
            }
            return VerificationReceipt(
                backup: backup.summary, entries: backup.reader.entries.count, bytes: bytes,
                ending: damaged.isEmpty ? .complete : .completeWithProblems)
        } onCancel: {
            flag.set()
        }
    }

    func restore(_ request: RestoreBackup, job: Job) async throws -> RestoreReceipt {
        try begin("A restore")
        defer { end() }
        guard let mesh else { throw MeshError(.unavailable, "The backup service is not started.") }
        job.begin(phase: "opening")
        let flag = CancellationFlag()
        let restorer = BackupRestorer(
            folder: folder, database: database, discards: discards, pool: bulk, width: width, mesh: mesh,
            isCancelled: flag)
        let folder = folder
        return try await withTaskCancellationHandler {
            let backup = try await bulk.run {
                // What is stored takes no more than the file itself; whether there is room for what is new is decided
                // with the plan. Only what inflates is held against the free space here.
                try BackupFile(
                    path: request.path,
                    maximumBytes: max(
                        FileSystem.freeBytes(folder.path),
                        FileSystem.status(request.path).map { Int64($0.st_size) } ?? 0))
            }
            _ = try await backup.check(width: width, pool: bulk, isCancelled: flag, job: job)
            return try await restorer.restore(
                backup, mode: request.mode ?? .merge, dryRun: request.dryRun == true, job: job)
        } onCancel: {
            flag.set()
        }
    }
}

extension CreateBackup: HandledJob {
    public typealias Service = BackupCoordinator

    public func prepare(on service: BackupCoordinator) async throws {
        try await service.refuseWhileRunning()
        _ = try await service.target(self, at: .now())
    }

    public func run(on service: BackupCoordinator, job: Job) async throws -> BackupReceipt {
        try await service.create(self, job: job)
    }
}

extension InspectBackup: HandledMessage {
    public func perform(on service: BackupCoordinator) async throws -> BackupSummary {
        try await service.inspect(path)
    }
}

extension VerifyBackup: HandledJob {
    public typealias Service = BackupCoordinator

    public func prepare(on service: BackupCoordinator) async throws { try BackupCoordinator.requireAbsolute(path) }

    public func run(on service: BackupCoordinator, job: Job) async throws -> VerificationReceipt {
        try await service.verify(path, job: job)
    }
}

extension RestoreBackup: HandledJob {
    public typealias Service = BackupCoordinator

    public func prepare(on service: BackupCoordinator) async throws {
        try BackupCoordinator.requireAbsolute(path)
        try await service.refuseWhileRunning()
    }

    public func run(on service: BackupCoordinator, job: Job) async throws -> RestoreReceipt {
        try await service.restore(self, job: job)
    }
}
