import CLinux
import Glibc
import ServiceMesh
import Synchronization

/// One client's connection: its role, the requests that run for it, and its output.
///
/// Any thread may answer; only the reactor's thread reads, arms the socket and closes it. The lock is held while
/// bytes are offered to the kernel (which never waits), so lines of two answers cannot mix and nobody writes to a
/// descriptor that has been closed and given to someone else.
final class Connection: Sendable {
    /// Where the connection is on its way from the first line to the end.
    private enum Phase {
        case open
        /// No more requests come; what runs is finished and flushed.
        case ended
        /// The client broke a limit: what it still sends is thrown away, so that it can read why.
        case refused(since: UInt64)
    }

    private struct State {
        var socket: Int32
        var role: Role
        var phase = Phase.open
        var isBroken = false
        var isShuttingDown = false
        var outbox = Outbox()
        /// When the outbox last got shorter, or began to fill.
        var lastMovement: UInt64 = 0
        /// Nil between the request's acceptance and its task's start.
        var running: [RequestID: Task<Void, Never>?] = [:]
        var roomWaiters: [UInt64: CheckedContinuation<Void, any Error>] = [:]
        var nextWaiter: UInt64 = 0
        /// Whether the reactor knows that it should look here, or will be told.
        var isAttended = false
        var hasSaidGoodbye = false

        var isIdle: Bool { running.isEmpty && outbox.isEmpty }

        mutating func put(_ line: [UInt8]) {
            guard socket >= 0, !isBroken else { return }
            let wasEmpty = outbox.isEmpty
            if !outbox.put(line, on: socket) {
                isBroken = true
                outbox.discard()
            } else if wasEmpty && !outbox.isEmpty {
                lastMovement = MonotonicClock.now()
            }
        }

        /// Whether the reactor has something to do that it does not know yet; true once until it has looked.
        mutating func callsForAttention() -> Bool {
            guard socket >= 0, !isAttended else { return false }
            let ends = if case .open = phase { false } else { isIdle }
            isAttended = !outbox.isEmpty || isBroken || ends
            return isAttended
        }
    }

    /// What the reactor waits for on this connection.
    struct Standing: Equatable {
        var isOver = false
        var wantsRead = false
        var wantsWrite = false
        /// The moment at which the connection is closed if nothing moves.
        var expiresAt: UInt64?
    }

    let key: UInt64
    let core: ServerCore
    private let state: Mutex<State>

    init(key: UInt64, socket: Int32, role: Role, core: ServerCore) {
        self.key = key
        self.core = core
        state = Mutex(State(socket: socket, role: role))
    }

    deinit {
        let socket = state.withLock { $0.socket }
        if socket >= 0 { close(socket) }
    }

    // MARK: Output, from any thread

    /// Writes a line that answers no running request.
    func write(_ line: [UInt8]) {
        let calls = state.withLock { state in
            state.put(line)
            return state.callsForAttention()
        }
        if calls { core.attend(key) }
    }

    /// Writes the one reply of a request; its id is free again with that.
    func finish(_ id: RequestID, with line: [UInt8]) {
        let calls = state.withLock { state in
            state.running[id] = nil
            state.put(line)
            return state.callsForAttention()
        }
        if calls { core.attend(key) }
    }

    /// Writes an update once everything before it has been taken by the kernel, so that what changes meanwhile
    /// is reduced to the newest by whoever produces it.
    /// - Throws: `CancellationError` when the request was cancelled or the connection is gone.
    func writeWhenEmpty(_ line: [UInt8]) async throws {
        while true {
            try Task.checkCancellation()
            let (written, calls) = state.withLock { state -> (Bool, Bool) in
                guard state.outbox.isEmpty else { return (false, false) }
                state.put(line)
                return (true, state.callsForAttention())
            }
            if calls { core.attend(key) }
            if written { return }
            try await waitForRoom()
        }
    }

    private func waitForRoom() async throws {
        let ticket = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let outcome = state.withLock { state -> Result<Void, any Error>? in
                    // The task may have been cancelled before the handler had anyone to give up.
                    if state.socket < 0 || Task.isCancelled { return .failure(CancellationError()) }
                    if state.outbox.isEmpty { return .success(()) }
                    state.roomWaiters[ticket] = continuation
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let waiter = state.withLock { $0.roomWaiters.removeValue(forKey: ticket) }
            waiter?.resume(throwing: CancellationError())
        }
    }

    var role: Role { state.withLock { $0.role } }

    func setRole(_ role: Role) { state.withLock { $0.role = role } }

    func lowerRole(to role: Role) { state.withLock { $0.role = min($0.role, role) } }

    /// Whether requests that end as cancelled were cancelled because the daemon stops.
    var isShuttingDown: Bool { state.withLock { $0.isShuttingDown } }

    // MARK: Requests, from the reactor's thread

    enum Acceptance { case accepted(Role), duplicate, tooMany }

    /// Takes the id for a request, or says why not.
    func begin(_ id: RequestID) -> Acceptance {
        state.withLock { state in
            guard state.running[id] == nil else { return .duplicate }
            guard state.running.count < core.limits.requestsInFlight else { return .tooMany }
            state.running[id] = .some(nil)
            return .accepted(state.role)
        }
    }

    func isRunning(_ id: RequestID) -> Bool { state.withLock { $0.running[id] != nil } }

    /// Keeps the task of a request that has begun, unless it has been answered already. Ids are taken and tasks
    /// cancelled on the reactor's thread only, so no cancellation falls between the two.
    func attach(_ task: Task<Void, Never>, to id: RequestID) {
        state.withLock { state in
            guard state.running[id] != nil else { return }
            state.running[id] = .some(task)
        }
    }

    func cancel(_ id: RequestID) {
        let task = state.withLock { $0.running[id] ?? nil }
        task?.cancel()
    }

    /// What becomes of the bytes that the client sends.
    enum Intake { case taken, waiting, discarded, ended }

    var intake: Intake {
        state.withLock { state in
            if state.isBroken || state.socket < 0 { return .ended }
            return switch state.phase {
            case .open: state.outbox.count <= core.limits.outboxBytes ? .taken : .waiting
            case .ended: .ended
            case .refused: .discarded
            }
        }
    }

    /// The client has said its last; what runs goes on.
    func endInput() {
        state.withLock { state in
            if case .open = state.phase { state.phase = .ended }
        }
    }

    /// Cancels what runs and takes no more requests; replies still go out.
    func refuse(shuttingDown: Bool) {
        let tasks = state.withLock { state -> [Task<Void, Never>] in
            state.phase = shuttingDown ? .ended : .refused(since: MonotonicClock.now())
            state.isShuttingDown = shuttingDown
            return state.running.values.compactMap { $0 }
        }
        for task in tasks { task.cancel() }
    }

    // MARK: The socket, from the reactor's thread

    /// Sends what waits. When all of it is gone, those who wait for room go on.
    func flush() {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, any Error>] in
            guard state.socket >= 0, !state.outbox.isEmpty else { return [] }
            switch state.outbox.flush(on: state.socket) {
            case .moved: state.lastMovement = MonotonicClock.now()
            case .full: break
            case .broken:
                state.isBroken = true
                state.outbox.discard()
            }
            guard state.outbox.isEmpty else { return [] }
            defer { state.roomWaiters = [:] }
            return Array(state.roomWaiters.values)
        }
        for waiter in waiters { waiter.resume() }
    }

    /// What to wait for now. Ends the output side first where a refused client has got everything.
    func standing(inputHasEnded: Bool) -> Standing {
        let stall = UInt64(max(0, core.limits.stallMilliseconds)) &* 1_000_000
        return state.withLock { state in
            state.isAttended = false
            guard state.socket >= 0, !state.isBroken else { return Standing(isOver: true) }
            var standing = Standing(wantsWrite: !state.outbox.isEmpty)
            if standing.wantsWrite {
                // Known from here on: further output needs no attention of its own.
                state.isAttended = true
                standing.expiresAt = state.lastMovement &+ stall
            }
            switch state.phase {
            case .open: standing.wantsRead = state.outbox.count <= core.limits.outboxBytes
            case .ended: standing.isOver = state.isIdle
            case .refused(let since):
                standing.wantsRead = true
                if state.isIdle {
                    standing.isOver = inputHasEnded
                    if !state.hasSaidGoodbye { shutdown(state.socket, Int32(SHUT_WR)) }
                    state.hasSaidGoodbye = true
                    standing.expiresAt = since &+ stall
                }
            }
            return standing
        }
    }

    /// Ends the connection: its plain requests are cancelled, its jobs are not its own and go on.
    func end() {
        let (tasks, waiters) = state.withLock {
            state -> ([Task<Void, Never>], [CheckedContinuation<Void, any Error>]) in
            guard state.socket >= 0 else { return ([], []) }
            close(state.socket)
            state.socket = -1
            state.outbox.discard()
            defer { state.roomWaiters = [:] }
            return (state.running.values.compactMap { $0 }, Array(state.roomWaiters.values))
        }
        for task in tasks { task.cancel() }
        for waiter in waiters { waiter.resume(throwing: CancellationError()) }
    }
}
