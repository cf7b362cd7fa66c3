import ControlSocket
import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import ServiceMesh
import Synchronization
import TestSupport
import Testing

/// Many clients of one real daemon at once. What must hold afterwards: every request had exactly one reply, every
/// admitted call one ending, and the library agrees with itself.
@Suite(.serialized) struct MixedLoadTests {
    /// A small seeded generator, so that a failing run can be repeated.
    private struct Dice {
        var state: UInt64

        mutating func roll(_ sides: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(sides))
        }
    }

    private struct Tally: Sendable {
        var replies = 0
        var errors: [MeshStatus: Int] = [:]
    }

    @Test func everythingThatGoesInComesOut() async throws {
        let place = try Installation("stress")
        let album = place.folder.file("album")
        try SampleAlbum(width: 200, height: 150).write(count: 40, to: album)
        try await place.up()
        let observer = try place.client()
        let importing = try await observer.call(ImportPhotos(paths: [album]))

        let clients = 16
        let requests = 60
        let tallies = try await withThrowingTaskGroup(of: Tally.self) { group in
            for number in 0..<clients {
                group.addTask { try await Self.visit(place, seed: UInt64(number + 1), requests: requests) }
            }
            return try await group.reduce(into: [Tally]()) { $0.append($1) }
        }
        let replies = tallies.reduce(0) { $0 + $1.replies }
        #expect(replies == clients * requests)
        let statuses = tallies.reduce(into: [MeshStatus: Int]()) { $0.merge($1.errors, uniquingKeysWith: +) }
        #expect(statuses[.internal] == nil && statuses[.dataLoss] == nil, "\(statuses)")

        let job = try await observer.call(WaitForJob(job: importing.job))
        #expect(job.state == .finished && job.outcomes.values.reduce(0, +) == 40)
        try await expectConservation(observer)
        #expect(try await Self.trashAndPhotosAreWhole(place, observer))
    }

    @Test func clientsThatVanishLeaveNothingRunning() async throws {
        let place = try Installation("vanish")
        try SampleAlbum(width: 64, height: 48).write(count: 10, to: place.folder.file("album"))
        try await place.up()
        let observer = try place.client()
        let started = try await observer.call(ImportPhotos(paths: [place.folder.file("album")]))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<40 {
                group.addTask {
                    guard let client = try? place.client() else { return }
                    let request = Task { try await client.call(SearchPhotos(PhotoFilter(text: "sample"))) }
                    let watch = Task { try await client.call(WaitForJob(job: started.job)) }
                    client.close()
                    _ = await request.result
                    _ = await watch.result
                }
            }
        }
        // Jobs belong to the daemon, not to a connection.
        #expect(try await observer.call(WaitForJob(job: started.job)).outcomes == ["imported": 10])
        try await expectConservation(observer)
    }

    /// One client's visit: mixed requests, some cancelled, each counted.
    private static func visit(_ place: Installation, seed: UInt64, requests: Int) async throws -> Tally {
        let client = try place.client()
        defer { client.close() }
        var dice = Dice(state: seed)
        var tally = Tally()
        var session: String?
        for number in 0..<requests {
            let kind = dice.roll(10)
            let cancels = dice.roll(6) == 0
            let pick = dice.roll(1000)
            let running = session
            let task = Task { () async throws -> String? in
                try await ask(client, kind: kind, pick: pick, name: "\(seed)-\(number % 7)", session: running)
            }
            if cancels { task.cancel() }
            do {
                session = try await task.value ?? session
            } catch {
                let known = error as? MeshError ?? MeshError(describing: error)
                tally.errors[known.status, default: 0] += 1
            }
            tally.replies += 1
        }
        return tally
    }

    /// - Returns: a new swipe session's id, where that was the request.
    private static func ask(
        _ client: ControlClient, kind: Int, pick: Int, name: String, session: String?
    ) async throws -> String? {
        func photo() async throws -> Photo {
            let photos = try await client.call(SearchPhotos(limit: 50)).photos
            guard !photos.isEmpty else { throw MeshError(.notFound, "no photo yet") }
            return photos[pick % photos.count]
        }
        switch kind {
        case 0: _ = try await client.call(ListCategories())
        case 1: _ = try await client.call(AddCategory(displayName: name))
        case 2: _ = try await client.call(SetFavorite(ids: [photo().id], isFavorite: pick % 2 == 0))
        case 3: _ = try await client.call(SetCaption(id: photo().id, caption: "caption \(pick)"))
        case 4: _ = try await client.call(DeletePhotos(ids: [photo().id]))
        case 5:
            let trash = try await client.call(ListTrash(limit: 20)).photos
            if let first = trash.first { _ = try await client.call(RestorePhotos(ids: [first.photo.id])) }
        case 6: return try await client.call(StartSwipeSession()).sessionID
        case 7:
            guard let session else { return nil }
            let shown = try await photo()
            _ = try await client.call(
                RecordSwipe(
                    sessionID: session, photoIdentifier: shown.uuid, contentDigest: shown.contentDigest,
                    action: SwipeAction.allCases[pick % 3]))
        case 8: _ = try await client.call(SearchPhotos(PhotoFilter(text: "sample", favoritesOnly: true)))
        default: _ = try await client.call(GetLibraryStatus(), deadlineMs: pick % 2 == 0 ? 1 : 5000)
        }
        return nil
    }

    /// admitted = completed + failed + cancelled, for every message but those that run while it is asked.
    private func expectConservation(_ client: ControlClient) async throws {
        let statistics = try await client.call(GetMeshStatistics())
        for message in statistics.messages {
            let inFlight = message.method == GetMeshStatistics.method ? 1 : 0
            #expect(message.inFlight == inFlight, "\(message.method)")
            #expect(
                message.admitted == message.completed + message.failed + message.cancelled + inFlight,
                "\(message.method)")
        }
        for service in statistics.services { #expect(service.waiting == 0, "\(service.name)") }
    }

    /// Photos in the library and in the trash are, together, the files that are there.
    private static func trashAndPhotosAreWhole(_ place: Installation, _ client: ControlClient) async throws -> Bool {
        let photos = try await place.allPhotos(client)
        let trash = try await client.call(ListTrash(limit: 1000)).photos.map(\.photo)
        let names = (photos + trash).map(\.fileName).sorted()
        return try place.files("photos") == names && place.files("thumbnails") == names.map { "thumb_" + $0 }.sorted()
            && place.files("staging").isEmpty
    }
}
