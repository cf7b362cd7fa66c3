import Foundation
import ServiceMesh

/// How a browser comes in, and how it leaves.
extension Router {
    private struct Request: Decodable {
        let code: String
        let name: String?
    }

    func pairing(_ head: RequestHead) throws -> Intake {
        try head.require(.post)
        try head.requireJSON()
        let userAgent = head.header("user-agent")
        let network = head.network
        return .ask(bodyBytes: 4_096) { [devices, cookie] body in
            await Response.of {
                guard let request = try? JSONDecoder().decode(Request.self, from: body) else {
                    throw Refusal(400, .invalidArgument, "Pairing takes {\"code\":…,\"name\":…}.")
                }
                let name = request.name ?? "Browser"
                do {
                    let (device, token) = try await devices.pair(
                        code: request.code, name: name, userAgent: userAgent)
                    return .json(200, .object(["device": device]), headers: [cookie.setting(token)])
                } catch let error as MeshError {
                    // Misses alone are counted: behind a proxy everybody has one address.
                    try self.acquireAnonymousSlot(.code, network)
                    throw error
                }
            }
        }
    }

    /// Ends the browser's connection to the daemon; its next question makes a new one, with the role that new ones have.
    func reconnecting(_ visitor: Visitor) -> Intake {
        .ask(bodyBytes: 0) { _ in
            await Response.of {
                try await visitor.session().disconnect()
                return .json(200, .object([:]))
            }
        }
    }

    func unpairing(_ head: RequestHead, _ visitor: Visitor) -> Intake {
        .ask(bodyBytes: 0) { [devices, cookie] _ in
            await Response.of {
                let session = try await visitor.session()
                try await devices.unpair(visitor.token, session)
                return .json(200, .object([:]), headers: [cookie.removing])
            }
        }
    }
}
