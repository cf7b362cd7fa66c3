import Executors
import Foundation
import ServiceMesh

/// Which part answers a request, and what is looked at before any does.
final class Router: Sendable {
    let safety: Safety
    let files: [String: StaticFile]
    private let rate: RequestRate
    private let strangers: [Stranger: RequestRate]
    let limits: HTTPLimits
    let cookie: TokenCookie
    let devices: Devices
    let methods: Methods
    let uploads: Uploads
    let pictures: KeptPictures
    let disk: BlockingPool
    /// For the questions of members of groups on other machines.
    let members: SharedConnection
    let knownTokens = KnownTokens()
    /// Of links that the daemon has known lately.
    let knownLinks = KnownTokens()
    let links: LinkVisitors
    /// For the questions of programs that upload by themselves.
    let programs: SharedConnection
    /// Passwords of such that the daemon has known lately, by their digests.
    let knownPasswords = KnownTokens()
    let uploadSlots: UploadSlots
    let table: ConnectionTable
    let whereabouts: Whereabouts
    /// Whether this server speaks TLS itself.
    let isSecure: Bool

    init(
        safety: Safety, files: [StaticFile], limits: HTTPLimits, cookie: TokenCookie, devices: Devices,
        pictures: KeptPictures, disk: BlockingPool, members: SharedConnection, table: ConnectionTable,
        links: LinkVisitors, programs: SharedConnection, whereabouts: Whereabouts, isSecure: Bool
    ) {
        self.safety = safety
        self.files = Dictionary(files.map { ($0.path, $0) }, uniquingKeysWith: { $1 })
        self.limits = limits
        self.cookie = cookie
        self.devices = devices
        rate = RequestRate(perSecond: limits.requestsPerSecond, atOnce: limits.requestsAtOnce)
        strangers = Dictionary(
            uniqueKeysWithValues: Stranger.allCases.map {
                ($0, RequestRate(perSecond: limits.strangersPerSecond, atOnce: limits.strangersAtOnce))
            })
        methods = Methods()
        uploads = Uploads(disk: disk)
        self.pictures = pictures
        self.disk = disk
        self.members = members
        self.table = table
        self.links = links
        self.programs = programs
        self.whereabouts = whereabouts
        self.isSecure = isSecure
        uploadSlots = UploadSlots(limits.picturesAtOnce)
    }

    func answer(_ head: RequestHead) -> Intake {
        do {
            return try route(head)
        } catch {
            return .respond(Response(Refusal(error)))
        }
    }

    private func route(_ head: RequestHead) throws -> Intake {
        // Costs no more than to say that there were too many, and is no request to the daemon.
        if let kept = try keptPicture(head) { return .respond(kept) }
        guard rate.take(head.network, now: MonotonicClock.now()) else { throw Self.tooMany }
        try safety.checkHost(head)
        if let file = files[head.path] {
            guard head.method.isSafe else { throw Self.wrongMethod("GET, HEAD") }
            return .respond(StaticResponse.make(file, for: head))
        }
        // A browser sends no such header by itself, so nobody else's page can have it sent.
        if head.path.hasPrefix("/api/") { return try hub(head) }
        if head.path == "/metrics" { return try metrics(head) }
        if head.path.hasPrefix("/s/") { return try link(head) }
        if let place = head.davPath { return try dav(head, place) }
        // Of a phone's share sheet, where no service worker has taken it: the page opens, and says that there is nothing. It comes from
        // another app, changes nothing here, and its body is not read.
        if head.path == "/share" {
            try head.require(.post)
            return .respond(Response(303, headers: [Header("Location", "/#/import?shared=failed")]))
        }
        try safety.checkOrigin(head)
        if head.path == "/pair" { return try pairing(head) }
        guard let token = cookie.token(in: head) else {
            try acquireAnonymousSlot(.browser, head.network)
            throw Refusal.unpaired
        }
        return try pairedRoute(head, Visitor(token: token, head: head, router: self))
    }

    private func pairedRoute(_ head: RequestHead, _ visitor: Visitor) throws -> Intake {
        let parts = head.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        switch (parts.first, parts.count) {
        case ("rpc", 1):
            try head.require(.post)
            try head.requireJSON()
            return calls(head, visitor)
        case ("events", 1):
            try head.require(.get)
            return try events(head, visitor)
        case ("photos", 3):
            try head.require(.get, .head)
            return try photo(head, uuid: parts[1], kind: parts[2], visitor)
        case ("trash", 3):
            try head.require(.get, .head)
            return try photo(head, uuid: parts[1], kind: parts[2], visitor, isTrashed: true)
        case ("group-photos", 2):
            try head.require(.get, .head)
            return try groupPhoto(head, id: parts[1], visitor)
        case ("upload", 1):
            try head.require(.post)
            return try newUpload(head, visitor)
        case ("upload", 2):
            try head.require(.patch, .head, .delete)
            return try upload(head, parts[1], visitor)
        case ("reconnect", 1):
            try head.require(.post)
            return reconnecting(visitor)
        case ("qr", 1):
            try head.require(.post)
            try head.requireJSON()
            return drawing(head, visitor)
        case ("whereabouts", 1):
            try head.require(.get)
            return telling(visitor)
        case ("unpair", 1):
            try head.require(.post)
            return unpairing(head, visitor)
        default: throw Refusal.notFound
        }
    }

    /// A picture that is still good, for the browser that it was handed over for.
    private func keptPicture(_ head: RequestHead) throws -> Response? {
        guard let token = cookie.token(in: head), let key = KeptPictures.Key(head, token: token),
            let kept = pictures.find(key, now: MonotonicClock.now())
        else { return nil }
        try safety.checkHost(head)
        try safety.checkOrigin(head)
        return Response(200, body: .made(kept))
    }

    static let tooMany = Refusal(
        429, .resourceExhausted, "Too many requests came from this address. Try again in a moment.",
        headers: [Header("Retry-After", "1")])

    static func wrongMethod(_ allowed: String) -> Refusal {
        Refusal(
            405, .unimplemented, "This address does not take that; it takes \(allowed).",
            headers: [Header("Allow", allowed)])
    }

    /// What a client tries that is not known. Each kind has requests of its own: a client that guesses the tokens of groups, or links, keeps
    /// no new browser out.
    enum Stranger: CaseIterable {
        case code, browser, member, link, program, monitor
    }

    /// One of the few requests that somebody has who is not known.
    func acquireAnonymousSlot(_ kind: Stranger, _ client: String) throws(Refusal) {
        guard strangers[kind]?.take(client, now: MonotonicClock.now()) == true else { throw Self.tooMany }
    }

    /// Who was taken for a stranger is none.
    func giveBackStranger(_ kind: Stranger, _ client: String) {
        strangers[kind]?.give(client, now: MonotonicClock.now())
    }
}

/// Who sends a request: a browser with a token that the daemon may know or not.
struct Visitor: Sendable {
    let token: String
    private let network: String
    private let connection: UInt64
    private let router: Router

    init(token: String, head: RequestHead, router: Router) {
        self.token = token
        (network, connection) = (head.network, head.connection)
        self.router = router
    }

    /// - Throws: ``Refusal``, `MeshError`, `ControlError`.
    func session() async throws -> DeviceSession {
        let (router, network) = (router, network)
        do {
            let session = try await router.devices.session(token) { try router.acquireAnonymousSlot(.browser, network) }
            router.table.note(connection, token: token)
            return session
        } catch let error as MeshError where [.unauthenticated, .notFound].contains(error.status) {
            throw Refusal.unpaired
        }
    }
}

extension RequestHead {
    func require(_ methods: Method...) throws(Refusal) {
        guard methods.contains(method) else {
            throw Router.wrongMethod(methods.map(\.rawValue).joined(separator: ", "))
        }
    }

    /// A content type that a form of another page cannot send.
    func requireJSON() throws(Refusal) {
        let type = header("content-type")?.split(separator: ";").first?.lowercased()
        guard type == "application/json" else {
            throw Refusal(415, .invalidArgument, "The body is JSON: send the header Content-Type: application/json.")
        }
    }
}

extension Response {
    /// What `work` makes, or the refusal that it throws.
    static func of(_ work: () async throws -> Response) async -> Response {
        do {
            return try await work()
        } catch {
            return Response(Refusal(error))
        }
    }
}
