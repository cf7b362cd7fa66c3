import CommandLineInterface
import Configuring
import ControlSocket
import Foundation
import LibraryModel
import ServiceMesh

extension CommandTable {
    static let configurationCommands: [Command] = [
        Command(
            words: ["config", "list"],
            summary: "Show what the programs are started with, and where each value comes from.",
            details: explanation + "\n\n"
                + """
                The command line stands above a variable, a variable above the file, and the file above what is usual. What a daemon
                that runs was given on its own command line is not shown: its unit's, for one.
                """,
            examples: [
                Example("smilepile config", "All of it."),
                Example("smilepile config list --json", "For a script."),
            ], isDefaultOfGroup: true
        ) { _, session in try listConfiguration(session) },
        Command(
            words: ["config", "get"], summary: "Print one value of the configuration.", details: explanation,
            operands: [Operand("KEY", .words(ConfigurationKey.names), help: "What.")],
            examples: [Example("smilepile config get library", "Where a daemon that is started now keeps its library.")]
        ) { invocation, session in
            let key = try configurationKey(invocation)
            let found = try ConfiguredValue(key, try readConfiguration(session), session)
            if session.wantsJSON {
                try session.show(json: found.json)
            } else {
                session.console.result(PlainText.neutralized(found.text))
            }
            return .done
        },
        Command(
            words: ["config", "set"], summary: "Write one value into the configuration's file.",
            details: explanation + "\n\n"
                + """
                The file is made where there is none. Everything else in it stays as it is, comments too. The daemon and the page take
                most of it over when they are started anew, and it is said what to do.
                """,
            operands: [
                Operand("KEY", .words(ConfigurationKey.names), help: "What."),
                Operand("VALUE", .text, .oneOrMore, help: "Its new value; several only for names."),
            ],
            examples: [
                Example("smilepile config set library ~/Pictures/SmilePile", "Another place for the library."),
                Example("smilepile config set log-level warning", "A quieter log."),
                Example("smilepile config set web.names photos.lan photos.example", "Names of the page."),
            ]
        ) { invocation, session in try await setConfiguration(invocation, session) },
        Command(
            words: ["config", "unset"], summary: "Take one value out of the configuration's file.",
            details: "With its comment in the same line. Then what is usual counts.",
            operands: [Operand("KEY", .words(ConfigurationKey.names), help: "What.")],
            examples: [Example("smilepile config unset socket", "The usual socket again.")]
        ) { invocation, session in try await unsetConfiguration(invocation, session) },
        Command(
            words: ["config", "edit"], summary: "Open the configuration's file in an editor.",
            details: """
                In VISUAL's or EDITOR's program, else in the machine's. What was written takes the file's place only where it can be
                used; else it is said what is wrong, and where.
                """,
            examples: [Example("smilepile config edit", "Change several values, or write comments.")]
        ) { _, session in try await ConfigurationEditor(session: session).run() },
    ]

    /// Name, values and meaning of each key, as the help of the group's commands says them.
    private static let explanation =
        (["Keys:"]
        + ConfigurationKey.allCases.flatMap { key in
            ["  \(key.rawValue): \(key.kind.allowed)", "      \(key.meaning)"]
        }).joined(separator: "\n")

    private static func configurationKey(_ invocation: Invocation) throws -> ConfigurationKey {
        guard let key = invocation.operand("KEY").flatMap(ConfigurationKey.init) else {
            throw invocation.usageError("KEY is missing.")
        }
        return key
    }

    /// - Throws: what is wrong with the file, which other commands refuse to work with.
    private static func readConfiguration(_ session: Session) throws -> Configuration {
        try ConfigurationFile.usual(in: session.environment)
    }

    private static func configurationFile(_ session: Session) throws -> ConfigurationFile {
        guard let file = ConfigurationFile.usual(session.environment) else {
            throw CommandFailure.local("There is no place for a configuration: HOME is not set. Set it.")
        }
        return file
    }

    private static func listConfiguration(_ session: Session) throws -> ExitCode {
        let configuration = try readConfiguration(session)
        let values = try ConfigurationKey.allCases.map { try ConfiguredValue($0, configuration, session) }
        let path = ConfigurationFile.usual(session.environment)?.path
        if session.wantsJSON {
            var members: [String: JSONValue] = [
                "isThere": .bool(configuration.path != nil), "values": .array(values.map(\.json)),
            ]
            if let path { members["file"] = .string(path) }
            try session.show(json: .object(members))
            return .done
        }
        var table = Table(
            .init(heading: "KEY"), .init(heading: "VALUE", shrinks: true), .init(heading: "FROM", shrinks: true))
        for value in values { table.add([value.key.rawValue, value.text, value.origin]) }
        session.console.show(table)
        if let path {
            session.console.message(
                configuration.path == nil
                    ? "There is no file yet. 'smilepile config set' makes \(PlainText.neutralized(path))."
                    : "The file: \(PlainText.neutralized(path))")
        }
        return .done
    }

    private static func setConfiguration(_ invocation: Invocation, _ session: Session) async throws -> ExitCode {
        let key = try configurationKey(invocation)
        var words = invocation.operandValues("VALUE")
        if key.kind == .path { words = words.map { $0.isEmpty || $0.hasPrefix("~/") ? $0 : session.absolute($0) } }
        guard let value = key.kind.value(typed: words) else {
            throw invocation.usageError("\(key.rawValue) takes \(key.kind.allowed).")
        }
        let file = try configurationFile(session)
        _ = try await Console.offPool {
            try file.replace { old in
                let text =
                    old.isEmpty ? "# What SmilePile is started with. Each key: smilepile config set --help\n" : old
                return try ConfigurationText(text).setting(key, to: value)
            }
        }
        return try tell(key, "\(key.rawValue) is \(value.text) now.", file, session)
    }

    private static func unsetConfiguration(_ invocation: Invocation, _ session: Session) async throws -> ExitCode {
        let key = try configurationKey(invocation)
        let file = try configurationFile(session)
        let hasChanged = try await Console.offPool {
            guard try file.text() != nil else { return false }
            return try file.replace { try ConfigurationText($0).removing(key) }
        }
        guard hasChanged else {
            session.console.message("The configuration does not say \(key.rawValue).")
            if session.wantsJSON {
                try session.show(json: try ConfiguredValue(key, readConfiguration(session), session).json)
            }
            return .done
        }
        return try tell(key, "\(key.rawValue) is as usual now.", file, session)
    }

    /// What was done, and what makes the programs that run take it over.
    private static func tell(
        _ key: ConfigurationKey, _ sentence: String, _ file: ConfigurationFile, _ session: Session
    ) throws -> ExitCode {
        if session.wantsJSON {
            try session.show(json: try ConfiguredValue(key, readConfiguration(session), session).json)
            return .done
        }
        session.console.result(PlainText.neutralized("\(sentence) It stands in \(file.path)."))
        if let variable = key.variable, !(session.environment[variable] ?? "").isEmpty {
            session.console.message("\(variable) is set here, and stands above it.")
        }
        switch key {
        case .logLevel:
            session.console.message(
                "For a daemon that runs: systemctl --user reload smilepile, or kill -HUP its process.")
        case .library:
            session.console.message(
                "It counts from the daemon's next start: smilepile down, then smilepile up. The photos of the library that is served now "
                    + "stay where they are. A service keeps the library that it was installed with: smilepile service install --library FOLDER"
            )
        default:
            session.console.message(
                key.reader == .page
                    ? "It counts from the page's next start: smilepile web stop, then smilepile web"
                    : "It counts from the daemon's next start: smilepile down, then smilepile up")
        }
        return .done
    }
}

extension ConfigurationKey {
    static let names = allCases.map(\.rawValue)
}

/// A key's value as it counts here, and where it comes from.
struct ConfiguredValue {
    let key: ConfigurationKey
    private let value: ConfigurationValue?
    private let source: ConfigurationSource?

    init(_ key: ConfigurationKey, _ configuration: Configuration, _ session: Session) throws {
        self.key = key
        if let found = try configuration.setting(key, environment: session.environment) {
            (value, source) = found
        } else {
            (value, source) = (Self.usual(key, session), nil)
        }
    }

    var text: String { value.map { $0.text.isEmpty ? "none" : $0.text } ?? "none" }

    /// Beside the file's path, which stands elsewhere.
    var origin: String {
        switch source {
        case .file(_, let line)?: "line \(line)"
        case .variable(let name)?: name
        case .option?: "command line"
        case nil: "usual"
        }
    }

    var json: JSONValue {
        var members: [String: JSONValue] = ["key": .string(key.rawValue), "value": value?.json ?? .null]
        switch source {
        case .file(let path, let line)?:
            members["source"] = "file"
            members["file"] = .string(path)
            members["line"] = .integer(Int64(line))
        case .variable(let name)?:
            members["source"] = "variable"
            members["variable"] = .string(name)
        case .option?: members["source"] = "option"
        case nil: members["source"] = "usual"
        }
        return .object(members)
    }

    private static func usual(_ key: ConfigurationKey, _ session: Session) -> ConfigurationValue? {
        switch key {
        case .library: .text(LibraryPlace.usual(session.environment, home: NSHomeDirectory()))
        case .socket: .text(ControlAddress.resolve(environment: session.environment))
        case .workers: .number(Int64(max(1, ProcessInfo.processInfo.activeProcessorCount)))
        case .logLevel: .text(LogLevel.info.rawValue)
        case .home, .insecureHTTP: .flag(false)
        case .listen: .text("127.0.0.1:8468")
        case .names: .texts([])
        case .certificate, .certificateKey, .accessLog: nil
        }
    }
}

extension ConfigurationValue {
    fileprivate var json: JSONValue {
        switch self {
        case .text(let text): .string(text)
        case .number(let number): .integer(number)
        case .flag(let flag): .bool(flag)
        case .texts(let texts): .array(texts.map(JSONValue.string))
        }
    }
}
