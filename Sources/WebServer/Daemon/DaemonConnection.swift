import ControlSocket
import Foundation
import ServiceMesh

/// A connection to the daemon, as far as the web server needs one.
public protocol DaemonConnection: Sendable {
    /// Whether it has not ended, as far as this side knows.
    var isOpen: Bool { get }
    /// Asks by name. `params` is a JSON object, or empty for none. Cancelling the task cancels the request.
    /// - Throws: `MeshError`, or `ControlError` where the connection fails.
    func call(method: String, params: Data, deadlineMs: Int64?) async throws -> Data
    /// Asks, and gets each change until the observation ends.
    func observe(
        method: String, params: Data, onUpdate: @escaping @Sendable (ControlUpdate<Data>) async throws -> Void
    ) async throws -> Data
    /// Asks for something that comes with an open file.
    func open(method: String, params: Data) async throws -> (reply: Data, file: OwnedFile)
    /// Requests that still wait for a reply fail.
    func close()
}

extension DaemonConnection {
    /// Asks by name with parameters of ours.
    func call(_ method: String, _ params: JSONValue) async throws -> JSONValue {
        let reply = try await call(method: method, params: try JSONEncoder().encode(params), deadlineMs: nil)
        return try JSONDecoder().decode(JSONValue.self, from: reply)
    }
}
