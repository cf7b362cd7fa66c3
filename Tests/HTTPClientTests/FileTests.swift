import Foundation
import HTTPClient
import ServiceMesh
import TestSupport
import Testing

/// Bodies that go into files, and go on in the middle.
@Suite(.timeLimit(.minutes(2))) struct FileTests {
    private typealias Server = ScriptedServer

    private func fetch(
        _ client: HTTPClient, _ url: HTTPURL, _ target: Target, atMost: Int64 = 10 << 20, from offset: Int64 = 0
    ) async throws -> HTTPResponse {
        try await client.send(
            .get(url), receiving: .file(target.file, atMost: atMost, from: offset), within: .seconds(30))
    }

    @Test(arguments: [0, 1, 300_000], ["Content-Length", "chunked"])
    func aPictureComesWhole(count: Int, framing: String) async throws {
        let picture = sampleBytes(count)
        let server = try Server { peer in
            _ = try peer.readRequest()
            if framing == "chunked" {
                try peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                if count > 0 { try peer.send(Array("\(String(count, radix: 16))\r\n".utf8) + picture + [0x0D, 0x0A]) }
                try peer.send("0\r\n\r\n")
            } else {
                try peer.send(Array("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n".utf8) + picture)
            }
        }
        let client = try HTTPClient()
        // What was there before goes.
        let target = try Target(Array("something older that is longer".utf8))
        let answer = try await fetch(client, server.url(), target)
        #expect(answer.body == .file(count: Int64(count)) && answer.data.isEmpty)
        #expect(try target.contents == picture)
        #expect(target.file.withDescriptor { lseek($0, 0, SEEK_CUR) } == 0, "its position stays")
        await client.stop()
    }

    @Test(arguments: ["Content-Length: 1001", "Transfer-Encoding: chunked"])
    func largerThanAllowed(header: String) async throws {
        let body = String(repeating: "a", count: 1_001)
        let server = try Server { peer in
            _ = try peer.readRequest()
            try peer.send("HTTP/1.1 200 OK\r\n\(header)\r\n\r\n")
            try peer.send(header.contains("chunked") ? "3e9\r\n\(body)\r\n0\r\n\r\n" : body)
        }
        let client = try HTTPClient()
        let target = try Target()
        await #expect(throws: HTTPClientError.tooLarge) {
            try await fetch(client, server.url(), target, atMost: 1_000)
        }
        #expect(try target.contents.count <= 1_000)
        _ = try await fetch(client, server.url(), target, atMost: 1_001)
        #expect(try target.contents == Array(body.utf8))
        await client.stop()
    }

    @Test func aBodyWhoseEndNobodyMarksIsRefused() async throws {
        let server = try Server { peer in
            _ = try peer.readRequest()
            try peer.send("HTTP/1.1 200 OK\r\n\r\nperhaps half of it")
        }
        let client = try HTTPClient()
        let target = try Target([1, 2, 3])
        await #expect(throws: HTTPClientError.badAnswer(.noLength)) { try await fetch(client, server.url(), target) }
        #expect(try target.contents == [1, 2, 3])
        await client.stop()
    }

    @Test(arguments: ["404 Not Found", "416 Range Not Satisfiable", "500 Broken", "301 Moved"])
    func onlyAGoodAnswerTouchesTheFile(status: String) async throws {
        let server = try Server { _ in Server.answer(status, "no picture") }
        let client = try HTTPClient()
        let target = try Target([1, 2, 3])
        for offset: Int64 in [0, 3] {
            if status.hasPrefix("301") {
                await #expect(throws: HTTPClientError.redirected(status: 301)) {
                    try await fetch(client, server.url(), target, from: offset)
                }
            } else {
                let answer = try await fetch(client, server.url(), target, atMost: 3, from: offset)
                #expect(answer.body == .memory(Data("no picture".utf8)))
            }
            #expect(try target.contents == [1, 2, 3])
        }
        await client.stop()
    }

    /// Where the connection ends: bytes of the answer, negative from its end.
    @Test(arguments: [0, 7, 17, 30, -300_000, -299_999, -150_000, -1], [true, false])
    func interruptedAndResumed(point: Int, byReset: Bool) async throws {
        let picture = sampleBytes(300_000)
        let asked = Sightings<String?>()
        let server = try Server { peer in
            let range = try peer.readRequest().headers["range"]
            asked.tell(range)
            let offset = range.flatMap { Int($0.dropFirst("bytes=".count).dropLast()) }
            let first = offset ?? 0
            let head =
                offset == nil
                ? "HTTP/1.1 200 OK\r\n"
                : "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes \(first)-299999/300000\r\n"
            let answer =
                Array((head + "Content-Length: \(picture.count - first)\r\n\r\n").utf8) + picture[first...]
            // The first answer ends early, and so does every one from the beginning.
            guard offset == nil else { return try peer.send(answer) }
            try peer.send(Array(point < 0 ? answer.dropLast(-point) : answer.prefix(point)))
            if byReset { peer.reset() }
        }
        let client = try HTTPClient()
        let target = try Target()
        let error = await failure { try await fetch(client, server.url(), target) }
        #expect(error == .interrupted && error?.isRetryable == true)
        let there = try target.contents
        #expect(there == Array(picture.prefix(there.count)) && there.count < picture.count)
        if point < 0, !byReset { #expect(there.count == 300_000 + point) }
        // With 0 there is nothing to go on from; one byte stands for it.
        let offset = max(1, there.count)
        if there.isEmpty { target.file.withDescriptor { _ = pwrite($0, picture, 1, 0) } }
        let rest = try await fetch(client, server.url(), target, from: Int64(offset))
        #expect(rest.status == 206 && rest.body == .file(count: Int64(picture.count - offset)))
        #expect(try target.contents == picture)
        #expect(await asked.next() == .some(nil))
        #expect(await asked.next() == "bytes=\(offset)-")
        await client.stop()
    }

    @Test func chunksThatBreakOffAreInterrupted() async throws {
        let server = try Server { peer in
            _ = try peer.readRequest()
            try peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
        }
        let client = try HTTPClient()
        let target = try Target()
        await #expect(throws: HTTPClientError.interrupted) { try await fetch(client, server.url(), target) }
        #expect(try target.contents == Array("hello".utf8))
        await client.stop()
    }

    @Test(arguments: [
        "bytes 4-9/10", "bytes 6-9/10", "bytes 0-9/10", "bytes 5-8/10", "bytes 5-9/11", "bytes 5-4/5", "bytes */10",
        "items 5-9/10", "bytes 5-9", "bytes 5-99999999999999999999/10", "bytes -5-9/10", "", "bytes 5-10/11",
    ])
    func aPartThatWasNotAskedFor(range: String) async throws {
        let server = try Server { _ in
            Server.answer("206 Partial Content", "world", headers: range.isEmpty ? [] : ["Content-Range: \(range)"])
        }
        let client = try HTTPClient()
        let target = try Target(Array("hello".utf8))
        await #expect(throws: HTTPClientError.badAnswer(.wrongPart)) {
            try await fetch(client, server.url(), target, from: 5)
        }
        #expect(try target.contents == Array("hello".utf8))
        await client.stop()
    }

    @Test(arguments: ["bytes 5-9/10", "bytes 5-9/*", "Bytes 5-9/10"])
    func thePartThatWasAskedFor(range: String) async throws {
        let server = try Server { _ in
            Server.answer("206 Partial Content", "world", headers: ["Content-Range: \(range)"])
        }
        let client = try HTTPClient()
        let target = try Target(Array("hello and what is not right".utf8))
        #expect(try await fetch(client, server.url(), target, atMost: 10, from: 5).body == .file(count: 5))
        #expect(try target.contents == Array("helloworld".utf8))
        await #expect(throws: HTTPClientError.tooLarge) {
            try await fetch(client, server.url(), target, atMost: 9, from: 5)
        }
        await client.stop()
    }

    @Test func aPartInChunksThatIsShorterThanItSays() async throws {
        let server = try Server { peer in
            _ = try peer.readRequest()
            try peer.send("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 5-9/10\r\n")
            try peer.send("Transfer-Encoding: chunked\r\n\r\n3\r\nwor\r\n0\r\n\r\n")
        }
        let client = try HTTPClient()
        let target = try Target(Array("hello".utf8))
        await #expect(throws: HTTPClientError.interrupted) {
            try await fetch(client, server.url(), target, from: 5)
        }
        #expect(try target.contents == Array("hellowor".utf8))
        await client.stop()
    }

    @Test func theWholeInPlaceOfTheRestIsRefused() async throws {
        let server = try Server { _ in Server.answer("200 OK", "helloworld") }
        let client = try HTTPClient()
        let target = try Target(Array("hello".utf8))
        await #expect(throws: HTTPClientError.cannotResume) {
            try await fetch(client, server.url(), target, from: 5)
        }
        #expect(try target.contents == Array("hello".utf8))
        await client.stop()
    }

    @Test func aPartWithoutAsking() async throws {
        let server = try Server { _ in
            Server.answer("206 Partial Content", "hello", headers: ["Content-Range: bytes 0-4/10"])
        }
        let client = try HTTPClient()
        let target = try Target()
        await #expect(throws: HTTPClientError.badAnswer(.wrongPart)) { try await fetch(client, server.url(), target) }
        #expect(await failure { try await client.get(server.url()) } == .badAnswer(.wrongPart))
        await client.stop()
    }

    @Test(arguments: [O_RDONLY, O_RDWR | O_APPEND])
    func aFileThatCannotBeWritten(flags: Int32) async throws {
        let server = try Server { _ in Server.answer("200 OK", "hello") }
        let client = try HTTPClient()
        let target = try Target([1], flags: flags)
        await #expect(throws: HTTPClientError.disk(EINVAL)) { try await fetch(client, server.url(), target) }
        #expect(try target.contents == [1])
        await client.stop()
    }

    @Test func aHoleIsNotMade() async throws {
        let server = try Server { _ in
            Server.answer("206 Partial Content", "world", headers: ["Content-Range: bytes 5-9/10"])
        }
        let client = try HTTPClient()
        let target = try Target([1, 2])
        await #expect(throws: HTTPClientError.disk(EINVAL)) {
            try await fetch(client, server.url(), target, from: 5)
        }
        #expect(try target.contents == [1, 2])
        await client.stop()
    }

    @Test(.enabled(if: SmallDisk.isPossible, "this process may not mount"))
    func theDiskIsFull() async throws {
        let picture = String(repeating: "a", count: 3 << 20)
        let server = try Server { _ in Server.answer("200 OK", picture) }
        let client = try HTTPClient()
        let disk = try SmallDisk()
        defer { disk.unmount() }
        let file = OwnedFile(owning: open(disk.folder.file("picture"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600))
        let error = await failure {
            try await client.send(
                .get(server.url()), receiving: .file(file, atMost: 10 << 20), within: .seconds(30))
        }
        #expect(error == .disk(ENOSPC) && error?.isRetryable == false && error?.meshError.shortage == .space)
        await client.stop()
    }
}
