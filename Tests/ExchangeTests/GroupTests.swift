import Foundation
import LibraryModel
import LibraryStorage
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// Groups and their members, through the mesh.
@Suite(.timeLimit(.minutes(4))) struct GroupTests {
    @Test func groupsAreMadeRenamedLeftAndDeleted() async throws {
        var stage = try await GroupStage(photos: 0)
        let first = try await stage.mesh.send(CreateGroup(name: "  Cousins 👨‍👩‍👧 ", firstName: " Ada "))
        #expect(first.name == "Cousins 👨‍👩‍👧" && first.createdAt == stage.wall.now && first.lastPhotoDate == nil)
        #expect(!first.hasSentToday && first.photoCount == 0)
        #expect(first.members.map(\.firstName) == ["Ada"] && first.members.allSatisfy(\.isSelf))
        stage.pass(hours: 1)
        let second = try await stage.mesh.send(CreateGroup(name: "Cousins", firstName: "Aunt Ada"))
        // One person, by whatever name.
        #expect(second.members[0].userId == first.members[0].userId && second.members[0].firstName == "Aunt Ada")
        let renamed = try await stage.mesh.send(RenameGroup(id: second.id.uppercased(), name: "Neighbours"))
        #expect(renamed.name == "Neighbours" && renamed.id == second.id)
        try await stage.reopen()
        #expect(try await stage.mesh.send(ListGroups()).groups == [first, renamed])
        #expect(try await stage.mesh.send(GetGroup(id: first.id)) == first)
        #expect(try await stage.mesh.send(ListGroupMembers(id: first.id)).members == first.members)
        #expect(try await stage.mesh.send(LeaveGroup(id: first.id)) == first)
        #expect(try await stage.mesh.send(DeleteGroup(id: second.id)) == renamed)
        #expect(try await stage.mesh.send(ListGroups()).groups.isEmpty)
        await stage.library.close()
    }

    @Test func whoKeepsAGroupForOthersDoesNotLeaveIt() async throws {
        let stage = try await GroupStage(photos: 1)
        let group = try await stage.group()
        let ben = try await stage.mesh.send(InviteGroupMember(groupId: group.id, firstName: "Ben")).member
        try await stage.send(to: group)
        let refused = await refusal { _ = try await stage.mesh.send(LeaveGroup(id: group.id)) }
        #expect(refused?.status == .failedPrecondition)
        #expect(
            refused?.message
                == "You keep this group for 1 other; it would end for all of them: smilepile groups delete")
        #expect(try await stage.photos().count == 1 && stage.files().count == 1)
        #expect(try await stage.mesh.send(ListGroupMembers(id: group.id)).members.count == 2)
        _ = try await stage.mesh.send(RemoveGroupMember(groupId: group.id, userId: ben.userId))
        _ = try await stage.mesh.send(LeaveGroup(id: group.id))
        #expect(try await stage.mesh.send(ListGroups()).groups.isEmpty && stage.files().isEmpty)
        await stage.library.close()
    }

    @Test func badNamesIDsAndOffsetsAreRefused() async throws {
        let stage = try await GroupStage(photos: 1)
        let mesh = stage.mesh
        for name in [
            "", "  \n", "\u{200B}\u{200D}", "a\nb", "a\u{7}", "a\u{202E}b", "\u{2067}x", "a\u{2028}b",
            String(repeating: "x", count: 101), "a" + String(repeating: "\u{301}", count: 4000),
        ] {
            #expect(
                await status { _ = try await mesh.send(CreateGroup(name: name, firstName: "Ada")) } == .invalidArgument)
            #expect(
                await status { _ = try await mesh.send(CreateGroup(name: "x", firstName: name)) } == .invalidArgument)
        }
        let group = try await stage.group()
        for name in ["", "a\u{202E}b"] {
            #expect(await status { _ = try await mesh.send(RenameGroup(id: group.id, name: name)) } == .invalidArgument)
        }
        for id in ["", "..", "../../etc/passwd", "/", group.id + "/..", group.id + "\0", "'; DROP TABLE groups; --"] {
            #expect(await status { _ = try await mesh.send(GetGroup(id: id)) } == .notFound)
            #expect(await status { _ = try await mesh.send(RenameGroup(id: id, name: "x")) } == .notFound)
            #expect(await status { _ = try await mesh.send(DeleteGroup(id: id)) } == .notFound)
            #expect(await status { _ = try await mesh.send(LeaveGroup(id: id)) } == .notFound)
            #expect(await status { _ = try await mesh.send(SendGroupPhoto(groupId: id, id: 1)) } == .notFound)
            #expect(await status { _ = try await mesh.send(ListGroupPhotos(groupId: id)) } == .notFound)
            #expect(await status { _ = try await mesh.send(ListTodaysGroupPhotos(groupId: id)) } == .notFound)
            #expect(await status { _ = try await mesh.send(OpenGroupPhoto(photoId: id)) } == .notFound)
            #expect(await status { _ = try await mesh.send(KeepGroupPhoto(photoId: id)) } == .notFound)
        }
        #expect(await status { _ = try await mesh.send(ListGroups(utcOffset: 841)) } == .invalidArgument)
        #expect(await status { try await stage.send(to: group, offset: -721) } == .invalidArgument)
        #expect(try await mesh.send(ListGroups()).groups == [group])
        await stage.library.close()
    }

    @Test func groupsAndMembersHaveALimit() async throws {
        let stage = try await GroupStage(photos: 0)
        let group = try await stage.group()
        @Sendable func members(_ numbers: ClosedRange<Int>) -> [GroupMember] {
            numbers.map { number in
                GroupMember(
                    userId: "00000000-0000-4000-8000-\(100_000_000_000 + number)", firstName: "Member \(number)",
                    joinedAt: Timestamp(milliseconds: Int64(number)), isSelf: false)
            }
        }
        // Twelve at once would be thirteen.
        #expect(
            await status { try await stage.write { try $0.groups.insert(members(1...12), into: group.id) } }
                == .resourceExhausted)
        try await stage.write { try $0.groups.insert(members(1...11), into: group.id) }
        #expect(
            await status { try await stage.write { try $0.groups.insert(members(12...12), into: group.id) } }
                == .resourceExhausted)
        #expect(try await stage.mesh.send(GetGroup(id: group.id)).members.count == 12)
        for number in 2...Group.maximumCount { _ = try await stage.group("group \(number)") }
        #expect(await status { _ = try await stage.group("one more") } == .resourceExhausted)
        #expect(try await stage.mesh.send(ListGroups()).groups.count == Group.maximumCount)
        await stage.library.close()
    }

    @Test func aChildSeesNothingOfGroups() async throws {
        let stage = try await GroupStage(photos: 0)
        let ofGroups = stage.mesh.descriptions.filter { $0.name.hasPrefix("group.") }
        #expect(ofGroups.count == 20 && ofGroups.allSatisfy { $0.role == "parent" })
        let kid = CallContext.root(mesh: stage.mesh, role: .kid)
        #expect(await status { _ = try await stage.mesh.send(ListGroups(), in: kid) } == .permissionDenied)
        await stage.library.close()
    }

    @Test func whoObservesSeesWhatHappens() async throws {
        let stage = try await GroupStage()
        let groups = Watched.follow(ObserveGroups(), on: stage.mesh)
        await groups.value { $0.groups.isEmpty }
        let group = try await stage.group()
        await groups.value { $0.groups.map(\.name) == ["Cousins"] }
        try await stage.send(to: group)
        await groups.value { $0.groups.map(\.photoCount) == [1] }
        stage.pass(hours: 49)
        _ = try await stage.photos()
        await groups.value { $0.groups.map(\.photoCount) == [0] }
        _ = try await stage.mesh.send(LeaveGroup(id: group.id))
        await groups.value { $0.groups.isEmpty }
        await stage.library.close()
        await groups.ended()
    }
}
