import Exchange
import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// What a member's machine makes of a hub's answers over real HTTP: what goes out and comes in all the same, and that nothing is
/// lost because of an answer that is nobody's refusal.
@Suite(.timeLimit(.minutes(4))) struct HTTPGroupSyncTests {
    private struct Case: Sendable, CustomStringConvertible {
        let question: ScriptedHub.Question
        let answer: ScriptedHub.Answer
        var goesOut = true
        /// Of the two photos there: the first one's picture is the one that is asked for in vain.
        var comeIn = 2
        /// Whether that is for good.
        var isRefusal = false

        var description: String { "\(question) \(answer)" }
    }

    private static let proxies: [ScriptedHub.Answer] = [
        .page("404 Not Found"), .page("413 Content Too Large"), .page("403 Forbidden"), .page("200 OK"),
        .redirect("https://other.example/"), .redirect("file:///etc/passwd"),
    ]
    private static let passing: [ScriptedHub.Answer] = [
        .refusal("429 Too Many Requests", .resourceExhausted, headers: ["Retry-After: 3600"]),
        .refusal("500 Internal Server Error", .internal), .refusal("501 Not Implemented", .unimplemented),
        .refusal("503 Service Unavailable", .unavailable), .refusal("507 Insufficient Storage", .resourceExhausted),
    ]
    private static let broken: [ScriptedHub.Answer] = [.silence, .reset]

    private static let cases: [Case] =
        (proxies + passing + [.page("500 Oops"), .page("401 Unauthorized")]).map {
            Case(question: .picture, answer: $0, comeIn: 1)
        } + (proxies + passing).map { Case(question: .send, answer: $0, goesOut: false) }
        + passing.map { Case(question: .photos, answer: $0, comeIn: 0) }
        + (proxies + broken + [.json(#"{"photos": 7}"#), .json(#"[{"id": 1}]"#), .page("500 Oops")]).map {
            Case(question: .photos, answer: $0, comeIn: 0)
        }
        + (proxies + passing + broken + [.json("{}"), .json(#"[{"id": "x"}]"#), .page("500 Oops")]).map {
            Case(question: .groups, answer: $0, goesOut: false, comeIn: 0)
        }
        // The way to the hub is cut, which ends the turn.
        + broken.map { Case(question: .picture, answer: $0, comeIn: 1) }
        + (broken + [.page("503 Service Unavailable")]).map {
            Case(question: .send, answer: $0, goesOut: false, comeIn: 0)
        }
        + [
            Case(question: .picture, answer: .refusal("404 Not Found", .notFound), comeIn: 1, isRefusal: true),
            Case(question: .send, answer: .refusal("409 Conflict", .alreadyExists), goesOut: false, isRefusal: true),
            Case(question: .send, answer: .refusal("404 Not Found", .notFound), goesOut: false, isRefusal: true),
            Case(
                question: .send, answer: .refusal("413 Content Too Large", .resourceExhausted), goesOut: false,
                isRefusal: true),
        ]

    /// A member's machine, with a photo in its library, that has joined a hub.
    private struct Stage {
        let folder: TemporaryFolder
        let hub: ScriptedHub
        let ben: GroupNeighbours.House

        init() async throws {
            folder = try TemporaryFolder("http")
            let wall = SetWallClock("2026-11-22T12:00:00Z")
            let album = folder.file("album")
            try SampleAlbum(width: 320, height: 240).write(count: 1, to: album)
            let name = try #require(FileManager.default.contentsOfDirectory(atPath: album).first)
            let picture = try Data(contentsOf: URL(fileURLWithPath: album + "/" + name))
            hub = try ScriptedHub(picture: picture, at: wall.now)
            var options = PhotoLibrary.Options.repeating(workers: 1)
            (options.bootClock, options.wallClock) = (SetBootClock().clock, wall.clock)
            options.keyFile = folder.file("config/sealing.key")
            options.groupRemotes = { address, token in
                try HTTPGroupRemote(
                    address, token: token, questionTime: .milliseconds(500), pictureTime: .milliseconds(500))
            }
            ben = .init(library: try await PhotoLibrary.open(at: folder.file("library"), options: options))
            let started = try await ben.mesh.send(ImportPhotos(paths: [album]))
            _ = try await ben.mesh.send(WaitForJob(job: started.job))
            let token = String(repeating: "t", count: 43)
            _ = try await ben.mesh.send(JoinGroups(address: hub.address, token: token))
        }

        func pictures() async throws -> Set<String> {
            Set(try await ben.photos().filter { $0.localPath != nil && $0.isWaiting == nil }.map(\.id))
        }
    }

    /// Some at a time: nearly all that they take is a machine's patience with a hub that fails.
    @Test func whatGoesOnAndWhatWaits() async {
        await withTaskGroup(of: Void.self) { group in
            for (number, row) in Self.cases.enumerated() {
                if number >= 6 { await group.next() }
                group.addTask {
                    do { try await check(row) } catch { Issue.record("\(row): \(error)") }
                }
            }
        }
    }

    private func check(_ row: Case) async throws {
        let stage = try await Stage()
        let (ben, hub) = (stage.ben, stage.hub)
        hub.answer(row.question, row.answer)
        let there = hub.tell()
        let own = try await ben.send(to: hub.group)
        // In one turn, or else in the next one, which begins with what has not failed yet.
        for _ in 0..<2 { _ = try await ben.sync() }
        let problem = try await ben.mesh.send(ListGroupHubs()).hubs[0].problem
        #expect((problem == nil) == row.isRefusal, "\(row): \(problem ?? "no problem")")
        #expect(try await ben.groups().map(\.id) == [hub.group], "\(row)")
        let isLost = row.isRefusal && row.question == .send
        #expect(try await ben.undelivered().map(\.id) == (isLost ? [own.id] : []), "\(row)")
        let waiting = try await ben.photos().filter { $0.isWaiting == true }.map(\.id)
        #expect(waiting == (row.goesOut || isLost ? [] : [own.id]), "\(row)")
        #expect(hub.sent == (row.goesOut ? [own.id] : []), "\(row)")
        let came = try await stage.pictures().subtracting([own.id])
        #expect(came == Set(there.suffix(row.comeIn)), "\(row)")
        // And when the hub is as it should be, all is where it belongs.
        hub.answer(row.question, nil)
        _ = try await ben.sync()
        #expect(hub.sent == (isLost ? [] : [own.id]), "\(row)")
        let all = Set(there + [own.id])
        let never: Set = row.isRefusal ? [row.question == .send ? own.id : there[0]] : []
        #expect(try await stage.pictures() == all.subtracting(never), "\(row)")
        #expect(try await ben.mesh.send(ListGroupHubs()).hubs[0].problem == nil, "\(row)")
        await ben.library.close()
    }

    /// The token goes along, and which other machines this one asks is not for a hub to say.
    @Test func aPictureIsAskedForAtTheHubAlone() async throws {
        let other = try ScriptedServer { $0.waitForEnd() }
        for url in ["http://127.0.0.1:\(other.port)/", "file:///etc/", "/etc/", "https://other.example/", ""] {
            let stage = try await Stage()
            let there = stage.hub.tell(url: url)
            #expect(try await stage.ben.sync().failed == 0)
            #expect(try await stage.pictures() == Set(there))
            #expect(stage.hub.targets.contains("/api/photos/\(stage.hub.group)/\(there[0])"), "\(url)")
            await stage.ben.library.close()
        }
        #expect(other.connections == 0)
        // One on the hub is taken as it is said; that it is not there any more is no more than that.
        let stage = try await Stage()
        stage.hub.answer(.picture, .page("403 This address has expired"))
        let there = stage.hub.tell(url: stage.hub.address + "/store/")
        _ = try await stage.ben.sync()
        #expect(try await stage.pictures() == [there[1]])
        #expect(stage.hub.targets.contains("/store/\(there[0])"))
        await stage.ben.library.close()
    }
}
