/// Understands a command line by the table. Options may stand anywhere before `--`; `--name value` and `--name=value`
/// are the same; what follows `--` is taken as it is.
package struct Parser: Sendable {
    package let commands: [Command]
    /// What other programs call a command: words that are none here, and the name of the one that is meant.
    private let synonyms: [String: String]

    package init(commands: [Command], synonyms: [String: String] = [:]) {
        self.commands = commands
        self.synonyms = synonyms
    }

    package func parse(_ arguments: [String]) throws(CommandFailure) -> Request {
        var reading = Reading(commands: commands, synonyms: synonyms)
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--", !reading.isLiteral {
                reading.isLiteral = true
            } else if !reading.isLiteral, argument.hasPrefix("-"), argument.count > 1 {
                try reading.take(option: argument, rest: &rest)
            } else {
                try reading.take(word: argument)
            }
        }
        return try reading.conclude()
    }
}

/// One command line while it is read.
private struct Reading {
    let commands: [Command]
    let synonyms: [String: String]
    var isLiteral = false
    private var words: [String] = []
    private var command: Command?
    private var options: [String: [String]] = [:]
    private var operands: [String] = []
    private var wantsVersion = false

    init(commands: [Command], synonyms: [String: String]) { (self.commands, self.synonyms) = (commands, synonyms) }

    /// Where usage errors point to.
    private var place: [String] { command?.words ?? words }

    private func usage(_ message: String) -> CommandFailure { .usage(message, command: place) }

    private func commands(below words: [String]) -> [Command] {
        commands.filter { $0.words.count > words.count && $0.words.starts(with: words) }
    }

    private var defaultOfGroup: Command? {
        words.isEmpty ? nil : commands(below: words).first { $0.isDefaultOfGroup && $0.words.count == words.count + 1 }
    }

    mutating func take(word: String) throws(CommandFailure) {
        guard command == nil, !isLiteral else {
            if command == nil { command = defaultOfGroup }
            guard command != nil else { throw usage("Name a command before '--'.") }
            operands.append(word)
            return
        }
        let path = words + [word]
        if let exact = commands.first(where: { $0.words == path }) {
            words = path
            command = exact
        } else if !commands(below: path).isEmpty {
            words = path
        } else {
            let known = commands(below: words).map { $0.words[words.count] }
            let unique = known.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
            let what = words.isEmpty ? "There is no command" : "'\(words.joined(separator: " "))' has no command"
            let meant = synonyms[path.joined(separator: " ").lowercased()].map { ". Did you mean '\($0)'?" }
            throw usage("\(what) '\(word)'" + (meant ?? Spelling.suggestion(for: word, among: unique)))
        }
    }

    mutating func take(option argument: String, rest: inout ArraySlice<String>) throws(CommandFailure) {
        let isLong = argument.hasPrefix("--")
        let body = argument.drop { $0 == "-" }
        let parts = body.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let name = parts.first ?? ""
        let inline = parts.count > 1 ? parts[1] : nil
        if isLong, name == "version", words.isEmpty, inline == nil {
            wantsVersion = true
            return
        }
        let known = (command ?? defaultOfGroup)?.allOptions ?? Option.everywhere
        let found = known.first { option in
            isLong ? option.name == name : option.short.map(String.init) == name
        }
        guard let option = found else {
            let near = Spelling.suggestion(for: name, among: known.map(\.name), prefix: "--")
            // A file may be called so; whoever means one cannot know how to say it.
            let mayBeName = near == "." && command.map { !$0.operands.isEmpty } ?? false
            let literal = mayBeName ? " If it is a name: write it after '--'." : ""
            throw usage("There is no option '\(isLong ? "--" : "-")\(name)' here" + near + literal)
        }
        // An option of its own settles that the group's default is meant; one that every command has does not.
        if command == nil, !Option.everywhere.contains(where: { $0.name == option.name }) { command = defaultOfGroup }
        try take(option, inline: inline, rest: &rest)
    }

    private mutating func take(
        _ option: Option, inline: String?, rest: inout ArraySlice<String>
    ) throws(CommandFailure) {
        guard let (placeholder, kind) = option.value else {
            guard inline == nil else { throw usage("The option '--\(option.name)' takes no value.") }
            options[option.name] = []
            return
        }
        let value: String
        if let inline {
            value = inline
        } else {
            guard let next = rest.first, !(next.hasPrefix("--")) else {
                throw usage(
                    "The option '--\(option.name)' needs a value: --\(option.name) \(placeholder)"
                        + (rest.isEmpty ? "." : " (with an equals sign where it begins with dashes)."))
            }
            rest.removeFirst()
            value = next
        }
        if let problem = kind.problem(with: value) { throw usage("'--\(option.name)' \(problem)") }
        guard option.repeats || options[option.name] == nil else {
            throw usage("The option '--\(option.name)' stands there twice.")
        }
        options[option.name, default: []].append(value)
    }

    func conclude() throws(CommandFailure) -> Request {
        if options["help"] != nil { return .help(place) }
        if wantsVersion { return .version }
        guard let command = command ?? defaultOfGroup else {
            guard !words.isEmpty else { return .bare(options: options) }
            let verbs = commands(below: words).map { $0.words[words.count] }.joined(separator: ", ")
            throw usage("'\(words.joined(separator: " "))' needs one of: \(verbs).")
        }
        for option in command.options where option.isRequired && options[option.name] == nil {
            throw CommandFailure.usage("The option '\(option.usage)' is missing.", command: command.words)
        }
        return .perform(Invocation(command: command, options: options, operands: try assign(to: command)))
    }

    /// Deals the operands out in order: one to each that must have one, the rest to the first that may take them.
    private func assign(to command: Command) throws(CommandFailure) -> [String: [String]] {
        var rest = operands[...]
        var assigned: [String: [String]] = [:]
        for (index, operand) in command.operands.enumerated() {
            let owed = command.operands[(index + 1)...].reduce(0) { $0 + $1.count.minimum }
            let room = max(0, rest.count - owed)
            let count = operand.count.repeats ? room : min(1, room)
            guard count >= operand.count.minimum else {
                throw CommandFailure.usage("\(operand.name) is missing.", command: command.words)
            }
            let values = rest.prefix(count)
            rest = rest.dropFirst(count)
            for value in values {
                if let problem = operand.kind.problem(with: value) {
                    throw CommandFailure.usage("\(operand.name) \(problem)", command: command.words)
                }
            }
            if !values.isEmpty { assigned[operand.name] = Array(values) }
        }
        if let stray = rest.first {
            throw CommandFailure.usage("'\(stray)' is one word too many.", command: command.words)
        }
        return assigned
    }
}
