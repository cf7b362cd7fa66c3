import Foundation
import ServiceMesh

/// Serves a mesh over a Unix socket: JSON-RPC 2.0, one object a line (<doc:Protocol>).
///
/// ```swift
/// let listener = try ListeningSocket(at: ControlAddress.resolve())
/// let server = try ControlServer(mesh: mesh, listener: listener)
/// …
/// await server.drain()           // no new work
/// await mesh.stop()              // jobs get their receipts, running requests finish
/// await server.close()           // replies go out, connections end, the socket is unlinked
/// ```
///
/// One thread waits for all sockets and reads; each request runs as a task and writes its reply itself, without
/// waiting. A thread for each connection was rejected: 128 stacks, and no bound on what a slow reader holds.
public final class ControlServer: Sendable {
    public struct Configuration: Sendable {
        /// The program's version, for `rpc.hello`.
        public var version: String
        /// What to call the library, for `rpc.hello`: its folder.
        public var library: String
        public var limits: ControlLimits
        /// The role of a new connection, at most `parent`; nil refuses it. Called on the socket's thread: it must
        /// not block.
        public var roleForPeer: @Sendable (Peer) -> Role?
        /// Methods whose success gives the connection that called them a role for a while: how a PIN turns a kid's
        /// connection into a parent's. Whether the PIN is right is the service's matter alone.
        public var grants: [String: HeldRole.Grant]
        /// Methods whose success leaves the connection that called them no more than this role.
        public var lowers: [String: Role]
        /// Methods whose success says who a connection is for that came through the door.
        public var identifications: [String: Identification] = [:]
        /// Told in a sentence what goes wrong with connections; called on the socket's thread: it must not block.
        public var faultLog: @Sendable (String) -> Void = { _ in }
        /// Nanoseconds by which what is granted ends; for tests.
        var roleClock: @Sendable () -> UInt64 = { MonotonicClock.withSleep() }

        public init(
            version: String = "0", library: String = "", limits: ControlLimits = ControlLimits(),
            grants: [String: HeldRole.Grant] = [:], lowers: [String: Role] = [:],
            roleForPeer: @escaping @Sendable (Peer) -> Role? = { $0.standardRole }
        ) {
            self.version = version
            self.library = library
            self.limits = limits
            self.grants = grants
            self.lowers = lowers
            self.roleForPeer = roleForPeer
        }
    }

    /// How a connection that came through the door becomes somebody's.
    public struct Identification: Sendable {
        /// The name of who it is for, from a method's reply; nil where that has none.
        let name: @Sendable (Data) -> String?
        /// The role that the client with this name begins with at this moment, and the most that it can be granted; nil for none. Called
        /// with the connection's lock held, so that nobody is let in who has just been forgotten, or as more than the mode allows: it must
        /// not block.
        let standing: @Sendable (String) -> HeldRole.Standing?

        public init(
            name: @escaping @Sendable (Data) -> String?, standing: @escaping @Sendable (String) -> HeldRole.Standing?
        ) {
            self.name = name
            self.standing = standing
        }
    }

    private let core: ServerCore
    private let listener: ListeningSocket
    private let door: ListeningSocket?

    /// Starts to serve: connections are accepted from now on.
    /// - Parameters:
    ///   - mesh: started already.
    ///   - door: another entrance, for a program that asks on behalf of others: its connections have the role
    ///     ``/ServiceMesh/Role/nobody`` until a service knows who they are for (``Configuration/identifications``).
    /// - Throws: ``ControlError/system(operation:errno:)``.
    public init(
        mesh: Mesh, listener: ListeningSocket, door: ListeningSocket? = nil,
        configuration: Configuration = Configuration()
    ) throws {
        let core = try ServerCore(mesh: mesh, configuration: configuration)
        let entrances =
            [Entrance(listener: listener, isDoor: false)] + (door.map { [Entrance(listener: $0, isDoor: true)] } ?? [])
        let epoll = try Reactor.makeEpoll(core: core, entrances: entrances)
        self.core = core
        self.listener = listener
        self.door = door
        ServingThreads(
            reactor: Reactor(core: core, entrances: entrances, epoll: epoll), executor: core.executor
        ).start()
    }

    deinit {
        core.submit { $0.finish() }
        withdraw()
    }

    private func withdraw() {
        listener.withdraw()
        door?.withdraw()
    }

    /// The path of the socket, for messages.
    public var path: String { listener.path }

    /// Lowers the roles of open connections, as switching to kids mode does. New connections ask `roleForPeer`. When this
    /// returns, no request that arrives gets the old role, and requests that read or observe with it are being ended. A request
    /// that writes is left to its end, so that its reply can say what was done.
    public func lowerRoles(_ fall: RoleFall) async {
        await core.perform { $0.lowerRoles(fall) }
    }

    /// Ends the requests of connections whose role's time is over: for tests, whose clocks wake no thread.
    func endForbidden() async { await core.perform { $0.endForbidden() } }

    /// Looks for the socket's name: for tests, which do not wait for its time.
    func restoreName() async { await core.perform { $0.restoreName() } }

    /// Accepts no connection and starts no request from now on: each that comes is answered with `unavailable`. A request
    /// that runs goes on and is answered; its client can still cancel it, and ask with `rpc.ping` whether the daemon is
    /// there.
    public func drain() async {
        withdraw()
        await core.perform { $0.drain() }
    }

    /// Cancels requests that still run (observations, which would never end), waits until every reply has gone out
    /// or its reader has stalled for too long, and ends the connections and the thread. May be called twice.
    public func close() async {
        withdraw()
        await core.perform { $0.finish() }
        await core.ended()
    }
}
