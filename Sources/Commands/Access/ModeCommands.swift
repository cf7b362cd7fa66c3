import CommandLineInterface
import LibraryModel
import ServiceMesh

extension CommandTable {
    static let modeCommands: [Command] = [
        Command(
            words: ["mode"], summary: "Show or set whom the library is open to: parents, or kids.",
            details: """
                In kids mode whoever connects may look at photos and categories, and do nothing
                else; everything else asks for the PIN, from you too. It stays over restarts.
                Programs that are connected when it begins fall to it at once, and unlocked
                ones are locked. Set a PIN first: smilepile pin set
                """,
            operands: [
                Operand(
                    "MODE", .words(AppMode.allCases.map(\.rawValue)), .optional,
                    help: "The mode; shows it where none is given.")
            ],
            examples: [
                Example("smilepile mode", "Which one is it?"),
                Example("smilepile mode kids", "Hand the machine to the kids."),
                Example("smilepile mode parent", "Leave kids mode; asks for the PIN."),
            ]
        ) { invocation, session in
            try await session.withLibrary { library in
                guard let mode = invocation.operand("MODE").flatMap(AppMode.init) else {
                    let answer = try await library.send(GetMode())
                    session.show(answer) { session.console.result($0.mode.rawValue) }
                    return .done
                }
                let answer = try await library.send(SetMode(mode: mode))
                session.show(answer) { status in
                    switch status.mode {
                    case .kids: session.console.result("Kids mode. To leave it: smilepile mode parent")
                    case .parent: session.console.result("Parent mode.")
                    }
                }
                return .done
            }
        }
    ]
}
