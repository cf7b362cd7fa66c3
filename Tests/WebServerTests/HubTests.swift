import Foundation
import ServiceMesh
import Testing

@testable import WebServer

/// What other machines ask of groups that are kept here.
@Suite struct HubTests {
    private let group = "0b7f6a52-3f0e-4c3e-9b1d-2f6d5a4c3b2a"
    private let photo = "0b7f6a52-3f0e-4c3e-9b1d-2f6d5a4c3b2b"
    private let token = "0123456789abcdefghijABCDEFGHIJ-_0123456789a"
    private let picture = (0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

    private var bearer: String { "Authorization: Bearer " + token }

    /// Another member's.
    private let second = "abcdefghij0123456789ABCDEFGHIJ-_0123456789b"

    private func invite(_ site: Site) {
        site.daemon.state.withLock { state in
            state.members = [token: group, second: group]
            state.groupPhotos[photo] = picture
        }
    }

    private func form(_ parts: [(head: String, body: [UInt8])], boundary: String = "xyz") -> [UInt8] {
        var bytes: [UInt8] = []
        for part in parts {
            bytes += Array("--\(boundary)\r\n\(part.head)\r\n\r\n".utf8) + part.body + Array("\r\n".utf8)
        }
        return bytes + Array("--\(boundary)--\r\n".utf8)
    }

    private let photoHead =
        "Content-Disposition: form-data; name=\"photo\"; filename=\"a.jpg\"\r\nContent-Type: image/jpeg"

    private func post(
        _ site: Site, _ body: [UInt8], _ headers: [String] = [], type: String = "multipart/form-data; boundary=xyz",
        by token: String? = nil
    ) async throws -> RawReply {
        let connection = try await site.connect()
        let head = site.request(
            "POST", "/api/photos/\(group)",
            ["Authorization: Bearer \(token ?? self.token)", "Content-Type: \(type)", "Content-Length: \(body.count)"]
                + headers)
        try await connection.send(Array(head.utf8) + body)
        return try await connection.reply()
    }

    @Test func groupsAndPhotosComeInTheirShape() async throws {
        try await withSite(names: ["photos.example"]) { site in
            invite(site)
            let groups = try await site.ask("GET", "/api/groups?utc_offset=-90", [bearer])
            #expect(groups.status == 200 && groups.header("cache-control") == "no-store")
            #expect(groups.text == "[{\"id\":\"\(group)\",\"name\":\"Cousins\",\"offset\":-90}]")
            let today = try await site.ask("GET", "/api/photos/\(group.uppercased())/today", [bearer])
            let own = "http://127.0.0.1:\(site.port)/api/photos/\(group)/\(photo)"
            #expect(today.text.contains("{\"photos\":[{") && today.text.contains("\"url\":\"\(own)\""))
            #expect(today.header("access-control-allow-origin") == nil)
            // Behind a proxy of this machine the address is the proxy's.
            let proxied = try await site.ask(
                "GET", "/api/photos/\(group)/today?unexpired=1",
                [bearer, "Host: photos.example", "X-Forwarded-Proto: https"])
            #expect(proxied.text.contains("\"url\":\"https://photos.example/api/photos/\(group)/\(photo)\""))
        }
    }

    @Test func reviewsGoBothWays() async throws {
        try await withSite { site in
            invite(site)
            let told = try await site.ask("GET", "/api/reviews?after=3.120.4", [bearer])
            #expect(told.status == 200 && told.text.contains("\"next\":\"3.120.4\""))
            #expect(told.header("cache-control") == "no-store")
            #expect(try await site.ask("GET", "/api/reviews", [bearer]).text.contains("\"next\":\"none\""))
            #expect(try await site.ask("GET", "/api/reviews?after=x", [bearer]).status == 400)
            #expect(try await site.ask("DELETE", "/api/reviews", [bearer]).status == 405)
            #expect(try await site.ask("GET", "/api/reviews").status == 401)
            func send(_ body: String, type: String = "application/json", count: Int? = nil) async throws -> RawReply {
                let connection = try await site.connect()
                let head = site.request(
                    "POST", "/api/reviews",
                    [bearer, "Content-Type: \(type)", "Content-Length: \(count ?? body.utf8.count)"])
                try await connection.send(Array((head + body).utf8))
                return try await connection.reply()
            }
            let taken = try await send("{\"sessions\":[]}")
            #expect(taken.status == 200 && taken.text == "{\"decisions\":1}")
            #expect(site.daemon.state.withLock { $0.sent.first?["changes"] } == ["sessions": []])
            #expect(try await send("nothing").status == 400)
            #expect(try await send("{}", type: "text/plain").status == 415)
            #expect(try await send("{}", count: 1 << 20).status == 413)
        }
    }

    @Test func aPictureComesWholeAndInParts() async throws {
        try await withSite { site in
            invite(site)
            let path = "/api/photos/\(group)/\(photo)"
            let whole = try await site.ask("GET", path, [bearer])
            #expect(whole.status == 200 && whole.body == picture && whole.header("content-type") == "image/jpeg")
            #expect(whole.header("cache-control") == "no-store" && whole.header("x-content-type-options") == "nosniff")
            let part = try await site.ask("GET", path, [bearer, "Range: bytes=10-19"])
            #expect(part.status == 206 && part.body == Array(picture[10..<20]))
            let tag = try #require(whole.header("etag"))
            #expect(try await site.ask("GET", path, [bearer, "If-None-Match: \(tag)"]).status == 304)
            let head = try await site.ask("HEAD", path, [bearer])
            #expect(head.status == 200 && head.header("content-length") == "50000")
            // Of another group it is none, whatever the daemon hands over.
            let other = "1b7f6a52-3f0e-4c3e-9b1d-2f6d5a4c3b2a"
            #expect(try await site.ask("GET", "/api/photos/\(other)/\(photo)", [bearer]).status == 404)
        }
    }

    @Test func nobodyComesInWithoutAToken() async throws {
        try await withSite { site in
            invite(site)
            let cookie = try await site.pair()
            for headers in [
                [], [cookie], ["Authorization: Bearer "], ["Authorization: Bearer short"],
                ["Authorization: Basic \(token)"],
                ["Authorization: Bearer \(String(token.reversed()))"], ["Authorization: Bearer \(token) x"],
            ] {
                let reply = try await site.ask("GET", "/api/groups", headers)
                #expect(reply.status == 401 && reply.header("www-authenticate") == "Bearer")
                #expect(!reply.text.contains("not valid"))
            }
            let twice = try await site.ask("GET", "/api/groups", [bearer, bearer])
            #expect(twice.status == 400)
            // A token is for /api and opens nothing else.
            #expect(
                try await site.ask(
                    "POST", "/rpc", ["Origin: \(site.origin)", "Content-Type: application/json", bearer],
                    body: "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"thing.echo\"}"
                ).status == 401)
        }
    }

    @Test func whoGuessesIsSlowedDown() async throws {
        var limits = HTTPLimits()
        limits.strangersAtOnce = 3
        limits.strangersPerSecond = 0.001
        try await withSite(limits: limits) { site in
            invite(site)
            // Whoever has a token is none of these, the first time too.
            for _ in 0..<6 { #expect(try await site.ask("GET", "/api/groups", [bearer]).status == 200) }
            var statuses: [Int] = []
            func guess(_ number: Int) async throws -> RawReply {
                let token = String(repeating: "\(number)", count: 43)
                return try await site.ask("GET", "/api/groups", ["Authorization: Bearer \(token)"])
            }
            for number in 0..<3 { statuses.append(try await guess(number).status) }
            let asked = site.daemon.calls.count
            for number in 3..<6 { statuses.append(try await guess(number).status) }
            #expect(statuses == [401, 401, 401, 429, 429, 429])
            // Nobody was asked about the last ones, nor is what they send taken in.
            let connection = try await site.connect()
            try await connection.send(
                site.request(
                    "POST", "/api/reviews",
                    [
                        "Authorization: Bearer \(String(repeating: "7", count: 43))", "Content-Type: application/json",
                        "Content-Length: 500000",
                    ]) + String(repeating: "[", count: 500_000))
            #expect(try await connection.reply().status == 429)
            #expect(site.daemon.calls.count == asked)
            #expect(try await site.ask("GET", "/api/groups", [bearer]).status == 200)
            // One that is worth nothing any more is a stranger's from then on.
            site.daemon.state.withLock { $0.members[token] = nil }
            for _ in 0..<2 { #expect(try await site.ask("GET", "/api/groups", [bearer]).status == 429) }
            #expect(site.daemon.calls.count == asked + 2)
        }
    }

    @Test func tokensAreKnownForAWhile() {
        let tokens = KnownTokens()
        #expect(tokens.insert("a", now: 5) && !tokens.insert("a", now: 6))
        #expect(tokens.contains("a", now: 5 + KnownTokens.lifetime) && !tokens.contains("b", now: 5))
        #expect(!tokens.contains("a", now: 6 + KnownTokens.lifetime))
        #expect(tokens.insert("a", now: 6 + KnownTokens.lifetime))
        #expect(tokens.remove("a") && !tokens.remove("a") && !tokens.contains("a", now: 7 + KnownTokens.lifetime))
        // They are few, whoever asks.
        for number in 0..<5_000 { _ = tokens.insert("\(number)", now: 1) }
        #expect(!tokens.contains("0", now: 1) && tokens.contains("4999", now: 1))
    }

    @Test func whatIsNoAddressIsNotAskedFor() async throws {
        try await withSite { site in
            invite(site)
            for path in [
                "/api/", "/api/x", "/api/groups/", "/api/photos", "/api/photos/../etc/today", "/api/photos/x/today",
                "/api/photos/\(group)/..", "/api/photos/\(group)/x", "/api/photos/\(group)/\(photo)/x",
                "/api/groups/\(group)/members/\(photo)",
            ] {
                let reply = try await site.ask("GET", path, [bearer])
                #expect(reply.status == 404, "\(path)")
            }
            let asked = site.daemon.calls.filter { $0.hasPrefix("hub.") }
            #expect(asked.isEmpty)
            #expect(try await site.ask("POST", "/api/groups", [bearer], body: "x").header("allow") == "GET")
            #expect(try await site.ask("GET", "/api/groups?utc_offset=1e9", [bearer]).status == 400)
            #expect(try await site.ask("GET", "/api/groups", [bearer, "Host: elsewhere.example"]).status == 421)
        }
    }

    @Test func aPictureIsSent() async throws {
        try await withSite { site in
            invite(site)
            let parts: [(String, [UInt8])] = [
                ("Content-Disposition: form-data; name=\"age_ms\"", Array("1500".utf8)),
                ("content-disposition: form-data; name=utc_offset", Array("-60".utf8)),
                (photoHead, picture),
            ]
            let reply = try await post(site, form(parts), ["Idempotency-Key: \(photo)"])
            let own = "http://127.0.0.1:\(site.port)/api/photos/\(group)/\(photo)"
            #expect(reply.status == 201 && reply.header("location") == own)
            #expect(reply.text.contains("\"url\":\"\(own)\""))
            let (sent, received) = site.daemon.state.withLock { ($0.sent, $0.received) }
            #expect(sent.count == 1 && sent[0]["key"] == .string(photo) && sent[0]["ageMs"] == .integer(1500))
            #expect(sent[0]["utcOffset"] == .integer(-60) && sent[0]["groupId"] == .string(group))
            let path = try #require(received[sent[0]["upload"]?.stringValue ?? ""])
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(picture))
            let again = try await post(site, form([(photoHead, picture)]))
            #expect(again.status == 409 && again.errorStatus == "already_exists")
        }
    }

    @Test func whatIsNoPictureIsRefusedBeforeTheDaemonSeesIt() async throws {
        var limits = HTTPLimits()
        limits.pictureBytes = 60_000
        try await withSite(limits: limits) { site in
            invite(site)
            #expect(try await post(site, form([(photoHead, picture)]), type: "image/jpeg").status == 415)
            #expect(try await post(site, form([(photoHead, [])])).status == 400)
            #expect(try await post(site, form([(photoHead, picture), (photoHead, [1])])).status == 400)
            #expect(
                try await post(site, form([("Content-Disposition: form-data; name=\"photo\"", [1, 2])])).status == 400)
            #expect(try await post(site, Array("nothing".utf8)).status == 400)
            let large = try await site.ask(
                "POST", "/api/photos/\(group)",
                [bearer, "Content-Type: multipart/form-data; boundary=xyz", "Content-Length: 1000000000"])
            #expect(large.status == 413)
            let chunked = try await site.ask(
                "POST", "/api/photos/\(group)", [bearer, "Transfer-Encoding: chunked"])
            #expect(chunked.status == 411)
            #expect(site.daemon.state.withLock { $0.received.isEmpty && $0.sent.isEmpty })
        }
    }

    @Test func onlyFewPicturesAreInMemoryAtOnce() async throws {
        var limits = HTTPLimits()
        limits.picturesAtOnce = 1
        try await withSite(limits: limits) { site in
            invite(site)
            let body = form([(photoHead, picture)])
            let slow = try await site.connect()
            try await slow.send(Array(announcement(site, body.count).utf8) + body.prefix(1000))
            // Its receiver has its room once the daemon has been asked for it.
            await site.daemon.called.meets { $0.contains("hub.photos") }
            let other = try await post(site, body, by: second)
            #expect(other.status == 503 && other.header("retry-after") == "1")
            try await slow.send(Array(body.dropFirst(1000)))
            #expect(try await slow.reply().status == 201)
            #expect(try await post(site, body).status == 409)
        }
    }

    @Test func oneMemberKeepsNoOtherFromSending() async throws {
        var limits = HTTPLimits()
        limits.picturesAtOnce = 2
        try await withSite(limits: limits) { site in
            invite(site)
            let body = form([(photoHead, picture)])
            let slow = try await site.connect()
            try await slow.send(Array(announcement(site, body.count).utf8) + body.prefix(1000))
            await site.daemon.called.meets { $0.contains("hub.photos") }
            for _ in 0..<3 {
                let again = try await post(site, body)
                #expect(again.status == 429 && again.header("retry-after") == "1")
            }
            #expect(try await post(site, body, by: second).status == 201)
            try await slow.send(Array(body.dropFirst(1000)))
            // It was taken, if too late for the fake.
            #expect(try await slow.reply().status == 409)
        }
    }

    /// However long it goes on sending a little.
    @Test func aPictureThatComesTooSlowlyGivesItsRoomBack() async throws {
        var limits = HTTPLimits()
        limits.picturesAtOnce = 1
        limits.pictureSeconds = 1
        try await withSite(limits: limits) { site in
            invite(site)
            let slow = try await site.connect()
            try await slow.send(announcement(site, 16 << 20))
            do {
                while true { try await slow.send([0]) }
            } catch {
                // The server has closed it.
            }
            let body = form([(photoHead, picture)])
            var reply = try await post(site, body, by: second)
            // The room is given back a moment after the client learns of it.
            while reply.status == 503 { reply = try await post(site, body, by: second) }
            #expect(reply.status == 201)
        }
    }

    /// A request's head, of a picture of so many bytes.
    private func announcement(_ site: Site, _ count: Int) -> String {
        site.request(
            "POST", "/api/photos/\(group)",
            [bearer, "Content-Type: multipart/form-data; boundary=xyz", "Content-Length: \(count)"])
    }

    @Test func aDaemonThatIsAwayComesBack() async throws {
        try await withSite { site in
            invite(site)
            #expect(try await site.ask("GET", "/api/groups", [bearer]).status == 200)
            site.daemon.stop()
            #expect(try await site.ask("GET", "/api/groups", [bearer]).status == 503)
            site.daemon.start()
            #expect(try await site.ask("GET", "/api/groups", [bearer]).status == 200)
            let left = try await site.ask("DELETE", "/api/groups/\(group)/members/me", [bearer])
            #expect(left.status == 204)
            #expect(try await site.ask("GET", "/api/groups", [bearer]).status == 401)
        }
    }
}
