import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import ServiceMesh
import Testing

/// The page's program in front of the real daemon, as a browser meets it; curl stands for the browser.
@Suite(.serialized, .timeLimit(.minutes(4))) struct WebTests {
    /// A browser, with its cookies in a file of its own.
    struct Browser {
        let place: Installation
        let address: String
        let jar: String

        struct Reply {
            let status: Int
            let body: Data
            var json: JSONValue? { try? JSONDecoder().decode(JSONValue.self, from: body) }
        }

        func ask(_ path: String, _ arguments: String...) async throws -> Reply {
            let file = place.folder.file(UUID().uuidString)
            let outcome = try await place.run(
                "/usr/bin/curl",
                ["--silent", "--cookie", jar, "--cookie-jar", jar, "--output", file, "--write-out", "%{http_code}"]
                    + ["--header", "Origin: \(address)", "--header", "Content-Type: application/json"] + arguments
                    + [address + path])
            return Reply(
                status: Int(outcome.output) ?? 0,
                body: (try? Data(contentsOf: URL(fileURLWithPath: file))) ?? Data())
        }

        func call(_ method: String, _ params: String = "{}") async throws -> JSONValue? {
            let body = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\(method)\",\"params\":\(params)}"
            return try await ask("/rpc", "--data", body).json
        }
    }

    struct Started: Decodable {
        let address: String
        let pairing: String
        let pid: Int32
        let started: Bool
    }

    func start(_ place: Installation, _ arguments: String...) async throws -> Started {
        let outcome = try await place.run("smilepile", ["web", "start", "--json"] + arguments)
        try #require(outcome.status == 0, "\(outcome.errors)")
        return try JSONDecoder().decode(Started.self, from: Data(outcome.output.utf8))
    }

    func pair(_ place: Installation, _ started: Started, as name: String) async throws -> Browser {
        let browser = Browser(place: place, address: started.address, jar: place.folder.file(name + ".jar"))
        let code = try #require(started.pairing.split(separator: "=").last)
        let reply = try await browser.ask("/pair", "--data", "{\"code\":\"\(code)\",\"name\":\"\(name)\"}")
        try #require(reply.status == 200, "\(String(decoding: reply.body, as: UTF8.self))")
        return browser
    }

    /// With the daemon, an album and the page; stopped afterwards, whatever the body does.
    func withPage(_ body: (Installation, Started) async throws -> Void) async throws {
        let place = try Installation("web")
        let album = place.folder.file("album")
        try SampleAlbum(width: 320, height: 240).write(count: 3, to: album)
        try await place.up()
        try #require(try await place.smilepile("import", album).status == 0)
        let started = try await start(place, "--listen", "127.0.0.1:0")
        do {
            try await body(place, started)
        } catch {
            _ = try await place.smilepile("web", "stop")
            throw error
        }
        _ = try await place.smilepile("web", "stop")
    }

    @Test func aBrowserIsLetInSeesThePhotosAndIsPutOut() async throws {
        try await withPage { place, started in
            #expect(started.started)
            let stranger = Browser(place: place, address: started.address, jar: place.folder.file("nobody.jar"))
            #expect(try await stranger.ask("/").status == 200)
            #expect(try await stranger.ask("/rpc", "--data", "{}").status == 401)

            let phone = try await pair(place, started, as: "phone")
            let photos = try await phone.call("photo.search")?["result"]?["photos"]?.arrayValue ?? []
            #expect(photos.count == 3)
            let uuid = try #require(photos.first?["uuid"]?.stringValue)
            for kind in ["thumbnail", "preview", "photo", "original"] {
                let picture = try await phone.ask("/photos/\(uuid)/\(kind)")
                #expect(picture.status == 200 && picture.body.starts(with: [0xFF, 0xD8]))
                #expect(try await stranger.ask("/photos/\(uuid)/\(kind)").status == 401)
            }
            // A code is good once.
            let code = try #require(started.pairing.split(separator: "=").last)
            #expect(try await stranger.ask("/pair", "--data", "{\"code\":\"\(code)\",\"name\":\"x\"}").status == 401)

            let listed = try await place.smilepile("web", "devices")
            #expect(listed.output.contains("phone"))
            #expect(try await place.smilepile("web", "forget", "phone").status == 0)
            #expect(try await phone.ask("/photos/\(uuid)/photo").status == 401)
        }
    }

    /// By the command line, and through the page's program, which keeps nothing of what the browser was before.
    @Test func aBrowserIsMadeAChildsAndALookersByCommands() async throws {
        try await withPage { place, started in
            let phone = try await pair(place, started, as: "phone")
            #expect(try await place.smilepile("categories", "add", "Secret").status == 0)
            let photos = try await phone.call("photo.search")?["result"]?["photos"]?.arrayValue ?? []
            let ids = photos.compactMap { $0["id"]?.integerValue }
            let uuids = photos.compactMap { $0["uuid"]?.stringValue }
            try #require(ids.count == 3 && uuids.count == 3)
            #expect(try await place.smilepile("photos", "move", "\(ids[0])", "--to", "Secret").status == 0)
            for uuid in uuids { #expect(try await phone.ask("/photos/\(uuid)/thumbnail").status == 200) }

            let made = try await place.smilepile("web", "devices", "role", "phone", "child", "--category", "family")
            #expect(made.status == 0 && made.output == "phone is for: child: Family.\n", "\(made.errors)")
            #expect(try await phone.ask("/photos/\(uuids[0])/thumbnail").status == 404)
            for kind in ["thumbnail", "photo"] {
                #expect(try await phone.ask("/photos/\(uuids[1])/\(kind)").status == 200)
            }
            #expect(try await phone.ask("/photos/\(uuids[1])/original").status == 403)
            #expect(try await phone.call("photo.count")?["result"]?["count"] == 2)
            #expect(try await phone.call("pin.unlock", #"{"pin":"1234"}"#)?["error"]?["data"]?["deviceRole"] == "child")
            #expect(try await place.smilepile("web", "devices").output.contains("child: Family"))

            #expect(try await place.smilepile("web", "devices", "role", "phone", "looker").status == 0)
            #expect(try await phone.call("photo.count")?["result"]?["count"] == 3)
            #expect(try await phone.ask("/photos/\(uuids[0])/original").status == 200)
            let favourite = try await phone.call("photo.favorite", #"{"ids":[\#(ids[0])],"isFavorite":true}"#)
            #expect(favourite?["result"]?["count"] == 1)
            let deleted = try await phone.call("photo.delete", #"{"ids":[\#(ids[0])]}"#)
            #expect(deleted?["error"]?["data"]?["status"] == "permission_denied")

            for wrong in [["phone", "child"], ["phone", "looker", "--category", "Family"], ["phone", "owner"]] {
                #expect(try await place.run("smilepile", ["web", "devices", "role"] + wrong).status == 2, "\(wrong)")
            }
            #expect(
                try await place.smilepile("web", "devices", "role", "phone", "child", "--category", "None").status == 1)
            #expect(try await place.smilepile("web", "devices", "role", "fridge", "looker").status == 1)
        }
    }

    @Test func aCodeIsForAChildWhereTheCommandSaysSo() async throws {
        try await withPage { place, started in
            let wanted = ["web", "--json", "--for", "child", "--category", "Family", "--category", "Cars"]
            let outcome = try await place.run("smilepile", wanted)
            try #require(outcome.status == 0, "\(outcome.errors)")
            let tablet = try await pair(
                place, try JSONDecoder().decode(Started.self, from: Data(outcome.output.utf8)), as: "tablet")
            let hello = try await tablet.call("rpc.hello")
            #expect(hello?["result"]?["role"] == "kid" && hello?["result"]?["ceiling"] == "kid")
            #expect(try await tablet.call("category.count")?["result"]?["count"] == 2)
            #expect(try await place.smilepile("web", "--for", "child").status == 2)
        }
    }

    @Test func theProgramHasGivenUpWhatItDoesNotNeed() async throws {
        try await withPage { place, started in
            // It says that it is ready while it still can, and answers once it has given up the rest.
            _ = try await pair(place, started, as: "phone")
            let status = try String(contentsOfFile: "/proc/\(started.pid)/status", encoding: .utf8)
            #expect(status.contains("NoNewPrivs:\t1"))
            #expect(status.contains("Seccomp:\t2"))
            let log = try String(
                contentsOfFile: place.folder.file("home/.local/state/smilepile/web.log"), encoding: .utf8)
            // Neither a code nor a token is written down.
            let code = try #require(started.pairing.split(separator: "=").last)
            #expect(!log.contains(code))
        }
    }

    @Test func aPageThatIsKilledIsNothingToTheDaemonAndComesBackWithItsBrowsers() async throws {
        try await withPage { place, started in
            let phone = try await pair(place, started, as: "phone")
            let port = try #require(started.address.split(separator: ":").last)
            let before = place.daemonPID
            kill(started.pid, SIGKILL)
            #expect(try await place.smilepile("ping").status == 0)
            #expect(place.daemonPID == before)
            let again = try await start(place, "--listen", "127.0.0.1:\(port)")
            #expect(again.started && again.pid != started.pid)
            #expect(try await phone.call("category.list")?["result"] != nil)
        }
    }

    @Test func aDaemonThatIsRestartedIsFoundAgain() async throws {
        try await withPage { place, started in
            let phone = try await pair(place, started, as: "phone")
            #expect(try await place.smilepile("down").status == 0)
            let away = try await phone.ask(
                "/rpc", "--data", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"category.list\"}")
            #expect(away.status == 503 && away.json?["error"]?["data"]?["retryable"] == true)
            try await place.up()
            #expect(try await phone.call("category.list")?["result"] != nil)
        }
    }

    @Test func aChildsBrowserIsRefusedByTheDaemonAndAPINUnlocksOneBrowserAlone() async throws {
        try await withPage { place, started in
            let tablet = try await pair(place, started, as: "tablet")
            let phone = try await pair(place, try await start(place), as: "phone")
            #expect(try await phone.call("pin.set", "{\"pin\":\"4711\"}")?["error"] == nil)
            #expect(try await phone.call("mode.set", "{\"mode\":\"kids\"}")?["error"] == nil)
            for browser in [tablet, phone] {
                let refused = try await browser.call("category.add", "{\"displayName\":\"Mine\"}")
                #expect(refused?["error"]?["data"]?["status"] == "permission_denied")
            }
            #expect(try await phone.call("pin.unlock", "{\"pin\":\"4711\"}")?["error"] == nil)
            #expect(try await phone.call("category.add", "{\"displayName\":\"Ours\"}")?["result"] != nil)
            let still = try await tablet.call("category.add", "{\"displayName\":\"Mine\"}")
            #expect(still?["error"]?["data"]?["status"] == "permission_denied")
        }
    }

    @Test func aFileThatIsSentInTwoPiecesIsOnePhotoWithOneReceipt() async throws {
        try await withPage { place, started in
            let phone = try await pair(place, started, as: "phone")
            let source = place.folder.file("sent")
            try SampleAlbum(width: 500, height: 400).write(count: 4, to: source)
            let name = try #require(try FileManager.default.contentsOfDirectory(atPath: source).sorted().last)
            let bytes = try Data(contentsOf: URL(fileURLWithPath: source + "/" + name))
            let begun = try await phone.ask(
                "/upload", "--request", "POST", "--header", "Upload-Name: Gr%C3%B6%C3%9Fe.jpg", "--header",
                "Upload-Length: \(bytes.count)")
            let upload = try #require(begun.json?["upload"]?.stringValue)
            for piece in [bytes.prefix(1_000), bytes.dropFirst(1_000)] {
                let file = place.folder.file("piece")
                try piece.write(to: URL(fileURLWithPath: file))
                let sent = try await phone.ask(
                    "/upload/\(upload)", "--request", "PATCH", "--header", "Upload-Offset: \(piece.startIndex)",
                    "--data-binary", "@" + file)
                #expect(sent.status == 204)
            }
            // Another that is given up.
            let other = try await phone.ask(
                "/upload", "--request", "POST", "--header", "Upload-Name: x.jpg", "--header", "Upload-Length: 5")
            let unwanted = try #require(other.json?["upload"]?.stringValue)
            #expect(try await phone.ask("/upload/\(unwanted)", "--request", "DELETE").status == 204)
            #expect(try await phone.ask("/upload/\(unwanted)", "--head").status == 404)
            // One that does not begin where the last ended is told so.
            let wrong = try await phone.ask(
                "/upload/\(upload)", "--request", "PATCH", "--header", "Upload-Offset: 5", "--data-binary", "x")
            #expect(wrong.status == 409)
            let job = try await phone.call("library.import", "{\"uploads\":[\"\(upload)\"]}")?["result"]?["job"]?
                .stringValue
            let id = try #require(job)
            #expect(try await phone.call("job.wait", "{\"job\":\"\(id)\"}")?["error"] == nil)
            let original = try await phone.call("photo.search", "{\"limit\":1000}")?["result"]?["photos"]?.arrayValue
            #expect(original?.count == 4)
            // As it was sent, byte for byte.
            var found = false
            for photo in original ?? [] {
                let uuid = try #require(photo["uuid"]?.stringValue)
                if try await phone.ask("/photos/\(uuid)/original").body == bytes { found = true }
            }
            #expect(found)
        }
    }

    @Test func onlyOnePageServesADaemon() async throws {
        try await withPage { place, started in
            let other = try await place.run("smilepile-web", ["--listen", "127.0.0.1:0", "--socket", place.socket])
            #expect(other.status == 1 && other.errors.contains("smilepile web stop"))
            #expect(try await start(place).started == false)
            let elsewhere = try await place.smilepile("web", "--listen", "127.0.0.1:1")
            #expect(elsewhere.status == 1 && elsewhere.errors.contains("web stop"))
            #expect(try await place.smilepile("web", "stop").status == 0)
            #expect(try await place.smilepile("web", "status").output.contains("does not run"))
        }
    }

    @Test(arguments: [
        ["--listen", "0.0.0.0:0"], ["--listen", "photos.house"], ["--tls-cert", "x"], ["--nonsense"], ["--listen"],
    ])
    func whatWouldNotBeSafeIsRefused(_ arguments: [String]) async throws {
        let place = try Installation("web")
        let outcome = try await place.run("smilepile-web", arguments)
        #expect(outcome.status == 2 && outcome.errors.contains("Usage"))
    }
}
