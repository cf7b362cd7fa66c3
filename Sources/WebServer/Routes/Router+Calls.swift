import ControlSocket
import Foundation
import ServiceMesh

/// `POST /rpc`: the messages of the socket, one a request.
extension Router {
    func calls(_ head: RequestHead, _ visitor: Visitor) -> Intake {
        .ask(bodyBytes: limits.bodyBytes) { [methods] body in
            await Response.of {
                let connection = try await visitor.session().connection()
                let request: RelayedRequest
                do throws(RelayedRequest.Fault) {
                    request = try RelayedRequest(body)
                } catch {
                    return .json(400, error.reply)
                }
                do {
                    try await methods.checkCall(request.method, on: connection)
                    let result = try await connection.call(
                        method: request.method, params: request.params, deadlineMs: request.deadlineMs)
                    return .json(200, request.reply(result))
                } catch let error as MeshError where error.status == .unimplemented {
                    let isKnown = await methods.isKnown(request.method)
                    return .json(200, isKnown ? request.reply(error) : request.reply(unknownMethod: error))
                } catch let error as MeshError {
                    return .json(200, request.reply(error))
                }
            }
        }
    }
}

/// What the daemon says of its methods, as far as a way to ask depends on it.
actor Methods {
    /// This server's own to ask: which device a connection is for is not the page's to say.
    private static let ours: Set<String> = ["device.authenticate", "device.pair"]

    /// Nanoseconds after which the daemon is asked again about a method that it did not have: it may be a newer one by now.
    private static let freshness: UInt64 = 5_000_000_000

    private var kinds: [String: MessageKind] = [:]
    private var askedAt: UInt64?

    /// - Throws: `MeshError` where the method cannot be called with `POST /rpc`.
    func checkCall(_ method: String, on connection: any DaemonConnection) async throws {
        if Self.ours.contains(method) {
            throw MeshError(.permissionDenied, "\(method) is for programs that let others in. Pair with POST /pair.")
        }
        guard try await kind(of: method, on: connection) == .observation else { return }
        throw MeshError(
            .failedPrecondition, "\(method) tells of changes as they happen. Ask for it with GET /events?observe=….")
    }

    /// - Throws: `MeshError` where it cannot be observed.
    func checkObservation(_ method: String, on connection: any DaemonConnection) async throws {
        guard let kind = try await kind(of: method, on: connection), kind != .observation else { return }
        throw MeshError(.failedPrecondition, "\(method) is no observation. Ask it with POST /rpc.")
    }

    /// Whether the daemon had it when it was last asked.
    func isKnown(_ method: String) -> Bool { kinds[method] != nil }

    /// Nil for a method that there is not: the daemon says what it thinks of it.
    private func kind(of method: String, on connection: any DaemonConnection) async throws -> MessageKind? {
        if let known = kinds[method] { return known }
        if let askedAt, MonotonicClock.now() &- askedAt < Self.freshness { return nil }
        let reply = try await connection.call(method: "rpc.discover", params: Data(), deadlineMs: nil)
        let methods = try JSONDecoder().decode(DiscoverReply.self, from: reply).methods
        kinds = Dictionary(methods.map { ($0.name, $0.kind) }, uniquingKeysWith: { $1 })
        askedAt = MonotonicClock.now()
        return kinds[method]
    }
}
