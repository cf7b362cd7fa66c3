import Foundation
import HTTPClient
import ServiceMesh
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct UploadTests {
    private typealias Server = ScriptedServer

    private func echo(_ seen: Sightings<Peer.Request>) throws -> Server {
        try Server { peer in
            seen.tell(try peer.readRequest())
            try peer.send(Server.answer("201 Created", #"{"id":1}"#))
        }
    }

    private func post(_ client: HTTPClient, _ url: HTTPURL, _ body: HTTPRequest.Body) async throws -> HTTPResponse {
        try await client.send(.post(url, body: body), receiving: .memory(atMost: 1_000), within: .seconds(30))
    }

    @Test(arguments: [0, 1, 100, 3 << 20])
    func bytesArriveAsTheyAre(count: Int) async throws {
        let seen = Sightings<Peer.Request>()
        let (server, client) = (try echo(seen), try HTTPClient())
        let body = sampleBytes(count)
        let answer = try await post(client, server.url(), .bytes(Data(body), type: .json))
        #expect(answer.status == 201 && answer.data == Data(#"{"id":1}"#.utf8))
        let request = try #require(await seen.next())
        #expect(request.method == "POST" && request.body == body)
        #expect(request.headers["content-type"] == "application/json" && request.headers["expect"] == nil)
        await client.stop()
    }

    @Test(arguments: [(0, 0), (0, 300_000), (1_000, 298_000), (300_000, 0)])
    func aFormArrivesWithItsExactBytes(offset: Int, count: Int) async throws {
        let seen = Sightings<Peer.Request>()
        let (server, client) = (try echo(seen), try HTTPClient())
        let picture = sampleBytes(300_000)
        let source = try Target(picture)
        let fields = try [FormField("album", "Ferien & Küche\r\n--x"), FormField("empty", "")]
        let file = try FormFile(
            "photo", fileName: "Größe \"1\".jpg", type: .jpeg, file: source.file, from: Int64(offset),
            count: Int64(count))
        let answer = try await post(client, server.url("/import"), .form(fields, file: file))
        #expect(answer.status == 201)
        let request = try #require(await seen.next())
        let type = try #require(request.headers["content-type"])
        let parts = type.components(separatedBy: "boundary=")
        #expect(parts.count == 2 && parts[0] == "multipart/form-data; ")
        let boundary = parts[1]
        let head = """
            --\(boundary)
            Content-Disposition: form-data; name="album"

            Ferien & Küche\r
            --x
            --\(boundary)
            Content-Disposition: form-data; name="empty"


            --\(boundary)
            Content-Disposition: form-data; name="photo"; filename="Größe %221%22.jpg"
            Content-Type: image/jpeg


            """
        let lines = head.replacingOccurrences(of: "\r\n", with: "\n").replacingOccurrences(of: "\n", with: "\r\n")
        let expected =
            Array(lines.utf8) + picture[offset..<(offset + count)] + Array("\r\n--\(boundary)--\r\n".utf8)
        #expect(request.body == expected)
        #expect(source.file.withDescriptor { lseek($0, 0, SEEK_CUR) } == 0, "its position stays")
        await client.stop()
    }

    @Test func aFileThatHasBecomeShorter() async throws {
        let (server, client) = (try echo(Sightings()), try HTTPClient())
        let source = try Target(sampleBytes(1_000))
        let file = try FormFile("photo", fileName: "1.jpg", type: .jpeg, file: source.file, count: 1_001)
        let error = await failure { try await post(client, server.url(), .form([], file: file)) }
        #expect(error == .fileChanged)
        await client.stop()
    }

    @Test func aFileThatCannotBeRead() async throws {
        let (server, client) = (try echo(Sightings()), try HTTPClient())
        let source = try Target(sampleBytes(1_000), flags: O_WRONLY)
        let file = try FormFile("photo", fileName: "1.jpg", type: .jpeg, file: source.file, count: 1_000)
        let error = await failure { try await post(client, server.url(), .form([], file: file)) }
        #expect(error == .disk(EBADF))
        await client.stop()
    }

    @Test func anEarlyRefusalEndsTheUpload() async throws {
        let server = try Server { peer in
            _ = try peer.readHead()
            try peer.send(Server.answer("413 Too Large", "no", headers: ["Connection: close"]))
            peer.waitForEnd()
        }
        let client = try HTTPClient()
        let source = try Target()
        source.file.withDescriptor { _ = ftruncate($0, 20 << 20) }
        let file = try FormFile("photo", fileName: "1.jpg", type: .jpeg, file: source.file, count: 20 << 20)
        let answer = try await post(client, server.url(), .form([], file: file))
        #expect(answer.status == 413 && answer.data == Data("no".utf8))
        await client.stop()
    }

    @Test func resetWhileSending() async throws {
        let server = try Server { peer in
            _ = try peer.readHead()
            peer.reset()
        }
        let client = try HTTPClient()
        let source = try Target()
        source.file.withDescriptor { _ = ftruncate($0, 20 << 20) }
        let file = try FormFile("photo", fileName: "1.jpg", type: .jpeg, file: source.file, count: 20 << 20)
        let error = await failure { try await post(client, server.url(), .form([], file: file)) }
        #expect(error == .interrupted)
        await client.stop()
    }
}
