import Glibc
import CMicroHTTPD
import ServiceMesh
import Synchronization

/// What the connections of a server share: its table, its limits, and the part that answers.
final class HTTPCore: Sendable {
    /// Connections that are closed already, and whose place libmicrohttpd has not given back yet. The table keeps to the limit, and needs
    /// the new one to decide which goes.
    private static let connectionsThatGo = 64

    private struct State {
        /// Connections that libmicrohttpd does not look at, because a task of ours has to end first.
        var asleep = 0
        var isStopping = false
        var onAwake: CheckedContinuation<Void, Never>?
    }

    let limits: HTTPLimits
    let table: ConnectionTable
    let accessLog: AccessLog?
    private let answer: @Sendable (RequestHead) -> Intake
    /// With every response.
    private let headers: [Header]
    private let state = Mutex(State())
    let places: Places
    /// What TLS shows to who connects from now on; nil for plain HTTP.
    let identity = Mutex<TLSIdentity?>(nil)

    init(
        limits: HTTPLimits, table: ConnectionTable, headers: [Header], accessLog: AccessLog? = nil,
        answer: @escaping @Sendable (RequestHead) -> Intake
    ) {
        self.limits = limits
        places = Places(limits.connections + Self.connectionsThatGo)
        self.table = table
        self.accessLog = accessLog
        self.headers = headers
        self.answer = answer
    }

    /// Nanoseconds since some moment.
    func now() -> UInt64 { MonotonicClock.now() }

    func begin(_ head: RequestHead) -> Intake {
        isStopping ? .respond(Response(.stopping)) : answer(head)
    }

    // MARK: Sleeping connections

    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Before a connection is suspended.
    /// - Returns: false where the server stops, and none may sleep any more.
    func mayFallAsleep() -> Bool {
        state.withLock { state in
            if !state.isStopping { state.asleep += 1 }
            return !state.isStopping
        }
    }

    func wakeUp(_ connection: MHDConnection) {
        connection.resume()
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.asleep -= 1
            guard state.asleep == 0, state.isStopping else { return nil }
            defer { state.onAwake = nil }
            return state.onAwake
        }
        waiter?.resume()
    }

    /// Ends the running requests, and returns when no connection sleeps any more.
    func stop() async {
        state.withLock { $0.isStopping = true }
        for stream in table.allStreams { stream.end() }
        table.giveUp()
        await withCheckedContinuation { continuation in
            let isAwake = state.withLock { state in
                if state.asleep > 0 { state.onAwake = continuation }
                return state.asleep == 0
            }
            if isAwake { continuation.resume() }
        }
    }

    // MARK: libmicrohttpd's terms

    func headers(of connection: MHDConnection) -> [(String, String)] {
        var found: [(String, String)] = []
        withUnsafeMutablePointer(to: &found) { found in
            _ = MHD_get_connection_values(
                connection.pointer, .HEADER_KIND,
                { context, _, name, value in
                    let found = context?.assumingMemoryBound(to: [(String, String)].self)
                    guard let name else { return .YES }
                    found?.pointee.append((String(cString: name), value.map { String(cString: $0) } ?? ""))
                    return .YES
                }, found)
        }
        return found
    }

    func client(of connection: MHDConnection) -> String {
        guard let address = cmicrohttpd_client(connection.pointer) else { return "" }
        return ListeningAddress.text(of: address)
    }

    func network(of connection: MHDConnection) -> String {
        guard let address = cmicrohttpd_client(connection.pointer) else { return "" }
        return ListeningAddress.network(of: address)
    }

    /// - Returns: false where there was no memory for it, or the connection is at another point.
    func queue(_ response: Response, on connection: MHDConnection) -> Bool {
        if case .made(let made) = response.body {
            return MHD_queue_response(connection.pointer, UInt32(response.status), made.pointer) == .YES
        }
        guard let made = Self.make(response.body, on: connection, self) else { return false }
        for header in headers + response.headers {
            // No header of ours has what would end its line; one that came from elsewhere and does is left out.
            _ = MHD_add_response_header(made, header.name, header.value)
        }
        defer { cmicrohttpd_drop(made) }
        return MHD_queue_response(connection.pointer, UInt32(response.status), made) == .YES
    }

    private static func make(
        _ body: Response.Body, on connection: MHDConnection, _ core: HTTPCore
    ) -> OpaquePointer? {
        switch body {
        case .none: return MHD_create_response_from_buffer(0, nil, .RESPMEM_PERSISTENT)
        case .bytes(let data):
            return data.withUnsafeBytes { bytes in
                MHD_create_response_from_buffer(
                    bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
            }
        case .permanent(let permanent):
            let bytes = permanent.buffer
            // Only read, whatever the type says.
            return MHD_create_response_from_buffer(
                bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_PERSISTENT)
        case .file(let file, let from, let count):
            guard let descriptor = try? file.duplicate() else { return nil }
            // Sent by sendfile(2) where there is no TLS, and closed with the response.
            guard let made = MHD_create_response_from_fd_at_offset64(count, descriptor, from) else {
                close(descriptor)
                return nil
            }
            return made
        // Queued as it is.
        case .made: return nil
        case .size(let count):
            return MHD_create_response_from_callback(count, 1, { _, _, _, _ in CMICROHTTPD_BROKEN }, nil, nil)
        case .pages(let pages):
            let reader = PageReader(pages, connection, core)
            return MHD_create_response_from_callback(
                cmicrohttpd_unknown_size, 16 << 10,
                { context, _, room, capacity in
                    guard let context, let room else { return CMICROHTTPD_BROKEN }
                    return Unmanaged<PageReader>.fromOpaque(context).takeUnretainedValue()
                        .read(UnsafeMutableRawBufferPointer(start: room, count: capacity))
                }, Unmanaged.passRetained(reader).toOpaque(),
                { context in
                    if let context { Unmanaged<PageReader>.fromOpaque(context).release() }
                })
        case .events(let stream):
            let reader = EventReader(stream, connection, core)
            return MHD_create_response_from_callback(
                cmicrohttpd_unknown_size, 16 << 10,
                { context, _, room, capacity in
                    guard let context, let room else { return CMICROHTTPD_END }
                    return Unmanaged<EventReader>.fromOpaque(context).takeUnretainedValue()
                        .read(UnsafeMutableRawBufferPointer(start: room, count: capacity))
                }, Unmanaged.passRetained(reader).toOpaque(),
                { context in
                    if let context { Unmanaged<EventReader>.fromOpaque(context).release() }
                })
        }
    }
}

/// Reads pages for libmicrohttpd, and lets the connection sleep while the next one is made.
private final class PageReader {
    private let pages: PagedBody
    private let connection: MHDConnection
    private let core: HTTPCore

    init(_ pages: PagedBody, _ connection: MHDConnection, _ core: HTTPCore) {
        self.pages = pages
        self.connection = connection
        self.core = core
    }

    func read(_ room: UnsafeMutableRawBufferPointer) -> ssize_t {
        let reading = pages.read(into: room) { [connection, core] in
            guard core.mayFallAsleep() else { return nil }
            connection.suspend()
            return { core.wakeUp(connection) }
        }
        return switch reading {
        case .bytes(let count): count
        case .nothing: 0
        case .end: CMICROHTTPD_END
        case .broken: CMICROHTTPD_BROKEN
        }
    }
}

/// Reads an event stream for libmicrohttpd, and lets the connection sleep where there is nothing.
private final class EventReader {
    private let stream: EventStream
    private let connection: MHDConnection
    private let core: HTTPCore

    init(_ stream: EventStream, _ connection: MHDConnection, _ core: HTTPCore) {
        self.stream = stream
        self.connection = connection
        self.core = core
    }

    func read(_ room: UnsafeMutableRawBufferPointer) -> ssize_t {
        let reading = stream.read(into: room, now: core.now()) { [connection, core] in
            guard core.mayFallAsleep() else { return nil }
            connection.suspend()
            return { core.wakeUp(connection) }
        }
        return switch reading {
        case .bytes(let count): count
        case .nothing: 0
        case .end: CMICROHTTPD_END
        }
    }
}
