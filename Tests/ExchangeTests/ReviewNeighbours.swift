import Exchange
import Foundation
import LibraryModel
import LibraryServices
import SampleAlbum
import ServiceMesh
import SmilePile
import Synchronization
import TestSupport
import Testing

/// Two machines of one person, both with the same album imported, in this process, and a way between them that a test breaks.
final class ReviewNeighbours: Sendable {
    struct House: Sendable {
        let library: PhotoLibrary
        var mesh: Mesh { library.mesh }

        /// In the order of their files' names, which both have the same of.
        func photos() async throws -> [Photo] {
            try await mesh.send(SearchPhotos(limit: 1000)).photos.sorted { $0.name < $1.name }
        }

        @discardableResult
        func decide(_ number: Int, _ action: SwipeAction, in session: String) async throws -> PhotoAction {
            let photo = try await photos()[number]
            return try await mesh.send(
                RecordSwipe(
                    sessionID: session, photoIdentifier: photo.uuid, contentDigest: photo.contentDigest, action: action)
            )
        }

        func start() async throws -> String { try await mesh.send(StartSwipeSession()).sessionID }

        func finish(_ session: String) async throws { _ = try await mesh.send(FinishSwipeSession(sessionID: session)) }

        @discardableResult
        func sync() async throws -> ReviewSyncReceipt {
            let started = try await mesh.send(SyncReviews())
            let end = try await mesh.send(WaitForJob(job: started.job))
            return try JSONDecoder().decode(ReviewSyncReceipt.self, from: try JSONEncoder().encode(end.receipt))
        }

        /// What both should have the same of.
        func state() async throws -> [String] {
            let sessions = try await mesh.send(ListSwipeSessions(limit: 1000)).sessions.map {
                "\($0.sessionID) \($0.startTime) \($0.endTime?.description ?? "-") \($0.photosProcessed)"
            }
            let decisions = try await mesh.send(ListSwipeHistory(limit: 1000)).actions.map {
                "\($0.sessionID) \($0.contentDigest) \($0.action) \($0.timestamp)"
            }
            return sessions.sorted() + decisions.sorted()
        }

        func lastDecisions() async throws -> [SwipeAction?] { try await photos().map(\.lastDecision) }
    }

    static let address = "http://127.0.0.1:8468"

    let folder: TemporaryFolder
    let road = Road()
    let home: House
    let laptop: House
    let token: String
    let machine: ReviewMachine

    /// - Parameter clock: the laptop's.
    init(photos: Int = 4, clock: WallClock? = nil) async throws {
        folder = try TemporaryFolder("reviews")
        let album = folder.file("album")
        try SampleAlbum(width: 64, height: 48).write(count: photos, to: album)
        home = House(library: try await Self.open("home", folder, road, nil))
        laptop = House(library: try await Self.open("laptop", folder, road, clock))
        road.home.withLock { [home] in $0 = home.mesh }
        for house in [home, laptop] {
            let started = try await house.mesh.send(ImportPhotos(paths: [album]))
            _ = try await house.mesh.send(WaitForJob(job: started.job))
        }
        let shared = try await home.mesh.send(ShareReviews(name: "Laptop"))
        (token, machine) = (shared.token, shared.machine)
        _ = try await laptop.mesh.send(JoinReviews(address: Self.address, token: token))
    }

    private static func open(
        _ name: String, _ folder: TemporaryFolder, _ road: Road, _ clock: WallClock?
    ) async throws -> PhotoLibrary {
        var options = PhotoLibrary.Options.repeating(workers: 2)
        options.keyFile = folder.file("config/\(name).key")
        options.wallClock = clock
        options.reviewRemotes = { RoadRemote(road: road, address: $0, token: $1) }
        return try await PhotoLibrary.open(at: folder.file(name), options: options)
    }

    func close() async {
        await laptop.library.close()
        await home.library.close()
    }
}

/// The way between the machines.
final class Road: Sendable {
    let home = Mutex<Mesh?>(nil)
    let isDown = Mutex(false)
    /// Where whoever asks for changes waits, by the address.
    let gates = Mutex<[String: Gate]>([:])
    /// Everything arrives, and no answer comes back.
    let losesAnswers = Mutex(false)
    /// What is said in place of what the other machine would.
    let told = Mutex<ReviewChanges?>(nil)
    /// All that went by, either way.
    let fetched = Mutex<[ReviewChanges]>([])
    let sent = Mutex<[ReviewChanges]>([])

    static let failure = MeshError(.failedPrecondition, "The road is closed.")

    func carry<Answer>(_ question: (Mesh) async throws -> Answer) async throws -> Answer {
        guard !isDown.withLock({ $0 }), let mesh = home.withLock({ $0 }) else { throw Self.failure }
        let answer = try await question(mesh)
        if losesAnswers.withLock({ $0 }) { throw Self.failure }
        return answer
    }
}

struct RoadRemote: ReviewRemote {
    let road: Road
    var address: HubAddress?
    let token: String

    func changes(after cursor: String) async throws -> ReviewChanges {
        await road.gates.withLock({ $0[address?.text ?? ""] })?.pass()
        return try await road.carry { mesh in
            if let told = road.told.withLock({ $0 }) { return told }
            let changes = try await mesh.send(ListHubReviews(token: token, after: cursor.isEmpty ? nil : cursor))
            road.fetched.withLock { $0.append(changes) }
            return changes
        }
    }

    func take(_ changes: ReviewChanges) async throws {
        try await road.carry { mesh in
            road.sent.withLock { $0.append(changes) }
            _ = try await mesh.send(TakeHubReviews(token: token, changes: changes))
        }
    }

    func close() async {}
}
