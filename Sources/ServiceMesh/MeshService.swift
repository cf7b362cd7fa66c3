import Synchronization

/// An actor that answers messages. It declares them in one visible list and is started, asked for its health
/// and stopped by the mesh.
///
/// ```swift
/// extension CategoryStore: MeshService {
///     static let serviceName = "CategoryStore"
///     static var messages: MessageList<CategoryStore> {
///         ListCategories.self
///         AddCategory.self
///     }
/// }
/// ```
public protocol MeshService: Actor {
    /// As it appears in `mesh.stats` and in errors.
    static var serviceName: String { get }
    @MessageListBuilder<Self> static var messages: MessageList<Self> { get }
    /// How many calls run and wait; see ``AdmissionLimit``.
    static var admission: AdmissionLimit { get }
    /// Makes the service ready. The services before it in the mesh's list are ready already.
    func start(on mesh: Mesh) async throws
    /// Lets go of what it holds. No call is running any more; the services before it still work.
    func stop() async
    /// Returns when the service can do its work, throws what is wrong otherwise.
    func checkHealth() async throws
}

extension MeshService {
    public static var admission: AdmissionLimit { .standard }
    public func start(on mesh: Mesh) async throws {}
    public func stop() async {}
    public func checkHealth() async throws {}
}

/// What a mesh gives to every message of one service.
struct ServiceHome: Sendable {
    let admission: Admission
    let anchor: MeshAnchor
    let clock: MeshClock
    let numbers: MessageNumbers
    let faults: FaultPlan?

    /// For one more message of this service: its number in the service, and in the mesh.
    func nextNumbers() -> (inService: UInt8, inMesh: UInt32) { numbers.next(of: ObjectIdentifier(admission)) }
}

/// Numbers for messages, because a running call has no room for more than a number.
final class MessageNumbers: Sendable {
    private let used = Mutex((inMesh: UInt32(0), inService: [ObjectIdentifier: UInt8]()))

    /// Of 255 messages at most for each service, which a program that lists more finds out at its first start.
    func next(of service: ObjectIdentifier) -> (inService: UInt8, inMesh: UInt32) {
        used.withLock { used in
            used.inMesh += 1
            used.inService[service, default: 0] += 1
            return (used.inService[service, default: 0], used.inMesh)
        }
    }
}

/// The messages that one service answers.
public struct MessageList<Service: MeshService>: Sendable {
    let registrations: [@Sendable (Service, ServiceHome) -> any Endpoint]
}

/// Builds a ``MessageList`` from message types and checks, when it is compiled, that each belongs to the service.
@resultBuilder
public enum MessageListBuilder<Service: MeshService> {
    public static func buildExpression<M: HandledMessage>(
        _ message: M.Type
    ) -> MessageList<Service> where M.Service == Service {
        MessageList(registrations: [{ CallEndpoint<M>(service: $0, home: $1) }])
    }

    public static func buildExpression<M: HandledObservation>(
        _ message: M.Type
    ) -> MessageList<Service> where M.Service == Service {
        MessageList(registrations: [{ ObservationEndpoint<M>(service: $0, home: $1) }])
    }

    public static func buildBlock(_ lists: MessageList<Service>...) -> MessageList<Service> {
        MessageList(registrations: lists.flatMap(\.registrations))
    }
}
