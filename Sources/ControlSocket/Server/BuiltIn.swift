import Foundation
import ServiceMesh

/// What the socket answers itself, because it concerns the connection and not a service.
enum BuiltIn: String, CaseIterable {
    case discover = "rpc.discover"
    case hello = "rpc.hello"
    case ping = "rpc.ping"

    /// The one notification that a client may send: params `{"id": …}`, and no answer of its own.
    static let cancelMethod = "$/cancelRequest"

    func answer(_ id: RequestID, _ params: Data, on connection: ClientConnection) throws(RequestFault) -> [UInt8] {
        switch self {
        case .discover:
            try takesOnly([], params, id)
            return OutgoingLine.result(id, connection.core.discovery.reply)
        case .hello:
            try lowerRole(params, id, of: connection)
            let configuration = connection.core.configuration
            let reply = HelloReply(
                version: configuration.version, methodsVersion: connection.core.discovery.fingerprint,
                library: configuration.library, pid: getpid(), role: "\(connection.role)",
                ceiling: "\(connection.ceiling)",
                limits: HelloReply.Limits(configuration.limits))
            guard let encoded = try? JSONEncoder().encode(reply) else {
                throw RequestFault(.internal, "The greeting could not be written. Please report it.", id: id)
            }
            return OutgoingLine.result(id, encoded)
        case .ping:
            try takesOnly([], params, id)
            return OutgoingLine.result(id, Data("{}".utf8))
        }
    }

    private func lowerRole(_ params: Data, _ id: RequestID, of connection: ClientConnection) throws(RequestFault) {
        guard let wanted = try takesOnly(["role"], params, id)["role"], wanted != .null else { return }
        guard let role = Role.allCases.first(where: { "\($0)" == wanted.stringValue }), role < .service else {
            throw RequestFault(.invalidParams, "\(rawValue): role is \"kid\", \"looker\" or \"parent\".", id: id)
        }
        guard role <= connection.role else {
            throw RequestFault(
                .invalidParams, "\(rawValue) can only lower the role; this connection has the \(connection.role) role.",
                id: id)
        }
        connection.lowerRole(.to(role))
    }

    @discardableResult
    private func takesOnly(
        _ names: Set<String>, _ params: Data, _ id: RequestID
    ) throws(RequestFault) -> [String: JSONValue] {
        guard !params.isEmpty else { return [:] }
        guard let members = try? JSONDecoder().decode([String: JSONValue].self, from: params) else {
            throw RequestFault(.invalidParams, "\(rawValue): the params are not valid.", id: id)
        }
        if let stranger = members.keys.first(where: { !names.contains($0) }) {
            let list = names.isEmpty ? "none" : names.sorted().joined(separator: ", ")
            throw RequestFault(
                .invalidParams, "\(rawValue) has no parameter '\(stranger.prefix(80))'. It takes \(list).", id: id)
        }
        return members
    }

    /// The id in the params of a cancellation.
    static func cancelledID(_ params: Data) throws(RequestFault) -> RequestID {
        let bytes = Array(params)
        var found: RequestID?
        if !bytes.isEmpty {
            try? JSONSyntax.members(of: bytes.span) { name, value in
                guard JSONSyntax.text(of: name, in: bytes.span) == Array("id".utf8) else { return }
                found = RequestID(value, in: bytes.span)
            }
        }
        guard let found else {
            throw RequestFault(.invalidParams, "\(cancelMethod) names the request: {\"id\":…}.")
        }
        return found
    }
}
