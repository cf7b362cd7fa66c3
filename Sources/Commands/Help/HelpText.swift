/// Help, made from the table.
enum HelpText {
    /// The lines for a command, for a group of commands, or for the program (no words).
    static func page(for words: [String], style: Style) -> [String] {
        if let command = CommandTable.all.first(where: { $0.words == words }) { return page(for: command, style) }
        return words.isEmpty ? overview(style) : page(forGroup: words, style)
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

    private static func page(for command: Command, _ style: Style) -> [String] {
        var lines = [command.summary, "", style.bold("Usage:") + " " + usage(for: command.words)]
        if !command.details.isEmpty { lines += ["", command.details] }
        if !command.operands.isEmpty {
            lines += ["", style.bold("Arguments:")]
            lines += aligned(command.operands.map { ($0.name, $0.help + choices($0.kind)) })
        }
        lines += ["", style.bold("Options:")]
        lines += aligned(
            command.allOptions.map { option in
                (option.usage, option.help + (option.value.map { choices($0.kind) } ?? "") + notes(option))
            })
        lines += ["", style.bold(command.examples.count == 1 ? "Example:" : "Examples:")]
        lines += command.examples.flatMap { ["  \($0.line)", style.dim("      \($0.purpose)")] }
        return lines
    }

    private static func choices(_ kind: ValueKind) -> String {
        switch kind {
        case .words(let words): " (\(words.joined(separator: ", ")))"
        default: ""
        }
    }

    private static func notes(_ option: Option) -> String {
        (option.isRequired ? " Required." : "") + (option.repeats ? " May be repeated." : "")
    }

    private static func page(forGroup words: [String], _ style: Style) -> [String] {
        let members = CommandTable.all.filter { $0.words.starts(with: words) }
        let fallback = members.first(where: \.isDefaultOfGroup).map { ["", "Without a command: \($0.name)."] } ?? []
        return [
            CommandTable.groups[words.joined(separator: " ")] ?? "", "", style.bold("Usage:") + " " + usage(for: words),
            "", style.bold("Commands:"),
        ] + aligned(members.map { ($0.name, $0.summary) }) + fallback + [
            "", "Explain one of them: smilepile \(words.joined(separator: " ")) COMMAND --help",
        ]
    }

    private static func overview(_ style: Style) -> [String] {
        var lines = [
            "SmilePile keeps a family's photos on a machine of their own.", "",
            style.bold("Usage:") + " " + usage(for: []), "", style.bold("Commands:"),
        ]
        lines += aligned(CommandTable.all.map { ($0.name, $0.summary) })
        lines += ["", style.bold("Options of every command:")]
        lines += aligned(Option.everywhere.map { ($0.usage, $0.help) })
        lines += ["", style.bold("Exit codes:")]
        lines += aligned(ExitCode.allCases.map { (String($0.rawValue), $0.meaning) })
        lines += [
            "", style.bold("Examples:"), "  smilepile up", "  smilepile import ~/Pictures --category Family",
            "  smilepile photos search beach --favorites", "",
            "Explain a command: smilepile help COMMAND",
        ]
        return lines
    }

    private static func aligned(_ pairs: [(String, String)]) -> [String] {
        let width = pairs.map { TextWidth.of($0.0) }.max() ?? 0
        return pairs.map { "  " + TextWidth.padded($0.0, to: width) + "  " + $0.1 }
    }
}
