import Foundation
import ServiceMesh

/// What a configuration's file says. Every key in it is one that there is, with a value that it takes.
package struct Configuration: Sendable {
    package struct Entry: Sendable, Equatable {
        package let value: ConfigurationValue
        /// The first line is 1.
        package let line: Int
    }

    /// The file's path; nil where there is none.
    package let path: String?
    package let entries: [ConfigurationKey: Entry]

    /// Where there is no file.
    package static let none = Configuration(path: nil, entries: [:])

    private init(path: String?, entries: [ConfigurationKey: Entry]) { (self.path, self.entries) = (path, entries) }

    /// - Parameters:
    ///   - text: of which the caller has bounded the length.
    ///   - path: for what is said of it.
    /// - Throws: `failed_precondition`, with the file, the line, the key and what is allowed.
    package init(_ text: String, path: String) throws {
        self.path = path
        var entries: [ConfigurationKey: Entry] = [:]
        do {
            for entry in try TOMLDocument(text).entries {
                guard let (key, value) = try Self.known(entry, path) else { continue }
                entries[key] = Entry(value: value, line: entry.keyBegin.line)
            }
        } catch let failure as TOMLDocument.Failure {
            throw Self.fault(path, failure.line, nil, "this is not TOML: \(failure.what).")
        }
        self.entries = entries
    }

    /// - Returns: nil for a table that is known and empty.
    private static func known(
        _ entry: TOMLDocument.Entry, _ path: String
    ) throws -> (ConfigurationKey, ConfigurationValue)? {
        let line = entry.keyBegin.line
        guard let key = ConfigurationKey(rawValue: entry.key) else {
            if entry.content == .emptyTable, tables.contains(entry.key) { return nil }
            throw fault(
                path, line, entry.key,
                "there is no key '\(entry.key.prefix(100))'. The keys are "
                    + ConfigurationKey.allCases.map(\.rawValue).joined(separator: ", ") + ".")
        }
        guard case .value(let value) = entry.content, key.kind.takes(value) else {
            let found = if case .value(let value) = entry.content { value.literal } else { entry.type }
            throw fault(
                path, line, key.rawValue, "\(key.rawValue) takes \(key.kind.allowed), and not \(found.prefix(200)).")
        }
        return (key, value)
    }

    private static let tables = Set(ConfigurationKey.allCases.compactMap(\.parts.table))

    private static func fault(_ path: String, _ line: Int, _ key: String?, _ what: String) -> MeshError {
        var details: [String: JSONValue] = [
            "reason": "configuration", "path": .string(path), "line": .integer(Int64(line)),
        ]
        if let key { details["key"] = .string(key) }
        return MeshError(
            .failedPrecondition, "\(path), line \(line): \(what) Put it right: smilepile config edit", details: details)
    }
}

/// Where a value comes from. Each stands above those after it.
package enum ConfigurationSource: Sendable, Equatable {
    /// The command line.
    case option
    case variable(String)
    case file(path: String, line: Int)

    package var text: String {
        switch self {
        case .option: "command line"
        case .variable(let name): name
        case .file(let path, let line): "\(path), line \(line)"
        }
    }
}

extension Configuration {
    /// The value that counts, and where it comes from; nil where nothing says any.
    /// - Parameter option: of the command line.
    /// - Throws: `failed_precondition` for a variable whose value the key does not take.
    package func setting(
        _ key: ConfigurationKey, option: String? = nil, environment: [String: String]
    ) throws -> (value: ConfigurationValue, source: ConfigurationSource)? {
        if let option, let value = key.kind.value(given: option) { return (value, .option) }
        if let name = key.variable, let text = environment[name], !text.isEmpty {
            guard let value = key.kind.value(given: text) else {
                throw MeshError(
                    .failedPrecondition, "\(name) takes \(key.kind.allowed), and not '\(text.prefix(200))'.",
                    details: ["reason": "configuration", "variable": .string(name)])
            }
            return (value, .variable(name))
        }
        guard let entry = entries[key], let path else { return nil }
        return (entry.value, .file(path: path, line: entry.line))
    }

    /// The same as a text. A path of the file's that begins with `~/` is below the home.
    package func text(
        _ key: ConfigurationKey, option: String? = nil, environment: [String: String]
    ) throws -> String? {
        guard let (value, source) = try setting(key, option: option, environment: environment) else { return nil }
        guard case .text(let text) = value else { return value.text }
        guard case .file = source, key.kind == .path, text.hasPrefix("~/") else { return text }
        return (environment["HOME"] ?? NSHomeDirectory()) + text.dropFirst()
    }

    /// What the file alone says.
    package func flag(_ key: ConfigurationKey) -> Bool { entries[key]?.value == .flag(true) }

    package var names: [String] {
        if case .texts(let names)? = entries[.names]?.value { names } else { [] }
    }
}

extension ConfigurationKey.Kind {
    /// A path of a command line or a variable may be relative: it is this process's.
    fileprivate func value(given text: String) -> ConfigurationValue? {
        self == .path ? .text(text) : value(typed: [text])
    }
}
