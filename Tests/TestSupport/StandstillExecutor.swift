import Dispatch
import Synchronization

/// Runs tasks on threads, and tells when none of them can go on by itself: each has ended, or waits for something that the test
/// holds.
///
/// For what nobody tells of, such as that a call has come to stand in a queue. Timers of the system's clock and other threads are
/// not seen: who waits for them stands still.
public final class StandstillExecutor: TaskExecutor {
    private struct State {
        var working = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let queue = DispatchQueue(label: "standstill", attributes: .concurrent)
    private let state = Mutex(State())

    public init() {}

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.working += 1 }
        queue.async {
            job.runSynchronously(on: self.asUnownedTaskExecutor())
            // What it has made ready is counted by now.
            let waiters = self.state.withLock { state -> [CheckedContinuation<Void, Never>] in
                state.working -= 1
                guard state.working == 0 else { return [] }
                defer { state.waiters = [] }
                return state.waiters
            }
            for waiter in waiters { waiter.resume() }
        }
    }

    /// Returns once nothing runs and nothing is ready to.
    public func standsStill() async {
        await withCheckedContinuation { continuation in
            let isStill = state.withLock { state in
                if state.working > 0 { state.waiters.append(continuation) }
                return state.working == 0
            }
            if isStill { continuation.resume() }
        }
    }
}
