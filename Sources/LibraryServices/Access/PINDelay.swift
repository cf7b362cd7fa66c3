import LibraryStorage

/// How long the next try of a PIN, or of a link's password, has to wait, after so many wrong ones in a row.
package enum PINDelay {
    /// Wrong ones that cost nothing, since people slip: from one device, and far more from all together, so that children who guess on
    /// some keep nobody from another.
    package static let (freeOfOne, freeOfAll) = (4, 49)
    private static let first: Int64 = 30_000
    private static let longest: Int64 = 3_600_000

    /// Milliseconds: none while they are free, then 30 seconds, twice as long each time, an hour at most.
    static func after(failures: Int, free: Int = freeOfOne) -> Int64 {
        guard failures > free else { return 0 }
        // Past the seventh doubling it is the longest anyway.
        return min(longest, first << Int64(min(failures - free - 1, 7)))
    }

    /// Milliseconds that are left of it.
    ///
    /// What has passed is counted by the clock of the machine's start alone. Where the machine was started again since, or
    /// the library moved to another, what has passed since this start is what can be vouched for; the date, which anybody
    /// may set, says nothing.
    package static func left(after failures: Int, free: Int = freeOfOne, _ last: BootTime?, at now: BootTime) -> Int64 {
        let delay = after(failures: failures, free: free)
        guard delay > 0 else { return 0 }
        var since: Int64 = 0
        if let last, last.isOfSameStart(as: now), last.milliseconds >= 0 { since = last.milliseconds }
        let passed = max(0, now.milliseconds - since)
        return max(0, delay - passed)
    }

    /// Milliseconds until a try from a device is taken.
    static func left(for device: String, of record: PINRecord, at now: BootTime) -> Int64 {
        let own = record.tries[device] ?? PINTries()
        let left = left(after: own.failures, own.lastFailure, at: now)
        // One try is kept for who had the right one last, however many guess elsewhere.
        if own.hasUnlocked, own.failures == 0 { return left }
        return max(left, Self.left(after: record.failures, free: freeOfAll, record.lastFailure, at: now))
    }
}
