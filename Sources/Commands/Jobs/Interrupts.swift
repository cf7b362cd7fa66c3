// A source is made to be cancelled from anywhere; the module does not say so to the compiler yet.
@preconcurrency import Dispatch
import Foundation

/// Ctrl-C (and SIGTERM) as values, for the time in which they mean something else than the end of the program.
enum Interrupts {
    /// One element for each signal. While the stream lives the signals do nothing else; afterwards they end the
    /// program again.
    static func stream() -> AsyncStream<Void> {
        // Two mean something: stop the job, leave at once. More than a few at once carry no more meaning.
        AsyncStream(bufferingPolicy: .bufferingOldest(4)) { continuation in
            let signals = [SIGINT, SIGTERM]
            let sources = signals.map { signal(on: $0) { continuation.yield() } }
            continuation.onTermination = { _ in
                for source in sources { source.cancel() }
                for number in signals { Foundation.signal(number, SIG_DFL) }
            }
        }
    }

    private static func signal(
        on number: Int32, _ handler: @escaping @Sendable () -> Void
    ) -> any DispatchSourceSignal {
        // A dispatch source only listens; the default action would end the program all the same.
        Foundation.signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler(handler: handler)
        source.resume()
        return source
    }
}
