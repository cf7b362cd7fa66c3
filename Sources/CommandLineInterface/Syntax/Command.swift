import LibraryModel

/// One row of the table from which parsing, help and completions are made: there is no second list to keep in step.
package struct Command: Sendable {
    /// What is typed to reach it: `["photos", "list"]`.
    package let words: [String]
    /// One line: what it does.
    package let summary: String
    /// What a person needs to know beyond the options; may be empty.
    package let details: String
    package let operands: [Operand]
    package let options: [Option]
    /// One to three.
    package let examples: [Example]
    /// Runs where its group is named without a verb: `smilepile photos`.
    package let isDefaultOfGroup: Bool
    package let perform: @Sendable (Invocation, Session) async throws -> ExitCode

    package init(
        words: [String], summary: String, details: String = "", operands: [Operand] = [], options: [Option] = [],
        examples: [Example], isDefaultOfGroup: Bool = false,
        perform: @escaping @Sendable (Invocation, Session) async throws -> ExitCode
    ) {
        self.words = words
        self.summary = summary
        self.details = details
        self.operands = operands
        self.options = options
        self.examples = examples
        self.isDefaultOfGroup = isDefaultOfGroup
        self.perform = perform
    }

    package var name: String { words.joined(separator: " ") }

    /// Its own options, then those that every command has.
    package var allOptions: [Option] { options + Option.everywhere }
}

package struct Example: Sendable {
    package let line: String
    package let purpose: String

    package init(_ line: String, _ purpose: String) {
        self.line = line
        self.purpose = purpose
    }
}

/// What follows a command without a dash.
package struct Operand: Sendable {
    package enum Count: Sendable {
        case one, optional, oneOrMore, any

        var minimum: Int { self == .one || self == .oneOrMore ? 1 : 0 }
        package var repeats: Bool { self == .oneOrMore || self == .any }
    }

    /// In capitals, as help shows it.
    package let name: String
    package var count = Count.one
    package var kind = ValueKind.text
    package let help: String

    package init(_ name: String, _ kind: ValueKind = .text, _ count: Count = .one, help: String) {
        self.name = name
        self.kind = kind
        self.count = count
        self.help = help
    }

    package var usage: String {
        switch count {
        case .one: name
        case .optional: "[\(name)]"
        case .oneOrMore: "\(name)…"
        case .any: "[\(name)…]"
        }
    }
}

package struct Option: Sendable {
    /// Without the dashes.
    package let name: String
    package let short: Character?
    /// The value's name in help and what may stand there; nil for a switch.
    package let value: (name: String, kind: ValueKind)?
    package let repeats: Bool
    package let isRequired: Bool
    package let help: String

    package init(
        name: String, short: Character? = nil, value: (name: String, kind: ValueKind)? = nil, repeats: Bool = false,
        isRequired: Bool = false, help: String
    ) {
        self.name = name
        self.short = short
        self.value = value
        self.repeats = repeats
        self.isRequired = isRequired
        self.help = help
    }

    package static func flag(_ name: String, short: Character? = nil, help: String) -> Option {
        Option(name: name, short: short, help: help)
    }

    package static func value(
        _ name: String, _ placeholder: String, _ kind: ValueKind, repeats: Bool = false, isRequired: Bool = false,
        help: String
    ) -> Option {
        Option(name: name, value: (placeholder, kind), repeats: repeats, isRequired: isRequired, help: help)
    }

    /// `--category NAME`, with the short form before it where there is one.
    package var usage: String {
        (short.map { "-\($0), " } ?? "") + "--\(name)" + (value.map { " \($0.name)" } ?? "")
    }

    package static let everywhere: [Option] = [
        .flag("json", help: "Print one JSON document, the reply as it came."),
        .value(
            "socket", "PATH", .path,
            help: "The daemon's socket; else SMILEPILE_SOCKET's, the configuration's, or the usual."),
        .value(
            "pin-file", "PATH", .path,
            help: "The PIN's file, '-' for input; else SMILEPILE_PIN_FILE."),
        .flag("help", short: "h", help: "Explain the command."),
    ]
}

/// What a value is: for checking it while parsing, and for completing it in a shell.
package enum ValueKind: Sendable, Equatable {
    case text
    case path
    case folder
    /// An id or a name.
    case category
    /// A year, a month, a day, or a day and a time on a camera's clock (``SaidDate``).
    case date
    /// A year, a month, a day or a time on a camera's clock (``DateSpan``).
    case days
    /// A number, a range of numbers, or `-` for standard input.
    case numbers
    /// One filter of photos, as `--where` takes it.
    case photoFilter
    /// A day here, or a moment.
    case moment
    /// A length of time: `7d`, `12h` (``TimeText``).
    case span
    case number(ClosedRange<Int64>)
    case words([String])
    /// The name of a setting.
    case setting(settableOnly: Bool)

    /// The words that may stand there, where only some may.
    package var choices: [String]? {
        switch self {
        case .words(let words): words
        case .setting(let settableOnly): (settableOnly ? SettingKey.settable : SettingKey.allCases).map(\.rawValue)
        case .photoFilter: PhotoFilters.completions
        case .text, .path, .folder, .category, .date, .days, .numbers, .moment, .span, .number: nil
        }
    }

    /// What is wrong with a value, as the rest of a sentence; nil where nothing is.
    package func problem(with value: String) -> String? {
        switch self {
        case .text: nil
        case .path, .folder, .category:
            value.isEmpty || value.utf8.contains(0) ? "must not be empty." : nil
        case .date:
            SaidDate(value) == nil ? "must be a date such as \(SaidDate.forms)." : nil
        case .days: DateSpan(value) == nil ? "must be a date such as \(DateSpan.forms)." : nil
        case .numbers:
            value == "-"
                || (1...2).contains(value.split(separator: "-", omittingEmptySubsequences: false).count)
                    && value.split(separator: "-", omittingEmptySubsequences: false).allSatisfy {
                        $0.isNumber(upTo: 19)
                    }
                ? nil : "must be a number, a range such as 12-40, or '-'."
        case .photoFilter: PhotoFilters.problem(with: value)
        case .moment:
            LocalDate.startOf(value) == nil ? "must be a date such as 2025-06-15 or 2025-06-15T10:00:00Z." : nil
        case .span: (TimeText.shift(value) ?? 0) > 0 ? nil : "must be a length of time such as 7d or 12h."
        case .number(let range):
            if let number = Int64(value), range.contains(number) {
                nil
            } else if range.upperBound == .max {
                "must be a number, \(range.lowerBound) or more."
            } else {
                "must be a number from \(range.lowerBound) to \(range.upperBound)."
            }
        case .words, .setting:
            problem(with: value, among: choices ?? [])
        }
    }
    private func problem(with value: String, among words: [String]) -> String? {
        if words.contains(value) { return nil }
        if case .setting = self, let setBy = SettingKey(rawValue: value)?.setBy {
            return "must be a setting that a person sets: \(value) is set by \(setBy)."
        }
        return "must be one of \(words.joined(separator: ", "))" + Spelling.suggestion(for: value, among: words)
    }
}
