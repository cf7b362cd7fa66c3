import Foundation
import HTTPClient
import TestSupport
import Testing

/// Answers of somebody who means no good, or of a program that is broken.
@Suite(.timeLimit(.minutes(2))) struct HostileAnswerTests {
    private typealias Server = ScriptedServer

    @Test(arguments: [
        "garbage\r\n\r\n", "HTTP/1.1 abc OK\r\n\r\n", "HTTP/1.1 99 No\r\n\r\n", "HTTP/1.1 600 No\r\n\r\n",
        "HTTP/1.1 2000 No\r\n\r\n", "HTTP/2 200\r\n\r\n", "HTTP/0.9 200 OK\r\n\r\n", "ICY 200 OK\r\n\r\n",
        "HTTP/1.1  200 OK\r\n\r\n", "HTTP/1.1\r\n\r\n", "\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
    ])
    func whatIsNotHTTP(answer: String) async throws {
        #expect(try await errorFor(answer) == .badAnswer(.notHTTP))
    }

    @Test(arguments: [
        "no colon", ": no name", " folded: line", "bad name: x", "nul: a\0b", "Content-Length: 1\r\nContent-Length: 2",
        "Content-Length: 5, 5",
    ])
    func headersThatMakeNoSense(header: String) async throws {
        let error = try await errorFor("HTTP/1.1 200 OK\r\nX-Other: 1\r\n\(header)\r\n\r\nhello")
        // libcurl sees some of them before we do.
        #expect(error == .badAnswer(.badHeaders) || error == .badAnswer(.notHTTP), "\(String(describing: error))")
    }

    @Test(arguments: ["Content-Encoding: gzip", "Content-Encoding: br", "Transfer-Encoding: gzip, chunked"])
    func nothingIsDecompressed(header: String) async throws {
        #expect(
            try await errorFor("HTTP/1.1 200 OK\r\n\(header)\r\nContent-Length: 5\r\n\r\nhello") == .badAnswer(.encoded)
        )
    }

    private func errorFor(_ answer: String) async throws -> HTTPClientError? {
        let server = try Server { peer in
            _ = try peer.readRequest()
            try peer.send(answer)
        }
        let client = try HTTPClient()
        let error = await failure { try await client.get(server.url()) }
        #expect(error?.isRetryable == false)
        await client.stop()
        return error
    }

    @Test(arguments: ["X-Header: 1\r\n", "x", "X: \(String(repeating: "y", count: 1_000))\r\n"])
    func headersWithoutEnd(line: String) async throws {
        let ended = Sightings<Void>()
        let server = try Server { peer in
            _ = try peer.readRequest()
            try peer.send("HTTP/1.1 200 OK\r\n")
            peer.sendWithoutEnd(line)
            ended.tell()
        }
        let client = try HTTPClient()
        #expect(await failure { try await client.get(server.url()) } == .badAnswer(.headersTooLarge))
        await ended.next()
        await client.stop()
    }

    @Test func answersBeforeTheAnswerWithoutEnd() async throws {
        let server = try Server { peer in
            _ = try peer.readRequest()
            peer.sendWithoutEnd("HTTP/1.1 100 Continue\r\n\r\n")
        }
        let client = try HTTPClient()
        #expect(await failure { try await client.get(server.url()) } == .badAnswer(.headersTooLarge))
        await client.stop()
    }

    @Test func trailersWithoutEnd() async throws {
        let server = try Server { peer in
            _ = try peer.readRequest()
            try peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n")
            peer.sendWithoutEnd("X: \(String(repeating: "y", count: 1_000))\r\n")
        }
        let client = try HTTPClient()
        #expect(await failure { try await client.get(server.url()) } == .badAnswer(.headersTooLarge))
        await client.stop()
    }

    @Test(arguments: ["Content-Length: 1001", "Transfer-Encoding: chunked", "Connection: close"])
    func bodiesThatAreTooLarge(header: String) async throws {
        let isChunked = header.contains("chunked")
        func server(_ body: String) throws -> Server {
            try Server { peer in
                _ = try peer.readRequest()
                try peer.send("HTTP/1.1 200 OK\r\n\(header)\r\n\r\n")
                try peer.send(isChunked ? "\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\n\r\n" : body)
            }
        }
        let client = try HTTPClient()
        let large = try server(String(repeating: "a", count: 1_001))
        #expect(await failure { try await client.get(large.url(), atMost: 1_000) } == .tooLarge)
        // And so that it does not fail for another reason.
        #expect(try await client.get(large.url(), atMost: 1_001).data.count == 1_001)
        await client.stop()
    }

    @Test func aBodyWithoutEndIsNotWaitedFor() async throws {
        let ended = Sightings<Void>()
        let server = try Server { peer in
            _ = try peer.readRequest()
            try peer.send("HTTP/1.1 200 OK\r\n\r\n")
            peer.sendWithoutEnd("more and more and more")
            ended.tell()
        }
        let client = try HTTPClient()
        #expect(await failure { try await client.get(server.url()) } == .tooLarge)
        await ended.next()
        await client.stop()
    }

    @Test(arguments: ["Content-Length: 999999999999", "Connection: close"])
    func theBodyOfAFailureIsCutOff(header: String) async throws {
        let server = try Server { peer in
            _ = try peer.readRequest()
            try peer.send("HTTP/1.1 404 Not Found\r\n\(header)\r\nX-Last: 1\r\n\r\n")
            peer.sendWithoutEnd("no")
        }
        var limits = HTTPClientLimits()
        limits.failureBodyBytes = 1_000
        let client = try HTTPClient(limits: limits)
        let answer = try await client.get(server.url(), atMost: 10)
        #expect(answer.status == 404 && answer["x-last"] == "1")
        #expect(answer.data == Data(String(repeating: "no", count: 500).utf8))
        await client.stop()
    }

    @Test func chunksThatMakeNoSense() async throws {
        for body in ["zz\r\nhello\r\n0\r\n\r\n", "ffffffffffffffffffff\r\nhello\r\n", "5\r\nhelloworld"] {
            let server = try Server { peer in
                _ = try peer.readRequest()
                try peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(body)")
            }
            let client = try HTTPClient()
            #expect(await failure { try await client.get(server.url()) } == .interrupted, "\(body)")
            await client.stop()
        }
    }
}
