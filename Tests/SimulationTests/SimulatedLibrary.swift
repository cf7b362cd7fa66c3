import Database
import Executors
import Foundation
import LibraryModel
@testable import LibraryServices
import PhotoFolder
import Sealing
@testable import SQLiteCatalogue
import ServiceMesh
import ServiceMeshTesting
import SmilePile
import Synchronization

/// The real stores over a real catalogue in a folder, in simulated time; they can be killed and opened again.
final class SimulatedLibrary: CatalogueDoor {
    private struct State {
        var mesh: Mesh
        var database: DatabasePool
        /// Calls sent to the present mesh.
        var sent = 0
        var sessions: [String] = []
        var identities = 0
    }

    private let simulation: Simulation
    private let folder: LibraryFolder
    private let state: Mutex<State>

    /// - Parameter path: a folder with a catalogue in it.
    init(at path: String, in simulation: Simulation) async throws {
        self.simulation = simulation
        folder = LibraryFolder(path: path)
        let (mesh, database) = try await Self.open(folder, simulation)
        state = Mutex(State(mesh: mesh, database: database))
    }

    private static func open(_ folder: LibraryFolder, _ simulation: Simulation) async throws -> (Mesh, DatabasePool) {
        let database = try await DatabasePool.open(
            at: folder.catalogue, schema: CatalogueSchema.schema, execution: .steps(simulation.steps))
        let mesh = try Mesh(
            services: stores(
                folder, database, BlockingPool(steps: simulation.steps), keyFile: folder.path + ".key"),
            journal: MemoryJobJournal(),
            clock: simulation.clock)
        try await mesh.start()
        return (mesh, database)
    }

    /// Kills the database under the mesh, opens the catalogue again as it was left, and lets the old mesh fade out
    /// while clients are at work with the new one.
    func crash() async throws {
        let (old, database) = state.withLock { ($0.mesh, $0.database) }
        database.crash()
        let (mesh, reopened) = try await Self.open(folder, simulation)
        let sent = state.withLock { state in
            defer { state.sent = 0 }
            (state.mesh, state.database) = (mesh, reopened)
            return state.sent
        }
        await old.stop()
        try Self.check(await old.figures(), sent: sent)
    }

    /// Stops it and checks what must hold of a library at rest.
    func close() async throws {
        let (mesh, database, sent) = state.withLock { ($0.mesh, $0.database, $0.sent) }
        let figures = await mesh.figures()
        await mesh.stop()
        try Self.check(figures, sent: sent)
        let problems = try await database.integrityCheck()
        guard problems.isEmpty else { throw BrokenRule("The catalogue is damaged: \(problems)") }
        try await database.read { connection in
            let categories = try CategoryTable(connection: connection).all()
            guard !categories.isEmpty else { throw BrokenRule("The last category is gone.") }
            let names = Set(categories.map { CategoryName.key($0.displayName) })
            guard names.count == categories.count else { throw BrokenRule("Two categories have one name.") }
            guard Set(categories.map(\.position)).count == categories.count else {
                throw BrokenRule("Two categories have one place.")
            }
        }
        await database.close()
    }

    /// A call that came in is counted once, however it ended, and none is left.
    private static func check(_ figures: MeshStatistics?, sent: Int) throws {
        guard let figures else { return }
        var seen = 0
        for message in figures.messages where !message.method.hasPrefix("mesh.") {
            guard message.inFlight == 0 else { throw BrokenRule("\(message.method) is in flight at rest.") }
            guard message.admitted == message.completed + message.failed + message.cancelled else {
                throw BrokenRule("\(message.method) lost a call: \(message)")
            }
            seen += message.admitted + message.refused
        }
        guard seen == sent else { throw BrokenRule("\(sent) calls were sent, and \(seen) counted.") }
    }

    // MARK: What clients use

    func send<M: HandledMessage>(
        _ message: M, _ deadline: Deadline?, as role: Role = .service
    ) async throws -> M.Reply {
        let mesh = state.withLock { state in
            state.sent += 1
            return state.mesh
        }
        return try await mesh.send(message, in: .root(mesh: mesh, role: role), deadline: deadline)
    }

    /// Starts the swipe sessions that clients share, called 0 and 1.
    func startSessions() async throws {
        for _ in 0..<2 {
            let session = try await send(StartSwipeSession(), nil)
            state.withLock { $0.sessions.append(session.sessionID) }
        }
    }

    func session(_ number: Int) -> String { state.withLock { $0.sessions[number] } }

    /// A number that no photo has had.
    func newIdentity() -> Int {
        state.withLock { state in
            state.identities += 1
            return state.identities
        }
    }

}

/// The library's stores, in their order.
func stores(
    _ folder: LibraryFolder, _ database: DatabasePool, _ pool: BlockingPool, keyFile: String
) -> [any MeshService] {
    let catalogue = SQLiteCatalogue(database)
    let discards = DiscardedFiles(catalogue: catalogue, photoFiles: folder, pool: pool)
    let fields = SealedFields(
        catalogue: catalogue, keyFile: KeyFile(path: keyFile), namedFiles: folder.namedFiles, pool: pool)
    return [
        SettingsStore(catalogue: catalogue), CategoryStore(catalogue: catalogue),
        PhotoStore(catalogue: catalogue, discards: discards), SwipeSessionRecorder(catalogue: catalogue),
        SealedFieldStore(
            catalogue: catalogue, fields: fields, discards: discards, pool: pool, deriver: KeyDeriver(on: pool)),
    ]
}

extension Mesh {
    /// Nil where it does not answer any more.
    fileprivate func figures() async -> MeshStatistics? { try? await send(GetMeshStatistics()) }
}

/// A rule of the library that a run has broken.
struct BrokenRule: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// A catalogue, made once and copied for each seed: its migrations would take longer than everything after them.
final class CatalogueTemplate: Sendable {
    private let root: String

    /// In memory where the system has a folder for that.
    init() async throws {
        let memory = "/dev/shm"
        let base = FileManager.default.isWritableFile(atPath: memory) ? memory : NSTemporaryDirectory()
        root = base + "/smilepile-simulation-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        let database = try await DatabasePool.open(at: root + "/template", schema: CatalogueSchema.schema)
        let mesh = try Mesh(
            services: [CategoryStore(catalogue: SQLiteCatalogue(database))], journal: MemoryJobJournal())
        try await mesh.start()
        await mesh.stop()
        await database.close()
    }

    deinit { try? FileManager.default.removeItem(atPath: root) }

    /// Runs `body` in a new library's folder that goes away afterwards.
    func withCopy(_ body: (_ path: String) async throws -> Void) async throws {
        let path = root + "/" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try FileManager.default.copyItem(atPath: root + "/template", toPath: path + "/catalogue.sqlite")
        try await body(path)
    }
}
