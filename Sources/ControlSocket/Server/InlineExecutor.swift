import Glibc
import Synchronization

/// Runs the beginning of a lone request on the thread that has read it; everything else goes to the cooperative pool.
///
/// A hop to the pool and back costs more than a small request itself: measured, two to three times redis' PING. A
/// task with this preference is queued here when the serving thread starts it, and runs there, through its actor's
/// method if that is free, until it really waits; whatever resumes it later comes from another thread and goes to
/// the pool. `Task.immediate` was rejected: it leaves the thread at the first actor.
final class InlineExecutor: TaskExecutor {
    private struct State {
        /// The thread that may queue here, 0 for none.
        var thread: UInt = 0
        var jobs: [UnownedJob] = []
    }

    private let state = Mutex(State())
    /// A copy of the state's thread, so that other threads need no lock.
    private let thread = Atomic<UInt>(0)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let caller = Self.callingThread
        if thread.load(ordering: .relaxed) == caller {
            let isQueued = state.withLock { state in
                guard state.thread == caller else { return false }
                state.jobs.append(job)
                return true
            }
            if isQueued { return }
        }
        Self.giveToPool(job)
    }

    /// From now on the calling thread queues here and calls ``runAll()``.
    func adopt() { setThread(Self.callingThread) }

    /// From now on no job is queued here; the queued ones go to the pool.
    func release() {
        for job in setThread(0) { Self.giveToPool(job) }
    }

    @discardableResult
    private func setThread(_ owner: UInt) -> [UnownedJob] {
        state.withLock { state in
            state.thread = owner
            thread.store(owner, ordering: .relaxed)
            guard owner == 0 else { return [] }
            defer { state.jobs = [] }
            return state.jobs
        }
    }

    var isEmpty: Bool { state.withLock { $0.jobs.isEmpty } }

    /// Runs the queued jobs, and the jobs that these queue. Called by the serving thread.
    func runAll() {
        let executor = asUnownedTaskExecutor()
        while let job = state.withLock({ $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }) {
            job.runSynchronously(on: executor)
        }
    }

    private static var callingThread: UInt { UInt(pthread_self()) }

    private static func giveToPool(_ job: UnownedJob) { globalConcurrentExecutor.enqueue(job) }
}
