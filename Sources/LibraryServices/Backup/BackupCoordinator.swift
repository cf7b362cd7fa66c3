import Executors
import Files
import Foundation
import LibraryModel
import LibraryStorage
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

    private let catalogue: any Catalogue
    private let photoFiles: any PhotoFiles
    private let namedFiles: NamedFiles
    private let places: BackupPlaces
    private let discards: DiscardedFiles
    private let bulk: BlockingPool
    private let width: Int
    private unowned var mesh: Mesh?
    /// What is writing at the moment, in words.
    private var running: String?
    /// Removes what backups left elsewhere that came to nothing.
    private var settling: Task<Void, Never>?

    package init(
        catalogue: any Catalogue, photoFiles: any PhotoFiles, namedFiles: NamedFiles, places: BackupPlaces,
        discards: DiscardedFiles, bulk: BlockingPool, width: Int
    ) {
        self.catalogue = catalogue
        self.photoFiles = photoFiles
        self.namedFiles = namedFiles
        self.places = places
        self.discards = discards
        self.bulk = bulk
        self.width = width
    }

    /// What is left on other file systems is not waited for: one that does not answer must not keep the library shut.
    public func start(on mesh: Mesh) {
        self.mesh = mesh
        let unfinished = creation.unfinished
        settling = Task(executorPreference: MeshClock.executor) { await unfinished.settleElsewhere() }
    }

    public func stop() async { await settling?.value }

    /// A job that meets another one waits for its end.
    private func begin(_ what: String) throws {
        try waitWhileRunning()
        running = what
    }

    private func end() { running = nil }

    private func waitWhileRunning() throws {
        if let running { throw JobObstacle("\(running) is running; this comes after it.") }
    }

    func refuseWhileRunning() throws {
        if let running {
            throw MeshError(
                .failedPrecondition, "\(running) is running. Wait for it, or cancel it: smilepile jobs.")
        }
    }

    static func requireAbsolute(_ path: String) throws {
        guard path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw MeshError(.invalidArgument, "Paths are absolute here; '\(path.prefix(200))' is not.")
        }
    }

    // MARK: Creating

    private var creation: BackupCreation {
        BackupCreation(
            catalogue: catalogue, photoFiles: photoFiles, namedFiles: namedFiles, places: places, bulk: bulk,
            width: width)
    }

    func target(_ request: CreateBackup, at time: Timestamp) async throws -> String {
        try await creation.target(request, at: time)
    }

    /// Whether a backup that was broken off can go on: the folder that it goes to has to be there.
    func checkAgain(_ request: CreateBackup, _ job: Job) async throws {
        try waitWhileRunning()
        let creation = creation
        let checkpoint = job.checkpoint
        try await bulk.run { try creation.requireFolder(request, checkpoint) }
    }

    /// Whether the backup that a job was reading is there.
    func checkAgain(reading path: String) async throws { try await bulk.run { try FileSystem.requireThere(path) } }

    func checkAgain(restoring path: String) async throws {
        try waitWhileRunning()
        try await checkAgain(reading: path)
    }

    func create(_ request: CreateBackup, job: Job) async throws -> BackupReceipt {
        do {
            try begin("A backup")
        } catch  where job.isCancelled {
            // It does not get its turn, and what an earlier run has begun and kept is wanted by nobody.
            await giveUp(job)
            throw CancellationError()
        }
        defer { end() }
        do {
            let receipt = try await creation.create(request, job: job)
            await discards.removeAll()
            return receipt
        } catch {
            if job.isCancelled { await giveUp(job) } else { await discards.removeAll() }
            throw error
        }
    }

    private func giveUp(_ job: Job) async {
        let unfinished = creation.unfinished
        try? await uncancelled { try await unfinished.giveUpAll(of: job.id) }
        await discards.removeAll()
    }

    // MARK: Reading

    func inspect(_ path: String) async throws -> BackupSummary {
        try Self.requireAbsolute(path)
        let namedFiles = namedFiles
        return try await bulk.run { try BackupFile(path: path, namedFiles).summary }
    }

    func verify(_ path: String, job: Job) async throws -> VerificationReceipt {
        try await job.mayContinue()
        job.begin(phase: "opening")
        let flag = CancellationFlag()
        return try await withTaskCancellationHandler {
            let backup = try await bulk.run { [namedFiles] in try BackupFile(path: path, namedFiles) }
            let bytes = try await backup.check(width: width, pool: bulk, isCancelled: flag, job: job)
            job.record(backup.unknownLines)
            for path in backup.damaged {
                job.record(ReceiptLine(item: path, outcome: "damaged", detail: "it was damaged when it was saved"))
            }
            return VerificationReceipt(
                backup: backup.summary, entries: backup.archive.entryCount, bytes: bytes,
                ending: backup.damaged.isEmpty ? .complete : .completeWithProblems)
        } onCancel: {
            flag.set()
        }
    }

    func restore(_ request: RestoreBackup, job: Job) async throws -> RestoreReceipt {
        if let made = job.checkpoint.flatMap({ try? JSONDecoder().decode(MadeRestore.self, from: $0) }) {
            job.record(made.lines)
            return made.receipt
        }
        try await job.mayContinue()
        guard let mesh else { throw MeshError(.unavailable, "The backup service is not started.") }
        job.begin(phase: "opening")
        let flag = CancellationFlag()
        let restorer = BackupRestorer(
            catalogue: catalogue, photoFiles: photoFiles, pool: bulk, width: width, mesh: mesh, isCancelled: flag)
        let (namedFiles, photoFiles) = (namedFiles, photoFiles)
        return try await withTaskCancellationHandler {
            // Before it may have to wait for another one: a backup that was never there is nothing to wait for.
            let backup = try await bulk.run {
                // What is stored takes no more than the file itself; whether there is room for what is new is decided
                // with the plan. Only what inflates is held against the free space here.
                try BackupFile(
                    path: request.path, namedFiles,
                    maximumBytes: max(
                        photoFiles.room(),
                        FileSystem.status(request.path).map { Int64($0.st_size) } ?? 0))
            }
            try begin("A restore")
            defer { end() }
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
    public static var resumption: JobResumption { .again }

    public func prepare(on service: BackupCoordinator) async throws {
        try await service.refuseWhileRunning()
        _ = try await service.target(self, at: .now())
    }

    public func prepareAgain(on service: BackupCoordinator, job: Job) async throws {
        // Its target is decided, and may be there. Without a checkpoint it is decided once more, but by the job itself: to
        // anybody else the file that it has begun is somebody's.
        try await service.checkAgain(self, job)
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
    public static var resumption: JobResumption { .again }

    public func prepare(on service: BackupCoordinator) async throws { try BackupCoordinator.requireAbsolute(path) }

    public func prepareAgain(on service: BackupCoordinator, job: Job) async throws {
        try await prepare(on: service)
        try await service.checkAgain(reading: path)
    }

    public func run(on service: BackupCoordinator, job: Job) async throws -> VerificationReceipt {
        try await service.verify(path, job: job)
    }
}

extension RestoreBackup: HandledJob {
    public typealias Service = BackupCoordinator
    public static var resumption: JobResumption { .again }

    public func prepare(on service: BackupCoordinator) async throws {
        try BackupCoordinator.requireAbsolute(path)
        try await service.refuseWhileRunning()
    }

    public func prepareAgain(on service: BackupCoordinator, job: Job) async throws {
        try BackupCoordinator.requireAbsolute(path)
        // With a checkpoint it is made, and only the receipt is missing.
        if job.checkpoint == nil { try await service.checkAgain(restoring: path) }
    }

    public func run(on service: BackupCoordinator, job: Job) async throws -> RestoreReceipt {
        try await service.restore(self, job: job)
    }
}
