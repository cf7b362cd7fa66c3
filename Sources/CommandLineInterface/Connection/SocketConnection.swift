import Configuring
import ControlSocket
import Foundation
import ServiceMesh

/// The daemon behind its socket.
package struct SocketConnection: LibraryConnection {
    private let client: ControlClient

    package static func open(_ path: String) throws -> SocketConnection {
        do {
            return SocketConnection(client: try ControlClient(path: path))
        } catch let error as ControlError {
            throw CommandFailure(error)
        }
    }

    /// The socket that is meant where the command line names none: `SMILEPILE_SOCKET`'s, the configuration's, or the usual one.
    package static func defaultPath(
        _ environment: [String: String], _ configuration: Configuration = .none
    ) -> String {
        // A path is no value that a variable could have wrongly, which is all that is thrown.
        let named = try? configuration.text(.socket, environment: environment)
        return ControlAddress.resolve(option: named, environment: environment)
    }

    package func call(_ method: String, params: Data) async throws -> Data {
        try await observe(method, params: params) { _ in }
    }

    package func callForFiles(_ method: String, params: Data) async throws -> ControlReply {
        do {
            return try await client.callForFiles(method: method, params: params)
        } catch let error as ControlError {
            throw CommandFailure(error)
        } catch let error as MeshError {
            throw CommandFailure.refused(error)
        }
    }

    package func watch(
        _ method: String, params: Data, onUpdate: @escaping @Sendable (ObservedUpdate) async throws -> Void
    ) async throws -> Data {
        do {
            return try await client.observe(method: method, params: params) { update in
                try await onUpdate(
                    ObservedUpdate(sequence: update.sequence, value: update.value, overflowed: update.overflowed))
            }
        } catch let error as ControlError {
            throw CommandFailure(error)
        } catch let error as MeshError {
            // Said to be a refusal here, where it came from: who looks for one further up must not take it for another.
            throw CommandFailure.refused(error)
        }
    }

    package func close() async { client.close() }
}

extension CommandFailure {
    package init(_ error: ControlError) {
        switch error {
        case .notRunning(let path): self = .notRunning(socket: path)
        case .closed(let why): self = .connectionLost(why + ".")
        case .notAnswering: self = .notAnswering(error.description)
        case .cannotConnect, .alreadyServed, .unusableAddress, .protocolViolation, .system, .foreign:
            self = .local(error.description)
        }
    }
}
