import Foundation
import ServiceMesh

/// `GET /metrics`: the figures for a monitor, by the token that `smilepile metrics --token` makes (<doc:Interface>). The daemon says whether it
/// is that one; where none was made, nobody has the figures.
///
/// Rejected: the figures for every client of this machine, as other programs give them: each of its users, and each page that a browser
/// on it shows, would know how many photos there are. A token in this program's options: it would be in the list of processes.
extension Router {
    func metrics(_ head: RequestHead) throws -> Intake {
        try head.require(.get)
        // A monitor sends its token each time: nobody is to read it on the way.
        guard isSecure || ["127.0.0.1", "::1"].contains(head.client) else {
            throw Refusal(
                403, .permissionDenied,
                "The figures are for this machine, or come with TLS: a token that is sent without can be read on the way."
            )
        }
        // Given back where the daemon knows the token: a client that guesses has few requests.
        try acquireAnonymousSlot(.monitor, head.network)
        guard let token = head.bearerToken else { throw Refusal.unknownMonitor }
        let network = head.network
        return .ask(bodyBytes: 0) { _ in
            await Response.of {
                let reply: JSONValue
                do {
                    reply = try await self.members.open().call("metrics.read", .object(["token": .string(token)]))
                } catch let error as MeshError where error.status == .unauthenticated {
                    throw Refusal.unknownMonitor
                }
                self.giveBackStranger(.monitor, network)
                guard let text = reply["text"]?.stringValue else { throw Router.noAnswer("metrics.read") }
                return Response(
                    200,
                    headers: [
                        Header("Content-Type", "text/plain; version=0.0.4; charset=utf-8"),
                        Header("Cache-Control", "no-store"),
                    ], body: .bytes(Data(text.utf8)))
            }
        }
    }
}

extension Refusal {
    /// The same whatever is wrong with it, also where there is none.
    static let unknownMonitor = Refusal(
        401, .unauthenticated,
        "This needs the token that 'smilepile metrics --token' makes: Authorization: Bearer TOKEN.",
        headers: [Header("WWW-Authenticate", "Bearer")])
}
