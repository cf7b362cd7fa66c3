import CommandLineInterface
/// Help, made from the table.
struct HelpText {
    /// Columns where no terminal says how many it has.
    private static let usualWidth = 80
    /// Columns that are used at most: longer lines are hard to read.
    private static let greatestWidth = 100

    private let style: Style
    private let width: Int

    /// The lines for a command, for a group of commands, or for the program (no words).
    /// - Parameter columns: of the terminal that they are for; nil where there is none.
    static func page(for words: [String], style: Style, columns: Int? = nil) -> [String] {
        let help = HelpText(style: style, width: min(columns ?? usualWidth, greatestWidth))
        if let command = CommandTable.all.first(where: { $0.words == words }) { return help.page(for: command) }
        return words.isEmpty ? help.overview() : help.page(forGroup: words)
    }

    /// `smilepile photos list [TEXT] [options]`
    static func usage(for words: [String]) -> String {
        guard let command = CommandTable.all.first(where: { $0.words == words }) else {
            return (["smilepile"] + words + ["COMMAND", "[options]"]).joined(separator: " ")
        }
        let required = command.options.filter(\.isRequired).map(\.usage)
        return (["smilepile"] + command.words + command.operands.map(\.usage) + required + ["[options]"])
            .joined(separator: " ")
    }

    private func page(for command: Command) -> [String] {
        var lines = TextWidth.wrapped(command.summary, to: width) + [""] + usageLines(for: command.words)
        if !command.details.isEmpty { lines += [""] + paragraphs(command.details) }
        if !command.operands.isEmpty {
            lines += ["", style.bold("Arguments:")]
            lines += aligned(command.operands.map { ($0.name, Self.text(of: $0)) })
        }
        lines += ["", style.bold("Options:")]
        lines += aligned(command.allOptions.map { ($0.usage, Self.text(of: $0)) })
        lines += ["", style.bold(command.examples.count == 1 ? "Example:" : "Examples:")]
        // A line that is typed off the page stays one.
        lines += command.examples.flatMap { example in
            ["  \(example.line)"]
                + TextWidth.wrapped(example.purpose, to: width, indent: 6).map { style.dim($0) }
        }
        return lines
    }

    private func usageLines(for words: [String]) -> [String] {
        let lines = TextWidth.wrapped("Usage: " + Self.usage(for: words), to: width, hanging: 4)
        return lines.map { $0.hasPrefix("Usage:") ? style.bold("Usage:") + $0.dropFirst(6) : $0 }
    }

    private func paragraphs(_ text: String) -> [String] {
        Prose.pieces(text).flatMap { piece in
            switch piece {
            case .paragraph(let text): TextWidth.wrapped(text, to: width)
            case .line(let text, let indent): TextWidth.wrapped(text, to: width, indent: indent, hanging: 2)
            }
        }
    }

    /// What is said of an option beside its name.
    static func text(of option: Option) -> String {
        option.help + (option.value.map { choices($0.kind) } ?? "") + (option.isRequired ? " Required." : "")
            + (option.repeats ? " May be repeated." : "")
    }

    /// What is said of an operand beside its name.
    static func text(of operand: Operand) -> String { operand.help + choices(operand.kind) }

    private static func choices(_ kind: ValueKind) -> String {
        switch kind {
        case .words(let words): " (\(words.joined(separator: ", ")))"
        default: ""
        }
    }

    private func page(forGroup words: [String]) -> [String] {
        let members = CommandTable.all.filter { $0.words.starts(with: words) }
        let fallback = members.first(where: \.isDefaultOfGroup).map { ["", "Without a command: \($0.name)."] } ?? []
        let explain = "Explain one of them: smilepile \(words.joined(separator: " ")) COMMAND --help"
        return TextWidth.wrapped(CommandTable.groups[words.joined(separator: " ")] ?? "", to: width) + [""]
            + usageLines(for: words) + ["", style.bold("Commands:")]
            + aligned(members.map { ($0.name, $0.summary) }) + fallback + [""]
            + TextWidth.wrapped(explain, to: width)
    }

    private func overview() -> [String] {
        var lines = TextWidth.wrapped("SmilePile keeps a family's photos on a machine of their own.", to: width)
        lines += [""] + usageLines(for: [])
        // Of one width through all chapters, so that what they do stands in one column.
        let width = CommandTable.all.map { TextWidth.of($0.name) }.max() ?? 0
        for chapter in CommandTable.chapters {
            lines += ["", style.bold(chapter.title + ":")]
            lines += aligned(chapter.commands.map { ($0.name, $0.summary) }, first: width)
        }
        lines += ["", style.bold("Options of every command:")]
        lines += aligned(Option.everywhere.map { ($0.usage, $0.help) })
        lines += ["", style.bold("Exit codes:")]
        lines += aligned(ExitCode.allCases.map { (String($0.rawValue), $0.meaning) })
        lines += [
            "", style.bold("Examples:"), "  smilepile up", "  smilepile import ~/Pictures --category Family",
            "  smilepile photos search beach --favorites", "",
        ]
        return lines + TextWidth.wrapped("Explain a command: smilepile help COMMAND", to: width)
    }

    /// Two columns; where the second would be narrow, what belongs there stands below instead.
    /// - Parameter first: columns of the first one; as wide as its widest where that is not given.
    private func aligned(_ pairs: [(String, String)], first: Int? = nil) -> [String] {
        let first = first ?? pairs.map { TextWidth.of($0.0) }.max() ?? 0
        let indent = first + 4
        guard width - indent >= 24 else {
            return pairs.flatMap { ["  " + $0.0] + TextWidth.wrapped($0.1, to: width, indent: 6) }
        }
        return pairs.flatMap { name, text -> [String] in
            let lines = TextWidth.wrapped(text, to: width, indent: indent)
            return ["  " + TextWidth.padded(name, to: first) + "  " + (lines.first ?? "").dropFirst(indent)]
                + lines.dropFirst()
        }
    }
}
