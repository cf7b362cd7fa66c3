import Foundation
import LibraryModel
import ServiceMesh
import TestSupport
import Testing

@testable import CommandLineInterface

@Suite("The PIN on the command line")
struct PINTests {
    private func stage(secrets: [String] = [], input: String = "", isSet: Bool = false) throws -> Stage {
        let stage = Stage(terminalColumns: secrets.isEmpty ? nil : 80, secrets: secrets, input: Array(input.utf8))
        try stage.answer("pin.status", PINStatus(isSet: isSet))
        try stage.answer("pin.set", PINStatus(isSet: true))
        try stage.answer("pin.change", PINStatus(isSet: true))
        try stage.answer("pin.clear", PINStatus(isSet: false))
        try stage.answer("pin.unlock", Unlocked(idleSeconds: 300, totalSeconds: 3600))
        return stage
    }

    @Test("A person types a new PIN twice, and it is shown nowhere")
    func set() async throws {
        let stage = try stage(secrets: ["2580", "2580"])
        #expect(await stage.run("pin", "set") == .done)
        #expect(stage.questions == ["New PIN: ", "Again: "])
        #expect(stage.params("pin.set") == ["pin": "2580"])
        #expect(!(stage.results + stage.messages).contains("2580"))
    }

    @Test("Two that differ change nothing")
    func slip() async throws {
        let stage = try stage(secrets: ["2580", "2850"])
        #expect(await stage.run("pin", "set") == .failed)
        #expect(!stage.methods.contains("pin.set"))
        #expect(!stage.messages.contains("2580") && !stage.messages.contains("2850"))
    }

    @Test("Where there is a PIN, nobody is asked for a new one")
    func setTwice() async throws {
        let stage = try stage(secrets: ["2580", "2580"], isSet: true)
        #expect(await stage.run("pin", "set") == .failed)
        #expect(stage.questions.isEmpty && stage.messages.contains("smilepile pin change"))
    }

    @Test(
        "A script writes PINs to standard input, one a line",
        arguments: ["1111\n2222\n", "1111\n2222", "1111\r\n2222\r\n"])
    func script(input: String) async throws {
        let stage = try stage(input: input, isSet: true)
        #expect(await stage.run("pin", "change") == .done)
        #expect(stage.params("pin.change") == ["pin": "1111", "newPIN": "2222"])
        let unlock = try self.stage(input: input)
        #expect(await unlock.run("pin", "unlock") == .done)
        #expect(unlock.params("pin.unlock") == ["pin": "1111"])
        let clear = try self.stage(input: input)
        #expect(await clear.run("pin", "clear") == .done)
        #expect(clear.params("pin.clear") == ["pin": "1111"])
    }

    @Test("Who ends the question with nothing is not asked where it would be seen")
    func nothingTyped() async throws {
        let stage = Stage(terminalColumns: 80, secrets: ["1111"], input: Array("2222\n".utf8))
        #expect(await stage.run("pin", "change") == .failed)
        #expect(stage.messages.contains("No PIN was typed") && stage.methods.isEmpty)
    }

    @Test("A change asks for the one that is, and twice for the new one")
    func change() async throws {
        let stage = try stage(secrets: ["1111", "2222", "2222"], isSet: true)
        #expect(await stage.run("pin", "change") == .done)
        #expect(stage.questions == ["PIN: ", "New PIN: ", "Again: "])
        #expect(stage.params("pin.change") == ["pin": "1111", "newPIN": "2222"])
    }

    @Test("What is missing, too long or no text is said before anything is sent")
    func unusable() async throws {
        let missing = try stage(input: "1111\n")
        #expect(await missing.run("pin", "change") == .failed)
        #expect(missing.messages.contains("The PIN is missing") && missing.methods.isEmpty)
        let long = try stage(input: String(repeating: "7", count: 1 << 20))
        #expect(await long.run("pin", "unlock") == .failed)
        #expect(long.messages.contains("too long") && long.methods.isEmpty)
        let strange = Stage(input: [0x31, 0xFF, 0x32])
        #expect(await strange.run("pin", "unlock") == .failed)
        #expect(strange.messages.contains("UTF-8") && strange.methods.isEmpty)
    }

    @Test("No command takes a PIN as an argument")
    func noArgument() async throws {
        for verb in ["set", "change", "clear", "unlock"] {
            let stage = try stage(input: "1111\n")
            #expect(await stage.run("pin", verb, "2580") == .usage)
            #expect(stage.methods.isEmpty)
        }
    }

    @Test("The state says when the next try is taken")
    func state() async throws {
        let stage = Stage()
        try stage.answer("pin.status", PINStatus(isSet: true, failures: 6, retryAfterMs: 59_100))
        #expect(await stage.run("pin") == .done)
        #expect(stage.results.contains(#/Wrong tries here +6\n/#) && stage.results.contains(#/Next try in +1:00\n/#))
    }

    @Test("A line is edited unseen as it is where it is seen")
    func editing() {
        func line(_ bytes: [UInt8]) -> SecretPrompt.Outcome? {
            var line = SecretLine(mostBytes: 20)
            for (index, byte) in bytes.enumerated() {
                if let outcome = line.take(byte) { return index == bytes.count - 1 ? outcome : nil }
            }
            return nil
        }
        #expect(line(Array("12é".utf8) + [0x7F, 0x33, 0x0A]) == .typed(Array("123".utf8)))
        #expect(line([0x7F, 0x31, 0x08, 0x7F, 0x32, 0x0D]) == .typed([0x32]))
        #expect(line(Array("oops".utf8) + [0x15, 0x31, 0x0A]) == .typed([0x31]))
        #expect(line([0x04]) == .ended && line([0x31, 0x04]) == .typed([0x31]))
        #expect(line([0x31, 0x32, 0x03]) == .stopped)
        #expect(line([UInt8](repeating: 0x31, count: 100) + [0x0A]) == .typed([UInt8](repeating: 0x31, count: 21)))
    }

    @Test("A PIN file is read where it is its owner's alone, and anything else is explained")
    func file() async throws {
        let folder = try TemporaryFolder("pin-file")
        let path = folder.file("pin")
        try Data("2580\nmore\n".utf8).write(to: URL(fileURLWithPath: path))
        func read(_ file: String) async throws -> PIN? {
            try await PINEntry(console: Stage().console, file: file).existing()
        }
        for mode in [0o644, 0o640, 0o604, 0o622] {
            chmod(path, mode_t(mode))
            await #expect(throws: CommandFailure.self) { try await read(path) }
        }
        chmod(path, 0o600)
        #expect(try await read(path)?.canonical == Array("2580".utf8))
        await #expect(throws: CommandFailure.self) { try await read(folder.file("none")) }
        await #expect(throws: CommandFailure.self) { try await read(folder.path) }
        try Data(repeating: 0x31, count: 1 << 20).write(to: URL(fileURLWithPath: path))
        chmod(path, 0o600)
        await #expect(throws: CommandFailure.self) { try await read(path) }
        try Data().write(to: URL(fileURLWithPath: path))
        chmod(path, 0o600)
        #expect(try await read(path)?.canonical == nil)
    }
}
