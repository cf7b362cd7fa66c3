import CommandLineInterface
import Foundation

/// Where a passphrase, or a link's password, comes from: a person at the terminal, who does not see it, or a file, or standard input. Never an
/// argument: arguments are seen by everybody on the machine, and kept in the shell's history.
enum Passphrase {
    /// Bytes that are read in search of the first line.
    private static let mostBytes = 100_000

    /// The options by which a command that needs one is told where it comes from.
    static let fileOption = Option.value(
        "passphrase-file", "FILE", .path, help: "Its first line is the passphrase; only you may read it.")

    /// That of `--passphrase-file FILE`, else as ``ask(_:_:isNew:)``.
    static func needed(_ session: Session, _ invocation: Invocation, isNew: Bool) async throws -> String {
        if let path = invocation.value("passphrase-file") { return try read(session.absolute(path)) }
        return try await ask(session, invocation, isNew: isNew)
    }

    /// - Parameter isNew: asked for twice, where a person types it.
    static func ask(
        _ session: Session, _ invocation: Invocation, isNew: Bool, _ what: String = "passphrase"
    ) async throws -> String {
        if let typed = try await session.console.secret("\(what.capitalized): ") {
            if isNew {
                guard try await session.console.secret("The same again: ") == typed else {
                    throw CommandFailure.local("The two \(what)s are not the same. Nothing was saved.")
                }
            }
            return String(decoding: typed, as: UTF8.self)
        }
        guard let text = firstLine(of: try await session.console.input(mostBytes)) else {
            throw invocation.usageError("Give the \(what) as the first line of standard input.")
        }
        return text
    }

    /// That of a backup, where one is wanted: with `--passphrase` or `--passphrase-file FILE`.
    static func ofBackup(_ session: Session, _ invocation: Invocation, isNew: Bool) async throws -> String? {
        if let path = invocation.value("passphrase-file") {
            guard !invocation.has("passphrase") else {
                throw invocation.usageError("Give --passphrase or --passphrase-file, not both.")
            }
            return try read(session.absolute(path))
        }
        return invocation.has("passphrase") ? try await ask(session, invocation, isNew: isNew) : nil
    }

    /// The option by which a link is told where its password comes from.
    static let linkFileOption = Option.value(
        "password-file", "FILE", .path, help: "Its first line is the password; only you may read it.")

    /// That of a link, where one is wanted: with `--password` or `--password-file FILE`.
    static func ofLink(_ session: Session, _ invocation: Invocation) async throws -> String? {
        if let path = invocation.value("password-file") {
            guard !invocation.has("password") else {
                throw invocation.usageError("Give --password or --password-file, not both.")
            }
            return try read(session.absolute(path), "password")
        }
        return invocation.has("password") ? try await ask(session, invocation, isNew: true, "password") : nil
    }

    private static func read(_ path: String, _ what: String = "passphrase") throws -> String {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw CommandFailure.local("\(path) cannot be read: \(String(cString: strerror(errno))).")
        }
        defer { try? file.close() }
        try requirePrivate(file.fileDescriptor, path, what)
        guard let bytes = try? file.read(upToCount: mostBytes), let text = firstLine(of: Array(bytes)) else {
            throw CommandFailure.local("\(path) has no \(what): that is its first line.")
        }
        return text
    }

    /// A passphrase that others may read is none. A pipe (`<(pass show photos)`) is between two processes of one user.
    private static func requirePrivate(_ descriptor: Int32, _ path: String, _ what: String) throws {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw CommandFailure.local("\(path) cannot be looked at: \(String(cString: strerror(errno))).")
        }
        guard status.st_mode & S_IFMT == S_IFREG else { return }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw CommandFailure.local(
                "\(path) belongs to another user (\(status.st_uid)), who knows what is in it. Use a file of your own.")
        }
        guard status.st_mode & 0o077 == 0 else {
            let mode = String(status.st_mode & 0o777, radix: 8)
            throw CommandFailure.local(
                "\(path) is not yours alone (its mode is \(mode)), and has a \(what). To put it right: chmod 600 '\(path)'"
            )
        }
    }

    /// - Returns: nil where it is empty, or no text.
    private static func firstLine(of bytes: [UInt8]) -> String? {
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        guard !line.isEmpty, let text = String(validating: line, as: UTF8.self) else { return nil }
        return text.hasSuffix("\r") ? String(text.dropLast()) : text
    }
}
