import Foundation
import ServiceMesh
import Synchronization

/// `/api/…`: members of groups that this machine keeps, from their own machines and phones, by the token of their invitation
/// (<doc:Hub>). What they may is the daemon's to say; here their questions get HTTP's form, and nothing else.
extension Router {
    func hub(_ head: RequestHead) throws -> Intake {
        guard let token = head.bearerToken else {
            try acquireAnonymousSlot(.member, head.network)
            throw Refusal.unknownToken
        }
        // Before a body is taken in, and the daemon asked: a client that tries tokens has few requests, whatever they cost here.
        if !knownTokens.contains(token, now: MonotonicClock.now()) { try acquireAnonymousSlot(.member, head.network) }
        let member = Member(token: token, client: head.network, base: base(head) + "/api/photos/", router: self)
        let parts = head.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst(2).map {
            $0.lowercased()
        }
        switch (parts.first, parts.count) {
        case ("reviews", 1):
            try head.require(.get, .post)
            guard head.method == .post else { return reviews(after: head.argument("after"), member) }
            try head.requireJSON()
            return takingReviews(member)
        case ("groups", 1):
            try head.require(.get)
            return groups(try head.utcOffset(), member)
        case ("groups", 4) where Self.isUUID(parts[1]) && parts[2] == "members" && parts[3] == "me":
            try head.require(.delete)
            return leaving(parts[1], member)
        case ("photos", 2) where Self.isUUID(parts[1]):
            try head.require(.post)
            return try sending(head, to: parts[1], member)
        case ("photos", 3) where Self.isUUID(parts[1]) && parts[2] == "today":
            try head.require(.get)
            return photos(
                of: parts[1], try head.utcOffset(), isUnexpired: head.argument("unexpired") == "1", member)
        case ("photos", 3) where Self.isUUID(parts[1]) && Self.isUUID(parts[2]):
            try head.require(.get, .head)
            return picture(head, of: parts[1], parts[2], member)
        default: throw Refusal.notFound
        }
    }

    private static func isUUID(_ text: String) -> Bool { text.utf8.count == 36 && UUID(uuidString: text) != nil }

    /// The address under which this server was asked. A proxy on this machine may say that it was asked with TLS; nobody else may.
    private func base(_ head: RequestHead) -> String {
        let isForwarded =
            ["127.0.0.1", "::1"].contains(head.client) && head.header("x-forwarded-proto")?.lowercased() == "https"
        return (isSecure || isForwarded ? "https://" : "http://") + (head.header("host") ?? "localhost").lowercased()
    }

    // MARK: Looking

    private func groups(_ offset: Int64?, _ member: Member) -> Intake {
        .ask(bodyBytes: 0) { _ in
            await Response.of {
                let reply = try await member.call("hub.groups", Self.params(offset))
                guard let groups = reply["groups"] else { throw Self.noAnswer("hub.groups") }
                return .json(200, groups)
            }
        }
    }

    private func photos(of group: String, _ offset: Int64?, isUnexpired: Bool, _ member: Member) -> Intake {
        .ask(bodyBytes: 0) { _ in
            await Response.of {
                var params = Self.params(offset)
                params["groupId"] = .string(group)
                if isUnexpired { params["unexpired"] = .bool(true) }
                let reply = try await member.call("hub.photos", params)
                guard case .array(let photos)? = reply["photos"] else { throw Self.noAnswer("hub.photos") }
                return .json(200, .object(["photos": .array(try photos.map(member.placed))]))
            }
        }
    }

    private func picture(_ head: RequestHead, of group: String, _ id: String, _ member: Member) -> Intake {
        .ask(bodyBytes: 0) { _ in
            await Response.of {
                let (reply, file) = try await member.open("hub.open", ["photoId": .string(id)])
                guard reply["photo"]?["groupId"]?.stringValue == group,
                    let size = reply["photo"]?["fileSize"]?.integerValue, size >= 0
                else { throw Refusal.notFound }
                let facts = PictureFacts(
                    mediaType: "image/jpeg", size: UInt64(size), contentDigest: id, name: nil)
                // Gone after two days, and then from every cache: so it is in none.
                return PictureResponse.make(facts, file, kind: "photo", named: id, caching: .never, for: head)
            }
        }
    }

    // MARK: Changing

    private func leaving(_ group: String, _ member: Member) -> Intake {
        .ask(bodyBytes: 0) { _ in
            await Response.of {
                _ = try await member.call("hub.leave", ["groupId": .string(group)])
                return Response(204)
            }
        }
    }

    private func sending(_ head: RequestHead, to group: String, _ member: Member) throws -> Intake {
        let most = limits.pictureBytes
        guard head.bodyBytes <= UInt64(most + MultipartForm.headBytes * MultipartForm.mostParts) else {
            throw Refusal(413, .invalidArgument, "A picture for a group has \(most >> 20) MiB at most.")
        }
        guard head.bodyBytes > 0 else {
            throw Refusal(400, .invalidArgument, "The body is a form with the picture in the field 'photo'.")
        }
        return .stream(
            PictureReceiver(head: head, group: group, member: member, slots: uploadSlots),
            within: limits.pictureSeconds)
    }

    // MARK: Words of the daemon

    private static func params(_ offset: Int64?) -> [String: JSONValue] {
        offset.map { ["utcOffset": .integer($0)] } ?? [:]
    }

    static func noAnswer(_ method: String) -> MeshError {
        MeshError(.internal, "The daemon's answer to \(method) is none. Please report it.")
    }
}

/// Who asks: a member of groups, whose token the daemon may know or not.
struct Member: Sendable {
    let token: String
    let client: String
    /// Of pictures' addresses: what comes before the group's id.
    let base: String
    let router: Router

    func call(_ method: String, _ params: [String: JSONValue]) async throws -> JSONValue {
        try await known { try await router.members.open().call(method, .object(signed(params))) }
    }

    func open(_ method: String, _ params: [String: JSONValue]) async throws -> (reply: JSONValue, file: OwnedFile) {
        try await known {
            let (reply, file) = try await router.members.open().open(
                method: method, params: try JSONEncoder().encode(JSONValue.object(signed(params))))
            return (try JSONDecoder().decode(JSONValue.self, from: reply), file)
        }
    }

    private func signed(_ params: [String: JSONValue]) -> [String: JSONValue] {
        params.merging(["token": .string(token)]) { $1 }
    }

    /// One whose token is not known is a stranger, and was counted among them when the request came; unless it was known until now.
    private func known<Answer>(_ ask: () async throws -> Answer) async throws -> Answer {
        do {
            let answer = try await ask()
            if router.knownTokens.insert(token, now: MonotonicClock.now()) { router.giveBackStranger(.member, client) }
            return answer
        } catch let error as MeshError where error.status == .unauthenticated {
            if router.knownTokens.remove(token) { try router.acquireAnonymousSlot(.member, client) }
            throw Refusal.unknownToken
        }
    }

    /// A photo of the daemon's, with the address of its picture.
    func placed(_ photo: JSONValue) throws -> JSONValue {
        guard case .object(var members) = photo, let group = members["group_id"]?.stringValue,
            let id = members["id"]?.stringValue
        else { throw Router.noAnswer("hub.photos") }
        members["url"] = .string("\(base)\(group)/\(id)")
        return .object(members)
    }
}

/// Takes a form with a picture, whole: where its file begins and ends is known only with all of it, and it is small. Few are taken
/// at once, so memory has a bound.
private final class PictureReceiver: BodyReceiver {
    private struct State {
        var bytes = Data()
        var hasRoom = false
    }

    private let head: RequestHead
    private let group: String
    private let member: Member
    private let slots: UploadSlots
    private let state = Mutex(State())

    init(head: RequestHead, group: String, member: Member, slots: UploadSlots) {
        self.head = head
        self.group = group
        self.member = member
        self.slots = slots
    }

    func open() async -> Response? {
        do throws(Refusal) {
            try slots.take(for: member.token)
        } catch {
            return Response(error)
        }
        state.withLock { $0.hasRoom = true }
        // Nobody sends megabytes to be told that their token is not known, or that the group is not theirs.
        do {
            _ = try await member.call("hub.photos", ["groupId": .string(group)])
            return nil
        } catch {
            abandon()
            return Response(Refusal(error))
        }
    }

    func take(_ piece: Data) async -> Response? {
        state.withLock { $0.bytes.append(piece) }
        return nil
    }

    func finish() async -> Response {
        let bytes = state.withLock { state in
            defer { state.bytes = Data() }
            return state.bytes
        }
        defer { abandon() }
        return await Response.of { try await send(bytes) }
    }

    func abandon() {
        let hadRoom = state.withLock { state in
            defer { state = State() }
            return state.hasRoom
        }
        if hadRoom { slots.give(for: member.token) }
    }

    private func send(_ bytes: Data) async throws -> Response {
        let form = try MultipartForm(bytes, type: head.header("content-type"))
        let files = form.parts.filter { $0.isFile && ["photo", "file"].contains($0.name) }
        guard files.count == 1, let file = files.first, !file.body.isEmpty else {
            throw Refusal(400, .invalidArgument, "The form has one picture, in the field 'photo'.")
        }
        var params: [String: JSONValue] = ["groupId": .string(group)]
        for (field, name) in [("utc_offset", "utcOffset"), ("age_ms", "ageMs")] {
            guard let text = try form.text(field) else { continue }
            guard let number = Int64(text) else {
                throw Refusal(400, .invalidArgument, "The field \(field) is a whole number.")
            }
            params[name] = .integer(number)
        }
        if let key = head.header("idempotency-key") { params["key"] = .string(key) }
        let (begun, content) = try await member.open(
            "hub.receive", ["groupId": .string(group), "size": .integer(Int64(file.body.count))])
        guard let upload = begun["upload"]?.stringValue else { throw Router.noAnswer("hub.receive") }
        do {
            try await member.router.disk.run { try PieceWriter.write(form.bytes[file.body], to: content) }
        } catch PieceWriter.Failure.ended {
            throw MeshError(.unavailable, "The picture was not taken to its end. Send it once more.")
        }
        params["upload"] = .string(upload)
        let photo = try member.placed(try await member.call("hub.send", params))
        return .json(201, photo, headers: photo["url"]?.stringValue.map { [Header("Location", $0)] } ?? [])
    }
}

extension RequestHead {
    /// A text that can be no token is not asked about.
    var bearerToken: String? {
        guard let text = header("authorization"), text.lowercased().hasPrefix("bearer ") else { return nil }
        let token = text.dropFirst("bearer ".count).drop { $0 == " " }
        return Devices.isToken(String(token)) ? String(token) : nil
    }

    func utcOffset() throws(Refusal) -> Int64? {
        guard let text = argument("utc_offset") else { return nil }
        guard let offset = Int64(text), (-1440...1440).contains(offset) else {
            throw Refusal(400, .invalidArgument, "utc_offset is a number of minutes.")
        }
        return offset
    }
}

extension Refusal {
    /// The same whatever is wrong with it.
    static let unknownToken = Refusal(
        401, .unauthenticated, "This needs the token of an invitation: Authorization: Bearer TOKEN.",
        headers: [Header("WWW-Authenticate", "Bearer")])
}
