import CommandLineInterface
/// A shell for which completions are made, from the same table as everything else.
enum Shell: String, CaseIterable {
    case bash, zsh, fish

    func script(for commands: [Command]) -> String {
        switch self {
        case .bash: BashCompletion(commands: commands).script
        case .zsh: ZshCompletion(commands: commands).script
        case .fish: FishCompletion(commands: commands).script
        }
    }

    /// Prints the names of the categories, one a line; nothing where no daemon runs.
    static let categoryNames = "smilepile categories list --names 2>/dev/null"
}

/// The words of the commands as a tree: at each place, what may follow.
struct WordTree {
    /// A place (`""`, `photos`) and the words that may follow there, each with what it does.
    let places: [(place: String, words: [(word: String, summary: String)])]

    init(_ commands: [Command]) {
        var order: [String] = []
        var below: [String: [(word: String, summary: String)]] = [:]
        for command in commands {
            for depth in command.words.indices {
                let place = command.words[..<depth].joined(separator: " ")
                let word = command.words[depth]
                if below[place] == nil { order.append(place) }
                guard below[place, default: []].allSatisfy({ $0.word != word }) else { continue }
                let path = command.words[...depth].joined(separator: " ")
                let isGroup = depth < command.words.count - 1
                let summary = isGroup ? CommandTable.groups[path] ?? "" : command.summary
                below[place, default: []].append((word, summary))
            }
        }
        places = order.map { ($0, below[$0] ?? []) }
    }

    /// Where a group may be left out of the words: its place, and the command that runs then.
    static func defaults(_ commands: [Command]) -> [(place: String, command: Command)] {
        commands.filter(\.isDefaultOfGroup).map { ($0.words.dropLast().joined(separator: " "), $0) }
    }
}
