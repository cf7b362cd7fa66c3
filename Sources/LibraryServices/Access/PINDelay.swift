import LibraryStorage

/// How long the next try of a PIN has to wait, after so many wrong ones in a row.
enum PINDelay {
    /// Wrong ones that cost nothing: people slip.
    private static let free = 4
    private static let first: Int64 = 30_000
    private static let longest: Int64 = 3_600_000

    /// Milliseconds: none up to the fourth, then 30 seconds, twice as long each time, an hour at most.
    static func after(failures: Int) -> Int64 {
        guard failures > free else { return 0 }
        // Past the seventh doubling it is the longest anyway.
        return min(longest, first << Int64(min(failures - free - 1, 7)))
    }

    /// Milliseconds that are left of it.
    ///
    /// What has passed is counted by the clock of the machine's start alone. Where the machine was started again since, or
    /// the library moved to another, what has passed since this start is what can be vouched for; the date, which anybody
    /// may set, says nothing.
    static func left(of record: PINRecord, at now: BootTime) -> Int64 {
        let delay = after(failures: record.failures)
        guard delay > 0 else { return 0 }
        var since: Int64 = 0
        if let last = record.lastFailure, last.boot == now.boot, last.milliseconds >= 0 { since = last.milliseconds }
        let passed = max(0, now.milliseconds - since)
        return max(0, delay - passed)
    }
}
