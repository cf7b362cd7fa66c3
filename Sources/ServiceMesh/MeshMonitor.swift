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
        let found = await mesh?.health() ?? []
        // A service that was asked by a call that is over has answered nothing about itself.
        try Task.checkCancellation()
        return MeshHealth(services: found.map { MeshHealth.Service(name: $0.service, problem: $0.problem) })
    }
}

/// Counts and latencies since the start. Not for deciding anything: the numbers have moved on when they arrive.
public struct GetMeshStatistics: HandledMessage {
    public typealias Reply = MeshStatistics
    public static let method = "mesh.stats"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    public static let summary = "Counts, latencies and load of every message and service since the start."
    public init() {}
    public func perform(on service: MeshMonitor) async throws -> MeshStatistics { await service.statistics() }
}

/// Asks every service for an answer.
public struct CheckMeshHealth: HandledMessage {
    public typealias Reply = MeshHealth
    public static let method = "mesh.health"
    public static let access = Role.kid
    public static let kind = MessageKind.read
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

public struct MeshStatistics: Codable, Sendable {
    public struct Service: Codable, Sendable {
        public let name: String
        public let running: Int
        public let waiting: Int
        public let concurrencyLimit: Int
        public let queueLimit: Int
    }

    /// For one message, always: admitted = completed + failed + cancelled + inFlight. `refused` were not admitted.
    public struct Message: Codable, Sendable {
        public let method: String
        public let service: String
        public let admitted: Int
        public let completed: Int
        public let failed: Int
        public let cancelled: Int
        public let inFlight: Int
        public let refused: Int
        /// Microseconds, of calls that have ended.
        public let p50: Double
        public let p99: Double

        init(endpoint: any RoutedEndpoint) {
            let counts = endpoint.gate.metrics.snapshot
            method = endpoint.method
            service = endpoint.serviceName
            admitted = counts.admitted
            completed = counts.completed
            failed = counts.failed
            cancelled = counts.cancelled
            inFlight = counts.admitted - counts.completed - counts.failed - counts.cancelled
            refused = counts.refused
            p50 = Double(counts.latency.percentile(0.5)) / 1000
            p99 = Double(counts.latency.percentile(0.99)) / 1000
        }
    }

    public let services: [Service]
    public let messages: [Message]
}
