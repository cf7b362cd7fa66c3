import CLinux
import CMicroHTTPD
import Foundation
import ServiceMesh
import Synchronization

/// A key and the certificate chain that belongs to it, as PEM.
public struct TLSIdentity: Sendable {
    let key: String
    let certificate: String

    public init(key: String, certificate: String) {
        self.key = key
        self.certificate = certificate
    }
}

/// HTTP/1.1 by libmicrohttpd: threads of its own read and write, tasks do the work.
final class HTTPServer: Sendable {
    /// How often the connections are looked at.
    private static let lookMilliseconds: Int32 = 1_000
    /// Connections that are closed already, and whose place libmicrohttpd has not given back yet.
    private static let connectionsThatGo = 64
    /// After so long without an event, a stream gets a comment.
    private static let heartbeat: UInt64 = 15_000_000_000

    private struct Handle: @unchecked Sendable {
        // Sendable because it is used once, to stop, by the one task that took it out of the mutex.
        let daemon: OpaquePointer
        let context: Unmanaged<HTTPCore>
    }

    let core: HTTPCore
    private let handle: Mutex<Handle?>
    private let wake: Int32

    /// - Parameter listener: a socket that listens; the server's from now on.
    /// - Throws: `MeshError`.
    init(listener: Int32, tls: TLSIdentity?, core: HTTPCore) throws {
        self.core = core
        // The server's threads refer to it by this until they have ended.
        let context = Unmanaged.passRetained(core)
        var callbacks = Self.callbacks(context.toOpaque())
        let limits = core.limits
        var options = cmicrohttpd_options(
            listener: listener, threads: UInt32(limits.threads),
            // The table keeps to the limit, and needs the new one to decide which goes.
            connections: UInt32(limits.connections + Self.connectionsThatGo),
            silent_seconds: UInt32(limits.silentSeconds),
            memory: limits.headBytes, key: nil, certificate: nil)
        let daemon: OpaquePointer?
        if let tls {
            daemon = tls.key.withCString { key in
                tls.certificate.withCString { certificate in
                    (options.key, options.certificate) = (key, certificate)
                    return cmicrohttpd_start(&options, &callbacks)
                }
            }
        } else {
            daemon = cmicrohttpd_start(&options, &callbacks)
        }
        guard let daemon else {
            context.release()
            close(listener)
            throw MeshError(
                .failedPrecondition,
                tls == nil
                    ? "The web server could not start its threads. Free some memory or descriptors and try again."
                    : "The web server could not start with this certificate and key. Do they belong together, as PEM?")
        }
        handle = Mutex(Handle(daemon: daemon, context: context))
        wake = clinux_wake_create()
        watch()
    }

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
    /// Not `MHD_quiesce_daemon`, which would close the door first: in 0.9.75 it takes the listener from the epoll sets of
    /// the threads while each of them does so too, and the thread that comes second (or, with the listener closed then, any)
    /// ends the whole program.
    func stop() async {
        let taken = handle.withLock { handle in
            defer { handle = nil }
            return handle
        }
        guard let taken else { return }
        await core.stop()
        clinux_wake(wake)
        await withCheckedContinuation { continuation in
            // It waits for the server's threads, and closes the listener.
            Thread {
                MHD_stop_daemon(taken.daemon)
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
                guard let context, let target, let connection else { return nil }
                let core = Unmanaged<HTTPCore>.fromOpaque(context).takeUnretainedValue()
                let exchange = Exchange(
                    target: String(cString: target), targetBytes: strlen(target),
                    connection: MHDConnection(pointer: connection), key: HTTPServer.key(of: connection), server: core)
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
                    place.pointee = UnsafeMutableRawPointer(bitPattern: UInt(key))
                } else {
                    core.table.remove(UInt64(UInt(bitPattern: place.pointee)))
                }
            })
    }

    /// The connection's entry in the table.
    private static func key(of connection: OpaquePointer) -> UInt64 {
        UInt64(UInt(bitPattern: cmicrohttpd_context(connection)))
    }
}
