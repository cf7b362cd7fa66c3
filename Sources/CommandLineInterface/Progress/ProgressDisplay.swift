import ServiceMesh
import Synchronization

/// Shows a job's progress beside its results: one line that is drawn over on a terminal, plain lines elsewhere.
final class ProgressDisplay: Sendable {
    private struct State {
        var log = ProgressLog()
        var drawnAt: UInt64?
        var phase: String?
        var isLineOpen = false
    }

    /// Nanoseconds between two drawings of the line.
    private static let interval: UInt64 = 100_000_000

    private let console: Console
    private let now: @Sendable () -> UInt64
    private let state = Mutex(State())

    package init(console: Console, now: @escaping @Sendable () -> UInt64 = MonotonicClock.now) {
        self.console = console
        self.now = now
    }

    func show(_ progress: JobProgress) {
        state.withLock { state in
            guard let columns = console.messages.isTerminal ? console.messages.columns() : nil else {
                if let line = state.log.line(for: progress) { console.message(line) }
                return
            }
            let moment = now()
            let isDue = state.drawnAt.map { moment &- $0 >= Self.interval } ?? true
            guard isDue || state.phase != progress.phase else { return }
            state.drawnAt = moment
            state.phase = progress.phase
            state.isLineOpen = true
            console.messages.write("\r" + ProgressLine.text(progress, columns: columns) + "\u{1B}[K")
        }
    }

    /// Says something without tearing the line apart.
    func message(_ text: String) {
        state.withLock { state in
            clear(&state)
            console.message(text)
        }
    }

    /// Removes the line; what comes next starts at the left.
    func end() { state.withLock { clear(&$0) } }

    private func clear(_ state: inout State) {
        if state.isLineOpen { console.messages.write("\r\u{1B}[K") }
        state.isLineOpen = false
        state.drawnAt = nil
    }
}
