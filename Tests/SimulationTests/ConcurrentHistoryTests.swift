import ControlSocket
import Database
import Executors
import LibraryModel
import PhotoFolder
@testable import SQLiteCatalogue
import ServiceMesh
import ServiceMeshTesting
import SmilePile
import Synchronization
import TestSupport
import Testing

/// The same clients and the same model without a simulation: on the machine's threads, in process and over the socket.
/// What meets is chance here; what was answered has to fit all the same.
@Suite struct ConcurrentSimulationTests {
    /// The stores as they are served, on threads.
    private struct Stores {
        let folder: TemporaryFolder
        /// Not in the library's folder, where a backup of that would take it along.
        let keys: TemporaryFolder
        let database: DatabasePool
        let pool: BlockingPool
        let mesh: Mesh
        let sessions: [String]

        init() async throws {
            folder = try TemporaryFolder("history")
            keys = try TemporaryFolder("keys")
            database = try await DatabasePool.open(at: folder.file("catalogue.sqlite"), schema: CatalogueSchema.schema)
            pool = BlockingPool(name: "files", threads: 1)
            mesh = try Mesh(
                services: stores(LibraryFolder(path: folder.path), database, pool, keyFile: keys.file("key")),
                journal: MemoryJobJournal())
            try await mesh.start()
            sessions = [
                try await mesh.send(StartSwipeSession()).sessionID, try await mesh.send(StartSwipeSession()).sessionID,
            ]
        }

        func stop() async {
            await mesh.stop()
            await database.close()
            await pool.shutDown()
        }
    }

    private struct InProcess: CatalogueDoor {
        let mesh: Mesh
        let sessions: [String]
        func session(_ number: Int) -> String { sessions[number] }
        func send<M: HandledMessage>(_ message: M, _ deadline: Deadline?, as role: Role) async throws -> M.Reply {
            try await mesh.send(message, in: .root(mesh: mesh, role: role), deadline: deadline)
        }
    }

    private struct OverSocket: CatalogueDoor {
        let client: ControlClient
        /// A connection that gave up the role of a parent.
        let kid: ControlClient
        let sessions: [String]
        func session(_ number: Int) -> String { sessions[number] }
        func send<M: HandledMessage>(_ message: M, _ deadline: Deadline?, as role: Role) async throws -> M.Reply {
            try await (role == .kid ? kid : client).call(message)
        }
    }

    /// Each client asks `count` requests, through a door of its own, and cancels one in twelve.
    private func exercise(
        _ doors: [any CatalogueDoor], count: Int, seed: UInt64, givenUp: OperationOutcome<CatalogueModel.Output>,
        where allowed: @escaping @Sendable (CatalogueModel.Input) -> Bool = { _ in true }
    ) async -> History<CatalogueModel.Input, CatalogueModel.Output> {
        let history = History<CatalogueModel.Input, CatalogueModel.Output>()
        await withTaskGroup { clients in
            for (number, door) in doors.enumerated() {
                clients.addTask {
                    // Requests repeat from run to run; how they meet does not.
                    let random = Mutex(SeededNumbers(seed: seed &+ UInt64(number)))
                    let identities = Mutex(number)
                    let choice = CatalogueChoice(
                        choose: { count in random.withLock { Int.random(in: 0..<count, using: &$0) } },
                        newIdentity: {
                            identities.withLock { identity in
                                identity += doors.count
                                return identity
                            }
                        })
                    for turn in 0..<count {
                        var input = choice.request()
                        while !allowed(input) { input = choice.request() }
                        await withTaskGroup { [input] group in
                            group.addTask {
                                await history.record(input, by: number) { await door.ask(input, givenUp: givenUp) }
                            }
                            if turn % 12 == 11 { group.cancelAll() }
                        }
                    }
                }
            }
        }
        return history
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func theStoresOnThreadsAreLinearizable(seed: UInt64) async throws {
        let library = try await Stores()
        let door = InProcess(mesh: library.mesh, sessions: library.sessions)
        let history = await exercise([door, door, door, door], count: 25, seed: seed, givenUp: .perhaps)
        for input: CatalogueModel.Input in [.process, .listCategories, .listTrash, .listPending] {
            await history.record(input, by: 9) { await door.ask(input) }
        }
        await library.stop()
        #expect(history.operations.count == 104)
        try Linearizability.check(history.operations, against: CatalogueModel())
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func theStoresBehindTheSocketAreLinearizable(seed: UInt64) async throws {
        let library = try await Stores()
        let server = try ControlServer(
            mesh: library.mesh, listener: try ListeningSocket(at: library.folder.file("c.sock")))
        let clients = try (0..<4).map { _ in try ControlClient(path: server.path) }
        let kid = try ControlClient(path: server.path)
        _ = try await kid.call(Hello(role: .kid))
        let doors = clients.map { OverSocket(client: $0, kid: kid, sessions: library.sessions) }
        // A client that gives up gets its answer at once, while the request may still be carried out.
        let history = await exercise(doors, count: 25, seed: seed, givenUp: .pending) { input in
            // A message of services only, which the socket does not have.
            if case .addPhoto = input { false } else { true }
        }
        // Read in process once the server has let go of what clients gave up.
        for client in clients + [kid] { client.close() }
        await server.drain()
        await server.close()
        let reader = InProcess(mesh: library.mesh, sessions: library.sessions)
        for input: CatalogueModel.Input in [.listCategories, .getSettings] {
            await history.record(input, by: 9) { await reader.ask(input) }
        }
        await library.stop()
        #expect(history.operations.count == 102)
        try Linearizability.check(history.operations, against: CatalogueModel())
    }

    @Test func aStoreOnThreadsThatTakesNamesAtOnceIsLinearizable() async throws {
        let mesh = try Mesh(services: [NameRegistry(actsLate: false)], journal: MemoryJobJournal())
        try await mesh.start()
        let history = NameModel.Record()
        let random = Mutex(SeededNumbers(seed: 1))
        await NameModel.exercise(mesh, clients: 6, operations: 100, recording: history) { count in
            random.withLock { Int.random(in: 0..<count, using: &$0) }
        }
        await mesh.stop()
        try Linearizability.check(history.operations, against: NameModel(), by: \.name)
    }
}

/// Knuth's linear congruential generator, the high bits of which are good enough to choose requests.
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        func step() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 32
        }
        return step() << 32 | step()
    }
}
