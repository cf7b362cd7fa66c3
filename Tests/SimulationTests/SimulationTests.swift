import Dispatch
import Executors
import ServiceMesh
import ServiceMeshTesting
import Synchronization
import Testing

/// The simulation itself: it repeats, time passes as it says, and what breaks its rules is told.
@Suite struct SimulationRunTests {
    /// Tasks, actors, timers and steps that meet.
    private static let mixed: @Sendable (Simulation) async throws -> Void = { simulation in
        let journal = NameJournal()
        let pool = BlockingPool(steps: simulation.steps)
        await withTaskGroup { group in
            for client in 0..<4 {
                group.addTask {
                    for turn in 0..<3 {
                        switch simulation.choose(3) {
                        case 0: try? await simulation.clock.sleep(for: .milliseconds(simulation.choose(3)))
                        case 1: try? await pool.run { simulation.note("step of \(client)") }
                        default: await journal.write("\(client)")
                        }
                        simulation.note("\(client) turn \(turn)")
                    }
                }
            }
        }
    }

    @Test func theSameSeedGoesTheSameWay() async {
        for seed in 1...200 as ClosedRange<UInt64> {
            let first = await Simulation.run(seed: seed, Self.mixed)
            let second = await Simulation.run(seed: seed, Self.mixed)
            #expect(first.failure == nil)
            #expect(first.digest == second.digest)
            #expect(first.notes == second.notes)
        }
    }

    @Test func otherSeedsGoOtherWays() async throws {
        let report = try await Simulation.explore("tasks, actors and timers", seeds: 200, Self.mixed)
        #expect(report.interleavings * 20 > report.seeds * 19)
        let again = try await Simulation.explore("tasks, actors and timers", seeds: 200, Self.mixed)
        #expect(again.digest == report.digest)
    }

    @Test func timePassesOnlyToTimersAndTakesNone() async {
        let run = await Simulation.run(seed: 1) { simulation in
            let clock = simulation.clock
            try await clock.sleep(for: .seconds(3600))
            #expect(clock.now() == 3_600_000_000_000)
            await withTaskGroup { group in
                for milliseconds in [30, 10, 20] {
                    group.addTask {
                        try? await clock.sleep(for: .milliseconds(milliseconds))
                        simulation.note("\(milliseconds)")
                    }
                }
            }
        }
        #expect(run.failure == nil)
        #expect(run.notes == ["10", "20", "30"])
        #expect(run.nanoseconds == 3_600_030_000_000)
    }

    @Test func timersOfOneMomentComeInAnyOrder() async {
        var orders: Set<[String]> = []
        for seed in 1...60 as ClosedRange<UInt64> {
            let run = await Simulation.run(seed: seed) { simulation in
                await withTaskGroup { group in
                    for name in ["a", "b", "c"] {
                        group.addTask {
                            try? await simulation.clock.sleep(until: 1000)
                            simulation.note(name)
                        }
                    }
                }
            }
            orders.insert(run.notes)
        }
        #expect(orders.count == 6)
    }

    @Test func aCancelledSleepEndsAtOnce() async {
        let run = await Simulation.run(seed: 1) { simulation in
            await withTaskGroup { group in
                group.addTask {
                    await #expect(throws: CancellationError.self) {
                        try await simulation.clock.sleep(for: .seconds(60))
                    }
                }
                group.cancelAll()
            }
        }
        #expect(run.failure == nil)
        #expect(run.nanoseconds == 0)
    }

    @Test func deadlinesOfAMeshPassInSimulatedTime() async {
        let run = await Simulation.run(seed: 1) { simulation in
            let mesh = try Mesh(
                services: [Sleeper(clock: simulation.clock)], journal: MemoryJobJournal(), clock: simulation.clock)
            try await mesh.start()
            let deadline = Deadline.after(milliseconds: 500, on: simulation.clock)
            let error = await #expect(throws: MeshError.self) {
                try await mesh.send(Sleep(seconds: 30), deadline: deadline)
            }
            #expect(error?.status == .deadlineExceeded)
            await mesh.stop()
        }
        #expect(run.failure == nil)
        #expect(run.nanoseconds == 500_000_000)
    }

    @Test func aDeadlockIsToldWithItsSeed() async throws {
        let failure = try #require(
            await #expect(throws: SimulationFailure.self) {
                try await Simulation.explore("a deadlock", seeds: 1) { _ in
                    // Two tasks that wait for each other's end.
                    let first = Mutex<Task<Void, Never>?>(nil)
                    let second = Task(executorPreference: MeshClock.executor) {
                        await Task.yield()
                        await first.withLock { $0 }?.value
                    }
                    first.withLock { $0 = Task(executorPreference: MeshClock.executor) { await second.value } }
                    await second.value
                }
            })
        #expect(failure.reason.contains("Stuck"))
        #expect(failure.description.contains("seed \(failure.run.seed)"))
    }

    @Test func workOfAForeignThreadIsToldAndNotTakenForOurs() async {
        let run = await Simulation.run(seed: 1) { simulation in
            let foreign = BlockingPool(name: "foreign", threads: 1)
            await withCheckedContinuation { continuation in
                // Run once the task is suspended; holds the simulation's thread until the foreign one has resumed it.
                simulation.steps.schedule {
                    let resumed = DispatchSemaphore(value: 0)
                    foreign.submit {
                        continuation.resume()
                        resumed.signal()
                    }
                    resumed.wait()
                }
            }
        }
        #expect(run.failure?.contains("a foreign thread") == true)
    }

    @Test func aRunWithoutEndIsToldAsSuch() async {
        var limits = Simulation.Limits()
        limits.steps = 1000
        let run = await Simulation.run(seed: 1, limits: limits) { simulation in
            while !Task.isCancelled { await simulation.pause() }
        }
        #expect(run.failure?.contains("Endless") == true)
    }
}

/// A service whose answer takes time.
private actor Sleeper: MeshService {
    static let serviceName = "Sleeper"
    static var messages: MessageList<Sleeper> { Sleep.self }

    private let clock: MeshClock

    init(clock: MeshClock) { self.clock = clock }

    func sleep(_ seconds: Int) async throws -> Done {
        try await clock.sleep(for: .seconds(seconds))
        return Done()
    }
}

private struct Sleep: HandledMessage {
    typealias Reply = Done
    static let method = "sleeper.sleep"
    static let access = Role.parent
    static let kind = MessageKind.read
    static let summary = "Answers later."
    let seconds: Int
    func perform(on service: Sleeper) async throws -> Done { try await service.sleep(seconds) }
}
