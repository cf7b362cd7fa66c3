/// When a query that is observed is read again: the one place of observations that knows of time.
public struct ObservationTiming: Sendable {
    /// Nanoseconds at least from the beginning of one read to the beginning of the next, of the same query.
    public var interval: UInt64
    /// The clock, in nanoseconds.
    public var now: @Sendable () -> UInt64
    /// Returns after so many nanoseconds, or earlier when the task is cancelled.
    public var pause: @Sendable (UInt64) async -> Void

    public init(
        interval: UInt64 = 100_000_000, now: @escaping @Sendable () -> UInt64 = { MonotonicClock.now() },
        pause: @escaping @Sendable (UInt64) async -> Void = { try? await Task.sleep(nanoseconds: $0) }
    ) {
        self.interval = interval
        self.now = now
        self.pause = pause
    }
}
