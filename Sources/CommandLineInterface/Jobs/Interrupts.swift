import Executors
import Foundation

/// Ctrl-C (and SIGTERM) as values, for the time in which they mean something else than the end of the program.
enum Interrupts {
    /// One element for each signal. While the stream lives the signals do nothing else; afterwards they end the
    /// program again.
    static func stream() -> AsyncStream<Void> {
        // Two mean something: stop the job, leave at once. More than a few at once carry no more meaning.
        AsyncStream(bufferingPolicy: .bufferingOldest(4)) { continuation in
            // Where the system has no descriptor left for it, they go on to end the program, as without the stream.
            let caught = try? CaughtSignals([SIGINT, SIGTERM]) { _ in continuation.yield() }
            continuation.onTermination = { _ in caught?.end() }
        }
    }
}
