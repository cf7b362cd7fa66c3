import Foundation
import LibraryModel
import ServiceMesh
import TestSupport
import Testing

@testable import CommandLineInterface
@testable import Commands

@Suite("Commands in kids mode")
struct UnlockingTests {
    private static let refused = CommandFailure.refused(
        MeshError(.permissionDenied, "It needs the parent role.", details: ["neededRole": "parent"]))
    private static let wrong = CommandFailure.refused(MeshError(.unauthenticated, "That is not the PIN. Try again."))

    /// Refuses the first time and answers from then on.
    private func stage(
        secrets: [String] = [], environment: [String: String] = [:], input: String = ""
    ) throws -> Stage {
        let stage = Stage(
            terminalColumns: secrets.isEmpty ? nil : 80, environment: environment, secrets: secrets,
            input: Array(input.utf8))
        stage.fail("settings.get", Self.refused)
        try stage.answer("settings.get", Settings())
        return stage
    }

    private let unlocked = #"{"idleSeconds":300,"totalSeconds":3600}"#

    @Test("On a terminal the PIN is asked for, and the request sent once more")
    func terminal() async throws {
        let stage = try stage(secrets: ["2580"])
        stage.answer("pin.unlock", unlocked)
        #expect(await stage.run("settings", "get", "keepOriginals") == .done)
        #expect(stage.results == "true\n")
        #expect(stage.methods == ["settings.get", "pin.unlock", "settings.get"])
        #expect(stage.params("pin.unlock") == ["pin": "2580"])
        #expect(!stage.messages.contains("2580"))
    }

    @Test("A person may slip twice")
    func slips() async throws {
        let stage = try stage(secrets: ["1", "2", "3", "4"])
        stage.fail("pin.unlock", Self.wrong)
        #expect(await stage.run("settings") == .failed)
        #expect(stage.allParams("pin.unlock") == [["pin": "1"], ["pin": "2"], ["pin": "3"]])
        let second = try self.stage(secrets: ["1", "2"])
        second.fail("pin.unlock", Self.wrong)
        second.answer("pin.unlock", unlocked)
        #expect(await second.run("settings", "get", "keepOriginals") == .done)
    }

    @Test("Where the next try has to wait, nobody is asked for it")
    func waiting() async throws {
        let stage = try stage(secrets: ["1", "2"])
        stage.fail(
            "pin.unlock",
            .refused(MeshError(.unauthenticated, "Not the PIN. Wait.", details: ["retryAfterMs": 30_000])))
        #expect(await stage.run("settings") == .failed)
        #expect(stage.questions.count == 1)
        let early = try self.stage(secrets: ["1"])
        early.fail("pin.unlock", .refused(MeshError(.resourceExhausted, "Too many wrong PINs.")))
        #expect(await early.run("settings") == .busy)
    }

    @Test("Without a terminal the refusal says what to do, and standard input is left alone")
    func script() async throws {
        let stage = try stage(input: "2580\n")
        #expect(await stage.run("settings") == .failed)
        #expect(stage.messages.contains("--pin-file PATH"))
        #expect(stage.methods == ["settings.get"])
    }

    @Test(
        "A script names a file, by option or by variable, or standard input",
        arguments: ["option", "variable", "input"])
    func file(way: String) async throws {
        let folder = try TemporaryFolder("pin-file")
        let path = folder.file("pin")
        try Data("2580\n".utf8).write(to: URL(fileURLWithPath: path))
        chmod(path, 0o600)
        let stage = try stage(
            environment: way == "variable" ? ["SMILEPILE_PIN_FILE": path] : [:], input: way == "input" ? "2580\n" : "")
        stage.answer("pin.unlock", unlocked)
        let option = way == "option" ? ["--pin-file", path] : way == "input" ? ["--pin-file", "-"] : []
        #expect(await stage.program.run(["settings", "get", "keepOriginals"] + option) == .done)
        #expect(stage.params("pin.unlock") == ["pin": "2580"])
    }

    @Test("A wrong PIN from a file is tried once")
    func wrongFile() async throws {
        let stage = try stage(input: "1111\n2222\n")
        stage.fail("pin.unlock", Self.wrong)
        #expect(await stage.run("settings", "--pin-file", "-") == .failed)
        #expect(stage.allParams("pin.unlock") == [["pin": "1111"]])
    }

    @Test("Another refusal is passed on as it is")
    func other() async throws {
        let stage = Stage(secrets: ["2580"])
        stage.fail("settings.get", .refused(MeshError(.permissionDenied, "The folder is another user's.")))
        #expect(await stage.run("settings") == .failed)
        #expect(stage.questions.isEmpty && stage.messages.contains("another user's"))
    }

    @Test("Changing the PIN in kids mode asks for the one that is once")
    func change() async throws {
        let stage = Stage(terminalColumns: 80, secrets: ["1111", "2222", "2222"])
        stage.fail("pin.change", Self.refused)
        try stage.answer("pin.change", PINStatus(isSet: true))
        stage.answer("pin.unlock", unlocked)
        #expect(await stage.run("pin", "change") == .done)
        #expect(stage.methods == ["pin.change", "pin.unlock", "pin.change"])
        #expect(stage.params("pin.unlock") == ["pin": "1111"])
    }

    @Test("What is watched goes on with the PIN")
    func watching() async throws {
        let stage = Stage(terminalColumns: 80, secrets: ["2580"])
        stage.fail("settings.observe", Self.refused)
        stage.answer("settings.observe", "{}")
        stage.answer("pin.unlock", unlocked)
        _ = await stage.run("watch", "settings")
        #expect(Array(stage.methods.prefix(3)) == ["settings.observe", "pin.unlock", "settings.observe"])
    }

    @Test("Help about roles fits into 80 columns")
    func help() async {
        for words in CommandTable.all.map(\.words) where words[0] == "pin" || words[0] == "mode" {
            let stage = Stage()
            _ = await stage.program.run(words + ["--help"])
            let long = stage.results.split(separator: "\n").filter { $0.count > 80 }
            #expect(long.isEmpty, "\(words)")
        }
    }

    @Test("The mode is shown and set")
    func mode() async throws {
        let stage = Stage()
        try stage.answer("mode.get", ModeStatus(mode: .kids))
        try stage.answer("mode.set", ModeStatus(mode: .kids))
        #expect(await stage.run("mode") == .done)
        #expect(stage.results == "kids\n")
        #expect(await stage.run("mode", "kids") == .done)
        #expect(stage.params("mode.set") == ["mode": "kids"])
        #expect(await stage.run("mode", "children") == .usage)
    }
}
