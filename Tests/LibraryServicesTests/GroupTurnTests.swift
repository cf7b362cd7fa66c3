import Foundation
import LibraryModel
import LibraryServices
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// Whose turn it is to speak to a hub, and for how long.
@Suite(.timeLimit(.minutes(2))) struct GroupTurnTests {
    @Test func aSlowHubHoldsUpNothingThatIsForAnother() async throws {
        let street = try await GroupNeighbours(["Ben"])
        let ben = street.members[0]
        let (boot, network) = (street.boot, street.network)
        let second = GroupNeighbours.House(
            library: try await GroupNeighbours.open("second", street.folder, street.wall, boot, network))
        let address = "https://second.example"
        network.others.withLock { $0[address] = second.mesh }
        let chess = try await second.mesh.send(CreateGroup(name: "Chess", firstName: "Dora"))
        let invited = try await second.mesh.send(InviteGroupMember(groupId: chess.id, firstName: "Ben"))
        _ = try await ben.mesh.send(JoinGroups(address: address, token: invited.token ?? ""))
        let gate = Gate()
        network.gates.withLock { $0[GroupNeighbours.address] = gate }
        try await ben.send(to: street.group.id)
        await gate.arrivals(1)
        try await ben.send(2, to: chess.id)
        await Watched.follow(ObserveGroups(), on: second.mesh).value { $0.groups[0].photoCount == 1 }
        #expect(try await street.hub.photos().isEmpty)
        gate.open()
        await Watched.follow(ObserveGroups(), on: street.hub.mesh).value { $0.groups[0].photoCount == 1 }
        await street.close()
        await second.library.close()
    }
}
