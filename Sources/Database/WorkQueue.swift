import Dispatch
import Executors
import Synchronization

/// One piece of work for a database thread. The thread or task that takes it out of the queue owes its caller exactly one reply.
struct WorkItem: Sendable {
    typealias Reply = @Sendable () -> Void

    enum Kind {
        /// In a transaction that it may share with others.
        case shared
        /// In a transaction of its own.
        case alone
        /// Manages transactions itself (checkpoints, copies).
        case bare
    }

    let id: UInt64
    let kind: Kind
    /// What can stop it while it runs; nil for writes.
    let interruption: Interruption?
    /// Does the work and returns how to tell the caller, to be called once the result stands.
    let run: @Sendable (Connection) throws -> Reply
    let fail: @Sendable (any Error) -> Void
}

/// Work waiting for one thread or several: bounded, first come first served, and open to withdrawal.
///
/// A thread that finds it empty sleeps on a semaphore, and only then is it signalled; a busy thread is never.
final class WorkQueue: Sendable {
    enum Wait { case items, idle, finished }

    private struct State {
        var items: [WorkItem] = []
        var sleepers = 0
        var isOpen = true
        var isFinishing = false
        /// What a simulation runs in place of a thread; it sleeps and is woken as one.
        var step: (@Sendable () -> Void)?
    }

    private let capacity: Int
    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)
    private let steps: (any StepExecutor)?

    init(capacity: Int, steps: (any StepExecutor)? = nil) {
        self.capacity = max(1, capacity)
        self.steps = steps
    }

    /// Appends `item`. Returns true where a sleeping thread takes it up at once.
    /// - Throws: `busy` where as many are waiting as the queue holds, `closed` after `stopAdmission`.
    func submit(_ item: WorkItem) throws(DatabaseError) -> Bool {
        let result: Result<Bool, DatabaseError> = state.withLock { state in
            guard state.isOpen else { return .failure(.closed) }
            guard state.items.count < capacity else { return .failure(.busy) }
            state.items.append(item)
            guard state.sleepers > 0 else { return .success(false) }
            state.sleepers -= 1
            return .success(true)
        }
        let wakes = try result.get()
        if wakes { signal() }
        return wakes
    }

    private func signal() {
        guard let steps else { return _ = wake.signal() }
        if let step = state.withLock({ $0.step }) { steps.schedule(step) }
    }

    /// Takes the item with `id` out again, or nil where a thread has it already (or it has not been submitted).
    func withdraw(_ id: UInt64) -> WorkItem? {
        state.withLock { state in
            // At most `capacity` comparisons; an index by id would cost every item for the sake of the cancelled ones.
            guard let index = state.items.firstIndex(where: { $0.id == id }) else { return nil }
            return state.items.remove(at: index)
        }
    }

    /// The next item, or nil where there is none. With `onlyShared`, nil also where the next one shares no transaction.
    func take(onlyShared: Bool = false) -> WorkItem? {
        state.withLock { state in
            guard let next = state.items.first, next.kind == .shared || !onlyShared else { return nil }
            return state.items.removeFirst()
        }
    }

    var isEmpty: Bool { state.withLock { $0.items.isEmpty } }

    /// Blocks the calling thread until there is something to do, or `idleAfter` has passed without it.
    func wait(idleAfter: Duration? = nil) -> Wait {
        while true {
            let now: Wait? = state.withLock { state in
                if !state.items.isEmpty { return .items }
                if state.isFinishing { return .finished }
                state.sleepers += 1
                return nil
            }
            if let now { return now }
            guard let idleAfter else {
                wake.wait()
                continue
            }
            let nanoseconds = idleAfter / .nanoseconds(1)
            guard wake.wait(timeout: .now() + .nanoseconds(Int(nanoseconds))) == .timedOut else { continue }
            let isIdle = state.withLock { state in
                guard state.sleepers > 0 else { return false }
                state.sleepers -= 1
                return true
            }
            if isIdle { return .idle }
            // Somebody counted on this sleeper between the time-out and the lock: the signal is on its way.
            wake.wait()
        }
    }

    /// Refuses new items; those queued are still done.
    func stopAdmission() { state.withLock { $0.isOpen = false } }

    /// As `stopAdmission`, and lets each thread end once the queue is empty.
    func finish() {
        let sleepers = state.withLock { state in
            state.isOpen = false
            state.isFinishing = true
            defer { state.sleepers = 0 }
            return state.sleepers
        }
        for _ in 0..<sleepers { signal() }
    }

    // MARK: In a simulation

    /// Has `step` run whenever there is a item; it takes one and calls ``endStep()``.
    func serveSteps(_ step: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.step = step
            state.sleepers = 1
        }
    }

    func endStep() {
        let goesOn = state.withLock { state in
            if state.items.isEmpty && !state.isFinishing { state.sleepers = 1 }
            return !state.items.isEmpty
        }
        if goesOn { signal() }
    }

    /// How many of the items that wait the next commit takes: all, unless a simulation says fewer.
    func groupSize(atMost limit: Int) -> Int {
        guard let steps else { return limit }
        return min(limit, 1 + steps.choose(state.withLock { $0.items.count } + 1))
    }
}
