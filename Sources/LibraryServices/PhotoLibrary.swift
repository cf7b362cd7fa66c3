import Database
import Executors
import Foundation
import Imaging
import LibraryModel
import ServiceMesh
import Synchronization

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

    private let lock: LibraryLock
    /// Seen by the tests, which let its disk fail.
    let database: Database
    private let pools: [BlockingPool]

    private init(mesh: Mesh, path: String, lock: LibraryLock, database: Database, pools: [BlockingPool]) {
        self.mesh = mesh
        self.path = path
        self.lock = lock
        self.database = database
        self.pools = pools
    }

    /// How a library is opened.
    public struct Options: Sendable {
        /// The program that opens photos; found beside this one unless told.
        public var imageWorker: String?
        /// Helper processes at once; as many as the machine has cores unless told.
        public var workers: Int

        public init(imageWorker: String? = nil, workers: Int? = nil) {
            self.imageWorker = imageWorker
            self.workers = workers ?? max(1, ProcessInfo.processInfo.activeProcessorCount)
        }
    }

    /// Opens the library at `path`, making it where there is none.
    /// - Throws: ``MeshError``: `failed_precondition` where another process serves it, where the catalogue is another
    ///   program's or a newer version's, or where no image worker is found; `data_loss` where the catalogue is damaged.
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
        let files = BlockingPool(name: "files", threads: 4)
        let bulk = BlockingPool(name: "backup", threads: 2, niceness: 5)
        do {
            let (folder, lock) = try await files.run {
                let folder = LibraryFolder(path: URL(fileURLWithPath: path).standardizedFileURL.path)
                try folder.make()
                return (folder, try LibraryLock(path: folder.lock))
            }
            let database = try await Database.open(at: folder.catalogue, schema: CatalogueSchema.schema)
            do {
                let problems = try await Reconciliation.run(folder: folder, database: database, pool: files)
                let mesh = try Mesh(
                    services: services(
                        folder: folder, database: database, files: files, bulk: bulk,
                        workers: ImageWorkerPool(executable: worker, workers: options.workers),
                        width: options.workers, problems: problems),
                    journal: CatalogueJobJournal(database: database))
                try await mesh.start()
                return PhotoLibrary(
                    mesh: mesh, path: folder.path, lock: lock, database: database, pools: [files, bulk])
            } catch {
                await database.close()
                throw error
            }
        } catch {
            await files.shutDown()
            await bulk.shutDown()
            throw error
        }
    }

    /// Every service, in the order in which they start: whoever is called stands before its callers.
    private static func services(
        folder: LibraryFolder, database: Database, files: BlockingPool, bulk: BlockingPool, workers: ImageWorkerPool,
        width: Int, problems: [String]
    ) -> [any MeshService] {
        let thumbnailer = Thumbnailer(folder: folder, workers: workers, files: files)
        let discards = DiscardedFiles(folder: folder, database: database, pool: files)
        let catalogue = SQLCatalogue(database)
        return [
            SettingsStore(catalogue: catalogue),
            CategoryStore(catalogue: catalogue),
            PhotoStore(catalogue: catalogue, discards: discards),
            thumbnailer,
            SwipeSessionRecorder(database: database),
            LibraryObserver(catalogue: catalogue, database: database),
            LibraryOverview(
                folder: folder, database: database, thumbnailer: thumbnailer, files: files, problems: problems),
            StorageAuditor(folder: folder, database: database, files: files, workers: width),
            PhotoImporter(folder: folder, files: files, workers: width),
            LegacyMigrator(folder: folder, database: database, files: files, workers: width),
            BackupCoordinator(folder: folder, database: database, discards: discards, bulk: bulk, width: width),
        ]
    }

    /// Stops taking requests, interrupts jobs, which go on when the library is opened again, lets running requests
    /// finish, and closes the catalogue.
    public func close() async {
        await mesh.stop()
        await database.close()
        for pool in pools { await pool.shutDown() }
        lock.release()
    }
}
