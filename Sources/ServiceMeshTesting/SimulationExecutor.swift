import Executors
import Foundation
import Randomness
import ServiceMesh
import Synchronization

/// Runs every task of a simulation on one thread, one job at a time, in an order that follows from a seed.
///
/// What is ready is a bag: jobs of tasks and actors, and steps of parts that have threads otherwise. The seed says
/// which comes next. Time stands still while something runs and goes on to the next timer when nothing is ready;
/// seldom, and by the seed's choice, it goes on a little before that, as on a machine that is busy.
///
/// A task executor and not a hook of the global one: a hook did not give runs that repeat.
final class SimulationExecutor: TaskExecutor, StepExecutor, SimulatedTime {
    private enum Ready {
        case job(UnownedJob)
        case step(@Sendable () -> Void)
    }

    private struct Timer {
        let id: UInt64
        let time: UInt64
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var random: SplitMix64
        var trace = Trace()
        var ready: [Ready] = []
        var timers: [Timer] = []
        var lastTimer: UInt64 = 0
        var now: UInt64 = 0
        var thread: pthread_t?
        var escapes: [String] = []
        var choices = 0
        var operations = 0
    }

    private enum Next {
        case run(Ready)
        case wake([CheckedContinuation<Void, any Error>])
        case nothing
    }

    private let limits: Simulation.Limits
    private let state: Mutex<State>

    init(seed: UInt64, limits: Simulation.Limits) {
        self.limits = limits
        state = Mutex(State(random: SplitMix64(seed: seed)))
    }

    // MARK: Running

    /// How running came to its end.
    enum End { case finished, stuck, tooLong }

    /// Runs on the calling thread what is ready and becomes so, until `isFinished`.
    func run(until isFinished: () -> Bool) -> End {
        state.withLock { $0.thread = pthread_self() }
        var steps = 0
        while !isFinished() {
            switch state.withLock({ next(&$0) }) {
            case .nothing: return .stuck
            case .run(let ready): perform(ready)
            case .wake(let sleepers): for sleeper in sleepers { sleeper.resume() }
            }
            steps += 1
            if steps > limits.steps || now() > limits.time { return .tooLong }
        }
        return .finished
    }

    /// Ends every timer and runs what is left, so that tasks that can end do.
    func windDown() {
        for _ in 0..<limits.steps {
            let sleepers = state.withLock { state in
                defer { state.timers = [] }
                return state.timers
            }
            for sleeper in sleepers { sleeper.continuation.resume(throwing: CancellationError()) }
            guard let ready = state.withLock({ $0.ready.popLast() }) else { return }
            perform(ready)
        }
    }

    private func perform(_ ready: Ready) {
        switch ready {
        case .job(let job): job.runSynchronously(on: asUnownedTaskExecutor())
        case .step(let step): step()
        }
    }

    private func next(_ state: inout State) -> Next {
        let earliest = state.timers.lazy.map(\.time).min()
        guard !state.ready.isEmpty else {
            guard let earliest else { return .nothing }
            return .wake(advance(to: earliest, &state))
        }
        if let earliest, earliest <= state.now &+ limits.stall, choose(limits.stallEvery, &state) == 0 {
            return .wake(advance(to: max(earliest, state.now), &state))
        }
        let index = choose(state.ready.count, &state)
        state.ready.swapAt(index, state.ready.count - 1)
        return .run(state.ready.removeLast())
    }

    /// Sets the time; returns those whose timers that ends, in an order of the seed's.
    private func advance(to time: UInt64, _ state: inout State) -> [CheckedContinuation<Void, any Error>] {
        state.now = time
        state.trace.add(Int(truncatingIfNeeded: time))
        var due = state.timers.filter { $0.time <= time }
        state.timers.removeAll { $0.time <= time }
        due.shuffle(using: &state.random)
        return due.map(\.continuation)
    }

    private func choose(_ count: Int, _ state: inout State) -> Int {
        guard count > 1 else { return 0 }
        let choice = state.random.below(count)
        state.choices += 1
        state.trace.add(choice)
        return choice
    }

    /// Everything here belongs to the simulation's thread; who comes from another one is not repeatable.
    private func checkThread(_ state: inout State, _ what: String) {
        guard let thread = state.thread, pthread_equal(thread, pthread_self()) == 0 else { return }
        state.escapes.append(what)
    }

    // MARK: What runs on it

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { state in
            checkThread(&state, "a task was resumed by")
            state.ready.append(.job(job))
        }
    }

    func schedule(_ step: @escaping @Sendable () -> Void) {
        state.withLock { state in
            checkThread(&state, "a step was scheduled by")
            state.ready.append(.step(step))
        }
    }

    func choose(_ count: Int) -> Int {
        state.withLock { state in
            checkThread(&state, "a choice was asked for by")
            return choose(count, &state)
        }
    }

    func now() -> UInt64 {
        state.withLock { state in
            checkThread(&state, "the time was asked for by")
            return state.now
        }
    }

    func sleep(until time: UInt64) async throws {
        let id = state.withLock { state in
            state.lastTimer += 1
            return state.lastTimer
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // The handler may have come before the timer was there to be found.
                let isCancelled = state.withLock { state in
                    checkThread(&state, "a timer was set by")
                    if Task.isCancelled { return true }
                    state.timers.append(Timer(id: id, time: max(time, state.now), continuation: continuation))
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            let timer = state.withLock { state -> Timer? in
                guard let index = state.timers.firstIndex(where: { $0.id == id }) else { return nil }
                return state.timers.remove(at: index)
            }
            timer?.continuation.resume(throwing: CancellationError())
        }
    }

    // MARK: What is told of it

    func note(_ event: String) { state.withLock { $0.trace.add(note: event) } }

    func countOperation() { state.withLock { $0.operations += 1 } }

    var figures: (digest: UInt64, choices: Int, operations: Int, now: UInt64) {
        state.withLock { ($0.trace.digest, $0.choices, $0.operations, $0.now) }
    }

    var notes: [String] { state.withLock { $0.trace.notes } }
    var escapes: [String] { state.withLock { $0.escapes } }
}
