import Configuring
import Foundation
import LibraryModel
import ServiceMesh
import TestSupport
import Testing

@testable import CommandLineInterface
@testable import Commands

@Suite("The configuration's commands")
struct ConfigurationCommandTests {
    private let folder: TemporaryFolder
    private let home: [String: String]

    init() throws {
        folder = try TemporaryFolder("config")
        home = ["HOME": folder.path, "XDG_RUNTIME_DIR": "/run/user/1"]
    }

    private var path: String { folder.file(".config/smilepile/config.toml") }

    private func write(_ text: String) throws {
        try FileManager.default.createDirectory(
            atPath: folder.file(".config/smilepile"), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        #expect(chmod(path, 0o600) == 0)
    }

    private func text() throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    @Test("Each value is shown with where it comes from")
    func list() async throws {
        try write("# ours\nworkers = 3\n\n[web]\nnames = [\"a\", \"b\"]\n")
        let stage = Stage(environment: home.merging(["SMILEPILE_LIBRARY": "/srv/photos"]) { $1 })
        #expect(await stage.run("config") == .done)
        let lines = stage.results.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(lines.contains(["library", "/srv/photos", "SMILEPILE_LIBRARY"]))
        #expect(
            lines.contains(["workers", "3", "line", "2"]) && lines.contains(["web.names", "a,", "b", "line", "5"]))
        #expect(lines.contains(["log-level", "info", "usual"]) && lines.contains(["web.access-log", "none", "usual"]))
        #expect(stage.messages == "The file: \(path)\n")
        let json = Stage(environment: home)
        #expect(await json.run("config", "list", "--json") == .done)
        let values = try #require(try json.json()["values"]?.arrayValue)
        #expect(values.count == ConfigurationKey.allCases.count)
        let workers: JSONValue = ["key": "workers", "value": 3, "source": "file", "file": .string(path), "line": 2]
        #expect(values.contains(workers))
    }

    @Test("A value is set, and the rest of the file stays; what may not stand there is refused and nothing is written")
    func set() async throws {
        let stage = Stage(environment: home)
        #expect(await stage.run("config", "set", "library", "Photos") == .done)
        #expect(stage.results == "library is /home/ada/Photos now. It stands in \(path).\n")
        #expect(stage.messages.contains("smilepile down, then smilepile up"))
        #expect(try text().hasSuffix("\nlibrary = \"/home/ada/Photos\"\n"))
        try write(text() + "# the end\n")
        #expect(await stage.run("config", "set", "web.names", "a", "b") == .done)
        #expect(await stage.run("config", "set", "library", "~/Photos") == .done)
        #expect(await stage.run("config", "set", "web.home", "yes") == .done)
        let whole = try text()
        #expect(
            whole.hasSuffix(
                "library = \"~/Photos\"\n# the end\n\n[web]\nnames = [\"a\", \"b\"]\nhome = true\n"), "\(whole)")
        for words in [
            ["workers", "many"], ["workers", "65"], ["log-level", "loud"], ["web.listen", "photos.lan"],
            ["library", "a", "b"],
            ["web.home", "maybe"], ["nothing", "1"],
        ] {
            let refused = Stage(environment: home)
            #expect(await refused.program.run(["config", "set"] + words) == .usage, "\(words)")
            #expect(!refused.messages.isEmpty)
        }
        #expect(try text() == whole)
        let get = Stage(environment: home)
        #expect(await get.run("config", "get", "library") == .done)
        #expect(get.results == "~/Photos\n")
        #expect(await stage.run("config", "unset", "library") == .done)
        #expect(try !text().contains("Photos"))
        let none = Stage(environment: home)
        #expect(await none.run("config", "unset", "library") == .done)
        #expect(none.messages.contains("does not say library"))
    }

    @Test("The socket of the file is every command's, and it is said so where another daemon listens")
    func socket() async throws {
        try write("socket = \"~/control.sock\"\n")
        let tried = folder.file("control.sock")
        let stage = Stage(environment: home)
        let program = Program(
            environment: home, currentFolder: "/home/ada", console: stage.console,
            connect: { throw CommandFailure.notRunning(socket: $0) },
            otherSockets: { _ in ["/run/user/1/smilepile/control.sock"] })
        #expect(await program.run(["status"]) == .notRunning)
        #expect(stage.messages.contains("Nothing answers at \(tried),"))
        #expect(stage.messages.contains("The configuration names the other one: smilepile config unset socket"))
    }

    @Test("A file that cannot be used stops other commands, which say where it is wrong")
    func fault() async throws {
        try write("workers = 0\n")
        let stage = Stage(environment: home)
        #expect(await stage.run("status") == .failed)
        #expect(stage.messages.contains("\(path), line 1: workers takes a whole number from 1 to 64, and not 0."))
        #expect(stage.methods.isEmpty)
        let json = Stage(environment: home)
        #expect(await json.run("ping", "--json") == .failed)
        #expect(try json.json()["error"]?["details"]?["line"] == 1)
        // A value of the right kind puts it right; what only a person can do is left to one.
        #expect(await stage.run("config", "set", "workers", "2") == .done)
        #expect(try text() == "workers = 2\n")
        try write("nonsense")
        #expect(await stage.run("config", "set", "workers", "2") == .failed)
        #expect(await stage.run("help", "config") == .done)
    }
}

@Suite("The program alone")
struct WelcomeTests {
    @Test("Ten commands and how things are, in fifteen lines at most, at any width", arguments: [20, 60, 80, 200])
    func lines(columns: Int) async throws {
        let stage = Stage(terminalColumns: columns, environment: ["TERM": "dumb", "NO_COLOR": "1"])
        stage.answer("rpc.hello", Sample.hello)
        try stage.answer("library.status", Sample.status)
        stage.answer("job.list", #"{"jobs":[]}"#)
        #expect(await stage.run() == .done)
        let lines = stage.results.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        #expect(lines.count <= 15 && lines.allSatisfy { TextWidth.of(String($0)) <= columns })
        #expect(lines.filter { $0.hasPrefix("  smilepile") }.count == 10)
        if columns >= 80 {
            #expect(lines.first == "SmilePile \(Release.version): 3 photos, 12.3 MB; no backup yet; 5.0 GB free")
            #expect(lines.last == "All commands: smilepile --help")
            #expect(!stage.results.contains("…"))
        }
    }

    @Test("Each of its commands is one that there is")
    func commands() throws {
        for (line, purpose) in Welcome.lines {
            let request = try Parser(commands: CommandTable.all).parse(line.split(separator: " ").map(String.init))
            guard case .perform = request else {
                Issue.record("\(line) is no command")
                continue
            }
            #expect(TextWidth.of("  smilepile \(line)  \(purpose)") <= 80)
        }
    }

    @Test("Where no daemon runs, it is said how to start it, and nothing has failed")
    func notRunning() async throws {
        let stage = Stage()
        let program = Program(
            environment: [:], currentFolder: "/", console: stage.console,
            connect: { throw CommandFailure.notRunning(socket: $0) })
        #expect(await program.run([]) == .done)
        #expect(stage.results.contains("the daemon is not running; start it with 'smilepile up'\n"))
        #expect(await program.run(["--json"]) == .done)
        #expect(stage.results.contains(#""running":false"#))
    }
}
