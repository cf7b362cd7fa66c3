import Foundation
import ServiceMesh

/// `/s/TOKEN` and what lies below it: the gallery of a link, for people who have no paired device (<doc:Interface>). The daemon says
/// each time what the link shows; here its answers get HTTP's form.
extension Router {
    private static let kinds: Set<String> = ["thumbnail", "preview", "photo", "original", "film"]

    func link(_ head: RequestHead) throws -> Intake {
        let parts = head.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst(2).map(String.init)
        guard let token = parts.first, !token.isEmpty else { throw Refusal.notFound }
        // The page is the same for every token, and says of one that is none that it is none. It is led to from everywhere.
        if parts.count == 1 { return try linkPage(head) }
        try safety.checkOrigin(head)
        guard Devices.isToken(token) else { throw Refusal.unknownLink }
        let visitor = LinkVisitor(token: token, head: head, router: self)
        switch (parts[1], parts.count) {
        case ("open", 2):
            try head.require(.post)
            try head.requireJSON()
            // Each counts, and may be a password: nobody has many.
            try acquireAnonymousSlot(.link, head.network)
            return opening(visitor)
        case ("photos", 2):
            try head.require(.get)
            try visitor.admit()
            return listing(after: head.argument("after"), visitor)
        case ("photos", 4) where Self.kinds.contains(parts[3]) && UUID(uuidString: parts[2]) != nil:
            try head.require(.get, .head)
            try visitor.admit()
            return linkPicture(head, uuid: parts[2].lowercased(), kind: parts[3], visitor)
        default: throw Refusal.notFound
        }
    }

    private func linkPage(_ head: RequestHead) throws -> Intake {
        try head.require(.get, .head)
        guard let file = files["/assets/link/link.html"] else { throw Refusal.notFound }
        var response = StaticResponse.make(file, for: head)
        // A link is passed on by people, and not by a search engine.
        response.headers.append(Header("X-Robots-Tag", "noindex, nofollow"))
        return .respond(response)
    }

    private struct Opening: Decodable {
        let password: String?
    }

    private func opening(_ visitor: LinkVisitor) -> Intake {
        .ask(bodyBytes: 4_096) { body in
            await Response.of {
                guard let request = try? JSONDecoder().decode(Opening.self, from: body) else {
                    throw Refusal(400, .invalidArgument, "Opening a link takes {} or {\"password\":…}.")
                }
                var params: [String: JSONValue] = [:]
                if let password = request.password { params["password"] = .string(password) }
                guard case .object(var opened) = try await visitor.call("link.open", params),
                    let visit = opened.removeValue(forKey: "visit")?.stringValue, Devices.isToken(visit)
                else { throw Router.noAnswer("link.open") }
                return .json(200, .object(opened), headers: [visitor.setting(visit)])
            }
        }
    }

    private func listing(after: String?, _ visitor: LinkVisitor) -> Intake {
        .ask(bodyBytes: 0) { _ in
            await Response.of {
                .json(200, try await visitor.call("link.photos", after.map { ["after": .string($0)] } ?? [:]))
            }
        }
    }

    /// What the daemon says about a file that it hands over.
    private struct Facts: Decodable {
        let id: String
        let mediaType: String
        let size: UInt64
        let offset: UInt64?
        let version: String
        let name: String?
    }

    private func linkPicture(_ head: RequestHead, uuid: String, kind: String, _ visitor: LinkVisitor) -> Intake {
        // Phones of before 2020 show no WebP, and say so.
        let isOld = kind == "preview" && head.header("accept")?.contains("image/webp") != true
        return .ask(bodyBytes: 0) { _ in
            await Response.of {
                let (reply, file) = try await visitor.open(
                    "link.openPhoto", ["uuid": .string(uuid), "file": .string(isOld ? "photo" : kind)])
                let said = try JSONDecoder().decode(Facts.self, from: reply)
                try visitor.note(said.id)
                let facts = PictureFacts(
                    mediaType: said.mediaType, size: said.size, offset: said.offset, contentDigest: said.version,
                    name: said.name)
                // Asked again each time that it is shown: a link that has ended shows nothing that a browser has kept.
                var response = PictureResponse.make(
                    facts, file, kind: isOld ? "photo" : kind, named: "photo-\(uuid.prefix(8))",
                    caching: .whileAsked, for: head)
                if kind == "preview" { response.headers.append(Header("Vary", "Accept")) }
                response.headers.append(Header("X-Robots-Tag", "noindex, nofollow"))
                return response
            }
        }
    }
}

/// Who asks: somebody with a link, which the daemon may know or not.
struct LinkVisitor: Sendable {
    let token: String
    /// Of the cookie that opening the link has set.
    private let visit: String?
    private let network: String
    private let connection: UInt64
    private let router: Router
    private static let cookie = "smilepile-visit"
    /// Seconds: as long as the daemon knows a visit.
    private static let lifetime = 86_400

    init(token: String, head: RequestHead, router: Router) {
        self.token = token
        visit = head.cookie(Self.cookie).flatMap { Devices.isToken($0) ? $0 : nil }
        (network, connection) = (head.network, head.connection)
        self.router = router
    }

    /// Sent back for this link and no other.
    func setting(_ visit: String) -> Header {
        let secure = router.isSecure ? "; Secure" : ""
        return Header(
            "Set-Cookie",
            "\(Self.cookie)=\(visit); Path=/s/\(token); HttpOnly; SameSite=Strict; Max-Age=\(Self.lifetime)\(secure)")
    }

    /// Before the daemon is asked: a client that guesses tokens has few requests.
    func admit() throws {
        if !router.knownLinks.contains(token, now: MonotonicClock.now()) {
            try router.acquireAnonymousSlot(.link, network)
        }
    }

    /// - Returns: the reply, without the link's id.
    func call(_ method: String, _ params: [String: JSONValue]) async throws -> JSONValue {
        let reply: JSONValue
        do {
            reply = try await router.members.open().call(method, .object(signed(params)))
        } catch let error as MeshError {
            throw try refusal(error)
        }
        noteKnown()
        guard case .object(var members) = reply, let id = members.removeValue(forKey: "id")?.stringValue else {
            throw Router.noAnswer(method)
        }
        try note(id)
        return .object(members)
    }

    func open(_ method: String, _ params: [String: JSONValue]) async throws -> (reply: Data, file: OwnedFile) {
        let params = try JSONEncoder().encode(JSONValue.object(signed(params)))
        do {
            let opened = try await router.members.open().open(method: method, params: params)
            noteKnown()
            return opened
        } catch let error as MeshError {
            throw try refusal(error)
        }
    }

    func note(_ link: String) throws { try router.links.note(link, on: connection) }

    private func signed(_ params: [String: JSONValue]) -> [String: JSONValue] {
        var signed = params.merging(["token": .string(token)]) { $1 }
        if let visit { signed["visit"] = .string(visit) }
        return signed
    }

    /// The daemon has answered: this is a link.
    private func noteKnown() {
        if router.knownLinks.insert(token, now: MonotonicClock.now()) { router.giveBackStranger(.link, network) }
    }

    /// What the visitor is told.
    /// - Throws: where a link that was known is none any more, and this network has asked for too many.
    private func refusal(_ error: MeshError) throws -> any Error {
        switch error.details["link"]?.stringValue {
        case "unknown":
            if router.knownLinks.remove(token) { try router.acquireAnonymousSlot(.link, network) }
            return Refusal(404, error)
        case "expired", "revoked": return Refusal(410, error)
        default: return error
        }
    }
}

extension Refusal {
    static let unknownLink = Refusal(
        404,
        MeshError(
            .notFound, "There is no such link. See that the address is whole, or ask for a new one.",
            details: ["link": "unknown"]))
}
