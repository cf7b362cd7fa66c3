import Foundation
import ServiceMesh
import Testing
import WebPage

@testable import WebServer

/// `/s/TOKEN`: what somebody with a link gets, and somebody without one does not.
@Suite struct LinkRouteTests {
    private let token = "0123456789abcdefghijABCDEFGHIJ-_"
    private let photo = "0b7f6a52-3f0e-4c3e-9b1d-2f6d5a4c3b2b"
    private let picture = (0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

    private func share(_ site: Site, password: String? = nil, size: Int? = nil) {
        let bytes = size.map { [UInt8](repeating: 7, count: $0) } ?? picture
        site.daemon.state.withLock { state in
            state.links[token] = FakeDaemon.Link(
                id: "link-1", password: password,
                pictures: [
                    photo + "/preview": bytes, photo + "/photo": Array(bytes.reversed()), photo + "/film": bytes,
                ])
        }
    }

    private func open(
        _ site: Site, _ body: String = "{}", token: String? = nil, _ headers: [String] = []
    ) async throws -> RawReply {
        try await site.ask(
            "POST", "/s/\(token ?? self.token)/open",
            ["Origin: \(site.origin)", "Content-Type: application/json"] + headers, body: body)
    }

    private func reason(_ reply: RawReply) -> String? { reply.error?["data"]?["link"]?.stringValue }

    @Test func thePageIsTheSameForEveryTokenAndLedToFromEverywhere() async throws {
        try await withSite(files: PageFiles.all) { site in
            let page = try await site.ask("GET", "/s/\(token)", ["Sec-Fetch-Site: cross-site"])
            #expect(page.status == 200 && page.header("content-type") == "text/html; charset=utf-8")
            #expect(page.header("x-robots-tag") == "noindex, nofollow")
            #expect(page.header("referrer-policy") == "no-referrer")
            #expect(page.header("content-security-policy")?.contains("default-src 'self'") == true)
            #expect(try await site.ask("GET", "/s/x").body == page.body)
            #expect(try await site.ask("POST", "/s/\(token)").status == 405)
            for path in ["/s", "/s/", "/s//open", "/s/\(token)/", "/s/\(token)/x", "/s/\(token)/photos/\(photo)"] {
                #expect([401, 404].contains(try await site.ask("GET", path).status), "\(path)")
            }
            // Nobody was asked.
            #expect(!site.daemon.calls.contains { $0.hasPrefix("link.") })
        }
    }

    @Test func itIsSmallEnoughForAnOldPhone() {
        let files = PageFiles.all.filter { $0.path.hasPrefix("/assets/link/") }
        #expect(files.count == 4)
        let bytes = files.reduce(0) { $0 + ($1.compressed ?? $1.bytes).buffer.count }
        #expect(bytes < 15_000, "\(bytes)")
        // What came after 2015 is a mistake there: the whole page stays empty.
        let script = files.first { $0.path.hasSuffix("/link.js") }.map {
            String(decoding: $0.bytes.buffer, as: UTF8.self)
        }
        for word in ["=>", "`", "const ", "let ", "async ", "?.", "??", "class ", "import ", "fetch("] {
            #expect(script?.contains(word) == false, "\(word)")
        }
    }

    @Test func aVisitorOpensItAndGetsItsPhotos() async throws {
        try await withSite { site in
            share(site)
            let opened = try await open(site)
            #expect(opened.status == 200 && opened.text == "{\"photoCount\":1}")
            let cookie = try #require(opened.header("set-cookie"))
            #expect(
                cookie
                    == "smilepile-visit=visit_0123456789abcdef; Path=/s/\(token); HttpOnly; SameSite=Strict; Max-Age=86400"
            )
            let visit = "Cookie: smilepile-visit=visit_0123456789abcdef"
            let list = try await site.ask("GET", "/s/\(token)/photos?after=a.b", [visit])
            #expect(list.text == "{\"after\":\"a.b\",\"photos\":[{\"uuid\":\"a\"}]}")
            #expect(list.header("cache-control") == "no-store")
            #expect(site.daemon.state.withLock { $0.visited.last?["visit"] } == "visit_0123456789abcdef")

            let path = "/s/\(token)/photos/\(photo.uppercased())/preview"
            let small = try await site.ask("GET", path, [visit, "Accept: image/avif,image/webp,*/*"])
            #expect(small.status == 200 && small.body == picture && small.header("content-type") == "image/webp")
            #expect(small.header("cache-control") == "private, no-cache" && small.header("vary") == "Accept")
            let tag = try #require(small.header("etag"))
            let again = try await site.ask("GET", path, [visit, "Accept: image/webp", "If-None-Match: \(tag)"])
            #expect(again.status == 304)
            // An old phone's gets one that it can show.
            let old = try await site.ask("GET", path, [visit, "Accept: image/png,image/*;q=0.8,*/*;q=0.5"])
            #expect(old.body == Array(picture.reversed()) && old.header("content-type") == "image/jpeg")
            let saved = try await site.ask("GET", "/s/\(token)/photos/\(photo)/photo?download=1")
            #expect(saved.header("content-disposition")?.contains("photo-0b7f6a52.jpg") == true)
            let part = try await site.ask("GET", "/s/\(token)/photos/\(photo)/film", ["Range: bytes=10-19"])
            #expect(part.status == 206 && part.body == Array(picture[10..<20]))
            #expect(try await site.ask("GET", "/s/\(token)/photos/\(photo)/original").status == 403)
            #expect(try await site.ask("GET", "/s/\(token)/photos/\(photo)/secret").status == 404)
            let other = "1b7f6a52-3f0e-4c3e-9b1d-2f6d5a4c3b2a"
            #expect(try await site.ask("GET", "/s/\(token)/photos/\(other)/preview").status == 404)
            // Nothing of the house is to be had with it.
            for path in ["/photos/\(photo)/photo", "/whereabouts", "/events?observe=x"] {
                #expect(try await site.ask("GET", path, [visit]).status == 401)
            }
        }
    }

    @Test func othersPagesOpenNothing() async throws {
        try await withSite { site in
            share(site)
            let foreign = try await site.ask(
                "POST", "/s/\(token)/open", ["Origin: https://evil.example", "Content-Type: application/json"],
                body: "{}")
            #expect(foreign.status == 403)
            #expect(try await site.ask("POST", "/s/\(token)/open", body: "{}").status == 403)
            let inside = try await site.ask(
                "GET", "/s/\(token)/photos/\(photo)/preview", ["Sec-Fetch-Site: cross-site"])
            #expect(inside.status == 403)
            #expect(try await open(site, "nothing").status == 400)
            #expect(
                try await open(site, "{\"password\":\"" + String(repeating: "x", count: 5_000) + "\"}").status == 413)
            #expect(
                try await site.ask(
                    "POST", "/s/\(token)/open", ["Origin: \(site.origin)", "Content-Type: text/plain"], body: "{}"
                )
                .status == 415)
        }
    }

    @Test func whatHasEndedSaysSo() async throws {
        try await withSite { site in
            share(site)
            site.daemon.state.withLock { $0.links[token]?.end = "expired" }
            let expired = try await open(site)
            #expect(expired.status == 410 && reason(expired) == "expired")
            site.daemon.state.withLock { $0.links[token]?.end = "revoked" }
            for path in ["photos", "photos/\(photo)/preview"] {
                let reply = try await site.ask("GET", "/s/\(token)/\(path)")
                #expect(reply.status == 410 && reason(reply) == "revoked")
            }
            let unknown = try await open(site, token: String(token.reversed()))
            #expect(unknown.status == 404 && reason(unknown) == "unknown")
            let short = try await open(site, token: "short")
            #expect(short.status == 404 && reason(short) == "unknown")
        }
    }

    @Test func aPasswordIsAskedFor() async throws {
        try await withSite { site in
            share(site, password: "sesame")
            let locked = try await open(site)
            #expect(locked.status == 401 && reason(locked) == "password")
            let wrong = try await open(site, "{\"password\":\"guess\"}")
            #expect(wrong.status == 401 && reason(wrong) == "wrong")
            #expect(wrong.error?["data"]?["retryAfterMs"] == 30_000)
            #expect(wrong.header("set-cookie") == nil)
            #expect(try await open(site, "{\"password\":\"sesame\"}").status == 200)
        }
    }

    @Test func guessesAreFewAndKeepNobodyOutWhoIsIn() async throws {
        var limits = HTTPLimits()
        (limits.strangersPerSecond, limits.strangersAtOnce) = (0.001, 5)
        try await withSite(limits: limits) { site in
            share(site)
            let cookie = try await site.pair()
            #expect(try await open(site).status == 200)
            var statuses: [Int] = []
            for number in 0..<9 {
                let guess = "guess-0123456789abcdefghij-\(number)"
                statuses.append(try await site.ask("GET", "/s/\(guess)/photos").status)
            }
            #expect(statuses == [404, 404, 404, 404, 404, 429, 429, 429, 429])
            // Who has the link goes on, and so do browsers of the house.
            #expect(try await site.ask("GET", "/s/\(token)/photos").status == 200)
            #expect(
                try await site.rpc(cookie, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"thing.echo\"}").status == 200)
            #expect(try await open(site).status == 429)
        }
    }

    @Test func aRevokedLinksDownloadsAreCut() async throws {
        try await withSite { site in
            // More than the buffers of both sides hold.
            let size = 32 << 20
            share(site, size: size)
            await site.daemon.toldLinks.arrivals(1)
            let slow = try await site.connect()
            try await slow.send(site.request("GET", "/s/\(token)/photos/\(photo)/film"))
            #expect(try await slow.head().status == 200)
            // The server knows of the link that it is open, and then that it is not any more.
            site.daemon.revoke(token + "x")
            await site.daemon.toldLinks.arrivals(2)
            site.daemon.revoke(token)
            await site.daemon.toldLinks.arrivals(3)
            let rest = try await slow.rest()
            #expect(rest.utf8.count < size)
            #expect(try await site.ask("GET", "/s/\(token)/photos/\(photo)/film").status == 410)
        }
    }
}
