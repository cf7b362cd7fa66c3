import EndToEndSupport
import Foundation
import LibraryModel
import ServiceMesh
import Testing

/// The real programs with a configuration's file.
@Suite(.serialized, .timeLimit(.minutes(4))) struct ConfigurationStories {
    private func file(_ place: Installation) -> String { place.folder.file("home/.config/smilepile/config.toml") }

    private func log(_ place: Installation) throws -> String {
        try String(contentsOfFile: place.folder.file("home/.local/state/smilepile/daemon.log"), encoding: .utf8)
    }

    @Test func theFileSaysWhereTheLibraryAndTheSocketAre() async throws {
        let place = try Installation("e2e-config")
        let socket = place.folder.file("run/other.sock")
        #expect(try await place.smilepile("config", "set", "library", place.library).status == 0)
        #expect(try await place.smilepile("config", "set", "socket", socket).status == 0)
        #expect(try await place.smilepile("config", "set", "workers", "1").status == 0)
        let up = try await place.smilepile("up", "--json")
        #expect(up.status == 0 && up.output.contains(place.library), "\(up)")
        #expect(FileManager.default.fileExists(atPath: socket) && place.daemonPID != nil)
        #expect(try await place.smilepile("ping").status == 0)
        // A variable stands above the file, and the command line above both.
        let other = ["SMILEPILE_SOCKET": place.folder.file("run/no.sock")]
        #expect(try await place.start("smilepile", ["ping"], with: other).outcome().status == 3)
        let named = try await place.start("smilepile", ["ping", "--socket", socket], with: other).outcome()
        #expect(named.status == 0, "\(named)")
        let elsewhere = ["SMILEPILE_LIBRARY": place.folder.file("elsewhere")]
        let refused = try await place.start("smilepile", ["up"], with: elsewhere).outcome()
        #expect(refused.status == 1 && refused.errors.contains("keeps another library"), "\(refused)")
        #expect(try await place.smilepile("down").status == 0)
        #expect(try log(place).contains("the configuration is \(file(place))"))
    }

    @Test func aConfigurationThatCannotBeUsedStopsAllButWhatPutsItRight() async throws {
        let place = try Installation("e2e-config")
        #expect(try await place.smilepile("config", "set", "log-level", "info").status == 0)
        let text = "# ours\nlibary = \"/nowhere\"\n"
        try Data(text.utf8).write(to: URL(fileURLWithPath: file(place)))
        let sentence = "\(file(place)), line 2: there is no key 'libary'."
        for arguments in [["status"], ["up"], ["config"], ["config", "get", "library"], []] {
            let outcome = try await place.run("smilepile", arguments)
            #expect(outcome.status == 1 && outcome.errors.contains(sentence), "\(arguments) \(outcome)")
        }
        for (program, arguments) in [
            ("smilepiled", ["--library", place.library]), ("smilepile-web", ["--listen", "127.0.0.1:0"]),
        ] {
            let outcome = try await place.run(program, arguments + ["--socket", place.socket])
            #expect(outcome.status == 1 && outcome.errors.contains(sentence), "\(outcome)")
        }
        #expect(!FileManager.default.fileExists(atPath: place.library))
        let doctor = try await place.smilepile("doctor")
        #expect(doctor.output.contains("libary") && doctor.output.contains("smilepile config edit"), "\(doctor)")
        // An editor that leaves it wrong changes nothing; one that puts it right does.
        let wrong = try await place.start("smilepile", ["config", "edit"], with: ["EDITOR": "sed -i s/ours/mine/"])
            .outcome()
        #expect(wrong.status == 1 && wrong.errors.contains("line 2: there is no key 'libary'"), "\(wrong)")
        #expect(try String(contentsOfFile: file(place), encoding: .utf8) == text)
        let right = try await place.start(
            "smilepile", ["config", "edit"], with: ["EDITOR": "sed -i -e s/libary/library/", "VISUAL": ""]
        ).outcome()
        #expect(right.status == 0, "\(right)")
        #expect(try await place.smilepile("config", "get", "library").output == "/nowhere\n")
        let gone = try await place.start("smilepile", ["config", "edit"], with: ["EDITOR": "false"]).outcome()
        #expect(gone.status == 1 && gone.errors.contains("Nothing was changed"), "\(gone)")
    }

    @Test func theDaemonReadsItAgainAtSIGHUP() async throws {
        let place = try Installation("e2e-config")
        #expect(try await place.smilepile("config", "set", "workers", "1").status == 0)
        try await place.up()
        let pid = try #require(place.daemonPID)
        #expect(try await place.smilepile("config", "set", "workers", "2").status == 0)
        #expect(try await place.smilepile("config", "set", "log-level", "warning").status == 0)
        // The kernel hands over the first before the second, and what has been asked for is done before the end.
        kill(pid, SIGHUP)
        kill(pid, SIGTERM)
        await place.daemonIsGone()
        let log = try log(place)
        #expect(
            log.contains("serving \(place.library)") && log.contains("workers changed in the configuration"), "\(log)")
        // What is no more than information is not written any more.
        #expect(!log.contains("stopped") && !log.contains("was read again"), "\(log)")
    }

    @Test func thePageTakesItsAddressFromItAndShowsFiguresToAMonitor() async throws {
        let place = try Installation("e2e-config")
        #expect(try await place.smilepile("config", "set", "web.listen", "127.0.0.1:0").status == 0)
        try await place.up()
        let started = try await place.smilepile("web", "start", "--json")
        try #require(started.status == 0, "\(started)")
        let address = try #require(
            JSONDecoder().decode(JSONValue.self, from: Data(started.output.utf8))["address"]?.stringValue)
        #expect(!address.hasSuffix(":8468"))
        func scrape(_ token: String?) async throws -> String {
            let header = token.map { ["--header", "Authorization: Bearer \($0)"] } ?? []
            return try await place.run(
                "/usr/bin/curl", ["--silent", "--write-out", "%{http_code}"] + header + [address + "/metrics"]
            ).output
        }
        #expect(try await scrape(nil).hasSuffix("401"))
        let any = String(repeating: "A", count: 43)
        #expect(try await scrape(any).hasSuffix("401"))
        let made = try await place.smilepile("metrics", "--token")
        let token = made.output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(made.status == 0 && token.utf8.count == 43)
        let page = try await scrape(token)
        #expect(page.hasSuffix("200") && page.contains("\nsmilepile_photos 0\n"), "\(page)")
        #expect(try await scrape(any).hasSuffix("401"))
        // Only its digest is kept, and for this user alone.
        let kept = place.folder.file("home/.local/state/smilepile/metrics-token")
        #expect(try !String(contentsOfFile: kept, encoding: .utf8).contains(token))
        let next = try await place.smilepile("metrics", "--token").output.trimmingCharacters(
            in: .whitespacesAndNewlines)
        #expect(try await scrape(token).hasSuffix("401"))
        #expect(try await scrape(next).hasSuffix("200"))
        // It opens nothing else.
        let status = try await place.run(
            "/usr/bin/curl",
            [
                "--silent", "--header", "Authorization: Bearer \(next)", "--header", "Content-Type: application/json",
                "--header",
                "Origin: \(address)", "--data", #"{"jsonrpc":"2.0","id":1,"method":"library.status"}"#, "--write-out",
                "%{http_code}",
                address + "/rpc",
            ])
        #expect(status.output.hasSuffix("401"), "\(status)")
        #expect(try await place.smilepile("metrics", "--forget-token").output == "The token is forgotten.\n")
        #expect(try await scrape(next).hasSuffix("401"))
        #expect(try await place.smilepile("web", "stop").status == 0)
        #expect(try await place.smilepile("down").status == 0)
    }
}
