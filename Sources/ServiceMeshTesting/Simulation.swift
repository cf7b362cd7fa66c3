import Executors
import Foundation
import ServiceMesh
import Synchronization

/// Deterministic simulation of actors, meshes and databases: the program's own code on one thread, with an order and
/// a time that follow from a seed. What a seed found, it finds again.
///
/// A simulation is a function that builds what it tests, lets clients loose on it, and throws what is wrong:
///
/// ```swift
/// let report = try await Simulation.explore("accounts", seeds: 500) { simulation in
///     let mesh = try Mesh(services: [AccountStore()], journal: MemoryJobJournal(), clock: simulation.clock)
///     try await mesh.start()
///     let history = History<Account.Input, Account.Output>(in: simulation)
///     await withTaskGroup { group in
///         for client in 0..<3 {
///             group.addTask {
///                 let amount = simulation.choose(10)
///                 await history.record(.deposit(amount), by: client) {
///                     .returned(try await mesh.send(Deposit(amount)).balance)
///                 }
///             }
///         }
///     }
///     await mesh.stop()
///     try Linearizability.check(history.operations, against: Account())
/// }
/// print(report)
/// ```
///
/// Rules, without which a run does not repeat:
/// - the mesh gets `simulation.clock`, a database `.steps(simulation.steps)`, a `BlockingPool` `steps:` of the same;
/// - chance comes from `choose` and its like, deadlines from `simulation.clock`, nothing from the system;
/// - tasks without a parent start with `Task(executorPreference: MeshClock.executor)`, or better have a parent;
/// - no actor has an executor of its own, and nothing is decided by the order of a `Set` or `Dictionary`.
///
/// What comes from a foreign thread all the same fails the run as an escape. When nothing is ready, no timer runs and
/// the function has not returned, the run is stuck: a deadlock, or work that went elsewhere.
public final class Simulation: Sendable {
    /// What bounds one run, and how time passes in it.
    public struct Limits: Sendable {
        /// Jobs and steps after which a run counts as endless.
        public var steps = 500_000
        /// Simulated nanoseconds after which a run counts as endless: two days.
        public var time: UInt64 = 172_800_000_000_000
        /// One choice in so many lets a timer come although work is ready, as on a busy machine…
        public var stallEvery = 64
        /// …where it is due within so many nanoseconds: a tenth of a second.
        public var stall: UInt64 = 100_000_000

        public init() {}
    }

    public let seed: UInt64
    private let executor: SimulationExecutor

    init(seed: UInt64, executor: SimulationExecutor) {
        self.seed = seed
        self.executor = executor
    }

    /// The simulated time, 0 at the beginning.
    public var clock: MeshClock { MeshClock(simulating: executor) }

    /// Where databases and pools do their work: `DatabasePool.open(…, execution: .steps(simulation.steps))`.
    public var steps: any StepExecutor { executor }

    // MARK: Choices

    /// 0 ..< `count`, which is 1 or more.
    public func choose(_ count: Int) -> Int { executor.choose(count) }

    /// True once in `count` times.
    public func oneIn(_ count: Int) -> Bool { executor.choose(count) == 0 }

    /// One of `values`, of which there is at least one.
    public func pick<T>(_ values: [T]) -> T { values[executor.choose(values.count)] }

    /// Lets others run first, as many as the seed says.
    public func pause() async { await Task.yield() }

    // MARK: Trace

    /// Adds an event to the trace: to its digest, and to what is shown when the run fails.
    public func note(_ event: String) { executor.note(event) }

    /// Counts an operation for the report.
    public func countOperation() { executor.countOperation() }

    // MARK: Running

    /// Runs `body` once, on a thread of its own.
    public static func run(
        seed: UInt64, limits: Limits = Limits(), _ body: @escaping @Sendable (Simulation) async throws -> Void
    ) async -> SimulationRun {
        let thread = BlockingPool(name: "simulation", threads: 1)
        return await withCheckedContinuation { continuation in
            thread.submit { continuation.resume(returning: runHere(seed: seed, limits: limits, body)) }
        }
    }

    /// As ``run(seed:limits:_:)``, on the calling thread, which it blocks.
    static func runHere(
        seed: UInt64, limits: Limits, _ body: @escaping @Sendable (Simulation) async throws -> Void
    ) -> SimulationRun {
        let executor = SimulationExecutor(seed: seed, limits: limits)
        let simulation = Simulation(seed: seed, executor: executor)
        let outcome = Outcome()
        let main = MeshClock.$executor.withValue(executor) {
            Task(executorPreference: executor) {
                do {
                    try await body(simulation)
                    outcome.set(.success(()))
                } catch {
                    outcome.set(.failure(error))
                }
            }
        }
        let end = executor.run { outcome.value != nil }
        let figures = executor.figures
        let notes = executor.notes
        if end != .finished { main.cancel() }
        executor.windDown()
        return SimulationRun(
            seed: seed, digest: figures.digest, choices: figures.choices, operations: figures.operations,
            nanoseconds: figures.now, notes: notes, failure: failure(end, outcome, executor))
    }

    private static func failure(_ end: SimulationExecutor.End, _ outcome: Outcome, _ executor: SimulationExecutor)
        -> String?
    {
        if let escape = executor.escapes.first {
            return """
                \(executor.escapes.count) escapes: \(escape) a foreign thread, so this run cannot be repeated. Give what \
                it was the simulation's clock, its steps, or MeshClock.executor.
                """
        }
        switch end {
        case .stuck:
            return "Stuck: nothing is ready and no timer runs. A deadlock, or work that left the simulation."
        case .tooLong: return "Endless: stopped after the steps or the time that a run may take."
        case .finished:
            guard case .failure(let error)? = outcome.value else { return nil }
            return "\(error)"
        }
    }

    private final class Outcome: Sendable {
        private let stored = Mutex<Result<Void, any Error>?>(nil)
        var value: Result<Void, any Error>? { stored.withLock { $0 } }
        func set(_ value: Result<Void, any Error>) { stored.withLock { $0 = value } }
    }
}

/// One run of a simulation.
public struct SimulationRun: Sendable {
    public let seed: UInt64
    /// Over every choice and note, in order: equal for runs that took the same way.
    public let digest: UInt64
    public let choices: Int
    public let operations: Int
    /// Simulated time that passed.
    public let nanoseconds: UInt64
    /// The newest notes.
    public let notes: [String]
    /// What was wrong, or nil.
    public let failure: String?
}
