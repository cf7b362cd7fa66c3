import Foundation
import LibraryModel
import ServiceMesh
import ServiceMeshTesting
import Testing

/// What the machine that keeps a group decides: since when it is there, what day it is, and what is new.
@Suite(.timeLimit(.minutes(2))) struct GroupKeeperTests {
    @Test func timesAreThoseOfTheOneWhoKeepsTheGroup() async throws {
        let street = try await GroupNeighbours(["Ben"])
        let (hub, ben) = (street.hub, street.members[0])
        let chess = try await hub.mesh.send(CreateGroup(name: "Chess", firstName: "Ada"))
        street.pass(hours: 3)
        let person = try await hub.member("Ben").userId
        _ = try await hub.mesh.send(InviteGroupMember(groupId: chess.id, userId: person))
        street.pass(hours: 2)
        try await ben.sync()
        let told = try #require(try await ben.groups().first { $0.id == chess.id })
        let kept = try #require(try await hub.groups().first { $0.id == chess.id })
        #expect(told.createdAt == kept.createdAt && told.createdAt == chess.createdAt)
        func joined(_ group: Group) -> [String: Timestamp] {
            Dictionary(uniqueKeysWithValues: group.members.map { ($0.userId, $0.joinedAt) })
        }
        #expect(joined(told) == joined(kept) && Set(joined(told).values).count == 2)
        await street.close()
    }

    @Test func lookingAtGroupsAsksWhoKeepsThem() async throws {
        let street = try await GroupNeighbours(["Ben", "Cleo"], lookPause: .zero)
        try await street.hub.send(to: street.group.id)
        // Nobody syncs: to look is enough, and waits for nothing.
        for member in street.members {
            _ = try await member.photos()
            try await member.mesh.firstValue(of: ObserveGroups()) { $0.groups[0].photoCount == 1 }
        }
        await street.close()
    }

    @Test func lookingAsksOnceAMinuteAtMost() async throws {
        let street = try await GroupNeighbours(["Ben"])
        try await street.members[0].sync()
        func asked() -> Int { street.network.questions.withLock { $0.values.joined().count { $0 == "groups" } } }
        let before = asked()
        for _ in 0..<200 { _ = try await street.members[0].groups() }
        #expect(asked() == before)
        await street.close()
    }

    @Test func aClockThatWasAheadLocksNobodyOut() async throws {
        let street = try await GroupNeighbours(["Ben"])
        let (hub, ben, group) = (street.hub, street.members[0], street.group.id)
        let year = 365 * 24 * GroupNeighbours.hour
        street.wall.pass(milliseconds: year)
        try await hub.send(to: group)
        try await ben.send(to: group)
        try await ben.sync()
        street.wall.pass(milliseconds: GroupNeighbours.hour - year)
        for house in [hub, ben] {
            let refused = await #expect(throws: MeshError.self) { try await house.send(2, to: group) }
            #expect(refused?.message.contains("after midnight") == true, "\(String(describing: refused))")
        }
        // What the sentence says is so.
        street.wall.pass(milliseconds: 24 * GroupNeighbours.hour)
        try await hub.send(2, to: group)
        try await ben.send(2, to: group)
        try await ben.sync()
        #expect(try await hub.photos().count == 4)
        await street.close()
    }

    @Test func aDayAheadByTravellingIsSaidToBeOne() async throws {
        let street = try await GroupNeighbours([])
        // 12:00 UTC on the 22nd is the 23rd in the east.
        try await street.hub.send(to: street.group.id, offset: 780)
        let refused = await #expect(throws: MeshError.self) {
            try await street.hub.send(2, to: street.group.id, offset: -600)
        }
        #expect(refused?.message.contains("day after tomorrow") == true)
        await street.close()
    }
}
