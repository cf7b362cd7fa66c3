import LibraryModel
import Testing

@testable import CommandLineInterface
@testable import Commands

@Suite("Help")
struct HelpTests {
    @Test(
        "Every command explains itself with a purpose, its usage, options and one to three examples that parse",
        arguments: CommandTable.all.map(\.name))
    func pages(name: String) async throws {
        let command = try #require(CommandTable.all.first { $0.name == name })
        let stage = Stage()
        #expect(await stage.program.run(command.words + ["--help"]) == .done)
        let page = stage.results
        #expect(page.hasPrefix(command.summary + "\n"))
        #expect(page.contains("Usage: smilepile \(name)"))
        for option in ["--json", "--socket PATH", "-h, --help"] { #expect(page.contains(option)) }
        #expect((1...3).contains(command.examples.count))
        #expect(command.summary.hasSuffix(".") && !command.summary.contains("\n"))
        for example in command.examples {
            #expect(page.contains("  \(example.line)\n"))
            try expectParses(example.line, as: command)
        }
        expectFits(page, 80, command)
    }

    /// Lines are no wider than the terminal, but for examples, which are typed off the page as they are.
    private func expectFits(_ page: String, _ columns: Int, _ command: Command) {
        for line in page.split(separator: "\n") where !command.examples.contains(where: { line.hasSuffix($0.line) }) {
            let plain = String(line).replacing(/\u{1B}\[[0-9]*m/, with: "")
            let isOneWord = plain.split(separator: " ").count == 1
            #expect(TextWidth.of(plain) <= columns || isOneWord, "\(command.name): \(line)")
        }
    }

    @Test("Pages fit into narrow terminals too, and do not run on in wide ones", arguments: [30, 60, 80, 300])
    func widths(columns: Int) async {
        for command in CommandTable.all {
            let stage = Stage(terminalColumns: columns, environment: ["TERM": "xterm"])
            #expect(await stage.program.run(["help"] + command.words) == .done)
            expectFits(stage.results, min(columns, 100), command)
            #expect(!stage.results.contains("  \n"))
        }
    }

    /// Examples are typed off the page: each must mean the command that it explains.
    private func expectParses(_ line: String, as command: Command) throws {
        let typed = line.replacing("source <(", with: "").replacing(")", with: "")
        let words = shellWords(typed.split(separator: ">").first.map(String.init) ?? typed)
        #expect(words.first == "smilepile")
        guard case .perform(let invocation) = try Parser(commands: CommandTable.all).parse(Array(words.dropFirst()))
        else {
            Issue.record("\(line) is not a command")
            return
        }
        #expect(invocation.command.words == command.words, "\(line)")
    }

    private func shellWords(_ line: String) -> [String] {
        var words: [String] = []
        var word = ""
        var isQuoted = false
        for character in line {
            if character == "'" {
                isQuoted.toggle()
            } else if character == " ", !isQuoted {
                if !word.isEmpty { words.append(word) }
                word = ""
            } else {
                word.append(character)
            }
        }
        return word.isEmpty ? words : words + [word]
    }

    @Test("The overview names every command; a group's page those of the group")
    func overview() async {
        let stage = Stage()
        #expect(await stage.run("--help") == .done)
        for command in CommandTable.all { #expect(stage.results.contains("\n  \(command.name) ")) }
        for chapter in CommandTable.chapters { #expect(stage.results.contains("\n\n\(chapter.title):\n")) }
        #expect(
            CommandTable.chapters.flatMap { $0.commands.map(\.name) }.sorted() == CommandTable.all.map(\.name).sorted(),
            "each command stands in one chapter")
        for code in ExitCode.allCases { #expect(stage.results.contains("\n  \(code.rawValue) ")) }
        let group = Stage()
        #expect(await group.run("help", "photos") == .done)
        #expect(group.results.contains("photos search") && !group.results.contains("backup create"))
        #expect(group.results.contains("Without a command: photos list."))
    }

    @Test("Wrong use prints the usage line to standard error and exits 2")
    func wrongUse() async {
        let stage = Stage()
        #expect(await stage.run("import") == .usage)
        #expect(stage.results.isEmpty)
        #expect(stage.messages.contains("Usage: smilepile import PATH… [options]"))
        #expect(stage.messages.contains("Try: smilepile import --help"))
    }

    @Test("--version says the version as its second word, which the doctor compares, and the formats of catalogues")
    func version() async {
        let stage = Stage()
        #expect(await stage.run("--version") == .done)
        #expect(stage.results.hasPrefix("smilepile \(Release.version) ("))
        #expect(stage.results.hasSuffix("catalogue formats 1 to \(Release.catalogueFormat))\n"))
    }

    @Test("Colours only on a terminal, and never with NO_COLOR")
    func colours() async {
        let pipe = Stage()
        _ = await pipe.run("help", "import")
        #expect(!pipe.results.contains("\u{1B}"))
        let terminal = Stage(terminalColumns: 80)
        _ = await terminal.run("help", "import")
        #expect(terminal.results.contains("\u{1B}[1mUsage:\u{1B}[0m"))
        let plain = Stage(terminalColumns: 80, environment: ["NO_COLOR": "1"])
        _ = await plain.run("help", "import")
        _ = await plain.run("import")
        #expect(!plain.results.contains("\u{1B}") && !plain.messages.contains("\u{1B}"))
    }
}
