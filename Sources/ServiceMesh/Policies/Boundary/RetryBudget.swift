/// How often something may be tried again: a share of what succeeds, and a little for when nothing does yet.
///
/// A retry helps against what happens now and then, and makes worse what happens always: when every call fails, trying
/// each again doubles the load. So retries are paid from a bucket of tokens that successes fill (the design of Finagle and
/// Linkerd), never from a count for each call. A value without a clock or a lock: its owner brings both.
public struct RetryBudget: Sendable, Equatable {
    /// Tokens earned by one success.
    private let earned: Int
    /// Retries a second that are there without any success.
    private let floor: Int
    /// Tokens that are kept at most; a retry costs 1,000.
    private let most: Int
    private var tokens: Int
    private var filledAt: UInt64

    /// - Parameters:
    ///   - percent: retries for 100 successes, 0 to 100.
    ///   - floor: retries a second beside those, 0 or more.
    ///   - burst: the most retries at once, 1 or more; a full bucket at the beginning.
    ///   - now: nanoseconds on the owner's clock.
    public init(percent: Int, floor: Int, burst: Int, now: UInt64) {
        precondition((0...100).contains(percent) && (0...1_000_000).contains(floor) && (1...1_000_000).contains(burst))
        earned = percent * 10
        self.floor = floor
        most = burst * 1000
        tokens = most
        filledAt = now
    }

    /// Something succeeded at its first attempt.
    public mutating func succeed() { tokens = min(most, tokens + earned) }

    /// Takes one retry out. False where there is none: then the failure stands.
    public mutating func withdraw(at now: UInt64) -> Bool {
        refill(now)
        guard tokens >= 1000 else { return false }
        tokens -= 1000
        return true
    }

    private mutating func refill(_ now: UInt64) {
        guard floor > 0, now > filledAt else { return }
        let milliseconds = (now - filledAt) / 1_000_000
        // What has passed is counted in whole milliseconds; the rest of one stays for the next time.
        filledAt += milliseconds * 1_000_000
        let (gain, overflow) = Int(clamping: milliseconds).multipliedReportingOverflow(by: floor)
        tokens = overflow || gain >= most - tokens ? most : tokens + gain
    }
}
