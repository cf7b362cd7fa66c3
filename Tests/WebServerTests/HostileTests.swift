import Foundation
import ServiceMesh
import Synchronization
import Testing
import WebPage

@testable import WebServer

/// Clients that are no browsers.
@Suite(.serialized) struct HostileTests {
    @Test func aRequestThatIsCutAnywhereHarmsNobody() async throws {
        try await withSite(files: PageFiles.all) { site in
            let cookie = try await site.pair()
            let whole = Array(
                site.request(
                    "POST", "/rpc", ["Origin: \(site.origin)", "Content-Type: application/json", cookie],
                    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"thing.echo\",\"params\":{}}"
                ).utf8)
            for count in stride(from: 1, to: whole.count, by: 7) {
                let connection = try await site.connect()
                try await connection.send(Array(whole[..<count]))
                connection.cut()
            }
            #expect(try await site.ask("GET", "/").status == 200)
        }
    }

    /// What a proxy in front might take for another request.
    @Test func linesThatEndInLFAndTargetsWithNULAreRefused() async throws {
        try await withSite(files: PageFiles.all) { site in
            let host = "Host: \(site.origin.split(separator: "/").last ?? "")"
            func ask(_ request: String) async throws -> String {
                let connection = try await site.connect()
                try await connection.send(Array(request.utf8))
                return try await connection.rest()
            }
            let end = "\r\nConnection: close\r\n\r\n"
            #expect(try await ask("GET /?a=%C3%A9 HTTP/1.1\r\n\(host)\(end)").hasPrefix("HTTP/1.1 200"))
            for request in [
                "GET /\0 HTTP/1.1\r\n\(host)\(end)", "GET /\0?x HTTP/1.1\r\n\(host)\(end)",
                "GET /?x\0y HTTP/1.1\r\n\(host)\(end)", "GET / HTTP/1.1\n\(host)\(end)",
                "GET / HTTP/1.1\r\n\(host)\nX-One: 1\(end)", "GET / HTTP/1.1\r\n\(host)\r\nX-One: 1\nX-Two: 2\(end)",
                "GET / HTTP/1.1\r\n\(host)\r\nX-One: 1\0 \(end)",
                "GET / HTTP/1.1\n\(host)\nConnection: close\n\n",
            ] {
                let reply = try await ask(request)
                #expect(reply.hasPrefix("HTTP/1.1 400"), "\(request.debugDescription): \(reply.prefix(60))")
            }
        }
    }

    @Test func aRequestThatComesByteByByteIsClosedInTime() async throws {
        var limits = HTTPLimits()
        limits.headSeconds = 1
        try await withSite(limits: limits, files: PageFiles.all) { site in
            let slow = try await site.connect()
            try await slow.send("GET / HT")
            // Closed by the server: nothing ever comes.
            #expect(try await slow.rest() == "")
            #expect(try await site.ask("GET", "/").status == 200)
        }
    }

    @Test func aBodyThatNeverEndsIsClosedInTime() async throws {
        var limits = HTTPLimits()
        limits.bodySeconds = 1
        try await withSite(limits: limits) { site in
            let cookie = try await site.pair()
            let slow = try await site.connect()
            try await slow.send(
                site.request(
                    "POST", "/rpc",
                    ["Origin: \(site.origin)", "Content-Type: application/json", cookie, "Content-Length: 1000"]))
            try await slow.send("{")
            #expect(try await slow.rest() == "")
        }
    }

    @Test func aConnectionThatIsOnlyHeldIsClosedInTime() async throws {
        var limits = HTTPLimits()
        limits.idleSeconds = 1
        try await withSite(limits: limits, files: PageFiles.all) { site in
            let connection = try await site.connect()
            try await connection.send(site.request("GET", "/"))
            #expect(try await connection.reply().status == 200)
            #expect(try await connection.rest() == "")
        }
    }

    @Test func headersThatAreTooManyAreRefused() async throws {
        try await withSite(files: PageFiles.all) { site in
            for headers in [
                ["X: " + String(repeating: "x", count: 60_000)],
                (0..<5_000).map { "X-\($0): y" },
                ["Cookie: " + String(repeating: "a=b; ", count: 20_000)],
            ] {
                let connection = try await site.connect()
                try? await connection.send(site.request("GET", "/", headers))
                let reply = (try? await connection.rest()) ?? ""
                #expect(reply.isEmpty || reply.hasPrefix("HTTP/1.1 431") || reply.hasPrefix("HTTP/1.1 4"))
            }
            let connection = try await site.connect()
            try? await connection.send(site.request("GET", "/" + String(repeating: "a", count: 100_000)))
            let reply = (try? await connection.rest()) ?? ""
            #expect(reply.isEmpty || reply.hasPrefix("HTTP/1.1 4"))
            #expect(try await site.ask("GET", "/").status == 200)
        }
    }

    @Test func aBodyThatIsTooLargeIsRefusedBeforeItComes() async throws {
        try await withSite { site in
            let cookie = try await site.pair()
            let connection = try await site.connect()
            try await connection.send(
                site.request(
                    "POST", "/rpc",
                    ["Origin: \(site.origin)", "Content-Type: application/json", cookie, "Content-Length: 99999999999"])
            )
            #expect(try await connection.reply().status == 413)
        }
    }

    @Test func requestsInOneGoAreAnsweredInTheirOrder() async throws {
        try await withSite(files: PageFiles.all) { site in
            let cookie = try await site.pair()
            let connection = try await site.connect()
            var all = ""
            for id in 0..<50 {
                all += site.request(
                    "POST", "/rpc", ["Origin: \(site.origin)", "Content-Type: application/json", cookie],
                    "{\"jsonrpc\":\"2.0\",\"id\":\(id),\"method\":\"thing.echo\",\"params\":{}}")
                all += site.request("GET", "/nothing", [cookie])
            }
            try await connection.send(all)
            for id in 0..<50 {
                #expect(try await connection.reply().text.contains("\"id\":\(id),"))
                #expect(try await connection.reply().status == 404)
            }
        }
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /rpc HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nxxxxxx",
        "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        "\u{0}\u{1}\u{2}\u{3}\r\n\r\n", "GET  /  HTTP/9.9\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX : y\r\n z\r\n\r\n",
    ])
    func whatIsNoProperRequestGetsNothing(_ text: String) async throws {
        try await withSite(files: PageFiles.all) { site in
            let connection = try await site.connect()
            try await connection.send(text)
            shutdownSending(connection)
            let reply = (try? await connection.rest()) ?? ""
            #expect(!reply.hasPrefix("HTTP/1.1 200"), "\(reply.prefix(200))")
            #expect(reply.components(separatedBy: "HTTP/1.1 ").count <= 2, "\(reply.prefix(600))")
            #expect(try await site.ask("GET", "/").status == 200)
        }
    }

    /// libmicrohttpd refuses some requests by itself; these we do, as others are refused.
    @Test(arguments: [
        "GET / HTTP/1.1\r\nConnection: close\r\n\r\n", "GET / HTTP/1.1\r\nConnection: close\r\nCookie: a=b\r\n\r\n",
        "POST /rpc HTTP/1.1\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}",
        "POST /rpc HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ])
    func whatWeRefuseHasOneHeadAndIsOurs(_ text: String) async throws {
        try await withSite(files: PageFiles.all) { site in
            let connection = try await site.connect()
            try await connection.send(text)
            shutdownSending(connection)
            let reply = try await connection.rest()
            #expect(reply.hasPrefix("HTTP/1.1 4") && reply.contains("X-Content-Type-Options: nosniff"))
            #expect(reply.components(separatedBy: "HTTP/1.1 ").count == 2, "\(reply)")
        }
    }

    @Test(arguments: [
        "/../../etc/passwd", "/assets/../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/%252e%252e/etc/passwd",
        "/assets/%2fetc%2fpasswd", "/..%c0%af..%c0%afetc/passwd", "//etc/passwd", "/.", "/assets/", "/index.html/..",
    ])
    func pathsLeadNowhere(_ path: String) async throws {
        try await withSite(files: PageFiles.all) { site in
            let cookie = try await site.pair()
            #expect(try await site.ask("GET", path, [cookie]).status == 404)
        }
    }

    @Test func aThousandConnectionsLeaveRoomForAnother() async throws {
        var limits = HTTPLimits()
        limits.connectionsOfAddress = 2_000
        limits.connections = 2_000
        try await withSite(limits: limits, files: PageFiles.all) { site in
            var held: [RawHTTP] = []
            for _ in 0..<1_000 {
                let connection = try await site.connect()
                try await connection.send("GET / HTTP/1.1\r\nHost: ")
                held.append(connection)
            }
            let cookie = try await site.pair()
            #expect(
                try await site.rpc(cookie, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"thing.echo\",\"params\":{}}")
                    .status
                    == 200)
            // They are alive all the same: each can go on.
            try await held[999].send("127.0.0.1\r\n\r\n")
            #expect(try await held[999].reply().status == 200)
        }
    }

    /// Half of them hold a question of somebody unknown, and half have not said yet what they want.
    @Test func aThousandConnectionsToTheHubLeaveRoomForAMember() async throws {
        var limits = HTTPLimits()
        limits.connectionsOfAddress = 2_000
        limits.connections = 2_000
        limits.strangersAtOnce = 100
        try await withSite(limits: limits) { site in
            let token = "0123456789abcdefghijABCDEFGHIJ-_0123456789a"
            let group = "0b7f6a52-3f0e-4c3e-9b1d-2f6d5a4c3b2a"
            site.daemon.state.withLock { $0.members[token] = group }
            let member = ["Authorization: Bearer " + token]
            #expect(try await site.ask("GET", "/api/groups", member).status == 200)
            var held: [RawHTTP] = []
            for number in 0..<1_000 {
                let connection = try await site.connect()
                let stranger = String(format: "%043d", number)
                try await connection.send(
                    number % 2 == 0
                        ? "POST /api/reviews HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer "
                        : site.request(
                            "POST", "/api/reviews",
                            [
                                "Authorization: Bearer \(stranger)", "Content-Type: application/json",
                                "Content-Length: 500000",
                            ]))
                held.append(connection)
            }
            for path in ["/api/groups", "/api/photos/\(group)/today", "/api/reviews"] {
                #expect(try await site.ask("GET", path, member).status == 200)
            }
            #expect(held.count == 1_000)
        }
    }

    /// Of one address, and of all: the oldest that is no device's makes room for whoever comes.
    @Test(arguments: [true, false])
    func whereThereAreTooManyTheOldestOfNobodyGoes(_ isOfOneAddress: Bool) async throws {
        var limits = HTTPLimits()
        if isOfOneAddress { limits.connectionsOfAddress = 10 } else { limits.connections = 10 }
        try await withSite(limits: limits, files: PageFiles.all) { site in
            let echo = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"thing.echo\",\"params\":{}}"
            let cookie = try await site.pair()
            let headers = ["Origin: \(site.origin)", "Content-Type: application/json", cookie]
            let device = try await site.connect()
            try await device.send(site.request("POST", "/rpc", headers, echo))
            #expect(try await device.reply().status == 200)
            var held: [RawHTTP] = []
            for _ in 0..<30 {
                let connection = try await site.connect()
                try await connection.send("GET / HTTP/1.1\r\nHost: ")
                held.append(connection)
                // Who comes is heard, whoever holds the others open.
                let another = try await site.connect()
                try await another.send(site.request("GET", "/"))
                #expect(try await another.reply().status == 200)
            }
            // Closed, and not left waiting.
            #expect(try await held[0].rest() == "")
            try await device.send(site.request("POST", "/rpc", headers, echo))
            #expect(try await device.reply().status == 200, "the oldest of all, and a device's")
        }
    }

    @Test func whereAllAreDevicesANewOneHasNoPlace() async throws {
        var limits = HTTPLimits()
        limits.connections = 3
        try await withSite(limits: limits, files: PageFiles.all) { site in
            let cookie = try await site.pair()
            var held: [RawHTTP] = []
            for _ in 0..<3 {
                let connection = try await site.connect()
                try await connection.send(
                    site.request(
                        "POST", "/rpc", ["Origin: \(site.origin)", "Content-Type: application/json", cookie], "{}"))
                #expect(try await connection.reply().status == 400)
                held.append(connection)
            }
            let more = try await site.connect()
            try? await more.send(site.request("GET", "/"))
            #expect(try await more.rest() == "")
            #expect(held.count == 3)
        }
    }

    /// What would end a line for somebody else on the way.
    @Test(arguments: ["a\0b", "\0", "a\0", "\0a"])
    func aHeaderWithAnEndOfItsOwnIsRefused(_ value: String) async throws {
        try await withSite(files: PageFiles.all) { site in
            let connection = try await site.connect()
            try await connection.send("GET / HTTP/1.1\r\nHost: 127.0.0.1:\(site.port)\r\nX-Note: \(value)\r\n\r\n")
            let reply = try await connection.reply()
            #expect(reply.status == 400, "\(reply.status)")
        }
    }

    /// As long as it is a line, with spaces where they may be (RFC 9112, 5.1).
    @Test(arguments: ["X-Note:a", "X-Note:", "X-Note: ", "X-Note: a  ", "X-Note: \t a", "X-Note: a b\r\nX-More: c"])
    func aHeaderWithSpacesIsTaken(_ line: String) async throws {
        try await withSite(files: PageFiles.all) { site in
            for head in ["Host: 127.0.0.1:\(site.port)\r\n\(line)", "\(line)\r\nHost: 127.0.0.1:\(site.port)"] {
                let connection = try await site.connect()
                try await connection.send("GET / HTTP/1.1\r\n\(head)\r\n\r\n")
                #expect(try await connection.reply().status == 200)
            }
        }
    }

    @Test func tooManyRequestsAreSlowedDown() async throws {
        var limits = HTTPLimits()
        (limits.requestsPerSecond, limits.requestsAtOnce) = (0, 20)
        try await withSite(limits: limits, files: PageFiles.all) { site in
            let connection = try await site.connect()
            var statuses: [Int] = []
            for _ in 0..<25 {
                try await connection.send(site.request("GET", "/"))
                statuses.append(try await connection.reply().status)
            }
            #expect(statuses == Array(repeating: 200, count: 20) + Array(repeating: 429, count: 5))
        }
    }

    @Test func everyResponseIsGuarded() async throws {
        try await withSite(files: PageFiles.all) { site in
            let cookie = try await site.pair()
            for (path, headers) in [("/", []), ("/rpc", []), ("/nothing", [cookie]), ("/", ["Host: evil.example"])] {
                let reply = try await site.ask("GET", path, headers)
                #expect(reply.header("content-security-policy")?.contains("default-src 'self'") == true)
                #expect(reply.header("content-security-policy")?.contains("unsafe") == false)
                #expect(reply.header("x-content-type-options") == "nosniff")
                #expect(reply.header("x-frame-options") == "DENY")
                #expect(reply.header("referrer-policy") == "no-referrer")
                #expect(reply.header("server") == nil)
            }
        }
    }

    private func shutdownSending(_ connection: RawHTTP) { connection.endSending() }
}
