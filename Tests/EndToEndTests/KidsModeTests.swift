import ControlSocket
import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import ServiceMesh
import TestSupport
import Testing

/// Kids mode with the real programs: what a child at the same machine can do, and how a parent gets back in.
@Suite(.serialized, .timeLimit(.minutes(5))) struct KidsModeTests {
    private static let pin = "2580"

    /// A daemon with a photo, a PIN, and a file that has it.
    private func home(kids: Bool = true) async throws -> (place: Installation, pinFile: String) {
        let place = try Installation("kids")
        try await place.up()
        let album = place.folder.file("album")
        try SampleAlbum(width: 64, height: 48).write(count: 2, to: album)
        #expect(try await place.smilepile("import", album).status == 0)
        let set = try await place.run(
            "/bin/sh", ["-c", "printf '\(Self.pin)\\n' | '\(Installation.programs)/smilepile' pin set"])
        #expect(set.status == 0, "\(set.errors)")
        let file = place.folder.file("pin")
        try Data((Self.pin + "\n").utf8).write(to: URL(fileURLWithPath: file))
        chmod(file, 0o600)
        if kids { #expect(try await place.smilepile("mode", "kids").status == 0) }
        return (place, file)
    }

    @Test func fromTheCommandLine() async throws {
        let (place, pinFile) = try await home()
        for command in [["photos"], ["categories"], ["photos", "show", "1"], ["mode"], ["pin"], ["ping"]] {
            let allowed = try await place.run("smilepile", command)
            #expect(allowed.status == 0, "\(command): \(allowed.errors)")
        }
        for command in [
            ["photos", "delete", "1"], ["trash"], ["settings"], ["jobs"], ["import", place.folder.file("album")],
            ["categories", "add", "Mine"], ["mode", "parent"], ["storage"], ["backup", "create"], ["status", "--full"],
            ["photos", "export", "1", "--with-details", "--to", place.folder.file("out")],
        ] {
            let refused = try await place.run("smilepile", command)
            #expect(refused.status == 1 && refused.errors.contains("--pin-file"), "\(command): \(refused.errors)")
        }
        #expect(!FileManager.default.fileExists(atPath: place.folder.file("out")))
        let deleted = try await place.smilepile("photos", "delete", "1", "--pin-file", pinFile)
        #expect(deleted.status == 0, "\(deleted.errors)")
        chmod(pinFile, 0o644)
        let open = try await place.smilepile("trash", "--pin-file", pinFile)
        #expect(open.status == 1 && open.errors.contains("chmod 600"))
        chmod(pinFile, 0o600)
        // It stays, whoever stops and starts the daemon.
        #expect(try await place.smilepile("down").status == 0)
        try await place.up()
        #expect(try await place.smilepile("mode").output == "kids\n")
        #expect(try await place.smilepile("trash").status == 1)
        #expect(try await place.smilepile("mode", "parent", "--pin-file", pinFile).status == 0)
        #expect(try await place.smilepile("trash").status == 0)
        #expect(try await place.smilepile("down").status == 0)
    }

    @Test func aKidsStatusSaysThatTheDaemonRunsAndNothingElse() async throws {
        let (place, pinFile) = try await home()
        let status = try await place.smilepile("status")
        #expect(status.status == 0 && status.output == "Daemon  running, version \(Release.version)\nMode    kids\n")
        #expect(!(status.output + status.errors).contains(place.folder.path))
        let json = try await place.smilepile("status", "--json")
        let value = try JSONDecoder().decode(JSONValue.self, from: Data(json.output.utf8))
        #expect(value == ["running": true, "version": .string(Release.version), "currentAppMode": "kids"])
        // Nobody is there to be asked.
        #expect(try await place.smilepile("status", "--full").status == 1)
        let full = try await place.smilepile("status", "--pin-file", pinFile)
        #expect(full.status == 0 && full.output.contains("Photos"))
        #expect(try await place.smilepile("down").status == 0)
    }

    /// Also from outside, and where the terminal is closed meanwhile.
    @Test(arguments: [SIGTERM, SIGINT, SIGQUIT, SIGHUP]) func asking(_ signal: Int32) async throws {
        let (place, _) = try await home()
        var environment = place.environment
        environment["TERM"] = "xterm"
        let program = Installation.programs + "/smilepile"
        let terminal = try PseudoTerminal(program, ["trash"], environment: environment)
        #expect(await terminal.shows("PIN: "))
        // What is typed is hidden from the question on.
        #expect(!terminal.isAsBefore)
        kill(terminal.pid, signal)
        let status = await terminal.change()
        #expect(status & 0x7F == signal && terminal.isAsBefore, "\(status)")
        #expect(try await place.smilepile("down").status == 0)
    }

    /// Every message of `rpc.discover`, one by one; what is allowed is exactly what is documented.
    @Test func aKidOnTheSocketTriesEverything() async throws {
        let (place, _) = try await home()
        let client = try place.client()
        #expect(try await client.call(Hello()).role == "kid")
        let methods = try await client.call(Discover()).methods.map(\.name)
        var allowed: Set<String> = []
        for method in methods {
            do {
                _ = try await client.observe(method: method, params: Data("{}".utf8)) { _ in throw CancellationError() }
                allowed.insert(method)
            } catch let error as MeshError {
                if error.status == .permissionDenied {
                    #expect(error.neededRole == .looker || error.neededRole == .parent)
                } else {
                    allowed.insert(method)
                }
            } catch {
                allowed.insert(method)
            }
        }
        #expect(try allowed == DocumentedRoles.kids())
        // Jobs of a parent are none of a kid's business, whatever they are called.
        for method in [CancelJob.method, PauseJob.method, GetJob.method, WatchJob.method] {
            await #expect(throws: MeshError.self) {
                try await client.call(method: method, params: Data(#"{"job":"0"}"#.utf8))
            }
        }
        // None of it did anything.
        #expect(try await client.call(SearchPhotos()).photos.count == 2)
        client.close()
        #expect(try await place.smilepile("down").status == 0)
    }

    @Test func kidsModeReachesWhoIsConnected() async throws {
        let (place, _) = try await home(kids: false)
        let (parent, other) = (try place.client(), try place.client())
        let (began, begin) = AsyncStream.makeStream(of: Void.self)
        let watching = Task {
            try await other.observe(ObserveTrash(), updates: ObservedTrash.self) { _ in begin.yield() }
        }
        for await _ in began { break }
        _ = try await parent.call(SetMode(mode: .kids))
        await #expect { try await watching.value } throws: { ($0 as? MeshError)?.neededRole == .parent }
        for client in [parent, other] {
            await #expect { try await client.call(ListTrash()) } throws: {
                ($0 as? MeshError)?.status == .permissionDenied
            }
        }
        _ = try await other.call(Unlock(pin: PIN(Self.pin)))
        _ = try await other.call(ListTrash())
        await #expect(throws: MeshError.self) { try await parent.call(ListTrash()) }
        _ = try await parent.call(Lock(everywhere: true))
        await #expect(throws: MeshError.self) { try await other.call(ListTrash()) }
        parent.close()
        other.close()
        #expect(try await place.smilepile("down").status == 0)
    }

    /// Killed, so that nothing is written down that was not there before the check.
    @Test func wrongPINsAreRememberedThroughAKill() async throws {
        let (place, _) = try await home()
        let wrong = place.folder.file("wrong")
        try Data("1111\n".utf8).write(to: URL(fileURLWithPath: wrong))
        chmod(wrong, 0o600)
        for _ in 0..<5 { #expect(try await place.smilepile("trash", "--pin-file", wrong).status == 1) }
        try await place.killDaemon()
        try await place.up()
        let state = try await place.smilepile("pin", "--json")
        #expect(try JSONDecoder().decode(PINStatus.self, from: Data(state.output.utf8)).failures == 5)
        #expect(try await place.smilepile("down").status == 0)
    }

    @Test func aLostPINIsResetWithTheDaemonStopped() async throws {
        let (place, _) = try await home()
        #expect(try await place.smilepile("pin", "reset").status == 2)
        let running = try await place.smilepile("pin", "reset", "--offline", "--library", place.library, "--yes")
        #expect(running.status == 1 && running.errors.contains("is served already, by process"), "\(running.errors)")
        #expect(try await place.smilepile("mode").output == "kids\n")
        #expect(try await place.smilepile("down").status == 0)
        let asked = try await place.smilepile("pin", "reset", "--offline", "--library", place.library)
        #expect(asked.status == 2 && asked.errors.contains("--yes"))
        let reset = try await place.smilepile("pin", "reset", "--offline", "--library", place.library, "--yes")
        #expect(reset.status == 0 && reset.output.contains("parent mode"), "\(reset.errors)")
        #expect(reset.errors.contains("keeps children out, not administrators"))
        let elsewhere = try await place.smilepile(
            "pin", "reset", "--offline", "--library", place.folder.file("nothing"), "--yes")
        #expect(elsewhere.status == 1 && elsewhere.errors.contains("There is no library"))
        #expect(!FileManager.default.fileExists(atPath: place.folder.file("nothing")))
        try await place.up()
        #expect(try await place.smilepile("mode").output == "parent\n")
        #expect(try await place.smilepile("trash").status == 0)
        #expect(try await place.smilepile("down").status == 0)
    }
}
