import LibraryModel
import LibraryStorage
import ServiceMesh

extension CatalogueContract {
    static let groups: [ContractCheck] = [
        ContractCheck("groups are told oldest first, their members as they joined") { run in
            let first = group("b", at: 5, [member("z", at: 1), member("a", at: 2, isSelf: true), member("b", at: 1)])
            let second = group("a", at: 9, [])
            try await run.write { t in
                try t.groups.insert(second)
                try t.groups.insert(first)
                var wanted = first
                wanted.members = [first.members[2], first.members[0], first.members[1]]
                run.equal(try t.groups.groups(nil), [wanted, second])
                run.equal(try t.groups.groups("a"), [second])
                run.equal(try t.groups.groups("none"), [])
                run.equal(try t.groups.count(), 2)
                run.equal(try t.groups.require("b").ownMember?.userId, "a")
            }
            try await run.refuses("noGroup") { _ = try $0.groups.require("none") }
        },
        ContractCheck("a group is renamed and removed with all that belongs to it") { run in
            try await twoGroups(run)
            try await run.write { t in
                try t.groups.insert(photo("1"))
                try t.groups.insert(photo("2", "other"))
                try t.groups.rename("one", to: "New 'é'")
                run.equal(try t.groups.require("one").name, "New 'é'")
                run.equal(try t.groups.require("other").name, "other")
                try t.groups.remove([])
                try t.groups.remove(["one"])
                run.equal(try t.groups.groups(nil).map(\.id), ["other"])
                run.equal(try t.groups.groups("other")[0].members.count, 2)
                run.equal(try t.groups.photoIDs(), ["2"])
                run.expect(try t.isConsistent())
            }
            try await run.refuses("noGroup") { try $0.groups.remove(["one"]) }
            try await run.refuses("noGroup") { try $0.groups.remove(["other", "one"]) }
            try await run.write { try $0.groups.insert(group("third", at: 3, [])) }
            try await run.write { try $0.groups.remove(["third", "other"]) }
            run.equal(try await run.read { try $0.groups.count() }, 0)
            try await run.refuses("noGroup") { try $0.groups.rename("one", to: "x") }
        },
        ContractCheck("a group has twelve members at most") { run in
            try await twoGroups(run)
            try await run.write { t in
                try t.groups.insert((3...Group.maximumMembers).map { member("\($0)") }, into: "one")
                try t.groups.insert([], into: "one")
                run.equal(try t.groups.require("one").members.count, Group.maximumMembers)
            }
            try await run.refuses("tooManyMembers") { try $0.groups.insert([member("13")], into: "one") }
            try await run.refuses("tooManyMembers") { t in
                try t.groups.insert(group("new", at: 1, (0...Group.maximumMembers).map { member("\($0)") }))
            }
            try await run.write { t in
                run.equal(try t.groups.removeMember("3", from: "one"), true)
                run.equal(try t.groups.removeMember("3", from: "one"), false)
                run.equal(try t.groups.removeMember("4", from: "other"), false)
                try t.groups.insert([member("13")], into: "one")
                run.equal(try t.groups.require("one").members.count, Group.maximumMembers)
                run.equal(try t.groups.require("other").members.count, 2)
            }
        },
        ContractCheck("one member of a group is this library's person, and nobody is in it twice") { run in
            try await twoGroups(run)
            for id in ["cleo", "ben"] {
                await run.fails("\(id) in the group") {
                    try await run.write { try $0.groups.insert([member(id, isSelf: id == "cleo")], into: "one") }
                }
            }
            await run.fails("A second group with the same id") {
                try await run.write { try $0.groups.insert(group("one", at: 1, [])) }
            }
            run.equal(try await run.read { try $0.groups.require("one").members.map(\.userId) }, ["ada", "ben"])
        },
        ContractCheck("a person has one token, until they are in no group that is kept here") { run in
            try await twoGroups(run)
            try await run.write { t in
                run.equal(try t.groups.hasToken("ada"), false)
                try t.groups.setToken("d1", of: "ada", at: Sample.time(1))
                try t.groups.setToken("d2", of: "ada", at: Sample.time(2))
                try t.groups.setToken("d3", of: "ben", at: Sample.time(2))
                try t.groups.setToken("d4", of: "stranger", at: Sample.time(2))
                run.expect(try t.groups.person(token: "d1") == nil)
                run.equal(try t.groups.person(token: "d2"), "ada")
                run.equal(try t.groups.hasToken("ada"), true)
                try t.groups.removeUnusedTokens()
                run.equal(try ["ada", "ben", "stranger"].map { try t.groups.hasToken($0) }, [true, true, false])
                _ = try t.groups.removeMember("ben", from: "one")
                try t.groups.removeUnusedTokens()
                run.equal(try t.groups.hasToken("ben"), true)
                _ = try t.groups.removeMember("ben", from: "other")
                // Being in a group that a hub keeps needs no token here.
                try t.groupHubs.put(hub("h"))
                run.equal(try t.groupHubs.put([group("away", at: 1, [member("ben")], hub: "h")]), [])
                try t.groups.removeUnusedTokens()
                run.equal(try t.groups.person(token: "d3"), nil)
                run.equal(try t.groups.person(token: "d2"), "ada")
            }
        },
        ContractCheck("photos are told newest first, of a group or of all") { run in
            try await twoGroups(run)
            try await run.write { t in
                let photos = [
                    photo("b", day: 1, at: 5), photo("a", day: 2, at: 5), photo("c", "other", day: 1, at: .max - 50),
                    photo("d", "one", "ben", day: 1, at: 9),
                ]
                for photo in photos { try t.groups.insert(photo) }
                run.equal(try t.groups.photos(of: nil).map(\.id), ["c", "d", "a", "b"])
                run.equal(try t.groups.photos(of: "one").map(\.id), ["d", "a", "b"])
                run.equal(try t.groups.photos(of: "none"), [])
                run.equal(try t.groups.photos(of: ["other", "none", "one", "one"]).map(\.id), ["c", "d", "a", "b"])
                run.equal(try t.groups.photos(of: ["other"]).map(\.id), ["c"])
                run.equal(try t.groups.photos(of: []), [])
                run.equal(try t.groups.photo("b"), photos[0])
                run.expect(try t.groups.photo("none") == nil)
                run.equal(try t.groups.photoIDs(), ["a", "b", "c", "d"])
                run.equal(try t.groups.lastDay(of: "ada", in: "one"), 2)
                run.equal(try t.groups.lastDay(of: "ben", in: "one"), 1)
                run.expect(try t.groups.lastDay(of: "ben", in: "other") == nil)
            }
        },
        ContractCheck("all that is said of a group's photo comes back") { run in
            try await twoGroups(run)
            let full = StoredGroupPhoto(
                id: "full", groupId: "one", senderId: "ada", senderName: "Ada 'é'", day: .min, width: 1 << 30,
                height: 2,
                fileSize: .max, hasFile: false, createdAt: Sample.time(.min), expiresAt: Sample.time(.max),
                lastUsedAt: Sample.time(0), transfer: .incoming, url: "http://é/%", utcOffset: -720)
            try await run.write { try $0.groups.insert(full) }
            run.equal(try await run.read { try $0.groups.photo("full") } as StoredGroupPhoto?, full)
        },
        ContractCheck("a member sends one photo a day to each group") { run in
            try await twoGroups(run)
            try await run.write { try $0.groups.insert(photo("first", day: 3)) }
            try await run.refuses("sentAlready") { try $0.groups.insert(photo("second", day: 3)) }
            try await run.write { t in
                try t.groups.insert(photo("next", day: 4))
                try t.groups.insert(photo("by ben", "one", "ben", day: 3))
                try t.groups.insert(photo("elsewhere", "other", day: 3))
                var changed = photo("first", day: 5)
                changed.hasFile = false
                try t.groups.update(changed)
                run.equal(try t.groups.photo("first"), changed)
                run.equal(try t.groups.photoIDs().count, 4)
            }
            try await run.refuses("sentAlready") { try $0.groups.update(photo("first", day: 4)) }
        },
        ContractCheck("two that race send one photo") { run in
            try await twoGroups(run)
            let entered = await withTaskGroup(of: Bool.self) { tasks in
                for number in 0..<50 {
                    tasks.addTask {
                        (try? await run.write { try $0.groups.insert(photo("\(number)", day: Int64(number % 2))) })
                            != nil
                    }
                }
                return await tasks.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            run.equal(entered, 2)
            run.equal(try await run.read { try $0.groups.photos(of: "one").map(\.day).sorted() }, [0, 1])
        },
        ContractCheck("photos expire at their moment, and the group keeps the date of its last one") { run in
            try await twoGroups(run)
            try await run.write { t in
                try t.groups.insert(photo("late", day: 2, at: 200))
                try t.groups.insert(photo("early", day: 1, at: 100))
                run.equal(try t.groups.require("one").lastPhotoDate, Sample.time(200))
                run.expect(try t.groups.require("other").lastPhotoDate == nil)
                run.equal(try t.groups.removeExpired(at: Sample.time(149)), 0)
                run.equal(try t.groups.removeExpired(at: Sample.time(150)), 1)
                run.equal(try t.groups.photoIDs(), ["late"])
                try t.groups.setUsed("late", at: Sample.time(220))
                try t.groups.setUsed("none", at: Sample.time(220))
                try t.groups.setMissing(["late", "none"])
                try t.groups.setMissing([])
                run.equal(try t.groups.photo("late")?.hasFile, false)
                run.equal(try t.groups.photo("late")?.lastUsedAt, Sample.time(220))
                try t.groups.removePhotos(["late", "none"])
                try t.groups.removePhotos([])
                run.equal(try t.groups.photoIDs(), [])
                run.equal(try t.groups.require("one").lastPhotoDate, Sample.time(200))
            }
        },
        ContractCheck("the time is what was stored last") { run in
            let reading = GroupTimeReading(
                time: Sample.time(.max), boot: BootTime(boot: "first 'é'", milliseconds: .max))
            try await run.write { t in
                run.expect(try t.groups.time() == nil)
                try t.groups.setTime(GroupTimeReading(time: Sample.time(1), boot: reading.boot))
                try t.groups.setTime(reading)
                run.equal(try t.groups.time(), reading)
                try t.groups.setTime(nil)
                try t.groups.setTime(nil)
                run.expect(try t.groups.time() == nil)
            }
        },
    ]

    // MARK: Values

    static func member(_ id: String, at time: Int64 = 1, isSelf: Bool = false) -> GroupMember {
        GroupMember(userId: id, firstName: "'\(id)'", joinedAt: Sample.time(time), isSelf: isSelf)
    }

    static func group(_ id: String, at time: Int64, _ members: [GroupMember], hub: String? = nil) -> StoredGroup {
        StoredGroup(id: id, name: id, createdAt: Sample.time(time), members: members, hub: hub)
    }

    static func hub(_ id: String, at time: Int64 = 1) -> StoredGroupHub {
        StoredGroupHub(id: id, address: "http://\(id)", token: .plain("t \(id)"), addedAt: Sample.time(time))
    }

    static func photo(
        _ id: String, _ group: String = "one", _ sender: String = "ada", day: Int64 = 7, at time: Int64 = 100
    ) -> StoredGroupPhoto {
        StoredGroupPhoto(
            id: id, groupId: group, senderId: sender, senderName: sender, day: day, width: 1, height: 1, fileSize: 1,
            createdAt: Sample.time(time), expiresAt: Sample.time(time + 50), lastUsedAt: Sample.time(time))
    }

    /// Groups that are kept here: `one` and `other`, with `ada`, who is this library's person, and `ben`.
    static func twoGroups(_ run: ContractRun) async throws {
        try await run.write { t in
            for id in ["one", "other"] {
                try t.groups.insert(group(id, at: 1, [member("ada", isSelf: true), member("ben")]))
            }
        }
    }
}
