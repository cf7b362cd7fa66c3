import Foundation
import ServiceMesh
import Testing

@testable import WebServer

/// `/dav/`: what a program with a device's password may do, and what nobody may.
@Suite(.timeLimit(.minutes(2))) struct DAVTests {
    private static let password = "7k3m-aaaa-bbbb-cccc-dddd-eeee-ffff"

    private static func authorization(_ password: String = password) -> String {
        "Authorization: Basic " + Data("smilepile:\(password)".utf8).base64EncodedString()
    }

    private func withProgram(
        limits: HTTPLimits = HTTPLimits(), _ body: (Site) async throws -> Void
    ) async throws {
        try await withSite(limits: limits) { site in
            site.daemon.state.withLock { $0.programs[Self.password] = SentFiles() }
            try await body(site)
        }
    }

    private func sent(_ site: Site) throws -> SentFiles {
        try #require(site.daemon.state.withLock { $0.programs[Self.password] })
    }

    private func ask(
        _ site: Site, _ method: String, _ target: String, _ headers: [String] = [], body: String = ""
    ) async throws -> RawReply {
        try await site.ask(method, target, [Self.authorization()] + headers, body: body)
    }

    /// An answer of which nobody knew how long it gets, without its chunks' sizes.
    private func properties(_ site: Site, _ target: String, _ depth: String) async throws -> (Int, String) {
        let connection = try await site.connect()
        try await connection.send(
            site.request("PROPFIND", target, [Self.authorization(), "Depth: \(depth)"]))
        let head = try await connection.head()
        guard head.header("transfer-encoding") == "chunked" else { return (head.status, "") }
        let rest = try await connection.read(until: "\r\n0\r\n\r\n")
        let lines = rest.split(separator: "\r\n", omittingEmptySubsequences: false).enumerated()
        return (head.status, lines.filter { $0.offset % 2 == 1 }.map { String($0.element) }.joined())
    }

    @Test func whoHasNoPasswordIsToldWhereToGetOne() async throws {
        try await withProgram { site async throws in
            for headers in [
                [], ["Authorization: Bearer x"], ["Authorization: Basic %%%"], ["Authorization: Basic eA=="],
            ] {
                let reply = try await site.ask("PROPFIND", "/dav/", headers + ["Depth: 0"])
                #expect(reply.status == 401 && reply.header("www-authenticate")?.hasPrefix("Basic realm=") == true)
            }
            // Nobody was asked.
            #expect(!site.daemon.calls.contains { $0.hasPrefix("dav.") })
            let wrong = try await site.ask("PROPFIND", "/dav/", [Self.authorization("wrong"), "Depth: 0"])
            #expect(wrong.status == 401 && wrong.header("www-authenticate") != nil)
            // Elsewhere the header is nobody's.
            #expect(try await ask(site, "GET", "/photos/x/y").status == 401)
            #expect(try await ask(site, "PUT", "/upload/x").status == 405)
            #expect(try await ask(site, "PROPFIND", "/", ["Depth: 0"]).status == 405)
        }
    }

    @Test func whoGuessesHasFewTries() async throws {
        var limits = HTTPLimits()
        (limits.strangersPerSecond, limits.strangersAtOnce) = (0.001, 3)
        try await withProgram(limits: limits) { site async throws in
            for number in 0..<3 {
                let reply = try await site.ask("PROPFIND", "/dav/", [Self.authorization("x\(number)"), "Depth: 0"])
                #expect(reply.status == 401)
            }
            #expect(try await site.ask("PROPFIND", "/dav/", [Self.authorization("x4"), "Depth: 0"]).status == 429)
            #expect(site.daemon.calls.count { $0 == "dav.list" } == 3)
        }
    }

    @Test func whoIsKnownIsNoStranger() async throws {
        var limits = HTTPLimits()
        (limits.strangersPerSecond, limits.strangersAtOnce) = (0.001, 2)
        try await withProgram(limits: limits) { site async throws in
            for _ in 0..<5 { #expect(try await ask(site, "HEAD", "/dav/").status == 200) }
            // A password that ends is a stranger's, and is told so.
            site.daemon.state.withLock { $0.programs = [:] }
            #expect(try await ask(site, "HEAD", "/dav/").status == 401)
        }
    }

    @Test func itSaysWhatItCan() async throws {
        try await withProgram { site async throws in
            let reply = try await site.ask("OPTIONS", "/dav/")
            #expect(reply.status == 200 && reply.header("dav") == "1")
            #expect(reply.header("allow") == "OPTIONS, PROPFIND, GET, HEAD, PUT, MKCOL, MOVE")
        }
    }

    @Test func aFileIsSentTakenAndThere() async throws {
        try await withProgram { site async throws in
            #expect(try await ask(site, "MKCOL", "/dav/Gr%C3%B6%C3%9Fe").status == 201)
            #expect(try await ask(site, "MKCOL", "/dav/Gr%C3%B6%C3%9Fe/").status == 405)
            #expect(try await ask(site, "MKCOL", "/dav/none/below").status == 409)
            let place = "/dav/Gr%C3%B6%C3%9Fe/a%20%26%20b.jpg"
            let reply = try await ask(site, "PUT", place, ["X-OC-Mtime: 1560340800.5"], body: "12345")
            #expect(reply.status == 201 && reply.header("x-oc-mtime") == "accepted")
            #expect(reply.header("last-modified") == "Wed, 12 Jun 2019 12:00:00 GMT")
            let head = try await ask(site, "HEAD", place)
            #expect(head.status == 200 && head.header("content-length") == "5")
            #expect(head.header("etag") == reply.header("etag"))
            let got = try await ask(site, "GET", place)
            #expect(got.status == 200 && got.text == "12345" && got.header("etag") == head.header("etag"))
            let part = try await ask(site, "GET", place, ["Range: bytes=1-2"])
            #expect(part.status == 206 && part.text == "23")
            #expect(try await ask(site, "PUT", place, ["X-OC-Mtime: nonsense"], body: "678").status == 204)
            #expect(try await ask(site, "PUT", place, ["If-None-Match: *"], body: "678").status == 412)
            #expect(try await ask(site, "PUT", "/dav/none/c.jpg", body: "1").status == 409)
            #expect(try await ask(site, "PUT", "/dav/Gr%C3%B6%C3%9Fe", body: "1").status == 405)
            let (status, text) = try await properties(site, "/dav/Gr%C3%B6%C3%9Fe/", "1")
            #expect(status == 207)
            #expect(text.contains("<D:href>/dav/Gr%C3%B6%C3%9Fe/</D:href>"))
            #expect(text.contains("<D:href>\(place)</D:href>"))
            #expect(text.contains("<D:displayname>a &amp; b.jpg</D:displayname>"))
            #expect(text.contains("<D:getcontentlength>3</D:getcontentlength>"))
            #expect(try await properties(site, place, "0").1.contains("<D:getcontentlength>3"))
            #expect(try await properties(site, "/dav/none", "0").0 == 404)
            #expect(try sent(site).begunCount == 0)
        }
    }

    @Test(arguments: [("unsupported", 415), ("passed_over", 415), ("damaged", 422), ("too_large", 413)])
    func whatIsNoPhotoIsNotTaken(outcome: String, status: Int) async throws {
        try await withProgram { site async throws in
            site.daemon.state.withLock { $0.programs[Self.password]?.refused = ["note.txt": outcome] }
            #expect(try await ask(site, "PUT", "/dav/note.txt", body: "x").status == status)
            #expect(try await ask(site, "HEAD", "/dav/note.txt").status == 404)
        }
    }

    @Test func aFileIsSentUnderAnotherNameFirst() async throws {
        try await withProgram { site async throws in
            for name in ["a.jpg.part", "b.jpg"] {
                #expect(try await ask(site, "PUT", "/dav/\(name)", body: "1").status == 201)
            }
            let there = "Destination: \(site.origin)/dav/a.jpg"
            #expect(try await ask(site, "MOVE", "/dav/a.jpg.part", [there]).status == 201)
            #expect(try await ask(site, "MOVE", "/dav/a.jpg.part", [there]).status == 404)
            let onto = "Destination: /dav/b.jpg"
            #expect(try await ask(site, "MOVE", "/dav/a.jpg", [onto, "Overwrite: F"]).status == 412)
            #expect(try await ask(site, "MOVE", "/dav/a.jpg", [onto, "Overwrite: T"]).status == 204)
            #expect(try sent(site).names == ["b.jpg"])
            for destination in ["http://elsewhere/dav/x", "/photos/x", "/dav/../x", "/dav/a%2Fb", "/dav/x?y"] {
                let reply = try await ask(site, "MOVE", "/dav/b.jpg", ["Destination: \(destination)"])
                #expect([400, 403, 502].contains(reply.status), "\(destination)")
            }
            #expect(try await ask(site, "MOVE", "/dav/b.jpg").status == 400)
            #expect(try sent(site).names == ["b.jpg"])
        }
    }

    @Test func nothingGoesAndNothingIsLocked() async throws {
        try await withProgram { site async throws in
            #expect(try await ask(site, "PUT", "/dav/a.jpg", body: "1").status == 201)
            for (method, status) in [
                ("DELETE", 403), ("COPY", 403), ("PROPPATCH", 403), ("LOCK", 405), ("UNLOCK", 405), ("POST", 405),
            ] {
                #expect(
                    try await ask(site, method, "/dav/a.jpg", ["Destination: /dav/b.jpg"]).status == status, "\(method)"
                )
            }
            #expect(try sent(site).names == ["a.jpg"])
        }
    }

    @Test(arguments: [
        "/dav/..", "/dav/../a.jpg", "/dav/%2e%2e/a.jpg", "/dav/a%2fb.jpg", "/dav/a%00.jpg", "/dav/%0d%0a",
        "/dav/%ff.jpg",
        "/dav/%zz", "/dav/./a.jpg",
    ])
    func whatIsNoNameIsRefusedBeforeAnybodyIsAsked(_ target: String) async throws {
        try await withProgram { site async throws in
            for method in ["PUT", "GET", "MKCOL"] {
                #expect(
                    try await ask(site, method, target, body: method == "PUT" ? "1" : "").status == 400, "\(method)")
            }
            #expect(!site.daemon.calls.contains { $0.hasPrefix("dav.") })
        }
    }

    @Test func aNameOfTenThousandCharactersIsTooLong() async throws {
        try await withProgram { site async throws in
            let target = "/dav/" + String(repeating: "a", count: 10_000)
            #expect(try await ask(site, "PUT", target, body: "1").status == 414)
        }
    }

    @Test(arguments: ["", "Depth: infinity", "Depth: 2"]) func onlyOneFloorIsListed(_ header: String) async throws {
        try await withProgram { site async throws in
            let reply = try await ask(site, "PROPFIND", "/dav/", header.isEmpty ? [] : [header])
            #expect(reply.status == 403 && reply.text.contains("propfind-finite-depth"))
        }
    }

    @Test func aQuestionIsNotReadAndNotLarge() async throws {
        try await withProgram { site async throws in
            let bomb = "<?xml version=\"1.0\"?><!DOCTYPE x [<!ENTITY a \"&a;&a;\">]><x>&a;</x>"
            let reply = try await ask(site, "PROPFIND", "/dav/", ["Depth: 0"], body: bomb)
            #expect(reply.status == 207)
            let large = String(repeating: "x", count: 65_537)
            #expect(try await ask(site, "PROPFIND", "/dav/", ["Depth: 0"], body: large).status == 413)
        }
    }

    @Test func aFolderOfManyFilesIsToldPageByPage() async throws {
        try await withProgram { site async throws in
            let names = (0..<3_001).map { "img-\($0).jpg" }
            site.daemon.state.withLock { state in
                state.programs[Self.password]?.add(names)
                state.programs[Self.password]?.page = 1_000
            }
            let (status, text) = try await properties(site, "/dav/", "1")
            #expect(status == 207 && text.hasSuffix("</D:multistatus>\n"))
            #expect(text.components(separatedBy: "<D:response>").count - 1 == names.count + 1)
            #expect(site.daemon.calls.count { $0 == "dav.list" } == 4)
        }
    }

    /// A client that took what it has for all of it would delete what it does not see.
    @Test func aListThatBreaksOffHasNoEnd() async throws {
        try await withProgram { site async throws in
            let pages = PagedBody(first: Array("one".utf8)) { throw MeshError(.unavailable, "away") }
            var room = [UInt8](repeating: 0, count: 8)
            let (woken, wake) = AsyncStream.makeStream(of: Void.self)
            func read() -> PagedBody.Reading {
                room.withUnsafeMutableBytes { room in pages.read(into: room) { { wake.yield() } } }
            }
            #expect(read() == .bytes(3))
            #expect(read() == .nothing)
            for await _ in woken { break }
            #expect(read() == .broken)
        }
    }

    @Test func abandonedFilesAreGivenUp() async throws {
        try await withProgram { site async throws in
            let connection = try await site.connect()
            try await connection.send(
                site.request("PUT", "/dav/a.jpg", [Self.authorization(), "Content-Length: 10", "Expect: 100-continue"]))
            #expect(try await connection.head().status == 100)
            try await connection.send("01234")
            connection.cut()
            await site.daemon.called.meets { $0.contains("dav.discard") }
            #expect(try sent(site).names.isEmpty)
        }
    }

    @Test func lengthsAreSaidAndTrue() async throws {
        try await withProgram { site async throws in
            #expect(try await ask(site, "PUT", "/dav/a.jpg").status == 411)
            #expect(try await ask(site, "PUT", "/dav/a.jpg", ["Transfer-Encoding: chunked"]).status == 411)
            #expect(try await ask(site, "PUT", "/dav/a.jpg", ["Content-Length: 1x"]).status == 400)
            #expect(try await ask(site, "PUT", "/dav/a.jpg", ["Content-Length: 18446744073709551615"]).status == 413)
            #expect(try await ask(site, "PUT", "/dav/a.jpg", ["Content-Range: bytes 0-1/2"], body: "12").status == 400)
            #expect(try await ask(site, "PUT", "/dav/", body: "1").status == 405)
            #expect(try sent(site).names.isEmpty)
        }
    }

    @Test func aDiskWithoutRoomIsSaidBeforeTheBytes() async throws {
        try await withProgram { site async throws in
            site.daemon.state.withLock { $0.room = 4 }
            #expect(try await ask(site, "PUT", "/dav/a.jpg", body: "12345").status == 507)
            #expect(try sent(site).discarded == 1)
        }
    }

    @Test func anotherPageLeadsNoBrowserHere() async throws {
        try await withProgram { site async throws in
            for header in ["Origin: https://elsewhere.example", "Sec-Fetch-Site: cross-site"] {
                #expect(try await ask(site, "PUT", "/dav/a.jpg", [header], body: "1").status == 403)
                #expect(try await ask(site, "OPTIONS", "/dav/", [header]).status == 403)
            }
            #expect(try sent(site).names.isEmpty)
        }
    }

    @Test func datesAreHTTPs() {
        #expect(HTTPDate.text(Timestamp(milliseconds: 784_111_777_999)) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.text(Timestamp(milliseconds: -1)) == "Thu, 01 Jan 1970 00:00:00 GMT")
        #expect(HTTPDate.text(Timestamp(milliseconds: .max)) == "Fri, 31 Dec 9999 23:59:59 GMT")
    }
}
