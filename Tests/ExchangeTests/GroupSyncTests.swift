import Exchange
import Foundation
import LibraryModel
import LibraryTestSupport
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// Groups between machines: one keeps a group, others are in it.
@Suite(.timeLimit(.minutes(4))) struct GroupSyncTests {
    @Test func aPhotoSentOnOneMachineIsOnAllUntilItExpires() async throws {
        let street = try await GroupNeighbours()
        let (ben, cleo) = (street.members[0], street.members[1])
        #expect(try await ben.groups().map(\.hub) == [GroupNeighbours.address])
        #expect(try await ben.groups()[0].members.first(where: \.isSelf)?.firstName == "Ben")
        let sent = try await ben.send(to: street.group.id)
        try await ben.sync()
        try await cleo.sync()
        for house in street.all {
            let photos = try await house.photos()
            #expect(photos.map(\.id) == [sent.id] && photos[0].senderName == "Ben" && photos[0].isWaiting == nil)
            #expect(photos[0].expiresAt == sent.expiresAt && photos[0].localPath != nil)
            #expect(photos[0].width == 320 && photos[0].height == 240 && photos[0].fileSize > 0)
            #expect(try house.files() == [sent.id + ".jpg"])
        }
        // The second of the day is refused wherever Ben is asked.
        #expect(await status { try await ben.send(2, to: street.group.id) } == .alreadyExists)
        #expect(
            await status {
                _ = try await street.hub.mesh.send(
                    ReceiveHubPhoto(token: street.tokens[0], groupId: street.group.id, size: 5))
                _ = try await NetworkRemote(
                    network: street.network, address: try HubAddress(GroupNeighbours.address), token: street.tokens[0]
                ).send(
                    .init(id: UUID().uuidString, groupId: street.group.id, ageMs: 0, utcOffset: 0, size: 5),
                    try pictureFile(in: street))
            } == .alreadyExists)
        street.pass(hours: 47)
        for house in street.all { #expect(try await house.photos().count == 1) }
        street.pass(hours: 1)
        for house in street.all {
            #expect(try await house.photos().isEmpty)
            #expect(try house.files().isEmpty)
        }
        await street.close()
    }

    private func pictureFile(in street: GroupNeighbours) throws -> OwnedFile {
        let path = street.folder.file("picture")
        try Data("hello".utf8).write(to: URL(fileURLWithPath: path))
        return OwnedFile(owning: open(path, O_RDONLY))
    }

    @Test func whoIsOfflineGoesOnAndConvergesAfterwards() async throws {
        let street = try await GroupNeighbours()
        street.network.fault.withLock { $0 = .down }
        for (index, house) in street.all.enumerated() {
            try await house.send(Int64(index % 2) + 1, to: street.group.id)
            #expect(try await house.photos().count == 1)
        }
        #expect(try await street.members[0].photos()[0].isWaiting == true)
        #expect(try await street.members[0].sync().failed == 1)
        let hubs = try await street.members[0].mesh.send(ListGroupHubs()).hubs
        #expect(hubs[0].problem == "The network is down." && hubs[0].syncedAt != nil)
        street.pass(hours: 20)
        street.network.fault.withLock { $0 = nil }
        for house in street.members + street.members {
            let receipt = try await house.sync()
            #expect(receipt.failed == 0 && receipt.lost == 0)
        }
        let states = try await [
            street.hub.state(), street.members[0].state(), street.members[1].state(),
        ]
        #expect(states[0].count == 4 && states[0] == states[1] && states[1] == states[2])
        // What was sent in time counts for its own day and goes with it.
        street.pass(hours: 28)
        for house in street.all { #expect(try await house.photos().isEmpty) }
        await street.close()
    }

    @Test func ofTwoMachinesOfOnePersonOneWins() async throws {
        let street = try await GroupNeighbours(["Ben"])
        let ben = street.members[0]
        // The same person's other machine, by the same token.
        let other = GroupNeighbours.House(
            library: try await GroupNeighbours.open(
                "other", street.folder, street.wall, street.boot, street.network))
        let started = try await other.mesh.send(ImportPhotos(paths: [street.folder.file("album")]))
        _ = try await other.mesh.send(WaitForJob(job: started.job))
        _ = try await other.mesh.send(JoinGroups(address: GroupNeighbours.address, token: street.tokens[0]))
        street.network.fault.withLock { $0 = .down }
        let first = try await ben.send(1, to: street.group.id)
        let second = try await other.send(2, to: street.group.id)
        try await ben.untilGivenUp()
        try await other.untilGivenUp()
        street.network.fault.withLock { $0 = nil }
        try await other.sync()
        let lines = try await ben.lines()
        #expect(lines.map(\.outcome).sorted() == ["fetched", "lost"])
        #expect(lines.first { $0.outcome == "lost" }?.item == first.id)
        let told = try await ben.undelivered()
        #expect(told.map(\.id) == [first.id] && told[0].reason == .anotherPhoto && told[0].detail == nil)
        #expect(told[0].groupName == "Cousins" && told[0].hub == GroupNeighbours.address)
        #expect(told[0].sentAt == first.createdAt && told[0].noticedAt == street.wall.clock.now())
        #expect(try await other.undelivered().isEmpty)
        try await other.sync()
        for house in [street.hub, ben, other] {
            #expect(try await house.photos().map(\.id) == [second.id])
            #expect(try house.files() == [second.id + ".jpg"])
        }
        #expect(try await ben.state() == other.state())
        await other.library.close()
        await street.close()
    }

    @Test func anAnswerThatGetsLostSendsNothingTwice() async throws {
        let street = try await GroupNeighbours(["Ben"])
        let ben = street.members[0]
        street.network.fault.withLock { $0 = .down }
        let sent = try await ben.send(to: street.group.id)
        street.network.fault.withLock { $0 = .answersLost }
        // Not even the groups come through now: only what is asked first, so the push is tried by hand.
        let remote = NetworkRemote(
            network: street.network, address: try HubAddress(GroupNeighbours.address), token: street.tokens[0])
        let bytes = try Data(contentsOf: URL(fileURLWithPath: ben.library.path + "/" + (sent.localPath ?? "")))
        let path = street.folder.file("copy.jpg")
        try bytes.write(to: URL(fileURLWithPath: path))
        let outgoing = OutgoingPhoto(
            id: sent.id, groupId: street.group.id, ageMs: 0, utcOffset: 0, size: Int64(bytes.count))
        #expect(
            await status { _ = try await remote.send(outgoing, OwnedFile(owning: open(path, O_RDONLY))) }
                == .failedPrecondition)
        #expect(try await street.hub.photos().map(\.id) == [sent.id])
        try await ben.untilGivenUp()
        street.network.fault.withLock { $0 = nil }
        let receipt = try await ben.sync()
        #expect(receipt.sent == 1 && receipt.lost == 0 && receipt.fetched == 0)
        #expect(try await street.hub.photos().map(\.id) == [sent.id])
        #expect(try await ben.photos()[0].isWaiting == nil)
        #expect(try await ben.state() == street.hub.state())
        await street.close()
    }

    @Test func aCutPictureIsNotShownAndComesTheNextTime() async throws {
        let street = try await GroupNeighbours(["Ben"])
        let ben = street.members[0]
        let sent = try await street.hub.send(to: street.group.id)
        street.network.fault.withLock { $0 = .cut }
        #expect(try await ben.sync().failed == 1)
        #expect(try await ben.photos().map(\.localPath) == [nil])
        #expect(try await ben.photos().map(\.isComing) == [true])
        #expect(try ben.files().isEmpty)
        #expect(
            await status { _ = try await ben.mesh.send(OpenGroupPhoto(photoId: sent.id)) } == .notFound)
        street.network.fault.withLock { $0 = nil }
        #expect(try await ben.sync().fetched == 1)
        #expect(try await ben.photos()[0].localPath != nil)
        await street.close()
    }

    @Test func aFileThatIsNoPictureIsRefusedAndSaidSo() async throws {
        let street = try await GroupNeighbours(["Ben"])
        let ben = street.members[0]
        try await street.hub.send(to: street.group.id)
        street.network.picture.withLock { $0 = Data(repeating: 0x41, count: 100_000) }
        #expect(try await ben.lines().map(\.outcome) == ["unfetched"])
        #expect(try await ben.photos().map { [$0.isComing == true, $0.width != 0] } == [[false, false]])
        #expect(try ben.files().isEmpty)
        // Once is enough.
        street.network.picture.withLock { $0 = nil }
        #expect(try await ben.lines().isEmpty)
        await street.close()
    }

    @Test func whoLeavesOfflineIsOutWhenTheHubIsBack() async throws {
        let street = try await GroupNeighbours()
        let (ben, cleo) = (street.members[0], street.members[1])
        try await street.hub.send(to: street.group.id)
        try await ben.sync()
        street.network.fault.withLock { $0 = .down }
        _ = try await ben.mesh.send(LeaveGroup(id: street.group.id))
        #expect(try await ben.groups().isEmpty)
        #expect(try ben.files().isEmpty)
        _ = try? await ben.sync()
        #expect(try await street.hub.groups()[0].members.count == 3)
        street.network.fault.withLock { $0 = nil }
        // The token was for this group alone, so the hub does not know it any more once that is left.
        _ = try? await ben.sync()
        #expect(try await ben.groups().isEmpty)
        #expect(try await street.hub.groups()[0].members.map(\.firstName).sorted() == ["Ada", "Cleo"])
        try await cleo.sync()
        #expect(try await cleo.groups()[0].members.map(\.firstName).sorted() == ["Ada", "Cleo"])
        await street.close()
    }

    @Test func whoIsTakenOutKeepsNothing() async throws {
        let street = try await GroupNeighbours()
        let (ben, cleo) = (street.members[0], street.members[1])
        let second = try await street.hub.mesh.send(CreateGroup(name: "Chess", firstName: "Ada"))
        let person = try await street.hub.member("Ben")
        let again = try await street.hub.mesh.send(InviteGroupMember(groupId: second.id, userId: person.userId))
        #expect(again.token == nil && again.member.firstName == "Ben")
        try await ben.sync()
        #expect(try await ben.groups().map(\.name).sorted() == ["Chess", "Cousins"])
        street.network.fault.withLock { $0 = .down }
        try await ben.send(to: street.group.id)
        _ = try await street.hub.mesh.send(RemoveGroupMember(groupId: street.group.id, userId: person.userId))
        try await ben.untilGivenUp()
        street.network.fault.withLock { $0 = nil }
        let lines = try await ben.lines()
        #expect(lines.map(\.outcome) == ["lost", "gone"])
        #expect(try await ben.undelivered().map(\.reason) == [.groupGone])
        #expect(try await ben.groups().map(\.name) == ["Chess"])
        #expect(try await ben.photos().isEmpty)
        #expect(try ben.files().isEmpty)
        _ = try await street.hub.mesh.send(RemoveGroupMember(groupId: second.id, userId: person.userId))
        #expect(try await ben.sync().failed == 1)
        #expect(try await ben.mesh.send(ListGroupHubs()).hubs[0].problem?.contains("invitation") == true)
        // Cleo's is not touched by that.
        #expect(try await cleo.sync().failed == 0)
        await street.close()
    }

    @Test func whatAHubSaysWronglyChangesNothing() async throws {
        let street = try await GroupNeighbours(["Ben"])
        let ben = street.members[0]
        let own = try await ben.mesh.send(CreateGroup(name: "Mine", firstName: "Ben"))
        try await street.hub.send(to: street.group.id)
        try await ben.sync()
        let before = try await ben.state()
        let user = UUID().uuidString
        func told(_ id: String, members: Int = 1, name: String = "x") -> HubGroup {
            HubGroup(
                id: id, name: name, memberCount: members,
                members: (0..<members).map { _ in .init(id: UUID().uuidString, firstName: "A") }, lastPhoto: nil,
                hasSentToday: false, memberId: user)
        }
        let lists: [[HubGroup]] = [
            [told("../../etc/passwd")], [told("")], [told(street.group.id, members: 13)],
            [told(street.group.id), told(street.group.id)], (0..<101).map { _ in told(UUID().uuidString) },
        ]
        for groups in lists {
            street.network.groups.withLock { $0 = groups }
            #expect(try await ben.sync().failed == 1)
            #expect(try await ben.state() == before)
        }
        // A group that is kept here is nobody else's.
        let real = try await street.hub.mesh.send(ListHubGroups(token: street.tokens[0])).groups
        street.network.groups.withLock { $0 = real + [told(own.id, name: "Stolen")] }
        #expect(try await ben.lines().map(\.outcome) == ["refused"])
        #expect(try await ben.state() == before)
        street.network.groups.withLock { $0 = nil }
        let good = try await street.hub.mesh.send(
            ListHubPhotos(token: street.tokens[0], groupId: street.group.id, unexpired: true)
        ).photos[0]
        func photo(
            id: String = UUID().uuidString, group: String? = nil, sender: String? = nil, hours: Int64 = 10
        ) -> HubPhoto {
            let end = good.createdAt.milliseconds + hours * GroupNeighbours.hour
            return HubPhoto(
                id: id, groupId: group ?? good.groupId, senderId: sender ?? good.senderId, senderName: "A\u{202E}b\n",
                url: "http://127.0.0.1:8468/x", createdAt: good.createdAt, expiresAt: Timestamp(milliseconds: end))
        }
        let photos: [[HubPhoto]] = [
            [photo(id: "../x")], [photo(group: UUID().uuidString)], [photo(sender: "../../..")], [photo(hours: 2000)],
            (0..<60).map { _ in photo(sender: UUID().uuidString) },
        ]
        for list in photos {
            street.network.photos.withLock { $0 = list + [good] }
            #expect(try await ben.sync().failed == 1)
            #expect(try await ben.state() == before)
        }
        // A name that cannot be shown is made one that can.
        street.network.photos.withLock { $0 = [good, photo(sender: user)] }
        _ = try await ben.sync()
        #expect(try await ben.photos().map(\.senderName).sorted() == ["Ab", "Ada"])
        await street.close()
    }

    @Test func aHubWhoseClockIsAheadKeepsPhotosNoLonger() async throws {
        let street = try await GroupNeighbours(["Ben"])
        let ben = street.members[0]
        // Ben's wall is set an hour back after the hub's photo was sent: the machines disagree by an hour.
        let sent = try await street.hub.send(to: street.group.id)
        try await ben.sync()
        #expect(try await ben.photos()[0].expiresAt == sent.expiresAt)
        street.wall.pass(milliseconds: -GroupNeighbours.hour)
        street.pass(hours: 48)
        for house in street.all { #expect(try await house.photos().isEmpty) }
        await street.close()
    }

    @Test func ofTwoHundredSendsOneWins() async throws {
        let street = try await GroupNeighbours(["Ben"])
        let bytes = try Data(contentsOf: URL(fileURLWithPath: firstPicture(of: street)))
        let path = street.folder.file("raced.jpg")
        try bytes.write(to: URL(fileURLWithPath: path))
        let remote = NetworkRemote(
            network: street.network, address: try HubAddress(GroupNeighbours.address), token: street.tokens[0])
        let outcomes = await withTaskGroup(of: MeshStatus?.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    await status {
                        _ = try await remote.send(
                            .init(
                                id: UUID().uuidString, groupId: street.group.id, ageMs: 0, utcOffset: 0,
                                size: Int64(bytes.count)), OwnedFile(owning: open(path, O_RDONLY)))
                    }
                }
            }
            return await group.reduce(into: [MeshStatus?]()) { $0.append($1) }
        }
        #expect(outcomes.count { $0 == nil } == 1)
        #expect(try await street.hub.photos().count == 1)
        #expect(try street.hub.files().filter { $0.hasSuffix(".jpg") }.count == 1)
        await street.close()
    }

    private func firstPicture(of street: GroupNeighbours) throws -> String {
        let folder = street.folder.file("album")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        return folder + "/" + (names.first { $0.hasSuffix(".jpg") } ?? "")
    }

    @Test func onlyWhoKeepsAGroupDecidesAboutIt() async throws {
        let street = try await GroupNeighbours(["Ben"])
        let ben = street.members[0]
        let id = street.group.id
        #expect(await status { _ = try await ben.mesh.send(RenameGroup(id: id, name: "x")) } == .failedPrecondition)
        #expect(await status { _ = try await ben.mesh.send(DeleteGroup(id: id)) } == .failedPrecondition)
        #expect(
            await status { _ = try await ben.mesh.send(InviteGroupMember(groupId: id, firstName: "x")) }
                == .failedPrecondition)
        let hub = street.hub.mesh
        _ = try await hub.send(RenameGroup(id: id, name: "All cousins"))
        try await ben.sync()
        #expect(try await ben.groups().map(\.name) == ["All cousins"])
        let ada = try await street.hub.member("Ada")
        #expect(
            await status { _ = try await hub.send(RemoveGroupMember(groupId: id, userId: ada.userId)) }
                == .failedPrecondition)
        #expect(
            await status { _ = try await hub.send(InviteGroupMember(groupId: id, userId: UUID().uuidString)) }
                == .notFound)
        for number in 2..<Group.maximumMembers {
            _ = try await hub.send(InviteGroupMember(groupId: id, firstName: "M\(number)"))
        }
        #expect(
            await status { _ = try await hub.send(InviteGroupMember(groupId: id, firstName: "One more")) }
                == .resourceExhausted)
        // A token of this machine lets nobody into another group.
        let other = try await hub.send(CreateGroup(name: "Secret", firstName: "Ada"))
        #expect(
            await status { _ = try await hub.send(ListHubPhotos(token: street.tokens[0], groupId: other.id)) }
                == .notFound)
        let secret = try await street.hub.send(to: other.id)
        #expect(
            await status { _ = try await hub.send(OpenHubPhoto(token: street.tokens[0], photoId: secret.id)) }
                == .notFound)
        _ = try await hub.send(DeleteGroup(id: id))
        #expect(await status { _ = try await hub.send(ListHubGroups(token: street.tokens[0])) } == .unauthenticated)
        await street.close()
    }
}
