import CommandLineInterface
/// For fish: one line for each word and each option, with the place in which it stands.
struct FishCompletion {
    let commands: [Command]

    var script: String {
        var lines = [
            "# Completions of smilepile for fish, made by: smilepile completions fish",
            "function __smilepile_at",
            "    set -l words",
            "    set -l skip",
            "    for word in (commandline -opc)[2..-1]",
            "        if test -n \"$skip\"",
            "            set skip",
            "            continue",
            "        end",
            "        switch $word",
            "            case \(valued.joined(separator: " "))",
            "                set skip yes",
            "            case '-*'",
            "            case '*'",
            "                set -a words $word",
            "        end",
            "    end",
            // A leaf is entered by its words, whatever follows; a group only by exactly its own.
            "    switch $argv[1]",
            "        case exactly",
            "            test \"$words\" = \"$argv[2]\"",
            "        case within",
            "            string match -q -- \"$argv[2] *\" \"$words \"",
            "    end",
            "end",
            "complete -c smilepile -f",
        ]
        for (place, words) in WordTree(commands).places {
            for (word, summary) in words {
                lines.append(
                    "complete -c smilepile -n \"__smilepile_at exactly '\(place)'\" -a \(word) "
                        + "-d \(ShellWord.quoted(summary))")
            }
        }
        for option in Option.everywhere { lines.append(line(option, condition: nil)) }
        lines.append("complete -c smilepile -n \"__smilepile_at exactly ''\" -l version -d 'Print the version.'")
        for command in commands {
            let condition = "__smilepile_at within '\(command.name)'"
            lines += command.options.map { line($0, condition: condition) }
            for operand in command.operands {
                if let arguments = arguments(operand.kind) {
                    lines.append("complete -c smilepile -n \"\(condition)\" \(arguments)")
                }
            }
        }
        for (place, command) in WordTree.defaults(commands) {
            lines += command.options.map { line($0, condition: "__smilepile_at exactly '\(place)'") }
        }
        return lines.joined(separator: "\n")
    }

    private var valued: [String] {
        var names: [String] = []
        for option in commands.flatMap(\.allOptions) where option.value != nil {
            if !names.contains("--" + option.name) { names.append("--" + option.name) }
        }
        return names
    }

    private func line(_ option: Option, condition: String?) -> String {
        var words = ["complete -c smilepile"]
        if let condition { words.append("-n \"\(condition)\"") }
        words.append("-l \(option.name)")
        if let short = option.short { words.append("-s \(short)") }
        if let value = option.value { words.append("-r " + (arguments(value.kind) ?? "-f")) }
        words.append("-d \(ShellWord.quoted(option.help))")
        return words.joined(separator: " ")
    }

    /// What completes a value of this kind; nil where nothing can.
    private func arguments(_ kind: ValueKind) -> String? {
        switch kind {
        case .path: "-F"
        case .folder: "-f -a '(__fish_complete_directories)'"
        case .category: "-f -a '(\(Shell.categoryNames))'"
        case .words, .setting, .photoFilter: "-f -a '\((kind.choices ?? []).joined(separator: " "))'"
        case .text, .date, .days, .numbers, .moment, .span, .number: nil
        }
    }
}
