import Foundation
import LibraryModel
import LibraryTestSupport
import ServiceMesh
import ServiceMeshTesting
import SmilePile
import TestSupport
import Testing

/// Whose turn it is to speak to a hub, and for how long.
@Suite(.timeLimit(.minutes(2))) struct GroupTurnTests {
    @Test func aMachineThatIsStartedAsksByItself() async throws {
        let street = try await GroupNeighbours(["Ben"])
        await street.members[0].library.close()
        let sent = try await street.hub.send(to: street.group.id)
        let ben = GroupNeighbours.House(
            library: try await GroupNeighbours.open("Ben", street.folder, street.wall, street.boot, street.network))
        let groups = Watched.follow(ObserveGroups(), on: ben.mesh)
        await groups.value { $0.groups.map(\.photoCount) == [1] }
        #expect(try await ben.photos().map(\.id) == [sent.id])
        await ben.library.close()
        await street.hub.library.close()
    }

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

    @Test func aJobThatIsCancelledWaitsForNobodysTurn() async throws {
        let street = try await GroupNeighbours(["Ben"])
        let ben = street.members[0]
        let gate = Gate()
        street.network.gates.withLock { $0[GroupNeighbours.address] = gate }
        try await ben.send(to: street.group.id)
        await gate.arrivals(1)
        let job = try await ben.mesh.send(SyncGroups()).job
        // Nothing tells that it waits for its turn, only that it runs.
        try await ben.mesh.firstValue(of: WatchJob(job: job)) { $0.state == .running }
        for _ in 0..<100 { _ = try await ben.mesh.send(GetJob(job: job)) }
        _ = try await ben.mesh.send(CancelJob(job: job))
        #expect(try await ben.mesh.send(WaitForJob(job: job)).state == .cancelled)
        #expect(try await street.hub.photos().isEmpty)
        gate.open()
        await Watched.follow(ObserveGroups(), on: street.hub.mesh).value { $0.groups[0].photoCount == 1 }
        await street.close()
    }

    @Test func aJobThatStandsStillKeepsNobodyWaiting() async throws {
        let street = try await GroupNeighbours()
        let (ben, cleo) = (street.members[0], street.members[1])
        try await street.hub.send(to: street.group.id)
        try await cleo.send(to: street.group.id)
        let there = Watched.follow(ObserveGroups(), on: street.hub.mesh)
        await there.value { $0.groups[0].photoCount == 2 }
        let gate = Gate()
        street.network.gates.withLock { $0["fetch"] = gate }
        let job = try await ben.mesh.send(SyncGroups()).job
        await gate.arrivals(1)
        _ = try await ben.mesh.send(PauseJob(job: job))
        gate.open()
        // Between two pictures it stands still, and what is sent here meanwhile goes out.
        try await ben.send(to: street.group.id)
        await there.value { $0.groups[0].photoCount == 3 }
        #expect(try await ben.mesh.send(GetJob(job: job)).state == .paused)
        _ = try await ben.mesh.send(ResumeJob(job: job))
        let end = try await ben.mesh.send(WaitForJob(job: job))
        #expect(end.state == .finished && end.outcomes["failed"] == nil)
        #expect(try await ben.photos().count { $0.localPath != nil } == 3)
        await street.close()
    }
}
