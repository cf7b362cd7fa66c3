import CLinux
import Dispatch
import Foundation
import Synchronization

/// Threads of our own for work that blocks: SQLite, file copies, conversations with helper processes.
///
/// The cooperative pool is as wide as the machine has cores, so nothing there may block for more than about a
/// millisecond; whatever does belongs on a `BlockingPool`. The alternative, a `SerialExecutor` on a Dispatch
/// queue, was rejected: it costs a thread hop of about 7.5 µs a call and its width is not ours to set.
///
/// Work is taken first come first served. The queue is bounded, as a backstop: admission is decided in the mesh,
/// before work comes here. The threads end when the pool is shut down or nobody refers to it any more, in both cases
/// after what is queued.
public final class BlockingPool: Sendable {
    /// Why work was not taken.
    public enum Refusal: Error, Sendable, CustomStringConvertible {
        /// As much is waiting as the pool's capacity allows. Try again later.
        case full
        /// The pool takes nothing more.
        case shutDown

        public var description: String {
            switch self {
            case .full: "Too much work is waiting. Try again in a moment."
            case .shutDown: "The program is stopping. Try again when it runs."
            }
        }
    }

    private let core: Core

    /// - Parameters:
    ///   - name: of the threads, as `top -H` shows it; Linux keeps the first 15 bytes.
    ///   - threads: how many, 1 or more.
    ///   - niceness: 0…19; bulk work takes a higher one so that urgent work goes first.
    ///   - capacity: how much may wait, 1 or more, beside what the threads are doing.
    public init(name: String, threads: Int, niceness: Int = 0, capacity: Int = 4_096) {
        precondition(threads >= 1, "a pool needs a thread")
        precondition(capacity >= 1, "nothing could ever be submitted")
        let core = Core(threads: threads, capacity: capacity)
        self.core = core
        for _ in 0..<threads {
            core.ended.enter()
            // The threads hold the core and not the pool, so that a forgotten pool goes away.
            let thread = Thread {
                // `Thread.name` reaches the kernel only sometimes: it races with the start.
                _ = clinux_set_thread_name(name)
                if niceness != 0 { _ = clinux_set_thread_niceness(Int32(clamping: niceness)) }
                core.runUntilShutDown()
                core.ended.leave()
            }
            thread.stackSize = 1 << 20
            thread.start()
        }
    }

    /// A pool whose work a simulation does, a piece at a time, on the simulation's own thread.
    public init(steps: any StepExecutor) {
        core = Core(threads: 0, capacity: 4_096, steps: steps)
    }

    deinit { core.stopAdmission() }

    /// Runs `work` on one of the pool's threads and returns what it returns.
    ///
    /// Cancellation does not interrupt `work`, nor keep it from starting; it has to look for itself where it can stop.
    /// - Throws: what `work` throws, or `Refusal`.
    public func run<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        let result = await withCheckedContinuation { (continuation: CheckedContinuation<Result<T, any Error>, Never>) in
            do throws(Refusal) {
                try core.submit { [core] in
                    let result = Result { try work() }
                    core.handOver()
                    continuation.resume(returning: result)
                }
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        core.takeOver()
        return try result.get()
    }

    /// Queues `work` without waiting for it. Returns false, and drops it, where the pool is full or shut down.
    @discardableResult
    public func submit(_ work: @escaping @Sendable () -> Void) -> Bool {
        do throws(Refusal) {
            try core.submit(work)
            return true
        } catch {
            return false
        }
    }

    /// Takes nothing more, finishes what is queued, and returns when the threads have ended.
    ///
    /// May be called more than once. Work on one of the pool's own threads must not wait for it.
    public func shutDown() async {
        core.stopAdmission()
        if core.steps != nil { return core.finishSteps() }
        await withCheckedContinuation { continuation in
            core.ended.notify(queue: .global()) { continuation.resume() }
        }
    }
}

/// The queue that the threads share.
///
/// The semaphore counts one signal for each piece of work and, on shutting down, one for each thread. A thread that is
/// woken and finds nothing ends; as signals and work pair up, all work is done before the last thread does.
private final class Core: Sendable {
    private struct State {
        var queue: [@Sendable () -> Void] = []
        /// Elements of `queue` before this index have been taken.
        var head = 0
        var isShutDown = false

        var waiting: Int { queue.count - head }

        mutating func take() -> (@Sendable () -> Void)? {
            guard head < queue.count else { return nil }
            let job = queue[head]
            queue[head] = {}
            head += 1
            // Under steady load the queue never runs empty; without this it would grow for ever.
            if head == queue.count || head > 1_024 {
                queue.removeSubrange(..<head)
                head = 0
            }
            return job
        }
    }

    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)
    let ended = DispatchGroup()
    private let threads: Int
    private let capacity: Int
    private let handedOver = Atomic<UInt>(0)
    /// A simulation that does the work in place of threads, or nil.
    let steps: (any StepExecutor)?

    init(threads: Int, capacity: Int, steps: (any StepExecutor)? = nil) {
        self.threads = threads
        self.capacity = capacity
        self.steps = steps
    }

    func runUntilShutDown() {
        while true {
            wake.wait()
            let job = state.withLock { $0.take() }
            guard let job else { return }
            job()
        }
    }

    func submit(_ work: @escaping @Sendable () -> Void) throws(BlockingPool.Refusal) {
        let refusal: BlockingPool.Refusal? = state.withLock { state in
            guard !state.isShutDown else { return .shutDown }
            guard state.waiting < capacity else { return .full }
            state.queue.append(work)
            return nil
        }
        if let refusal { throw refusal }
        guard let steps else { return _ = wake.signal() }
        steps.schedule { [self] in state.withLock({ $0.take() })?() }
    }

    /// Before and after a continuation hands a value to its task. The runtime orders the two by itself; where the work is done
    /// before anybody waits for it, it does so in code that Thread Sanitizer does not see, which calls the first look at the
    /// value a race.
    func handOver() { handedOver.add(1, ordering: .releasing) }
    func takeOver() { _ = handedOver.load(ordering: .acquiring) }

    /// Does at once what a simulation has not got to.
    func finishSteps() { while let job = state.withLock({ $0.take() }) { job() } }

    func stopAdmission() {
        let first = state.withLock { state in
            defer { state.isShutDown = true }
            return !state.isShutDown
        }
        if first { for _ in 0..<threads { wake.signal() } }
    }
}
