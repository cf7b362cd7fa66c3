import BackupFormats
import Executors
import Files
import Foundation
import LibraryModel
import LibraryServices
import LibraryStorage
import Sealing
import ServiceMesh

/// Writes, checks and restores backups, each as a job. One restore or backup runs at a time; looking at backups is
/// always possible.
public actor BackupCoordinator: MeshService {
    public static let serviceName = "BackupCoordinator"
    public static var messages: MessageList<BackupCoordinator> {
        MakeBackupKey.self
        OpenBackupKey.self
        CreateBackup.self
        InspectBackup.self
        VerifyBackup.self
        RestoreBackup.self
        UndoRestore.self
    }

    let catalogue: any Catalogue
    private let photoFiles: any PhotoFiles
    let namedFiles: NamedFiles
    let places: BackupPlaces
    private let discards: DiscardedFiles
    private let fields: SealedFields
    private let access: LibraryAccess
    let bulk: BlockingPool
    private let deriver: KeyDeriver
    let width: Int
    private unowned var mesh: Mesh?
    /// What is writing at the moment, in words.
    private var running: String?
    /// Removes what backups left elsewhere that came to nothing.
    private var settling: Task<Void, Never>?

    package init(
        catalogue: any Catalogue, photoFiles: any PhotoFiles, namedFiles: NamedFiles, places: BackupPlaces,
        discards: DiscardedFiles, fields: SealedFields, access: LibraryAccess = LibraryAccess(), bulk: BlockingPool,
        deriver: KeyDeriver, width: Int
    ) {
        self.access = access
        self.catalogue = catalogue
        self.photoFiles = photoFiles
        self.namedFiles = namedFiles
        self.places = places
        self.discards = discards
        self.fields = fields
        self.bulk = bulk
        self.deriver = deriver
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
            catalogue: catalogue, photoFiles: photoFiles, namedFiles: namedFiles, places: places, fields: fields,
            bulk: bulk, width: width, clock: clock)
    }

    var clock: MeshClock { mesh?.clock ?? .system }

    var offered: OfferedPlaces { OfferedPlaces(catalogue: catalogue, places: places, pool: bulk) }

    func check(_ request: CreateBackup) async throws {
        try refuseWhileRunning()
        try await offered.requireFolder(request.path)
        guard request.forPhone != true || request.key == nil else {
            throw MeshError(
                .invalidArgument,
                "A backup for the phone apps has no sealed fields: leave out the passphrase, or make one not for them."
            )
        }
        if let key = request.key { _ = try key.opened(try await fields.keyring()) }
        if request.incremental == true {
            try await creation.checkFolder(request)
        } else {
            _ = try await creation.target(request, at: clock.timestamp())
        }
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

    // MARK: Keys

    func makeKey(_ request: MakeBackupKey) async throws -> BackupKey {
        let keyring = try await fields.keyringMakingOne()
        return BackupKey(try await deriver.makeBackupKey(keyring, passphrase: request.passphrase))
    }

    func openKey(_ request: OpenBackupKey) async throws -> BackupKey {
        try Self.requireAbsolute(request.path)
        try await offered.requireBackups([request.path])
        let namedFiles = namedFiles
        let isCancelled = CancellationFlag()
        let sealed = try await withTaskCancellationHandler {
            try await bulk.run {
                let path = try SnapshotFolder.resolve(request.path, date: request.snapshot)
                return try Self.sealed(in: path, namedFiles, isCancelled)
            }
        } onCancel: {
            isCancelled.set()
        }
        guard let export = sealed?.key?.export else {
            throw MeshError(
                .invalidArgument,
                "This backup has no passphrase: \(sealed == nil ? "nothing in it is sealed" : "its sealed fields are under the keys of the library that wrote it"). Restore it without one."
            )
        }
        // Opened before keys are made: a wrong passphrase is no reason to have any.
        let keys: [DataKey]
        do {
            keys = try await deriver.open(export, passphrase: request.passphrase)
        } catch let error as MeshError where error.status == .invalidArgument && error.details.isEmpty {
            throw MeshError(
                .invalidArgument,
                "The passphrase is not the one of this backup, or its \(BackupFormat.sealedEntry) is damaged. Try again."
            )
        }
        let keyring = try await fields.keyringMakingOne()
        do {
            return BackupKey(try keyring.wrapBackupKey(keys, export: export))
        } catch is SealingError {
            throw MeshError(refusingBackup: "it has no key of its own.", entry: BackupFormat.sealedEntry)
        }
    }

    /// Of a damaged backup too: whoever salvages it wants to have what is sealed in it.
    private static func sealed(
        in path: String, _ namedFiles: NamedFiles, _ isCancelled: CancellationFlag
    ) throws -> SealedDocument? {
        do {
            return try BackupFile(path: path, namedFiles).contents.sealed
        } catch let error as MeshError where error.status == .dataLoss {
            let archive = try? BackupArchive(
                path: path, namedFiles, maximumBytes: .max, salvaging: true, isCancelled: isCancelled)
            guard let archive, let sealed = try? BackupFile(archive, salvaging: true).contents.sealed else {
                throw error
            }
            return sealed
        }
    }

    /// What is sealed in a backup, as far as it opens.
    func opened(
        _ backup: BackupFile, key: BackupKey?, making: Bool
    ) async throws -> OpenedFields {
        guard let sealed = backup.contents.sealed else { return .none }
        var keyring: Keyring?
        var problem: String?
        do {
            keyring = try await fields.keyring()
            // A library takes over what is sealed with keys of its own, which it may have none of yet.
            if keyring == nil, making, key != nil { keyring = try await fields.keyringMakingOne() }
        } catch {
            try Task.checkCancellation()
            problem = MeshError(describing: error).message
        }
        let (found, why) = (keyring, problem)
        let scratch = backup.contents.scratch
        return try await bulk.run { try OpenedFields(sealed, key: key, found, problem: why, scratch: scratch) }
    }

    // MARK: Reading

    func inspect(_ request: InspectBackup) async throws -> BackupSummary {
        try Self.requireAbsolute(request.path)
        try await offered.requireBackups([request.path])
        let namedFiles = namedFiles
        return try await bulk.run {
            let path = try SnapshotFolder.resolve(request.path, date: request.snapshot)
            return try BackupFile(path: path, namedFiles).summary
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
            catalogue: catalogue, photoFiles: photoFiles, fields: fields, pool: bulk, width: width, mesh: mesh,
            access: access, isCancelled: flag, prefersBackup: request.prefersBackup == true)
        let (namedFiles, photoFiles) = (namedFiles, photoFiles)
        return try await withTaskCancellationHandler {
            // Before it may have to wait for another one: a backup that was never there is nothing to wait for.
            let isSalvage = request.salvage == true
            let archive = try await bulk.run {
                // What is stored takes no more than the file itself; whether there is room for what is new is decided
                // with the plan. Only what inflates is held against the free space here.
                let path = try SnapshotFolder.resolve(request.path, date: request.snapshot)
                return try BackupArchive(
                    path: path, namedFiles,
                    maximumBytes: max(
                        photoFiles.room(), FileSystem.status(path).map { Int64($0.st_size) } ?? 0),
                    salvaging: isSalvage, isCancelled: flag)
            }
            try begin("A restore")
            defer { end() }
            let checked = try await BackupFile.checked(
                archive, salvaging: isSalvage, forAgain: request.dryRun != true, width: width, pool: bulk,
                isCancelled: flag, job: job)
            let opened = try await opened(checked.file, key: request.key, making: request.dryRun != true)
            let backup = try await bulk.run { try checked.opening(opened) }
            return try await restorer.restore(
                backup, opened, mode: request.mode ?? .merge, dryRun: request.dryRun == true, job: job)
        } onCancel: {
            flag.set()
        }
    }
}

extension MakeBackupKey: HandledMessage {
    public func perform(on service: BackupCoordinator) async throws -> BackupKey { try await service.makeKey(self) }
}

extension OpenBackupKey: HandledMessage {
    public func perform(on service: BackupCoordinator) async throws -> BackupKey { try await service.openKey(self) }
}

extension CreateBackup: HandledJob {
    public typealias Service = BackupCoordinator
    public static var resumption: JobResumption { .again }

    /// What a phone cannot be told is known before.
    public static func needsAttention(_ outcome: String) -> Bool { outcome != ForeignContents.left }

    public func prepare(on service: BackupCoordinator) async throws {
        try await service.check(self)
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
        try await service.inspect(self)
    }
}

extension RestoreBackup: HandledJob {
    public typealias Service = BackupCoordinator
    public static var resumption: JobResumption { .again }

    public func prepare(on service: BackupCoordinator) async throws {
        try BackupCoordinator.requireAbsolute(path)
        try await service.offered.requireBackups([path])
        guard salvage != true || mode != .replace else {
            throw MeshError(
                .invalidArgument,
                "What is whole of a damaged backup is added to the library, and does not replace it: leave out 'mode' or 'salvage'."
            )
        }
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

extension UndoRestore: HandledJob {
    public typealias Service = BackupCoordinator
    public static var resumption: JobResumption { .again }

    public static func needsAttention(_ outcome: String) -> Bool { outcome != RestoreUndoing.restored }

    public func prepare(on service: BackupCoordinator) async throws { try await service.checkUndo(job) }

    public func prepareAgain(on service: BackupCoordinator, job: Job) async throws {}

    public func run(on service: BackupCoordinator, job: Job) async throws -> UndoneRestore {
        try await service.undo(self.job, job: job)
    }
}
