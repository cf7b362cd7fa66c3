import Foundation

/// A line that a person types on the terminal of standard input without seeing it.
enum SecretLine {
    private static let interrupt: UInt8 = 3
    private static let lineBreak = UInt8(ascii: "\n")
    /// Bytes; more of a line are dropped.
    private static let most = 64 << 10

    /// Blocks until the line is there. Afterwards the terminal shows what is typed as it did before.
    static func read(after question: String) -> String {
        var before = termios()
        guard tcgetattr(0, &before) == 0 else { return "" }
        var hidden = before
        hidden.c_lflag &= ~tcflag_t(ECHO | ISIG)
        hidden.c_lflag |= tcflag_t(ECHONL)
        // A signal would end this program with the terminal as it is now. So Ctrl-C ends the line, and is a signal once the
        // terminal is what it was.
        hidden.c_cc.11 = interrupt  // VEOL
        let bytes = Array(question.utf8)
        _ = write(2, bytes, bytes.count)
        // What was typed before the question was not meant as its answer.
        guard tcsetattr(0, TCSAFLUSH, &hidden) == 0 else { return "" }
        let line = readLine()
        tcsetattr(0, TCSANOW, &before)
        if line.last == interrupt { raise(SIGINT) }
        return String(decoding: line.prefix { $0 != lineBreak && $0 != interrupt }, as: UTF8.self)
    }

    /// With the byte that ended it.
    private static func readLine() -> [UInt8] {
        var line: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while line.last != lineBreak, line.last != interrupt, line.count < most {
            let count = Foundation.read(0, &piece, piece.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { break }
            line += piece.prefix(count)
        }
        return line
    }
}
