import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import ServiceMesh
import Testing

/// Two machines of one person, each with a home, a daemon and a library of its own, over real HTTP.
@Suite(.serialized, .timeLimit(.minutes(3))) struct SwipeMachineTests {
    private func history(_ place: Installation) async throws -> Set<String> {
        let client = try place.client()
        defer { client.close() }
        let reply = try await client.call(method: "swipe.history", params: Data("{}".utf8), deadlineMs: nil)
        return Set(
            try JSONDecoder().decode(SwipeHistory.self, from: reply).actions.map {
                "\($0.sessionID) \($0.contentDigest) \($0.action) \($0.timestamp)"
            })
    }

    /// - Parameter decisions: about the photos in the order of their files' names: which numbers they have, each library decides.
    private func review(_ place: Installation, _ decisions: [(photo: Int, action: String)]) async throws -> String {
        let client = try place.client()
        defer { client.close() }
        let reply = try await client.call(method: "photo.search", params: Data("{}".utf8), deadlineMs: nil)
        let photos = try JSONDecoder().decode(PhotoPage.self, from: reply).photos.sorted { $0.name < $1.name }
        let session = try await place.smilepile("swipe", "start").output
            .trimmingCharacters(in: .whitespacesAndNewlines)
        for (photo, action) in decisions {
            let recorded = try await place.smilepile("swipe", "record", session, String(photos[photo].id), action)
            try #require(recorded.status == 0, "\(recorded.errors)")
        }
        return session
    }

    @Test func reviewsOfBothAreOnBoth() async throws {
        let (home, laptop) = (try Installation("home"), try Installation("laptop"))
        for place in [home, laptop] {
            let album = place.folder.file("album")
            try SampleAlbum(width: 64, height: 48).write(count: 4, to: album)
            try await place.up()
            try #require(try await place.smilepile("import", album).status == 0)
        }
        let started = try await WebTests().start(home, "--listen", "127.0.0.1:0")
        do {
            try await meet(home, laptop, started.address)
        } catch {
            _ = try await home.smilepile("web", "stop")
            throw error
        }
        _ = try await home.smilepile("web", "stop")
        for place in [home, laptop] { try await place.smilepile("down") }
    }

    private func meet(_ home: Installation, _ laptop: Installation, _ address: String) async throws {
        let shared = try await home.smilepile("swipe", "share", "laptop")
        try #require(shared.status == 0, "\(shared.errors)")
        let link = shared.output.trimmingCharacters(in: .whitespacesAndNewlines)
        try #require(link.hasPrefix(address + "/#reviews="), "\(link)")
        let token = String(link.split(separator: "=").last ?? "")
        // Reviewed before they know each other, and while they do not meet.
        _ = try await review(home, [(0, "trash"), (1, "favorite")])
        let joined = try await laptop.smilepile("swipe", "join", link)
        #expect(joined.status == 0 && !joined.output.contains(token), "\(joined.output)\(joined.errors)")
        #expect(try await history(laptop).count == 2)
        _ = try await home.smilepile("web", "stop")
        let session = try await review(laptop, [(0, "keep"), (2, "trash"), (3, "trash")])
        #expect(try await laptop.smilepile("swipe", "undo", session).status == 0)
        #expect(try await laptop.smilepile("swipe", "sync").status == 5)
        let machines = try await laptop.smilepile("swipe", "machines")
        #expect(machines.output.contains("does not answer"), "\(machines.output)")
        let port = try #require(address.split(separator: ":").last)
        _ = try await WebTests().start(home, "--listen", "127.0.0.1:\(port)")
        let synced = try await laptop.smilepile("swipe", "sync")
        #expect(synced.status == 0 && synced.output.contains("Sent 2 decisions"), "\(synced.output)\(synced.errors)")
        let all = try await history(home)
        #expect(all.count == 4)
        #expect(try await history(laptop) == all)
        for place in [home, laptop] {
            // Of the two about the first the later one counts.
            let processed = try await place.smilepile("swipe", "process")
            #expect(processed.output.hasPrefix("1 favourite, 1 to the trash, 1 kept."), "\(processed.output)")
            #expect(try await place.smilepile("settings").output.contains("lastSyncDate"))
        }
        // The token opens this and nothing else, and nothing once it is taken back.
        for (path, token, status) in [
            ("/api/reviews", token, "200"), ("/api/groups", token, "401"),
            ("/api/reviews", String(token.reversed()), "401"),
        ] {
            let answered = try await answer(home, address + path, token)
            #expect(answered == status, "\(path)")
        }
        let wrong = try await home.run(
            "/usr/bin/env",
            [
                "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", "Authorization: Bearer \(token)", "-H",
                "Content-Type: application/json", "-d",
                "{\"sessions\":[],\"decisions\":[{\"session\":\"x\"}],\"undone\":[],\"next\":\"\",\"more\":false}",
                address + "/api/reviews",
            ])
        #expect(wrong.output == "400", "\(wrong.output)")
        try await tellTooMuch(home, laptop)
        let ended = try await home.smilepile("swipe", "unshare", "laptop", "--forget", "--yes")
        #expect(ended.status == 0 && ended.output.contains("removed"), "\(ended.output)\(ended.errors)")
        // What was applied stays.
        #expect(try await history(home) == all)
        #expect(try await answer(home, address + "/api/reviews", token) == "401")
        #expect(try await laptop.smilepile("swipe", "sync").status == 5)
        #expect(try await laptop.smilepile("swipe", "leave", "--yes").status == 0)
        #expect(try await laptop.smilepile("swipe", "sync").output.hasPrefix("No other machine was joined."))
    }

    /// The laptop has told of as much as is taken from one machine, and is told so.
    private func tellTooMuch(_ home: Installation, _ laptop: Installation) async throws {
        let script = """
            import sqlite3, sys
            with sqlite3.connect(sys.argv[1]) as library:
                library.execute("UPDATE swipe_machines SET taken = 100080")
            """
        let set = try await home.run(
            "/usr/bin/env", ["python3", "-c", script, home.library + "/catalogue.sqlite"])
        try #require(set.status == 0, "\(set.errors)")
        let session = try await review(laptop, [(0, "keep")])
        #expect(try await laptop.smilepile("swipe", "finish", session).status == 0)
        #expect(try await laptop.smilepile("swipe", "sync").status == 5)
        let machines = try await laptop.smilepile("swipe", "machines")
        #expect(machines.output.contains("takes no more reviews"), "\(machines.output)")
    }

    private func answer(_ place: Installation, _ url: String, _ token: String) async throws -> String {
        try await place.run(
            "/usr/bin/env",
            ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", "Authorization: Bearer \(token)", url]
        ).output
    }
}
