import Foundation
import ServiceMesh

/// A request that this program got from somewhere else, to be asked of the daemon over a connection of its own.
///
/// Read as strictly as the daemon reads, so that nothing gets through that the daemon would understand otherwise.
///
/// ```swift
/// let request = try RelayedRequest(body)
/// let reply = request.reply(try await client.call(method: request.method, params: request.params))
/// ```
public struct RelayedRequest: Sendable {
    /// Not a request: the reply that says so.
    public struct Fault: Error {
        public let reply: Data
    }

    private let line: RequestLine

    /// - Parameter body: one JSON-RPC request, without or with line ends.
    /// - Throws: ``Fault``.
    public init(_ body: Data) throws(Fault) {
        do throws(RequestFault) {
            let bytes = Array(body)
            line = try RequestLine(bytes.span)
            if line.id == nil {
                throw RequestFault(.invalidRequest, "A request has an id: a string or an integer.")
            }
        } catch {
            throw Fault(reply: Data(OutgoingLine.fault(error)))
        }
    }

    public var method: String { line.method }
    /// A JSON object; empty where the request has none.
    public var params: Data { line.params }
    public var deadlineMs: Int64? { line.deadlineMilliseconds }

    /// The reply, with the id of the request that it answers.
    public func reply(_ result: Data) -> Data { line.id.map { Data(OutgoingLine.result($0, result)) } ?? Data() }

    public func reply(_ error: MeshError) -> Data { Data(OutgoingLine.error(line.id, error)) }

    /// The reply where the daemon does not have the method, with JSON-RPC's own code for that.
    public func reply(unknownMethod error: MeshError) -> Data {
        Data(OutgoingLine.fault(RequestFault(.methodNotFound, error.message, id: line.id)))
    }
}

/// An error as the socket writes it.
public enum ErrorObject {
    /// `{"error":{"code":…,"message":…,"data":{"status":…,"retryable":…}}}`: a reply without what names its request.
    public static func json(_ error: MeshError) -> Data {
        let data = error.details.merging(
            ["status": .string(error.status.rawValue), "retryable": .bool(error.isRetryable)], uniquingKeysWith: { $1 })
        let object: JSONValue = .object([
            "error": .object([
                "code": .integer(Int64(error.status.code)), "message": .string(error.message), "data": .object(data),
            ])
        ])
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(object)) ?? Data(OutgoingLine.error(nil, MeshError(error.status, error.message)))
    }
}
