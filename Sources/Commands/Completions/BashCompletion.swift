import CommandLineInterface
/// For bash 4.4 or later, without the bash-completion package.
struct BashCompletion {
    let commands: [Command]

    var script: String {
        """
        # Completions of smilepile for bash, made by: smilepile completions bash
        _smilepile_lines() {
            COMPREPLY=()
            local line
            while IFS= read -r line; do
                [[ $line == "$1"* ]] && COMPREPLY+=("$(printf '%q' "$line")")
            done
        }

        _smilepile() {
            local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
            local place= word index skip=
            COMPREPLY=()
            for ((index = 1; index < COMP_CWORD; index++)); do
                word=${COMP_WORDS[index]}
                if [[ -n $skip ]]; then
                    skip=
                    continue
                fi
                case $word in
                    \(valued.joined(separator: "|"))) skip=1; continue ;;
                    -*) continue ;;
                esac
                case "${place:+$place }$word" in
                    \(paths.map { "'\($0)'" }.joined(separator: "|"))) place="${place:+$place }$word" ;;
                esac
            done

            case "$place $previous" in
        \(valueCases)
            esac

            if [[ $current == -* ]]; then
                case $place in
        \(optionCases)
                esac
                return
            fi

            case $place in
        \(wordCases)
            esac
        }
        complete -F _smilepile smilepile
        """
    }

    /// Every option that takes a value; what follows one is not a command's word.
    private var valued: [String] {
        var names: [String] = []
        for option in commands.flatMap(\.allOptions) where option.value != nil {
            if !names.contains("--" + option.name) { names.append("--" + option.name) }
        }
        return names
    }

    /// Every place in the tree of words.
    private var paths: [String] {
        WordTree(commands).places.flatMap { place, words in
            words.map { place.isEmpty ? $0.word : place + " " + $0.word }
        }
    }

    private func action(for kind: ValueKind) -> String? {
        switch kind {
        case .path: "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$current\")"
        case .folder: "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$current\")"
        case .category: "_smilepile_lines \"$current\" < <(\(Shell.categoryNames))"
        case .words, .setting:
            "mapfile -t COMPREPLY < <(compgen -W '\((kind.choices ?? []).joined(separator: " "))' -- \"$current\")"
        case .photoFilter:
            "mapfile -t COMPREPLY < <(compgen -W '\((kind.choices ?? []).joined(separator: " "))' -- \"$current\"); "
                + "[[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace"
        case .text, .date, .days, .numbers, .moment, .span, .number: nil
        }
    }

    private var valueCases: String {
        var lines: [String] = []
        func add(_ place: String, _ option: Option) {
            guard let value = option.value else { return }
            lines.append("        '\(place) --\(option.name)') \(action(for: value.kind) ?? ":"); return ;;")
        }
        for command in commands {
            for option in command.options { add(command.name, option) }
        }
        for (place, command) in WordTree.defaults(commands) {
            for option in command.options { add(place, option) }
        }
        for option in Option.everywhere {
            guard let value = option.value else { continue }
            lines.append("        *' --\(option.name)') \(action(for: value.kind) ?? ":"); return ;;")
        }
        return lines.joined(separator: "\n")
    }

    private func words(_ words: [String]) -> String {
        "mapfile -t COMPREPLY < <(compgen -W '\(words.joined(separator: " "))' -- \"$current\")"
    }

    private var optionCases: String {
        let named = commands.map { ($0.name, $0) } + WordTree.defaults(commands).map { ($0.place, $0.command) }
        let lines = named.map { place, command in
            "            '\(place)') \(words(command.allOptions.map { "--" + $0.name })) ;;"
        }
        let rest = "            *) \(words(Option.everywhere.map { "--" + $0.name } + ["--version"])) ;;"
        return (lines + [rest]).joined(separator: "\n")
    }

    private var wordCases: String {
        var lines = WordTree(commands).places.map { place, following in
            "        '\(place)') \(words(following.map(\.word))) ;;"
        }
        for command in commands {
            // The last operand stands for all: which one the cursor is in cannot be told cheaply, and only one of
            // a command's operands is ever of a kind that completes.
            guard let action = command.operands.compactMap({ action(for: $0.kind) }).last else { continue }
            lines.append("        '\(command.name)') \(action) ;;")
        }
        return lines.joined(separator: "\n")
    }
}
