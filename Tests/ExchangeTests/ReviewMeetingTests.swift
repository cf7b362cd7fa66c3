import Foundation
import LibraryModel
import LibraryServices
import LibraryTestSupport
import ServiceMesh
import Synchronization
import TestSupport
import Testing

/// Machines that meet at the same moment, with the wrong token, or with a clock that is far off.
@Suite(.timeLimit(.minutes(3))) struct ReviewMeetingTests {
    @Test func twoWhoJoinTheSameMachineAtOnceJoinOne() async throws {
        let street = try await ReviewNeighbours(photos: 0)
        let address = "http://localhost:8469"
        let gate = Gate()
        street.road.gates.withLock { $0[address] = gate }
        let (mesh, token) = (street.laptop.mesh, street.token)
        async let first = mesh.send(JoinReviews(address: address, token: token))
        async let second = mesh.send(JoinReviews(address: address, token: token))
        // Both have looked whether it is known, and nothing is written down.
        await gate.arrivals(2)
        gate.open()
        #expect(try await first.id == second.id)
        let machines = try await mesh.send(ListReviewMachines()).machines
        #expect(machines.map(\.name).sorted() == [ReviewNeighbours.address, address])
        await street.close()
    }

    @Test func noMoreAreJoinedAtOnceThanThereCanBe() async throws {
        let street = try await ReviewNeighbours(photos: 0)
        let (mesh, token) = (street.laptop.mesh, street.token)
        for number in 1..<(ReviewMachine.maximumCount - 1) {
            _ = try await mesh.send(JoinReviews(address: "http://localhost:\(number)", token: token))
        }
        let gate = Gate()
        let addresses = ["http://localhost:8001", "http://localhost:8002"]
        street.road.gates.withLock { for address in addresses { $0[address] = gate } }
        async let first = status { _ = try await mesh.send(JoinReviews(address: addresses[0], token: token)) }
        async let second = status { _ = try await mesh.send(JoinReviews(address: addresses[1], token: token)) }
        await gate.arrivals(2)
        gate.open()
        let ends = await [first, second]
        #expect(ends.contains(.resourceExhausted) && ends.contains(nil), "\(ends)")
        #expect(try await mesh.send(ListReviewMachines()).machines.count == ReviewMachine.maximumCount)
        await street.close()
    }

    @Test func aTokenOpensWhatItIsForAndNothingElse() async throws {
        let street = try await ReviewNeighbours(photos: 0)
        let home = street.home.mesh
        let group = try await home.send(CreateGroup(name: "Cousins", firstName: "Ada"))
        let invited = try await home.send(InviteGroupMember(groupId: group.id, firstName: "Ben"))
        let member = try #require(invited.token)
        let nothing = ReviewChanges(sessions: [], decisions: [], undone: [], next: "", more: false)
        #expect(await status { _ = try await home.send(ListHubReviews(token: member)) } == .unauthenticated)
        #expect(
            await status { _ = try await home.send(TakeHubReviews(token: member, changes: nothing)) }
                == .unauthenticated)
        let asking = ListHubGroups(token: street.token, utcOffset: 0)
        #expect(await status { _ = try await home.send(asking) } == .unauthenticated)
        let joining = JoinReviews(address: ReviewNeighbours.address, token: member)
        #expect(await status { _ = try await street.laptop.mesh.send(joining) } == .unauthenticated)
        // The one that it had is as good as before.
        #expect(try await street.laptop.sync().failed == 0)
        await street.close()
    }

    /// Whoever has one in hand is told what it is for.
    @Test func anInvitationSaysWhatItIsFor() throws {
        let token = String(repeating: "A", count: 43)
        for (purpose, other, command) in [
            (InvitationLink.Purpose.groups, InvitationLink.Purpose.reviews, "smilepile groups join"),
            (.reviews, .groups, "smilepile swipe join"),
        ] {
            let link = InvitationLink(
                address: try HubAddress("https://photos.example:8468"), token: token, for: purpose)
            #expect(try InvitationLink(link.description, for: purpose) == link)
            let error = #expect(throws: MeshError.self) { try InvitationLink(link.description, for: other) }
            #expect(error?.status == .invalidArgument && error?.message.contains(command) == true)
        }
        #expect(throws: MeshError.self) { try InvitationLink("https://photos.example/#pair=\(token)", for: .reviews) }
    }

    /// What a clock in the year 2100 has left would keep all reviews from all other machines until then.
    @Test func whatAWrongClockHasLeftCanBeForgotten() async throws {
        let ahead = Mutex<Int64>(0)
        let clock = WallClock { Timestamp(milliseconds: Timestamp.now().milliseconds + ahead.withLock { $0 }) }
        let street = try await ReviewNeighbours(clock: clock)
        let (home, laptop) = (street.home, street.laptop)
        ahead.withLock { $0 = 75 * 365 * 86_400_000 }
        let wrong = try await laptop.start()
        for number in 0..<3 { try await laptop.decide(number, .trash, in: wrong) }
        _ = try await laptop.mesh.send(UndoSwipes(sessionID: wrong))
        try await laptop.finish(wrong)
        ahead.withLock { $0 = 0 }
        #expect(try await laptop.sync().failed == 1)
        _ = try await laptop.mesh.send(MarkSwipesProcessed(sessionID: wrong))
        let late = Timestamp(milliseconds: clock.now().milliseconds + 100 * 365 * 86_400_000)
        #expect(try await laptop.mesh.send(DeleteProcessedSwipes(before: late)).count == 2)
        #expect(try await laptop.sync().failed == 0)
        // And what is decided from now on is decided now, about those photos too.
        let session = try await laptop.start()
        for number in 0..<3 { try await laptop.decide(number, .keep, in: session) }
        try await laptop.finish(session)
        #expect(try await laptop.sync().failed == 0)
        #expect(try await home.mesh.send(ListSwipeHistory()).actions.map(\.action) == [.keep, .keep, .keep])
        #expect(try await home.lastDecisions() == [.keep, .keep, .keep, nil])
        #expect(try await laptop.lastDecisions() == home.lastDecisions())
        let limit = clock.now()
        for house in [home, laptop] {
            let sessions = try await house.mesh.send(ListSwipeSessions()).sessions
            #expect(sessions.count == 2)
            #expect(sessions.allSatisfy { $0.startTime <= limit && ($0.endTime ?? limit) <= limit })
        }
        await street.close()
    }

    /// With `autoProcessActions`: of a machine that is not done telling, a later decision may be missing.
    @Test func whatIsNotToldToTheEndIsNotApplied() async throws {
        let street = try await ReviewNeighbours()
        let home = street.home
        _ = try await home.mesh.send(ChangeSettings(autoProcessActions: true))
        let other = try await home.mesh.send(ShareReviews(name: "Tablet")).token
        let photo = try await home.photos()[0]
        let now = Timestamp.now().milliseconds
        let session = UUID().uuidString.lowercased()
        func part(_ action: SwipeAction?, at time: Int64, more: Bool) -> ReviewChanges {
            let decisions = action.map {
                ReviewChanges.Decision(
                    session: session, photo: photo.uuid, digest: photo.contentDigest, action: $0,
                    decidedAt: Timestamp(milliseconds: time))
            }
            return ReviewChanges(
                sessions: [
                    .init(
                        id: session, startedAt: Timestamp(milliseconds: now - 10),
                        endedAt: Timestamp(milliseconds: now))
                ], decisions: decisions.map { [$0] } ?? [], undone: [], next: "", more: more)
        }
        let first = part(.trash, at: now - 9, more: true)
        _ = try await home.mesh.send(TakeHubReviews(token: street.token, changes: first))
        _ = try await home.mesh.send(TakeHubReviews(token: other, changes: part(nil, at: 0, more: false)))
        #expect(try await home.photos().count == 4)
        let last = part(.favorite, at: now - 8, more: false)
        _ = try await home.mesh.send(TakeHubReviews(token: street.token, changes: last))
        #expect(try await home.photos().map(\.isFavorite) == [true, false, false, false])
        await street.close()
    }
}
