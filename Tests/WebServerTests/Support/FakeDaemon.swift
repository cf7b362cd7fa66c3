import ControlSocket
import Foundation
import ServiceMesh
import Synchronization
import TestSupport
import WebServer

/// A daemon as the web server sees one: devices, a few methods, files and uploads, and something to observe. It can be
/// stopped and started again, and tells which requests came.
final class FakeDaemon: Sendable {
    struct Picture: Sendable {
        var mediaType = "image/jpeg"
        var bytes: [UInt8]
        var digest = "00ff00ff00ff00ff"
        var name: String?
        var rotation: Int?
    }

    struct Link: Sendable {
        var id: String
        var password: String?
        /// `expired`, `revoked`; nil while it is open.
        var end: String?
        /// By uuid and kind.
        var pictures: [String: [UInt8]] = [:]
    }

    struct State {
        var isUp = true
        /// Device ids by token.
        var tokens: [String: String] = [:]
        /// How often it was changed what a device may, by its id.
        var rights: [String: Int] = [:]
        /// Devices that are a child's.
        var childs: Set<String> = []
        var codes: Set<String> = []
        var pictures: [String: Picture] = [:]
        /// By their ids.
        var groupPhotos: [String: [UInt8]] = [:]
        /// Groups by the tokens of their members.
        var members: [String: String] = [:]
        /// The token of a monitor.
        var monitor: String?
        /// What `hub.send` was asked, and the bytes that came before.
        var sent: [[String: JSONValue]] = []
        var received: [String: String] = [:]
        /// Links by their tokens.
        var links: [String: Link] = [:]
        /// What was asked of links.
        var visited: [[String: JSONValue]] = []
        /// What the programs of each password have sent.
        var programs: [String: SentFiles] = [:]
        /// Whether whoever asks is a child.
        var isKids = false
        /// Paths of uploads.
        var uploads: [String: String] = [:]
        /// Bytes that an upload has at most, and that there is room for.
        var announced: Int64?
        var room = Int64.max
        /// What was said of uploads as they began.
        var begun: [[String: JSONValue]] = []
        var connections: [FakeConnection] = []
        var value = 0
        var paired = 0
        /// How many connections have been made.
        var connected = 0
    }

    let folder: TemporaryFolder
    let state = Mutex(State())
    /// Methods that were called.
    let called = Awaited<[String]>([])
    /// Where `slow` waits.
    let gate = Gate()
    /// Observations that have begun.
    let observed = Gate()
    /// Uploads that are to be gone on with.
    let resumed = Gate()
    /// Where the answer to `device.authenticate` waits, once it is known.
    let answered = Gate()
    /// Changes of the devices that the server has taken in.
    let told = Gate()
    /// Changes of the links that the server has taken in.
    let toldLinks = Gate()
    /// Calls of `device.authenticate`.
    let authenticated = Gate()
    /// Calls that have been cancelled.
    let cancelled = Gate()

    init() throws {
        folder = try TemporaryFolder("web")
        observed.open()
        authenticated.open()
        cancelled.open()
        resumed.open()
        told.open()
        toldLinks.open()
    }

    func connect() throws -> FakeConnection {
        try state.withLock { state in
            guard state.isUp else { throw ControlError.notRunning(path: "/nowhere") }
            let connection = FakeConnection(self)
            state.connections.append(connection)
            state.connected += 1
            return connection
        }
    }

    /// As a daemon that is killed: every connection ends.
    func stop() {
        let connections = state.withLock { state in
            state.isUp = false
            defer { state.connections = [] }
            return state.connections
        }
        for connection in connections { connection.close() }
    }

    func start() { state.withLock { $0.isUp = true } }

    /// Changes what `thing.observe` shows.
    func change(to value: Int) {
        let connections = state.withLock { state in
            state.value = value
            return state.connections
        }
        for connection in connections { connection.tell(value, "thing.observe") }
    }

    /// Changes the photos, and tells of it.
    func changePhotos(_ change: (inout [String: Picture]) -> Void) {
        let connections = state.withLock { state in
            change(&state.pictures)
            return state.connections
        }
        for connection in connections { connection.tell(0, "photo.observe") }
    }

    func forget(device: String) {
        let connections = state.withLock { state in
            state.tokens = state.tokens.filter { $0.value != device }
            return state.connections
        }
        for connection in connections { connection.tell(0, "device.observe") }
    }

    /// Ends a link, and tells of it.
    func revoke(_ token: String) {
        let connections = state.withLock { state in
            state.links[token]?.end = "revoked"
            return state.connections
        }
        for connection in connections { connection.tell(0, "link.observe") }
    }

    /// Changes what all devices may, and tells of it.
    func changeRights(_ change: (inout State) -> Void = { _ in }) {
        let connections = state.withLock { state in
            change(&state)
            for device in state.tokens.values { state.rights[device, default: 0] += 1 }
            return state.connections
        }
        for connection in connections { connection.tell(0, "device.observe") }
    }

    var calls: [String] { called.value }
}

final class FakeConnection: DaemonConnection {
    private struct State {
        var isOpen = true
        var observers: [Int: (method: String, feed: AsyncStream<Int>.Continuation)] = [:]
        var next = 0
    }

    private let daemon: FakeDaemon
    private let state = Mutex(State())

    init(_ daemon: FakeDaemon) { self.daemon = daemon }

    var isOpen: Bool { state.withLock { $0.isOpen } }

    func close() {
        let observers = state.withLock { state in
            state.isOpen = false
            defer { state.observers = [:] }
            return state.observers
        }
        for observer in observers.values { observer.feed.finish() }
        // Else each would keep the other, and the folder would stay behind.
        daemon.state.withLock { $0.connections.removeAll { $0 === self } }
    }

    func tell(_ value: Int, _ method: String) {
        let observers = state.withLock { $0.observers.values.filter { $0.method == method } }
        for observer in observers { observer.feed.yield(value) }
    }

    private func check() throws { if !isOpen { throw ControlError.closed("the daemon closed it") } }

    func call(method: String, params: Data, deadlineMs: Int64?) async throws -> Data {
        try check()
        daemon.called.change { $0.append(method) }
        if method == "device.authenticate" { await daemon.authenticated.pass() }
        if method == "thing.slow" { await daemon.gate.pass() }
        if method == "thing.forever" {
            let (never, end) = AsyncStream.makeStream(of: Void.self)
            for await _ in never {}
            end.finish()
            await daemon.cancelled.pass()
            throw CancellationError()
        }
        let params = params.isEmpty ? [:] : try JSONDecoder().decode([String: JSONValue].self, from: params)
        let reply: JSONValue = try daemon.state.withLock { state in
            switch method {
            case "rpc.discover": return Self.discovery
            case "thing.echo": return .object(params)
            case "thing.slow": return "late"
            case "thing.fail": throw MeshError(.notFound, "There is no such thing. Look for another.")
            case "device.authenticate":
                guard let device = state.tokens[params["token"]?.stringValue ?? ""] else {
                    throw MeshError(.unauthenticated, "Nobody has that token.")
                }
                return ["id": .string(device), "role": state.childs.contains(device) ? "child" : "parent"]
            case "device.pair":
                guard state.codes.remove(params["code"]?.stringValue ?? "") != nil else {
                    throw MeshError(.unauthenticated, "That code is not good any more. Ask for another.")
                }
                state.paired += 1
                let device = "device-\(state.paired)"
                let token = "token_" + UUID().uuidString
                state.tokens[token] = device
                return [
                    "device": .object(["id": .string(device), "name": params["name"] ?? ""]), "token": .string(token),
                ]
            case "device.forget":
                state.tokens = state.tokens.filter { $0.value != params["id"]?.stringValue }
                return [:]
            case "metrics.read":
                guard let token = params["token"]?.stringValue, token == state.monitor else {
                    throw MeshError(.unauthenticated, "There is no such token.")
                }
                return ["text": "smilepile_photos 3\n"]
            case "hub.groups":
                let group = try Self.group(params, state)
                return ["groups": [["id": .string(group), "name": "Cousins", "offset": params["utcOffset"] ?? "none"]]]
            case "hub.photos":
                let group = try Self.group(params, state)
                let photos = state.groupPhotos.keys.sorted().map { Self.photo($0, group) }
                return ["photos": .array(photos), "asked": .object(params)]
            case "hub.send":
                let group = try Self.group(params, state)
                state.sent.append(params)
                guard state.sent.count < 2 else { throw MeshError(.alreadyExists, "You have sent today.") }
                return Self.photo("0b7f6a52-3f0e-4c3e-9b1d-2f6d5a4c3b2b", group)
            case "hub.reviews":
                _ = try Self.group(params, state)
                guard params["after"]?.stringValue != "x" else { throw MeshError(.invalidArgument, "No such part.") }
                return ["sessions": [], "next": params["after"] ?? "none"]
            case "hub.takeReviews":
                _ = try Self.group(params, state)
                state.sent.append(params)
                return ["decisions": 1]
            case "link.open":
                let link = try Self.link(params, &state)
                if let password = link.password, params["visit"] == nil {
                    guard let given = params["password"] else {
                        throw MeshError(.unauthenticated, "It has a password.", details: ["link": "password"])
                    }
                    guard given == .string(password) else {
                        throw MeshError(
                            .unauthenticated, "Wrong.", details: ["link": "wrong", "retryAfterMs": 30_000])
                    }
                }
                return ["id": .string(link.id), "photoCount": 1, "visit": "visit_0123456789abcdef"]
            case "link.photos":
                let link = try Self.link(params, &state)
                return ["id": .string(link.id), "photos": [["uuid": "a"]], "after": params["after"] ?? "none"]
            case "hub.leave":
                _ = try Self.group(params, state)
                state.members[params["token"]?.stringValue ?? ""] = nil
                return [:]
            case "upload.state":
                guard let id = params["ids"]?.arrayValue?.first?.stringValue, let path = state.uploads[id] else {
                    return ["uploads": []]
                }
                let size = (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
                return ["uploads": [["upload": .string(id), "received": .integer(Int64(size))]]]
            case "upload.discard":
                state.uploads[params["upload"]?.stringValue ?? ""] = nil
                return [:]
            case _ where method.hasPrefix("dav."):
                guard var files = state.programs[params["password"]?.stringValue ?? ""] else {
                    throw MeshError(.unauthenticated, "This password is not valid.")
                }
                defer { state.programs[params["password"]?.stringValue ?? ""] = files }
                return try files.answer(method, params)
            default: throw MeshError(.unimplemented, "There is no method '\(method)'.")
            }
        }
        if method == "device.authenticate", params["token"]?.stringValue?.hasPrefix("gated") == true {
            await daemon.answered.pass()
        }
        return try JSONEncoder().encode(reply)
    }

    private static func photo(_ id: String, _ group: String) -> JSONValue {
        ["id": .string(id), "group_id": .string(group), "sender_name": "Ada"]
    }

    /// The link that is asked for, while it is open.
    private static func link(
        _ params: [String: JSONValue], _ state: inout FakeDaemon.State
    ) throws -> FakeDaemon.Link {
        state.visited.append(params)
        guard let link = state.links[params["token"]?.stringValue ?? ""] else {
            throw MeshError(.notFound, "There is no such link.", details: ["link": "unknown"])
        }
        if let end = link.end { throw MeshError(.failedPrecondition, "It has ended.", details: ["link": .string(end)]) }
        return link
    }

    /// The group of whoever asks.
    private static func group(_ params: [String: JSONValue], _ state: FakeDaemon.State) throws -> String {
        guard let group = state.members[params["token"]?.stringValue ?? ""] else {
            throw MeshError(.unauthenticated, "This token is not valid.")
        }
        guard params["groupId"].map({ $0 == .string(group) }) ?? true else {
            throw MeshError(.notFound, "There is no such group.")
        }
        return group
    }

    func open(method: String, params: Data) async throws -> (reply: Data, file: OwnedFile) {
        try check()
        daemon.called.change { $0.append(method) }
        let params = try JSONDecoder().decode([String: JSONValue].self, from: params)
        if method == "upload.resume" { await daemon.resumed.pass() }
        let folder = daemon.folder
        // Where the file is gone on with. Not by O_APPEND: who wrote before may be at its last piece still, which a real daemon
        // leaves where it belongs or does not take.
        var start = 0
        let (reply, path, flags): (JSONValue, String, Int32) = try daemon.state.withLock { state in
            switch method {
            case "photo.open", "trash.open":
                let key =
                    (method == "trash.open" ? "trash/" : "") + (params["uuid"]?.stringValue ?? "") + "/"
                    + (params["file"]?.stringValue ?? "")
                guard let picture = state.pictures[key] else { throw MeshError(.notFound, "There is no such photo.") }
                let path = folder.file(UUID().uuidString)
                try Data(picture.bytes).write(to: URL(fileURLWithPath: path))
                var facts: [String: JSONValue] = [
                    "mediaType": .string(picture.mediaType), "size": .integer(Int64(picture.bytes.count)),
                    "contentDigest": .string(picture.digest),
                ]
                if let name = picture.name { facts["name"] = .string(name) }
                if let rotation = picture.rotation { facts["rotation"] = .integer(Int64(rotation)) }
                return (.object(facts), path, O_RDONLY)
            case "group.open":
                guard !state.isKids else { throw MeshError(.permissionDenied, "Groups are for parents.") }
                guard let bytes = state.groupPhotos[params["photoId"]?.stringValue ?? ""] else {
                    throw MeshError(.notFound, "There is no such photo in a group.")
                }
                let path = folder.file(UUID().uuidString)
                try Data(bytes).write(to: URL(fileURLWithPath: path))
                return (["photo": ["fileSize": .integer(Int64(bytes.count))]], path, O_RDONLY)
            case "hub.open":
                let group = try Self.group(params, state)
                guard let bytes = state.groupPhotos[params["photoId"]?.stringValue ?? ""] else {
                    throw MeshError(.notFound, "There is no such photo in a group.")
                }
                let path = folder.file(UUID().uuidString)
                try Data(bytes).write(to: URL(fileURLWithPath: path))
                return (
                    ["photo": ["fileSize": .integer(Int64(bytes.count)), "groupId": .string(group)]], path, O_RDONLY
                )
            case "link.openPhoto":
                let link = try Self.link(params, &state)
                let kind = params["file"]?.stringValue ?? ""
                guard kind != "original" else { throw MeshError(.permissionDenied, "This link gives no originals.") }
                guard let bytes = link.pictures[(params["uuid"]?.stringValue ?? "") + "/" + kind] else {
                    throw MeshError(.notFound, "This link does not show that.")
                }
                let path = folder.file(UUID().uuidString)
                try Data(bytes).write(to: URL(fileURLWithPath: path))
                return (
                    [
                        "id": .string(link.id), "mediaType": .string(kind == "preview" ? "image/webp" : "image/jpeg"),
                        "size": .integer(Int64(bytes.count)), "version": "00ff",
                    ], path, O_RDONLY
                )
            case "hub.receive":
                _ = try Self.group(params, state)
                let upload = UUID().uuidString.lowercased()
                let path = folder.file("received-" + upload)
                _ = FileManager.default.createFile(atPath: path, contents: nil)
                state.received[upload] = path
                return (["upload": .string(upload)], path, O_WRONLY)
            case "dav.begin":
                guard var files = state.programs[params["password"]?.stringValue ?? ""] else {
                    throw MeshError(.unauthenticated, "This password is not valid.")
                }
                defer { state.programs[params["password"]?.stringValue ?? ""] = files }
                let upload = UUID().uuidString.lowercased()
                let path = folder.file("sent-" + upload)
                try files.begin(upload, params, at: path)
                _ = FileManager.default.createFile(atPath: path, contents: nil)
                return (["upload": .string(upload), "room": .integer(state.room)], path, O_WRONLY)
            case "dav.open":
                guard let files = state.programs[params["password"]?.stringValue ?? ""] else {
                    throw MeshError(.unauthenticated, "This password is not valid.")
                }
                return (["mediaType": "image/jpeg"], try files.file(params), O_RDONLY)
            case "upload.begin":
                let upload = UUID().uuidString.lowercased()
                let path = folder.file("upload-" + upload)
                _ = FileManager.default.createFile(atPath: path, contents: nil)
                state.uploads[upload] = path
                state.begun.append(params)
                return (["upload": .string(upload)], path, O_WRONLY)
            case "upload.resume":
                guard let path = state.uploads[params["upload"]?.stringValue ?? ""] else {
                    throw MeshError(.notFound, "There is no such upload. Begin it again.")
                }
                let size = (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
                start = size
                let (announced, room) = (state.announced ?? .max, state.room)
                return (
                    [
                        "offset": .integer(Int64(size)), "rest": .integer(announced - Int64(size)),
                        "room": .integer(room),
                    ],
                    path, O_WRONLY
                )
            default: throw MeshError(.unimplemented, "There is no method '\(method)'.")
            }
        }
        let descriptor = Foundation.open(path, flags | O_CLOEXEC)
        if start > 0 { lseek(descriptor, off_t(start), SEEK_SET) }
        return (try JSONEncoder().encode(reply), OwnedFile(owning: descriptor))
    }

    func observe(
        method: String, params: Data, onUpdate: @escaping @Sendable (ControlUpdate<Data>) async throws -> Void
    ) async throws -> Data {
        try check()
        if method == "thing.end" { return Data("7".utf8) }
        guard ["thing.observe", "device.observe", "photo.observe", "link.observe"].contains(method) else {
            throw MeshError(.permissionDenied, "\(method) is for parents.")
        }
        let (values, feed) = AsyncStream.makeStream(of: Int.self)
        let key = state.withLock { state in
            state.next += 1
            state.observers[state.next] = (method, feed)
            return state.next
        }
        feed.yield(daemon.state.withLock { $0.value })
        if method == "thing.observe" { await daemon.observed.pass() }
        var sequence: UInt64 = 0
        for await value in values {
            sequence += 1
            let (ids, rights, links) = daemon.state.withLock { state in
                (
                    state.tokens.values.map { "\"\($0)\"" }.joined(separator: ","),
                    state.rights.map { "\"\($0)\":\($1)" }.joined(separator: ","),
                    state.links.values.filter { $0.end == nil }.map { "\"\($0.id)\"" }.joined(separator: ",")
                )
            }
            let json =
                switch method {
                case "device.observe": "{\"ids\":[\(ids)],\"changes\":{\(rights)}}"
                case "link.observe": "{\"ids\":[\(links)]}"
                default: "{\"is\":\(value)}"
                }
            try await onUpdate(ControlUpdate(sequence: sequence, value: Data(json.utf8), overflowed: false))
            if method == "device.observe" { await daemon.told.pass() }
            if method == "link.observe" { await daemon.toldLinks.pass() }
        }
        state.withLock { _ = $0.observers.removeValue(forKey: key) }
        try Task.checkCancellation()
        throw ControlError.closed("the daemon closed it")
    }

    private static let discovery: JSONValue = {
        let kinds = [
            "rpc.discover": "read", "thing.echo": "read", "thing.slow": "read", "thing.fail": "read",
            "thing.forever": "read",
            "thing.observe": "observation", "thing.secret": "observation", "thing.end": "observation",
        ]
        let methods = kinds.map { name, kind in
            JSONValue.object([
                "name": .string(name), "summary": "", "role": "kid", "kind": .string(kind), "params": [:],
                "result": [:],
            ])
        }
        return .object(["methods": .array(methods)])
    }()
}
