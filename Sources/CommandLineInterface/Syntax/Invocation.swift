import LibraryModel
import ServiceMesh

/// A command line that has been understood: the command, and what stands where. Values have passed their kind's
/// check (``ValueKind/problem(with:)``).
package struct Invocation: Sendable {
    package let command: Command
    /// Values by the option's name; a switch that is on has none.
    package let options: [String: [String]]
    /// Values by the operand's name.
    package let operands: [String: [String]]

    package init(command: Command, options: [String: [String]], operands: [String: [String]]) {
        (self.command, self.options, self.operands) = (command, options, operands)
    }

    package func has(_ option: String) -> Bool { options[option] != nil }

    package func value(_ option: String) -> String? { options[option]?.last }

    package func values(_ option: String) -> [String] { options[option] ?? [] }

    package func operand(_ name: String) -> String? { operands[name]?.first }

    package func operandValues(_ name: String) -> [String] { operands[name] ?? [] }

    package func number(_ option: String) -> Int? { value(option).flatMap(Int.init) }

    /// A date on a camera's clock, as far as it was said.
    package func date(_ option: String) -> SaidDate? { value(option).flatMap(SaidDate.init) }

    /// The first moment of a day here, or the moment itself.
    package func moment(_ option: String) -> Timestamp? { value(option).flatMap(LocalDate.startOf) }

    package func usageError(_ message: String) -> CommandFailure { .usage(message, command: command.words) }
}

/// What a command line asks for.
package enum Request: Sendable {
    case perform(Invocation)
    /// Nothing but options that every command has.
    case bare(options: [String: [String]])
    /// Help for a command, a group, or the program (no words).
    case help([String])
    case version
}
