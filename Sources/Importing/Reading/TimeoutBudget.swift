import Synchronization

/// What the photos of one job may cost that are given up because they take too long.
///
/// One such photo may be a good one on a slow machine, and has all the time that a photo has. A folder of them would keep the
/// workers for days, and every picture behind it waits: once the budget is spent, each further one has a few seconds.
final class TimeoutBudget: Sendable {
    /// Of one job, in seconds on a processor: five photos that take all their time.
    static let ofJob = 600
    /// What a photo has in any case: 25 times what one of 12 million pixels takes.
    static let least = 5

    private let left: Mutex<Int>

    init(seconds: Int = TimeoutBudget.ofJob) { left = Mutex(seconds) }

    /// Seconds on a processor for the next photo, `most` unless less is left.
    func allowance(of most: Int) -> Int { min(most, max(Self.least, left.withLock { $0 })) }

    /// A photo was given up after this time.
    func spend(_ seconds: Int) { left.withLock { $0 -= seconds } }
}
