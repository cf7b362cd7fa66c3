import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import ServiceMesh
import TestSupport
import Testing

/// Sessions of uploads over HTTP, of two phones.
extension WebTests {
    private func announce(_ files: [(String, Data)], in session: String, from phone: Browser) async throws -> JSONValue?
    {
        let list = files.map { "{\"name\":\"\($0.0)\",\"size\":\($0.1.count)}" }.joined(separator: ",")
        return try await phone.call("upload.announce", "{\"session\":\"\(session)\",\"files\":[\(list)]}")
    }

    private func begin(_ file: Int, of session: String, from phone: Browser) async throws -> Browser.Reply {
        try await phone.ask(
            "/upload", "--request", "POST", "--header", "Upload-Session: \(session)", "--header", "Upload-File: \(file)"
        )
    }

    @Test func aSessionIsOneDevicesAndItsReceiptNamesEverything() async throws {
        try await withPage { place, started in
            let phone = try await pair(place, started, as: "phone")
            let other = try await pair(place, try await start(place), as: "another phone")
            let source = place.folder.file("sent")
            try SampleAlbum(width: 500, height: 400, seed: 12).write(count: 2, to: source)
            let pictures = try FileManager.default.contentsOfDirectory(atPath: source).sorted().map {
                try Data(contentsOf: URL(fileURLWithPath: source + "/" + $0))
            }
            let film = Data([0, 0, 0, 24] + Array("ftypqt  ".utf8) + [UInt8](repeating: 0, count: 200))
            let files = [
                ("a.jpg", pictures[0]), ("again.jpg", pictures[0]), ("empty.jpg", Data()), ("film.mov", film),
                ("note.jpg", Data("no picture".utf8)), ("b.jpg", pictures[1]),
            ]
            let session = UUID().uuidString.lowercased()
            let importing = try await phone.call("library.importUploads", "{\"session\":\"\(session)\"}")
            let job = try #require(importing?["result"]?["job"]?.stringValue)
            #expect(try await announce(files, in: session, from: phone)?["result"]?["files"]?.arrayValue?.count == 6)
            for (number, file) in files.enumerated() {
                let begun = try await begin(number, of: session, from: phone)
                let upload = try #require(begun.json?["upload"]?.stringValue, "\(number): \(begun.status)")
                guard !file.1.isEmpty else { continue }
                // From where it was, over another connection.
                let half = file.1.count / 2
                for piece in [file.1.prefix(half), file.1.dropFirst(half)] {
                    let path = place.folder.file("piece")
                    try piece.write(to: URL(fileURLWithPath: path))
                    let sent = try await phone.ask(
                        "/upload/\(upload)", "--request", "PATCH", "--header", "Upload-Offset: \(piece.startIndex)",
                        "--data-binary", "@" + path)
                    #expect(sent.status == 204)
                    if piece.startIndex == 0 {
                        // Of another device nothing is taken, and it is told nothing.
                        #expect(try await begin(number, of: session, from: other).status == 403)
                        #expect(try await other.ask("/upload/\(upload)", "--request", "DELETE").status == 403)
                        let again = try await begin(number, of: session, from: phone)
                        #expect(again.json?["offset"]?.integerValue == Int64(half))
                    }
                }
            }
            let refused = try await announce([("c.jpg", Data([1]))], in: session, from: other)
            #expect(refused?["error"]?["data"]?["status"] == "permission_denied")
            #expect(try await other.call("upload.sessions")?["result"]?["sessions"]?.arrayValue == [])
            #expect(try await phone.call("job.wait", "{\"job\":\"\(job)\"}")?["error"] == nil)
            let lines = try await phone.call("job.receipt", "{\"job\":\"\(job)\"}")?["result"]?["lines"]?.arrayValue
            let names = lines?.compactMap { $0["item"]?.stringValue } ?? []
            #expect(names.sorted() == files.map(\.0).sorted())
            let imported = lines?.filter { $0["outcome"] == "imported" }.compactMap { $0["item"]?.stringValue } ?? []
            #expect(Set(imported).intersection(["a.jpg", "again.jpg"]).count == 1 && imported.contains("b.jpg"))
            let receipt = try await place.smilepile("jobs", "show", job)
            #expect(receipt.status == 5 && receipt.output.contains("note.jpg"), "\(receipt.output)")
            #expect(try place.files("uploads").isEmpty)
        }
    }
}
