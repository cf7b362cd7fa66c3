import Executors
import Foundation
import Synchronization

/// Reads a line from the terminal on standard input without showing it, and leaves the terminal as it was, also where the
/// person stops it with Ctrl-C, and where a signal ends the program.
enum SecretPrompt {
    enum Outcome: Equatable {
        case typed([UInt8])
        /// Ctrl-D on an empty line, or the terminal has gone.
        case ended
        /// Ctrl-C.
        case stopped
    }

    /// More is not kept; what is too long is refused further on, where it is known what may be typed.
    private static let mostBytes = 8192

    /// Held by whoever sets the terminal, so that a signal that comes meanwhile has the last word.
    private static let turn = Mutex(())

    /// Blocks until the line is there.
    /// - Parameter ask: shows the question, once what is typed is hidden: who types at the first letter of it is not seen.
    static func read(_ ask: () -> Void) -> Outcome {
        var before = termios()
        guard tcgetattr(0, &before) == 0 else { return .ended }
        var silent = before
        // Byte by byte, with no signals made of keys: a process that Ctrl-C ends here would leave a terminal that shows nothing.
        silent.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON | ISIG)
        let caught = try? catchEnds(restoring: before)
        defer { caught?.end() }
        // What was typed before the question was not meant for it.
        guard turn.withLock({ _ in tcsetattr(0, TCSAFLUSH, &silent) }) == 0 else { return .ended }
        defer { turn.withLock { _ in _ = tcsetattr(0, TCSAFLUSH, &before) } }
        ask()
        var line = SecretLine(mostBytes: mostBytes)
        var byte: UInt8 = 0
        while true {
            let count = Glibc.read(0, &byte, 1)
            if count < 0 && errno == EINTR { continue }
            guard count == 1 else { return .ended }
            if let outcome = line.take(byte) { return outcome }
        }
    }

    /// Signals that end a program: the terminal first, then the program, as the signal would have it.
    private static func catchEnds(restoring before: termios) throws -> CaughtSignals {
        try CaughtSignals([SIGTERM, SIGHUP, SIGINT, SIGQUIT]) { number in
            turn.withLock { _ in
                var state = before
                // Not after what is still to be written: a terminal that is stopped would keep the program.
                _ = tcsetattr(0, TCSANOW, &state)
                signal(number, SIG_DFL)
                kill(getpid(), number)
                // The lock is kept until the end: nobody hides what is typed again.
                pause()
            }
        }
    }
}

/// A line that is edited byte by byte, as a terminal does it where it shows what is typed.
struct SecretLine {
    private let mostBytes: Int
    private var bytes: [UInt8] = []

    init(mostBytes: Int) { self.mostBytes = mostBytes }

    /// - Returns: the outcome, with the byte that ends the line.
    mutating func take(_ byte: UInt8) -> SecretPrompt.Outcome? {
        switch byte {
        case 0x03: return .stopped
        case 0x04: return bytes.isEmpty ? .ended : .typed(bytes)
        case 0x0A, 0x0D: return .typed(bytes)
        case 0x08, 0x7F: removeLast()
        case 0x15: bytes = []
        default: if bytes.count <= mostBytes { bytes.append(byte) }
        }
        return nil
    }

    /// One character, which may be several bytes of UTF-8.
    private mutating func removeLast() {
        while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
    }
}
