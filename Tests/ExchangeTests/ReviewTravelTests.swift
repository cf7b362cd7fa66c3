import Foundation
import LibraryModel
import LibraryServices
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import Testing

/// What goes along with reviews between a person's machines, and what deleting decisions leaves of a review that goes on.
@Suite(.timeLimit(.minutes(2))) struct ReviewTravelTests {
    private func preferences(_ house: ReviewNeighbours.House) async throws -> [String] {
        let settings = try await house.mesh.send(GetSettings())
        return [settings.swipeThreshold, settings.groupPhotoMegabytes].map { "\($0)" }
            + ["\(settings.enableHapticFeedback) \(settings.autoProcessActions)"]
    }

    @Test func theLaterChangeOfThePreferencesCountsOnAllMachines() async throws {
        // Half an hour behind home's.
        let behind = WallClock { Timestamp(milliseconds: Timestamp.now().milliseconds - 1_800_000) }
        let street = try await ReviewNeighbours(clock: behind)
        let (home, laptop) = (street.home, street.laptop)
        // Out: the laptop has set them, and home nothing.
        _ = try await laptop.mesh.send(
            ChangeSettings(swipeThreshold: 0.4, autoProcessActions: false, groupPhotoMegabytes: 17))
        try await laptop.sync()
        let untouched = "\(Settings().groupPhotoMegabytes)"
        #expect(try await preferences(home) == ["0.4", untouched, "true false"])
        // In: home has changed them since.
        _ = try await home.mesh.send(ChangeSettings(swipeThreshold: 0.6))
        try await laptop.sync()
        #expect(try await preferences(laptop) == ["0.6", "17.0", "true false"])
        // The laptop's clock says that its change is the earlier one.
        _ = try await laptop.mesh.send(ChangeSettings(swipeThreshold: 0.2))
        try await laptop.sync()
        for house in [home, laptop] { #expect(try await preferences(house)[0] == "0.6") }
        // Nothing is told twice.
        let count = street.road.sent.withLock { $0.count }
        try await laptop.sync()
        #expect(street.road.sent.withLock { $0.count } == count)
        await street.close()
    }

    @Test func preferencesThatCannotBeRightAreRefused() async throws {
        let street = try await ReviewNeighbours()
        let future = Timestamp(milliseconds: 4_000_000_000_000)
        for (threshold, time) in [(0.0, Timestamp.now()), (2, .now()), (0.5, future)] {
            let told = ReviewChanges.Preferences(
                swipeThreshold: threshold, enableHapticFeedback: false, autoProcessActions: false, changedAt: time)
            let changes = ReviewChanges(
                sessions: [], decisions: [], undone: [], next: "", more: false, preferences: told)
            await #expect(throws: MeshError.self) {
                try await street.home.mesh.send(TakeHubReviews(token: street.token, changes: changes))
            }
        }
        #expect(try await street.home.mesh.send(GetSettings()).enableHapticFeedback)
        await street.close()
    }

    @Test func decisionsWaitInTheOrderOfTheirOwnTime() async throws {
        // What the laptop decides is always the earlier.
        let street = try await ReviewNeighbours(
            clock: WallClock { Timestamp(milliseconds: Timestamp.now().milliseconds - 1000) })
        let (home, laptop) = (street.home, street.laptop)
        for house in [home, laptop] { _ = try await house.mesh.send(ChangeSettings(autoProcessActions: false)) }
        let other = try await laptop.start()
        try await laptop.decide(2, .trash, in: other)
        try await laptop.decide(3, .trash, in: other)
        try await laptop.finish(other)
        let own = try await home.start()
        try await home.decide(0, .keep, in: own)
        try await home.decide(1, .keep, in: own)
        try await laptop.sync()
        let actions = try await home.mesh.send(ListPendingSwipes(limit: 10)).actions
        #expect(actions.map(\.action) == [.trash, .trash, .keep, .keep])
        #expect(actions.map(\.timestamp) == actions.map(\.timestamp).sorted())
        // One at a time it is the same, whatever becomes of those that were had.
        var found: [Int64] = []
        for try await batch in PendingSwipeBatches(of: home.mesh, size: 1) {
            found += batch.map(\.id)
            _ = try await home.mesh.send(MarkSwipesProcessed(ids: batch.map(\.id)))
        }
        #expect(found == actions.map(\.id))
        await street.close()
    }

    @Test func aReviewThatGoesOnLosesItsProcessedDecisionsAndCountsEachPhotoOnce() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(4, album: SampleAlbum(width: 64, height: 48))
        let (mesh, photos) = (test.mesh, try await test.allPhotos())
        func start() async throws -> String { try await mesh.send(StartSwipeSession()).sessionID }
        func decide(_ number: Int, in session: String) async throws {
            let photo = photos[number]
            _ = try await mesh.send(
                RecordSwipe(
                    sessionID: session, photoIdentifier: photo.uuid, contentDigest: photo.contentDigest, action: .keep))
        }
        let session = try await start()
        func processed() async throws -> Int? {
            try await mesh.send(ListSwipeSessions()).sessions.first { $0.sessionID == session }?.photosProcessed
        }
        for number in 0..<3 { try await decide(number, in: session) }
        _ = try await mesh.send(MarkSwipesProcessed(sessionID: session))
        let later = Timestamp(milliseconds: Timestamp.now().milliseconds + 60_000)
        #expect(try await mesh.send(DeleteProcessedSwipes(before: later)).count == 3)
        #expect(try await mesh.send(ListSwipeHistory()).actions.isEmpty)
        #expect(try await processed() == 3)
        // Another review decides about one of them meanwhile, and that goes too.
        let other = try await start()
        try await decide(0, in: other)
        _ = try await mesh.send(MarkSwipesProcessed(sessionID: other))
        #expect(try await mesh.send(DeleteProcessedSwipes(before: later)).count == 1)
        for number in [0, 1, 3] { try await decide(number, in: session) }
        #expect(try await processed() == 4)
        _ = try await mesh.send(FinishSwipeSession(sessionID: session))
        #expect(try await processed() == 4)
        await test.library.close()
    }

    /// One that goes on may still be taken back on the other machine, and would stay the last one of its photo here.
    @Test func ofReviewsThatAreSharedOnlyThoseThatHaveEndedLoseDecisions() async throws {
        let street = try await ReviewNeighbours()
        let (home, session) = (street.home, try await street.home.start())
        try await home.decide(0, .keep, in: session)
        _ = try await home.mesh.send(MarkSwipesProcessed(sessionID: session))
        let later = Timestamp(milliseconds: Timestamp.now().milliseconds + 60_000)
        #expect(try await home.mesh.send(DeleteProcessedSwipes(before: later)).count == 0)
        try await home.finish(session)
        #expect(try await home.mesh.send(DeleteProcessedSwipes(before: later)).count == 1)
        await street.close()
    }
}
