import ServiceMesh

/// Whether the other side is there, told by what comes from it: after half of the patience it is asked, after the other
/// half it is given up.
struct Liveness {
    enum Step { case wait, ask, giveUp }

    /// Nanoseconds.
    private let half: UInt64
    private var since = MonotonicClock.now()
    private var wasAsked = false

    /// - Parameter patience: nanoseconds.
    init(patience: UInt64) { half = max(1_000_000, patience / 2) }

    /// Something came, or somebody begins to wait.
    mutating func begin() {
        since = MonotonicClock.now()
        wasAsked = false
    }

    /// What to do where nothing has come until now.
    mutating func step() -> Step {
        let now = MonotonicClock.now()
        guard now &- since >= half else { return .wait }
        guard !wasAsked else { return .giveUp }
        since = now
        wasAsked = true
        return .ask
    }

    /// How long to wait for something to come, as `poll` takes it.
    /// - Parameter isAwaited: whether anybody waits for it; where nobody does, no time has begun.
    func milliseconds(isAwaited: Bool) -> Int32 {
        let passed = isAwaited ? min(half, MonotonicClock.now() &- since) : 0
        // Rounded up, so that the wait does not end just before the moment, over and over.
        return Int32(clamping: (half - passed) / 1_000_000 + 1)
    }
}
