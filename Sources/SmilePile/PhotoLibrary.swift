import Backups
import Exchange
import Executors
import Files
import Foundation
import Imaging
@_exported import LibraryModel
import Importing
import LibraryServices
import LibraryStorage
import Links
import PhotoFolder
import SQLiteCatalogue
import Scratch
import Sealing
@_exported import ServiceMesh

/// A photo library in a folder, opened by this process: the same actors that the daemon serves, for a program that
/// embeds them.
///
/// ```swift
/// let library = try await PhotoLibrary.open(at: "/home/ada/Pictures/SmilePile")
/// let started = try await library.mesh.send(ImportPhotos(paths: ["/media/camera/DCIM"]))
/// let job = try await library.mesh.send(WaitForJob(job: started.job))
/// print(job.outcomes)
/// await library.close()
/// ```
///
/// One process at a time serves a library; a second one is refused with the first one's pid. What was under way
/// when the last one ended, however it ended, is finished or withdrawn before `open` returns; its jobs go on by themselves.
public final class PhotoLibrary: Sendable {
    /// Where every message goes in.
    public let mesh: Mesh
    /// The library's folder.
    public let path: String

    private let access: LibraryAccess
    private let folder: LibraryFolder
    private let hold: LibraryHold
    /// Driven by tests, which do not wait for its time.
    package let vigil: LibraryVigil
    /// Seen by tests.
    package let catalogue: SQLiteCatalogue
    private let pools: [BlockingPool]
    private let deriver: KeyDeriver

    private init(
        mesh: Mesh, access: LibraryAccess, folder: LibraryFolder, hold: LibraryHold, vigil: LibraryVigil,
        catalogue: SQLiteCatalogue, pools: [BlockingPool], deriver: KeyDeriver
    ) {
        self.mesh = mesh
        path = folder.path
        self.access = access
        self.folder = folder
        self.hold = hold
        self.vigil = vigil
        self.catalogue = catalogue
        self.pools = pools
        self.deriver = deriver
    }

    /// How a library is opened.
    public struct Options: Sendable {
        /// The program that opens photos; found beside this one unless told.
        public var imageWorker: String?
        /// The program that opens films; found beside that one unless told.
        public var filmWorker: String?
        /// Helper processes at once; as many as the machine has cores unless told.
        public var workers: Int
        /// The file that opens what is sealed, absolute and outside of the library's folder. Unless told: `$SMILEPILE_KEY_FILE`,
        /// the service manager's credential `smilepile-key`, or `smilepile/sealing.key` in `$XDG_CONFIG_HOME` or `~/.config`. It
        /// is made when something is sealed for the first time.
        public var keyFile: String?
        /// The file in which it is noted, by their paths, which libraries this user has opened, absolute; nil where that is not noted.
        /// In a folder that is noted, and empty now, no library is made: its disk is not mounted.
        public var openedLibraries: String?
        /// The file that keeps what tells a monitor's token (`metrics.makeToken`), absolute, in a folder of this user's; nil where none
        /// is made.
        public var metricsToken: String?
        /// Whether one is made there all the same.
        public var makesNew = false
        /// Told of the beginning and the end of each job, for a log; it returns at once.
        public var jobLog: @Sendable (JobNotice) -> Void = { _ in }
        /// Told in a sentence when the library is not where it was opened any more, and when it is again; it returns at once.
        public var faultLog: @Sendable (String) -> Void = { _ in }
        /// How many lines the program's log has lost, for the library's status.
        public var lostLogLines: @Sendable () -> Int = { 0 }
        /// For tests, which else depend on how fast they are.
        package var checkpointsWhenIdle = true
        /// The catalogue as the services have it; for tests, which put themselves between the two.
        package var servicesCatalogue: @Sendable (any Catalogue) -> any Catalogue = { $0 }
        /// By which wrong PINs have to wait; for tests, which let it pass.
        package var bootClock = BootClock.system
        /// By which groups' photos expire and the trash is emptied; for tests, which set it. Nil: the machine's.
        package var wallClock: WallClock?
        /// By which a file seems to be written to just now, and is not known later; for tests, which are faster or slower than that.
        package var sourceClock = WallClock { .now() }
        /// The way to other machines that keep groups; for tests, which are those machines.
        package var groupRemotes: GroupRemoteMaker = { try HTTPGroupRemote($0, token: $1) }
        /// Until a machine that keeps groups is asked once more because somebody looks at them; for tests, which do not wait.
        package var groupLookPause = Duration.seconds(60)
        /// For tests, which do not wait.
        package var folderPauses = FolderWatcher.Pauses()
        /// The same for machines that have reviews in common with this one.
        package var reviewRemotes: ReviewRemoteMaker = { try HTTPReviewRemote($0, token: $1) }
        /// For tests, whose machine is never idle.
        package var isMachineIdle = MachineLoad.isIdle
        /// Bytes that image workers share for big photos; for tests, to which pictures are big that are not.
        package var imageMemory = ImageLimits.sharedMemory(ofMachine: ProcessInfo.processInfo.physicalMemory)

        public init(imageWorker: String? = nil, workers: Int? = nil) {
            self.imageWorker = imageWorker
            self.workers = workers ?? max(1, ProcessInfo.processInfo.activeProcessorCount)
        }
    }

    /// Opens the library at `path`, making it where there is none and none was opened before.
    /// - Throws: ``/ServiceMesh/MeshError``: `failed_precondition` where another process serves it, where the catalogue is another
    ///   program's or a newer version's, where one was opened in a folder that has none now, or where no image worker is found;
    ///   `data_loss` where the catalogue is damaged.
    public static func open(at path: String, options: Options = Options()) async throws -> PhotoLibrary {
        do {
            return try await openLocked(at: path, options: options)
        } catch {
            throw MeshError(describing: error)
        }
    }

    private static func openLocked(at path: String, options: Options) async throws -> PhotoLibrary {
        guard let worker = options.imageWorker ?? ImageWorkerPool.defaultExecutable() else {
            throw MeshError(
                .failedPrecondition,
                "The program smilepile-image-worker was not found. Put it beside this one, or name it in SMILEPILE_IMAGE_WORKER."
            )
        }
        guard let filmWorker = options.filmWorker ?? ImageWorkerPool.defaultFilmExecutable(beside: worker) else {
            throw MeshError(
                .failedPrecondition,
                "The program smilepile-film-worker was not found. Put it beside this one, or name it in SMILEPILE_FILM_WORKER."
            )
        }
        let workers = ImageWorkerPool(
            executable: worker, workers: options.workers, sharedMemory: options.imageMemory)
        let filmWorkers = ImageWorkerPool(
            executable: filmWorker, workers: options.workers, sharingMemoryOf: workers)
        let files = BlockingPool(name: "files", threads: 4)
        // More than there are cores: while some wait for the disk, others hash.
        let bulk = BlockingPool(name: "backup", threads: options.workers + 2, niceness: 5)
        let deriver = KeyDeriver()
        do {
            let opened = options.openedLibraries.map { OpenedLibraries(file: $0) }
            let (folder, hold) = try await files.run {
                try takeHold(at: path, unlessIn: options.makesNew ? nil : opened)
            }
            let catalogue = try await SQLiteCatalogue(
                at: folder.catalogue, checkpointsWhenIdle: options.checkpointsWhenIdle, ownership: hold.makeOwnership())
            do {
                try await files.run {
                    try hold.holdCatalogue(SQLiteCatalogue.lastingFiles(at: LibraryFolder.catalogueName))
                }
                let access = LibraryAccess()
                let served = options.servicesCatalogue(catalogue)
                let due = try await DueTime.open(
                    served, boot: options.bootClock, wall: options.wallClock ?? WallClock { .now() })
                let mesh = try Mesh(
                    services: await services(
                        catalogue: served, access: access, photoFiles: folder, namedFiles: folder.namedFiles,
                        path: folder.path, scratch: folder.staging,
                        keyFile: options.keyFile.map { KeyFile(path: $0) } ?? .usual(), files: files, bulk: bulk,
                        deriver: deriver,
                        workers: workers, filmWorkers: filmWorkers, width: options.workers,
                        bootClock: options.bootClock, wallClock: options.wallClock,
                        sourceClock: options.sourceClock,
                        groupLooks: GroupLooks(pause: options.groupLookPause), groupRemotes: options.groupRemotes,
                        reviewRemotes: options.reviewRemotes,
                        isMachineIdle: options.isMachineIdle, folderPauses: options.folderPauses, due: due,
                        lostLogLines: options.lostLogLines, metricsToken: options.metricsToken),
                    journal: catalogue.journal, keeping: { _ in due.now() }, jobLog: options.jobLog)
                try await mesh.start()
                await note(folder.path, in: opened, files: files, log: options.faultLog)
                let vigil = LibraryVigil(
                    folder: folder, hold: hold, catalogue: catalogue, files: files, log: options.faultLog)
                vigil.start()
                return PhotoLibrary(
                    mesh: mesh, access: access, folder: folder, hold: hold, vigil: vigil, catalogue: catalogue,
                    pools: [files, bulk], deriver: deriver)
            } catch {
                await catalogue.close()
                throw error
            }
        } catch {
            await files.shutDown()
            await bulk.shutDown()
            await deriver.shutDown()
            throw error
        }
    }

    /// Makes the library's folder where there is none, takes the right to serve it, and gives it back a catalogue that was
    /// taken away from it.
    private static func takeHold(
        at path: String, unlessIn opened: OpenedLibraries? = nil
    ) throws -> (folder: LibraryFolder, hold: LibraryHold) {
        let folder = LibraryFolder(
            path: URL(fileURLWithPath: path).standardizedFileURL.path, catalogueFiles: SQLiteCatalogue.files(at:))
        try folder.make(unlessIn: opened)
        let hold = try LibraryHold(path: folder.path)
        let held = folder.held(by: hold)
        _ = try held.putBackCatalogue()
        return (held, hold)
    }

    /// A library is served all the same where that cannot be noted.
    private static func note(
        _ path: String, in opened: OpenedLibraries?, files: BlockingPool, log: @Sendable (String) -> Void
    ) async {
        do {
            try await files.run { try opened?.note(path) }
        } catch {
            log("it cannot be noted that \(path) was opened: \(MeshError(describing: error).message)")
        }
    }

    /// Removes the PIN of the library at `path`, which nobody serves, and leaves kids mode: the way back where the PIN is
    /// lost. A PIN keeps children out, and not whoever may write the library's files.
    /// - Returns: whether there was a PIN.
    /// - Throws: ``/ServiceMesh/MeshError``: `failed_precondition` where a process serves the library, with its pid;
    ///   `not_found` where there is no library.
    public static func resetPIN(at path: String) async throws -> Bool {
        let files = BlockingPool(name: "files", threads: 1)
        do {
            let (folder, hold) = try await files.run {
                let folder = LibraryFolder(path: URL(fileURLWithPath: path).standardizedFileURL.path)
                guard try FileSystem.status(folder.catalogue) != nil else {
                    throw MeshError(
                        .notFound, "There is no library in \(folder.path). Name its folder: --library FOLDER")
                }
                return try takeHold(at: path)
            }
            let catalogue = try await SQLiteCatalogue(at: folder.catalogue, ownership: hold.makeOwnership())
            let outcome: Result<Bool, any Error>
            do {
                outcome = .success(
                    try await catalogue.write { transaction in
                        let wasSet = try transaction.access.pin() != nil
                        try transaction.access.store(nil)
                        try transaction.access.setMode(.parent)
                        return wasSet
                    })
            } catch {
                outcome = .failure(error)
            }
            await catalogue.close()
            hold.release()
            await files.shutDown()
            return try outcome.get()
        } catch {
            await files.shutDown()
            throw MeshError(describing: error)
        }
    }

    /// Every service, in the order in which they start: whoever is called stands before its callers. Brings files and
    /// catalogue together first.
    /// - Parameters:
    ///   - path: of the library, as people know it; backups may lie below it.
    ///   - scratch: a folder of this machine, of which the next start removes what a kill left.
    ///   - due: the time by which something is removed for good because its date has passed.
    ///   - keyFile: nil where there is no place for one; then nothing can be sealed.
    package static func services(
        catalogue: any Catalogue, access: LibraryAccess = LibraryAccess(), photoFiles: any PhotoFiles,
        namedFiles: NamedFiles, path: String, scratch: String, keyFile: KeyFile?, files: BlockingPool,
        bulk: BlockingPool, deriver: KeyDeriver = KeyDeriver(), workers: ImageWorkerPool,
        filmWorkers: ImageWorkerPool, width: Int, bootClock: BootClock = .system,
        wallClock: WallClock? = nil, sourceClock: WallClock = WallClock { .now() },
        groupLooks: GroupLooks = GroupLooks(),
        groupRemotes: @escaping GroupRemoteMaker = { try HTTPGroupRemote($0, token: $1) },
        reviewRemotes: @escaping ReviewRemoteMaker = { try HTTPReviewRemote($0, token: $1) },
        isMachineIdle: @escaping @Sendable () -> Bool = MachineLoad.isIdle,
        folderPauses: FolderWatcher.Pauses = FolderWatcher.Pauses(), due: DueTime = .following(),
        lostLogLines: @escaping @Sendable () -> Int = { 0 }, metricsToken: String? = nil
    ) async throws -> [any MeshService] {
        let places = BackupPlaces(library: path)
        let discards = DiscardedFiles(catalogue: catalogue, photoFiles: photoFiles, pool: files)
        let unfinished = UnfinishedBackups(
            catalogue: catalogue, places: places, namedFiles: namedFiles, pool: files)
        let problems = try await Reconciliation.run(
            catalogue: catalogue, photoFiles: photoFiles, discards: discards, pool: files,
            settleBackups: unfinished.settle)
        let thumbnailer = Thumbnailer(
            catalogue: catalogue, access: access, namedFiles: namedFiles, photoFiles: photoFiles, workers: workers,
            filmWorkers: filmWorkers, files: files, width: width)
        let sealedFields = SealedFields(
            catalogue: catalogue, keyFile: keyFile, namedFiles: namedFiles, pool: files)
        return [
            SettingsStore(catalogue: catalogue, clock: wallClock),
            AccessStore(catalogue: catalogue, access: access, deriver: deriver, clock: bootClock),
            DeviceStore(catalogue: catalogue, access: access, clock: bootClock),
            CategoryStore(catalogue: catalogue, access: access),
            PhotoStore(catalogue: catalogue, discards: discards, access: access, due: due),
            SealedFieldStore(
                catalogue: catalogue, fields: sealedFields, discards: discards, pool: files, deriver: deriver),
            thumbnailer,
            SwipeSessionRecorder(catalogue: catalogue, clock: wallClock ?? WallClock { .now() }),
            LibraryObserver(catalogue: catalogue, access: access, due: due),
            LibraryOverview(
                path: path, catalogue: catalogue, photoFiles: photoFiles,
                backups: BackupAvailability(catalogue: catalogue, places: places, pool: files),
                imageWorkers: thumbnailer.status, files: files, problems: problems, due: due, lostLogLines: lostLogLines
            ),
            MetricsStore(tokenFile: metricsToken, files: files),
            StorageAuditor(
                catalogue: catalogue, photoFiles: photoFiles, files: files, scratch: namedFiles.scratch, workers: width),
            PhotoRedater(
                catalogue: catalogue, photoFiles: photoFiles, workers: workers, filmWorkers: filmWorkers, files: files,
                width: width),
            UploadStore(namedFiles: namedFiles, files: files, due: due),
            SentFileStore(catalogue: catalogue),
            PhotoImporter(
                namedFiles: namedFiles, photoFiles: photoFiles, files: files, workers: width,
                sourceClock: sourceClock),
            GroupStore(
                catalogue: catalogue, photoFiles: photoFiles, namedFiles: namedFiles, workers: workers, files: files,
                boot: bootClock, wall: wallClock, looks: groupLooks),
            SyncCoordinator(
                catalogue: catalogue, fields: sealedFields, namedFiles: namedFiles, workers: workers, files: files,
                boot: bootClock, wall: wallClock, looks: groupLooks, makeRemote: groupRemotes,
                makeReviewRemote: reviewRemotes),
            LegacyMigrator(
                catalogue: catalogue, namedFiles: namedFiles, photoFiles: photoFiles, files: files, scratch: scratch,
                workers: width),
            BackupCoordinator(
                catalogue: catalogue, photoFiles: photoFiles, namedFiles: namedFiles, places: places,
                discards: discards, fields: sealedFields, access: access, bulk: bulk, deriver: deriver, width: width),
            BackupScheduler(
                catalogue: catalogue, places: places, namedFiles: namedFiles, fields: sealedFields, pool: bulk,
                isIdle: isMachineIdle,
                due: due),
            FolderWatcher(catalogue: catalogue, namedFiles: namedFiles, files: files, pauses: folderPauses),
        ]
            + LinkStore.services(
                catalogue: catalogue, photoFiles: photoFiles, workers: workers, files: files, deriver: deriver,
                clock: bootClock, due: due)
    }

    // MARK: Roles

    /// One person's use of it, with the role that the mode gives.
    public func session() -> LibrarySession { LibrarySession(mesh: mesh, access: access) }

    /// The role with which somebody begins who connects now, where the system has let them connect: a kid's in kids mode.
    /// Does not wait.
    public var roleOfNewcomers: Role { access.roleOfNewcomers }

    /// The role with which a paired device begins that comes now, and the most that a PIN gives it; nil where it is not paired, or not any
    /// more. Does not wait.
    public func standing(ofDevice id: String) -> HeldRole.Standing? { access.standing(ofDevice: id) }

    /// Has a server told when the roles of those whom it has let in fall. `door` returns when they have; who sets the mode
    /// waits for that. For as long as the library is open.
    public func onRoleFall(_ door: @escaping @Sendable (RoleFall) async -> Void) async {
        _ = access.add(door)
        // It may have begun since the door was opened.
        if access.roleOfNewcomers == .kid { await door(.to(.kid)) }
    }

    /// Stops taking requests, interrupts jobs, which go on when the library is opened again, lets running requests
    /// finish, and closes the catalogue.
    ///
    /// Where the catalogue was taken away meanwhile, a copy of it is put in its place.
    public func close() async {
        await mesh.stop()
        await vigil.stop()
        await catalogue.close()
        for pool in pools { await pool.shutDown() }
        await deriver.shutDown()
        if hold.copy != nil { _ = try? folder.putBackCatalogue() }
        hold.release()
    }
}
