import Foundation
import LibraryModel
import LibraryTestSupport
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// Reviews that a person's machines have in common.
@Suite(.timeLimit(.minutes(3))) struct ReviewSyncTests {
    @Test func whatWasDecidedOfflineOnBothIsOnBoth() async throws {
        let street = try await ReviewNeighbours()
        let (home, laptop) = (street.home, street.laptop)
        street.road.isDown.withLock { $0 = true }
        let there = try await home.start()
        try await home.decide(0, .trash, in: there)
        try await home.decide(1, .favorite, in: there)
        let here = try await laptop.start()
        try await laptop.decide(0, .keep, in: here)
        try await laptop.decide(2, .trash, in: here)
        try await laptop.decide(3, .trash, in: here)
        #expect(try await laptop.sync().failed == 1)
        let machines = try await laptop.mesh.send(ListReviewMachines()).machines
        #expect(machines.map(\.problem) == ["The road is closed."] && machines[0].isJoined)
        // One is taken back here, and the others are applied there, before they meet.
        _ = try await laptop.mesh.send(UndoSwipes(sessionID: here))
        try await home.finish(there)
        try await laptop.finish(here)
        let applied = try await home.mesh.send(ProcessSwipes())
        #expect(applied.trashed == 1 && applied.favorited == 1)
        street.road.isDown.withLock { $0 = false }
        let receipt = try await laptop.sync()
        #expect(receipt.failed == 0 && receipt.fetched == 2 && receipt.sent == 2 && receipt.undone == 0)
        #expect(try await home.state() == laptop.state())
        #expect(try await laptop.lastDecisions() == [.keep, .favorite, .trash, nil])
        // What was applied there waits here, and what waits there is applied there.
        #expect(try await laptop.mesh.send(ListPendingSwipes()).actions.count == 4)
        let here4 = try await laptop.mesh.send(ProcessSwipes())
        #expect(here4.favorited == 1 && here4.trashed == 1 && here4.kept == 1 && here4.outdated == 0)
        #expect(try await laptop.photos().map(\.isFavorite) == [false, true, false])
        let left = try await home.mesh.send(ProcessSwipes())
        // What it has in the trash is no photo of the library: what comes about it is history.
        #expect(left.trashed == 1 && left.outdated == 0)
        #expect(try await home.state() == laptop.state())
        for house in [home, laptop] {
            #expect(try await house.mesh.send(GetSettings()).lastSyncDate != nil)
        }
        let again = try await laptop.sync()
        #expect(again.sent == 0 && again.fetched == 0 && again.undone == 0)
        await street.close()
    }

    @Test func whatIsTakenBackOnOneIsTakenBackOnBoth() async throws {
        let street = try await ReviewNeighbours()
        let (home, laptop) = (street.home, street.laptop)
        let session = try await home.start()
        try await home.decide(0, .keep, in: session)
        try await home.decide(0, .trash, in: session)
        try await home.decide(1, .favorite, in: session)
        try await laptop.sync()
        #expect(try await laptop.lastDecisions() == [.trash, .favorite, nil, nil])
        // Applied there already, and taken back here: the history is one, and what was done stays done.
        _ = try await home.mesh.send(ProcessSwipes())
        _ = try await laptop.mesh.send(UndoSwipes(sessionID: session, count: 2))
        #expect(try await laptop.lastDecisions() == [.keep, nil, nil, nil])
        try await laptop.sync()
        #expect(try await home.state() == laptop.state())
        #expect(try await home.mesh.send(ListSwipeHistory()).actions.map(\.action) == [.keep])
        #expect(try await home.photos().map(\.isFavorite) == [true, false, false])
        // Everything that was ever told, once more and backwards, changes nothing.
        let (state, said) = (try await home.state(), try await laptop.lastDecisions())
        let parts = street.road.sent.withLock { $0 } + street.road.fetched.withLock { $0 }
        for part in parts.reversed() + parts {
            let taken = try await home.mesh.send(TakeHubReviews(token: street.token, changes: part))
            #expect(taken == .none)
            _ = try await laptop.mesh.send(
                MergeReviews(source: street.machine.id, changes: part), in: .root(mesh: laptop.mesh, role: .service))
        }
        #expect(try await home.state() == state)
        #expect(try await laptop.state() == state)
        #expect(try await laptop.lastDecisions() == said)
        await street.close()
    }

    @Test func anAnswerThatGetsLostDoublesNothing() async throws {
        let street = try await ReviewNeighbours()
        let (home, laptop) = (street.home, street.laptop)
        let session = try await laptop.start()
        for number in 0..<3 { try await laptop.decide(number, .keep, in: session) }
        street.road.losesAnswers.withLock { $0 = true }
        #expect(try await laptop.sync().failed == 1)
        let part = ReviewChanges(
            sessions: [], decisions: try await decisions(of: laptop), undone: [], next: "", more: false)
        let remote = RoadRemote(road: street.road, token: street.token)
        #expect(await status { try await remote.take(part) } == .failedPrecondition)
        #expect(try await home.mesh.send(ListSwipeHistory()).actions.count == 3)
        street.road.losesAnswers.withLock { $0 = false }
        #expect(try await laptop.sync().sent == 3)
        #expect(try await home.state() == laptop.state())
        await street.close()
    }

    private func decisions(of house: ReviewNeighbours.House) async throws -> [ReviewChanges.Decision] {
        try await house.mesh.send(ListSwipeHistory()).actions.map {
            ReviewChanges.Decision(
                session: $0.sessionID, photo: $0.photoIdentifier, digest: $0.contentDigest, action: $0.action,
                decidedAt: $0.timestamp)
        }
    }

    @Test func aReviewThatEndsIsToldByItself() async throws {
        let street = try await ReviewNeighbours()
        let (home, laptop) = (street.home, street.laptop)
        for house in [home, laptop] { _ = try await house.mesh.send(ChangeSettings(autoProcessActions: true)) }
        let favorites = Watched.follow(ObservePhotos(PhotoFilter(favoritesOnly: true)), on: home.mesh)
        await favorites.value { $0.total == 0 }
        let session = try await laptop.start()
        try await laptop.decide(0, .favorite, in: session)
        try await laptop.decide(1, .trash, in: session)
        try await laptop.finish(session)
        // Nobody asks for it.
        await favorites.value { $0.total == 1 }
        let ended = Watched.follow(ObservePhotos(), on: home.mesh)
        await ended.value { $0.total == 3 }
        #expect(try await home.mesh.send(ListPendingSwipes()).actions.isEmpty)
        await street.close()
        await favorites.ended()
        await ended.ended()
    }

    /// With `autoProcessActions` an earlier decision of one session is not applied because a later one is of another.
    @Test func onlyWhatCountsIsAppliedByItself() async throws {
        let street = try await ReviewNeighbours()
        let (home, laptop) = (street.home, street.laptop)
        street.road.isDown.withLock { $0 = true }
        let first = try await laptop.start()
        try await laptop.decide(0, .trash, in: first)
        try await laptop.decide(1, .trash, in: first)
        let second = try await laptop.start()
        try await laptop.decide(0, .favorite, in: second)
        let open = try await laptop.start()
        try await laptop.decide(2, .trash, in: open)
        for session in [first, second] { try await laptop.finish(session) }
        _ = try await home.mesh.send(ChangeSettings(autoProcessActions: true))
        street.road.isDown.withLock { $0 = false }
        try await laptop.sync()
        #expect(try await home.photos().map(\.isFavorite) == [true, false, false])
        // Its session has not ended.
        #expect(try await home.mesh.send(ListPendingSwipes()).actions.map(\.action) == [.trash])
        try await laptop.finish(open)
        try await laptop.sync()
        #expect(try await home.photos().count == 2)
        await street.close()
    }

    @Test func oldDecisionsThatAreDeletedStayDeleted() async throws {
        let street = try await ReviewNeighbours()
        let (home, laptop) = (street.home, street.laptop)
        let session = try await home.start()
        for number in 0..<3 { try await home.decide(number, .keep, in: session) }
        try await home.finish(session)
        try await laptop.sync()
        _ = try await home.mesh.send(ProcessSwipes())
        let later = Timestamp(milliseconds: Timestamp.now().milliseconds + 60_000)
        #expect(try await home.mesh.send(DeleteProcessedSwipes(before: later)).count == 3)
        try await laptop.sync()
        #expect(try await laptop.mesh.send(ListSwipeHistory()).actions.count == 3)
        // Even where all is told anew.
        _ = try await laptop.mesh.send(JoinReviews(address: ReviewNeighbours.address, token: street.token))
        _ = try await laptop.mesh.send(LeaveReviews(id: laptop.mesh.send(ListReviewMachines()).machines[0].id))
        _ = try await laptop.mesh.send(JoinReviews(address: ReviewNeighbours.address, token: street.token))
        #expect(try await home.mesh.send(ListSwipeHistory()).actions.isEmpty)
        #expect(try await home.lastDecisions() == laptop.lastDecisions())
        #expect(try await home.mesh.send(ListSwipeSessions()).sessions.map(\.photosProcessed) == [3])
        await street.close()
    }

    @Test func whatCannotBeRightIsRefused() async throws {
        let street = try await ReviewNeighbours()
        let (home, laptop) = (street.home, street.laptop)
        let photo = try await laptop.photos()[0]
        let session = UUID().uuidString.lowercased()
        let now = Timestamp.now()
        let late = Timestamp(milliseconds: now.milliseconds + 2 * 3_600_000)
        func decision(
            _ session: String, photo uuid: String? = nil, digest: String? = nil, at time: Timestamp
        ) -> ReviewChanges.Decision {
            ReviewChanges.Decision(
                session: session, photo: uuid ?? photo.uuid, digest: digest ?? photo.contentDigest, action: .trash,
                decidedAt: time)
        }
        func changes(
            sessions: [ReviewChanges.Session] = [], _ decisions: [ReviewChanges.Decision] = [],
            undone: [ReviewChanges.Decision] = [], next: String = "x"
        ) -> ReviewChanges {
            ReviewChanges(sessions: sessions, decisions: decisions, undone: undone, next: next, more: false)
        }
        let good = decision(session, at: now)
        let before = try await (home.state(), laptop.state())
        for wrong in [
            changes([good, decision("none", at: now)]), changes([good, decision(session.uppercased(), at: now)]),
            changes([good, decision(session, photo: "../../etc/passwd", at: now)]),
            changes([good, decision(session, digest: "abc", at: now)]),
            changes([good, decision(session, digest: String(repeating: "F", count: 64), at: now)]),
            changes([good, decision(session, at: late)]),
            changes([good, decision(session, at: Timestamp(milliseconds: -1))]),
            changes([good], undone: [decision(session, at: late)]),
            changes(sessions: [.init(id: session, startedAt: now, endedAt: late)], [good]),
            changes(Array(repeating: good, count: ReviewChanges.maximumCount + 1)),
            changes([good], next: String(repeating: "9", count: 101)),
        ] {
            let sending = TakeHubReviews(token: street.token, changes: wrong)
            #expect(await status { _ = try await home.mesh.send(sending) } == .invalidArgument)
            street.road.told.withLock { $0 = wrong }
            #expect(try await laptop.sync().failed == 1)
            let problem = try await laptop.mesh.send(ListReviewMachines()).machines[0].problem
            #expect(problem?.contains("cannot be right") == true || problem?.contains("in the future") == true)
        }
        #expect(try await before == (home.state(), laptop.state()))
        street.road.told.withLock { $0 = nil }
        #expect(try await laptop.sync().failed == 0)
        #expect(try await laptop.mesh.send(ListReviewMachines()).machines[0].problem == nil)
        for cursor in ["1", "1.2.x", "-1.0.0", String(repeating: "1", count: 200)] {
            let asking = ListHubReviews(token: street.token, after: cursor)
            #expect(await status { _ = try await home.mesh.send(asking) } == .invalidArgument)
        }
        await street.close()
    }

    /// Parts without end, and one that says the same again and again: the turn ends.
    @Test func aMachineThatTellsTheSameForEverIsLeft() async throws {
        let street = try await ReviewNeighbours()
        street.road.told.withLock {
            $0 = ReviewChanges(sessions: [], decisions: [], undone: [], next: "1.1.1", more: true)
        }
        #expect(try await street.laptop.sync().failed == 0)
        street.road.told.withLock { $0 = nil }
        await street.close()
    }

    @Test func aTokenThatWasTakenBackOpensNothing() async throws {
        let street = try await ReviewNeighbours()
        let (home, laptop) = (street.home, street.laptop)
        try await laptop.sync()
        let machines = try await home.mesh.send(ListReviewMachines()).machines
        #expect(machines.map(\.name) == ["Laptop"] && machines[0].seenAt != nil && !machines[0].isJoined)
        _ = try await home.mesh.send(UnshareReviews(id: street.machine.id))
        let session = try await laptop.start()
        try await laptop.decide(0, .keep, in: session)
        #expect(try await laptop.sync().failed == 1)
        let problem = try await laptop.mesh.send(ListReviewMachines()).machines[0].problem
        #expect(problem?.contains("invitation") == true)
        #expect(try await home.state().isEmpty)
        let nothing = ReviewChanges(sessions: [], decisions: [], undone: [], next: "", more: false)
        for token in [street.token, "", String(street.token.dropLast()), street.token + "A"] {
            #expect(
                await status { _ = try await home.mesh.send(ListHubReviews(token: token, after: "x")) }
                    == .unauthenticated)
            #expect(
                await status { _ = try await home.mesh.send(TakeHubReviews(token: token, changes: nothing)) }
                    == .unauthenticated)
        }
        // Let in anew, all goes on.
        let again = try await home.mesh.send(ShareReviews(name: "laptop"))
        _ = try await laptop.mesh.send(JoinReviews(address: ReviewNeighbours.address, token: again.token))
        #expect(try await home.state() == laptop.state())
        await street.close()
    }

    @Test func whoIsLetInAndWhereIsDecidedHere() async throws {
        let street = try await ReviewNeighbours(photos: 0)
        let (home, laptop) = (street.home, street.laptop)
        for name in ["", "  ", "a\u{202E}b", "a\nb", String(repeating: "a", count: 101)] {
            #expect(
                await status { _ = try await home.mesh.send(ShareReviews(name: name)) } == .invalidArgument, "\(name)")
        }
        #expect(await status { _ = try await home.mesh.send(ShareReviews(name: "LAPTOP")) } == .alreadyExists)
        for number in 1..<ReviewMachine.maximumCount {
            _ = try await home.mesh.send(ShareReviews(name: "machine \(number)"))
        }
        #expect(await status { _ = try await home.mesh.send(ShareReviews(name: "one more")) } == .resourceExhausted)
        let open = JoinReviews(address: "http://photos.example:8468", token: street.token)
        #expect(await status { _ = try await laptop.mesh.send(open) } == .failedPrecondition)
        let insecure = JoinReviews(
            address: "http://photos.example:8468", token: street.token, allowsPlainHTTP: true)
        #expect(try await laptop.mesh.send(insecure).problem == nil)
        let wrong = JoinReviews(address: ReviewNeighbours.address, token: String(repeating: "x", count: 43))
        #expect(await status { _ = try await laptop.mesh.send(wrong) } == .unauthenticated)
        #expect(try await laptop.mesh.send(ListReviewMachines()).machines.count == 2)
        #expect(await status { _ = try await laptop.mesh.send(LeaveReviews(id: "none")) } == .notFound)
        #expect(await status { _ = try await home.mesh.send(UnshareReviews(id: "none")) } == .notFound)
        #expect(await status { _ = try await laptop.mesh.send(SyncReviews(machineId: "none")) } == .notFound)
        await street.close()
    }
}
