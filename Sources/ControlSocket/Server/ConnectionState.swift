import Glibc
import ServiceMesh

/// What a connection's lock guards: its requests, its output, and the room that it has for replies.
struct ConnectionState {
    /// Where the connection is on its way from the first line to the end.
    enum Phase {
        case open
        /// No more requests come; the running ones are finished, and their replies flushed.
        case ended
        /// The client broke a limit: what it still sends is thrown away, so that it can read why.
        case refused(since: UInt64)
    }

    struct Running {
        /// Nil between the request's acceptance and its task's start.
        var task: Task<Void, Never>?
        /// Bytes of its params.
        let size: Int
        /// Bytes set aside for its reply.
        var room: Int
        /// The role it needs where it only looks; nil where it changes something, and its reply has to say what it did.
        let looksAs: Role?
        /// How often the connection's role had fallen when it came.
        let falls: Int
        /// Whether it was ended because the connection's role fell.
        var isForbidden = false
    }

    /// Somebody who waits for room: a request to start, an update to be written.
    struct Waiter {
        let ticket: UInt64
        /// Nil for an update.
        let request: RequestID?
        let needsPage: Bool
        let continuation: CheckedContinuation<Void, any Error>
    }

    var socket: Int32
    var held: HeldRole
    /// How often it was made to fall.
    var falls = 0
    /// Whether its client has to come anew, as what it may be now.
    private(set) var isRenewed = false
    var phase = Phase.open
    var isBroken = false
    var isShuttingDown = false
    var hasSaidGoodbye = false
    /// Whether the reactor knows that it should look here, or will be told.
    var isAttended = false
    /// Whether the reactor reads nothing here for another reason than a full outbox.
    var isHeldBack = false

    var outbox = Outbox()
    /// When the outbox last got shorter, or began to fill.
    var lastMovement: UInt64 = 0
    /// When the last of the bytes came that stand before this place in the outbox.
    var drainsSince: UInt64 = 0
    var drainsUntil = 0

    var running: [RequestID: Running] = [:]
    /// Bytes of the params of all of them.
    var requestBytes = 0
    /// Bytes set aside for replies and updates that are being made.
    var reserved = 0
    /// What the budget of all connections has been told of this one.
    private var counted = 0
    private var countedFiles = 0
    var waiters: [Waiter] = []
    var lastTicket: UInt64 = 0
    /// Whether the connection stands in the budget's queue, or has been granted room and not been told yet.
    var isQueued = false
    /// Whether room for one large reply has been granted that nobody has taken.
    var hasGrant = false

    init(socket: Int32, role: Role) {
        self.socket = socket
        held = HeldRole(role)
    }

    var isOpen: Bool { if case .open = phase { true } else { false } }

    /// Whether it could go without anybody missing it.
    var isIdle: Bool { running.isEmpty && outbox.isEmpty }

    mutating func demote(_ fall: RoleFall) {
        held.demote(fall)
        falls += 1
        guard case .renewing(let name) = fall, held.name == name else { return }
        isRenewed = true
        // It ends when what writes has ended. Rejected: another role for the same connection; a request that looks would go on with what
        // it was allowed to see before.
        if isOpen { phase = .ended }
    }

    // MARK: Output

    mutating func put(_ line: [UInt8], _ files: [OwnedFile] = []) {
        guard socket >= 0, !isBroken else { return }
        let wasEmpty = outbox.isEmpty
        if !outbox.put(line, files, on: socket) {
            isBroken = true
            outbox.discard()
        } else if wasEmpty && !outbox.isEmpty {
            lastMovement = MonotonicClock.now()
            markDrain(at: lastMovement)
        }
    }

    mutating func flush() {
        guard socket >= 0, !outbox.isEmpty else { return }
        let before = outbox.count
        switch outbox.flush(on: socket) {
        case .moved:
            lastMovement = MonotonicClock.now()
            drainsUntil -= before - outbox.count
            if drainsUntil <= 0 { markDrain(at: lastMovement) }
        case .full: break
        case .broken:
            isBroken = true
            outbox.discard()
        }
    }

    /// The lines that wait now have to be gone before the time is taken anew.
    private mutating func markDrain(at now: UInt64) {
        drainsSince = now
        drainsUntil = outbox.count
    }

    /// Whether so many open files may be kept for the client, should its line have to wait.
    func mayKeepFiles(_ count: Int, _ core: ServerCore) -> Bool {
        count == 0 || outbox.isEmpty
            || (outbox.fileCount + count <= core.limits.connectionFiles
                && core.waitingFiles + count <= core.limits.totalFiles)
    }

    /// Whether the reactor has something to do that it does not know yet; true once until it has looked.
    mutating func callsForAttention(_ core: ServerCore) -> Bool {
        guard socket >= 0, !isAttended else { return false }
        let ends = !isOpen && isIdle
        isAttended = !outbox.isEmpty || isBroken || ends || (isHeldBack && mayRead(core))
        return isAttended
    }

    /// Whether lines may be taken from the client.
    func mayRead(_ core: ServerCore) -> Bool {
        let limits = core.limits
        guard outbox.count <= limits.outboxBytes else { return false }
        // While other connections wait for room, no request adds to lines that their client does not read.
        if !outbox.isEmpty, core.budget.contendedSince != nil { return false }
        return requestBytes <= limits.lineBytes || core.requestBytes <= limits.requestBytes
    }

    // MARK: Room for replies

    /// Whether a reply may be made now, as far as this connection goes.
    private func hasRoom(needsPage: Bool, isUpdate: Bool, _ limits: ControlLimits) -> Bool {
        // Changes wait until everything before them is with the kernel, so that only the newest is made.
        guard isUpdate ? outbox.isEmpty : outbox.count <= limits.outboxBytes else { return false }
        return !needsPage || outbox.count + reserved + limits.pageBytes <= limits.connectionBytes
    }

    /// Sets room aside for a large reply, unless others wait for it already.
    mutating func takePage(for connection: ClientConnection) -> Bool {
        guard !waiters.contains(where: \.needsPage),
            hasRoom(needsPage: true, isUpdate: false, connection.core.limits)
        else { return false }
        return takePage(of: connection)
    }

    private mutating func takePage(of connection: ClientConnection) -> Bool {
        if hasGrant {
            hasGrant = false
        } else if isQueued {
            return false
        } else if connection.core.budget.takePage(for: connection) == .queued {
            isQueued = true
            return false
        }
        reserved += connection.core.limits.pageBytes
        counted += connection.core.limits.pageBytes
        return true
    }

    /// Lets in the requests that wait and have room now, in the order in which they came; a small reply does not wait behind
    /// a large one.
    /// - Returns: whom to wake when the lock is free.
    mutating func letIn(to connection: ClientConnection) -> [CheckedContinuation<Void, any Error>] {
        var entered: [CheckedContinuation<Void, any Error>] = []
        var pagesWait = false
        var index = 0
        while index < waiters.count {
            let next = waiters[index]
            let limits = connection.core.limits
            let mayEnter =
                !(next.needsPage && pagesWait)
                && hasRoom(needsPage: next.needsPage, isUpdate: next.request == nil, limits)
                && (!next.needsPage || takePage(of: connection))
            guard mayEnter else {
                pagesWait = pagesWait || next.needsPage
                index += 1
                continue
            }
            if next.needsPage, let request = next.request { running[request]?.room = limits.pageBytes }
            entered.append(next.continuation)
            waiters.remove(at: index)
        }
        return entered
    }

    /// Tells the budget how many bytes the connection holds now, and gives back room that no request here takes.
    /// - Returns: the connections whose turn has come by that.
    mutating func settle(with core: ServerCore) -> [ClientConnection] {
        core.countFiles(outbox.fileCount - countedFiles)
        countedFiles = outbox.fileCount
        var difference = outbox.count + reserved - counted
        counted += difference
        if hasGrant {
            hasGrant = false
            difference -= core.limits.pageBytes
        }
        return difference == 0 ? [] : core.budget.count(difference)
    }
}
