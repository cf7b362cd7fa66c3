import CommandLineInterface
import Configuring
import ControlSocket
import Files
import Foundation
import ServiceMesh

/// `smilepile`, the command line of a SmilePile library.
///
/// A command is one row of `CommandTable`: its words, operands, options, examples, and what it does. From that
/// table come parsing (`Syntax`), help (`Help`) and shell completions (`Completions`). A command speaks to the
/// daemon through `LibraryConnection`, writes results and messages to a `Console`, and ends with an
/// `ExitCode`. What the daemon or a file says passes `PlainText` before a person sees it.
public struct Program: Sendable {
    private let environment: [String: String]
    private let currentFolder: String
    private let console: Console
    private let connect: @Sendable (String) async throws -> any LibraryConnection
    private let reviewTerminal: @Sendable () throws -> (any ReviewTerminal)?
    private let pictureTerminal: @Sendable () -> TerminalSize?
    private let openFile: @Sendable (String) async throws -> Void
    private let otherSockets: @Sendable (String) -> [String]

    /// The program in the process's own surroundings.
    public init() {
        let environment = ProcessInfo.processInfo.environment
        self.init(
            environment: environment, currentFolder: FileManager.default.currentDirectoryPath,
            console: .standard(environment: environment), connect: { try SocketConnection.open($0) },
            reviewTerminal: { isatty(0) == 1 && isatty(1) == 1 ? try StandardTerminal() : nil },
            pictureTerminal: { isatty(1) == 1 ? StandardTerminal.size() : nil },
            openFile: { try await DesktopViewer(environment: environment).open($0) },
            otherSockets: ListeningDaemon.sockets(except:))
    }

    init(
        environment: [String: String], currentFolder: String, console: Console,
        connect: @escaping @Sendable (String) async throws -> any LibraryConnection,
        reviewTerminal: @escaping @Sendable () throws -> (any ReviewTerminal)? = { nil },
        pictureTerminal: @escaping @Sendable () -> TerminalSize? = { nil },
        openFile: @escaping @Sendable (String) async throws -> Void = { _ in throw DesktopViewer.missing },
        otherSockets: @escaping @Sendable (String) -> [String] = { _ in [] }
    ) {
        self.environment = environment
        self.currentFolder = currentFolder
        self.console = console
        self.connect = connect
        self.reviewTerminal = reviewTerminal
        self.pictureTerminal = pictureTerminal
        self.openFile = openFile
        self.otherSockets = otherSockets
    }

    /// What the process was started with, its own name left out. `CommandLine.arguments` repairs names that are not UTF-8,
    /// and no file is found by a name that was repaired.
    public static var arguments: [String] {
        UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)).dropFirst().compactMap {
            argument in
            argument.map {
                String(validatingCString: $0)
                    ?? FilePath(bytes: UnsafeBufferPointer(start: $0, count: strlen($0)).map(UInt8.init(bitPattern:)))
                    .text
            }
        }
    }

    /// Does what the arguments ask for, the program's name not among them.
    public func run(_ arguments: [String]) async -> ExitCode {
        let code = await answer(arguments)
        let lost = console.lostResults()
        guard lost != 0, code == .done || code == .doneWithProblems else { return code }
        // A script that trusts the exit code must not take half a list for the whole.
        return report(.local("The output could not be written: \(String(cString: strerror(lost)))."), asJSON: false)
    }

    private func answer(_ arguments: [String]) async -> ExitCode {
        do {
            switch try Parser(commands: CommandTable.all, synonyms: CommandTable.synonyms).parse(arguments) {
            case .help(let words):
                console.result(HelpText.page(for: words, style: console.style, columns: console.results.columns()))
                return .done
            case .version:
                console.result(CommandTable.versionLine)
                return .done
            case .bare(let options):
                return await perform(Invocation(command: .welcome, options: options, operands: [:]))
            case .perform(let invocation): return await perform(invocation)
            }
        } catch {
            return report(error, asJSON: arguments.prefix { $0 != "--" }.contains("--json"))
        }
    }

    private func perform(_ invocation: Invocation) async -> ExitCode {
        let isJSON = invocation.has("json")
        var configuration = Configuration.none
        do {
            configuration = try ConfigurationFile.usual(in: environment)
        } catch {
            guard Self.looksAfterConfiguration(invocation.command) else {
                return report(CommandFailure(describing: error), asJSON: isJSON)
            }
        }
        var session = Session(
            console: console, environment: environment, currentFolder: currentFolder,
            socketPath: SocketConnection.defaultPath(environment, configuration), wantsJSON: isJSON, connect: connect,
            pins: PINEntry(console: console, file: nil))
        session.configuration = configuration
        let pinFile =
            invocation.value("pin-file") ?? environment["SMILEPILE_PIN_FILE"].flatMap { $0.isEmpty ? nil : $0 }
        session.pins = PINEntry(console: console, file: pinFile.map { $0 == "-" ? $0 : session.absolute($0) })
        session.connect = { [pins = session.pins] in
            UnlockingConnection(
                connection: try await LostSocket.connection(to: $0, with: connect), pins: pins, console: console)
        }
        session.reviewTerminal = { [environment, reviewTerminal] in
            (environment["TERM"] ?? "dumb") == "dumb" ? nil : try reviewTerminal()
        }
        session.pictureTerminal = { [environment, pictureTerminal] in
            (environment["TERM"] ?? "dumb") == "dumb" ? nil : pictureTerminal()
        }
        session.openFile = openFile
        if invocation.value("socket") == nil, let warning = ControlAddress.warning(environment) {
            console.message(PlainText.neutralized(warning))
        }
        session.socketPath = session.absolute(invocation.value("socket") ?? session.socketPath)
        do {
            return try await invocation.command.perform(invocation, session)
        } catch CommandFailure.notRunning(let socket, _, _) {
            let isNamed = invocation.value("socket") != nil
            // Every process is looked at.
            let found = try? await Console.offPool { [otherSockets] in otherSockets(socket) }
            let others = (found ?? []).prefix(3).map {
                OtherSocket(path: $0, isNamed: isNamed, environment: environment, configuration: configuration)
            }
            return report(.notRunning(socket: socket, isNamed: isNamed, elsewhere: others), asJSON: isJSON)
        } catch {
            return report(CommandFailure(describing: error), asJSON: isJSON)
        }
    }

    /// Whether a command does its work where the configuration cannot be used: it says so itself, or has no use for it.
    private static func looksAfterConfiguration(_ command: Command) -> Bool {
        ["config", "doctor", "help", "completions", "man-page"].contains(command.words.first)
    }

    private func report(_ failure: CommandFailure, asJSON: Bool) -> ExitCode {
        console.message(console.messageStyle.red("smilepile: ") + PlainText.neutralized(failure.message))
        if case .usage(_, let words) = failure {
            console.message("Usage: " + HelpText.usage(for: words))
            console.message("Try: smilepile " + (words + ["--help"]).joined(separator: " "))
        }
        if asJSON, let json = try? JSONText.encode(failure.json) {
            let text = String(decoding: json, as: UTF8.self)
            console.result(console.results.isTerminal ? JSONText.harmless(text) : text)
        }
        return failure.exitCode
    }
}
