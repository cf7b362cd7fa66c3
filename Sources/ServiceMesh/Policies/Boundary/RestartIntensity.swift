/// How many restarts are too many: more than `most` within `period` mean that restarting does not help (OTP's
/// `intensity` and `period` of a supervisor). Remembers `most` moments and no more.
public struct RestartIntensity: Sendable, Equatable {
    private let most: Int
    private let period: UInt64
    private var restarts: [UInt64] = []

    /// - Parameters:
    ///   - most: restarts within the period that are still fine, 0 to 1000.
    ///   - period: nanoseconds.
    public init(most: Int, period: UInt64) {
        precondition((0...1000).contains(most))
        self.most = most
        self.period = period
    }

    /// Counts a restart.
    /// - Returns: whether it is one too many; then the count begins anew.
    public mutating func isExceeded(byRestartAt now: UInt64) -> Bool {
        restarts.removeAll { now >= $0 && now - $0 >= period }
        guard restarts.count >= most else {
            restarts.append(now)
            return false
        }
        restarts = []
        return true
    }

    /// To be called when a process that was restarted has proved itself.
    public mutating func reset() { restarts = [] }
}
