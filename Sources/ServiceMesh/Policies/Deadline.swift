import Foundation

/// A moment on the monotonic clock after which an answer is of no use. Absolute, so that it keeps its meaning
/// through every hop; a callee takes the earlier of its caller's and its own.
public struct Deadline: Sendable, Comparable, Hashable {
    /// Nanoseconds on the mesh's clock.
    public let nanoseconds: UInt64

    public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// `milliseconds` from now on the system's monotonic clock; 0 or less has passed already.
    public static func after(milliseconds: Int64) -> Deadline { after(milliseconds: milliseconds, on: .system) }

    /// `milliseconds` from now on `clock`, that of the mesh whose calls it is for; 0 or less has passed already.
    public static func after(milliseconds: Int64, on clock: MeshClock) -> Deadline {
        let now = clock.now()
        guard milliseconds > 0 else { return Deadline(nanoseconds: now) }
        let (span, overflow) = UInt64(milliseconds).multipliedReportingOverflow(by: 1_000_000)
        let (end, past) = now.addingReportingOverflow(overflow ? .max : span)
        return Deadline(nanoseconds: past ? .max : end)
    }

    public static func < (left: Deadline, right: Deadline) -> Bool { left.nanoseconds < right.nanoseconds }

    func hasPassed(at now: UInt64) -> Bool { now >= nanoseconds }

    @inlinable
    static func earlier(_ one: Deadline?, _ other: Deadline?) -> Deadline? {
        guard let one else { return other }
        guard let other else { return one }
        return min(one, other)
    }

    static let exceeded = MeshError(
        .deadlineExceeded, "The deadline passed before there was an answer. Allow more time, or try again later.")

    /// Runs `operation` and cancels it when the deadline passes; its caller then gets `deadline_exceeded`.
    ///
    /// `operation` is awaited even then, because it may hold things that only it can let go: a deadline
    /// shortens work, it does not abandon it.
    package static func enforce<T: Sendable>(
        _ deadline: Deadline, on clock: MeshClock, _ operation: @escaping @Sendable () async throws -> T
    ) async throws -> T {
        try await withThrowingTaskGroup(of: T?.self) { group in
            group.addTask { try await operation() }
            group.addTask {
                // The timer of a deadline is what it says: the one place in the mesh that waits for time to pass.
                // Where the caller is cancelled it ends without an error of its own: what counts is how the
                // operation ends, which may have done its work all the same.
                try? await clock.sleep(until: deadline.nanoseconds)
                return nil
            }
            defer { group.cancelAll() }
            do {
                while let ended = try await group.next() {
                    if let value = ended { return value }
                    group.cancelAll()
                }
            } catch  where MeshError(describing: error).status == .cancelled && !Task.isCancelled {
                // Whatever form the operation gives to having been cancelled: it was by the timer.
                throw clock.now() >= deadline.nanoseconds ? exceeded : error
            }
            throw exceeded
        }
    }
}

/// The monotonic clock in nanoseconds. CLOCK_MONOTONIC through the vDSO costs about 25 ns; `ContinuousClock`
/// was rejected on this path because its 128-bit durations cost as much again.
public enum MonotonicClock {
    @inlinable
    public static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }

    /// The same with the time that the machine slept, for what has to end though nobody was awake: CLOCK_BOOTTIME.
    public static func withSleep() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}
