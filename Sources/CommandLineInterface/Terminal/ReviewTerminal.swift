import CLinux
import Executors
import Foundation
import Synchronization

/// What happens at a terminal, for a program that shows a page and reads single keys.
package enum TerminalEvent: Equatable, Sendable {
    case bytes([UInt8])
    case resized
    /// Somebody asked for the program to be stopped for a while.
    case stopRequested
    /// It goes on, and the terminal may be anybody's state.
    case resumed
    /// It is to end, by this signal.
    case terminated(Int32)
    /// Nobody is there any more.
    case closed
}

/// A terminal as a review needs it: the real one, and a scripted one in tests.
package protocol ReviewTerminal: Sendable {
    var events: AsyncStream<TerminalEvent> { get }
    func size() -> TerminalSize
    /// Takes the terminal over: a page of its own, keys one by one and not shown.
    func enter() throws
    /// Gives it back as it was. Again does nothing.
    func leave()
    /// Gives it back, stops the program until somebody lets it go on, and takes it over again.
    func stop() throws
    func write(_ text: String)
}

/// The terminal on standard input and output.
///
/// Signals do nothing else while this lives, so that no way out of the program leaves the terminal without an echo: the
/// review gives it back and then ends as the signal would have it. Ctrl-C and Ctrl-Z come as keys. What cannot be caught
/// (SIGKILL) can be mended with `reset`.
package final class StandardTerminal: ReviewTerminal {
    private static let enterPage = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[2J"
    private static let leavePage = "\u{1B}[0m\u{1B}[2J\u{1B}[?25h\u{1B}[?1049l"

    package let events: AsyncStream<TerminalEvent>
    private let continuation: AsyncStream<TerminalEvent>.Continuation
    private let caught: CaughtSignals
    /// Apart, because it is let go while others are told of it.
    private let stops: Mutex<CaughtSignals?>
    private let wake: Int32
    /// As the terminal was; nil while it is.
    private let before = Mutex<termios?>(nil)

    /// - Throws: `CommandFailure` where the system has no descriptors left.
    package init() throws {
        // A key that nobody has taken yet means little once there are hundreds; signals are the last that come.
        let (stream, continuation) = AsyncStream.makeStream(
            of: TerminalEvent.self, bufferingPolicy: .bufferingNewest(256))
        (events, self.continuation) = (stream, continuation)
        wake = clinux_wake_create()
        guard wake >= 0 else { throw CommandFailure.local("The terminal cannot be read: \(Self.words(errno)).") }
        do {
            stops = Mutex(try Self.catchStops(continuation))
            caught = try CaughtSignals([SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGCONT]) { number in
                switch number {
                case SIGWINCH: continuation.yield(.resized)
                case SIGCONT: continuation.yield(.resumed)
                default: continuation.yield(.terminated(number))
                }
            }
        } catch {
            close(wake)
            throw CommandFailure.local("Signals cannot be caught: \(error.localizedDescription).")
        }
        // A thread, because a person may think for an hour. It ends when it is woken, and has the descriptor until then.
        let wake = wake
        Thread { Self.read(continuation, wake) }.start()
    }

    private static func catchStops(_ continuation: AsyncStream<TerminalEvent>.Continuation) throws -> CaughtSignals {
        try CaughtSignals([SIGTSTP]) { _ in continuation.yield(.stopRequested) }
    }

    deinit {
        leave()
        caught.end()
        stops.withLock { $0?.end() }
        clinux_wake(wake)
    }

    private static func words(_ code: Int32) -> String { String(cString: strerror(code)) }

    private static func read(_ continuation: AsyncStream<TerminalEvent>.Continuation, _ wake: Int32) {
        defer { close(wake) }
        var piece = [UInt8](repeating: 0, count: 1024)
        while true {
            var waited = [
                pollfd(fd: 0, events: Int16(POLLIN), revents: 0), pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
            ]
            if poll(&waited, 2, -1) < 0 {
                if errno == EINTR { continue }
                break
            }
            if waited[1].revents != 0 { return }
            let count = Glibc.read(0, &piece, piece.count)
            if count < 0 && (errno == EINTR || errno == EAGAIN) { continue }
            guard count > 0 else { break }
            continuation.yield(.bytes(Array(piece.prefix(count))))
        }
        continuation.yield(.closed)
    }

    package func size() -> TerminalSize { Self.size() }

    package static func size() -> TerminalSize {
        var found = clinux_terminal()
        _ = clinux_terminal_size(1, &found)
        return TerminalSize(
            columns: Int(found.columns), rows: Int(found.rows), width: Int(found.width), height: Int(found.height))
    }

    package func enter() throws {
        try before.withLock { before in
            var state = termios()
            guard tcgetattr(0, &state) == 0 else {
                throw CommandFailure.local("The terminal cannot be read: \(Self.words(errno)).")
            }
            // What was typed before is no decision about a photo that nobody has seen. Once the terminal is ours, keys are:
            // it is set again when a stop ends, of which two things tell, and what was pressed between them was lost.
            let action = before == nil ? TCSAFLUSH : TCSADRAIN
            if before == nil { before = state }
            state.c_iflag &= ~tcflag_t(ICRNL | IXON | ISTRIP | INLCR)
            state.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG | IEXTEN)
            guard tcsetattr(0, action, &state) == 0 else {
                throw CommandFailure.local("The terminal cannot be set: \(Self.words(errno)).")
            }
        }
        write(Self.enterPage)
    }

    package func leave() {
        before.withLock { before in
            guard var state = before else { return }
            write(Self.leavePage)
            // What was typed and not read is not for the shell: it was meant for a page that has gone.
            _ = tcsetattr(0, TCSAFLUSH, &state)
            before = nil
        }
    }

    package func stop() throws {
        leave()
        stops.withLock { stops in
            stops?.end()
            // The whole group, as the terminal itself does it: a script that started us is to stop too.
            signal(SIGTSTP, SIG_IGN)
            kill(0, SIGTSTP)
            // To this very thread. What is sent to a process is taken by any of its threads, and until it has, this one goes on:
            // it had taken the terminal over again before it stopped.
            pthread_kill(pthread_self(), SIGSTOP)
            signal(SIGTSTP, SIG_DFL)
            stops = try? Self.catchStops(continuation)
        }
        try enter()
    }

    package func write(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(1, $0.baseAddress, $0.count) }
            if written < 0 && errno == EINTR { continue }
            if written < 0 && errno == EAGAIN {
                var waited = pollfd(fd: 1, events: Int16(POLLOUT), revents: 0)
                if poll(&waited, 1, 1000) > 0 { continue }
            }
            // A terminal that has gone says so to the reader.
            guard written > 0 else { return }
            rest = rest.dropFirst(written)
        }
    }
}
