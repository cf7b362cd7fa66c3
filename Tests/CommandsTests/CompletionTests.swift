import Foundation
import Testing
import TestSupport

@testable import Commands

@Suite("Completions")
struct CompletionTests {
    private static func has(_ program: String) -> Bool {
        ["/usr/bin/", "/bin/", "/usr/local/bin/"].contains {
            FileManager.default.isExecutableFile(atPath: $0 + program)
        }
    }

    /// Runs a shell on a script and returns its exit code and what it printed to either side.
    private func run(_ shell: String, _ arguments: [String]) throws -> (code: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [shell] + arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, output)
    }

    private func file(_ shell: Shell, in folder: TemporaryFolder, more: String = "") throws -> String {
        let path = folder.file("completion." + shell.rawValue)
        try (shell.script(for: CommandTable.all) + "\n" + more).write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test("Every command and every option is in every script", arguments: Shell.allCases)
    func complete(shell: Shell) {
        let script = shell.script(for: CommandTable.all)
        for command in CommandTable.all {
            let hasWord = script.contains(shell == .fish ? " -a \(command.words.last ?? "") " : "'\(command.name)'")
            #expect(hasWord, "\(command.name)")
            for option in command.allOptions {
                let hasOption = script.contains(shell == .fish ? "-l \(option.name) " : "--\(option.name)")
                #expect(hasOption, "\(command.name) --\(option.name)")
            }
        }
    }

    @Test("bash accepts its script, and completes words, options and values")
    func bash() throws {
        let folder = try TemporaryFolder("completions")
        let (code, said) = try run("bash", ["-n", try file(.bash, in: folder)])
        #expect(code == 0, "\(said)")
        let more = """
            smilepile() { printf 'Family\\nSummer 2025\\nFarm\\n'; }
            complete_line() {
                COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _smilepile 2>/dev/null; echo "${COMPREPLY[@]}"
            }
            complete_line smilepile pho
            complete_line smilepile photos se
            complete_line smilepile photos list --fav
            complete_line smilepile --socket /x photos --lim
            complete_line smilepile import --category Fa
            complete_line smilepile photos move 1 --to S
            complete_line smilepile completions z
            """
        let output = try run("bash", [try file(.bash, in: folder, more: more)]).output
        #expect(
            output.split(separator: "\n").map(String.init) == [
                "photos", "search sealed", "--favorites", "--limit", "Family Farm", "Summer\\ 2025", "zsh",
            ])
    }

    @Test("zsh accepts its script", .enabled(if: has("zsh"), "zsh is not installed"))
    func zsh() throws {
        let folder = try TemporaryFolder("completions")
        let (code, said) = try run("zsh", ["-n", try file(.zsh, in: folder)])
        #expect(code == 0, "\(said)")
    }

    @Test(
        "fish accepts its script, and completes words, options and values",
        .enabled(if: has("fish"), "fish is not installed"))
    func fish() throws {
        let folder = try TemporaryFolder("completions")
        let (code, said) = try run("fish", ["--no-config", "-n", try file(.fish, in: folder)])
        #expect(code == 0, "\(said)")
        let more = """
            function smilepile; printf 'Family\\nSummer 2025\\n'; end
            complete -C 'smilepile pho' | string split -f1 \\t
            complete -C 'smilepile photos se' | string split -f1 \\t
            complete -C 'smilepile photos list --fav' | string split -f1 \\t
            complete -C 'smilepile import --category Fa' | string split -f1 \\t
            complete -C 'smilepile photos delete --where ca' | string split -f1 \\t
            """
        let output = try run("fish", ["--no-config", try file(.fish, in: folder, more: more)]).output
        #expect(
            output.split(separator: "\n").map(String.init) == [
                "photos", "sealed", "search", "--favorites", "Family", "camera=", "category=",
            ])
    }
}
