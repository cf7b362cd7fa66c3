import Foundation
import LibraryModel
import LibraryTestSupport
import ServiceMesh
import TestSupport
import Testing

/// Groups that a library keeps come back from its backups.
@Suite struct GroupBackupTests {
    private typealias Object = EditedBackup.Object

    /// A library with a photo, two groups and a backup, and the backup's path.
    private func library() async throws -> (TestLibrary, String) {
        let test = try await TestLibrary("keeper")
        _ = try await test.importSamples(1)
        let cousins = try await test.mesh.send(CreateGroup(name: "Cousins", firstName: "Ada"))
        _ = try await test.mesh.send(InviteGroupMember(groupId: cousins.id, firstName: "Ben"))
        _ = try await test.mesh.send(CreateGroup(name: "Choir", firstName: "Ada"))
        let path = test.folder.file("backup.zip")
        let job = try await test.run(CreateBackup(path: path))
        #expect(job.state == .finished && job.receipt?["hubGroups"] == 0, "\(job)")
        return (test, path)
    }

    private func groups(_ test: TestLibrary) async throws -> [Group] { try await test.mesh.send(ListGroups()).groups }

    @Test func aNewMachineKeepsTheGroupsOfTheOldOne() async throws {
        let (test, path) = try await library()
        let before = try await groups(test)
        await test.library.close()
        let new = try await TestLibrary("new")
        let job = try await new.run(RestoreBackup(path: path))
        #expect(job.state == .finished && job.receipt?["groupsAdded"] == 2, "\(job)")
        #expect(try await groups(new) == before)
        // Who was let in there is not let in here; that is said, and is no loss.
        let lines = try await new.lines(job.id).filter { $0.item == "Cousins" }
        #expect(lines.map(\.outcome) == ["left"], "\(lines)")
        let ben = try #require(before[0].members.first { $0.firstName == "Ben" })
        let again = try await new.mesh.send(
            InviteGroupMember(groupId: before[0].id, userId: ben.userId, newToken: true))
        #expect(again.token != nil)
        let second = try await new.run(RestoreBackup(path: path))
        #expect(second.receipt?["groupsAdded"] == 0, "\(second)")
        #expect(try await groups(new).map(\.id) == before.map(\.id))
        await new.library.close()
    }

    /// Others are in them: what a backup does not know, or knows otherwise, stays also where the library becomes the backup.
    @Test func aReplacementLeavesGroupsAndTellsOfWhatDiffers() async throws {
        let (test, path) = try await library()
        let cousins = try await groups(test)[0]
        _ = try await test.mesh.send(RenameGroup(id: cousins.id, name: "Family"))
        let ben = try #require(cousins.members.first { !$0.isSelf })
        _ = try await test.mesh.send(RemoveGroupMember(groupId: cousins.id, userId: ben.userId))
        _ = try await test.mesh.send(CreateGroup(name: "Later", firstName: "Ada"))
        let before = try await groups(test)
        for mode in [RestoreMode.merge, .replace] {
            let job = try await test.run(RestoreBackup(path: path, mode: mode))
            #expect(job.receipt?["groupsAdded"] == 0, "\(job)")
            let lines = try await test.lines(job.id).filter { $0.item == "Cousins" }.compactMap(\.detail)
            #expect(lines == ["the group is called 'Family' here", "Ben is not in the group any more"], "\(lines)")
            #expect(try await groups(test) == before)
        }
        await test.library.close()
    }

    @Test func anotherPersonsGroupsDoNotCome() async throws {
        let (test, path) = try await library()
        await test.library.close()
        let other = try await TestLibrary("other")
        _ = try await other.mesh.send(CreateGroup(name: "Mine", firstName: "Cleo"))
        let job = try await other.run(RestoreBackup(path: path))
        #expect(job.receipt?["groupsAdded"] == 0 && job.outcomes["left_out"] == 2 && job.needsAttention, "\(job)")
        #expect(try await groups(other).map(\.name) == ["Mine"])
        await other.library.close()
    }

    /// What a hub calls this library's person is that hub's.
    @Test func groupsOfHubsKeepNoneFromComing() async throws {
        let (test, path) = try await library()
        await test.library.close()
        let street = try await GroupNeighbours(["Ben"])
        let house = street.members[0]
        #expect(try await house.groups().map(\.members.count) == [2])
        let started = try await house.mesh.send(RestoreBackup(path: path))
        let job = try await house.mesh.send(WaitForJob(job: started.job))
        #expect(job.receipt?["groupsAdded"] == 2 && job.outcomes["left_out"] == nil, "\(job)")
        #expect(try await house.groups().map(\.name).sorted() == ["Choir", "Cousins", "Cousins"])
        await street.close()
    }

    @Test func groupsThatCannotBeAreRefused() async throws {
        let (test, path) = try await library()
        let bad = test.folder.file("bad.zip")
        let lies: [(String, (inout Object) -> Void)] = [
            ("an id that is a path", { $0["id"] = "../../etc" }), ("no name", { $0["name"] = " " }),
            ("a name of two lines", { $0["name"] = "a\nb" }),
            (
                "thirteen members",
                { group in
                    group["members"] = (0..<13).map { _ in
                        [
                            "userId": UUID().uuidString.lowercased(), "firstName": "X",
                            "joinedAt": "2026-01-01T00:00:00Z", "isSelf": false,
                        ] as Object
                    }
                }
            ),
            (
                "one member twice",
                { group in
                    let members = group["members"] as? [Object] ?? []
                    group["members"] = members + members
                }
            ),
            ("nobody", { $0["members"] = [Object]() }),
        ]
        for (name, lie) in lies {
            try? FileManager.default.removeItem(atPath: bad)
            try EditedBackup.write(path, to: bad) { metadata in
                var groups = metadata["groups"] as? [Object] ?? []
                lie(&groups[0])
                metadata["groups"] = groups
            }
            let job = try await test.run(VerifyBackup(path: bad))
            #expect(job.error?.status == .dataLoss, "\(name): \(job)")
        }
        try? FileManager.default.removeItem(atPath: bad)
        try EditedBackup.write(path, to: bad) { metadata in
            let groups = metadata["groups"] as? [Object] ?? []
            metadata["groups"] = [groups[0], groups[0]]
        }
        #expect(try await test.run(VerifyBackup(path: bad)).error?.status == .dataLoss)
        await test.library.close()
    }
}
