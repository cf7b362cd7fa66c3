import Foundation
import LibraryModel
import ServiceMesh
import Testing

@testable import CommandLineInterface
@testable import Commands

@Suite("A daemon at another socket than the one that was tried")
struct OtherSocketTests {
    private func run(
        _ arguments: [String], environment: [String: String], others: [String]
    ) async -> Stage {
        let stage = Stage(environment: environment)
        let program = Program(
            environment: environment, currentFolder: "/home/ada", console: stage.console,
            connect: { throw CommandFailure.notRunning(socket: $0) }, otherSockets: { _ in others })
        #expect(await program.run(arguments) == .notRunning)
        return stage
    }

    @Test("It is named, and how to say it")
    func named() async throws {
        let runtime = ["XDG_RUNTIME_DIR": "/run/user/1000"]
        let there = "/run/user/1000/smilepile/control.sock"
        let other = await run(["status"], environment: runtime, others: ["/tmp/my photos.sock"])
        #expect(
            other.messages == "smilepile: Nothing answers at \(there), but a daemon listens at /tmp/my photos.sock. "
                + "Name it with --socket '/tmp/my photos.sock', or for every command: "
                + "export SMILEPILE_SOCKET='/tmp/my photos.sock'. To start another one: smilepile up\n")
        let variable = await run(
            ["status"], environment: runtime.merging(["SMILEPILE_SOCKET": "/tmp/old.sock"]) { $1 }, others: [there])
        #expect(variable.messages.contains("Nothing answers at /tmp/old.sock, but a daemon listens at \(there)."))
        #expect(variable.messages.contains("unset SMILEPILE_SOCKET"))
        let option = await run(["status", "--socket", "wrong.sock"], environment: runtime, others: [there])
        #expect(
            option.messages.contains(
                "/home/ada/wrong.sock, but a daemon listens at \(there). Leave --socket out. To start another"))
        let both = await run(
            ["status", "--socket", "/x"], environment: runtime.merging(["SMILEPILE_SOCKET": "/tmp/old.sock"]) { $1 },
            others: [there])
        #expect(both.messages.contains("Name it with --socket \(there), or"))
        let many = await run(["status", "--json"], environment: runtime, others: ["/a", "/b", "/c", "/d"])
        #expect(many.messages.contains("listens at /a, at /b, at /c. "))
        #expect(try many.json()["error"]?["sockets"] == ["/a", "/b", "/c"])
    }

    @Test("A path that would change the terminal is made harmless")
    func harmless() async {
        let stage = await run(["status"], environment: [:], others: ["/tmp/\u{1B}[2J.sock"])
        #expect(!stage.messages.contains("\u{1B}") && stage.messages.contains("␛[2J"))
    }

    @Test("Where there is no other, it is said how to start one")
    func none() async {
        let stage = await run(["status", "--socket", "/tmp/a b.sock"], environment: [:], others: [])
        #expect(
            stage.messages == "smilepile: The daemon is not running (nothing answers at /tmp/a b.sock). "
                + "Start it with: smilepile up --socket '/tmp/a b.sock'\n")
    }
}
