import Configuring
import Foundation
import LibraryModel
import ServiceMesh

/// What a command works with: the console, the surroundings it was started in, and the way to the daemon.
package struct Session: Sendable {
    package let console: Console
    package let environment: [String: String]
    /// Absolute; relative paths start here.
    package let currentFolder: String
    package var socketPath: String
    /// What the configuration's file says; nothing where it cannot be used, which only commands see that look after it.
    package var configuration = Configuration.none
    package let wantsJSON: Bool
    /// Opens a connection to the socket at a path, or says that nothing answers there.
    package var connect: @Sendable (String) async throws -> any LibraryConnection
    /// Where PINs come from.
    package var pins: PINEntry
    /// Ctrl-C as values, for as long as the stream lives.
    package var interrupts: @Sendable () -> AsyncStream<Void> = Interrupts.stream
    /// Ends the program without waiting for anything.
    package var leave: @Sendable (ExitCode) -> Void = { _exit($0.rawValue) }

    /// The terminal that a person sits at; nil where there is none that shows pages and sends keys.
    package var reviewTerminal: @Sendable () throws -> (any ReviewTerminal)? = { nil }
    /// The terminal that results go to, where it can show a picture among them.
    package var pictureTerminal: @Sendable () -> TerminalSize? = { nil }
    /// Starts the desktop's program for a file, and returns when that says that it has it.
    package var openFile: @Sendable (String) async throws -> Void = { _ in throw DesktopViewer.missing }

    package init(
        console: Console, environment: [String: String], currentFolder: String, socketPath: String, wantsJSON: Bool,
        connect: @escaping @Sendable (String) async throws -> any LibraryConnection, pins: PINEntry
    ) {
        self.console = console
        self.environment = environment
        self.currentFolder = currentFolder
        self.socketPath = socketPath
        self.wantsJSON = wantsJSON
        self.connect = connect
        self.pins = pins
    }

    /// The socket that is meant where the command line names none.
    package var usualSocket: String { absolute(SocketConnection.defaultPath(environment, configuration)) }

    /// The library that the environment or the configuration names, absolute; nil where neither does.
    /// - Throws: `MeshError`.
    package func namedLibrary() throws -> String? {
        try configuration.text(.library, environment: environment).map(absolute)
    }

    /// Runs `body` with a connection that is closed afterwards.
    package func withLibrary<Result: Sendable>(
        _ body: (any LibraryConnection) async throws -> Result
    ) async throws -> Result {
        let library = try await connect(socketPath)
        do {
            let result = try await body(library)
            await library.close()
            return result
        } catch {
            await library.close()
            throw error
        }
    }

    /// Prints the reply as it came with `--json`, else what `human` makes of it.
    package func show<Value>(_ answer: Answer<Value>, human: (Value) -> Void) {
        if wantsJSON { show(json: answer.json) } else { human(answer.value) }
    }

    /// Says how many photos were changed, where that took several requests as well.
    /// - Parameter words: of so many: `12 photos moved.`
    package func show(changed count: Int, words: (String) -> String) throws {
        if wantsJSON {
            show(json: try JSONText.encode(PhotosChanged(count: count)))
        } else {
            console.result(words(Figures.count(count, "photo")))
        }
    }

    package func show(json: Data) {
        let text = String(decoding: json, as: UTF8.self)
        console.result(console.results.isTerminal ? JSONText.harmless(text) : text)
    }

    package func show(json value: JSONValue) throws { show(json: try JSONText.encode(value)) }

    /// A path as the daemon needs it, whose current folder is another one: absolute, without `.` and `..`.
    package func absolute(_ path: String) -> String {
        let whole = path.hasPrefix("/") ? path : currentFolder + "/" + path
        var parts: [Substring] = []
        // By name only: resolving links here would change what the person named.
        for part in whole.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }

    /// Before a person would wait for what they are then to be asked about.
    package func requireSomebodyToAsk(_ command: Invocation) throws {
        guard !console.hasPerson else { return }
        throw command.usageError("Nobody is there to confirm. Repeat it with --yes if you are sure.")
    }

    /// A yes from a person, or `--yes`.
    package func confirm(_ question: String, given: Bool, command: Invocation) async throws -> Bool {
        if given { return true }
        guard let answer = await console.ask(question + " [y/N] ") else {
            throw command.usageError("Nobody is there to confirm. Repeat it with --yes if you are sure.")
        }
        let said = answer.trimmingCharacters(in: .whitespaces).lowercased()
        if said == "y" || said == "yes" { return true }
        console.message("Nothing was changed.")
        return false
    }
}
