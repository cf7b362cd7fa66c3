import Foundation
import LibraryModel
import LibraryServices
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import Testing

/// What stays of a review: which photos it decided about, and what.
@Suite struct ReviewMemoryTests {
    private func library(_ photos: Int) async throws -> (TestLibrary, [Photo]) {
        let test = try await TestLibrary()
        _ = try await test.importSamples(photos, album: SampleAlbum(width: 32, height: 24))
        return (test, try await test.allPhotos())
    }

    private func session(_ test: TestLibrary) async throws -> String {
        try await test.mesh.send(StartSwipeSession()).sessionID
    }

    private func record(
        _ test: TestLibrary, _ photo: Photo, _ session: String, _ action: SwipeAction
    ) async throws {
        _ = try await test.mesh.send(
            RecordSwipe(
                sessionID: session, photoIdentifier: photo.uuid, contentDigest: photo.contentDigest, action: action))
    }

    /// In pages of two, so that cursors are part of it.
    private func found(
        _ test: TestLibrary, text: String? = nil, category: Int64? = nil, favorites: Bool? = nil, reviewed: Bool? = nil,
        decision: SwipeAction? = nil
    ) async throws -> [Int64] {
        var (ids, next): ([Int64], String?) = ([], nil)
        repeat {
            let page = try await test.mesh.send(
                SearchPhotos(
                    PhotoFilter(
                        text: text, categoryId: category, favoritesOnly: favorites, reviewed: reviewed,
                        decision: decision), limit: 2, after: next))
            ids += page.photos.map(\.id)
            next = page.next
        } while next != nil
        return ids
    }

    @Test func everyListKnowsWhatWasReviewed() async throws {
        let (test, photos) = try await library(9)
        let session = try await session(test)
        for (photo, action) in zip(photos, [SwipeAction.keep, .trash, .favorite, .keep, .keep, .trash]) {
            try await record(test, photo, session, action)
        }
        _ = try await test.mesh.send(MovePhotos(ids: photos.map(\.id).filter { $0 % 2 == 0 }, categoryId: 2))
        _ = try await test.mesh.send(SetFavorite(ids: [photos[1].id, photos[4].id, photos[7].id], isFavorite: true))
        let all = try await test.allPhotos()
        #expect(all.map(\.lastDecision) == [.keep, .trash, .favorite, .keep, .keep, .trash, nil, nil, nil])
        for category in [nil, 1, 2] as [Int64?] {
            for favorites in [nil, true] as [Bool?] {
                for (reviewed, decision) in [
                    (true, nil), (false, nil), (nil, .keep), (nil, .trash), (true, .favorite),
                ] as [(Bool?, SwipeAction?)] {
                    for text in [nil, "sam", "sample-000"] as [String?] {
                        let wanted = all.filter { photo in
                            (category == nil || photo.categoryId == category) && (favorites == nil || photo.isFavorite)
                                && (reviewed == nil || reviewed == (photo.lastDecision != nil))
                                && (decision == nil || photo.lastDecision == decision)
                        }.map(\.id)
                        let ids = try await found(
                            test, text: text, category: category, favorites: favorites, reviewed: reviewed,
                            decision: decision)
                        #expect(ids == wanted)
                        let count = CountPhotos(
                            PhotoFilter(
                                text: text, categoryId: category, favoritesOnly: favorites, reviewed: reviewed,
                                decision: decision))
                        #expect(try await test.mesh.send(count).count == wanted.count)
                    }
                }
            }
        }
        await test.library.close()
    }

    @Test func anObservationOfWhatIsNotReviewedFollowsTheReview() async throws {
        let (test, photos) = try await library(3)
        let session = try await session(test)
        let rest = Watched.follow(ObservePhotos(PhotoFilter(reviewed: false)), on: test.mesh)
        await rest.becomes(ObservedPhotos(photos: photos, next: nil, total: 3))
        try await record(test, photos[0], session, .keep)
        await rest.becomes(ObservedPhotos(photos: Array(photos[1...]), next: nil, total: 2))
        _ = try await test.mesh.send(UndoSwipes(sessionID: session))
        await rest.becomes(ObservedPhotos(photos: photos, next: nil, total: 3))
        await test.library.close()
    }

    @Test func aDecisionOfPhotosThatAreNotReviewedIsNoQuestion() async throws {
        let (test, _) = try await library(1)
        let status = await status {
            _ = try await test.mesh.send(SearchPhotos(PhotoFilter(reviewed: false, decision: .keep)))
        }
        #expect(status == .invalidArgument)
        await test.library.close()
    }

    @Test func undoneDecisionsGiveWayToThoseBefore() async throws {
        let (test, photos) = try await library(2)
        let (first, second) = (try await session(test), try await session(test))
        try await record(test, photos[0], first, .keep)
        _ = try await test.mesh.send(ProcessSwipes(sessionID: first))
        try await record(test, photos[0], second, .trash)
        try await record(test, photos[1], second, .trash)
        try await record(test, photos[0], second, .favorite)
        #expect(try await test.mesh.send(ListSwipeSessions()).sessions.map(\.photosProcessed).sorted() == [1, 2])
        let finished = try await test.mesh.send(FinishSwipeSession(sessionID: second))
        #expect(finished.session.photosProcessed == 2 && finished.processed == nil)
        // Until they are processed, also of a review that has ended.
        let undone = try await test.mesh.send(UndoSwipes(sessionID: second, all: true))
        #expect(undone.count == 3 && undone.actions.map(\.action) == [.favorite, .trash, .trash])
        #expect(try await test.allPhotos().map(\.lastDecision) == [.keep, nil])
        #expect(try await test.mesh.send(UndoSwipes(sessionID: first, all: true)).count == 0)
        let both = UndoSwipes(sessionID: first, count: 2, all: true)
        #expect(await status { _ = try await test.mesh.send(both) } == .invalidArgument)
        await test.library.close()
    }

    /// More than one transaction takes.
    @Test func aLongReviewIsUndoneAltogether() async throws {
        let (test, photos) = try await library(2)
        let session = try await session(test)
        for number in 0..<450 { try await record(test, photos[number % 2], session, .trash) }
        let undone = try await test.mesh.send(UndoSwipes(sessionID: session, all: true))
        #expect(undone.count == 450 && undone.actions.count == 450)
        #expect(undone.actions.map(\.id) == undone.actions.map(\.id).sorted(by: >))
        #expect(try await test.mesh.send(CountPhotos(PhotoFilter(reviewed: false))).count == 2)
        await test.library.close()
    }

    @Test func historyIsReadBySessionAndByPhoto() async throws {
        let (test, photos) = try await library(3)
        let (first, second) = (try await session(test), try await session(test))
        for photo in photos { try await record(test, photo, first, .keep) }
        _ = try await test.mesh.send(ProcessSwipes())
        try await record(test, photos[1], second, .trash)
        let ofFirst = try await test.mesh.send(ListSwipeHistory(sessionID: first))
        #expect(ofFirst.actions.map(\.photoIdentifier) == photos.map(\.uuid).reversed())
        #expect(ofFirst.next == nil && ofFirst.actions.allSatisfy { $0.isProcessed })
        let ofPhoto = try await test.mesh.send(ListSwipeHistory(photoIdentifier: photos[1].uuid.uppercased()))
        #expect(
            ofPhoto.actions.map(\.action) == [.trash, .keep] && ofPhoto.actions.map(\.isProcessed) == [false, true])
        let ofBoth = ListSwipeHistory(sessionID: second, photoIdentifier: photos[0].uuid)
        #expect(try await test.mesh.send(ofBoth).actions.isEmpty)
        let page = try await test.mesh.send(ListSwipeHistory(limit: 3))
        let rest = try await test.mesh.send(ListSwipeHistory(limit: 3, after: page.next))
        #expect(page.actions.count == 3 && rest.actions.count == 1 && rest.next == nil)
        let whole = try await test.mesh.send(ListSwipeHistory()).actions
        #expect(page.actions + rest.actions == whole)
        let unknown = ListSwipeHistory(sessionID: UUID().uuidString)
        #expect(await status { _ = try await test.mesh.send(unknown) } == .notFound)
        await test.library.close()
    }

    @Test func decisionsAreMarkedWithoutBeingApplied() async throws {
        let (test, photos) = try await library(3)
        let (first, second) = (try await session(test), try await session(test))
        for photo in photos { try await record(test, photo, first, .trash) }
        try await record(test, photos[0], second, .trash)
        let waiting = try await test.mesh.send(ListPendingSwipes()).actions
        let one = MarkSwipesProcessed(ids: [waiting[0].id, waiting[0].id + 1000])
        #expect(try await test.mesh.send(one).count == 1)
        #expect(try await test.mesh.send(one).count == 0)
        #expect(try await test.mesh.send(MarkSwipesProcessed(sessionID: first)).count == 2)
        #expect(try await test.mesh.send(ListPendingSwipes()).actions.map(\.sessionID) == [second])
        #expect(try await test.mesh.send(MarkSwipesProcessed()).count == 1)
        #expect(try await test.mesh.send(ProcessSwipes()).trashed == 0)
        #expect(try await test.allPhotos().map(\.lastDecision) == [.trash, .trash, .trash])
        let many = MarkSwipesProcessed(ids: Array(1...1001))
        #expect(await status { _ = try await test.mesh.send(many) } == .invalidArgument)
        await test.library.close()
    }

    @Test func oldHistoryIsDeletedAndReviewsStayRemembered() async throws {
        let (test, photos) = try await library(3)
        let (first, second) = (try await session(test), try await session(test))
        try await record(test, photos[0], first, .trash)
        try await record(test, photos[0], first, .keep)
        try await record(test, photos[1], first, .keep)
        _ = try await test.mesh.send(ProcessSwipes())
        try await record(test, photos[2], second, .favorite)
        let before = DeleteProcessedSwipes(before: Timestamp(milliseconds: 0))
        #expect(try await test.mesh.send(before).count == 0)
        let later = Timestamp(milliseconds: Timestamp.now().milliseconds + 60_000)
        #expect(try await test.mesh.send(DeleteProcessedSwipes(before: later, sessionID: second)).count == 0)
        // Also of a session that goes on, which counts its photos all the same, then and when it has ended.
        #expect(try await test.mesh.send(DeleteProcessedSwipes(before: later)).count == 3)
        #expect(try await test.mesh.send(ListSwipeSessions()).sessions.map(\.photosProcessed).sorted() == [1, 2])
        _ = try await test.mesh.send(FinishSwipeSession(sessionID: first))
        #expect(try await test.mesh.send(ListSwipeHistory()).actions.map(\.sessionID) == [second])
        #expect(try await test.mesh.send(ListPendingSwipes()).actions.count == 1)
        #expect(try await test.allPhotos().map(\.lastDecision) == [.keep, .keep, .favorite])
        let sessions = try await test.mesh.send(ListSwipeSessions()).sessions
        #expect(sessions.first { $0.sessionID == first }?.photosProcessed == 2)
        await test.library.close()
    }

    @Test func sessionsAreFoundByTheBeginningOfTheirIDs() async throws {
        let (test, photos) = try await library(1)
        var ids: [String] = []
        // Of 17, two begin with the same digit.
        for _ in 0..<17 { ids.append(try await session(test)) }
        let shared = try #require(Dictionary(grouping: ids) { $0.prefix(1) }.first { $0.value.count > 1 })
        let digit = String(shared.key)
        #expect(await status { try await record(test, photos[0], digit, .keep) } == .invalidArgument)
        #expect(await status { try await record(test, photos[0], "", .keep) } == .notFound)
        try await record(test, photos[0], String(shared.value[0].uppercased().prefix(35)), .keep)
        let found = try await test.mesh.send(ListSwipeHistory(sessionID: String(shared.value[0].prefix(35))))
        #expect(found.actions.map(\.sessionID) == [shared.value[0]])
        _ = try await test.mesh.send(FinishSwipeSession(sessionID: String(shared.value[0].prefix(30))))
        #expect(await status { try await record(test, photos[0], shared.value[0], .keep) } == .failedPrecondition)
        await test.library.close()
    }

    @Test func whatWaitsComesInBatches() async throws {
        let (test, photos) = try await library(2)
        let session = try await session(test)
        for number in 0..<5 { try await record(test, photos[number % 2], session, .keep) }
        var sizes: [Int] = []
        var ids: [Int64] = []
        for try await batch in PendingSwipeBatches(of: test.mesh, sessionID: session, size: 2) {
            // What is processed leaves no gap, and what comes meanwhile comes too.
            _ = try await test.mesh.send(MarkSwipesProcessed(ids: batch.map(\.id)))
            if sizes.isEmpty { try await record(test, photos[0], session, .trash) }
            sizes.append(batch.count)
            ids += batch.map(\.id)
        }
        #expect(sizes == [2, 2, 2] && ids == ids.sorted() && Set(ids).count == 6)
        await test.library.close()
    }

    @Test func aHundredAreABatchUnlessTold() async throws {
        let (test, photos) = try await library(1)
        let session = try await session(test)
        for _ in 0..<101 { try await record(test, photos[0], session, .keep) }
        var sizes: [Int] = []
        for try await batch in PendingSwipeBatches(of: test.mesh) { sizes.append(batch.count) }
        #expect(sizes == [100, 1])
        #expect(try await test.mesh.send(ListPendingSwipes()).actions.count == 100)
        await test.library.close()
    }

    @Test func reviewsTravelInBackupsAndThroughTheTrash() async throws {
        let (test, photos) = try await library(3)
        let session = try await session(test)
        try await record(test, photos[0], session, .keep)
        try await record(test, photos[1], session, .trash)
        _ = try await test.mesh.send(ProcessSwipes())
        let later = Timestamp(milliseconds: Timestamp.now().milliseconds + 60_000)
        _ = try await test.mesh.send(FinishSwipeSession(sessionID: session))
        #expect(try await test.mesh.send(DeleteProcessedSwipes(before: later)).count == 2)
        try await record(test, photos[2], try await self.session(test), .favorite)
        _ = try await test.mesh.send(RestorePhotos(ids: [photos[1].id]))
        #expect(try await test.allPhotos().map(\.lastDecision) == [.keep, .trash, .favorite])
        let path = test.folder.file("backup.zip")
        _ = try await test.run(CreateBackup(path: path))
        let other = try await TestLibrary()
        _ = try await other.run(RestoreBackup(path: path, mode: .replace))
        #expect(try await other.allPhotos().map(\.lastDecision) == [.keep, .trash, .favorite])
        #expect(try await other.mesh.send(ListSwipeSessions()).sessions.map(\.photosProcessed) == [1, 2])
        #expect(try await other.mesh.send(ListPendingSwipes()).actions.count == 1)
        await test.library.close()
        await other.library.close()
    }
}
