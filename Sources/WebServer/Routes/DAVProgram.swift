import CLinux
import ControlSocket
import Foundation
import ServiceMesh

/// Who asks below `/dav/`: a program on somebody's device, by the password that was made for it (HTTP Basic, RFC 7617). Nowhere
/// else is such a header looked at.
struct DAVProgram: Sendable {
    private let password: String
    private let network: String
    private let router: Router

    static let challenge = Header("WWW-Authenticate", #"Basic realm="SmilePile", charset="UTF-8""#)

    static let unknown = Refusal(
        401, .unauthenticated,
        "This address is for programs that upload by themselves. Make a password for one on the page, under Devices, or with "
            + "'smilepile web password'.", headers: [challenge])

    /// - Throws: ``Refusal`` where no password came.
    init(_ head: RequestHead, _ router: Router) throws(Refusal) {
        guard let password = Self.password(in: head.header("authorization")) else { throw Self.unknown }
        self.password = password
        self.router = router
        network = head.network
    }

    /// What stands behind the first colon; the user's name is not looked at.
    static func password(in header: String?) -> String? {
        guard let header, header.utf8.count <= 1_024, header.lowercased().hasPrefix("basic "),
            let data = Data(base64Encoded: header.dropFirst(6).trimmingCharacters(in: .whitespaces)),
            let text = String(data: data, encoding: .utf8), let colon = text.firstIndex(of: ":")
        else { return nil }
        let password = String(text[text.index(after: colon)...])
        return password.isEmpty ? nil : password
    }

    /// Before the daemon is asked: a client that guesses passwords has few requests.
    func admit() throws {
        if !router.knownPasswords.contains(password, now: MonotonicClock.now()) {
            try router.acquireAnonymousSlot(.program, network)
        }
    }

    func call(_ method: String, _ params: [String: JSONValue]) async throws -> JSONValue {
        do {
            let reply = try await router.programs.open().call(method, .object(signed(params)))
            noteKnown()
            return reply
        } catch let error as MeshError {
            throw try refusal(error)
        }
    }

    /// The reply as a value of ours.
    func page(at place: [String], after: String? = nil, withContents: Bool) async throws -> DAVPage {
        var params: [String: JSONValue] = [
            "path": .array(place.map(JSONValue.string)), "withContents": .bool(withContents),
        ]
        if let after { params["after"] = .string(after) }
        let reply = try await call("dav.list", params)
        return try JSONDecoder().decode(DAVPage.self, from: JSONEncoder().encode(reply))
    }

    func open(_ method: String, _ params: [String: JSONValue]) async throws -> (reply: JSONValue, file: OwnedFile) {
        let params = try JSONEncoder().encode(JSONValue.object(signed(params)))
        do {
            let (reply, file) = try await router.programs.open().open(method: method, params: params)
            noteKnown()
            return (try JSONDecoder().decode(JSONValue.self, from: reply), file)
        } catch let error as MeshError {
            throw try refusal(error)
        }
    }

    private func signed(_ params: [String: JSONValue]) -> [String: JSONValue] {
        params.merging(["password": .string(password)]) { $1 }
    }

    /// The daemon has answered: this is a device's.
    private func noteKnown() {
        if router.knownPasswords.insert(password, now: MonotonicClock.now()) {
            router.giveBackStranger(.program, network)
        }
    }

    /// What HTTP calls it.
    /// - Throws: where a password that was known is none any more, and this network has asked for too many.
    private func refusal(_ error: MeshError) throws -> any Error {
        if let outcome = error.details["outcome"]?.stringValue {
            return Refusal(outcome == "too_large" ? 413 : outcome == "damaged" ? 422 : 415, error)
        }
        switch error.status {
        case .unauthenticated:
            if router.knownPasswords.remove(password) { try router.acquireAnonymousSlot(.program, network) }
            return Refusal(401, error, headers: [Self.challenge])
        case .alreadyExists: return Refusal(412, error)
        case .failedPrecondition where error.details["place"] == "folder": return Refusal(405, error)
        // More than an import takes; of the disk's room, 507 as everywhere.
        case .resourceExhausted where error.shortage == .size: return Refusal(413, error)
        default: return error
        }
    }
}
