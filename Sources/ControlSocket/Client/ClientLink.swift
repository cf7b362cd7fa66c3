import CLinux
import Foundation
import ServiceMesh
import Synchronization

/// A client's connection: its socket, the requests that wait for replies, and the thread that reads them.
///
/// Any task may send; nothing waits for the kernel but the thread. Requests wait in the outbox where the daemon
/// does not read: it is bounded by the callers, each of which waits for its own reply.
///
/// While somebody waits, the daemon has to say something: where nothing has come for half of the patience, the thread
/// asks with `rpc.ping`, which the daemon's own thread answers whatever its services do. So a long job is not given up
/// for being long, and a daemon that hangs is not waited for.
final class ClientLink: Sendable {
    /// Bytes of a line from the daemon: its largest result and what stands around it.
    private static let lineBytes = 16 << 20
    /// Open files that may have come before the lines that they belong to.
    private static let mostFiles = 64

    private struct State {
        var socket: Int32
        /// False while there is no place for it in the listener's queue.
        var isConnected: Bool
        var outbox = Outbox()
        var liveness: Liveness
        /// Whether the thread sleeps until it is woken, however long that takes.
        var sleepsForGood = false
        var pending: [UInt64: PendingReply] = [:]
        var nextID: UInt64 = 1
        /// Why the connection has ended, or is about to.
        var ending: (any Error)?
        /// What the daemon said about the connection as a whole, before it closed it.
        var verdict: (any Error)?
    }

    private let path: String
    private let user: UInt32
    private let patience: UInt64
    private let state: Mutex<State>
    private let wake: Int32

    /// - Parameter patience: nanoseconds.
    /// - Throws: ``ControlError``.
    convenience init(path: String, patience: UInt64) throws {
        try ControlAddress.checkLength(path)
        let socket = clinux_unix_socket()
        guard socket >= 0 else { throw ControlError.system(operation: "a socket", errno: errno) }
        let isConnected = clinux_unix_connect(socket, path) == 0
        if !isConnected, errno != EAGAIN {
            let code = errno
            close(socket)
            throw ControlError(connecting: path, code)
        }
        try self.init(socket, isConnected: isConnected, path: path, user: geteuid(), patience: patience)
    }

    /// - Parameter socket: this link's from now on.
    convenience init(connected socket: Int32, path: String, user: UInt32, patience: UInt64) throws {
        try self.init(socket, isConnected: true, path: path, user: user, patience: patience)
    }

    private init(_ socket: Int32, isConnected: Bool, path: String, user: UInt32, patience: UInt64) throws {
        if isConnected, let stranger = Self.stranger(on: socket, path, user) {
            close(socket)
            throw stranger
        }
        wake = clinux_wake_create()
        self.path = path
        self.user = user
        self.patience = patience
        state = Mutex(State(socket: socket, isConnected: isConnected, liveness: Liveness(patience: patience)))
        guard wake >= 0 else { throw ControlError.system(operation: "eventfd", errno: errno) }
        let thread = Thread { [self] in
            if isConnected || connect(socket) { read(from: socket) }
            finish()
        }
        thread.name = "control-client"
        thread.stackSize = 512 << 10
        thread.start()
    }

    deinit {
        let socket = state.withLock { $0.socket }
        if socket >= 0 { close(socket) }
        if wake >= 0 { close(wake) }
    }

    private static func stranger(on socket: Int32, _ path: String, _ user: UInt32) -> ControlError? {
        guard let peer = Peer(socket: socket), !peer.isTrusted(by: user) else { return nil }
        return .foreign(path: path, uid: peer.uid)
    }

    // MARK: From the callers' tasks

    /// Sends a request, made for the id that it gets.
    /// - Throws: ``ControlError/closed(_:)`` or what the daemon said before it closed.
    func send(_ make: (UInt64) -> [UInt8]) throws -> (id: UInt64, reply: PendingReply) {
        let (sent, calls) = try state.withLock { state -> ((UInt64, PendingReply), Bool) in
            if let ending = state.ending { throw ending }
            let id = state.nextID
            state.nextID += 1
            let reply = PendingReply()
            if state.pending.isEmpty { state.liveness.begin() }
            state.pending[id] = reply
            let isFull = Self.put(make(id), &state)
            defer { state.sleepsForGood = false }
            return ((id, reply), isFull || state.sleepsForGood)
        }
        if calls { clinux_wake(wake) }
        return sent
    }

    /// Sends a line that gets no reply; lost where the connection has ended.
    func notify(_ line: [UInt8]) {
        let calls = state.withLock { state in state.ending == nil && Self.put(line, &state) }
        if calls { clinux_wake(wake) }
    }

    /// - Returns: whether the thread has to be told that something waits to be sent.
    private static func put(_ line: [UInt8], _ state: inout State) -> Bool {
        guard state.socket >= 0 else { return false }
        guard state.isConnected else {
            state.outbox.append(line)
            return false
        }
        let waited = !state.outbox.isEmpty
        // A broken connection is not the sender's to report: the thread first reads what the daemon said.
        guard state.outbox.put(line, on: state.socket) else { return false }
        return !waited && !state.outbox.isEmpty
    }

    var isOpen: Bool { state.withLock { $0.ending == nil } }

    /// Ends the connection; each request that waits for a reply gets `reason`.
    func end(_ reason: any Error) {
        state.withLock { state in
            if state.ending == nil { state.ending = reason }
        }
        clinux_wake(wake)
    }

    // MARK: The thread

    /// Waits for a place in the listener's queue: many may be connecting, or the daemon may not take anybody in.
    private func connect(_ socket: Int32) -> Bool {
        let isConnected =
            clinux_unix_connect_within(socket, path, Int32(clamping: max(1, patience / 1_000_000))) == 0
        let code = errno
        guard isConnected else {
            end(ControlError(connecting: path, code))
            return false
        }
        if let stranger = Self.stranger(on: socket, path, user) {
            end(stranger)
            return false
        }
        state.withLock { state in
            state.isConnected = true
            state.liveness.begin()
        }
        return true
    }

    private func read(from socket: Int32) {
        var input = LineBuffer(limit: Self.lineBytes)
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        // In the order in which their lines come, and each before the end of its line.
        var files: [OwnedFile] = []
        while wait(on: socket) {
            let count = Self.receive(&chunk, &files, from: socket)
            if count < 0 && errno == EAGAIN { continue }
            guard count > 0 else { break }
            state.withLock { $0.liveness.begin() }
            let outcome = input.add(chunk.span.extracting(0..<count)) { line in
                receive(line, &files)
                return true
            }
            if files.count > Self.mostFiles {
                end(ControlError.protocolViolation("open files came that belong to no reply"))
            }
            if outcome == .tooLong {
                end(ControlError.protocolViolation("a line came that is longer than \(Self.lineBytes) bytes"))
            }
        }
    }

    private static func receive(_ chunk: inout [UInt8], _ files: inout [OwnedFile], from socket: Int32) -> Int {
        var descriptors = [Int32](repeating: -1, count: OwnedFiles.maximumCount)
        var arrived: Int32 = 0
        let count = chunk.withUnsafeMutableBytes {
            clinux_receive_files_now(
                socket, $0.baseAddress, $0.count, &descriptors, Int32(descriptors.count), &arrived)
        }
        for descriptor in descriptors.prefix(Int(arrived)) { files.append(OwnedFile(owning: descriptor)) }
        return count
    }

    /// Waits until there is something to read, and sends the lines that wait meanwhile. False when the connection is to end.
    private func wait(on socket: Int32) -> Bool {
        var isQuiet = false
        while true {
            let (isEnding, wantsWrite, milliseconds) = state.withLock { state in
                // Asleep for good only after a while: being woken by each of many requests would cost more.
                state.sleepsForGood = state.pending.isEmpty && isQuiet
                return (
                    state.ending != nil, !state.outbox.isEmpty,
                    state.sleepsForGood ? -1 : state.liveness.milliseconds(isAwaited: !state.pending.isEmpty)
                )
            }
            if isEnding { return false }
            var watched = [
                pollfd(fd: socket, events: Int16(POLLIN) | (wantsWrite ? Int16(POLLOUT) : 0), revents: 0),
                pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
            ]
            let count = poll(&watched, nfds_t(watched.count), milliseconds)
            guard count >= 0 else {
                if errno == EINTR { continue }
                return false
            }
            isQuiet = count == 0
            if watched[1].revents != 0 { clinux_wake_clear(wake) }
            if watched[0].revents & Int16(POLLOUT) != 0 {
                state.withLock { state in
                    if state.outbox.flush(on: socket) == .broken { state.outbox.discard() }
                }
            }
            // Hang-ups and errors are found by reading, behind what the daemon still said.
            if watched[0].revents & ~Int16(POLLOUT) != 0 { return true }
            // Only now that nothing is there to be read: this process may have been what stood still.
            if !isAlive(socket) { return false }
        }
    }

    /// Asks for a sign of life where it is time to; false where none has come.
    private func isAlive(_ socket: Int32) -> Bool {
        let isSilent = state.withLock { state in
            guard !state.pending.isEmpty else { return false }
            switch state.liveness.step() {
            case .wait: return false
            case .ask:
                // Its answer is nobody's: that it comes is enough.
                _ = Self.put(ControlClient.line(state.nextID, Ping.method, Data(), nil), &state)
                state.nextID += 1
                return false
            case .giveUp: return true
            }
        }
        guard isSilent else { return true }
        end(ControlError.notAnswering(path: path, pid: Peer(socket: socket)?.pid ?? 0))
        return false
    }

    private func receive(_ line: Span<UInt8>, _ files: inout [OwnedFile]) {
        guard line.count > 0 else { return }
        do {
            switch try ResponseLine(line) {
            case .result(let id, let value, let descriptors):
                guard descriptors <= files.count else {
                    throw ControlError.protocolViolation("a result came without its open files")
                }
                let own = Array(files.prefix(descriptors))
                files.removeFirst(descriptors)
                finish(id, .success(ControlReply(json: value, files: own)))
            case .error(let id?, let error): finish(id, .failure(error))
            case .error(nil, let error): takeVerdict(error)
            case .update(let id, let update):
                let reply = state.withLock { $0.pending[id] }
                reply?.update(update)
            }
        } catch {
            end(error)
        }
    }

    /// An error that names no request: the connection is refused, or a line could not be read (parameters that are not
    /// JSON, one longer than the daemon takes), and then no reply would ever come. Where one request waits, it is
    /// that one's; where several do, nobody can tell whose, and all have to ask again.
    private func takeVerdict(_ error: any Error) {
        let waiting = state.withLock { state in
            state.verdict = error
            return Array(state.pending.keys)
        }
        if waiting.count == 1 { finish(waiting[0], .failure(error)) }
        if waiting.count > 1 { end(error) }
    }

    private func finish(_ id: UInt64, _ outcome: Result<ControlReply, any Error>) {
        let reply = state.withLock { $0.pending.removeValue(forKey: id) }
        reply?.finish(outcome)
    }

    private func finish() {
        let (pending, reason) = state.withLock { state -> ([PendingReply], any Error) in
            let reason = state.ending ?? state.verdict ?? ControlError.closed("the daemon closed it")
            state.ending = reason
            close(state.socket)
            state.socket = -1
            state.outbox.discard()
            defer { state.pending = [:] }
            return (Array(state.pending.values), reason)
        }
        for reply in pending { reply.finish(.failure(reason)) }
    }
}
