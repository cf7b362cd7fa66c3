import Dispatch
import Foundation
import Synchronization

/// The two threads of a server: one serves, the other watches that it does.
///
/// The serving thread runs small requests itself (``InlineExecutor``). A service that computes for long there would
/// hold up every connection, so the watching thread looks once a millisecond, while there is something to watch, and
/// where the other is still at the same work it takes over: it serves on, with all requests on the pool, and the
/// first one, when it comes back, watches. So the price of a slow service is a millisecond, as on the pool.
///
/// The reactor stands in a lock, which is free while requests run; whose turn it is stands in `shift`.
final class ServingThreads: Sendable {
    /// Between two looks of the watching thread, and how often it looks in vain before it sleeps.
    private static let interval = timespec(tv_sec: 0, tv_nsec: 1_000_000)
    private static let vainLooks = 20

    private let reactor: Mutex<Reactor>
    private let executor: InlineExecutor
    /// The count of spells of work, twice, and whether one is going on: `2 * spells + 1`. The watching thread takes
    /// over by counting one on, after which the serving thread cannot end its spell.
    private let shift = Atomic<UInt64>(0)
    private let isWatched = Atomic(false)
    private let watcherSleeps = Atomic(false)
    private let hasEnded = Atomic(false)
    private let watcherWake = DispatchSemaphore(value: 0)

    init(reactor: consuming sending Reactor, executor: InlineExecutor) {
        self.reactor = Mutex(reactor)
        self.executor = executor
    }

    func start() {
        startThread("control-socket") { threads in
            threads.serve()
            threads.watch()
        }
        startThread("control-watch") { $0.watch() }
    }

    private func startThread(_ name: String, _ body: @escaping @Sendable (ServingThreads) -> Void) {
        let thread = Thread { [self] in body(self) }
        thread.name = name
        thread.stackSize = 1 << 20
        thread.start()
    }

    /// Serves until the reactor has ended, or until the other thread has taken over.
    private func serve() {
        while true {
            if isWatched.load(ordering: .acquiring) { executor.adopt() }
            let goesOn = reactor.withLock { $0.turn() }
            guard goesOn else {
                executor.release()
                hasEnded.store(true, ordering: .sequentiallyConsistent)
                watcherWake.signal()
                return
            }
            if !executor.isEmpty {
                guard work() else { return }
            }
        }
    }

    /// Runs the requests of a turn.
    /// - Returns: false where they took so long that the other thread serves now.
    private func work() -> Bool {
        let (_, spell) = shift.wrappingAdd(1, ordering: .sequentiallyConsistent)
        if watcherSleeps.exchange(false, ordering: .sequentiallyConsistent) { watcherWake.signal() }
        executor.runAll()
        return shift.compareExchange(
            expected: spell, desired: spell &+ 1, ordering: .sequentiallyConsistent
        ).exchanged
    }

    /// Watches, and serves whenever the other thread is stuck, until the reactor has ended.
    private func watch() {
        isWatched.store(true, ordering: .releasing)
        while !hasEnded.load(ordering: .sequentiallyConsistent) {
            sleepUntilWork()
            if isStuck() {
                serve()
                isWatched.store(true, ordering: .releasing)
            }
        }
    }

    private func sleepUntilWork() {
        watcherSleeps.store(true, ordering: .sequentiallyConsistent)
        // Work that began before the serving thread could see that this one sleeps.
        if shift.load(ordering: .sequentiallyConsistent) & 1 == 1 {
            if watcherSleeps.exchange(false, ordering: .sequentiallyConsistent) { return }
        }
        watcherWake.wait()
    }

    /// Looks until nothing has happened for a while (false), or until one spell has lasted from one look to the
    /// next: then it takes over (true).
    private func isStuck() -> Bool {
        var seen = shift.load(ordering: .sequentiallyConsistent)
        var vain = 0
        while vain < Self.vainLooks, !hasEnded.load(ordering: .sequentiallyConsistent) {
            var interval = Self.interval
            nanosleep(&interval, nil)
            let now = shift.load(ordering: .sequentiallyConsistent)
            if now == seen {
                if now & 1 == 1 && takeOver(from: now) { return true }
                vain += 1
            } else {
                vain = 0
            }
            seen = now
        }
        return false
    }

    private func takeOver(from spell: UInt64) -> Bool {
        // Nobody watches until the other thread is back, so nothing may run inline until then.
        isWatched.store(false, ordering: .releasing)
        let taken = shift.compareExchange(
            expected: spell, desired: spell &+ 1, ordering: .sequentiallyConsistent
        ).exchanged
        if taken { executor.release() } else { isWatched.store(true, ordering: .releasing) }
        return taken
    }
}
