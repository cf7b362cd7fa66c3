/// The mesh about itself: counts and latencies per message, load and health per service.
public actor MeshMonitor: MeshService {
    public static let serviceName = "MeshMonitor"
    public static var messages: MessageList<MeshMonitor> {
        GetMeshStatistics.self
        CheckMeshHealth.self
    }

    private unowned var mesh: Mesh?

    public func start(on mesh: Mesh) { self.mesh = mesh }

    func statistics() -> MeshStatistics { mesh?.statistics ?? MeshStatistics(services: [], messages: []) }

    func health() async throws -> MeshHealth {
        let health = await mesh?.health() ?? MeshHealth(services: [])
        // Who was called off while it asked has learned nothing.
        try Task.checkCancellation()
        return health
    }
}

/// Counts and latencies since the start. Not for deciding anything: the numbers have moved on when they arrive.
public struct GetMeshStatistics: HandledMessage {
    public typealias Reply = MeshStatistics
    public static let method = "mesh.stats"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    public static let summary =
        "Counts and latencies of every message since the start, what runs now, for how long, and what it waits for."
    public init() {}
    public func perform(on service: MeshMonitor) async throws -> MeshStatistics { await service.statistics() }
}

/// Asks every service for an answer.
public struct CheckMeshHealth: HandledMessage {
    public typealias Reply = MeshHealth
    public static let method = "mesh.health"
    public static let access = Role.kid
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let summary = "Whether every service can do its work, and what is wrong where one cannot."
    public init() {}
    public func perform(on service: MeshMonitor) async throws -> MeshHealth { try await service.health() }
}

public struct MeshHealth: Codable, Sendable {
    public struct Service: Codable, Sendable {
        public let name: String
        public let problem: MeshError?
    }
    public let services: [Service]
    public var isHealthy: Bool { services.allSatisfy { $0.problem == nil } }
}
