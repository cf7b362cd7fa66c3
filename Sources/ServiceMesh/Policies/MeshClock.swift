/// The time of one mesh: the system's, or that of a simulation.
///
/// Everything in the mesh that reads time or waits for it asks here, so that a simulated mesh has no time of its own.
/// A struct with an optional reference and not an existential: on the system's clock, which every call reads twice,
/// it costs one comparison with nil more than ``MonotonicClock``.
public struct MeshClock: Sendable {
    public static let system = MeshClock(simulated: nil)

    /// The executor on which a task without a parent has to start, or nil for the usual one.
    ///
    /// A task inherits its parent's preference, but one made with `Task { }` has no parent. Code that makes one says
    /// `Task(executorPreference: MeshClock.executor)`, or a simulation would lose sight of it.
    @TaskLocal public static var executor: (any TaskExecutor)?

    private let simulated: (any SimulatedTime)?

    private init(simulated: (any SimulatedTime)?) { self.simulated = simulated }

    /// A clock that shows `time`.
    public init(simulating time: any SimulatedTime) { self.init(simulated: time) }

    /// Nanoseconds since some moment before the mesh began. Never goes back.
    public func now() -> UInt64 {
        guard let simulated else { return MonotonicClock.now() }
        return simulated.now()
    }

    /// The date and time, as they are written down. In a simulation they begin with the year 2026 and pass as it does.
    public func timestamp() -> Timestamp {
        guard let simulated else { return .now() }
        return Timestamp(milliseconds: 1_767_225_600_000 + Int64(simulated.now() / 1_000_000))
    }

    /// Returns once `now()` is `nanoseconds` or more.
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    public func sleep(until nanoseconds: UInt64) async throws {
        if let simulated { return try await simulated.sleep(until: nanoseconds) }
        // A timer by nature, and the one through which all of the mesh waits; a simulation has returned above.
        let now = MonotonicClock.now()
        try await Task.sleep(nanoseconds: nanoseconds > now ? nanoseconds - now : 0)
    }

    /// As ``sleep(until:)``, from now on.
    public func sleep(for duration: Duration) async throws {
        let seconds = UInt64(clamping: max(0, duration.components.seconds))
        let (whole, tooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let part = UInt64(clamping: max(0, duration.components.attoseconds / 1_000_000_000))
        let (end, overflow) = now().addingReportingOverflow(tooLong ? .max : whole &+ part)
        try await sleep(until: overflow ? .max : end)
    }
}

/// Time as a simulation makes it pass.
public protocol SimulatedTime: Sendable {
    /// Nanoseconds since the simulation began.
    func now() -> UInt64
    /// Returns once `now()` is `nanoseconds` or more; throws `CancellationError` as soon as the task is cancelled.
    func sleep(until nanoseconds: UInt64) async throws
}
