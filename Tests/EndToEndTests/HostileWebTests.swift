import EndToEndSupport
import Foundation
import LibraryModel
import ServiceMesh
import TestSupport
import Testing

/// Whoever guesses, sends what he should not, or is cut off.
extension WebTests {
    /// Over HTTP as over the socket: counted by device, and on disk. Who guesses on a tablet keeps nobody from the phone.
    @Test func aPINIsNotGuessedOverHTTP() async throws {
        try await withPage { place, started in
            let tablet = try await pair(place, started, as: "tablet")
            let phone = try await pair(place, try await start(place), as: "phone")
            #expect(try await phone.call("pin.set", "{\"pin\":\"4711\"}")?["error"] == nil)
            #expect(try await phone.call("mode.set", "{\"mode\":\"kids\"}")?["error"] == nil)
            for number in 0..<5 {
                let wrong = try await tablet.call("pin.unlock", "{\"pin\":\"000\(number)\"}")
                #expect(wrong?["error"]?["data"]?["status"] == "unauthenticated")
            }
            // From now on the right one has to wait too, also at the next start.
            let right = try await tablet.call("pin.unlock", "{\"pin\":\"4711\"}")
            #expect(right?["error"]?["data"]?["status"] == "resource_exhausted")
            #expect((right?["error"]?["data"]?["retryAfterMs"]?.integerValue ?? 0) > 0)
            try await place.killDaemon()
            try await place.up()
            let again = try await tablet.call("pin.unlock", "{\"pin\":\"4711\"}")
            #expect(again?["error"]?["data"]?["status"] == "resource_exhausted")
            let still = try await tablet.call("trash.list")
            #expect(still?["error"]?["data"]?["status"] == "permission_denied")
            let unlocked = try await phone.call("pin.unlock", "{\"pin\":\"4711\"}")
            guard case .array(let guesses)? = unlocked?["result"]?["guesses"] else {
                Issue.record("The parent is not told who guessed: \(unlocked.map { "\($0)" } ?? "no reply")")
                return
            }
            #expect(guesses.map { $0["name"]?.stringValue } == ["tablet"])
            #expect(guesses.map { $0["count"]?.integerValue } == [5])
        }
    }

    /// - Returns: the upload's id.
    private func send(_ file: String, as name: String, from browser: Browser) async throws -> String {
        let size = try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int ?? 0
        let begun = try await browser.ask(
            "/upload", "--request", "POST", "--header", "Upload-Name: \(name)", "--header", "Upload-Length: \(size)")
        let upload = try #require(begun.json?["upload"]?.stringValue)
        let sent = try await browser.ask(
            "/upload/\(upload)", "--request", "PATCH", "--header", "Upload-Offset: 0", "--data-binary", "@" + file)
        #expect(sent.status == 204)
        return upload
    }

    @Test(.enabled(if: Corpus.isPresent, "the corpus is not here; set SMILEPILE_CORPUS"))
    func bombsAndWhatIsNoPictureLeaveNothingBehind() async throws {
        let hostile = try Corpus.table("hostile/expect.tsv").filter { row in
            ["hostile/img-bomb/", "hostile/made-zip-bomb/"].contains { row["path"]?.hasPrefix($0) == true }
        }
        try #require(hostile.count > 5)
        try await withPage { place, started in
            let phone = try await pair(place, started, as: "phone")
            let nothing = place.folder.file("nothing.jpg")
            try Data().write(to: URL(fileURLWithPath: nothing))
            var uploads = [try await send(nothing, as: "nothing.jpg", from: phone)]
            for (number, row) in hostile.enumerated() {
                // Under the name of a picture, whatever it is.
                let path = Corpus.folder + "/" + (row["path"] ?? "")
                uploads.append(try await send(path, as: "\(number).jpg", from: phone))
            }
            let names = uploads.map { "\"\($0)\"" }.joined(separator: ",")
            let begun = try await phone.call("library.import", "{\"uploads\":[\(names)]}")
            let job = try #require(begun?["result"]?["job"]?.stringValue)
            let end = try await phone.call("job.wait", "{\"job\":\"\(job)\"}")
            #expect(end?["result"]?["state"] == "finished")
            let client = try place.client()
            // Some are small pictures with a chunk that is one: those are photos, and whole.
            #expect(try await place.isConsistent(client))
            let receipt = try await phone.call("job.receipt", "{\"job\":\"\(job)\",\"limit\":1000}")
            let lines = receipt?["result"]?["lines"]?.arrayValue ?? []
            #expect(lines.count == uploads.count)
            // Each under the name that it was sent by, and not where it lay.
            #expect(lines.allSatisfy { $0["item"]?.stringValue?.contains("/") == false })
            #expect(try place.files("uploads").isEmpty)
            client.close()
        }
    }

    /// Its file is open in the page's program by then: the daemon is not asked for the bytes.
    @Test func aPictureGoesOnWhereTheDaemonIsKilledInTheMiddleOfIt() async throws {
        try await withPage { place, started in
            // More than any buffer on the way takes: 12 MB without compression.
            let (width, height) = (2_000, 2_000)
            var bytes = Data("BM".utf8)
            func add(_ number: Int, _ count: Int) {
                for place in 0..<count { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * place))) }
            }
            for (number, count) in [
                (54 + 3 * width * height, 4), (0, 4), (54, 4), (40, 4), (width, 4), (height, 4), (1, 2), (24, 2),
                (0, 4),
                (3 * width * height, 4), (2_835, 4), (2_835, 4), (0, 4), (0, 4),
            ] { add(number, count) }
            bytes.append(contentsOf: (0..<3 * width * height).map { UInt8(truncatingIfNeeded: $0 / 3_000) })
            let file = place.folder.file("large.bmp")
            try bytes.write(to: URL(fileURLWithPath: file))
            try #require(try await place.smilepile("import", file).status == 0)
            let phone = try await pair(place, started, as: "phone")
            let photos = try await phone.call("photo.search", "{\"text\":\"large\"}")?["result"]?["photos"]?.arrayValue
            let uuid = try #require(photos?.first?["uuid"]?.stringValue)

            // What nobody reads fills the pipe, and then curl's window.
            let pipe = place.folder.file("pipe")
            try #require(mkfifo(pipe, 0o600) == 0)
            let curl = try place.start(
                "/usr/bin/curl",
                [
                    "--silent", "--fail", "--cookie", phone.jar, "--output", pipe,
                    "\(started.address)/photos/\(uuid)/original",
                ])
            let reader = try await Self.opened(pipe)
            #expect(try await Self.read(reader, 1_000) == bytes.prefix(1_000))
            try await place.killDaemon()
            #expect(try await Self.read(reader, .max) == bytes.dropFirst(1_000))
            #expect(try await curl.outcome().status == 0)
            // And then it says that the daemon is away.
            #expect(try await phone.ask("/photos/\(uuid)/photo").status == 503)
        }
    }

    /// Waits for the writer; on a thread of its own.
    private static func opened(_ pipe: String) async throws -> FileHandle {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try FileHandle(forReadingFrom: URL(fileURLWithPath: pipe)) })
            }
        }
    }

    private static func read(_ handle: FileHandle, _ count: Int) async throws -> Data {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result { try (count == .max ? handle.readToEnd() : handle.read(upToCount: count)) ?? Data() })
            }
        }
    }
}
