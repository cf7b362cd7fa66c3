import CLinux
import Glibc
import ImageWorkerProtocol

extension WorkerProcess {
    /// How often a worker may settle what memory it needs: for the source, and then by its header.
    private static let mostSettlements = 2

    /// One request and its answer. Anything thrown means that this worker is of no more use.
    /// - Parameters:
    ///   - limit: for the work. Waiting for memory does not count.
    ///   - share: what it may have of the memory of all workers. It gets what `share` holds, and may ask for what it needs.
    func exchange(
        _ request: WorkerRequest, _ descriptors: [Int32], within limit: WorkerTime, _ share: MemoryShare
    ) throws(ImagingError) -> WorkerReply {
        lend(share.held)
        let used = processorTime
        // Whatever has ended it by now came before its photo.
        guard try send(request, descriptors) else { throw .workerLost(end().description) }
        var start = SuspendingClock.now
        for _ in 0...Self.mostSettlements {
            let reply = try receive(within: limit, since: start, used)
            guard case .needs(let bytes) = reply.outcome else { return reply }
            let asked = SuspendingClock.now
            guard bytes > 0, share.settle(on: UInt64(bytes), unlessReadable: socket) else { throw ended() }
            lend(share.held)
            guard try send(.proceed(bytes: Int(clamping: share.held)), []) else { throw ended() }
            start = start.advanced(by: asked.duration(to: .now))
        }
        throw ended()
    }

    /// False where the worker has ended.
    private func send(_ request: WorkerRequest, _ descriptors: [Int32]) throws(ImagingError) -> Bool {
        guard let line = WorkerProtocol.line(request) else { throw .io("a request that cannot be written") }
        let sent = line.withUnsafeBytes {
            clinux_send_with_descriptors(socket, $0.baseAddress, $0.count, descriptors, Int32(descriptors.count))
        }
        // A descriptor that is not open is the caller's mistake, not the worker's.
        if sent < 0, errno == EBADF { throw .io("a descriptor that is not open") }
        return sent == line.count
    }

    /// - Parameters:
    ///   - start: when it was given the photo.
    ///   - used: time that it had been on a processor by then.
    private func receive(within limit: WorkerTime, since start: SuspendingClock.Instant, _ used: Duration)
        throws(ImagingError) -> WorkerReply
    {
        var (worked, since) = (processorTime, SuspendingClock.now)
        while let rest = limit.rest(
            used: processorTime - used, passed: start.duration(to: .now), idled: since.duration(to: .now))
        {
            // Looked at often enough to tell within an eighth of that time when it was last at work.
            let isThere = try WorkerReply.isThere(on: socket, until: .now.advanced(by: min(rest, limit.idle / 8)))
            let now = processorTime
            if now > worked { (worked, since) = (now, .now) }
            guard isThere else { continue }
            guard let reply = WorkerReply(from: socket) else { throw ended() }
            return reply
        }
        throw .timedOut
    }

    /// What became of a worker that has ended, or has said what no worker says and is ended for that.
    func ended() -> ImagingError {
        // One that ends goes a moment after its socket, and its signal is its own. One that closes its socket and goes on is
        // ended here: a photo must not pass for innocent by that.
        let hasEnded = isAtEnd && endsByItself
        let ending = end()
        return hasEnded && ending.isFromOutside
            ? .workerLost(ending.description) : .workerCrashed(ending.description)
    }

    private var isAtEnd: Bool {
        var state = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return poll(&state, 1, 0) > 0 && state.revents & Int16(POLLHUP) != 0
    }
}

extension WorkerReply {
    /// A worker's first word; nil where there is none.
    static func first(on socket: Int32, until deadline: SuspendingClock.Instant) -> WorkerReply? {
        guard (try? isThere(on: socket, until: deadline)) == true else { return nil }
        return WorkerReply(from: socket)
    }

    /// Waits for a packet or the end of the socket. False where neither came in time. The clock stands still while the
    /// machine sleeps, so that closing a laptop does not make a photo damaged.
    fileprivate static func isThere(on socket: Int32, until deadline: SuspendingClock.Instant) throws(ImagingError)
        -> Bool
    {
        var waiting = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        while true {
            let rest = SuspendingClock.now.duration(to: deadline)
            guard rest > .zero else { return false }
            let milliseconds = Int32(
                clamping: rest.components.seconds &* 1000 &+ 1
                    &+ rest.components.attoseconds / 1_000_000_000_000_000)
            let ready = poll(&waiting, 1, milliseconds)
            if ready > 0 { return true }
            guard ready == 0 || errno == EINTR else {
                throw .io("waiting for a worker: " + String(cString: strerror(errno)))
            }
        }
    }

    /// The packet that is there; nil for the end, and for what is no reply.
    fileprivate init?(from socket: Int32) {
        var line = [UInt8](repeating: 0, count: WorkerProtocol.longestLine)
        let length = recv(socket, &line, line.count, 0)
        guard length > 0, let reply: WorkerReply = WorkerProtocol.read(line[..<length]) else { return nil }
        self = reply
    }
}
