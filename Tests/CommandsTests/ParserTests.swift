import ServiceMesh
import Testing

@testable import CommandLineInterface
@testable import Commands

@Suite("Understanding a command line")
struct ParserTests {
    private let parser = Parser(commands: CommandTable.all)

    private func invocation(_ arguments: String...) throws -> Invocation {
        guard case .perform(let invocation) = try parser.parse(arguments) else {
            throw CommandFailure.local("\(arguments) is not a command to perform")
        }
        return invocation
    }

    private func usageError(_ arguments: String...) -> (message: String, command: [String])? {
        do {
            _ = try parser.parse(arguments)
            return nil
        } catch {
            guard case .usage(let message, let command) = error else { return nil }
            return (message, command)
        }
    }

    @Test("A value follows its option after a space or an equals sign")
    func values() throws {
        #expect(try invocation("import", "a", "--category", "Family").value("category") == "Family")
        #expect(try invocation("import", "a", "--category=Family=Cars").value("category") == "Family=Cars")
        #expect(try invocation("import", "a", "--category=--json").value("category") == "--json")
    }

    @Test("Options stand anywhere, also before the command")
    func anywhere() throws {
        let line = try invocation("--json", "photos", "--socket", "/s", "search", "--limit", "5", "beach")
        #expect(line.command.words == ["photos", "search"])
        #expect(line.has("json") && line.value("socket") == "/s" && line.number("limit") == 5)
        #expect(line.operand("WORD") == "beach")
    }

    @Test("After -- everything is taken as it is")
    func literal() throws {
        #expect(try invocation("photos", "caption", "1", "--", "--remove").operand("TEXT") == "--remove")
        #expect(try invocation("import", "--", "-h", "--", "x").operandValues("PATH") == ["-h", "--", "x"])
        #expect(try invocation("photos", "search", "-").operand("WORD") == "-")
    }

    @Test("A group without a verb runs its default, and takes its options")
    func defaults() throws {
        #expect(try invocation("photos").command.words == ["photos", "list"])
        #expect(try invocation("photos", "--favorites", "--category", "Cars").has("favorites"))
        #expect(try invocation("jobs", "--json").command.words == ["jobs", "list"])
        #expect(try invocation("swipe", "--category", "Cars").command.words == ["swipe", "review"])
        #expect(usageError("backup")?.message.contains("create, verify") == true)
    }

    @Test("What other programs call it is answered with the command's name here")
    func synonyms() throws {
        let parser = Parser(commands: CommandTable.all, synonyms: CommandTable.synonyms)
        func told(_ arguments: String...) -> String? {
            guard
                case .usage(let message, _)? = #expect(
                    throws: CommandFailure.self, performing: { try parser.parse(arguments) })
            else { return nil }
            return message
        }
        #expect(told("ls") == "There is no command 'ls'. Did you mean 'photos list'?")
        #expect(told("rm", "12") == "There is no command 'rm'. Did you mean 'photos delete'?")
        #expect(told("Rename") == "There is no command 'Rename'. Did you mean 'categories edit'?")
        #expect(told("export") == "There is no command 'export'. Did you mean 'photos export'?")
        #expect(told("photos", "view", "3") == "'photos' has no command 'view'. Did you mean 'photos open'?")
        #expect(told("trash", "empty") == "'trash' has no command 'empty'. Did you mean 'trash purge'?")
        #expect(told("phtos")?.contains("'photos'") == true, "a slip is still one")
        let names = Set(CommandTable.all.map(\.name))
        let groups = Set(CommandTable.all.flatMap { $0.words.count > 1 ? [$0.words[0]] : [] })
        for (word, name) in CommandTable.synonyms {
            #expect(names.contains(name), "\(word) is answered with \(name), which is no command")
            #expect(!names.contains(word) && !groups.contains(word), "\(word) is a command")
        }
    }

    @Test("-h and --help ask for help wherever they stand, even when something is missing")
    func help() throws {
        for arguments in [["import", "--help"], ["import", "-h"], ["-h", "import"], ["import", "--limit=1"]] {
            switch Result(catching: { () throws(CommandFailure) in try parser.parse(arguments) }) {
            case .success(.help(let words)): #expect(words == ["import"])
            case .success: Issue.record("\(arguments) is not help")
            case .failure: #expect(arguments.last == "--limit=1")
            }
        }
        guard case .bare(let none) = try parser.parse([]), none.isEmpty else { throw CommandFailure.local("not bare") }
        guard case .help([]) = try parser.parse(["--help"]) else { throw CommandFailure.local("no help") }
        guard case .version = try parser.parse(["--version"]) else { throw CommandFailure.local("no version") }
    }

    @Test(
        "What is written wrongly names the nearest right thing, and the command whose usage helps",
        arguments: [
            (["phots"], "Did you mean 'photos'?", []),
            (["photos", "serch", "x"], "Did you mean 'search'?", ["photos"]),
            (["photos", "list", "--favrites"], "Did you mean '--favorites'?", ["photos", "list"]),
            (["import", "x", "--dryrun"], "Did you mean '--dry-run'?", ["import"]),
            (["completions", "bsh"], "Did you mean 'bash'?", ["completions"]),
            (["xyzzy"], "There is no command 'xyzzy'.", []),
            (["import"], "PATH is missing.", ["import"]),
            (["ping", "now"], "'now' is one word too many.", ["ping"]),
            (["import", "x", "--category"], "needs a value", ["import"]),
            (["import", "x", "--category", "--json"], "needs a value", ["import"]),
            (["import", "x", "--no-originals=yes"], "takes no value", ["import"]),
            (["import", "x", "--category", "a", "--category", "b"], "stands there twice", ["import"]),
            (["photos", "list", "--limit", "0"], "a number from 1 to 1000", ["photos", "list"]),
            (["photos", "list", "--limit", "ten"], "a number from 1 to 1000", ["photos", "list"]),
            (["photos", "list", "--from", "2025-02-30"], "must be a date", ["photos", "list"]),
            (["photos", "move", "1"], "'--to NAME' is missing", ["photos", "move"]),
            (["trash", "restore", "one"], "must be a number", ["trash", "restore"]),
            (["import", "-beach.jpg"], "If it is a name: write it after '--'.", ["import"]),
            (["-x"], "There is no option '-x' here", []),
        ])
    func wrong(arguments: [String], message: String, command: [String]) {
        #expect(throws: CommandFailure.self) { try parser.parse(arguments) }
        do {
            _ = try parser.parse(arguments)
        } catch {
            #expect(error.message.contains(message), "\(error.message)")
            #expect(error.exitCode == .usage)
            if case .usage(_, let place) = error { #expect(place == command) }
        }
    }

    @Test("Repeated options keep their order, repeated operands too")
    func repeated() throws {
        let line = try invocation("backup", "create", "--category", "A", "--category=B")
        #expect(line.values("category") == ["A", "B"])
        #expect(line.operand("FILE") == nil)
        #expect(try invocation("swipe", "record", "s", "1", "keep").operand("DECISION") == "keep")
    }

    @Test("The table is sound: no command twice, none in the way of another, one default a group at most")
    func table() {
        let names = CommandTable.all.map(\.name)
        #expect(Set(names).count == names.count)
        for command in CommandTable.all {
            #expect(
                !CommandTable.all.contains {
                    $0.words.count > command.words.count && $0.words.starts(with: command.words)
                })
            let options = command.allOptions.map(\.name)
            #expect(Set(options).count == options.count, "\(command.name)")
            #expect(Set(command.operands.map(\.name)).count == command.operands.count)
            #expect(command.operands.count { $0.count.repeats } <= 1)
        }
        for group in Set(CommandTable.all.filter { $0.words.count > 1 }.map { Array($0.words.dropLast()) }) {
            let name = group.joined(separator: " ")
            #expect(CommandTable.groups[name] != nil, "\(name) says what it is about")
            #expect(CommandTable.all.count { $0.words.dropLast() == group[...] && $0.isDefaultOfGroup } <= 1)
        }
    }
}

@Suite("Guessing what was meant")
struct SpellingTests {
    @Test(
        arguments: [
            ("photos", "photos", 0), ("phots", "photos", 1), ("pohtos", "photos", 1), ("list", "lost", 1),
            ("", "abc", 3), ("abc", "", 3), ("kitten", "sitting", 3),
        ])
    func distance(left: String, right: String, slips: Int) {
        #expect(Spelling.distance(left, right) == slips)
        #expect(Spelling.distance(right, left) == slips)
    }

    @Test("What is not near is not suggested")
    func far() {
        #expect(Spelling.nearest(to: "xyzzy", among: ["photos", "import"]) == nil)
        #expect(Spelling.nearest(to: String(repeating: "a", count: 100_000), among: ["photos"]) == nil)
        #expect(Spelling.nearest(to: "", among: ["photos"]) == nil)
        #expect(Spelling.nearest(to: "cat", among: ["photos", "categories"]) == "categories")
    }
}
