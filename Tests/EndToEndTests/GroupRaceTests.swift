import EndToEndSupport
import Foundation
import LibraryModel
import ServiceMesh
import Testing

/// Members who send at once, whose way is cut, or who are away for a while, over real HTTP.
@Suite(.serialized, .timeLimit(.minutes(4))) struct GroupRaceTests {
    private let hubs = GroupHubTests()

    private func withStreet(
        _ names: [String], _ body: (GroupHubTests.Street) async throws -> Void
    ) async throws {
        try await hubs.withStreet(names, body)
    }

    @Test func curlIsAnsweredAsTheDocumentationSays() async throws {
        try await withStreet(["Ben"]) { street in
            let port = try #require(street.address.split(separator: ":").last)
            let asked = try await street.hub.run(
                "/usr/bin/curl",
                [
                    "-sS", "-D", "-", "-H", "Authorization: Bearer \(street.token)",
                    "http://127.0.0.1:\(port)/api/groups",
                ])
            let parts = asked.output.split(separator: "\r\n\r\n", maxSplits: 1)
            try #require(asked.status == 0 && parts.count == 2, "\(asked.output)\(asked.errors)")
            #expect(parts[0].hasPrefix("HTTP/1.1 200") && parts[0].contains("Content-Type: application/json"))
            let groups = try JSONDecoder().decode([JSONValue].self, from: Data(parts[1].utf8))
            guard groups.count == 1, case .object(let group) = groups[0], case .array(let members)? = group["members"]
            else {
                Issue.record("\(parts[1])")
                return
            }
            // Of no photo there is no lastPhoto.
            #expect(
                Set(group.keys) == ["id", "name", "memberCount", "members", "hasSentToday", "memberId", "createdAt"])
            #expect(group["name"] == "Cousins" && group["memberCount"] == 2 && group["hasSentToday"] == false)
            let names = try members.map { member in
                guard case .object(let fields) = member else { throw MeshError(.dataLoss, "\(member)") }
                #expect(Set(fields.keys) == ["id", "firstName", "joinedAt"])
                return fields["firstName"]?.stringValue
            }
            #expect(Set(names) == ["Ada", "Ben"])
            let ben = members.first { $0["firstName"] == "Ben" }
            #expect(group["memberId"] == ben?["id"] && UUID(uuidString: group["id"]?.stringValue ?? "") != nil)
        }
    }

    /// 200 photos of one day, by two connections that both always have one on its way.
    @Test func ofManyRacedSendsOneWins() async throws {
        try await withStreet(["Ben"]) { street in
            let script = street.hub.folder.file("race.py")
            try Self.race.write(toFile: script, atomically: true, encoding: .utf8)
            let album = street.hub.folder.file("album")
            let name = try #require(FileManager.default.contentsOfDirectory(atPath: album).sorted().first)
            let port = try #require(street.address.split(separator: ":").last)
            let raced = try await street.hub.run(
                "/usr/bin/env", ["python3", script, String(port), street.token, album + "/" + name])
            #expect(raced.output == "201: 1, 409: 199\n", "\(raced.output)\(raced.errors)")
            let there = try await hubs.photos(street.hub)
            #expect(there.count == 1 && there[0].senderName == "Ben")
            let files = try FileManager.default.contentsOfDirectory(
                atPath: street.hub.library + "/" + GroupPhoto.folder)
            #expect(files == [there[0].id + ".jpg"])
            #expect(try await street.members[0].smilepile("groups", "sync").status == 0)
            #expect(try await hubs.photos(street.members[0]).map(\.id) == there.map(\.id))
        }
    }

    private static let race = #"""
        import collections, http.client, json, sys, threading, uuid

        port, token, picture = sys.argv[1:4]
        with open(picture, "rb") as file:
            content = file.read()
        outcomes = collections.Counter()
        lock, start = threading.Lock(), threading.Barrier(2)
        group = None


        def ask(connection, method, path, body=None, headers={}):
            connection.request(method, path, body, {"Authorization": "Bearer " + token, **headers})
            answer = connection.getresponse()
            return answer.status, answer.read()


        def send(connection):
            form = (b"--x\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"a.jpg\"\r\n\r\n" + content
                    + b"\r\n--x--\r\n")
            key = str(uuid.uuid4())
            while True:
                status, _ = ask(connection, "POST", "/api/photos/" + group, form, {
                    "Content-Type": "multipart/form-data; boundary=x", "Idempotency-Key": key})
                # The other connection has its picture on the way in.
                if status != 429:
                    return status


        def run():
            connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=60)
            start.wait()
            for _ in range(100):
                status = send(connection)
                with lock:
                    outcomes[status] += 1


        first = http.client.HTTPConnection("127.0.0.1", int(port), timeout=60)
        group = json.loads(ask(first, "GET", "/api/groups")[1])[0]["id"]
        threads = [threading.Thread(target=run) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(", ".join("%d: %d" % pair for pair in sorted(outcomes.items())))
        """#

    /// At every tenth of the way to the hub: there is nothing of the photo there, or all of it, and in the end it is there once.
    @Test func anUploadThatIsCutIsTriedAgain() async throws {
        try await withStreet(["Ben"]) { street in
            let (hub, ben) = (street.hub, street.members[0])
            let port = try #require(street.address.split(separator: ":").last.flatMap { UInt16($0) })
            let proxy = try CuttingProxy(to: port)
            let link = "http://127.0.0.1:\(proxy.port)/#join=\(street.token)"
            try #require(try await ben.smilepile("groups", "forget", street.address, "--yes").status == 0)
            try #require(try await ben.smilepile("groups", "join", link).status == 0)
            try #require(try await ben.smilepile("groups", "send", "1").status == 0)
            try #require(try await ben.smilepile("groups", "sync").status == 0)
            let size = Int(try #require(try await hubs.photos(hub).first).fileSize)
            // Each day of a group has one photo of Ben's, so each tenth has a group.
            for tenth in 0..<10 {
                let group = "Group \(tenth)"
                try #require(try await hub.smilepile("groups", "create", group, "--as", "Ada").status == 0)
                try #require(try await hub.smilepile("groups", "invite", group, "Ben", "--known").status == 0)
                try #require(try await ben.smilepile("groups", "sync").status == 0)
                // Questions are shorter than this.
                proxy.cutRequest(after: 600 + size * tenth / 10)
                try #require(try await ben.smilepile("groups", "send", "1", group).status == 0)
                await proxy.hasCut(tenth + 1)
                for photo in try await hubs.photos(hub) { #expect(photo.width == 320 && photo.localPath != nil) }
                #expect(try await ben.smilepile("groups", "sync").status == 0)
                let there = try await hubs.photos(hub)
                #expect(there.count == tenth + 2 && Set(there.map(\.groupId)).count == tenth + 2)
                #expect(try await Set(hubs.photos(ben).map(\.id)) == Set(there.map(\.id)))
                #expect(try await hubs.photos(ben).allSatisfy { $0.isWaiting != true })
            }
            #expect(proxy.cutCount == 10)
            let files = try FileManager.default.contentsOfDirectory(atPath: hub.library + "/" + GroupPhoto.folder)
            #expect(files.count == 11 && files.allSatisfy { $0.hasSuffix(".jpg") }, "\(files)")
            await proxy.stop()
        }
    }

    /// What all should have the same of: groups and their members, photos, and what was reviewed.
    private func state(_ place: Installation) async throws -> [String] {
        let client = try place.client()
        defer { client.close() }
        let groups = try await client.call(ListGroups(utcOffset: 0)).groups.map { group in
            "\(group.id) \(group.name) \(group.members.map { "\($0.userId) \($0.firstName)" }.sorted())"
        }
        let photos = try await hubs.photos(place).map { photo in
            "\(photo.id) \(photo.groupId) \(photo.senderId) \(photo.createdAt) \(photo.expiresAt) \(photo.width)"
                + " \(photo.localPath != nil) \(photo.isWaiting == true)"
        }
        let sessions = try await client.call(ListSwipeSessions()).sessions.map {
            "\($0.sessionID) \($0.startTime) \($0.endTime?.description ?? "-") \($0.photosProcessed)"
        }
        let decisions = try await client.call(ListSwipeHistory()).actions.map {
            "\($0.sessionID) \($0.contentDigest) \($0.action) \($0.timestamp)"
        }
        return [groups, photos, sessions, decisions].flatMap { $0.sorted() }
    }

    /// Sends a photo and reviews another one, whoever can be reached.
    private func live(_ place: Installation, _ actions: [String]) async throws {
        let sent = try await place.smilepile("groups", "send", "1")
        try #require(sent.status == 0, "\(sent.errors)")
        let session = try await place.smilepile("swipe", "start").output.trimmingCharacters(in: .whitespacesAndNewlines)
        for (number, action) in actions.enumerated() {
            let recorded = try await place.smilepile("swipe", "record", session, String(number + 1), action)
            try #require(recorded.status == 0, "\(recorded.errors)")
        }
        try #require(try await place.smilepile("swipe", "finish", session).status == 0)
    }

    @Test func whoWasAwayForAWhileHasTheSameInTheEnd() async throws {
        try await withStreet(["Ben", "Cleo"]) { street in
            for (name, place) in zip(["ben", "cleo"], street.members) {
                let shared = try await street.hub.smilepile("swipe", "share", name)
                let link = shared.output.trimmingCharacters(in: .whitespacesAndNewlines)
                try #require(try await place.smilepile("swipe", "join", link).status == 0)
            }
            _ = try await street.hub.smilepile("web", "stop")
            try await live(street.hub, ["trash", "keep"])
            try await live(street.members[0], ["keep"])
            try await live(street.members[1], ["favorite", "favorite"])
            for place in street.members {
                #expect(try await place.smilepile("groups", "sync").status == 5)
                #expect(try await place.smilepile("swipe", "sync").status == 5)
            }
            #expect(try await state(street.members[0]) != state(street.members[1]))
            let port = try #require(street.address.split(separator: ":").last)
            _ = try await WebTests().start(street.hub, "--listen", "127.0.0.1:\(port)")
            // The first one learns of the second's the next time.
            for place in street.members + street.members {
                for what in ["groups", "swipe"] {
                    let synced = try await place.smilepile(what, "sync")
                    #expect(synced.status == 0, "\(synced.output)\(synced.errors)")
                }
            }
            let all = try await state(street.hub)
            // A group, three photos, three reviews with five decisions.
            #expect(all.count == 12, "\(all)")
            for place in street.members { #expect(try await state(place) == all) }
        }
    }
}
