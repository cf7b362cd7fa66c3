import CLinux
import Glibc
import ServiceMesh
import Synchronization

/// One client's connection: its role, the requests that run for it, and its output.
///
/// Any thread may answer; only the reactor's thread reads, arms the socket and closes it. The lock is held while
/// bytes are offered to the kernel (which never waits), so lines of two answers cannot mix and nobody writes to a
/// descriptor that has been closed and given to someone else.
final class ClientConnection: Sendable {
    /// What the reactor waits for on this connection.
    struct Standing: Equatable {
        var isOver = false
        var wantsRead = false
        var wantsWrite = false
        /// The moment at which the connection is closed if nothing moves.
        var expiresAt: UInt64?
        /// Since when the bytes at the front wait. Where others wait for room, they have to be gone in time as well: a
        /// byte now and then is not enough to keep the others waiting for ever.
        var drainsSince: UInt64?
        /// When the connection's role falls by itself, where it is not used before.
        var roleFallsAt: UInt64?
    }

    let key: UInt64
    let core: ServerCore
    /// Whether it came through the door, for somebody who is not at this machine.
    let isFromDoor: Bool
    private let state: Mutex<ConnectionState>

    init(key: UInt64, socket: Int32, isFromDoor: Bool, role: Role, core: ServerCore) {
        self.key = key
        self.isFromDoor = isFromDoor
        self.core = core
        state = Mutex(ConnectionState(socket: socket, role: role))
    }

    deinit {
        let socket = state.withLock { $0.socket }
        if socket >= 0 { close(socket) }
    }

    /// Changes the state, and resumes all that can go on by that: requests that wait here, the reactor, other connections.
    @discardableResult
    private func change<Result: Sendable>(_ body: (inout ConnectionState) -> Result) -> Result {
        let (result, granted) = changeHere(body)
        // One after the other and not one inside the other: each may make room for the next.
        var waiting = granted
        while let next = waiting.popLast() {
            waiting +=
                next.changeHere {
                    $0.isQueued = false
                    $0.hasGrant = true
                }.granted
        }
        return result
    }

    private func changeHere<Result: Sendable>(
        _ body: (inout ConnectionState) -> Result
    ) -> (result: Result, granted: [ClientConnection]) {
        let (result, entered, granted, calls) = state.withLock { state in
            let wasQueued = state.isQueued
            let result = body(&state)
            let entered = state.letIn(to: self)
            let granted = state.settle(with: core)
            // From now on others may have to yield to this one, and the reactor counts their time.
            let isQueued = state.isQueued && !wasQueued
            return (result, entered, granted, state.callsForAttention(core) || isQueued)
        }
        for waiter in entered { waiter.resume() }
        if calls { core.attend(key) }
        return (result, granted)
    }

    // MARK: Output, from any thread

    /// Writes a line that answers no running request.
    func write(_ line: [UInt8]) { change { $0.put(line) } }

    /// Writes the one reply of a request; its id is free again with that.
    /// - Parameters:
    ///   - files: that go with it.
    ///   - refusal: in its place where the connection's role has fallen below what it needs.
    func finish(
        _ id: RequestID, with line: [UInt8], _ files: [OwnedFile] = [],
        orWhereForbidden refusal: (_ isRenewed: Bool) -> [UInt8]
    ) {
        change { state in
            var (line, files) = (line, files)
            if !state.mayKeepFiles(files.count, core) {
                (line, files) = (OutgoingLine.error(id, Self.tooManyFiles), [])
            }
            if let ended = state.running.removeValue(forKey: id) {
                if ended.isForbidden { (line, files) = (refusal(state.isRenewed), []) }
                state.reserved -= ended.room
                state.requestBytes -= ended.size
                core.countRequest(-ended.size)
            }
            state.put(line, files)
        }
    }

    private static let tooManyFiles = MeshError(
        .resourceExhausted, "Open files wait that were not taken. Read the replies that are there, and ask again.")

    /// Writes an update once everything before it has been taken by the kernel, so that of several changes meanwhile the
    /// observation sends only the newest. The line is made when there is room for it.
    /// - Throws: `CancellationError` when the request was cancelled or the connection is gone; what `make` throws.
    func writeUpdate(_ size: ReplySize, _ make: () throws -> [UInt8]) async throws {
        try await waitForRoom(for: nil, size)
        let line = Result { try make() }
        change { state in
            if size == .page { state.reserved -= core.limits.pageBytes }
            if case .success(let line) = line { state.put(line) }
        }
        _ = try line.get()
    }

    // MARK: Room

    /// Waits until a reply of that size may be made.
    /// - Parameter request: whose it is; nil for an update.
    /// - Throws: `CancellationError` when the task was cancelled or the connection is gone.
    func waitForRoom(for request: RequestID?, _ size: ReplySize) async throws {
        let ticket = state.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let isRefused = change { state in
                    // The task may have been cancelled before the handler had anyone to give up.
                    if state.socket < 0 || Task.isCancelled { return true }
                    state.waiters.append(
                        ConnectionState.Waiter(
                            ticket: ticket, request: request, needsPage: size == .page, continuation: continuation))
                    return false
                }
                if isRefused { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            let waiter = change { state in
                state.waiters.firstIndex { $0.ticket == ticket }.map { state.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume(throwing: CancellationError())
        }
    }

    // MARK: Role

    private var roleClock: @Sendable () -> UInt64 { core.configuration.roleClock }

    /// The role that a request would have now.
    var role: Role { state.withLock { $0.held.role(at: roleClock()) } }

    /// Whether its client has to come anew.
    var isRenewed: Bool { state.withLock { $0.isRenewed } }

    /// What no grant goes beyond.
    var ceiling: Role { min(state.withLock { $0.held.ceiling }, .parent) }

    /// Who it is for, where somebody has said so.
    var identifiedName: String? { state.withLock { $0.held.name } }

    /// Gives the connection the role that a request has earned which succeeded. Nothing is given where the role was made to fall
    /// meanwhile: a person who locks up also locks out a request that was on the way.
    func grant(_ grant: HeldRole.Grant, for id: RequestID) {
        state.withLock { state in
            guard state.running[id]?.falls == state.falls else { return }
            state.held.grant(grant, at: roleClock())
        }
        // The reactor has to know when it ends.
        core.attend(key)
    }

    /// Says who it is for, where nobody has said so yet.
    /// - Parameter standing: theirs at this moment; nil where they are nobody any more.
    func identify(as name: String, _ standing: () -> HeldRole.Standing?) {
        state.withLock { state in
            guard let standing = standing() else { return }
            state.held.identify(
                as: name, HeldRole.Standing(standing.role, ceiling: min(standing.ceiling, .parent)))
        }
    }

    /// From any thread; what it forbids is ended on the reactor's.
    func demote(_ fall: RoleFall) {
        state.withLock { $0.demote(fall) }
        core.submit { [key] in $0.endForbidden(of: key) }
    }

    /// From the reactor's thread.
    func lowerRole(_ fall: RoleFall) {
        state.withLock { $0.demote(fall) }
        endForbidden()
    }

    /// Ends the requests that only look, and need more than the role that the connection has now. Called on the reactor's thread, as
    /// every cancellation is.
    func endForbidden() {
        let tasks = state.withLock { state -> [Task<Void, Never>] in
            let now = roleClock()
            state.held.expire(at: now)
            let role = state.held.role(at: now)
            return state.running.compactMap { id, running in
                guard let needed = running.looksAs, needed > role, !running.isForbidden else { return nil }
                state.running[id]?.isForbidden = true
                return running.task
            }
        }
        for task in tasks { task.cancel() }
    }

    /// Whether requests that end as cancelled were cancelled because the daemon stops.
    var isShuttingDown: Bool { state.withLock { $0.isShuttingDown } }

    // MARK: Requests, from the reactor's thread

    enum Acceptance { case accepted(Role, hasRoom: Bool), duplicate, tooMany }

    /// Takes the id for a request, or says why not.
    /// - Parameters:
    ///   - bytes: of its params.
    ///   - endpoint: where it goes. Where there is no room for its reply, it waits for that before it starts.
    func begin(_ id: RequestID, bytes: Int, for endpoint: any Endpoint) -> Acceptance {
        let size = endpoint.startSize
        let looksAs = endpoint.kind == .read || endpoint.kind == .observation ? endpoint.access : nil
        return state.withLock { state -> Acceptance in
            guard state.running[id] == nil else { return .duplicate }
            guard state.running.count < core.limits.requestsInFlight else { return .tooMany }
            let hasRoom = size == .single || state.takePage(for: self)
            let room = size == .page && hasRoom ? core.limits.pageBytes : 0
            state.running[id] = ConnectionState.Running(
                task: nil, size: bytes, room: room, looksAs: looksAs, falls: state.falls)
            state.requestBytes += bytes
            core.countRequest(bytes)
            return .accepted(state.held.use(at: roleClock()), hasRoom: hasRoom)
        }
    }

    func isRunning(_ id: RequestID) -> Bool { state.withLock { $0.running[id] != nil } }

    /// Keeps the task of a request that has begun, unless it has been answered already. Ids are taken and tasks
    /// cancelled on the reactor's thread only, so no cancellation falls between the two.
    func attach(_ task: Task<Void, Never>, to id: RequestID) { state.withLock { $0.running[id]?.task = task } }

    func cancel(_ id: RequestID) {
        let task = state.withLock { $0.running[id]?.task }
        task?.cancel()
    }

    /// What becomes of the bytes that the client sends.
    enum Intake { case taken, waiting, discarded, ended }

    var intake: Intake {
        state.withLock { state in
            if state.isBroken || state.socket < 0 { return .ended }
            return switch state.phase {
            case .open: state.mayRead(core) ? .taken : .waiting
            case .ended: .ended
            case .refused: .discarded
            }
        }
    }

    /// Whether nothing runs, nothing waits, and more may come.
    var isIdle: Bool { state.withLock { $0.isOpen && $0.isIdle } }

    /// The client has said its last; requests that run go on.
    func endInput() {
        state.withLock { state in
            if state.isOpen { state.phase = .ended }
        }
    }

    /// Cancels the requests that run and takes no more; replies still go out.
    func refuse(shuttingDown: Bool) {
        let tasks = state.withLock { state -> [Task<Void, Never>] in
            state.phase = shuttingDown ? .ended : .refused(since: MonotonicClock.now())
            state.isShuttingDown = shuttingDown
            return state.running.values.compactMap(\.task)
        }
        for task in tasks { task.cancel() }
    }

    // MARK: The socket, from the reactor's thread

    /// Sends the lines that wait. When all of them are gone, the requests that wait for room go on.
    func flush() { change { $0.flush() } }

    /// What to wait for now. Ends the output side first where a refused client has got everything.
    func standing(inputHasEnded: Bool) -> Standing {
        let stall = core.limits.stall
        return state.withLock { state in
            state.isAttended = false
            state.isHeldBack = false
            guard state.socket >= 0, !state.isBroken else { return Standing(isOver: true) }
            var standing = Standing(wantsWrite: !state.outbox.isEmpty)
            if let falls = state.held.fallsAt {
                // On the reactor's own clock, which does not count sleep: after one it looks again.
                let now = roleClock()
                standing.roleFallsAt = MonotonicClock.now() &+ (falls > now ? falls - now : 0)
            }
            if standing.wantsWrite {
                // Known from here on: further output needs no attention of its own.
                state.isAttended = true
                standing.expiresAt = state.lastMovement &+ stall
                standing.drainsSince = state.drainsSince
            }
            switch state.phase {
            case .open:
                standing.wantsRead = state.mayRead(core)
                state.isHeldBack = !standing.wantsRead && state.outbox.isEmpty
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
        let (tasks, waiters) = change { state -> ([Task<Void, Never>], [ConnectionState.Waiter]) in
            guard state.socket >= 0 else { return ([], []) }
            close(state.socket)
            state.socket = -1
            state.outbox.discard()
            if state.isQueued, core.budget.leave(self) { state.isQueued = false }
            defer { state.waiters = [] }
            return (state.running.values.compactMap(\.task), state.waiters)
        }
        for task in tasks { task.cancel() }
        for waiter in waiters { waiter.continuation.resume(throwing: CancellationError()) }
    }
}
