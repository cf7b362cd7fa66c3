import ControlSocket
import Foundation
import ServiceMesh

/// A connection to the daemon as the commands need it: JSON in, JSON out. The socket's client stands behind it,
/// a scripted one in tests.
package protocol LibraryConnection: Sendable {
    /// Sends one request and returns its result as it came.
    /// - Throws: ``CommandFailure``.
    func call(_ method: String, params: Data) async throws -> Data

    /// The same for a reply with open files, which stand beside its JSON.
    func callForFiles(_ method: String, params: Data) async throws -> ControlReply

    /// The same for a request that sends notifications before its result. `onUpdate` gets each; where it throws, the
    /// request is cancelled and the error passed on.
    func watch(
        _ method: String, params: Data, onUpdate: @escaping @Sendable (ObservedUpdate) async throws -> Void
    ) async throws -> Data

    /// Ends the connection.
    func close() async
}

/// A reply as a value, and as it came.
package struct Answer<Value: Sendable>: Sendable {
    package let value: Value
    package let json: Data
}

extension LibraryConnection {
    package func callForFiles(_ method: String, params: Data) async throws -> ControlReply {
        ControlReply(json: try await call(method, params: params))
    }

    /// As ``watch(_:params:onUpdate:)`` for who needs the values alone.
    package func observe(
        _ method: String, params: Data, onUpdate: @escaping @Sendable (Data) async -> Void
    ) async throws -> Data {
        try await watch(method, params: params) { await onUpdate($0.value) }
    }

    package func send<M: Message>(_ message: M) async throws -> Answer<M.Reply> {
        let params = try JSONText.encode(message)
        let reply =
            M.carriesFiles
            ? try await callForFiles(M.method, params: params)
            : ControlReply(json: try await call(M.method, params: params))
        let value = try Reply.decode(M.Reply.self, from: reply, of: M.method)
        return Answer(value: value, json: reply.json)
    }
}

package enum Reply {
    package static func decode<Value: Decodable>(_ type: Value.Type, from json: Data, of method: String) throws -> Value
    {
        try decode(type, from: ControlReply(json: json), of: method)
    }

    package static func decode<Value: Decodable>(
        _ type: Value.Type, from reply: ControlReply, of method: String
    ) throws -> Value {
        do {
            return try OwnedFiles(reply.files).decode(type, from: reply.json)
        } catch {
            throw CommandFailure.local(
                "The daemon's answer to \(method) is not understood. Are the daemon and this program of one version? "
                    + "Compare: smilepile ping")
        }
    }
}
