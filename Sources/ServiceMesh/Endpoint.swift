import Foundation
import Synchronization

/// Where one kind of message arrives: its service, that service's admission, its own metrics. What is typed
/// inside is reached from outside either by the message's type (``Mesh/send(_:deadline:)``) or by its name, with
/// JSON on both sides.
public protocol Endpoint: AnyObject, Sendable {
    var method: String { get }
    var access: Role { get }
    var kind: MessageKind { get }
    var replySize: ReplySize { get }
    var serviceName: String { get }
    /// Built on demand: schemas cost some microseconds each and a daemon may never be asked for them.
    var description: MessageDescription { get }

    /// Performs one call from JSON.
    /// - Parameters:
    ///   - params: a JSON object with the message's properties; empty for none.
    ///   - context: whose call it is.
    ///   - files: takes the open files of the reply; nil for a caller that wants none.
    ///   - onUpdate: for observations, takes each change; the next one is not fetched before it returns, and what came
    ///     meanwhile is reduced to the newest.
    /// - Returns: the reply as JSON.
    /// - Throws: ``InvalidParams`` for params that are not the message's, else ``MeshError``.
    func call(
        params: Data, context: CallContext, files: OwnedFiles?,
        onUpdate: @escaping @Sendable (PendingUpdate) async throws -> Void
    ) async throws -> Data
}

extension Endpoint {
    /// The same without open files.
    public func call(
        params: Data, context: CallContext, onUpdate: @escaping @Sendable (PendingUpdate) async throws -> Void
    ) async throws -> Data {
        try await call(params: params, context: context, files: nil, onUpdate: onUpdate)
    }
}

/// A change that is not JSON yet: for a client that does not read, none is made.
public struct PendingUpdate: Sendable {
    private let sequence: UInt64
    private let overflowed: Bool
    private let encode: @Sendable () throws -> Data

    init<Value: Encodable>(_ change: Change<Value>) {
        sequence = change.sequence
        overflowed = change.overflowed
        encode = { try change.encoding.data { try JSON.encode(change.value) } }
    }

    /// - Throws: ``MeshError`` `internal` where the value cannot be written.
    public func encoded() throws -> ObservedUpdate {
        ObservedUpdate(sequence: sequence, value: try encode(), overflowed: overflowed)
    }
}

/// A change on its way to a client: the value as JSON, its place in the order of changes, and whether older
/// values were dropped before it.
public struct ObservedUpdate: Sendable {
    public let sequence: UInt64
    public let value: Data
    public let overflowed: Bool

    public init(sequence: UInt64, value: Data, overflowed: Bool) {
        self.sequence = sequence
        self.value = value
        self.overflowed = overflowed
    }
}

/// Params that do not make the message: a sentence that names the property.
public struct InvalidParams: Error, Sendable, CustomStringConvertible {
    public let description: String
}

/// One message in `rpc.discover`.
public struct MessageDescription: Codable, Sendable, Equatable {
    public let name: String
    public let summary: String
    public let role: String
    public let kind: MessageKind
    /// JSON Schema of the params object, of the result, and of each change of an observation.
    public let params: JSONValue
    public let result: JSONValue
    public let update: JSONValue?
}

protocol RoutedEndpoint: Endpoint {
    /// The message's type, and its `Route`.
    var messageType: ObjectIdentifier { get }
    var anyRoute: any AnyObject & Sendable { get }
    var gate: Gate { get }
    /// The job that these params stand for, or nil where the message starts none.
    func jobBody(params: Data) throws -> JobBody?
    /// The message's type, where it starts a job.
    var job: (any HandledJob.Type)? { get }
}

extension RoutedEndpoint {
    var method: String { gate.method }
    var access: Role { gate.access }
    func jobBody(params: Data) throws -> JobBody? { nil }
    var job: (any HandledJob.Type)? { nil }
}

/// The typed way to a message's service: all that ``Mesh/send(_:deadline:)`` needs in the caller's own module.
@usableFromInline
final class Route<M: Message, Service: MeshService>: Sendable {
    @usableFromInline let service: Service
    @usableFromInline let gate: Gate

    init(service: Service, home: ServiceHome) {
        self.service = service
        gate = Gate(method: M.method, access: M.access, service: ObjectIdentifier(service), home: home)
    }
}

final class CallEndpoint<M: HandledMessage>: RoutedEndpoint {
    private let route: Route<M, M.Service>
    private let parameterNames = ParameterNames(of: M.self)

    init(service: M.Service, home: ServiceHome) { route = Route(service: service, home: home) }

    var messageType: ObjectIdentifier { ObjectIdentifier(M.self) }
    var anyRoute: any AnyObject & Sendable { route }
    var gate: Gate { route.gate }
    var kind: MessageKind { M.kind }
    var replySize: ReplySize { M.replySize }
    var serviceName: String { M.Service.serviceName }
    var job: (any HandledJob.Type)? { M.self as? any HandledJob.Type }

    var description: MessageDescription {
        MessageDescription(
            name: M.method, summary: M.summary, role: "\(M.access)", kind: M.kind,
            params: SchemaProbe.schema(of: M.self), result: SchemaProbe.schema(of: M.Reply.self), update: nil)
    }

    func call(
        params: Data, context: CallContext, files: OwnedFiles?,
        onUpdate: @escaping @Sendable (PendingUpdate) async throws -> Void
    ) async throws -> Data {
        try gate.authorise(context)
        let message = try ParamsDecoding.decode(M.self, from: params, allowing: parameterNames.value)
        if let refusal = Authorisation.refusal(of: message, in: context) { throw refusal }
        let reply = try await context.mesh.send(message, in: context)
        return try JSON.encode(reply, files: files)
    }

    func jobBody(params: Data) throws -> JobBody? {
        let message = try ParamsDecoding.decode(M.self, from: params, allowing: parameterNames.value)
        return (message as? any HandledJob).flatMap { body(of: $0) }
    }

    private func body<J: HandledJob>(of message: J) -> JobBody? {
        (route.service as? J.Service).map { message.body(on: $0) }
    }
}

final class ObservationEndpoint<M: HandledObservation>: RoutedEndpoint {
    private let route: Route<M, M.Service>
    private let parameterNames = ParameterNames(of: M.self)

    init(service: M.Service, home: ServiceHome) { route = Route(service: service, home: home) }

    var messageType: ObjectIdentifier { ObjectIdentifier(M.self) }
    var anyRoute: any AnyObject & Sendable { route }
    var gate: Gate { route.gate }
    var kind: MessageKind { M.kind }
    var replySize: ReplySize { M.replySize }
    var serviceName: String { M.Service.serviceName }

    var description: MessageDescription {
        MessageDescription(
            name: M.method, summary: M.summary, role: "\(M.access)", kind: M.kind,
            params: SchemaProbe.schema(of: M.self), result: SchemaProbe.schema(of: M.Reply.self),
            update: SchemaProbe.schema(of: M.Update.self))
    }

    func call(
        params: Data, context: CallContext, files: OwnedFiles?,
        onUpdate: @escaping @Sendable (PendingUpdate) async throws -> Void
    ) async throws -> Data {
        try gate.authorise(context)
        let message = try ParamsDecoding.decode(M.self, from: params, allowing: parameterNames.value)
        let reply = try await context.mesh.observe(message, in: context) { try await onUpdate(PendingUpdate($0)) }
        return try JSON.encode(reply)
    }
}

/// JSON as the socket and the job store speak it.
enum JSON {
    /// - Parameter files: takes the open files in it, which are null without.
    static func encode<T: Encodable>(_ value: T, files: OwnedFiles? = nil) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        if let files { encoder.userInfo[OwnedFiles.key] = files }
        do {
            return try encoder.encode(value)
        } catch {
            throw MeshError(.internal, "The answer could not be written as JSON: \(error). Please report it.")
        }
    }

    static func value<T: Encodable>(of value: T) throws -> JSONValue {
        try JSONDecoder().decode(JSONValue.self, from: encode(value))
    }
}

/// The names of a message's parameters, looked for when the first call by name comes: making them takes longer than all
/// else about an endpoint, and most are never called so.
private final class ParameterNames: Sendable {
    private let message: any Message.Type
    private let known = Mutex<Set<String>?>(nil)

    init(of message: any Message.Type) { self.message = message }

    var value: Set<String> {
        known.withLock { known in
            if let known { return known }
            let names = ParamsDecoding.names(of: message)
            known = names
            return names
        }
    }
}
