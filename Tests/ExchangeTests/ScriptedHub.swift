import Foundation
import LibraryModel
import LibraryTestSupport
import ServiceMesh
import Synchronization
import TestSupport

/// A hub with one group over real HTTP, which answers as it should, or as a test says.
final class ScriptedHub: Sendable {
    enum Question: Sendable, Hashable {
        case groups, photos, send, leave, reviews, takeReviews
        /// The first of the photos that it tells of.
        case picture
    }

    enum Answer: Sendable {
        case page(String)
        case refusal(String, MeshStatus, headers: [String] = [])
        case json(String)
        case redirect(String)
        /// Nothing comes, and the connection stays.
        case silence
        /// The connection fails in the middle of the answer.
        case reset

        var isSilent: Bool { if case .silence = self { true } else { false } }
    }

    private struct State {
        var answers: [Question: Answer] = [:]
        var photos: [HubPhoto] = []
        var targets: [String] = []
        var sent: [String] = []
    }

    /// What the threads of connections have to know.
    private final class Desk: Sendable {
        let group = UUID().uuidString.lowercased()
        let ada = UUID().uuidString.lowercased()
        let ben = UUID().uuidString.lowercased()
        let cleo = UUID().uuidString.lowercased()
        let picture: [UInt8]
        let now: Timestamp
        let state = Mutex(State())

        init(_ picture: [UInt8], _ now: Timestamp) { (self.picture, self.now) = (picture, now) }

        func photo(_ id: String, by user: String, _ name: String, url: String? = nil, ago: Int64 = 0) -> HubPhoto {
            HubPhoto(
                id: id, groupId: group, senderId: user, senderName: name, url: url,
                createdAt: Timestamp(milliseconds: now.milliseconds - ago),
                expiresAt: Timestamp(milliseconds: now.milliseconds - ago + 48 * 3_600_000))
        }

        func serve(_ peer: Peer) throws {
            while true {
                let request = try peer.readRequest()
                let question = question(request)
                let answer = state.withLock { state in
                    state.targets.append(request.target)
                    return question.flatMap { state.answers[$0] }
                }
                switch answer {
                case nil: try usual(question, request, peer)
                case .page(let status):
                    let page = "<html><body>\(status)</body></html>"
                    try peer.send(ScriptedServer.answer(status, page, headers: ["Content-Type: text/html"]))
                case .refusal(let status, let mesh, let headers):
                    let error = #"{"error":{"code":-32000,"message":"no","data":{"status":"\#(mesh.rawValue)"}}}"#
                    try peer.send(ScriptedServer.answer(status, error, headers: headers))
                case .json(let text): try peer.send(ScriptedServer.answer("200 OK", text))
                case .redirect(let place):
                    try peer.send(ScriptedServer.answer("302 Found", "", headers: ["Location: \(place)"]))
                case .silence: return peer.waitForEnd()
                case .reset:
                    try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n[")
                    return peer.reset()
                }
            }
        }

        private func question(_ request: Peer.Request) -> Question? {
            if request.target.hasPrefix("/api/reviews") { return request.method == "POST" ? .takeReviews : .reviews }
            if request.method == "POST" { return .send }
            if request.method == "DELETE" { return .leave }
            if request.target.hasPrefix("/api/groups") { return .groups }
            if request.target.contains("/today") { return .photos }
            let first = state.withLock { $0.photos.first }
            return first.map { request.target.hasSuffix($0.id) } == true ? .picture : nil
        }

        private func usual(_ question: Question?, _ request: Peer.Request, _ peer: Peer) throws {
            switch question {
            case .groups:
                let members = [(ada, "Ada"), (ben, "Ben"), (cleo, "Cleo")].map {
                    HubGroup.Member(id: $0.0, firstName: $0.1)
                }
                let told = HubGroup(
                    id: group, name: "Cousins", memberCount: 3, members: members, lastPhoto: nil, hasSentToday: false,
                    memberId: ben)
                try send([told], peer)
            case .photos: try send(HubPhotoList(photos: state.withLock { $0.photos }), peer)
            case .send:
                let id = request.headers["idempotency-key"] ?? ""
                state.withLock { if !$0.sent.contains(id) { $0.sent.append(id) } }
                try send(photo(id, by: ben, "Ben"), peer, status: "201 Created")
            case .reviews:
                try send(ReviewChanges(sessions: [], decisions: [], undone: [], next: "1.2.3", more: false), peer)
            case .takeReviews: try send(TakenReviews(sessions: 0, decisions: 0, undone: 0), peer)
            case .leave: try peer.send(ScriptedServer.answer("204 No Content"))
            case .picture, nil:
                let head = "HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: \(picture.count)\r\n\r\n"
                try peer.send(Array(head.utf8) + picture)
            }
        }

        private func send(_ value: some Encodable, _ peer: Peer, status: String = "200 OK") throws {
            let text = String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
            try peer.send(ScriptedServer.answer(status, text))
        }
    }

    private let desk: Desk
    private let server: ScriptedServer

    /// - Parameters:
    ///   - picture: what every photo shows.
    ///   - now: when they were sent.
    init(picture: Data, at now: Timestamp) throws {
        let desk = Desk(Array(picture), now)
        self.desk = desk
        server = try ScriptedServer { try desk.serve($0) }
    }

    var address: String { "http://127.0.0.1:\(server.port)" }
    var group: String { desk.group }
    /// Ids of what was sent to it.
    var sent: [String] { desk.state.withLock { $0.sent } }
    /// What was asked, as requests have it.
    var targets: [String] { desk.state.withLock { $0.targets } }

    func answer(_ question: Question, _ answer: Answer?) { desk.state.withLock { $0.answers[question] = answer } }

    /// One that it can be asked for, the first of those that it tells of.
    func photo() -> HubPhoto {
        let photo = desk.photo(UUID().uuidString.lowercased(), by: desk.ada, "Ada")
        desk.state.withLock { $0.photos = [photo] }
        return photo
    }

    /// Tells of two photos, of two members; the first one is newer, and asked for first.
    /// - Parameter url: where the first one's picture is said to be.
    /// - Returns: their ids.
    func tell(url: String? = nil) -> [String] {
        let ids = (0..<2).map { _ in UUID().uuidString.lowercased() }
        let photos = [
            desk.photo(ids[0], by: desk.ada, "Ada", url: url.map { $0 + ids[0] }),
            desk.photo(ids[1], by: desk.cleo, "Cleo", ago: 60_000),
        ]
        desk.state.withLock { $0.photos = photos }
        return ids
    }
}
