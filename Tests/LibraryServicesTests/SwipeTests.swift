import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import Testing

@Suite struct SwipeTests {
    private func started(_ count: Int) async throws -> (TestLibrary, [Photo], String) {
        let test = try await TestLibrary()
        _ = try await test.importSamples(count, album: SampleAlbum(width: 32, height: 24))
        let session = try await test.mesh.send(StartSwipeSession())
        return (test, try await test.allPhotos(), session.sessionID)
    }

    private func record(
        _ test: TestLibrary, _ photo: Photo, _ session: String, _ action: SwipeAction
    ) async throws {
        _ = try await test.mesh.send(
            RecordSwipe(
                sessionID: session, photoIdentifier: photo.uuid, contentDigest: photo.contentDigest, action: action))
    }

    @Test func processingAppliesOnce() async throws {
        let (test, photos, session) = try await started(4)
        try await record(test, photos[0], session, .favorite)
        try await record(test, photos[1], session, .trash)
        try await record(test, photos[2], session, .keep)
        try await record(test, photos[3], session, .trash)
        try await record(test, photos[3], session, .keep)
        #expect(try await test.mesh.send(ListPendingSwipes()).actions.count == 5)
        let done = try await test.mesh.send(ProcessSwipes())
        #expect(done == ProcessedSwipes(favorited: 1, trashed: 1, kept: 2, outdated: 0))
        #expect(
            try await test.mesh.send(ProcessSwipes()) == ProcessedSwipes(favorited: 0, trashed: 0, kept: 0, outdated: 0)
        )
        #expect(try await test.allPhotos().map(\.id) == [photos[0], photos[2], photos[3]].map(\.id))
        #expect(try await test.mesh.send(GetPhoto(id: photos[0].id)).isFavorite)
        await test.library.close()
    }

    @Test func undoTakesBackTheLatestUntilTheyAreProcessed() async throws {
        let (test, photos, session) = try await started(3)
        for photo in photos { try await record(test, photo, session, .trash) }
        let undone = try await test.mesh.send(UndoSwipes(sessionID: session, count: 2))
        #expect(undone.actions.map(\.photoIdentifier) == [photos[2].uuid, photos[1].uuid])
        _ = try await test.mesh.send(ProcessSwipes(sessionID: session))
        #expect(try await test.allPhotos().map(\.id) == [photos[1].id, photos[2].id])
        #expect(try await test.mesh.send(UndoSwipes(sessionID: session)).actions.isEmpty)
        await test.library.close()
    }

    @Test func aDecisionAboutAnotherContentIsRefused() async throws {
        let (test, photos, session) = try await started(2)
        let changed = RecordSwipe(
            sessionID: session, photoIdentifier: photos[0].uuid, contentDigest: String(repeating: "0", count: 64),
            action: .trash)
        #expect(await status { _ = try await test.mesh.send(changed) } == .failedPrecondition)
        _ = try await test.mesh.send(DeletePhotos(ids: [photos[1].id]))
        #expect(await status { try await record(test, photos[1], session, .keep) } == .notFound)
        #expect(await status { try await record(test, photos[0], UUID().uuidString, .keep) } == .notFound)
        await test.library.close()
    }

    @Test func aPhotoThatWentMeanwhileIsLeftAlone() async throws {
        let (test, photos, session) = try await started(1)
        try await record(test, photos[0], session, .favorite)
        _ = try await test.mesh.send(DeletePhotos(ids: [photos[0].id]))
        #expect(try await test.mesh.send(ProcessSwipes()).outdated == 1)
        #expect(try await test.mesh.send(ListTrash()).photos[0].photo.isFavorite == false)
        await test.library.close()
    }

    @Test func finishingEndsTheSessionAndMayApplyIt() async throws {
        let (test, photos, session) = try await started(1)
        _ = try await test.mesh.send(ChangeSettings(autoProcessActions: true))
        try await record(test, photos[0], session, .favorite)
        let finished = try await test.mesh.send(FinishSwipeSession(sessionID: session))
        #expect(finished.session.endTime != nil && finished.session.photosProcessed == 1)
        #expect(finished.processed == ProcessedSwipes(favorited: 1, trashed: 0, kept: 0, outdated: 0))
        let again = try await test.mesh.send(FinishSwipeSession(sessionID: session))
        #expect(again.session == finished.session)
        #expect(again.processed == ProcessedSwipes(favorited: 0, trashed: 0, kept: 0, outdated: 0))
        #expect(await status { try await record(test, photos[0], session, .keep) } == .failedPrecondition)
        #expect(try await test.mesh.send(GetPhoto(id: photos[0].id)).isFavorite)
        await test.library.close()
    }

    @Test func decisionsSurviveAReopening() async throws {
        let (test, photos, session) = try await started(2)
        try await record(test, photos[0], session, .trash)
        await test.library.close()
        let library = try await PhotoLibrary.open(at: test.path)
        #expect(try await library.mesh.send(ListPendingSwipes()).actions.map(\.photoIdentifier) == [photos[0].uuid])
        #expect(try await library.mesh.send(ProcessSwipes()).trashed == 1)
        await library.close()
    }
}
