import Foundation
import HTTPClient
import ServiceMesh
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct AnswerTests {
    private typealias Server = ScriptedServer

    @Test func aPlainAnswerComesWhole() async throws {
        let server = try Server { peer in
            let request = try peer.readRequest()
            try peer.send(
                Server.answer(
                    "200 OK", #"{"target":"\#(request.target)","method":"\#(request.method)"}"#,
                    headers: [
                        "Content-Type: application/json", "Date: Sun, 06 Nov 1994 08:49:37 GMT", "ETag:  \"5\" ",
                        "X-Twice: 1", "X-Twice: 2",
                    ]))
        }
        let client = try HTTPClient()
        let answer = try await client.get(server.url("/a/b?c=d"))
        #expect(answer.status == 200 && answer.isSuccess)
        #expect(
            try JSONDecoder().decode([String: String].self, from: answer.data) == [
                "target": "/a/b?c=d", "method": "GET",
            ])
        #expect(answer["content-TYPE"] == "application/json" && answer["etag"] == "\"5\"")
        #expect(answer.headers.filter { $0.name == "x-twice" }.map(\.value) == ["1", "2"])
        #expect(answer.date == 784_111_777_000)
        await client.stop()
    }

    /// libcurl takes years of ten digits, whose milliseconds no number here can hold.
    @Test func aDateThatNoCalendarHasIsNone() async throws {
        let server = try Server { peer in
            _ = try peer.readRequest()
            try peer.send(
                Server.answer("200 OK", "", headers: ["Date: Sun, 06 Nov 2147483647 08:49:37 GMT"]))
        }
        let client = try HTTPClient()
        #expect(try await client.get(server.url("/")).date == nil)
        await client.stop()
    }

    @Test func headersAreSentAsTheyAre() async throws {
        let seen = Sightings<Peer.Request>()
        let server = try Server { peer in
            seen.tell(try peer.readRequest())
            try peer.send(Server.answer())
        }
        let client = try HTTPClient()
        let headers = try [HTTPHeader("Authorization", "Bearer x y"), HTTPHeader("X-Empty", "")]
        let answer = try await client.get(server.url("/a/../b%20c"), headers: headers)
        #expect(answer.date == nil && answer.data.isEmpty)
        let request = try #require(await seen.next())
        #expect(request.target == "/a/../b%20c")
        #expect(request.headers["authorization"] == "Bearer x y" && request.headers["x-empty"] == "")
        #expect(request.headers["host"] == "127.0.0.1:\(server.port)")
        #expect(request.headers["accept-encoding"] == "identity")
        for name in ["cookie", "range", "expect", "user-agent", "content-type", "content-length"] {
            #expect(request.headers[name] == nil, "\(name)")
        }
        await client.stop()
    }

    @Test func anotherStatusIsAnAnswerToo() async throws {
        let server = try Server { request in
            Server.answer("\(request.target.dropFirst()) Word", "why", headers: ["Content-Type: text/html"])
        }
        let client = try HTTPClient()
        for status in [400, 401, 404, 409, 416, 500, 503] {
            let answer = try await client.get(server.url("/\(status)"), atMost: 0)
            #expect(answer.status == status && answer.data == Data("why".utf8) && !answer.isSuccess)
        }
        #expect(server.connections == 1, "the connection is used again")
        await client.stop()
    }

    @Test func deleteAndEmptyPost() async throws {
        let server = try Server { request in
            Server.answer("200 OK", "\(request.method) \(request.headers["content-length"] ?? "none")")
        }
        let client = try HTTPClient()
        let url = try server.url("/photo/1")
        let deleted = try await client.send(.delete(url), receiving: .memory(atMost: 100), within: .seconds(30))
        #expect(deleted.data == Data("DELETE none".utf8))
        let posted = try await client.send(
            .post(url, body: .none), receiving: .memory(atMost: 100), within: .seconds(30))
        #expect(posted.data == Data("POST 0".utf8))
        await client.stop()
    }

    @Test func chunksAndTrailers() async throws {
        let server = try Server { peer in
            _ = try peer.readRequest()
            try peer.send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n")
            try peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
            try peer.send("6;x=y\r\n world\r\n0\r\nX-Trailer: 1\r\n\r\n")
        }
        let client = try HTTPClient()
        let answer = try await client.get(server.url())
        #expect(answer.data == Data("hello world".utf8) && answer["link"] == nil && answer["x-trailer"] == nil)
        await client.stop()
    }

    @Test func aPageInPlaceOfJSONIsABody() async throws {
        let page = "<!DOCTYPE html><title>Sign in to the café's network</title>"
        let server = try Server { _ in Server.answer("200 OK", page, headers: ["Content-Type: text/html"]) }
        let client = try HTTPClient()
        let answer = try await client.get(server.url())
        #expect(answer.data == Data(page.utf8) && answer["content-type"] == "text/html")
        await client.stop()
    }

    @Test(arguments: [301, 302, 303, 307, 308, 300])
    func nothingIsFollowed(status: Int) async throws {
        let elsewhere = try Server { _ in Server.answer("200 OK", "you should not be here") }
        let client = try HTTPClient()
        for location in ["http://127.0.0.1:\(elsewhere.port)/token=secret", "file:///etc/hostname", "/other", ""] {
            let server = try Server { _ in Server.answer("\(status) Moved", "", headers: ["Location: \(location)"]) }
            let error = await failure { try await client.get(server.url()) }
            #expect(error == .redirected(status: status))
            #expect(error?.description.contains("secret") == false && error?.isRetryable == false)
            #expect(server.connections == 1)
        }
        #expect(elsewhere.connections == 0)
        await client.stop()
    }

    @Test func notModifiedIsNoRedirection() async throws {
        let server = try Server { _ in "HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n" }
        let client = try HTTPClient()
        #expect(try await client.get(server.url()).status == 304)
        await client.stop()
    }

    @Test func fiftyAtOnce() async throws {
        // Nobody is answered before all have come.
        let all = DispatchGroup()
        for _ in 0..<50 { all.enter() }
        let server = try Server { peer in
            let request = try peer.readRequest()
            all.leave()
            all.wait()
            try peer.send(Server.answer("200 OK", String(repeating: request.target, count: 1_000)))
        }
        var limits = HTTPClientLimits()
        (limits.connections, limits.connectionsOfHost) = (50, 50)
        let client = try HTTPClient(limits: limits)
        try await askFifty(client, server)
        #expect(server.connections == 50)
        await client.stop()
    }

    @Test func requestsPastTheConnectionsWait() async throws {
        let server = try Server { request in
            Server.answer("200 OK", String(repeating: request.target, count: 1_000))
        }
        var limits = HTTPClientLimits()
        limits.connectionsOfHost = 4
        let client = try HTTPClient(limits: limits)
        try await askFifty(client, server)
        #expect((1...4).contains(server.connections))
        await client.stop()
    }

    private func askFifty(_ client: HTTPClient, _ server: Server) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                group.addTask {
                    let answer = try await client.get(server.url("/\(number)"))
                    #expect(answer.data == Data(String(repeating: "/\(number)", count: 1_000).utf8))
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func onlyWhatChangesNothingIsSentAgain() async throws {
        let seen = Mutex<[String]>([])
        // The first request of a connection is answered, the second is read, and the connection ends.
        let server = try Server { peer in
            for number in 0..<2 {
                let request = try peer.readRequest()
                seen.withLock { $0.append(request.method) }
                if number == 0 { try peer.send(Server.answer()) }
            }
        }
        let client = try HTTPClient()
        _ = try await client.get(server.url())
        let error = await failure {
            try await client.send(
                .post(server.url(), body: .bytes(Data("x".utf8), type: .bytes)), receiving: .memory(atMost: 10),
                within: .seconds(30))
        }
        #expect(error == .interrupted)
        // And again with what may be repeated.
        _ = try await client.get(server.url())
        _ = try await client.get(server.url())
        #expect(seen.withLock { $0 } == ["GET", "POST", "GET", "GET", "GET"])
        await client.stop()
    }
}
