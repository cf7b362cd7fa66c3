import Exchange
import Foundation
import LibraryModel
import LibraryTestSupport
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// Who gets into a group of another machine, and who that machine takes them for.
@Suite(.timeLimit(.minutes(4))) struct GroupJoiningTests {
    @Test func joiningIsRefusedWhereItCannotWork() async throws {
        let street = try await GroupNeighbours(["Ben"])
        let ben = street.members[0]
        for address in ["", "ftp://x", "https://", "http://a b", "https://x/../y", "https://u:p@h", "javascript:1"] {
            #expect(
                await status { _ = try await ben.mesh.send(JoinGroups(address: address, token: street.tokens[0])) }
                    == .invalidArgument)
        }
        for token in ["", "short", "with space in it 123", String(repeating: "x", count: 2000)] {
            #expect(
                await status {
                    _ = try await ben.mesh.send(JoinGroups(address: GroupNeighbours.address, token: token))
                } == .invalidArgument)
        }
        #expect(
            await status {
                _ = try await ben.mesh.send(JoinGroups(address: "http://photos.example", token: street.tokens[0]))
            } == .failedPrecondition)
        let wrong = String(repeating: "A", count: 43)
        #expect(
            await status { _ = try await ben.mesh.send(JoinGroups(address: "https://other.example", token: wrong)) }
                == .unauthenticated)
        #expect(try await ben.mesh.send(ListGroupHubs()).hubs.count == 1)
        // A new invitation takes the old one's place, at the same address.
        let person = try await street.hub.member("Ben")
        let fresh = try await street.hub.mesh.send(
            InviteGroupMember(groupId: street.group.id, userId: person.userId, newToken: true))
        #expect(try await ben.sync().failed == 1)
        _ = try await ben.mesh.send(JoinGroups(address: GroupNeighbours.address + "/", token: fresh.token ?? ""))
        #expect(try await ben.mesh.send(ListGroupHubs()).hubs.count == 1)
        #expect(try await ben.sync().failed == 0)
        // Forgotten, nothing of it stays.
        let hub = try await ben.mesh.send(ListGroupHubs()).hubs[0]
        _ = try await ben.mesh.send(ForgetGroupHub(id: hub.id))
        #expect(try await ben.groups().isEmpty)
        #expect(await status { _ = try await ben.mesh.send(ForgetGroupHub(id: hub.id)) } == .notFound)
        await street.close()
    }

    /// A server of dayly-data-layer.md's own does not say who asks.
    @Test func aHubThatDoesNotSayWhoAsksIsNoReasonToSayThatOneIsNotThere() async throws {
        let street = try await GroupNeighbours(["Ben"])
        let ben = street.members[0]
        let real = try await street.hub.mesh.send(ListHubGroups(token: street.tokens[0])).groups
        street.network.groups.withLock {
            $0 = real.map { group in
                HubGroup(
                    id: group.id, name: group.name, memberCount: group.memberCount, members: group.members,
                    lastPhoto: nil, hasSentToday: false, memberId: nil)
            }
        }
        #expect(try await ben.sync().failed == 0)
        let error = await #expect(throws: MeshError.self) { try await ben.send(to: street.group.id) }
        #expect(error?.status == .failedPrecondition)
        #expect(error?.message.contains("does not say which of its members you are") == true, "\(error?.message ?? "")")
        try await street.hub.send(to: street.group.id)
        #expect(try await ben.sync().fetched == 1)
        await street.close()
    }
}
