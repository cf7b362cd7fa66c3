import Foundation
import ServiceMesh
import Testing

@testable import WebServer

@Suite struct CallTests {
    @Test func aRequestGetsItsReply() async throws {
        try await withSite { site in
            let cookie = try await site.pair()
            let reply = try await site.rpc(
                cookie, "{\"jsonrpc\":\"2.0\",\"id\":\"a\\u0062\",\"method\":\"thing.echo\",\"params\":{\"x\":[1,2]}}")
            #expect(reply.status == 200)
            #expect(reply.text == "{\"jsonrpc\":\"2.0\",\"id\":\"ab\",\"result\":{\"x\":[1,2]}}\n")
            #expect(reply.header("content-type") == "application/json")
        }
    }

    @Test func anErrorOfTheDaemonIsAReply() async throws {
        try await withSite { site in
            let cookie = try await site.pair()
            let reply = try await site.rpc(cookie, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"thing.fail\"}")
            #expect(reply.status == 200 && reply.errorStatus == "not_found")
            #expect(reply.text.contains("\"id\":7"))
        }
    }

    /// JSON-RPC has a code of its own for that, and the socket gives it.
    @Test func aMethodThatThereIsNotIsSaid() async throws {
        try await withSite { site in
            let cookie = try await site.pair()
            for _ in 1...2 {
                let reply = try await site.rpc(cookie, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"thing.none\"}")
                #expect(reply.status == 200 && reply.errorStatus == "unimplemented")
                #expect(reply.error?["code"] == -32601 && reply.text.contains("\"id\":7"))
            }
        }
    }

    @Test(arguments: [
        "", "x", "{", "[]", "{}", "{\"jsonrpc\":\"2.0\",\"method\":\"thing.echo\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"thing.echo\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"thing.echo\",\"params\":[]}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"thing.echo\",\"params\":{\"a\":1,\"a\":2}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"thing.echo\"}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"thing.echo\"}",
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"thing.echo\"}]",
    ])
    func whatIsNoRequestIsRefusedHere(_ body: String) async throws {
        try await withSite { site in
            let cookie = try await site.pair()
            let reply = try await site.rpc(cookie, body)
            #expect(reply.status == 400 && reply.errorStatus == "invalid_argument", "\(reply.text)")
            #expect(!site.daemon.calls.contains("thing.echo"))
        }
    }

    @Test func whatAFormCouldSendIsRefused() async throws {
        try await withSite { site in
            let cookie = try await site.pair()
            for type in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
                let reply = try await site.ask(
                    "POST", "/rpc", ["Origin: \(site.origin)", "Content-Type: \(type)", cookie],
                    body: "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"thing.echo\"}")
                #expect(reply.status == 415)
            }
        }
    }

    @Test func anotherPagesRequestIsRefusedWhateverCookieItBrings() async throws {
        try await withSite { site in
            let cookie = try await site.pair()
            for origin in ["http://evil.example", "null", "http://127.0.0.1:1"] {
                let reply = try await site.ask(
                    "POST", "/rpc", ["Origin: \(origin)", "Content-Type: application/json", cookie],
                    body: "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"thing.echo\"}")
                #expect(reply.status == 403)
            }
            #expect(!site.daemon.calls.contains("thing.echo"))
        }
    }

    @Test(arguments: ["thing.observe", "device.authenticate", "device.pair"])
    func whatIsNotForThisWayIsSaid(_ method: String) async throws {
        try await withSite { site in
            let cookie = try await site.pair()
            _ = try await site.rpc(cookie, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"thing.echo\"}")
            let calls = site.daemon.calls.filter { $0 == method }.count
            let reply = try await site.rpc(cookie, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\(method)\"}")
            #expect(reply.status == 200)
            #expect(["failed_precondition", "permission_denied"].contains(reply.errorStatus))
            #expect(site.daemon.calls.filter { $0 == method }.count == calls)
        }
    }

    @Test func withoutADaemonItIsUnavailableUntilThereIsOneAgain() async throws {
        try await withSite { site in
            let cookie = try await site.pair()
            let echo = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"thing.echo\",\"params\":{}}"
            #expect(try await site.rpc(cookie, echo).status == 200)
            site.daemon.stop()
            let away = try await site.rpc(cookie, echo)
            #expect(away.status == 503 && away.errorStatus == "unavailable")
            #expect(away.header("retry-after") == "1")
            #expect(away.error?["data"]?["retryable"] == true)
            site.daemon.start()
            #expect(try await site.rpc(cookie, echo).status == 200)
        }
    }

    @Test func eachDeviceHasOneConnectionOfItsOwn() async throws {
        try await withSite { site in
            let echo = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"thing.echo\",\"params\":{}}"
            let phone = try await site.pair()
            let tablet = try await site.pair()
            // One is the server's own.
            for _ in 0..<5 { #expect(try await site.rpc(phone, echo).status == 200) }
            let before = site.daemon.state.withLock { $0.connected }
            for _ in 0..<5 { #expect(try await site.rpc(tablet, echo).status == 200) }
            for _ in 0..<5 { #expect(try await site.rpc(phone, echo).status == 200) }
            #expect(site.daemon.state.withLock { $0.connected } == before + 1)
        }
    }

    @Test func aClientThatGoesTakesItsRequestWithIt() async throws {
        try await withSite { site in
            let cookie = try await site.pair()
            let connection = try await site.connect()
            let body = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"thing.forever\"}"
            try await connection.send(
                site.request(
                    "POST", "/rpc", ["Origin: \(site.origin)", "Content-Type: application/json", cookie], body))
            connection.cut()
            await site.daemon.cancelled.arrivals(1)
        }
    }

    @Test func aServerThatStopsWaitsForNobody() async throws {
        let daemon = try FakeDaemon()
        let site = try Site(daemon)
        let cookie = try await site.pair()
        let connection = try await site.connect()
        let body = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"thing.forever\"}"
        try await connection.send(
            site.request("POST", "/rpc", ["Origin: \(site.origin)", "Content-Type: application/json", cookie], body))
        let stream = try await site.connect()
        try await stream.send(
            site.request("GET", "/events?observe=%7B%22id%22:%22a%22,%22method%22:%22thing.observe%22%7D", [cookie]))
        #expect(try await stream.event().name == "change")
        await site.server.stop()
        _ = try await connection.rest()
        _ = try await stream.rest()
        await #expect(throws: (any Error).self) { try await site.connect() }
    }

    /// Connections come, are idle, or are being answered; whatever the threads do, the program lives.
    @Test func aServerStopsAtAnyMoment() async throws {
        for round in 0..<100 {
            let site = try Site(try FakeDaemon())
            let asking = Task {
                while let reply = try? await site.ask("GET", "/"), reply.status != 503 {}
            }
            for _ in 0..<round % 5 { _ = try await site.ask("GET", "/") }
            await site.server.stop()
            await asking.value
            await #expect(throws: (any Error).self) { try await site.connect() }
        }
    }
}
