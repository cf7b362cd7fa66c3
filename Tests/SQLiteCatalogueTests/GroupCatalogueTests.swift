import Database
import Foundation
import LibraryModel
import LibraryStorage
@testable import SQLiteCatalogue
import ServiceMesh
import TestSupport
import Testing

/// What the catalogue itself sees to of groups, whoever asks.
@Suite struct GroupCatalogueTests {
    private func opened(_ folder: TemporaryFolder) async throws -> DatabasePool {
        let database = try await DatabasePool.open(at: folder.file("c.sqlite"), schema: CatalogueSchema.schema)
        try await database.write { connection in
            for name in ["one", "other"] {
                try GroupTable(connection: connection).insert(
                    StoredGroup(
                        id: name, name: name, createdAt: Timestamp(milliseconds: 1),
                        members: [member("ada", isSelf: true), member("ben")]))
            }
        }
        return database
    }

    private func member(_ id: String, isSelf: Bool = false) -> GroupMember {
        GroupMember(userId: id, firstName: id, joinedAt: Timestamp(milliseconds: 2), isSelf: isSelf)
    }

    private func photo(
        _ id: String, _ group: String = "one", _ sender: String = "ada", day: Int64 = 7, at time: Int64 = 100
    ) -> StoredGroupPhoto {
        StoredGroupPhoto(
            id: id, groupId: group, senderId: sender, senderName: sender, day: day, width: 1, height: 1, fileSize: 1,
            createdAt: Timestamp(milliseconds: time), expiresAt: Timestamp(milliseconds: time + 50),
            lastUsedAt: Timestamp(milliseconds: time))
    }

    /// Nobody looks before: the key alone decides.
    @Test func theKeyLetsInOnePhotoForMemberGroupAndDay() async throws {
        let folder = try TemporaryFolder()
        let database = try await opened(folder)
        let entered = await withTaskGroup(of: Bool.self) { tasks in
            for number in 0..<200 {
                let new = photo("\(number)", day: Int64(number % 2))
                tasks.addTask {
                    (try? await database.write { try GroupTable(connection: $0).insert(new) }) != nil
                }
            }
            return await tasks.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(entered == 2)
        try await database.write { connection in
            let table = GroupTable(connection: connection)
            #expect(try table.photos(of: "one").map(\.day).sorted() == [0, 1])
            #expect(try table.lastDay(of: "ada", in: "one") == 1 && table.lastDay(of: "ben", in: "one") == nil)
            #expect(throws: CatalogueError.self) { try table.insert(photo("again", day: 1)) }
            try table.insert(photo("by ben", "one", "ben", day: 1))
            try table.insert(photo("elsewhere", "other", day: 1))
            #expect(try table.photos(of: nil).count == 4)
        }
        await database.close()
    }

    @Test func whatBelongsToAGroupGoesWithIt() async throws {
        let folder = try TemporaryFolder()
        let database = try await opened(folder)
        try await database.write { connection in
            let table = GroupTable(connection: connection)
            try table.insert(photo("a"))
            try table.insert(photo("b", "other"))
            try table.remove("one")
            #expect(throws: CatalogueError.self) { try table.remove("one") }
            #expect(throws: CatalogueError.self) { try table.rename("one", to: "x") }
            #expect(try table.groups(nil).map(\.id) == ["other"] && table.photos(of: nil).map(\.id) == ["b"])
            let members: Int? = try connection.value("SELECT count(*) FROM group_members")
            #expect(members == 2)
        }
        await database.close()
    }

    @Test func aGroupHasTwelveMembersAndOneOfThisLibrary() async throws {
        let folder = try TemporaryFolder()
        let database = try await opened(folder)
        try await database.write { connection in
            let table = GroupTable(connection: connection)
            try table.insert((3...12).map { member("\($0)") }, into: "one")
            #expect(try table.groups("one")[0].members.count == 12)
            #expect(throws: CatalogueError.self) { try table.insert([member("13")], into: "one") }
            #expect(throws: DatabaseError.self) { try table.insert([member("13", isSelf: true)], into: "other") }
        }
        await database.close()
    }

    @Test func whatWasSentInVainIsToldForAWhile() async throws {
        let folder = try TemporaryFolder()
        let database = try await opened(folder)
        try await database.write { connection in
            let (table, groups) = (GroupHubTable(connection: connection), GroupTable(connection: connection))
            let day: Int64 = 86_400_000
            func note(_ id: String, at time: Int64, of group: StoredGroup, by sender: String = "ada") throws {
                var photo = photo(id, group.id, sender)
                if sender == "ada" { photo.transfer = .outgoing }
                try table.noteUndelivered(
                    [photo], of: group, at: Timestamp(milliseconds: time), .refused, detail: "It is full.")
            }
            let kept = try groups.require("one")
            try note("kept here", at: day, of: kept)
            #expect(try table.undelivered().isEmpty)
            try table.put(
                StoredGroupHub(id: "h", address: "http://h", token: .plain("t"), addedAt: Timestamp(milliseconds: 1)))
            var away = kept
            away.hub = "h"
            try note("by another", at: day, of: away, by: "ben")
            try note("first", at: day, of: away)
            let first = try table.undelivered()
            #expect(first.map(\.id) == ["first"] && first[0].hub == "http://h" && first[0].detail == "It is full.")
            // What the group and its hub have said stays without them.
            #expect(try table.remove("h"))
            #expect(try table.undelivered().count == 1)
            try table.put(
                StoredGroupHub(id: "h", address: "http://h", token: .plain("t"), addedAt: Timestamp(milliseconds: 1)))
            for number in 0..<Int64(UndeliveredGroupPhoto.maximumCount) {
                try note("photo \(number)", at: 2 * day + number, of: away)
            }
            let most = try table.undelivered()
            #expect(most.count == UndeliveredGroupPhoto.maximumCount && most[0].id == "photo 99")
            #expect(!most.contains { $0.id == "first" })
            try table.removeUndelivered(until: Timestamp(milliseconds: 2 * day + 98))
            #expect(try table.undelivered().map(\.id) == ["photo 99"])
            try connection.execute("UPDATE group_undelivered SET reason = 'of a later version'")
            #expect(try table.undelivered().map(\.reason) == [.refused])
        }
        await database.close()
    }

    @Test func photosExpireAtTheirMomentAndTheGroupKeepsTheirDate() async throws {
        let folder = try TemporaryFolder()
        let database = try await opened(folder)
        try await database.write { connection in
            let table = GroupTable(connection: connection)
            try table.insert(photo("late", day: 2, at: 200))
            try table.insert(photo("early", day: 1, at: 100))
            #expect(try table.groups("one")[0].lastPhotoDate == Timestamp(milliseconds: 200))
            #expect(try table.removeExpired(at: Timestamp(milliseconds: 149)) == 0)
            #expect(try table.removeExpired(at: Timestamp(milliseconds: 150)) == 1)
            #expect(try table.photos(of: "one").map(\.id) == ["late"])
            try table.setUsed("late", at: Timestamp(milliseconds: 220))
            try table.setMissing(["late", "nobody"])
            let left = try #require(try table.photo("late"))
            #expect(!left.hasFile && left.lastUsedAt == Timestamp(milliseconds: 220))
            #expect(try table.time() == nil)
            let reading = GroupTimeReading(
                time: Timestamp(milliseconds: 5), boot: BootTime(boot: "first", milliseconds: 6))
            try table.setTime(GroupTimeReading(time: .now(), boot: reading.boot))
            try table.setTime(reading)
            #expect(try table.time() == reading)
            try table.setTime(nil)
            #expect(try table.time() == nil)
        }
        await database.close()
    }
}
