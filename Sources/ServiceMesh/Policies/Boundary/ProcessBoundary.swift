/// What guards calls to helper processes: who may be started, and what may be tried again.
///
/// It keeps two kinds of failures apart. A helper that ends before it has answered, or while nothing was asked of it,
/// says that helpers do not work: too many of those (``RestartIntensity``) open the ``CircuitBreaker``, and calls fail
/// at once. A helper that ends over its work says something about that work: it is given to a fresh helper once, paid
/// from a ``RetryBudget``, and counts for nothing else, so that a thousand hostile files shut nobody out. Work whose
/// helper something outside killed (the kernel for want of memory, an operator) always has its second attempt: it has done
/// nothing to lose it, and hostile files must not spend it.
///
/// A value; its owner brings the lock, and `now` in nanoseconds.
public struct ProcessBoundary: Sendable, Equatable {
    /// Why a helper ended over its work.
    public enum Loss: Sendable, Equatable, CaseIterable {
        /// By itself: the work is suspect.
        case crashed
        /// By something outside: the work is not.
        case killed
    }

    private var intensity: RestartIntensity
    private var breaker: CircuitBreaker
    private var afterCrashes: RetryBudget

    /// With the bounds for image workers: six ends without an answer within 10 seconds open it, for 1 second at first
    /// and a minute at most; retries after crashes are 20 for 100 successes and one a second, with 10 at once.
    public init(now: UInt64) {
        intensity = RestartIntensity(most: 5, period: 10_000_000_000)
        breaker = CircuitBreaker(failures: 1, openFor: 1_000_000_000, atMost: 60_000_000_000)
        afterCrashes = RetryBudget(percent: 20, floor: 1, burst: 10, now: now)
    }

    /// Whether another helper may be started.
    public mutating func mayStart(at now: UInt64) -> CircuitBreaker.Decision { breaker.decide(at: now) }

    /// A helper has started: the way is free again, though what it is worth its first answer has to show.
    public mutating func started() { breaker.succeed() }

    /// A helper has ended before it answered anything, or did not start.
    public mutating func endedBeforeAnswering(at now: UInt64) {
        // One that is being tried again after a pause has no more chances: its failure is the answer.
        if !breaker.isClosed || intensity.isExceeded(byRestartAt: now) { breaker.fail(at: now) }
    }

    /// A helper has answered, be it that it refuses the work: helpers work.
    public mutating func answered(atFirst isFirstAttempt: Bool) {
        intensity.reset()
        breaker.succeed()
        guard isFirstAttempt else { return }
        afterCrashes.succeed()
    }

    /// A helper was lost over its work. The caller asks this once for each piece of work.
    /// - Returns: whether a fresh helper may try.
    public mutating func mayRetry(after loss: Loss, at now: UInt64) -> Bool {
        switch loss {
        case .crashed: afterCrashes.withdraw(at: now)
        case .killed: true
        }
    }
}
