import Foundation
import LibraryModel
import ServiceMesh
import Testing

@testable import CommandLineInterface
@testable import Commands

@Suite("Groups")
struct GroupCommandTests {
    private static let ids = ["11a8d64a-0000-4000-8000-000000000000", "11a8ffff-0000-4000-8000-000000000000"]
    private static let photo = "77777777-0000-4000-8000-000000000000"

    private static func group(
        _ id: String = ids[0], _ name: String = "Cousins", sent: Bool = false, hub: String? = nil
    ) -> Group {
        Group(
            id: id, name: name, createdAt: Timestamp(milliseconds: 0),
            lastPhotoDate: sent ? Timestamp(milliseconds: 60_000) : nil, hasSentToday: sent, photoCount: sent ? 1 : 0,
            members: [
                GroupMember(userId: "a", firstName: "Ada", joinedAt: Timestamp(milliseconds: 0), isSelf: true),
                GroupMember(
                    userId: "b", firstName: "B\u{1B}[31men", joinedAt: Timestamp(milliseconds: 0), isSelf: false),
            ], hub: hub)
    }

    private static func sent(
        _ path: String? = "group-photos/\(photo).jpg", waits: Bool? = nil, comes: Bool? = nil, width: Int = 2048
    ) -> GroupPhoto {
        GroupPhoto(
            id: photo, groupId: ids[0], senderId: "a", senderName: "Ada", localPath: path, isWaiting: waits,
            isComing: comes, width: width, height: 1536, fileSize: 612_345, createdAt: Timestamp(milliseconds: 60_000),
            expiresAt: Timestamp(milliseconds: 172_860_000))
    }

    private func stage(_ groups: [Group]) throws -> Stage {
        let stage = Stage()
        try stage.answer("group.list", GroupList(groups: groups))
        return stage
    }

    @Test("Groups are listed, and an empty list says how to make one") func list() async throws {
        let shown = try stage([Self.group(sent: true), Self.group(Self.ids[1], "Neighbours\u{7}")])
        #expect(await shown.run("groups") == .done)
        let lines = shown.results.split(separator: "\n").map(String.init)
        #expect(lines[0] == "GROUP     NAME         MEMBERS  PHOTOS  YOU TODAY  LAST PHOTO")
        #expect(lines[1].hasPrefix("11a8d64a  Cousins            2       1  sent       1970-01-01 "))
        #expect(lines[2] == "11a8ffff  Neighbours␇        2       0  not yet    never")
        #expect(shown.params("group.list")?["utcOffset"] != nil)
        let empty = try stage([])
        #expect(await empty.run("groups") == .done)
        #expect(empty.results.isEmpty && empty.messages.contains("smilepile groups create"))
    }

    @Test("A group is meant by its id, its name in any case, or the beginning of its id") func naming() throws {
        let groups = [Self.group(Self.ids[0], "Été"), Self.group(Self.ids[1], "Été"), Self.group("2222", "Cousins")]
        func found(_ wanted: String) -> [String] { GroupNames.matches(wanted, in: groups).map(\.id) }
        #expect(found(Self.ids[0].uppercased()) == [Self.ids[0]])
        #expect(found("ÉTÉ").count == 2 && found("cousins") == ["2222"])
        #expect(found("11a8").count == 2 && found("11a8f") == [Self.ids[1]])
        #expect(found("11a").isEmpty && found("").isEmpty)
        let several = #expect(throws: CommandFailure.self) { try GroupNames.one("été", of: groups) }
        #expect(several?.message.contains("11a8d64a 11a8ffff") == true)
        let none = #expect(throws: CommandFailure.self) { try GroupNames.one("Cousin", of: groups) }
        #expect(none?.message.contains("Cousins") == true)
    }

    @Test("A group is made with oneself in it") func create() async throws {
        let stage = Stage()
        try stage.answer("group.create", Self.group())
        #expect(await stage.run("groups", "create", "Cousins", "--as", "Ada") == .done)
        #expect(stage.params("group.create") == ["name": "Cousins", "firstName": "Ada"])
        #expect(stage.results == "Made the group Cousins (11a8d64a).\n")
        #expect(await stage.run("groups", "create", "Cousins") == .usage)
    }

    @Test("Before a group goes, a person is asked; a script says yes", arguments: ["delete", "leave"])
    func asking(_ verb: String) async throws {
        let hub = verb == "leave" ? "https://photos.example" : nil
        for (says, code) in [("n", ExitCode.failed), ("y", .done)] {
            let stage = Stage(personSays: says)
            try stage.answer("group.list", GroupList(groups: [Self.group(sent: true, hub: hub)]))
            try stage.answer("group.photos", GroupPhotoList(photos: [Self.sent(waits: true)]))
            try stage.answer("group.\(verb)", Self.group())
            #expect(await stage.run("groups", verb, "cousins") == code)
            #expect(stage.questions.count == 1 && stage.questions[0].contains("2 members and 1 photo"))
            #expect(stage.questions[0].contains("It ends for 1 other.") == (verb == "delete"))
            #expect(
                stage.questions[0].contains("1 photo of yours that waits to go out would reach nobody.")
                    == (verb == "leave"))
            #expect(stage.methods.contains("group.\(verb)") == (code == .done))
        }
        let script = try stage([Self.group(hub: hub)])
        try script.answer("group.photos", GroupPhotoList(photos: []))
        try script.answer("group.\(verb)", Self.group())
        #expect(await script.run("groups", verb, Self.ids[0], "--yes") == .done)
        #expect(script.questions.isEmpty && script.params("group.\(verb)") == ["id": .string(Self.ids[0])])
        let nobody = try stage([Self.group(hub: hub)])
        try nobody.answer("group.photos", GroupPhotoList(photos: []))
        #expect(await nobody.run("groups", verb, "Cousins") == .usage)
    }

    @Test("Before a machine is forgotten, a person hears what would reach nobody") func forgetting() async throws {
        let hub = GroupHub(
            id: Self.ids[1], address: "https://photos.example", addedAt: Timestamp(milliseconds: 0), syncedAt: nil,
            problem: nil)
        for (address, isTold) in [(hub.address, true), ("https://other.example", false)] {
            let stage = Stage(personSays: "y")
            try stage.answer("group.hubs", GroupHubList(hubs: [hub], undelivered: []))
            try stage.answer("group.list", GroupList(groups: [Self.group(hub: address)]))
            try stage.answer("group.photos", GroupPhotoList(photos: [Self.sent(waits: true), Self.sent()]))
            try stage.answer("group.forget", hub)
            #expect(await stage.run("groups", "forget", hub.address) == .done)
            #expect(stage.questions[0].contains("1 photo of yours that waits to go out") == isTold)
        }
    }

    @Test("Who keeps a group for others is not asked whether to leave it") func keeper() async throws {
        let stage = try stage([Self.group()])
        #expect(await stage.run("groups", "leave", "Cousins", "--yes") == .failed)
        #expect(stage.messages.contains("You keep this group for 1 other; it would end for all of them"))
        #expect(stage.questions.isEmpty && !stage.methods.contains("group.leave"))
    }

    @Test("A photo goes to the group that is named, or to the only one") func send() async throws {
        let one = try stage([Self.group()])
        try one.answer("group.send", Self.sent())
        #expect(await one.run("groups", "send", "12") == .done)
        #expect(one.params("group.send")?["id"] == 12 && one.params("group.send")?["groupId"] == .string(Self.ids[0]))
        #expect(one.results.hasPrefix("Sent to Cousins: 2048 x 1536, 612 KB, until 1970-01-03 "))
        let two = try stage([Self.group(), Self.group(Self.ids[1], "Neighbours")])
        try two.answer("group.send", Self.sent())
        #expect(await two.run("groups", "send", "12") == .failed)
        #expect(two.messages.contains("Say which") && !two.methods.contains("group.send"))
        let uuid = "AAAAAAAA-0000-4000-8000-000000000000"
        #expect(await two.run("groups", "send", uuid, "neighbours", "--json") == .done)
        #expect(two.params("group.send")?["uuid"] == .string(uuid.lowercased()))
        #expect(try two.json()["photos"] == nil)
        let none = try stage([])
        #expect(await none.run("groups", "send", "12") == .failed)
        #expect(none.messages.contains("smilepile groups create"))
    }

    @Test("Today's photos come with their groups, and those without a file say so") func today() async throws {
        let shown = try stage([Self.group(sent: true)])
        try shown.answer(
            "group.today",
            GroupPhotoList(photos: [
                Self.sent(), Self.sent(nil), Self.sent(nil, comes: true, width: 0), Self.sent(nil, width: 0),
            ]))
        #expect(await shown.run("groups", "today") == .done)
        let lines = shown.results.split(separator: "\n").map(String.init)
        #expect(lines[0].split(separator: " ").joined(separator: " ") == "PHOTO GROUP FROM SENT GONE AT SIZE")
        #expect(lines[1].hasPrefix("77777777  Cousins  Ada   1970-01-01 ") && lines[1].hasSuffix(" 612 KB"))
        #expect(lines[2].hasSuffix(" no file") && lines[3].hasSuffix(" on its way"))
        #expect(lines[4].hasSuffix(" could not be fetched"))
        #expect(shown.params("group.today")?["groupId"] == nil)
        let empty = try stage([Self.group()])
        try empty.answer("group.today", GroupPhotoList(photos: []))
        #expect(await empty.run("groups", "today", "cousins") == .done)
        #expect(empty.messages.contains("groups send") && empty.params("group.today")?["groupId"] != nil)
    }

    @Test("A group is shown with its members and photos") func show() async throws {
        let stage = try stage([Self.group(sent: true)])
        try stage.answer("group.get", Self.group(sent: true))
        try stage.answer("group.photos", GroupPhotoList(photos: [Self.sent()]))
        try stage.answer("group.members", GroupMemberList(members: Self.group().members))
        #expect(await stage.run("groups", "show", "Cousins") == .done)
        #expect(stage.results.contains("Ada (you), B␛[31men") && stage.results.contains("77777777"))
        #expect(await stage.run("groups", "members", "Cousins") == .done)
        #expect(stage.results.contains("NAME"))
        let json = try self.stage([Self.group()])
        try json.answer("group.get", Self.group())
        try json.answer("group.photos", GroupPhotoList(photos: [Self.sent()]))
        #expect(await json.run("groups", "show", "Cousins", "--json") == .done)
        let document = try json.json()
        #expect(document["group"]?["name"] == "Cousins")
        guard case .array(let photos)? = document["photos"] else {
            Issue.record("no photos")
            return
        }
        #expect(photos.count == 1)
    }

    @Test("How old groups of other machines are is said where it is not the usual") func age() async throws {
        let address = "https://photos.example"
        func hub(_ minutes: Int64?, _ problem: String? = nil) -> GroupHub {
            let now = Timestamp.now().milliseconds
            return GroupHub(
                id: Self.ids[1], address: address, addedAt: Timestamp(milliseconds: 0),
                syncedAt: minutes.map { Timestamp(milliseconds: now - $0 * 60_000) }, problem: problem)
        }
        let cases: [(GroupHub, String?)] = [
            (hub(5), nil), (hub(200), "As of 3 hours ago: \(address). It was not asked since."),
            (hub(5, "It does not answer."), "As of 5 minutes ago: \(address). It does not answer."),
            (hub(4400, "It does not answer."), "As of 3 days ago: \(address). It does not answer."),
            (hub(nil, "It does not answer."), "Never up to date: \(address). It does not answer."),
        ]
        for (hub, said) in cases {
            for words in [["list"], ["show", "cousins"], ["today"], ["today", "cousins"]] {
                for json in [[], ["--json"]] {
                    let stage = try stage([Self.group(hub: address)])
                    try stage.answer("group.hubs", GroupHubList(hubs: [hub], undelivered: []))
                    try stage.answer("group.get", Self.group(hub: address))
                    try stage.answer("group.photos", GroupPhotoList(photos: [Self.sent()]))
                    try stage.answer("group.today", GroupPhotoList(photos: []))
                    #expect(await stage.program.run(["groups"] + words + json) == .done)
                    if json.isEmpty {
                        let isSaid = stage.messages.contains("As of ") || stage.messages.contains("Never up to date")
                        #expect(isSaid == (said != nil))
                        #expect(said.map { stage.messages.contains($0 + "\n") } ?? true, "\(stage.messages)")
                    } else {
                        guard case .array(let hubs)? = try stage.json()["hubs"] else {
                            Issue.record("no hubs")
                            continue
                        }
                        #expect(hubs.count == 1 && hubs[0]["address"] == .string(address))
                        #expect(hubs[0]["problem"]?.stringValue == hub.problem)
                    }
                }
            }
        }
        let here = try stage([Self.group()])
        #expect(await here.run("groups") == .done && !here.methods.contains("group.hubs"))
    }

    @Test("A photo is kept by the beginning of its id") func keep() async throws {
        let stage = Stage()
        try stage.answer("group.photos", GroupPhotoList(photos: [Self.sent()]))
        stage.answer("group.keep", #"{"job":"import-1"}"#)
        #expect(await stage.run("groups", "keep", "7777", "--detach") == .done)
        #expect(stage.params("group.keep") == ["photoId": .string(Self.photo)])
        #expect(stage.results == "import-1\n")
        #expect(await stage.run("groups", "keep", "777", "--detach") == .failed)
        #expect(await stage.run("groups", "keep", "8888", "--detach") == .failed)
        #expect(stage.messages.contains("smilepile groups today"))
    }
}
