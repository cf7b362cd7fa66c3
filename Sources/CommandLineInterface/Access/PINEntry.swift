import Files
import Foundation
import LibraryModel
import Synchronization

/// Where a command gets PINs from: a file that was named, a person at the terminal, or standard input. Never an argument:
/// those can be read by every user of the machine, and shells remember them.
///
/// A PIN that was right once is kept for as long as the command runs, so that nobody is asked twice.
package final class PINEntry: Sendable {
    /// Of a file or of standard input; two PINs have less.
    private static let mostBytes = 8192

    private struct State {
        var known: PIN?
        /// Of standard input, from the next one on; nil before anything was read.
        var lines: [String]?
    }

    private let console: Console
    /// Absolute, or `-`; nil where none was named.
    private let file: String?
    private let state = Mutex(State())

    package init(console: Console, file: String?) {
        self.console = console
        self.file = file
    }

    /// The PIN that is in use, or nil where there is nobody to ask.
    package func existing(_ question: String = "PIN: ") async throws -> PIN? {
        if let known = state.withLock({ $0.known }) { return known }
        if let file { return try await first(of: file) }
        return try await ask(question)
    }

    /// As ``existing(_:)``; where nobody is at a terminal, the next line of standard input.
    package func required(_ question: String = "PIN: ") async throws -> PIN {
        if let pin = try await existing(question) { return pin }
        return try await nextLine()
    }

    /// A new PIN: a person types it twice, standard input has it once.
    package func new() async throws -> PIN {
        guard let typed = try await typed("New PIN: ") else { return try await nextLine() }
        guard typed == (try await self.typed("Again: ")) else {
            throw CommandFailure.local("The two are not the same; nothing was changed. Try again.")
        }
        return PIN(try Self.text(typed))
    }

    /// Whether there is a PIN that nobody has to be asked for.
    package var hasFile: Bool { file != nil }

    /// Whether standard input is the PIN's.
    package var readsInput: Bool { file == "-" }

    /// Whether another one may be asked for where this one was wrong.
    var mayAskAgain: Bool { file == nil && console.hasPerson }

    package func remember(_ pin: PIN) { state.withLock { $0.known = pin } }

    package func forget() { state.withLock { $0.known = nil } }

    private func ask(_ question: String) async throws -> PIN? {
        try await typed(question).map { PIN(try Self.text($0)) }
    }

    /// What a person types unseen; nil where there is nobody. Who ends it with nothing does not want to: what is typed next
    /// would be seen, and is not asked for.
    private func typed(_ question: String) async throws -> [UInt8]? {
        let typed = try await console.secret(question)
        if typed == nil, console.hasPerson {
            throw CommandFailure.local("No PIN was typed; nothing was done.")
        }
        return typed
    }

    private func first(of file: String) async throws -> PIN {
        if file == "-" { return try await nextLine() }
        let bytes = try await Console.offPool { try Self.read(file) }
        return PIN(try Self.lines(bytes).first ?? "")
    }

    private func nextLine() async throws -> PIN {
        if state.withLock({ $0.lines == nil }) {
            let bytes = try await console.input(Self.mostBytes)
            let lines = try Self.lines(bytes)
            state.withLock { $0.lines = lines }
        }
        let line = state.withLock { state -> String? in
            guard state.lines?.isEmpty == false else { return nil }
            return state.lines?.removeFirst()
        }
        guard let line else {
            throw CommandFailure.local(
                "The PIN is missing: write it to standard input, one a line, or run this on a terminal.")
        }
        return PIN(line)
    }

    private static func lines(_ bytes: [UInt8]) throws -> [String] {
        guard bytes.count <= mostBytes else {
            throw CommandFailure.local(
                "That is too long for a PIN: it has a line of its own and at most 64 characters.")
        }
        var lines = try text(bytes).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        // The end of the last line begins no other.
        if lines.last == "" { lines.removeLast() }
        return lines
    }

    private static func text(_ bytes: [UInt8]) throws -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure.local("The PIN is not UTF-8 text. Type or save it with another encoding.")
        }
        return text.replacing("\r\n", with: "\n")
    }

    /// Of a file that nobody else may read; what is no plain file, as a shell's `<(…)`, is its reader's alone anyway.
    private static func read(_ path: String) throws -> [UInt8] {
        func failure(_ what: String) -> CommandFailure { .local("The PIN file \(path) \(what)") }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { throw failure("cannot be opened: \(String(cString: strerror(errno))).") }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("cannot be read.") }
        if status.st_mode & S_IFMT == S_IFREG {
            guard status.st_mode & 0o077 == 0 else {
                throw failure("can be read by others. Make it yours alone: chmod 600 \(path)")
            }
        }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= mostBytes {
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw failure("cannot be read: \(String(cString: strerror(errno))).") }
            if count == 0 { break }
            bytes += piece.prefix(count)
        }
        return bytes
    }
}
