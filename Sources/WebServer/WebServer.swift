import Executors
import Foundation
import ServiceMesh

/// A socket on which a web server is going to listen: made before the process gives up its rights, or by another one that has kept them.
public struct WebListener: Sendable {
    /// With the port that it got.
    public let address: ListeningAddress
    /// The server's that gets the listener.
    public let socket: Int32

    /// - Throws: `MeshError` with the status `failed_precondition`.
    public init(_ address: ListeningAddress) throws {
        let (socket, port) = try address.listen(backlog: 511)
        self.socket = socket
        self.address = address.with(port: port)
    }

    /// Takes over a socket that listens already. Nil for any other, which is closed.
    public init?(adopting socket: Int32) {
        guard let address = ListeningAddress(listener: socket) else {
            close(socket)
            return nil
        }
        (self.socket, self.address) = (socket, address)
    }
}

/// HTTP in front of a daemon's messages: for browsers that are paired, members of groups, and visitors of links, and for nobody else.
///
/// ```swift
/// let connector = try Connector(socket: path)
/// let listener = try WebListener(.standard)
/// let missing = ServerCell.enter()
/// let door = Door(connector, onLoss: { exit(1) })
/// let server = try WebServer(on: [listener], files: PageFiles.all, connect: { try await door.connect() })
/// await server.stop()
/// ```
///
/// What may be asked, by whom and in which shape is in <doc:Interface>. The daemon says whether a client may
/// have it; whether a browser may ask at all is decided here.
public final class WebServer: Sendable {
    /// Of the first listener that it was given; the standard one where it was given none.
    public let address: ListeningAddress
    private let http: HTTPServer
    private let devices: Devices
    private let disk: BlockingPool
    private let pictures: KeptPictures
    private let shared: SharedConnection
    private let members: SharedConnection
    private let programs: SharedConnection
    private let links: LinkVisitors

    /// - Parameters:
    ///   - listeners: the server's from now on. None where others are to come (``listen(on:)``).
    ///   - port: that browsers see, where there is no listener yet.
    ///   - names: under which browsers reach it, beside `localhost` and addresses in digits.
    ///   - files: that every client may have.
    ///   - accessLog: for the requests of other machines.
    ///   - whereabouts: what devices are told of where others reach the page.
    ///   - connect: makes a connection to the daemon's door; called for each device, and again where one has ended.
    /// - Throws: `MeshError`.
    public init(
        on listeners: [WebListener], port: UInt16 = ListeningAddress.standardPort, tls: TLSIdentity? = nil,
        names: [String] = [], files: [StaticFile] = [], limits: HTTPLimits = HTTPLimits(), accessLog: AccessLog? = nil,
        whereabouts: Whereabouts = Whereabouts(),
        connect: @escaping @Sendable () async throws -> any DaemonConnection
    ) throws {
        address = listeners.first?.address ?? ListeningAddress.standard.with(port: port)
        pictures = KeptPictures(seconds: limits.keptSeconds)
        shared = SharedConnection(connect: connect)
        members = SharedConnection(connect: connect)
        programs = SharedConnection(connect: connect)
        let table = ConnectionTable(most: limits.connections, mostOfNetwork: limits.connectionsOfAddress)
        devices = Devices(pictures: pictures, shared: shared, onForget: table.cut(token:), connect: connect)
        links = LinkVisitors(shared: shared, table: table)
        disk = BlockingPool(name: "web-files", threads: 2)
        let router = Router(
            safety: Safety(names: names), files: files, limits: limits,
            cookie: TokenCookie(port: address.port, isSecure: tls != nil), devices: devices,
            pictures: pictures, disk: disk, members: members, table: table, links: links, programs: programs,
            whereabouts: whereabouts, isSecure: tls != nil)
        let core = HTTPCore(limits: limits, table: table, headers: Safety.headers, accessLog: accessLog) {
            router.answer($0)
        }
        http = try HTTPServer(listeners: listeners.map(\.socket), identity: tls, core: core)
        links.start()
        Task { [devices] in await devices.start() }
    }

    /// Listens on these from now on, and on no others. Who is connected stays so.
    public func listen(on listeners: [WebListener]) { http.listen(on: listeners.map(\.socket)) }

    /// Shows this to who connects from now on. Who is connected stays so.
    public func show(_ identity: TLSIdentity) { http.show(identity) }

    /// Takes no client in any more, ends the running requests, and returns when none runs.
    public func stop() async {
        // The connections to the daemon first: then no request waits for it.
        pictures.stop()
        links.stop()
        await devices.stop()
        await shared.stop()
        await members.stop()
        await programs.stop()
        await http.stop()
        await disk.shutDown()
    }
}
