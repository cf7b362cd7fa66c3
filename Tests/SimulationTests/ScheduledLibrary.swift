import Database
import Executors
import Files
import Foundation
import LibraryModel
@testable import Backups
@testable import LibraryServices
import PhotoFolder
import Sealing
@testable import SQLiteCatalogue
import ServiceMesh
import ServiceMeshTesting
import Synchronization
import ZipArchive

/// A library that backs itself up, in simulated time, and the stick that its backups go to.
final class ScheduledLibrary: Sendable {
    private struct State {
        var mesh: Mesh
        var database: DatabasePool
        var photos = 0
    }

    let stick: String
    private let away: String
    private let folder: LibraryFolder
    private let simulation: Simulation
    private let isBusy: Bool
    private let state: Mutex<State>

    private var mesh: Mesh { state.withLock { $0.mesh } }

    /// - Parameters:
    ///   - path: a folder with a catalogue in it.
    ///   - isBusy: whether the machine always has much to do; else now and then.
    init(at path: String, in simulation: Simulation, isBusy: Bool = false) async throws {
        self.isBusy = isBusy
        self.simulation = simulation
        folder = LibraryFolder(path: path)
        (stick, away) = (path + ".stick", path + ".away")
        try folder.make()
        try FileSystem.makeFolder(stick)
        let (mesh, database) = try await Self.open(folder, simulation, isBusy)
        state = Mutex(State(mesh: mesh, database: database))
    }

    deinit { for place in [stick, away] { try? FileManager.default.removeItem(atPath: place) } }

    private static func open(
        _ folder: LibraryFolder, _ simulation: Simulation, _ isBusy: Bool
    ) async throws -> (Mesh, DatabasePool) {
        let database = try await DatabasePool.open(
            at: folder.catalogue, schema: CatalogueSchema.schema, execution: .steps(simulation.steps))
        let catalogue = SQLiteCatalogue(database)
        let pool = BlockingPool(steps: simulation.steps)
        let places = BackupPlaces(library: folder.path)
        let discards = DiscardedFiles(catalogue: catalogue, photoFiles: folder, pool: pool)
        _ = try await Reconciliation.run(
            catalogue: catalogue, photoFiles: folder, discards: discards, pool: pool,
            settleBackups: UnfinishedBackups(
                catalogue: catalogue, places: places, namedFiles: folder.namedFiles, pool: pool
            ).settle)
        let fields = SealedFields(
            catalogue: catalogue, keyFile: KeyFile(path: folder.path + ".key"), namedFiles: folder.namedFiles,
            pool: pool)
        let mesh = try Mesh(
            services: [
                PhotoStore(catalogue: catalogue, discards: discards),
                BackupCoordinator(
                    catalogue: catalogue, photoFiles: folder, namedFiles: folder.namedFiles, places: places,
                    discards: discards, fields: fields, bulk: pool, deriver: KeyDeriver(on: pool), width: 2),
                BackupScheduler(
                    catalogue: catalogue, places: places, namedFiles: folder.namedFiles, fields: fields, pool: pool,
                    isIdle: { !isBusy && !simulation.oneIn(3) }),
            ], journal: catalogue.journal, clock: simulation.clock)
        try await mesh.start()
        return (mesh, database)
    }

    func send<M: HandledMessage>(_ message: M) async throws -> M.Reply {
        try await mesh.send(message, in: .root(mesh: mesh, role: .service))
    }

    /// Kills it under its own hands, and opens it again as it was left.
    func crash() async throws {
        let (old, database) = state.withLock { ($0.mesh, $0.database) }
        database.crash()
        // What a killed process would not do any more must not meet what the next one does.
        await old.stop()
        let (mesh, reopened) = try await Self.open(folder, simulation, isBusy)
        state.withLock { ($0.mesh, $0.database) = (mesh, reopened) }
    }

    func close() async {
        let (mesh, database) = state.withLock { ($0.mesh, $0.database) }
        await mesh.stop()
        await database.close()
    }

    /// As if the clock had been right only now: all that was done until now lies years ahead.
    func makeThePastTheFuture() async throws {
        let database = state.withLock { $0.database }
        try await database.write { connection in
            try connection.execute("UPDATE backups SET made_at = made_at + 500000000000")
            try connection.execute("UPDATE backup_schedule SET scheduled_at = scheduled_at + 500000000000")
        }
    }

    func addPhoto() async throws {
        let number = state.withLock { state in
            state.photos += 1
            return state.photos
        }
        let bytes = Data("photo \(number)".utf8)
        let hex = String(number, radix: 16)
        let path = "photos/IMG_20260101_000000_\(String(repeating: "0", count: 8 - hex.count))\(hex).jpg"
        try bytes.write(to: URL(fileURLWithPath: folder.path + "/" + path))
        let digest = ContentDigest(of: bytes).sha256.hex
        let uuid = "0b1c2d3e-0000-4000-8000-\(String(repeating: "0", count: 12 - hex.count))\(hex)"
        let photo = Photo(
            id: 1, uuid: uuid, path: path, categoryId: 1, name: "photo \(number)", caption: nil, isFromAssets: false,
            createdAt: simulation.clock.timestamp(), fileSize: Int64(bytes.count), width: 1, height: 1,
            isFavorite: false, takenAt: nil, contentDigest: digest, mediaType: "image/jpeg")
        _ = try await send(
            AddPhotos(photos: [SourcedPhoto(photo: photo, sourceDigest: digest, sourceSize: Int64(bytes.count))]))
    }

    // MARK: The stick

    var isPluggedIn: Bool { FileManager.default.fileExists(atPath: stick) }

    func plugIn() throws { if !isPluggedIn { try FileManager.default.moveItem(atPath: away, toPath: stick) } }

    func pullOut() throws { if isPluggedIn { try FileManager.default.moveItem(atPath: stick, toPath: away) } }

    /// Names of what is on it.
    func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: isPluggedIn ? stick : away).sorted()
    }
}
