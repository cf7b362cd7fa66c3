import CLinux
import Database
import Executors
import Files
import Foundation
import Imaging
import ImageWorkerProtocol
import LibraryModel
@testable import Exchange
@testable import LibraryServices
import LibraryStorage
import PhotoFolder
import Sealing
@testable import SQLiteCatalogue
import ServiceMesh
import ServiceMeshTesting
import Synchronization
import ZipArchive

/// A library with neighbours, in simulated time: one that keeps groups or lets others in, or one of those. Pictures are copied,
/// and not made.
final class SimulatedNeighbour: Sendable {
    private struct Copier: BarePictureMaker {
        func makeBare(source: Int32, picture: Int32, turned: Int) async throws(ImagingError) -> BarePicture {
            do {
                let size = try FileSystem.copy(source, to: picture, "a picture")
                return BarePicture(width: 1, height: 1, fileSize: size)
            } catch {
                throw .io("\(error)")
            }
        }
    }

    private let folder: LibraryFolder
    private let simulation: Simulation
    let network: SimulatedNetwork
    /// Milliseconds by which its clock is ahead.
    private let ahead: Int64
    private let state: Mutex<(mesh: Mesh, database: DatabasePool)>

    var mesh: Mesh { state.withLock { $0.mesh } }

    /// - Parameter path: a folder with a catalogue in it.
    init(
        at path: String, _ network: SimulatedNetwork, ahead: Int64 = 0, in simulation: Simulation
    ) async throws {
        self.simulation = simulation
        self.network = network
        self.ahead = ahead
        folder = LibraryFolder(path: path)
        try folder.make()
        state = Mutex(try await Self.open(folder, network, ahead, simulation))
    }

    private static func open(
        _ folder: LibraryFolder, _ network: SimulatedNetwork, _ ahead: Int64, _ simulation: Simulation
    ) async throws -> (Mesh, DatabasePool) {
        let database = try await DatabasePool.open(
            at: folder.catalogue, schema: CatalogueSchema.schema, execution: .steps(simulation.steps))
        let catalogue = SQLiteCatalogue(database)
        let pool = BlockingPool(steps: simulation.steps)
        let boot = BootClock {
            BootTime(boot: "simulation", milliseconds: Int64(simulation.clock.now() / 1_000_000))
        }
        let mesh = try Mesh(
            services: [
                PhotoStore(
                    catalogue: catalogue,
                    discards: DiscardedFiles(catalogue: catalogue, photoFiles: folder, pool: pool)),
                SettingsStore(catalogue: catalogue),
                SwipeSessionRecorder(
                    catalogue: catalogue,
                    clock: WallClock {
                        Timestamp(milliseconds: simulation.clock.timestamp().milliseconds + ahead)
                    }),
                GroupStore(
                    catalogue: catalogue, photoFiles: folder, namedFiles: folder.namedFiles, workers: Copier(),
                    files: pool, boot: boot),
                SyncCoordinator(
                    catalogue: catalogue,
                    fields: SealedFields(
                        catalogue: catalogue, keyFile: KeyFile(path: folder.path + ".key"),
                        namedFiles: folder.namedFiles, pool: pool), namedFiles: folder.namedFiles, workers: Copier(),
                    files: pool, boot: boot,
                    makeRemote: { SimulatedRemote(network: network, token: $1) },
                    makeReviewRemote: { SimulatedReviewRemote(network: network, address: $0, token: $1) }),
            ], journal: catalogue.journal, clock: simulation.clock)
        try await mesh.start()
        return (mesh, database)
    }

    func send<M: HandledMessage>(_ message: M) async throws -> M.Reply {
        let mesh = mesh
        return try await mesh.send(message, in: .root(mesh: mesh, role: .service))
    }

    /// Kills it under its own hands, and opens it again as it was left.
    func crash() async throws {
        let (old, database) = state.withLock { $0 }
        database.crash()
        // What a killed process would not do any more must not meet what the next one does.
        await old.stop()
        let (mesh, reopened) = try await Self.open(folder, network, ahead, simulation)
        state.withLock { $0 = (mesh, reopened) }
    }

    func close() async {
        let (mesh, database) = state.withLock { $0 }
        await mesh.stop()
        await database.close()
    }

    /// One photo, with the id 1.
    func addPhoto() async throws {
        let bytes = Data("photo".utf8)
        let path = "photos/IMG_20260101_000000_00000001.jpg"
        try bytes.write(to: URL(fileURLWithPath: folder.path + "/" + path))
        let digest = ContentDigest(of: bytes).sha256.hex
        let photo = Photo(
            id: 1, uuid: "0b1c2d3e-0000-4000-8000-000000000001", path: path, categoryId: 1, name: "photo", caption: nil,
            isFromAssets: false, createdAt: simulation.clock.timestamp(), fileSize: Int64(bytes.count), width: 1,
            height: 1, isFavorite: false, takenAt: nil, contentDigest: digest, mediaType: "image/jpeg")
        _ = try await send(
            AddPhotos(photos: [SourcedPhoto(photo: photo, sourceDigest: digest, sourceSize: Int64(bytes.count))]))
    }

    func sync() async throws -> (SyncReceipt, [ReceiptLine]) {
        let started = try await send(SyncGroups())
        let end = try await send(WaitForJob(job: started.job))
        let receipt = try JSONDecoder().decode(SyncReceipt.self, from: JSONEncoder().encode(end.receipt))
        return (receipt, try await send(GetJobReceipt(job: started.job)).lines)
    }

    /// What all should have the same of.
    func photos() async throws -> [String] {
        try await send(ListGroupPhotos()).photos.map { photo in
            "\(photo.id) by \(photo.senderId) at \(photo.createdAt) until \(photo.expiresAt)"
                + (photo.localPath == nil ? " without a file" : "") + (photo.isWaiting == true ? " waiting" : "")
        }.sorted()
    }
}

/// A network that loses what is asked and what is answered, delivers twice, and lets what was sent later come first.
final class SimulatedNetwork: Sendable {
    let simulation: Simulation
    /// A bug, for a test of the test: what is sent is acknowledged, and then not taken.
    let losesUpdates: Bool
    let hub = Mutex<SimulatedNeighbour?>(nil)
    let isHealed = Mutex(false)
    let isSilent = Mutex(false)

    init(_ simulation: Simulation, losesUpdates: Bool = false) {
        self.simulation = simulation
        self.losesUpdates = losesUpdates
    }

    static let lost = MeshError(.unavailable, "The network has lost it.")

    /// - Parameter question: with the library that keeps the groups.
    func carry<Answer: Sendable>(
        _ question: @escaping @Sendable (SimulatedNeighbour) async throws -> Answer
    ) async throws -> Answer {
        guard let hub = hub.withLock({ $0 }) else { throw Self.lost }
        if isHealed.withLock({ $0 }) { return try await question(hub) }
        // By such a delay a later question overtakes this one.
        try await simulation.clock.sleep(for: .milliseconds(simulation.choose(40)))
        if simulation.oneIn(6) { throw Self.lost }
        let isTwice = simulation.oneIn(6)
        let answer = try await question(hub)
        if isTwice {
            let (simulation, again) = (simulation, question)
            // A copy that was on its way for long. Nobody waits for what becomes of it.
            Task(executorPreference: MeshClock.executor) {
                try? await simulation.clock.sleep(for: .milliseconds(simulation.choose(5_000)))
                _ = try? await again(hub)
            }
        }
        if simulation.oneIn(6) { throw Self.lost }
        return answer
    }
}

struct SimulatedRemote: GroupRemote {
    let network: SimulatedNetwork
    let token: String

    func groups(utcOffset: Int) async throws -> [HubGroup] {
        try await network.carry { try await $0.send(ListHubGroups(token: token, utcOffset: utcOffset)).groups }
    }

    func photos(of group: String, utcOffset: Int) async throws -> (photos: [HubPhoto], time: Timestamp?) {
        try await network.carry { hub in
            let request = ListHubPhotos(token: token, groupId: group, utcOffset: utcOffset, unexpired: true)
            return (try await hub.send(request).photos, nil)
        }
    }

    func fetch(_ photo: HubPhoto, into file: OwnedFile) async throws {
        try await network.carry { hub in
            let opened = try await hub.send(OpenHubPhoto(token: token, photoId: photo.id))
            if let content = opened.content { try Self.copy(content, to: file) }
        }
    }

    func send(_ photo: OutgoingPhoto, _ content: OwnedFile) async throws -> HubPhoto {
        let isLost = network.losesUpdates && network.simulation.oneIn(4)
        return try await network.carry { hub in
            if isLost {
                let now = network.simulation.clock.timestamp().milliseconds
                let groups = try await hub.send(ListHubGroups(token: token)).groups
                return HubPhoto(
                    id: photo.id, groupId: photo.groupId, senderId: groups.first?.memberId ?? "", senderName: "?",
                    createdAt: Timestamp(milliseconds: now - photo.ageMs),
                    expiresAt: Timestamp(milliseconds: now - photo.ageMs + 48 * 3_600_000))
            }
            let opened = try await hub.send(
                ReceiveHubPhoto(token: token, groupId: photo.groupId, size: photo.size))
            if let file = opened.content { try Self.copy(content, to: file) }
            return try await hub.send(
                SendHubPhoto(
                    token: token, groupId: photo.groupId, upload: opened.upload, key: photo.id,
                    utcOffset: photo.utcOffset, ageMs: photo.ageMs))
        }
    }

    func leave(_ group: String) async throws {
        _ = try await network.carry { try await $0.send(LeaveHubGroup(token: token, groupId: group)) }
    }

    func close() async {}

    private static func copy(_ from: OwnedFile, to file: OwnedFile) throws {
        try file.withDescriptor { descriptor in
            guard ftruncate(descriptor, 0) == 0 else { throw SimulatedNetwork.lost }
            _ = try from.withDescriptor { try FileSystem.copy($0, to: descriptor, "a picture") }
        }
    }
}
