import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import ServiceMesh
import TestSupport
import Testing

/// Three machines of three families, each with a home, a daemon and a library of its own; one keeps a group, over real HTTP.
@Suite(.serialized, .timeLimit(.minutes(4))) struct GroupHubTests {
    struct Street {
        let hub: Installation
        let members: [Installation]
        let address: String
        let token: String
    }

    func withStreet(_ names: [String], _ body: (Street) async throws -> Void) async throws {
        let hub = try Installation("hub")
        let members = try names.map { _ in try Installation("member") }
        for place in [hub] + members {
            let album = place.folder.file("album")
            try SampleAlbum(width: 320, height: 240).write(count: 2, to: album)
            try await place.up()
            try #require(try await place.smilepile("import", album).status == 0)
        }
        let started = try await WebTests().start(hub, "--listen", "127.0.0.1:0")
        do {
            try #require(try await hub.smilepile("groups", "create", "Cousins", "--as", "Ada").status == 0)
            var token = ""
            for (name, place) in zip(names, members) {
                let invited = try await hub.smilepile("groups", "invite", "Cousins", name)
                try #require(invited.status == 0, "\(invited.errors)")
                let link = invited.output.trimmingCharacters(in: .whitespacesAndNewlines)
                try #require(link.hasPrefix(started.address + "/#join="), "\(link)")
                token = String(link.split(separator: "=").last ?? "")
                let joined = try await place.smilepile("groups", "join", link)
                try #require(joined.status == 0, "\(joined.errors)")
                #expect(joined.output.contains("Cousins") && !joined.output.contains(token))
            }
            try await body(Street(hub: hub, members: members, address: started.address, token: token))
        } catch {
            _ = try await hub.smilepile("web", "stop")
            throw error
        }
        _ = try await hub.smilepile("web", "stop")
        for place in [hub] + members { try await place.smilepile("down") }
    }

    func photos(_ place: Installation) async throws -> [GroupPhoto] {
        let client = try place.client()
        defer { client.close() }
        let reply = try await client.call(method: "group.photos", params: Data("{}".utf8), deadlineMs: nil)
        return try JSONDecoder().decode(GroupPhotoList.self, from: reply).photos
    }

    @Test func aPhotoSentOnOneMachineIsOnTheOthers() async throws {
        try await withStreet(["Ben", "Cleo"]) { street in
            let (ben, cleo) = (street.members[0], street.members[1])
            try #require(try await ben.smilepile("groups", "send", "1").status == 0)
            try #require(try await ben.smilepile("groups", "sync").status == 0)
            let synced = try await cleo.smilepile("groups", "sync")
            #expect(synced.status == 0 && synced.output.contains("fetched 1"), "\(synced.output) \(synced.errors)")
            let there = try await photos(street.hub)
            #expect(there.count == 1 && there[0].senderName == "Ben" && there[0].width == 320)
            for place in street.members {
                let here = try await photos(place)
                #expect(here.map(\.id) == there.map(\.id) && here.map(\.expiresAt) == there.map(\.expiresAt))
                #expect(here[0].localPath != nil && here[0].remoteUrl?.hasPrefix(street.address) == true)
            }
            let again = try await ben.smilepile("groups", "send", "2")
            #expect(again.status == 1 && again.errors.contains("photo of the day"), "\(again.errors)")
            // The hub goes away; everything here goes on, and what was sent meanwhile goes out when it is back.
            _ = try await street.hub.smilepile("web", "stop")
            let sent = try await cleo.smilepile("groups", "send", "1")
            #expect(sent.status == 0 && sent.output.hasPrefix("Goes to Cousins"), "\(sent.output)")
            #expect(try await cleo.smilepile("groups", "sync").status == 5)
            let hubs = try await cleo.smilepile("groups", "hubs")
            #expect(hubs.output.contains("does not answer"), "\(hubs.output)")
            let port = try #require(street.address.split(separator: ":").last)
            _ = try await WebTests().start(street.hub, "--listen", "127.0.0.1:\(port)")
            #expect(try await cleo.smilepile("groups", "sync").status == 0)
            #expect(try await ben.smilepile("groups", "sync").status == 0)
            let all = try await photos(street.hub).map(\.id)
            #expect(all.count == 2)
            for place in street.members { #expect(try await photos(place).map(\.id) == all) }
        }
    }

    private static let fakeTime = "/usr/lib/\(machine)-linux-gnu/faketime/libfaketime.so.1"

    private static var machine: String {
        #if arch(arm64)
            "aarch64"
        #else
            "x86_64"
        #endif
    }

    /// Starts the daemon so many hours from now. Without arguments: with a library in front of the C library, the runtime loses them.
    private func later(_ hours: Int, _ place: Installation) async throws {
        _ = try place.start(
            "smilepiled", [],
            with: [
                "LD_PRELOAD": Self.fakeTime, "FAKETIME": "+\(hours)h", "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                "STATE_DIRECTORY": place.library,
            ])
        // Nothing tells when it takes connections.
        try await poll(for: "a daemon on \(place.library)") { (try? place.client())?.close() != nil }
    }

    private func files(_ place: Installation) throws -> [String] {
        let folder = place.library + "/" + GroupPhoto.folder
        return try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".jpg") }
    }

    /// By the system's own clock: the machines are switched off, and on again a day and two days later.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: fakeTime), "libfaketime is not installed"))
    func afterTwoDaysNothingIsLeftAnywhere() async throws {
        try await withStreet(["Ben", "Cleo"]) { street in
            let places = [street.hub] + street.members
            try #require(try await street.members[0].smilepile("groups", "send", "1").status == 0)
            for place in street.members { #expect(try await place.smilepile("groups", "sync").status == 0) }
            for place in places { #expect(try await photos(place).count == 1 && files(place).count == 1) }
            for (hours, left) in [(47, 1), (49, 0)] {
                for place in places {
                    try #require(try await place.smilepile("down").status == 0)
                    try await later(hours, place)
                    #expect(try await photos(place).count == left, "after \(hours) hours")
                    #expect(try files(place).count == left, "after \(hours) hours")
                }
            }
        }
    }

    /// At every tenth of the picture, both ways: it is there once, whole, or not to be seen at all.
    @Test func aCutTransferIsTriedAgain() async throws {
        try await withStreet(["Ben"]) { street in
            let ben = street.members[0]
            let port = try #require(street.address.split(separator: ":").last.flatMap { UInt16($0) })
            let proxy = try CuttingProxy(to: port)
            let link = "http://127.0.0.1:\(proxy.port)/#join=\(street.token)"
            try #require(try await ben.smilepile("groups", "forget", street.address, "--yes").status == 0)
            try #require(try await ben.smilepile("groups", "join", link).status == 0)
            try #require(try await street.hub.smilepile("groups", "send", "1").status == 0)
            let sent = try #require(try await photos(street.hub).first)
            for tenth in 0..<10 {
                // Forgotten and joined anew, it has everything to fetch.
                try #require(
                    try await ben.smilepile("groups", "forget", "http://127.0.0.1:\(proxy.port)", "--yes").status == 0)
                proxy.cut(after: 1500 + Int(sent.fileSize) * tenth / 10)
                _ = try await ben.smilepile("groups", "join", link)
                for photo in try await photos(ben) where photo.localPath != nil {
                    #expect(photo.width == sent.width && photo.height == sent.height)
                }
                #expect(try await ben.smilepile("groups", "sync").status == 0)
                let there = try await photos(ben)
                #expect(there.map(\.id) == [sent.id] && there[0].localPath != nil && there[0].width == sent.width)
            }
            #expect(proxy.cutCount == 10)
            // The other way: an answer that is cut leaves open whether the photo arrived.
            proxy.cut(after: 20)
            try #require(try await ben.smilepile("groups", "send", "1").status == 0)
            _ = try await ben.smilepile("groups", "sync")
            #expect(try await ben.smilepile("groups", "sync").status == 0)
            #expect(try await photos(street.hub).count == 2)
            #expect(try await photos(ben).map(\.id) == photos(street.hub).map(\.id))
            await proxy.stop()
        }
    }

    /// A phone app of somebody else's making, in another language, with nothing of ours.
    @Test func aPhoneAppSpeaksToTheHub() async throws {
        try await withStreet(["Ben"]) { street in
            let script = street.hub.folder.file("phone.py")
            try Self.phone.write(toFile: script, atomically: true, encoding: .utf8)
            let pictures = street.hub.folder.file("album")
            let name = try #require(FileManager.default.contentsOfDirectory(atPath: pictures).sorted().first)
            let outcome = try await street.hub.run(
                "/usr/bin/env", ["python3", script, street.address, street.token, pictures + "/" + name])
            #expect(
                outcome.status == 0 && outcome.output.hasSuffix("all is well\n"), "\(outcome.output)\(outcome.errors)")
            #expect(try await photos(street.hub).map(\.senderName) == ["Ben"])
            let taken = try await street.hub.smilepile("groups", "remove", "Cousins", "Ben", "--yes")
            #expect(taken.status == 0, "\(taken.errors)")
            let refused = try await street.hub.run(
                "/usr/bin/env", ["python3", script, street.address, street.token, pictures + "/" + name])
            #expect(refused.status == 1 && refused.errors.contains("401"), "\(refused.errors)")
        }
    }

    private static let phone = #"""
        import json, sys, urllib.error, urllib.request, uuid

        base, token, picture = sys.argv[1:4]


        def ask(method, path, body=None, headers={}):
            request = urllib.request.Request(
                path if path.startswith("http") else base + path, data=body, method=method,
                headers={"Authorization": "Bearer " + token, **headers})
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:
                    return answer.status, answer.headers, answer.read()
            except urllib.error.HTTPError as error:
                return error.code, error.headers, error.read()


        def check(condition, *what):
            if not condition:
                print(*what, file=sys.stderr)
                sys.exit(1)


        status, headers, body = ask("GET", "/api/groups")
        check(status == 200, "groups:", status)
        groups = json.loads(body)
        check(len(groups) == 1 and groups[0]["name"] == "Cousins", body)
        group = groups[0]
        check(group["memberCount"] == 2 and len(group["members"]) == 2, body)
        check({member["firstName"] for member in group["members"]} == {"Ada", "Ben"}, body)
        check(group["hasSentToday"] is False and group.get("lastPhoto") is None, body)

        today = "/api/photos/" + group["id"] + "/today"
        status, headers, body = ask("GET", today)
        check(status == 200 and json.loads(body) == {"photos": []}, status, body)


        def send(key):
            boundary = uuid.uuid4().hex
            with open(picture, "rb") as file:
                content = file.read()
            form = ("--%s\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"IMG 1.jpg\"\r\n"
                    "Content-Type: image/jpeg\r\n\r\n" % boundary).encode() + content + ("\r\n--%s--\r\n" % boundary).encode()
            return ask("POST", "/api/photos/" + group["id"], form, {
                "Content-Type": "multipart/form-data; boundary=" + boundary, "Idempotency-Key": key})


        status, headers, body = send("first")
        check(status == 201, "send:", status, body)
        sent = json.loads(body)
        status, headers, body = send("first")
        check(status == 201 and json.loads(body)["id"] == sent["id"], "the same once more:", status, body)
        status, headers, body = send("second")
        check(status == 409, "a second one:", status, body)

        status, headers, body = ask("GET", today)
        photos = json.loads(body)["photos"]
        check([photo["id"] for photo in photos] == [sent["id"]], body)
        for key in ["id", "group_id", "sender_id", "sender_name", "url", "created_at", "expires_at"]:
            check(isinstance(photos[0][key], str), key, body)
        check(photos[0]["sender_name"] == "Ben" and photos[0]["group_id"] == group["id"], body)

        status, headers, body = ask("GET", photos[0]["url"])
        check(status == 200 and headers["Content-Type"] == "image/jpeg" and body[:3] == b"\xff\xd8\xff", status)
        check(b"Exif" not in body[:4096], "it has metadata")
        status, headers, part = ask("GET", photos[0]["url"], headers={"Range": "bytes=100-199"})
        check(status == 206 and part == body[100:200], "a part:", status)
        status, headers, body = ask("GET", "/api/groups")
        group = json.loads(body)[0]
        check(group["hasSentToday"] is True and group["lastPhoto"]["senderId"] == photos[0]["sender_id"], body)
        check(group["lastPhoto"]["timestamp"] == photos[0]["created_at"], body)
        status, headers, body = ask("GET", "/api/photos/" + str(uuid.uuid4()) + "/today")
        check(status == 404, "another group:", status)
        print("all is well")
        """#
}
