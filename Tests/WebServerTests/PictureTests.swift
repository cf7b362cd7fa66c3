import Foundation
import ServiceMesh
import Testing

@testable import WebServer

@Suite struct PictureTests {
    private let uuid = "0b7f6a52-3f0e-4c3e-9b1d-2f6d5a4c3b2a"
    private let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }

    private func put(_ site: Site, kind: String = "photo", _ change: (inout FakeDaemon.Picture) -> Void = { _ in }) {
        var picture = FakeDaemon.Picture(bytes: bytes)
        change(&picture)
        site.daemon.state.withLock { $0.pictures["\(uuid)/\(kind)"] = picture }
    }

    @Test func aPictureComesWholeAndOverAConnectionThatStays() async throws {
        try await withSite { site in
            put(site)
            let cookie = try await site.pair()
            let connection = try await site.connect()
            for _ in 0..<3 {
                try await connection.send(site.request("GET", "/photos/\(uuid)/photo?v=00ff00ff00ff00ff", [cookie]))
                let reply = try await connection.reply()
                #expect(reply.status == 200 && reply.body == bytes)
                #expect(reply.header("content-type") == "image/jpeg")
                #expect(reply.header("etag") == "\"00ff00ff00ff00ff-photo\"")
                #expect(reply.header("cache-control") == "private, max-age=31536000, immutable")
                #expect(reply.header("accept-ranges") == "bytes")
                #expect(reply.header("content-disposition") == nil)
            }
            let head = try await site.ask("HEAD", "/photos/\(uuid)/photo", [cookie])
            #expect(head.status == 200 && head.header("content-length") == "100000")
            #expect(head.header("cache-control") == "private, no-cache")
        }
    }

    /// A browser that has the picture from before asks for another address, and one that asks for the old one keeps nothing.
    @Test func aTurnedPhotoIsAnotherPicture() async throws {
        try await withSite { site in
            let cookie = try await site.pair()
            for (rotation, version) in [(90, "00ff00ff00ff00ffr90"), (nil, "00ff00ff00ff00ff")] as [(Int?, String)] {
                for kind in ["thumbnail", "preview", "photo"] {
                    put(site, kind: kind) { $0.rotation = rotation }
                    let reply = try await site.ask("GET", "/photos/\(uuid)/\(kind)?v=\(version)", [cookie])
                    #expect(reply.status == 200 && reply.header("etag") == "\"\(version)-\(kind)\"")
                    #expect(reply.header("cache-control") == "private, max-age=31536000, immutable")
                    let other = version.hasSuffix("r90") ? "00ff00ff00ff00ff" : "00ff00ff00ff00ffr90"
                    let old = try await site.ask(
                        "GET", "/photos/\(uuid)/\(kind)?v=\(other)",
                        [cookie, "If-None-Match: \"\(other)-\(kind)\""])
                    #expect(old.status == 200 && old.header("cache-control") == "private, no-cache")
                }
            }
        }
    }

    @Test func aPreviewIsOneOfThePictures() async throws {
        try await withSite { site in
            put(site, kind: "preview") { $0.mediaType = "image/webp" }
            let cookie = try await site.pair()
            let reply = try await site.ask("GET", "/photos/\(uuid)/preview?v=00ff00ff00ff00ff", [cookie])
            #expect(reply.status == 200 && reply.body == bytes)
            #expect(reply.header("content-type") == "image/webp")
            #expect(reply.header("etag") == "\"00ff00ff00ff00ff-preview\"")
            #expect(reply.header("cache-control") == "private, max-age=31536000, immutable")
            #expect(try await site.ask("GET", "/photos/\(uuid)/preview").status == 401)
        }
    }

    @Test func partsAndWhatIsThereAlready() async throws {
        try await withSite { site in
            put(site)
            let cookie = try await site.pair()
            let path = "/photos/\(uuid)/photo"
            let part = try await site.ask("GET", path, [cookie, "Range: bytes=10-19"])
            #expect(part.status == 206 && part.body == Array(bytes[10..<20]))
            #expect(part.header("content-range") == "bytes 10-19/100000")
            let tail = try await site.ask("GET", path, [cookie, "Range: bytes=-5"])
            #expect(tail.status == 206 && tail.body == Array(bytes.suffix(5)))
            let past = try await site.ask("GET", path, [cookie, "Range: bytes=100000-"])
            #expect(past.status == 416 && past.header("content-range") == "bytes */100000")
            let other = try await site.ask("GET", path, [cookie, "Range: bytes=0-1", "If-Range: \"else\""])
            #expect(other.status == 200 && other.body.count == 100_000)
            let same = try await site.ask("GET", path, [cookie, "If-None-Match: \"x\", \"00ff00ff00ff00ff-photo\""])
            #expect(same.status == 304 && same.body.isEmpty)
        }
    }

    @Test(arguments: [
        "image/svg+xml", "text/html", "application/xhtml+xml", "image/jpeg\r\nX: y", "", "image/x-icon",
    ])
    func whatIsNoPictureIsNeverShown(_ type: String) async throws {
        try await withSite { site in
            put(site, kind: "original") {
                $0.mediaType = type
                $0.name = "x\r\n\u{202E}.svg"
            }
            let cookie = try await site.pair()
            let reply = try await site.ask("GET", "/photos/\(uuid)/original", [cookie])
            #expect(reply.status == 200 && reply.header("content-type") == "application/octet-stream")
            #expect(reply.header("content-disposition")?.hasPrefix("attachment; filename=\"x.svg\"") == true)
            #expect(reply.header("x") == nil)
            #expect(reply.headers.filter { $0.0 == "content-security-policy" }.contains { $0.1.contains("sandbox") })
        }
    }

    /// A raw file is called what it is, and no browser is asked to show it.
    @Test func aRawFileIsADownloadOfItsType() async throws {
        try await withSite { site in
            put(site, kind: "original") {
                $0.mediaType = "image/x-adobe-dng"
                $0.name = "IMG_1.DNG"
            }
            let cookie = try await site.pair()
            let reply = try await site.ask("GET", "/photos/\(uuid)/original", [cookie])
            #expect(reply.status == 200 && reply.header("content-type") == "image/x-adobe-dng")
            #expect(reply.header("content-disposition")?.hasPrefix("attachment; filename=\"IMG_1.DNG\"") == true)
        }
    }

    @Test func aDownloadHasTheNameThatThePhotoHad() async throws {
        try await withSite { site in
            put(site) { $0.name = "../Größe \"1\".jpg" }
            let cookie = try await site.pair()
            let reply = try await site.ask("GET", "/photos/\(uuid)/photo?download=1", [cookie])
            #expect(
                reply.header("content-disposition")
                    == "attachment; filename=\"Gr__e _1_.jpg\"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20%221%22.jpg")
        }
    }

    @Test(arguments: [
        "/photos/x/photo", "/photos/0b7f6a52-3f0e-4c3e-9b1d-2f6d5a4c3b2a/", "/photos/..%2fx/photo",
        "/photos/0b7f6a52-3f0e-4c3e-9b1d-2f6d5a4c3b2a/sealed", "/photos/0b7f6a52-3f0e-4c3e-9b1d-2f6d5a4c3b2b/photo",
        "/photos/0b7f6a52-3f0e-4c3e-9b1d-2f6d5a4c3b2a/photo/", "/photos//photo", "/photos",
    ])
    func whatIsNotThereIsNotFound(_ path: String) async throws {
        try await withSite { site in
            put(site)
            let cookie = try await site.pair()
            #expect(try await site.ask("GET", path, [cookie]).status == 404)
        }
    }

    // MARK: What is kept

    /// Asks until the daemon's changes are followed and the picture is kept, for longer than any test takes.
    private func withKeptThumbnail(
        _ body: (Site, _ cookie: String, _ replies: (first: RawReply, kept: RawReply)) async throws -> Void
    ) async throws {
        var limits = HTTPLimits()
        limits.keptSeconds = 3600
        try await withSite(limits: limits) { site in
            put(site, kind: "thumbnail") { $0.bytes = Array(bytes.prefix(20_000)) }
            let cookie = try await site.pair()
            let first = try await site.ask("GET", thumbnail, [cookie])
            var kept = first
            var asked: Int
            repeat {
                asked = opened(site)
                kept = try await site.ask("GET", thumbnail, [cookie])
            } while opened(site) != asked
            try await body(site, cookie, (first, kept))
        }
    }

    private var thumbnail: String { "/photos/\(uuid)/thumbnail?v=00ff00ff00ff00ff" }

    /// How often the daemon has handed over a picture.
    private func opened(_ site: Site) -> Int { site.daemon.calls.count { $0 == "photo.open" } }

    @Test func aThumbnailIsGivenAgainAsItWas() async throws {
        try await withKeptThumbnail { site, cookie, replies in
            #expect(replies.kept.status == 200 && replies.kept.body == Array(bytes.prefix(20_000)))
            func headers(_ reply: RawReply) -> [String] {
                reply.headers.filter { $0.0 != "date" }.map { $0.0 + ": " + $0.1 }.sorted()
            }
            #expect(headers(replies.kept) == headers(replies.first))
            // What asks for something else than all of it goes its usual way.
            let part = try await site.ask("GET", thumbnail, [cookie, "Range: bytes=0-9"])
            #expect(part.status == 206 && part.body.count == 10)
            let known = try await site.ask("GET", thumbnail, [cookie, "If-None-Match: *"])
            #expect(known.status == 304 && known.body.isEmpty)
            #expect(try await site.ask("HEAD", thumbnail, [cookie]).status == 200)
        }
    }

    @Test func whatIsInTheTrashHasAnAddressOfItsOwnAndIsNotKept() async throws {
        try await withSite { site in
            site.daemon.state.withLock {
                $0.pictures["trash/\(uuid)/thumbnail"] = FakeDaemon.Picture(bytes: Array(bytes.prefix(20_000)))
            }
            let cookie = try await site.pair()
            let path = "/trash/\(uuid)/thumbnail"
            #expect(try await site.ask("GET", "/photos/\(uuid)/thumbnail", [cookie]).status == 404)
            #expect(try await site.ask("GET", path).status == 401)
            let reply = try await site.ask("GET", path, [cookie])
            #expect(reply.status == 200 && reply.body == Array(bytes.prefix(20_000)))
            #expect(reply.header("cache-control") == "private, no-cache")
            #expect(try await site.ask("GET", path + "?v=00ff00ff00ff00ff", [cookie]).status == 200)
            site.daemon.state.withLock { $0.pictures = [:] }
            for path in [path, path + "?v=00ff00ff00ff00ff"] {
                #expect(try await site.ask("GET", path, [cookie]).status == 404)
            }
        }
    }

    @Test func nobodyElseIsGivenIt() async throws {
        try await withKeptThumbnail { site, cookie, _ in
            #expect(try await site.ask("GET", thumbnail).status == 401)
            #expect(try await site.ask("GET", thumbnail, [cookie + "x"]).status == 401)
            #expect(try await site.ask("GET", thumbnail, [cookie, "Host: evil.example"]).status == 421)
            #expect(try await site.ask("GET", thumbnail, [cookie, "Sec-Fetch-Site: cross-site"]).status == 403)
            let asked = opened(site)
            let other = try await site.pair()
            #expect(try await site.ask("GET", thumbnail, [other]).status == 200)
            #expect(opened(site) == asked + 1)
        }
    }

    @Test func itGoesWithItsDevice() async throws {
        try await withKeptThumbnail { site, cookie, _ in
            let unpaired = try await site.ask("POST", "/unpair", ["Origin: \(site.origin)", cookie])
            #expect(unpaired.status < 300)
            #expect(try await site.ask("GET", thumbnail, [cookie]).status == 401)
        }
    }

    @Test(.timeLimit(.minutes(1))) func aChangeForgetsIt() async throws {
        try await withKeptThumbnail { site, cookie, _ in
            site.daemon.changePhotos { $0 = [:] }
            let status = try await whenNotGiven(site, cookie)
            #expect(status == 404)
        }
    }

    /// It is another photo's for whoever may see less now, and the connection with the old role is not used again.
    @Test(.timeLimit(.minutes(1))) func aChangeOfWhatItsDeviceMayForgetsIt() async throws {
        try await withKeptThumbnail { site, cookie, _ in
            let connected = site.daemon.state.withLock { $0.connected }
            site.daemon.changeRights { $0.pictures = [:] }
            let status = try await whenNotGiven(site, cookie)
            #expect(status == 404)
            #expect(site.daemon.state.withLock { $0.connected } > connected)
        }
    }

    /// What a child's device does not see changes unheard of by it, so that nothing is kept on its word.
    @Test func onAChildsDevicesWordNothingIsKept() async throws {
        var limits = HTTPLimits()
        limits.keptSeconds = 3600
        try await withSite(limits: limits) { site in
            put(site, kind: "thumbnail") { $0.bytes = Array(bytes.prefix(20_000)) }
            let cookie = try await site.pair()
            site.daemon.state.withLock { $0.childs = Set($0.tokens.values) }
            for number in 1...5 {
                #expect(try await site.ask("GET", thumbnail, [cookie]).status == 200)
                #expect(opened(site) == number)
            }
            #expect(!site.daemon.calls.contains("photo.observe"))
        }
    }

    @Test(.timeLimit(.minutes(1))) func withoutADaemonNothingIsGiven() async throws {
        try await withKeptThumbnail { site, cookie, _ in
            site.daemon.stop()
            let status = try await whenNotGiven(site, cookie)
            #expect(status == 503)
        }
    }

    /// Asks until what has happened has reached the server; it would go on for an hour where nothing told it.
    private func whenNotGiven(_ site: Site, _ cookie: String) async throws -> Int {
        while true {
            let status = try await site.ask("GET", thumbnail, [cookie]).status
            if status != 200 { return status }
        }
    }

    @Test func noFileStaysOpen() async throws {
        try await withSite { site in
            put(site)
            let cookie = try await site.pair()
            func open() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
                    try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)
                }.filter { $0.hasPrefix(site.daemon.folder.path) }.count
            }
            let connection = try await site.connect()
            for headers in [[], ["If-None-Match: *"], ["Range: bytes=1-2"], ["Range: bytes=999999-"]] {
                try await connection.send(site.request("GET", "/photos/\(uuid)/photo", [cookie] + headers))
                _ = try await connection.reply()
            }
            // One that is cut in the middle.
            let cut = try await site.connect()
            try await cut.send(site.request("GET", "/photos/\(uuid)/photo", [cookie]))
            _ = try await cut.head()
            cut.cut()
            await site.server.stop()
            #expect(try open() == 0)
        }
    }
}
