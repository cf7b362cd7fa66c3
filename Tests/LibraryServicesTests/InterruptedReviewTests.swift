import CatalogueTestSupport
import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import Testing

/// Reviews that meet each other, and processing that is broken off.
@Suite struct InterruptedReviewTests {
    /// Rows without files, in one category.
    private func rows(_ count: Int) async throws -> (TestLibrary, [Photo]) {
        let test = try await TestLibrary()
        let category = try await test.mesh.send(ListCategories()).categories[0].id
        let sample = SampleCatalogue()
        try await test.add((0..<count).map { sample.photo($0, category: category, takenAt: Int64($0)) })
        return (test, try await test.allPhotos())
    }

    private func record(_ mesh: Mesh, _ photo: Photo, _ session: String, _ action: SwipeAction) async throws
        -> PhotoAction
    {
        try await mesh.send(
            RecordSwipe(
                sessionID: session, photoIdentifier: photo.uuid, contentDigest: photo.contentDigest, action: action))
    }

    private static func action(_ number: Int) -> SwipeAction { SwipeAction.allCases[number % 3] }

    /// Three transactions: of the one that fails nothing is done, those before are whole, and the next try does the rest.
    @Test(arguments: [0, 1, 199, 200, 399, 449]) func whatIsBrokenOffIsDoneOnceByTheNextTry(_ broken: Int) async throws
    {
        let (test, photos) = try await rows(450)
        let session = try await test.mesh.send(StartSwipeSession()).sessionID
        for (number, photo) in photos.enumerated() {
            // The one at which it breaks is to go to the trash, whatever the others are.
            _ = try await record(test.mesh, photo, session, number == broken ? .trash : Self.action(number))
        }
        await test.library.close()
        let stepped = try await SteppedLibrary(test)
        try await stepped.database.write { connection in
            try connection.executeScript(
                """
                CREATE TRIGGER refusal BEFORE INSERT ON trash WHEN new.id = \(photos[broken].id)
                BEGIN SELECT raise(ABORT, 'no more'); END;
                """)
        }
        await #expect(throws: MeshError.self) { try await stepped.mesh.send(ProcessSwipes(sessionID: session)) }
        let done = broken / 200 * 200
        #expect(try await stepped.mesh.send(ListPendingSwipes(limit: 1000)).actions.count == 450 - done)
        func wanted(_ range: Range<Int>, _ action: SwipeAction) -> Set<Int64> {
            Set(range.filter { ($0 == broken ? .trash : Self.action($0)) == action }.map { photos[$0].id })
        }
        func found() async throws -> (trashed: Set<Int64>, favorites: Set<Int64>) {
            let trash = try await stepped.mesh.send(ListTrash(limit: 1000)).photos
            let favorites = try await stepped.mesh.send(SearchPhotos(PhotoFilter(favoritesOnly: true), limit: 1000))
                .photos
            return (Set(trash.map(\.photo.id)), Set(favorites.map(\.id)))
        }
        let half = try await found()
        #expect(half.trashed == wanted(0..<done, .trash))
        #expect(half.favorites == wanted(0..<done, .favorite))
        try await stepped.database.write { try $0.executeScript("DROP TRIGGER refusal") }
        let rest = try await stepped.mesh.send(ProcessSwipes(sessionID: session))
        #expect(rest.trashed + rest.favorited + rest.kept == 450 - done && rest.outdated == 0)
        let whole = try await found()
        #expect(whole.trashed == wanted(0..<450, .trash) && whole.favorites == wanted(0..<450, .favorite))
        #expect(try await stepped.mesh.send(ProcessSwipes()).trashed == 0)
        await stepped.close()
    }

    /// Ending a review of the usual size and applying it are one step: where the second cannot be done, the first is not.
    @Test func aReviewIsFinishedAndAppliedTogether() async throws {
        let (test, photos) = try await rows(3)
        _ = try await test.mesh.send(ChangeSettings(autoProcessActions: true))
        let session = try await test.mesh.send(StartSwipeSession()).sessionID
        for photo in photos { _ = try await record(test.mesh, photo, session, .trash) }
        await test.library.close()
        let stepped = try await SteppedLibrary(test)
        try await stepped.database.write { connection in
            try connection.executeScript(
                "CREATE TRIGGER refusal BEFORE INSERT ON trash BEGIN SELECT raise(ABORT, 'no more'); END;")
        }
        await #expect(throws: MeshError.self) { try await stepped.mesh.send(FinishSwipeSession(sessionID: session)) }
        #expect(try await stepped.mesh.send(ListSwipeSessions()).sessions.allSatisfy { $0.endTime == nil })
        try await stepped.database.write { try $0.executeScript("DROP TRIGGER refusal") }
        let finished = try await stepped.mesh.send(FinishSwipeSession(sessionID: session))
        #expect(finished.session.endTime != nil && finished.processed?.trashed == 3)
        await stepped.close()
    }

    /// Whoever was last about a photo is right, in lists at once and when both are applied.
    @Test func ofTwoReviewsAtOnceTheLaterDecisionCounts() async throws {
        let (test, photos) = try await rows(40)
        let mesh = test.mesh
        let sessions = [
            try await mesh.send(StartSwipeSession()).sessionID, try await mesh.send(StartSwipeSession()).sessionID,
        ]
        let made = try await withThrowingTaskGroup(of: [PhotoAction].self) { group in
            for (reviewer, session) in sessions.enumerated() {
                group.addTask {
                    var made: [PhotoAction] = []
                    for (number, photo) in photos.enumerated() {
                        made.append(try await self.record(mesh, photo, session, Self.action(number + reviewer)))
                    }
                    return made
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        let latest = Dictionary(made.map { ($0.photoIdentifier, $0) }) { $0.id > $1.id ? $0 : $1 }
        for photo in try await test.allPhotos() { #expect(photo.lastDecision == latest[photo.uuid]?.action) }
        #expect(try await mesh.send(ListSwipeSessions()).sessions.map(\.photosProcessed) == [40, 40])
        let processed = try await mesh.send(ProcessSwipes())
        #expect(processed.trashed == latest.values.count { $0.action == .trash })
        #expect(processed.favorited == latest.values.count { $0.action == .favorite })
        #expect(try await mesh.send(CountPhotos()).count == 40 - processed.trashed)
        await test.library.close()
    }
}
