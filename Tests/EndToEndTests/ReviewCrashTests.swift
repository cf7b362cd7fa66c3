import ControlSocket
import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import ServiceMesh
import TestSupport
import Testing

/// A review whose daemon is killed again and again: what was acknowledged is there, and what is applied is what the
/// decisions say.
@Suite(.serialized, .timeLimit(.minutes(4))) struct ReviewCrashTests {
    private static func action(_ number: Int) -> SwipeAction { SwipeAction.allCases[number * 7 % 3] }

    /// Every decision, the oldest first.
    private func history(_ client: ControlClient) async throws -> [PhotoAction] {
        var actions: [PhotoAction] = []
        var next: Int64?
        repeat {
            let page = try await client.call(ListSwipeHistory(limit: 1000, after: next))
            actions += page.actions
            next = page.next
        } while next != nil
        return actions.reversed()
    }

    @Test func aReviewOf200DecisionsSurvivesKillsAnywhere() async throws {
        let place = try Installation("review-crash")
        try await place.up()
        let album = place.folder.file("album")
        try SampleAlbum(width: 48, height: 32).write(count: 40, to: album)
        #expect(try await place.smilepile("import", album).status == 0)
        var client = try place.client()
        let photos = try await place.allPhotos(client)
        let session = try await client.call(StartSwipeSession()).sessionID
        var acknowledged: [Int64: SwipeAction] = [:]
        var unknown = 0
        for number in 0..<200 {
            let photo = photos[number % 40]
            let request = RecordSwipe(
                sessionID: session, photoIdentifier: photo.uuid, contentDigest: photo.contentDigest,
                action: Self.action(number))
            guard number % 25 == 24 else {
                acknowledged[try await client.call(request).id] = request.action
                continue
            }
            // Killed while it is on its way: it is on disk or it is not.
            let asking = Task { [client] in try await client.call(request) }
            try await place.killDaemon()
            if let action = try? await asking.value { acknowledged[action.id] = action.action } else { unknown += 1 }
            try await place.up()
            client = try place.client()
        }
        let recorded = try await history(client)
        let present = Dictionary(uniqueKeysWithValues: recorded.map { ($0.id, $0.action) })
        #expect(acknowledged.allSatisfy { present[$0.key] == $0.value })
        #expect(recorded.count - acknowledged.count <= unknown && recorded.count >= acknowledged.count)
        #expect(try await client.call(ListSwipeSessions()).sessions.map(\.photosProcessed) == [40])

        let undone = try await client.call(UndoSwipes(sessionID: session, count: 50))
        #expect(undone.actions.map(\.id) == recorded.suffix(50).map(\.id).reversed())
        try await place.killDaemon()
        try await place.up()
        client = try place.client()
        let rest = try await history(client)
        #expect(rest == recorded.dropLast(50))
        let latest = Dictionary(rest.map { ($0.photoIdentifier, $0.action) }) { $1 }
        let before = try await place.allPhotos(client)
        for photo in before { #expect(photo.lastDecision == latest[photo.uuid]) }

        // Applied while the daemon is killed, and then until nothing waits.
        for _ in 0..<3 {
            let asking = Task { [client] in try await client.call(ProcessSwipes(sessionID: session)) }
            try await place.killDaemon()
            _ = try? await asking.value
            try await place.up()
            client = try place.client()
        }
        _ = try await client.call(ProcessSwipes(sessionID: session))
        #expect(try await client.call(ListPendingSwipes()).actions.isEmpty)
        let after = try await place.allPhotos(client)
        #expect(Set(after.map(\.uuid)) == Set(before.map(\.uuid).filter { latest[$0] != .trash }))
        for photo in after { #expect(photo.isFavorite == (latest[photo.uuid] == .favorite)) }
        #expect(try await client.call(ListTrash(limit: 1000)).photos.count == latest.values.count { $0 == .trash })
        // The trash has its files, and nothing else has any.
        #expect(try place.files("photos").count == 40 && place.files("staging").isEmpty)
        #expect(try await place.smilepile("down").status == 0)
    }
}
