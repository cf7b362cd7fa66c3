import ControlSocket
import Foundation
import ServiceMesh

/// A connection over the daemon's socket.
struct SocketConnection: DaemonConnection {
    private let client: ControlClient

    init(_ client: ControlClient) { self.client = client }

    var isOpen: Bool { client.isOpen }

    func call(method: String, params: Data, deadlineMs: Int64?) async throws -> Data {
        try await client.call(method: method, params: params, deadlineMs: deadlineMs)
    }

    func observe(
        method: String, params: Data, onUpdate: @escaping @Sendable (ControlUpdate<Data>) async throws -> Void
    ) async throws -> Data {
        try await client.observe(method: method, params: params, onUpdate: onUpdate)
    }

    func open(method: String, params: Data) async throws -> (reply: Data, file: OwnedFile) {
        let reply = try await client.callForFiles(method: method, params: params)
        guard let file = reply.files.first else {
            throw ControlError.protocolViolation("the answer to \(method) came without an open file")
        }
        return (reply.json, file)
    }

    func close() { client.close() }
}
