import Foundation
import ServiceMesh
import Synchronization
import Testing

@testable import WebServer

@Suite struct PairingTests {
    @Test func aCodeIsGoodOnceAndMakesACookie() async throws {
        try await withSite { site in
            site.daemon.state.withLock { _ = $0.codes.insert("once") }
            let headers = ["Origin: \(site.origin)", "Content-Type: application/json"]
            let body = "{\"code\":\"once\",\"name\":\"Phone\"}"
            let first = try await site.ask("POST", "/pair", headers, body: body)
            #expect(first.status == 200)
            let device = try JSONDecoder().decode(JSONValue.self, from: Data(first.body))["device"]
            #expect(device?["name"] == "Phone")
            // The token is the cookie's, and no script sees it.
            #expect(!first.text.contains("token_"))
            let cookie = try #require(first.header("set-cookie"))
            #expect(cookie.hasPrefix("smilepile-\(site.port)=token_"))
            for part in ["; HttpOnly", "; SameSite=Strict", "; Path=/"] { #expect(cookie.contains(part)) }
            #expect(first.header("cache-control") == "no-store")
            let second = try await site.ask("POST", "/pair", headers, body: body)
            #expect(second.status == 401 && second.header("set-cookie") == nil)
        }
    }

    @Test(arguments: ["", "{", "[]", "{\"name\":\"x\"}", "{\"code\":7}"])
    func whatIsNoCodeIsRefused(_ body: String) async throws {
        try await withSite { site in
            let reply = try await site.ask(
                "POST", "/pair", ["Origin: \(site.origin)", "Content-Type: application/json"], body: body)
            #expect(reply.status == 400 && reply.errorStatus == "invalid_argument")
        }
    }

    @Test(arguments: [
        "/rpc", "/qr", "/upload", "/unpair", "/reconnect", "/upload/x", "/nothing", "/photos/\(UUID())/photo",
        "/events",
    ])
    func withoutACookieNothingIsThere(_ path: String) async throws {
        try await withSite { site in
            for method in ["GET", "POST"] {
                let reply = try await site.ask(method, path, ["Origin: \(site.origin)"])
                #expect(reply.status == 401 && reply.errorStatus == "unauthenticated")
            }
            #expect(site.daemon.calls.allSatisfy { $0 == "device.authenticate" })
        }
    }

    @Test func aTokenThatNobodyHasIsAskedAboutAndRefused() async throws {
        try await withSite { site in
            let cookie = "Cookie: smilepile-\(site.port)=" + String(repeating: "x", count: 43)
            let reply = try await site.rpc(cookie, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"thing.echo\"}")
            #expect(reply.status == 401)
            #expect(!site.daemon.calls.contains("thing.echo"))
            // What no token can be is not even asked about.
            let asked = site.daemon.calls.count
            let short = try await site.rpc("Cookie: smilepile-\(site.port)=x", "{}")
            #expect(short.status == 401 && site.daemon.calls.count == asked)
        }
    }

    @Test func guessingIsSlowedDown() async throws {
        var limits = HTTPLimits()
        (limits.strangersPerSecond, limits.strangersAtOnce) = (0, 5)
        try await withSite(limits: limits) { site in
            var statuses: [Int] = []
            for guess in 0..<8 {
                let cookie = "Cookie: smilepile-\(site.port)=" + String(repeating: "\(guess)", count: 43)
                statuses.append(try await site.rpc(cookie, "{}").status)
            }
            #expect(statuses.suffix(3) == [429, 429, 429])
            #expect(statuses.prefix(5) == [401, 401, 401, 401, 401])
        }
    }

    /// From one address, as behind a proxy: what strangers try keeps nobody out who has a code, nor do those who try something else.
    @Test func guessesKeepNobodyOut() async throws {
        var limits = HTTPLimits()
        (limits.strangersPerSecond, limits.strangersAtOnce) = (0, 3)
        try await withSite(limits: limits) { site in
            func pair(_ code: String) async throws -> Int {
                try await site.ask(
                    "POST", "/pair", ["Origin: \(site.origin)", "Content-Type: application/json"],
                    body: "{\"code\":\"\(code)\",\"name\":\"Phone\"}"
                ).status
            }
            for number in 0..<6 {
                let token = "Authorization: Bearer " + String(repeating: "\(number)", count: 43)
                #expect(try await site.ask("GET", "/api/groups", [token]).status == (number < 3 ? 401 : 429))
            }
            for number in 0..<6 { #expect(try await pair("wrong \(number)") == (number < 3 ? 401 : 429)) }
            let cookie = try await site.pair()
            #expect(try await site.rpc(cookie, echo).status == 200)
        }
    }

    @Test func aBrowserCanLeave() async throws {
        try await withSite { site in
            let cookie = try await site.pair()
            #expect(try await site.rpc(cookie, echo).status == 200)
            let left = try await site.ask("POST", "/unpair", ["Origin: \(site.origin)", cookie])
            #expect(left.status == 200 && left.header("set-cookie")?.contains("Max-Age=0") == true)
            #expect(try await site.rpc(cookie, echo).status == 401)
        }
    }

    @Test func aForgottenDeviceIsOutAtOnceAndItsStreamsEnd() async throws {
        try await withSite { site in
            let cookie = try await site.pair()
            let other = try await site.pair()
            let stream = try await site.connect()
            try await stream.send(
                site.request("GET", "/events?observe=%7B%22id%22:%22a%22,%22method%22:%22thing.observe%22%7D", [cookie])
            )
            #expect(try await stream.head().status == 200)
            #expect(try await stream.event().name == "change")
            site.daemon.forget(device: "device-1")
            // The end of the stream, and with it of the connection or its chunks.
            _ = try await stream.read(until: "0\r\n\r\n")
            #expect(try await site.rpc(cookie, echo).status == 401)
            #expect(try await site.rpc(other, echo).status == 200)
        }
    }

    /// A picture that is being sent, and one that is being received.
    @Test func whatAForgottenDeviceHasUnderWayIsCut() async throws {
        try await withSite { site in
            let (cookie, other) = (try await site.pair(), try await site.pair())
            let uuid = "0b7f6a52-3f0e-4c3e-9b1d-2f6d5a4c3b2a"
            // More than what stands in the buffers of two sockets.
            let bytes = [UInt8](repeating: 7, count: 64 << 20)
            site.daemon.state.withLock { $0.pictures[uuid + "/original"] = FakeDaemon.Picture(bytes: bytes) }
            func download(_ cookie: String) async throws -> RawHTTP {
                let connection = try await site.connect()
                try await connection.send(
                    site.request("GET", "/photos/\(uuid)/original", ["Connection: close", cookie]))
                #expect(try await connection.head().status == 200)
                return connection
            }
            let (downloading, going) = (try await download(cookie), try await download(other))
            let begun = try await site.ask(
                "POST", "/upload", ["Origin: \(site.origin)", cookie, "Upload-Name: a.jpg", "Upload-Length: 1000"])
            let upload = try #require(
                (try? JSONDecoder().decode(JSONValue.self, from: Data(begun.body)))?["upload"]?.stringValue)
            let uploading = try await site.connect()
            try await uploading.send(
                site.request(
                    "PATCH", "/upload/\(upload)",
                    ["Origin: \(site.origin)", cookie, "Upload-Offset: 0", "Content-Length: 1000"]))
            try await uploading.send("the beginning")
            await site.daemon.resumed.arrivals(1)
            site.daemon.forget(device: "device-1")
            #expect(try await downloading.rest().utf8.count < bytes.count)
            #expect(try await uploading.rest() == "")
            #expect(try await going.rest().utf8.count == bytes.count)
        }
    }

    @Test func aDeviceThatIsForgottenWhileItIsAskedAboutIsOutToo() async throws {
        try await withSite { site in
            let token = "gated_" + String(repeating: "x", count: 40)
            // The server follows the devices before the token comes.
            await site.daemon.told.arrivals(1)
            site.daemon.state.withLock { $0.tokens[token] = "device-x" }
            async let reply = site.rpc("Cookie: smilepile-\(site.port)=\(token)", echo)
            await site.daemon.answered.arrivals(1)
            site.daemon.forget(device: "device-x")
            await site.daemon.told.arrivals(2)
            site.daemon.answered.open()
            let status = try await reply.status
            #expect(status == 401)
            #expect(try await site.rpc("Cookie: smilepile-\(site.port)=\(token)", echo).status == 401)
        }
    }

    /// A tablet that is looked at every day is known to be, however long it has been paired.
    @Test func theDaemonIsToldNowAndThenWhoIsHere() async throws {
        let daemon = try FakeDaemon()
        let token = String(repeating: "x", count: 40)
        daemon.state.withLock { $0.tokens[token] = "device-x" }
        let time = Mutex<UInt64>(0)
        let devices = Devices(
            pictures: KeptPictures(seconds: 1), shared: SharedConnection { try daemon.connect() },
            now: { time.withLock { $0 } }
        ) {
            try daemon.connect()
        }
        for _ in 1...3 { _ = try await devices.session(token) {} }
        #expect(daemon.calls == ["device.authenticate"])
        time.withLock { $0 += Devices.remindAfter }
        for _ in 1...3 { _ = try await devices.session(token) {} }
        await daemon.authenticated.arrivals(2)
        #expect(daemon.calls == ["device.authenticate", "device.authenticate"])
        await devices.stop()
    }

    private let echo = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"thing.echo\",\"params\":{}}"
}
