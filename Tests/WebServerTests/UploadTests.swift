import Foundation
import ServiceMesh
import Testing

@testable import WebServer

@Suite struct UploadTests {
    private func begin(_ site: Site, _ cookie: String, size: Int) async throws -> String {
        let reply = try await site.ask(
            "POST", "/upload",
            [
                "Origin: \(site.origin)", cookie, "Upload-Name: Gr%C3%B6%C3%9Fe.jpg", "Upload-Length: \(size)",
                "Upload-Folder: Ferien%2FTag%201",
                "Upload-Modified: 2019-06-12T12:00:00.250Z",
            ])
        #expect(
            site.daemon.state.withLock { $0.begun.last }
                == [
                    "name": "Größe.jpg", "folder": "Ferien/Tag 1", "size": .integer(Int64(size)),
                    "modifiedAt": "2019-06-12T12:00:00.250Z",
                ])
        #expect(reply.status == 201)
        let upload = try JSONDecoder().decode(JSONValue.self, from: Data(reply.body))["upload"]?.stringValue
        return try #require(upload)
    }

    private func patch(
        _ site: Site, _ cookie: String, _ upload: String, offset: Int, length: Int
    ) async throws -> RawHTTP {
        let connection = try await site.connect()
        try await connection.send(
            site.request(
                "PATCH", "/upload/\(upload)",
                ["Origin: \(site.origin)", cookie, "Upload-Offset: \(offset)", "Content-Length: \(length)"]))
        return connection
    }

    private func written(_ site: Site, _ upload: String) throws -> [UInt8] {
        let path = try #require(site.daemon.state.withLock { $0.uploads[upload] })
        return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    private static let content = (0..<3_000_000).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) }

    private var bytes: [UInt8] { Self.content }

    @Test func aFileComesInOnePiece() async throws {
        try await withSite { site in
            let cookie = try await site.pair()
            let upload = try await begin(site, cookie, size: bytes.count)
            let connection = try await patch(site, cookie, upload, offset: 0, length: bytes.count)
            try await connection.send(bytes)
            let reply = try await connection.reply()
            #expect(reply.status == 204 && reply.header("upload-offset") == "\(bytes.count)")
            #expect(try written(site, upload) == bytes)
            // The connection is good for the next request.
            try await connection.send(site.request("HEAD", "/upload/\(upload)", [cookie]))
            #expect(try await connection.reply(hasBody: false).header("upload-offset") == "\(bytes.count)")
        }
    }

    @Test func aFileThatIsCutAtEveryTenthGoesOnWhereItWas() async throws {
        try await withSite { site in
            let cookie = try await site.pair()
            let upload = try await begin(site, cookie, size: bytes.count)
            var offset = 0
            for tenth in 1...9 {
                let connection = try await patch(site, cookie, upload, offset: offset, length: bytes.count - offset)
                try await connection.send(Array(bytes[offset..<bytes.count * tenth / 10]))
                connection.cut()
                let head = try await site.ask("HEAD", "/upload/\(upload)", [cookie])
                offset = try #require(head.header("upload-offset").flatMap(Int.init))
                #expect(offset <= bytes.count * tenth / 10)
            }
            // What was on its way may come in meanwhile: the last one goes on from where it says.
            while true {
                let connection = try await patch(site, cookie, upload, offset: offset, length: bytes.count - offset)
                try await connection.send(Array(bytes[offset...]))
                let reply = try await connection.reply()
                if reply.status == 204 { break }
                #expect(reply.status == 409)
                offset = try #require(reply.header("upload-offset").flatMap(Int.init))
            }
            #expect(try written(site, upload) == bytes)
        }
    }

    /// By the head alone, before a byte of it is taken.
    @Test(arguments: [
        (4, Int64.max, 5, 413), (4, .max, 1 << 40, 413), (1 << 20, 1 << 10, 1 << 20, 507), (4, 4, 4, 204),
    ])
    func noMoreComesThanWasAnnouncedOrThereIsRoomFor(announced: Int, room: Int64, length: Int, status: Int) async throws
    {
        try await withSite { site in
            let cookie = try await site.pair()
            let upload = try await begin(site, cookie, size: announced)
            site.daemon.state.withLock { ($0.announced, $0.room) = (Int64(announced), room) }
            let connection = try await patch(site, cookie, upload, offset: 0, length: length)
            // As a browser that sends what it has at once.
            try? await connection.send(Array(bytes.prefix(min(length, 1 << 20))))
            #expect(try await connection.reply().status == status)
            #expect(try written(site, upload).count == (status == 204 ? length : 0))
        }
    }

    @Test func anotherPlaceIsRefusedAndSaid() async throws {
        try await withSite { site in
            let cookie = try await site.pair()
            let upload = try await begin(site, cookie, size: 100)
            let connection = try await patch(site, cookie, upload, offset: 5, length: 10)
            try await connection.send("0123456789")
            let reply = try await connection.reply()
            #expect(reply.status == 409 && reply.header("upload-offset") == "0")
            #expect(try written(site, upload).isEmpty)
        }
    }

    @Test func whoComesLastWrites() async throws {
        try await withSite { site in
            let cookie = try await site.pair()
            let upload = try await begin(site, cookie, size: 10)
            let first = try await patch(site, cookie, upload, offset: 0, length: 10)
            await site.daemon.resumed.arrivals(1)
            let second = try await patch(site, cookie, upload, offset: 0, length: 10)
            try await second.send(Array("0123456789".utf8))
            #expect(try await second.reply().status == 204)
            try await first.send(Array("xxxxxxxxxx".utf8))
            #expect(try await first.reply().status == 409)
            #expect(try written(site, upload) == Array("0123456789".utf8))
        }
    }

    /// A question disturbs nobody who writes.
    @Test func whoAsksHowMuchIsThereDoesNotEndWhoWrites() async throws {
        try await withSite { site in
            let cookie = try await site.pair()
            let upload = try await begin(site, cookie, size: 10)
            let writer = try await patch(site, cookie, upload, offset: 0, length: 10)
            await site.daemon.resumed.arrivals(1)
            let head = try await site.ask("HEAD", "/upload/\(upload)", [cookie])
            #expect(head.status == 200 && head.header("upload-offset").flatMap(Int.init).map { $0 <= 10 } == true)
            #expect(site.daemon.calls.count { $0 == "upload.resume" } == 1)
            try await writer.send(Array("0123456789".utf8))
            #expect(try await writer.reply().status == 204)
            #expect(try written(site, upload) == Array("0123456789".utf8))
        }
    }

    @Test func nothingIsAFileToo() async throws {
        try await withSite { site in
            let cookie = try await site.pair()
            let upload = try await begin(site, cookie, size: 0)
            let connection = try await patch(site, cookie, upload, offset: 0, length: 0)
            #expect(try await connection.reply().status == 204)
        }
    }

    @Test func anUploadCanBeGivenUp() async throws {
        try await withSite { site in
            let cookie = try await site.pair()
            let upload = try await begin(site, cookie, size: 10)
            let gone = try await site.ask("DELETE", "/upload/\(upload)", ["Origin: \(site.origin)", cookie])
            #expect(gone.status == 204)
            #expect(try await site.ask("HEAD", "/upload/\(upload)", [cookie]).status == 404)
        }
    }

    @Test(arguments: [
        ["Upload-Length: 1"], ["Upload-Name: x"], ["Upload-Name: %", "Upload-Length: 1"],
        ["Upload-Name: x", "Upload-Length: -1"], ["Upload-Name: x", "Upload-Length: 99999999999999999999"],
        ["Upload-Name: ", "Upload-Length: 1"],
        ["Upload-Name: x", "Upload-Length: 1", "Upload-Modified: yesterday"],
        ["Upload-Name: x", "Upload-Length: 1", "Upload-Modified: "],
    ])
    func whatIsNoUploadIsRefused(_ headers: [String]) async throws {
        try await withSite { site in
            let cookie = try await site.pair()
            let reply = try await site.ask("POST", "/upload", ["Origin: \(site.origin)", cookie] + headers)
            #expect(reply.status == 400)
            #expect(!site.daemon.calls.contains("upload.begin"))
        }
    }

    @Test func aFileOfASessionIsBegunByItsNumber() async throws {
        try await withSite { site in
            let cookie = try await site.pair()
            let session = "0a0b0c0d-0000-4000-8000-000000000001"
            let reply = try await site.ask(
                "POST", "/upload", ["Origin: \(site.origin)", cookie, "Upload-Session: \(session)", "Upload-File: 7"])
            #expect(reply.status == 201 && reply.header("upload-offset") == "0")
            #expect(
                site.daemon.state.withLock { $0.begun.last }
                    == ["name": "", "session": .string(session), "file": .integer(7)])
            for headers in [["Upload-Session: ../x", "Upload-File: 7"], ["Upload-Session: \(session)"]] {
                let refused = try await site.ask("POST", "/upload", ["Origin: \(site.origin)", cookie] + headers)
                #expect(refused.status == 400)
            }
        }
    }

    /// No service worker has taken it: the page opens, and says so.
    @Test func aShareSheetLeadsToThePage() async throws {
        try await withSite { site in
            let reply = try await site.ask(
                "POST", "/share",
                ["Origin: null", "Sec-Fetch-Site: none", "Content-Type: multipart/form-data; boundary=x"],
                body: "--x--")
            #expect(reply.status == 303 && reply.header("location") == "/#/import?shared=failed")
            #expect(try await site.ask("GET", "/share").status == 405)
            #expect(site.daemon.calls.isEmpty)
        }
    }
}
