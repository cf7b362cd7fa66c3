import LibraryModel
import ServiceMesh

/// A command line that has been understood: the command, and what stands where. Values have passed their kind's
/// check (``ValueKind/problem(with:)``).
struct Invocation: Sendable {
    let command: Command
    /// Values by the option's name; a switch that is on has none.
    let options: [String: [String]]
    /// Values by the operand's name.
    let operands: [String: [String]]

    func has(_ option: String) -> Bool { options[option] != nil }

    func value(_ option: String) -> String? { options[option]?.last }

    func values(_ option: String) -> [String] { options[option] ?? [] }

    func operand(_ name: String) -> String? { operands[name]?.first }

    func operandValues(_ name: String) -> [String] { operands[name] ?? [] }

    func number(_ option: String) -> Int? { value(option).flatMap(Int.init) }

    /// The first moment of a day on a camera's clock, or the moment itself.
    func clock(_ option: String) -> LocalDateTime? { value(option).flatMap(LocalDateTime.init) }

    /// The first moment of a day here, or the moment itself.
    func moment(_ option: String) -> Timestamp? { value(option).flatMap(LocalDate.startOf) }

    func usageError(_ message: String) -> CommandFailure { .usage(message, command: command.words) }
}

/// What a command line asks for.
enum Request: Sendable {
    case perform(Invocation)
    /// Help for a command, a group, or the program (no words).
    case help([String])
    case version
}
