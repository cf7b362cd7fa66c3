import CMicroHTTPD
import Foundation
import Synchronization

/// A connection of libmicrohttpd's.
struct MHDConnection: @unchecked Sendable {
    // Sendable because it leaves the server's own thread for one purpose: to be resumed, once, after it was suspended. That
    // call is made for other threads, and the connection cannot go away meanwhile: libmicrohttpd closes none that is
    // suspended, and the server is stopped when none is.
    let pointer: OpaquePointer

    func suspend() { MHD_suspend_connection(pointer) }
    func resume() { MHD_resume_connection(pointer) }
}

/// One request and its response.
///
/// libmicrohttpd calls again and again for one request: once with the headers, for each piece of the body, and at its end.
/// Work is done in a task, and the connection sleeps (is suspended) meanwhile, so that the server's threads wait for
/// nobody. While it sleeps, nothing here is called.
final class Exchange: Sendable {
    private enum Phase {
        /// Nothing but the request's line is known.
        case new
        /// The body comes, of which the closure makes a response.
        case collecting(@Sendable (Data) async -> Response)
        /// The receiver has the floor, or has had it.
        case opening(any BodyReceiver)
        case receiving(any BodyReceiver)
        /// A task is at its last piece of work.
        case answering
        /// To be sent as soon as libmicrohttpd takes it.
        case answered(Response)
        /// With libmicrohttpd, or not to be sent at all.
        case over
    }

    private struct State {
        var phase = Phase.new
        /// Of a body that is a question.
        var body = Data()
        var received: UInt64 = 0
        /// When the last byte of the body has to be there, however fast it comes.
        var bodyEnd: UInt64?
        /// Bytes of a body that are read although nobody wants them.
        var mostUnread: UInt64
        var task: Task<Void, Never>?
        var receiver: (any BodyReceiver)?
        var stream: EventStream?
        /// Of the response that libmicrohttpd has.
        var answered: (status: Int, bytes: UInt64)?
    }

    let target: String
    /// As it came: what is no UTF-8 has another length in ``target``.
    let targetBytes: Int
    let connection: MHDConnection
    /// Its entry in the table of connections.
    let key: UInt64
    private let server: HTTPCore
    private let began: UInt64
    private let head = Mutex<RequestHead?>(nil)
    private let state: Mutex<State>

    init(target: String, targetBytes: Int, connection: MHDConnection, key: UInt64, server: HTTPCore) {
        self.target = target
        self.targetBytes = targetBytes
        self.connection = connection
        self.key = key
        self.server = server
        began = server.now()
        state = Mutex(State(mostUnread: UInt64(server.limits.bodyBytes)))
    }

    // MARK: On the server's thread

    /// - Parameters:
    ///   - isWellFormed: whether the head's lines end as they have to.
    ///   - piece: of the body; nil before the first and after the last. Before the first it may come more than once.
    ///   - taken: set to whether the piece was taken.
    /// - Returns: false where the connection is to be closed at once.
    func handle(
        method: String, isWellFormed: @autoclosure () -> Bool, piece: UnsafeRawBufferPointer?, taken: inout Bool
    ) -> Bool {
        server.table.watch(key, onHangUp: nil)
        let phase = state.withLock { $0.phase }
        switch phase {
        case .new: return begin(method, isWellFormed: isWellFormed())
        case .collecting(let work): return collect(piece, &taken, work)
        case .opening(let receiver):
            state.withLock { $0.phase = .receiving(receiver) }
            return receive(piece, &taken, receiver)
        case .receiving(let receiver): return receive(piece, &taken, receiver)
        case .answering:
            // Not called while it sleeps; without a sleep there is nothing to do but to wait.
            return true
        case .answered(let response):
            let (received, most) = state.withLock { ($0.received, $0.mostUnread) }
            let left = bodyBytes - received
            if piece != nil {
                // A body that is not wanted is read for the answer's sake, up to a point: a client that still sends when the
                // connection is closed never sees the answer.
                count(piece)
                taken = true
                return left <= most
            }
            return left > 0 && left <= most ? true : queue(response)
        case .over: return false
        }
    }

    private var bodyBytes: UInt64 { head.withLock { $0?.bodyBytes ?? 0 } }

    private func count(_ piece: UnsafeRawBufferPointer?) {
        state.withLock { $0.received += UInt64(piece?.count ?? 0) }
    }

    private func begin(_ method: String, isWellFormed: Bool) -> Bool {
        let head: RequestHead
        do throws(Refusal) {
            guard isWellFormed else {
                throw Refusal(400, .invalidArgument, "Each line of a request's head ends in CR and LF, and has no NUL.")
            }
            head = try RequestHead(
                method: method, target: target, headers: server.headers(of: connection),
                client: server.client(of: connection), network: server.network(of: connection), connection: key)
        } catch {
            return queue(Response(error))
        }
        self.head.withLock { $0 = head }
        switch server.begin(head) {
        case .respond(let response):
            state.withLock { $0.phase = .answered(response) }
            // At the end of the request, so that the next may follow; at once where a large body has been announced.
            return head.bodyBytes <= UInt64(server.limits.bodyBytes) ? true : queue(response)
        case .ask(let limit, let work):
            guard head.bodyBytes <= UInt64(limit) else {
                return queue(
                    Response(
                        Refusal(413, .invalidArgument, "The body is too large: at most \(limit) bytes are taken here."))
                )
            }
            server.table.limit(key, until: server.now() &+ UInt64(server.limits.bodySeconds) * 1_000_000_000)
            state.withLock { $0.phase = .collecting(work) }
            return true
        case .stream(let receiver, let seconds):
            server.table.limit(key, until: nil)
            state.withLock { state in
                state.mostUnread = UInt64(server.limits.unwantedBytes)
                state.phase = .opening(receiver)
                state.receiver = receiver
                state.bodyEnd = seconds.map { began &+ UInt64($0) * 1_000_000_000 }
            }
            return sleep { await receiver.open() }
        }
    }

    private func collect(
        _ piece: UnsafeRawBufferPointer?, _ taken: inout Bool, _ work: @escaping @Sendable (Data) async -> Response
    ) -> Bool {
        if let piece {
            count(piece)
            taken = true
            // No more can come than Content-Length says, which has been looked at.
            state.withLock { $0.body.append(contentsOf: piece) }
            return true
        }
        // The headers once more, and not the end of the body.
        guard state.withLock({ $0.received }) == bodyBytes else { return true }
        let body = state.withLock { state in
            state.phase = .answering
            defer { state.body = Data() }
            return state.body
        }
        server.table.limit(key, until: nil)
        return sleep { await work(body) }
    }

    private func receive(
        _ piece: UnsafeRawBufferPointer?, _ taken: inout Bool, _ receiver: any BodyReceiver
    ) -> Bool {
        let received = state.withLock { $0.received }
        guard let piece else {
            guard received == bodyBytes else {
                server.table.limit(key, until: slowest(of: received))
                return true
            }
            state.withLock { $0.phase = .answering }
            server.table.limit(key, until: nil)
            return sleep { await receiver.finish() }
        }
        count(piece)
        taken = true
        let copy = Data(piece)
        // The next piece has as long as the slowest client that is borne would take.
        server.table.limit(key, until: slowest(of: received + UInt64(piece.count)))
        return sleep { await receiver.take(copy) }
    }

    /// When a client that is as slow as is borne would have sent so many bytes of a body and a little more.
    private func slowest(of bytes: UInt64) -> UInt64 {
        if let end = state.withLock({ $0.bodyEnd }) { return end }
        let seconds = UInt64(server.limits.silentSeconds) + bytes / UInt64(server.limits.slowestBytesPerSecond)
        return began &+ seconds * 1_000_000_000
    }

    /// Does `work` in a task, and lets the connection sleep meanwhile.
    private func sleep(_ work: @escaping @Sendable () async -> Response?) -> Bool {
        guard server.mayFallAsleep() else { return false }
        connection.suspend()
        let task = Task {
            if let response = await work() { answer(response) }
            server.wakeUp(connection)
        }
        state.withLock { $0.task = task }
        server.table.watch(key) { task.cancel() }
        // It may have begun to stop in between, and then nobody else tells this task.
        if server.isStopping { task.cancel() }
        return true
    }

    private func answer(_ response: Response) { state.withLock { $0.phase = .answered(response) } }

    private func queue(_ response: Response) -> Bool {
        var stream: EventStream?
        if case .events(let events) = response.body { stream = events }
        let bytes: UInt64
        switch response.body {
        case .bytes(let data): bytes = UInt64(data.count)
        case .permanent(let permanent): bytes = UInt64(permanent.buffer.count)
        case .file(_, _, let count): bytes = count
        case .made(let made): bytes = UInt64(made.size)
        // As a body of which nobody knows how long it gets: as long as the slowest client takes for a large one.
        case .pages: bytes = UInt64(server.limits.unwantedBytes)
        case .size: bytes = 0
        case .none, .events: bytes = 0
        }
        state.withLock { state in
            state.phase = .over
            state.receiver = nil
            state.stream = stream
            state.answered = (Int(response.status), bytes)
        }
        if let stream {
            server.table.add(stream, on: key)
            server.table.limit(key, until: nil)
            server.table.watch(key) { stream.end() }
            if server.isStopping { stream.end() }
        } else {
            let seconds =
                UInt64(server.limits.silentSeconds) + bytes / UInt64(server.limits.slowestBytesPerSecond)
            server.table.limit(key, until: server.now() &+ seconds * 1_000_000_000)
        }
        return server.queue(response, on: connection)
    }

    private func writeDown() {
        guard let log = server.accessLog, target.hasPrefix("/api/") else { return }
        let head = head.withLock { $0 }
        let answered = state.withLock { $0.answered }
        log.note(
            AccessLog.Entry(
                client: head?.client ?? server.client(of: connection),
                request: head.map { ($0.method.rawValue, $0.path) }, status: answered?.status,
                bytes: answered?.bytes ?? 0, milliseconds: (server.now() &- began) / 1_000_000))
    }

    /// The response has been sent, or the client has gone, or the server stops.
    func end() {
        writeDown()
        let (receiver, task, stream) = state.withLock { state in
            defer {
                state.phase = .over
                state.task = nil
                state.receiver = nil
            }
            return (state.receiver, state.task, state.stream)
        }
        if let stream {
            server.table.remove(stream, from: key)
            stream.leave()
        }
        server.table.watch(key, onHangUp: nil)
        receiver?.abandon()
        task?.cancel()
        server.table.limit(key, until: server.now() &+ UInt64(server.limits.idleSeconds) * 1_000_000_000)
    }
}
