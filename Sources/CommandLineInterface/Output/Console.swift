import CLinux
import Foundation
import LibraryModel
import Synchronization

/// Where a command's words go: results to one side, messages to the other, and what each side is.
package final class Console: Sendable {
    /// What stands behind a stream.
    package struct Side: Sendable {
        /// A terminal that understands escape sequences.
        package let isTerminal: Bool
        /// Its width now, or nil where there is none.
        package let columns: @Sendable () -> Int?
        package let write: @Sendable (String) -> Void

        package init(
            isTerminal: Bool, columns: @escaping @Sendable () -> Int?, write: @escaping @Sendable (String) -> Void
        ) {
            self.isTerminal = isTerminal
            self.columns = columns
            self.write = write
        }
    }

    package let results: Side
    package let messages: Side
    package let style: Style
    package let messageStyle: Style
    /// Asks a person and returns the line they type; nil where nobody is there to ask.
    package let ask: @Sendable (String) async -> String?
    /// Asks for what must not be shown while it is typed; nil where nobody is there to ask, or nothing comes. Throws
    /// `CancellationError` where the person stops it.
    package let secret: @Sendable (String) async throws -> [UInt8]?
    /// Whether somebody is there to ask.
    package let hasPerson: Bool
    /// Reads standard input to its end, or until it has more than so many bytes.
    package let input: @Sendable (_ limit: Int) async throws -> [UInt8]
    /// Why results could not be written, an errno; 0 while all could.
    package let lostResults: @Sendable () -> Int32

    package init(
        results: Side, messages: Side, environment: [String: String],
        ask: @escaping @Sendable (String) async -> String? = { _ in nil },
        secret: @escaping @Sendable (String) async throws -> [UInt8]? = { _ in nil }, hasPerson: Bool = false,
        input: @escaping @Sendable (Int) async throws -> [UInt8] = { _ in [] },
        lostResults: @escaping @Sendable () -> Int32 = { 0 }
    ) {
        self.results = results
        self.messages = messages
        // https://no-color.org: present and not empty, whatever its value.
        let mayColour = (environment["NO_COLOR"] ?? "").isEmpty
        let hasTrueColour = TerminalAbilities(environment: environment).colours == .all
        style = Style(isOn: results.isTerminal && mayColour, hasTrueColour: hasTrueColour)
        messageStyle = Style(isOn: messages.isTerminal && mayColour, hasTrueColour: hasTrueColour)
        self.ask = ask
        self.secret = secret
        self.hasPerson = hasPerson
        self.input = input
        self.lostResults = lostResults
    }

    package func result(_ line: String) { results.write(line + "\n") }

    package func result(_ lines: [String]) {
        if !lines.isEmpty { results.write(lines.joined(separator: "\n") + "\n") }
    }

    package func message(_ line: String) { messages.write(line + "\n") }

    package func show(_ table: Table) { result(table.lines(width: results.columns(), style: style)) }

    package func show(_ sheet: FactSheet) { result(sheet.lines(style: style)) }

    /// The process's own streams.
    package static func standard(environment: [String: String]) -> Console {
        let isDumb = environment["TERM"] == "dumb"
        let lost = LostOutput()
        func side(_ descriptor: Int32) -> Side {
            let isTerminal = isatty(descriptor) == 1
            return Side(
                isTerminal: isTerminal && !isDumb,
                columns: {
                    let columns = Int(clinux_terminal_columns(descriptor))
                    return isTerminal && columns > 0 ? columns : nil
                },
                write: { text in
                    let code = writeAll(text, to: descriptor)
                    if descriptor == 1, code != 0 { lost.code.withLock { $0 = code } }
                })
        }
        return Console(
            results: side(1), messages: side(2), environment: environment,
            ask: { question in
                guard isatty(0) == 1 else { return nil }
                _ = writeAll(question, to: 2)
                return await withCheckedContinuation { continuation in
                    // A person may take a minute; the cooperative pool has as many threads as the machine has cores.
                    Thread { continuation.resume(returning: readLine() ?? "") }.start()
                }
            },
            secret: { question in
                guard isatty(0) == 1 else { return nil }
                let outcome = try await offPool { SecretPrompt.read { _ = writeAll(question, to: 2) } }
                // The line feed that was typed was not shown either.
                _ = writeAll("\n", to: 2)
                switch outcome {
                case .typed(let bytes): return bytes
                case .ended: return nil
                case .stopped: throw CancellationError()
                }
            }, hasPerson: isatty(0) == 1,
            input: { limit in try await offPool { try readInput(limit) } }, lostResults: { lost.code.withLock { $0 } })
    }

    /// Does what may take as long as somebody else likes on a thread of its own.
    package static func offPool<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Thread { continuation.resume(with: Result { try work() }) }.start()
        }
    }

    private static func readInput(_ limit: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count <= limit {
            let count = read(0, &piece, piece.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else {
                throw CommandFailure.local("Standard input cannot be read: \(String(cString: strerror(errno))).")
            }
            if count == 0 { break }
            bytes += piece.prefix(count)
        }
        return bytes
    }

    /// A class, because a `Mutex` alone cannot be shared by closures.
    private final class LostOutput: Sendable {
        let code = Mutex<Int32>(0)
    }

    /// Writes everything, or returns the errno that stood in the way. A reader that has gone away ends the process by
    /// SIGPIPE, as for any filter.
    private static func writeAll(_ text: String, to descriptor: Int32) -> Int32 {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else { return written < 0 ? errno : EIO }
            rest = rest.dropFirst(written)
        }
        return 0
    }
}

/// Colours and weights, or nothing where they are off.
package struct Style: Sendable {
    package let isOn: Bool
    /// 24 bits; else the 256 colours that every terminal of today has.
    var hasTrueColour: Bool

    package init(isOn: Bool, hasTrueColour: Bool = false) {
        self.isOn = isOn
        self.hasTrueColour = hasTrueColour
    }

    /// A patch, two columns wide, of a colour as `#RRGGBB`; nil where colours are off, or for what is none.
    package func patch(of colour: String) -> String? {
        guard isOn, let hex = CategoryColor.normalized(colour), let rgb = UInt32(hex.dropFirst(), radix: 16) else {
            return nil
        }
        let parts = [rgb >> 16, rgb >> 8 & 0xFF, rgb & 0xFF].map(Int.init)
        let code = hasTrueColour ? "2;\(parts[0]);\(parts[1]);\(parts[2])" : "5;\(Self.index(of: parts))"
        return "\u{1B}[48;\(code)m  \u{1B}[0m"
    }

    /// The nearest of a cube of six steps a side, and of 24 greys: what 16 to 255 mean in terminals. The first sixteen are
    /// whatever the person has made of them.
    package static func index(of colour: [Int]) -> Int {
        let steps = [0, 95, 135, 175, 215, 255]
        let cube = colour.map { part in steps.indices.min { abs(steps[$0] - part) < abs(steps[$1] - part) } ?? 0 }
        let grey = min(23, max(0, (colour.reduce(0, +) / 3 - 3) / 10))
        func distance(_ other: [Int]) -> Int { zip(colour, other).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) } }
        let inCube = distance(cube.map { steps[$0] })
        return distance(Array(repeating: 8 + grey * 10, count: 3)) < inCube
            ? 232 + grey : 16 + cube[0] * 36 + cube[1] * 6 + cube[2]
    }

    package func bold(_ text: String) -> String { wrap(text, "1") }
    package func dim(_ text: String) -> String { wrap(text, "2") }
    package func red(_ text: String) -> String { wrap(text, "31") }
    func green(_ text: String) -> String { wrap(text, "32") }
    package func yellow(_ text: String) -> String { wrap(text, "33") }

    private func wrap(_ text: String, _ code: String) -> String { isOn ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text }
}
