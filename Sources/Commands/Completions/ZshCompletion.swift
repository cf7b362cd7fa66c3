import CommandLineInterface
/// For zsh: a function of the new completion system, one case for each place in the tree of words.
struct ZshCompletion {
    let commands: [Command]

    var script: String {
        """
        #compdef smilepile
        # Completions of smilepile for zsh, made by: smilepile completions zsh
        _smilepile_categories() {
            local -a names
            names=("${(@f)$(\(Shell.categoryNames))}")
            compadd -a names
        }

        _smilepile_filters() {
            compadd -S '' -- \(PhotoFilters.completions.joined(separator: " "))
        }

        _smilepile() {
            local place= word
            local -a choices
            local -i index depth=1
            for ((index = 2; index < CURRENT; index++)); do
                word=${words[index]}
                case "${place:+$place }$word" in
                    \(paths.map { "'\($0)'" }.joined(separator: "|")))
                        place="${place:+$place }$word"
                        depth=$index
                        ;;
                esac
            done
            # What comes is about the command alone.
            local -a kept
            kept=("${(@)words[1]}" "${(@)words[depth+1,-1]}")
            words=("${kept[@]}")
            (( CURRENT -= depth - 1 ))

            case $place in
        \(cases)
            esac
        }

        if [[ ${funcstack[1]} == _smilepile ]]; then
            _smilepile "$@"
        else
            compdef _smilepile smilepile
        fi
        """
    }

    private var paths: [String] {
        WordTree(commands).places.flatMap { place, words in
            words.map { place.isEmpty ? $0.word : place + " " + $0.word }
        }
    }

    private var cases: String {
        let groups = WordTree(commands).places.map { place, words in
            let choices = words.map { "                " + ShellWord.quoted("\($0.word):\($0.summary)") }
            let fallback = WordTree.defaults(commands).first { $0.place == place }?.command
            let options = (fallback?.allOptions ?? Option.everywhere).map { "                " + describe($0) }
            return """
                        '\(place)')
                            choices=(
                \(choices.joined(separator: "\n"))
                            )
                            _arguments \\
                \(options.joined(separator: " \\\n")) \\
                                '1:command:->command'
                            if [[ ${words[CURRENT]} != -* ]]; then _describe command choices; fi
                            ;;
                """
        }
        let leaves = commands.map { command in
            let parts = command.allOptions.map(describe) + command.operands.map(describe)
            return """
                        '\(command.name)')
                            _arguments \\
                \(parts.map { "                " + $0 }.joined(separator: " \\\n"))
                            ;;
                """
        }
        return (groups + leaves).joined(separator: "\n")
    }

    /// Brackets and colons mean something to _arguments.
    private func escaped(_ text: String) -> String {
        text.replacing("[", with: "\\[").replacing("]", with: "\\]").replacing(":", with: "\\:")
    }

    private func describe(_ option: Option) -> String {
        let star = option.repeats ? "*" : ""
        guard let value = option.value else {
            return ShellWord.quoted("\(star)--\(option.name)[\(escaped(option.help))]")
        }
        let action = action(for: value.kind)
        return ShellWord.quoted("\(star)--\(option.name)=[\(escaped(option.help))]:\(escaped(value.name)):\(action)")
    }

    private func describe(_ operand: Operand) -> String {
        let place = operand.count.repeats ? "*" : ""
        let optional = operand.count == .optional ? ":" : ""
        return ShellWord.quoted(
            "\(place):\(optional)\(escaped(operand.name.lowercased())):\(action(for: operand.kind))")
    }

    private func action(for kind: ValueKind) -> String {
        switch kind {
        case .path: "_files"
        case .folder: "_files -/"
        case .category: "_smilepile_categories"
        case .words, .setting: "(\((kind.choices ?? []).joined(separator: " ")))"
        case .photoFilter: "_smilepile_filters"
        case .text, .date, .days, .numbers, .moment, .span, .number: " "
        }
    }
}
