import Foundation
import LibraryModel
import LibraryTestSupport
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// Groups between machines where a hub, a disk or a clock is not as it should be.
@Suite(.timeLimit(.minutes(4))) struct GroupSyncFaultTests {
    private func photo(
        in street: GroupNeighbours, sender: String = UUID().uuidString, hoursAgo: Int64 = 0, day: Int64? = nil
    ) -> HubPhoto {
        let made = street.wall.now.milliseconds - hoursAgo * GroupNeighbours.hour
        return HubPhoto(
            id: UUID().uuidString, groupId: street.group.id, senderId: sender, senderName: "Dora", url: nil,
            createdAt: Timestamp(milliseconds: made),
            expiresAt: Timestamp(milliseconds: made + 48 * GroupNeighbours.hour), day: day)
    }

    @Test func aDayThatNoCalendarHasIsNotTaken() async throws {
        let street = try await GroupNeighbours(["Ben"])
        let told = [Int64.min, .max, 0].map { photo(in: street, day: $0) }
        street.network.photos.withLock { $0 = told }
        _ = try await street.members[0].sync()
        #expect(try await street.members[0].photos().count == 3)
        await street.close()
    }

    @Test func aHubThatTellsOfOthersEachTimeFillsNothing() async throws {
        let street = try await GroupNeighbours(["Ben"])
        let ben = street.members[0]
        for _ in 0..<4 {
            street.network.photos.withLock { $0 = (0..<40).map { _ in photo(in: street) } }
            _ = try await ben.sync()
        }
        #expect(try await ben.photos().count == 48)
        await street.close()
    }

    @Test func oneWhoHasSentInTwoTimeZonesHasTwoDays() async throws {
        let street = try await GroupNeighbours(["Ben"])
        let ben = street.members[0]
        let user = UUID().uuidString
        // Half an hour before and after midnight where they were made; on one day here. The hub does not say the days.
        street.network.photos.withLock {
            $0 = [photo(in: street, sender: user, hoursAgo: 1), photo(in: street, sender: user, hoursAgo: 2)]
        }
        for _ in 0..<2 {
            #expect(try await ben.lines().allSatisfy { $0.outcome != "replaced" })
            #expect(try await ben.photos().count == 2)
        }
        await street.close()
    }

    @Test func aHubWhoseClockIsHoursAheadTakesPhotosAndKeepsThemNoLonger() async throws {
        let street = try await GroupNeighbours(["Ben"])
        let ben = street.members[0]
        street.network.lead.withLock { $0 = 2 * GroupNeighbours.hour }
        street.network.fault.withLock { $0 = .down }
        let sent = try await ben.send(to: street.group.id)
        try await ben.untilGivenUp()
        street.network.fault.withLock { $0 = nil }
        // That it waits may have sent it before this does.
        #expect(try await ben.sync().failed == 0)
        #expect(try await street.hub.photos().map(\.id) == [sent.id])
        #expect(try await ben.photos().map(\.expiresAt) == [sent.expiresAt])
        await street.close()
    }

    @Test func aPhotoThatCannotGoOutKeepsNoOtherFromComingIn() async throws {
        let street = try await GroupNeighbours(["Ben"])
        let ben = street.members[0]
        street.network.fault.withLock { $0 = .down }
        let sent = try await ben.send(to: street.group.id)
        try FileManager.default.removeItem(atPath: ben.library.path + "/" + (sent.localPath ?? ""))
        let other = try await street.hub.send(to: street.group.id)
        try await ben.untilGivenUp()
        street.network.fault.withLock { $0 = nil }
        #expect(try await ben.lines().map(\.outcome).sorted() == ["fetched", "lost"])
        #expect(try await ben.photos().map(\.id) == [other.id])
        let told = try await ben.undelivered()
        #expect(told.map(\.reason) == [.refused] && told[0].detail == "Its picture is gone from this machine.")
        await street.close()
    }

    @Test func aHubThatIsDownIsNoReasonToAskAnother() async throws {
        let street = try await GroupNeighbours(["Ben"])
        let ben = street.members[0]
        // The same hub under another name, which has nothing new to say.
        let second = "https://other.example"
        _ = try await ben.mesh.send(JoinGroups(address: second, token: street.tokens[0]))
        street.network.gone.withLock { $0 = [GroupNeighbours.address] }
        try await ben.send(to: street.group.id)
        #expect(try await ben.sync().failed == 1)
        let before = street.network.questions.withLock { $0[second]?.count }
        for number in 0..<20 { _ = try await ben.mesh.send(CreateGroup(name: "Group \(number)", firstName: "Ben")) }
        #expect(street.network.questions.withLock { $0[second]?.count } == before)
        #expect(try await ben.photos().map(\.isWaiting) == [true])
        await street.close()
    }

    /// Nobody's call: what is sent here has the hub asked, and whoever looks on sees what it said.
    @Test func whatCameWithoutBeingAskedForIsShown() async throws {
        let street = try await GroupNeighbours(["Ben"])
        let ben = street.members[0]
        let told = Watched.follow(ObserveGroups(), on: ben.mesh)
        _ = try await street.hub.mesh.send(RenameGroup(id: street.group.id, name: "All cousins"))
        try await ben.send(to: street.group.id)
        await told.value { $0.groups.map(\.name) == ["All cousins"] }
        await street.close()
    }

    @Test func whatExpiresBeforeItGoesOutIsTold() async throws {
        let street = try await GroupNeighbours(["Ben"])
        let ben = street.members[0]
        let told = Watched.follow(ObserveGroupHubs(), on: ben.mesh)
        street.network.fault.withLock { $0 = .down }
        let sent = try await ben.send(to: street.group.id)
        await told.value { $0.hubs.map(\.problem) == ["The network is down."] }
        street.pass(hours: 48)
        // Whoever looks sees nothing that has expired, and has it swept.
        #expect(try await ben.photos().isEmpty)
        await told.value { $0.undelivered.map(\.id) == [sent.id] && $0.undelivered[0].reason == .expired }
        #expect(try await ben.undelivered().map(\.sentAt) == [sent.createdAt])
        let second = try await ben.send(2, to: street.group.id)
        street.pass(hours: Int64(UndeliveredGroupPhoto.keptDays) * 24)
        #expect(try await ben.photos().isEmpty)
        #expect(try await ben.undelivered().map(\.id) == [second.id])
        await street.close()
    }

    @Test func whoForgetsAMachineIsDoneWithWhatIsUnderWay() async throws {
        let street = try await GroupNeighbours(["Ben"])
        let ben = street.members[0]
        let told = Watched.follow(ObserveGroupHubs(), on: ben.mesh)
        let hub = try await ben.mesh.send(ListGroupHubs()).hubs[0]
        // One sync after another, so that one is under way whenever it is forgotten.
        let syncing = Task {
            while try await !ben.mesh.send(ListGroupHubs()).hubs.isEmpty { _ = try? await ben.sync() }
        }
        _ = try await ben.mesh.send(ForgetGroupHub(id: hub.id))
        let (asked, groups) = (street.network.questions.withLock { $0 }, try await ben.groups())
        #expect(groups.isEmpty)
        try await syncing.value
        await told.value { $0.hubs.isEmpty }
        #expect(street.network.questions.withLock { $0 } == asked)
        #expect(try await ben.groups().isEmpty)
        await street.close()
    }

    @Test func anotherPersonsInvitationTakesNoGroupsAway() async throws {
        let street = try await GroupNeighbours(["Ben"])
        let ben = street.members[0]
        let chess = try await street.hub.mesh.send(CreateGroup(name: "Chess", firstName: "Ada"))
        let stranger = try await street.hub.mesh.send(InviteGroupMember(groupId: chess.id, firstName: "Ben"))
        street.network.fault.withLock { $0 = .answersLost }
        try await ben.send(to: street.group.id)
        street.network.fault.withLock { $0 = nil }
        #expect(
            await status {
                _ = try await ben.mesh.send(
                    JoinGroups(address: GroupNeighbours.address, token: stranger.token ?? ""))
            } == .failedPrecondition)
        #expect(try await ben.groups().map(\.name) == ["Cousins"])
        #expect(try await ben.sync().failed == 0)
        await street.close()
    }

    @Test func whoHasLeftTheLastGroupIsDoneWithTheMachine() async throws {
        let street = try await GroupNeighbours(["Ben"])
        let ben = street.members[0]
        street.network.fault.withLock { $0 = .answersLost }
        _ = try await ben.mesh.send(LeaveGroup(id: street.group.id))
        _ = try? await ben.sync()
        #expect(try await street.hub.groups()[0].members.map(\.firstName) == ["Ada"])
        street.network.fault.withLock { $0 = nil }
        _ = try? await ben.sync()
        #expect(try await ben.mesh.send(ListGroupHubs()).hubs.isEmpty)
        await street.close()
    }

    @Test func moreThanAHundredGroupsAreRefused() async throws {
        let street = try await GroupNeighbours(["Ben"])
        let ben = street.members[0]
        for number in 1..<Group.maximumCount {
            _ = try await ben.mesh.send(CreateGroup(name: "Group \(number)", firstName: "Ben"))
        }
        let chess = try await street.hub.mesh.send(CreateGroup(name: "Chess", firstName: "Ada"))
        let person = try await street.hub.member("Ben")
        _ = try await street.hub.mesh.send(InviteGroupMember(groupId: chess.id, userId: person.userId))
        #expect(try await ben.lines().map(\.outcome) == ["refused"])
        #expect(try await ben.groups().count == Group.maximumCount)
        // Said for as long as it is so, whoever began the sync; and it is no reason to ask sooner, or to take the rest for old.
        let hub = try await ben.mesh.send(ListGroupHubs()).hubs[0]
        #expect(hub.problem?.contains("100 groups") == true && hub.syncedAt == street.wall.now)
        let sent = try await ben.send(to: street.group.id)
        await Watched.follow(ObserveGroups(), on: street.hub.mesh).value { $0.groups.contains { $0.photoCount == 1 } }
        #expect(try await street.hub.photos().map(\.id) == [sent.id])
        _ = try await ben.mesh.send(DeleteGroup(id: ben.groups().first { $0.hub == nil }?.id ?? ""))
        #expect(try await ben.sync().failed == 0)
        #expect(try await ben.mesh.send(ListGroupHubs()).hubs[0].problem == nil)
        await street.close()
    }

    @Test func aGroupThatIsGoneIsTold() async throws {
        let street = try await GroupNeighbours(["Ben"])
        let ben = street.members[0]
        let chess = try await street.hub.mesh.send(CreateGroup(name: "Chess", firstName: "Ada"))
        let person = try await street.hub.member("Ben")
        _ = try await street.hub.mesh.send(InviteGroupMember(groupId: chess.id, userId: person.userId))
        try await street.hub.send(to: chess.id)
        try await ben.sync()
        _ = try await street.hub.mesh.send(DeleteGroup(id: chess.id))
        let lines = try await ben.lines()
        #expect(lines.map(\.outcome) == ["gone"] && lines.map(\.item) == [chess.id])
        #expect(lines.first?.detail == "'Chess' is gone, or you are not in it any more; with it went 1 photo")
        await street.close()
    }

    @Test func whatWaitsWhenSomebodyGoesIsTold() async throws {
        let street = try await GroupNeighbours(["Ben", "Cleo"])
        for (house, goes) in zip(street.members, ["left", "forgot"]) {
            street.network.fault.withLock { $0 = .down }
            let sent = try await house.send(to: street.group.id)
            try await house.untilGivenUp()
            if goes == "left" {
                _ = try await house.mesh.send(LeaveGroup(id: street.group.id))
            } else {
                let hub = try await house.mesh.send(ListGroupHubs()).hubs[0]
                _ = try await house.mesh.send(ForgetGroupHub(id: hub.id))
            }
            let told = try await house.undelivered()
            #expect(told.map(\.id) == [sent.id] && told.map(\.reason.rawValue) == ["left"], "\(goes)")
            street.network.fault.withLock { $0 = nil }
        }
        await street.close()
    }
}
