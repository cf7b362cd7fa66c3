import CLinux
import Glibc
import Synchronization

/// The memory that all workers together may use for big photos, beside the little that each has by itself.
///
/// A limit for each worker does not bound the machine: two workers with 1.5 GiB each are 3 GiB. So a worker that needs
/// more than its own asks, and what it gets is taken from this; what does not fit waits its turn. Turns are in order, or a
/// big photo would wait for as long as there are smaller ones. Nobody who holds some asks for more, so that no two wait
/// for each other.
final class MemoryBudget: Sendable {
    /// Somebody's wish, granted at once or when it is its turn.
    final class Turn: Sendable {
        let bytes: UInt64
        fileprivate let wake: Int32
        private let granted = Atomic(false)

        fileprivate init?(_ bytes: UInt64) {
            self.bytes = bytes
            wake = clinux_wake_create()
            guard wake >= 0 else { return nil }
        }

        deinit { if wake >= 0 { close(wake) } }

        var isGranted: Bool { granted.load(ordering: .relaxed) }

        fileprivate func grant() {
            granted.store(true, ordering: .relaxed)
            clinux_wake(wake)
        }
    }

    private struct State {
        var free: UInt64
        var least: UInt64
        var waiting: [Turn] = []

        mutating func grantNext() {
            while let first = waiting.first, first.bytes <= free {
                free -= first.bytes
                least = min(least, free)
                waiting.removeFirst()
                first.grant()
            }
        }
    }

    /// Bytes to be shared.
    let total: UInt64
    private let state: Mutex<State>

    init(total: UInt64) {
        self.total = total
        state = Mutex(State(free: total, least: total))
    }

    /// The most that was taken at once.
    var mostTaken: UInt64 { state.withLock { total - $0.least } }

    /// Asks for `bytes`, ``total`` at most, behind all who asked before. Nil where the process has no descriptor left to
    /// wait with. What is asked for has to be ended by ``leave(_:)``, granted or not.
    func ask(for bytes: UInt64) -> Turn? {
        precondition(bytes <= total)
        guard let turn = Turn(bytes) else { return nil }
        state.withLock { state in
            state.waiting.append(turn)
            state.grantNext()
        }
        return turn
    }

    /// Waits until it is granted. Blocks the thread.
    /// - Parameter socket: of the worker that wants it. When that has something to say, it has ended: it must not speak
    ///   while it waits.
    /// - Returns: false where the worker has ended.
    func wait(for turn: Turn, unlessReadable socket: Int32) -> Bool {
        var ready = [
            pollfd(fd: turn.wake, events: Int16(POLLIN), revents: 0),
            pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&ready, nfds_t(ready.count), -1) < 0 && errno == EINTR {}
        return ready[1].revents == 0 && turn.isGranted
    }

    /// Gives back what was granted, or the place of who waits. Whoever is behind may fit now.
    func leave(_ turn: Turn) {
        state.withLock { state in
            if turn.isGranted {
                state.free += turn.bytes
            } else {
                state.waiting.removeAll { $0 === turn }
            }
            state.grantNext()
        }
    }

    /// Gives back all but `bytes` of what was granted, by another turn in its place.
    func shrink(_ turn: Turn, to bytes: UInt64) -> Turn? {
        precondition(turn.isGranted && bytes <= turn.bytes)
        guard let smaller = Turn(bytes) else { return nil }
        state.withLock { state in
            state.free += turn.bytes - bytes
            smaller.grant()
            state.grantNext()
        }
        return smaller
    }
}

/// What one conversation has of the budget. Used by one thread.
final class MemoryShare {
    private let budget: MemoryBudget
    private var turn: MemoryBudget.Turn?
    /// Whether it is all that there is, whatever the worker asks for.
    private var isWhole = false

    init(of budget: MemoryBudget) { self.budget = budget }

    deinit { giveBack() }

    /// Bytes.
    var held: UInt64 { turn.map { $0.isGranted ? $0.bytes : 0 } ?? 0 }

    /// Takes everything, when nobody else has anything.
    /// - Returns: false where the worker at the other end of `socket` has ended.
    func takeAll(unlessReadable socket: Int32) -> Bool {
        isWhole = true
        return take(budget.total, socket)
    }

    /// Takes what a worker asks for, or, where it has more, gives the rest back.
    /// - Returns: false where the worker has ended, or asks for more while it holds some, which it must not.
    func settle(on bytes: UInt64, unlessReadable socket: Int32) -> Bool {
        if isWhole { return true }
        let wanted = min(bytes, budget.total)
        guard let turn else { return take(wanted, socket) }
        guard wanted <= turn.bytes, let smaller = budget.shrink(turn, to: wanted) else { return false }
        self.turn = smaller
        return true
    }

    func giveBack() {
        if let turn { budget.leave(turn) }
        turn = nil
        isWhole = false
    }

    private func take(_ bytes: UInt64, _ socket: Int32) -> Bool {
        turn = budget.ask(for: bytes)
        return turn.map { budget.wait(for: $0, unlessReadable: socket) } ?? false
    }
}
