import ServiceMesh

/// Greets the daemon and tells what it is. Optional: a connection works without it. Naming a role lowers the
/// connection's own to it, for a client that hands the connection on to a child. Errors: `invalid_argument`.
public struct Hello: Message {
    public typealias Reply = HelloReply
    public static let method = "rpc.hello"
    public static let access = Role.nobody
    public static let kind = MessageKind.read
    public static let summary = "What answers here: version, methods' version, limits, process; may lower the role."
    /// `kid`, `looker` or `parent`; absent leaves the role as it is.
    public let role: String?
    public init(role: Role? = nil) { self.role = role.map { "\($0)" } }
}

public struct HelloReply: Codable, Sendable, Equatable {
    public struct Limits: Codable, Sendable, Equatable {
        public let lineBytes: Int
        public let resultBytes: Int
        public let requestsInFlight: Int
        public let connections: Int

        init(_ limits: ControlLimits) {
            lineBytes = limits.lineBytes
            resultBytes = limits.resultBytes
            requestsInFlight = limits.requestsInFlight
            connections = limits.connections
        }
    }

    /// The program's version.
    public let version: String
    /// Changes whenever a method, its params or its result change.
    public let methodsVersion: String
    /// What the daemon calls the library that it keeps: its folder.
    public let library: String
    public let pid: Int32
    /// The connection's role from now on.
    public let role: String
    /// The highest role that a PIN gives this connection: a device that is a child's or a looker's gets no more by it.
    /// Absent from daemons that know no such.
    public let ceiling: String?
    public let limits: Limits
}

/// Answers at once, from the socket's own thread. Not a check of the services: that is `mesh.health`.
public struct Ping: Message {
    public typealias Reply = Done
    public static let method = "rpc.ping"
    public static let access = Role.nobody
    public static let kind = MessageKind.read
    public static let summary = "Answers at once; whether the services can work is told by mesh.health."
    public init() {}
}

/// Every method with its doc line, role, kind, and JSON Schemas.
public struct Discover: Message {
    public typealias Reply = DiscoverReply
    public static let method = "rpc.discover"
    public static let access = Role.nobody
    public static let kind = MessageKind.read
    public static let summary = "Every method: what it does, who may call it, and JSON Schemas of params and result."
    public init() {}
}

public struct DiscoverReply: Codable, Sendable {
    public let methods: [MessageDescription]
}
