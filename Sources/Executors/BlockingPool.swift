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
/// The queue has no bound of its own: admission happens in the mesh, before work comes here, and a caller
/// holds one element at a time because it awaits the result.
public final class BlockingPool: Sendable {
    private struct State {
        var queue: [@Sendable () -> Void] = []
        /// Elements of `queue` before this index have been taken; the array is compacted when it runs empty.
        var head = 0
        var isShutDown = false

        mutating func take() -> (@Sendable () -> Void)? {
            guard head < queue.count else { return nil }
            let job = queue[head]
            queue[head] = {}
            head += 1
            if head == queue.count {
                queue.removeAll(keepingCapacity: true)
                head = 0
            }
            return job
        }
    }

    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)
    private let ended = DispatchGroup()
    private let threads: Int

    /// - Parameters:
    ///   - name: of the threads, as `top -H` shows it (15 bytes at most on Linux).
    ///   - threads: how many, 1 or more.
    ///   - niceness: 0…19; bulk work takes a higher one so that urgent work goes first.
    public init(name: String, threads: Int, niceness: Int = 0) {
        precondition(threads >= 1, "a pool needs a thread")
        self.threads = threads
        for _ in 0..<threads {
            ended.enter()
            let thread = Thread { [self] in
                if niceness != 0 { _ = clinux_set_thread_niceness(Int32(niceness)) }
                runUntilShutDown()
                ended.leave()
            }
            thread.name = name
            thread.stackSize = 1 << 20
            thread.start()
        }
    }

    private func runUntilShutDown() {
        while true {
            wake.wait()
            let job = state.withLock { $0.take() }
            guard let job else { return }
            job()
        }
    }

    /// Runs `work` on one of the pool's threads and returns what it returns.
    ///
    /// Cancellation does not interrupt `work`; it has to look for itself where it can stop.
    /// - Throws: what `work` throws, or `CancellationError` once the pool is shut down.
    public func run<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            let accepted = submit { continuation.resume(with: Result { try work() }) }
            if !accepted { continuation.resume(throwing: CancellationError()) }
        }
    }

    /// Queues `work` without waiting for it. Returns false, and drops it, once the pool is shut down.
    @discardableResult
    public func submit(_ work: @escaping @Sendable () -> Void) -> Bool {
        let accepted = state.withLock { state in
            guard !state.isShutDown else { return false }
            state.queue.append(work)
            return true
        }
        if accepted { wake.signal() }
        return accepted
    }

    /// Finishes what is queued, takes nothing more, and returns when the threads have ended.
    /// Must not be called from one of the pool's own threads.
    public func shutDown() async {
        let first = state.withLock { state in
            defer { state.isShutDown = true }
            return !state.isShutDown
        }
        if first { for _ in 0..<threads { wake.signal() } }
        await withCheckedContinuation { continuation in
            ended.notify(queue: .global()) { continuation.resume() }
        }
    }
}
