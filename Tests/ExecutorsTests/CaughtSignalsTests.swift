import Executors
import Foundation
import Testing

/// One at a time: signals belong to the whole process.
@Suite(.serialized, .timeLimit(.minutes(2))) struct CaughtSignalsTests {
    /// What arrives, for one who waits.
    private final class Arrivals: Sendable {
        let stream: AsyncStream<Int32>
        let feed: AsyncStream<Int32>.Continuation

        init() { (stream, feed) = AsyncStream.makeStream(of: Int32.self) }

        func first() async -> Int32? {
            for await number in stream { return number }
            return nil
        }
    }

    /// A Dispatch source loses the first one here in most rounds, and all of them from the second round on.
    @Test func noneIsLostFromTheMomentThatTheyAreCaughtAlsoWhenThatIsDoneAgain() async throws {
        for _ in 1...100 {
            let arrivals = Arrivals()
            let caught = try CaughtSignals([SIGUSR1]) { arrivals.feed.yield($0) }
            kill(getpid(), SIGUSR1)
            #expect(await arrivals.first() == SIGUSR1)
            caught.end()
        }
    }

    @Test func eachValueGetsWhatItAskedForAndAnotherOnesEndTakesNothingFromIt() async throws {
        let (one, both) = (Arrivals(), Arrivals())
        let caught = try CaughtSignals([SIGUSR1]) { one.feed.yield($0) }
        let other = try CaughtSignals([SIGUSR1, SIGUSR2]) { both.feed.yield($0) }
        kill(getpid(), SIGUSR1)
        #expect(await one.first() == SIGUSR1)
        #expect(await both.first() == SIGUSR1)
        caught.end()
        kill(getpid(), SIGUSR1)
        #expect(await both.first() == SIGUSR1)
        kill(getpid(), SIGUSR2)
        #expect(await both.first() == SIGUSR2)
        other.end()
    }

    @Test func afterwardsTheSignalDoesWhatItDidBefore() throws {
        func disposition() -> sighandler_t? {
            var action = sigaction()
            sigaction(SIGUSR2, nil, &action)
            return action.__sigaction_handler.sa_handler
        }
        signal(SIGUSR2, SIG_IGN)
        defer { signal(SIGUSR2, SIG_DFL) }
        let ignoring = unsafeBitCast(disposition(), to: Int.self)
        do {
            let caught = try CaughtSignals([SIGUSR2]) { _ in }
            #expect(unsafeBitCast(disposition(), to: Int.self) != ignoring)
            withExtendedLifetime(caught) {}
        }
        #expect(unsafeBitCast(disposition(), to: Int.self) == ignoring)
    }

    @Test func whatCannotBeCaughtIsAnError() {
        #expect(throws: POSIXError.self) { try CaughtSignals([SIGKILL]) { _ in } }
        #expect(throws: POSIXError.self) { try CaughtSignals([0]) { _ in } }
    }
}
