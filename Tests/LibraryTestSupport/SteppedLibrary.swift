import Database
import Dispatch
import Executors
import Foundation
import Imaging
import LibraryModel
import Importing
import Backups
import LibraryServices
import PhotoFolder
import Sealing
import SQLiteCatalogue
import ServiceMesh
import SmilePile
import Synchronization
import TestSupport
import Testing

/// A pool's work, which a test can hold up at a place that it describes.
package final class HeldSteps: StepExecutor {
    private struct State {
        var condition: (@Sendable () -> Bool)?
        var isHeld = false
        var held: [@Sendable () -> Void] = []
        var arrival = TestSupport.Gate()
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "held steps")

    package init() {}

    package func schedule(_ step: @escaping @Sendable () -> Void) {
        queue.async {
            let arrival = self.state.withLock { state -> TestSupport.Gate? in
                if let condition = state.condition, condition() { state.isHeld = true }
                guard state.isHeld else { return nil }
                state.held.append(step)
                return state.arrival
            }
            if let arrival { Task { await arrival.pass() } } else { step() }
        }
    }

    package func choose(_ count: Int) -> Int { 0 }

    /// Holds up everything from the moment at which `condition` holds before a piece of work.
    package func hold(when condition: @escaping @Sendable () -> Bool) { state.withLock { $0.condition = condition } }

    /// Waits until something is held up.
    package func arrived() async { await state.withLock { $0.arrival }.arrivals(1) }

    /// Lets everything go on, until the next condition holds if there is one.
    package func letGo(holdingAgainWhen condition: (@Sendable () -> Bool)? = nil) {
        let held = state.withLock { state in
            defer { state = State(condition: condition) }
            return state.held
        }
        for step in held { queue.async(execute: step) }
    }
}

/// A library whose backups and restores stand still where a test wants them to, while everything else goes on.
package final class SteppedLibrary: Sendable {
    /// Whose folder goes with it.
    package let test: TestLibrary
    package let folder: LibraryFolder
    package let database: DatabasePool
    package let mesh: Mesh
    package let steps = HeldSteps()
    private let files: BlockingPool

    /// - Parameter test: a closed library.
    package init(_ test: TestLibrary) async throws {
        self.test = test
        let folder = LibraryFolder(path: test.path, catalogueFiles: SQLiteCatalogue.files(at:))
        let database = try await DatabasePool.open(at: folder.catalogue, schema: CatalogueSchema.schema)
        let files = BlockingPool(name: "files", threads: 2)
        let bulk = BlockingPool(steps: steps)
        let workers = ImageWorkerPool(executable: try #require(ImageWorkerPool.defaultExecutable()), workers: 1)
        let filmWorkers = ImageWorkerPool(
            executable: try #require(ImageWorkerPool.defaultFilmExecutable()), workers: 1, sharingMemoryOf: workers)
        let catalogue = SQLiteCatalogue(database)
        let discards = DiscardedFiles(catalogue: catalogue, photoFiles: folder, pool: files)
        mesh = try Mesh(
            services: [
                SettingsStore(catalogue: catalogue), CategoryStore(catalogue: catalogue),
                PhotoStore(catalogue: catalogue, discards: discards), SwipeSessionRecorder(catalogue: catalogue),
                Thumbnailer(
                    catalogue: catalogue, namedFiles: folder.namedFiles, photoFiles: folder, workers: workers,
                    filmWorkers: filmWorkers, files: files, width: 1),
                BackupCoordinator(
                    catalogue: catalogue, photoFiles: folder, namedFiles: folder.namedFiles,
                    places: BackupPlaces(library: folder.path), discards: discards,
                    fields: SealedFields(
                        catalogue: catalogue, keyFile: KeyFile(path: test.keyFile), namedFiles: folder.namedFiles,
                        pool: files), bulk: bulk,
                    deriver: KeyDeriver(on: files), width: 2),
            ], journal: catalogue.journal)
        (self.folder, self.database, self.files) = (folder, database, files)
        try await mesh.start()
    }

    package func close() async {
        await mesh.stop()
        await database.close()
        await files.shutDown()
    }

    package func run<M: HandledJob>(_ message: M) async throws -> JobSnapshot {
        try await mesh.send(WaitForJob(job: try await mesh.send(message).job))
    }

    package func photos() async throws -> [Photo] { try await mesh.send(SearchPhotos(limit: 1000)).photos }

    /// Deletes photos and empties the trash.
    package func purge(_ photos: some Collection<Photo>) async throws {
        _ = try await mesh.send(DeletePhotos(ids: photos.map(\.id)))
        _ = try await mesh.send(PurgeTrash(ids: photos.map(\.id)))
    }

    package func isThere(_ relative: String) -> Bool {
        FileManager.default.fileExists(atPath: folder.path + "/" + relative)
    }
}
