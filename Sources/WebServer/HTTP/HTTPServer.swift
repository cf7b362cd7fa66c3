import CLinux
import CMicroHTTPD
import Foundation
import ServiceMesh
import Synchronization

/// One connection, as libmicrohttpd's callbacks find it.
private final class ServedConnection {
    let key: UInt64
    private let core: HTTPCore
    /// What was shown in its handshake, which GnuTLS refers to for as long as the connection is there.
    private var shown: TLSIdentity?

    init(key: UInt64, core: HTTPCore) {
        self.key = key
        self.core = core
    }

    /// On the connection's own thread.
    func identity() -> TLSIdentity? {
        shown = core.identity.withLock { $0 }
        return shown
    }

    static func of(_ connection: OpaquePointer) -> ServedConnection? {
        cmicrohttpd_context(connection).map { Unmanaged<ServedConnection>.fromOpaque($0).takeUnretainedValue() }
    }
}

/// HTTP/1.1 by libmicrohttpd: threads of its own read and write, tasks do the work.
final class HTTPServer: Sendable {
    /// How often the connections are looked at.
    private static let lookMilliseconds: Int32 = 1_000
    /// After so long without an event, a stream gets a comment.
    private static let heartbeat: UInt64 = 15_000_000_000

    private struct Handle: @unchecked Sendable {
        // Sendable because it is used once, to stop, by the one task that took it out of the mutex; before that for
        // `MHD_add_connection`, which is made for other threads.
        let daemons: [OpaquePointer]
        let context: Unmanaged<HTTPCore>
    }

    let core: HTTPCore
    private let handle: Mutex<Handle?>
    private let acceptor: Acceptor
    private let wake: Int32

    /// - Parameters:
    ///   - listeners: sockets that listen; the server's from now on.
    ///   - identity: for TLS; nil for plain HTTP.
    /// - Throws: `MeshError`.
    init(listeners: [Int32], identity: TLSIdentity?, core: HTTPCore) throws {
        self.core = core
        core.identity.withLock { $0 = identity }
        // The server's threads refer to it by this until they have ended.
        let context = Unmanaged.passRetained(core)
        var callbacks = Self.callbacks(context.toOpaque())
        let limits = core.limits
        var options = cmicrohttpd_options(
            silent_seconds: UInt32(limits.silentSeconds), memory: limits.headBytes,
            retrieve: identity == nil ? nil : Self.retrieve)
        let daemons = (0..<limits.threads).compactMap { _ in cmicrohttpd_start(&options, &callbacks) }
        let handle = Handle(daemons: daemons, context: context)
        guard daemons.count == limits.threads else {
            for daemon in daemons { MHD_stop_daemon(daemon) }
            context.release()
            for listener in listeners { close(listener) }
            throw MeshError(
                .failedPrecondition,
                "The web server could not start its threads. Free some memory or descriptors and try again.")
        }
        self.handle = Mutex(handle)
        // One after the other: each thread gets as many as the others.
        let next = Atomic(0)
        acceptor = Acceptor(listeners, places: core.places) { connection in
            let turn = next.wrappingAdd(1, ordering: .relaxed).oldValue
            // One for which there is no memory later on keeps its place: that happens where the system is at its end.
            if cmicrohttpd_add(handle.daemons[turn % handle.daemons.count], connection) != .YES { core.places.give() }
        }
        wake = clinux_wake_create()
        watch()
    }

    /// Listens on these from now on, and on no others. Connections that are there stay.
    func listen(on listeners: [Int32]) { acceptor.listen(on: listeners) }

    /// Shows this to who connects from now on. A server without TLS has none, and gets none.
    func show(_ identity: TLSIdentity) { core.identity.withLock { if $0 != nil { $0 = identity } } }

    /// Looks at the connections until the server stops.
    private func watch() {
        let (core, wake) = (core, wake)
        let thread = Thread {
            _ = clinux_set_thread_name("web-watch")
            while true {
                var watched = pollfd(fd: wake, events: Int16(POLLIN), revents: 0)
                if poll(&watched, 1, Self.lookMilliseconds) > 0 { break }
                let now = core.now()
                core.table.look(now: now)
                for stream in core.table.allStreams { stream.keepAlive(now: now, after: Self.heartbeat) }
            }
            close(wake)
        }
        thread.stackSize = 256 << 10
        thread.start()
    }

    /// Ends the running requests, and returns when the threads have ended. A second call does nothing. A client that comes meanwhile is
    /// told that the server stops.
    ///
    /// The sockets that listen are closed last but one: a client that comes late is told, and does not find nobody.
    func stop() async {
        let taken = handle.withLock { handle in
            defer { handle = nil }
            return handle
        }
        guard let taken else { return }
        await core.stop()
        await acceptor.stop()
        clinux_wake(wake)
        await withCheckedContinuation { continuation in
            // It waits for the server's threads.
            Thread {
                for daemon in taken.daemons { MHD_stop_daemon(daemon) }
                taken.context.release()
                continuation.resume()
            }.start()
        }
    }

    // MARK: What libmicrohttpd calls

    private static func callbacks(_ context: UnsafeMutableRawPointer) -> cmicrohttpd_callbacks {
        cmicrohttpd_callbacks(
            context: context,
            began: { context, target, connection in
                guard let context, let target, let connection, let served = ServedConnection.of(connection) else {
                    return nil
                }
                let core = Unmanaged<HTTPCore>.fromOpaque(context).takeUnretainedValue()
                let exchange = Exchange(
                    target: String(cString: target), targetBytes: strlen(target),
                    connection: MHDConnection(pointer: connection), key: served.key, server: core)
                return Unmanaged.passRetained(exchange).toOpaque()
            },
            handle: { _, connection, url, method, version, piece, size, request in
                guard let request = request?.pointee, let method, let size else { return .NO }
                let exchange = Unmanaged<Exchange>.fromOpaque(request).takeUnretainedValue()
                var taken = false
                let bytes = size.pointee > 0 ? UnsafeRawBufferPointer(start: piece, count: size.pointee) : nil
                let goesOn = exchange.handle(
                    method: String(cString: method),
                    isWellFormed: cmicrohttpd_is_well_formed(
                        connection, method, url, version, exchange.targetBytes) != 0,
                    piece: bytes, taken: &taken)
                if taken { size.pointee = 0 }
                return goesOn ? .YES : .NO
            },
            ended: { _, _, request, _ in
                guard let exchange = request?.pointee else { return }
                request?.pointee = nil
                Unmanaged<Exchange>.fromOpaque(exchange).takeRetainedValue().end()
            },
            connection: { context, connection, place, event in
                guard let context, let connection, let place else { return }
                let core = Unmanaged<HTTPCore>.fromOpaque(context).takeUnretainedValue()
                if event == .CONNECTION_NOTIFY_STARTED {
                    let key = core.table.add(
                        socket: cmicrohttpd_socket(connection),
                        network: core.network(of: MHDConnection(pointer: connection)),
                        deadline: core.now() &+ UInt64(core.limits.headSeconds) * 1_000_000_000)
                    place.pointee = Unmanaged.passRetained(ServedConnection(key: key, core: core)).toOpaque()
                } else if let served = place.pointee {
                    place.pointee = nil
                    core.places.give()
                    // GnuTLS has given up the session by now, and what it showed.
                    core.table.remove(Unmanaged<ServedConnection>.fromOpaque(served).takeRetainedValue().key)
                }
            })
    }

    /// What is shown to who has connected just now. No context comes with it but the connection.
    private static let retrieve:
        @convention(c) (
            gnutls_session_t?, UnsafePointer<gnutls_datum_t>?, Int32, UnsafePointer<gnutls_pk_algorithm_t>?, Int32,
            UnsafeMutablePointer<UnsafeMutablePointer<gnutls_pcert_st>?>?, UnsafeMutablePointer<UInt32>?,
            UnsafeMutablePointer<gnutls_privkey_t?>?
        ) -> Int32 = { session, _, _, _, _, chain, count, key in
            guard let session, let chain, let count, let key, let connection = cmicrohttpd_of_session(session),
                let identity = ServedConnection.of(connection)?.identity()
            else { return -1 }
            identity.show(chain, count, key)
            return 0
        }
}
