import CommandLineInterface
import Foundation
import LibraryModel
import ServiceMesh

extension CommandTable {
    private static let fromWhere = """
        On a terminal the PIN is asked for and not shown. A script writes it to standard
        input, a line for each PIN that would be asked for.
        """

    static let pinCommands: [Command] = [
        Command(
            words: ["pin", "status"], summary: "Show whether there is a PIN, and when the next try is taken.",
            examples: [Example("smilepile pin", "Is there one?")], isDefaultOfGroup: true
        ) { _, session in
            try await session.withLibrary { library in
                let answer = try await library.send(GetPINStatus())
                session.show(answer) { status in
                    var sheet = FactSheet()
                    sheet.add("PIN", status.isSet ? "set" : "none; set one: smilepile pin set")
                    if status.isSet { sheet.add("Wrong tries here", String(status.failures)) }
                    for guesses in status.guesses ?? [] where guesses.device != nil {
                        sheet.add("Wrong tries on \(guesses.place)", String(guesses.count))
                    }
                    if let wait = status.retryAfterMs {
                        sheet.add("Next try in", Figures.duration(seconds: Double(wait) / 1000))
                    }
                    session.console.show(sheet)
                }
                return .done
            }
        },
        Command(
            words: ["pin", "set"], summary: "Set a PIN, which kids mode needs.",
            details: """
                A PIN has 4 to 64 characters, letters and signs too. It keeps children out, not
                administrators: whoever may write the library's files can reset it.
                \(fromWhere)
                """,
            examples: [
                Example("smilepile pin set", "Asks for it, twice.")
            ]
        ) { _, session in
            try await session.withLibrary { library in
                guard try await !library.send(GetPINStatus()).value.isSet else {
                    throw CommandFailure.refused(
                        MeshError(.alreadyExists, "There is a PIN already. Change it: smilepile pin change"))
                }
                let answer = try await library.send(SetPIN(pin: try await session.pins.new()))
                session.show(answer) { _ in
                    session.console.result("The PIN is set. Hand the library to the kids with: smilepile mode kids")
                }
                return .done
            }
        },
        Command(
            words: ["pin", "change"], summary: "Change the PIN.", details: fromWhere,
            examples: [
                Example("smilepile pin change", "Asks for the one that is, then for the new one.")
            ]
        ) { _, session in
            let pin = try await session.pins.required()
            session.pins.remember(pin)
            let new = try await session.pins.new()
            return try await session.withLibrary { library in
                let answer = try await library.send(ChangePIN(pin: pin, newPIN: new))
                session.show(answer) { _ in session.console.result("The PIN is changed.") }
                return .done
            }
        },
        Command(
            words: ["pin", "clear"], summary: "Remove the PIN.",
            details: "Not in kids mode, which nobody could leave then.\n\(fromWhere)",
            examples: [Example("smilepile pin clear", "Asks for it first.")]
        ) { _, session in
            let pin = try await session.pins.required()
            session.pins.remember(pin)
            return try await session.withLibrary { library in
                let answer = try await library.send(ClearPIN(pin: pin))
                session.show(answer) { _ in session.console.result("There is no PIN any more.") }
                return .done
            }
        },
        Command(
            words: ["pin", "reset"], summary: "Remove a PIN that is lost, with the daemon stopped.",
            details: """
                Whoever may write the library's files may do this: the PIN keeps children out,
                not administrators. The library is in parent mode afterwards. Nothing else
                changes.
                """,
            options: [
                .flag("offline", help: "The daemon is stopped; refused where one runs."),
                .value("library", "FOLDER", .folder, help: "The library's folder; the usual place unless given."),
                .flag("yes", help: "Do not ask."),
            ],
            examples: [
                Example("smilepile pin reset --offline", "After 'smilepile down'."),
                Example("smilepile pin reset --offline --library /srv/photos --yes", "Another one, from a script."),
            ]
        ) { invocation, session in try await reset(invocation, session) },
        Command(
            words: ["pin", "lock"], summary: "End what the PIN gave, on every connection.",
            details: """
                For a program that was unlocked and left open. In parent mode everybody is a
                parent without a PIN, and stays it.
                """,
            examples: [Example("smilepile pin lock", "Did I leave it open?")]
        ) { _, session in
            try await session.withLibrary { library in
                let answer = try await library.send(Lock(everywhere: true))
                session.show(answer) { _ in session.console.result("Nothing is unlocked any more.") }
                return .done
            }
        },
        Command(
            words: ["pin", "unlock"], summary: "Find out whether a PIN is right.",
            details: """
                A right PIN counts for the connection that gave it, and for no other. Programs
                that stay connected unlock theirs with the message pin.unlock. Each command
                here has a connection of its own, and asks by itself where kids mode needs it.
                After five wrong PINs in a row from one device, this machine being one, the
                next from there is taken in 30 seconds, then in twice as long each time, up to
                an hour, restarts or not; after fifty from all of them together, everywhere.
                A right one tells which devices guessed.
                \(fromWhere)
                """,
            examples: [Example("smilepile pin unlock", "Is that still the PIN?")]
        ) { _, session in
            let pin = try await session.pins.required()
            return try await session.withLibrary { library in
                let answer = try await library.send(Unlock(pin: pin))
                session.show(answer) { unlocked in
                    session.console.result("That is the PIN.")
                    unlocked.guesses?.forEach { session.console.message($0.sentence) }
                }
                return .done
            }
        },
    ]

    /// By the daemon's program, which alone knows how a library is kept.
    private static func reset(_ invocation: Invocation, _ session: Session) async throws -> ExitCode {
        guard invocation.has("offline") else {
            throw invocation.usageError(
                "A running daemon resets no PIN. Stop it with 'smilepile down', and add --offline.")
        }
        let question = "Remove the PIN, and leave kids mode?"
        guard try await session.confirm(question, given: invocation.has("yes"), command: invocation) else {
            return .failed
        }
        let program = try DaemonLaunch.locate(session)
        let folder = invocation.value("library").map { ["--library", session.absolute($0)] } ?? []
        let environment = session.environment
        let (status, said, complaint) = try await Console.offPool {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: program)
            process.arguments = ["--reset-pin"] + folder
            process.environment = environment
            process.standardInput = FileHandle.nullDevice
            let (output, errors) = (Pipe(), Pipe())
            (process.standardOutput, process.standardError) = (output, errors)
            try process.run()
            // A sentence each, far less than a pipe takes, so that neither is waited for in vain.
            let said = output.fileHandleForReading.readDataToEndOfFile()
            let complaint = errors.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return (process.terminationStatus, said, complaint)
        }
        func text(_ data: Data) -> String { String(decoding: data, as: UTF8.self).trimmingWhitespace }
        guard status == 0 else { throw CommandFailure.local(text(complaint)) }
        if session.wantsJSON {
            try session.show(json: ["reset": true])
        } else {
            session.console.result(PlainText.neutralized(text(said)))
            session.console.message("It keeps children out, not administrators. Set a new one: smilepile pin set")
        }
        return .done
    }
}
