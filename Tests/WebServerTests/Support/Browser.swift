import Executors
import Foundation
import ServiceMesh
import Synchronization
import Testing

@testable import WebServer

/// A web server in front of a ``FakeDaemon``.
struct Site: Sendable {
    let daemon: FakeDaemon
    let server: WebServer
    var port: UInt16 { server.address.port }
    var origin: String { "http://127.0.0.1:\(port)" }

    init(
        _ daemon: FakeDaemon, limits: HTTPLimits = HTTPLimits(), files: [StaticFile] = [], names: [String] = [],
        accessLog: AccessLog? = nil, whereabouts: Whereabouts = Whereabouts()
    ) throws {
        self.daemon = daemon
        let address = try #require(ListeningAddress("127.0.0.1:0"))
        server = try WebServer(
            on: [WebListener(address)], names: names, files: files, limits: limits, accessLog: accessLog,
            whereabouts: whereabouts
        ) { try daemon.connect() }
    }

    func connect() async throws -> RawHTTP { try await RawHTTP.connect(port) }

    /// The cookie of a browser that has been paired.
    func pair() async throws -> String {
        let code = UUID().uuidString
        daemon.state.withLock { _ = $0.codes.insert(code) }
        let reply = try await ask(
            "POST", "/pair", ["Origin: \(origin)", "Content-Type: application/json"],
            body: "{\"code\":\"\(code)\",\"name\":\"Phone\"}")
        try #require(reply.status == 200, "\(reply.text)")
        let cookie = try #require(reply.header("set-cookie"))
        return "Cookie: " + (cookie.split(separator: ";").first ?? "")
    }

    /// One request over a connection of its own.
    func ask(_ method: String, _ target: String, _ headers: [String] = [], body: String = "") async throws -> RawReply {
        let connection = try await connect()
        try await connection.send(request(method, target, headers, body))
        return try await connection.reply(hasBody: method != "HEAD")
    }

    func request(_ method: String, _ target: String, _ headers: [String] = [], _ body: String = "") -> String {
        var lines = ["\(method) \(target) HTTP/1.1"]
        if !headers.contains(where: { $0.hasPrefix("Host:") }) { lines.append("Host: 127.0.0.1:\(port)") }
        lines += headers
        if !body.isEmpty { lines.append("Content-Length: \(body.utf8.count)") }
        return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
    }

    func rpc(_ cookie: String, _ body: String) async throws -> RawReply {
        try await ask(
            "POST", "/rpc", ["Origin: \(origin)", "Content-Type: application/json", cookie], body: body)
    }
}

/// Runs `body` with a server, and stops that afterwards, also where `body` throws.
func withSite(
    limits: HTTPLimits = HTTPLimits(), files: [StaticFile] = [], names: [String] = [],
    _ body: (Site) async throws -> Void
) async throws {
    let daemon = try FakeDaemon()
    let site = try Site(daemon, limits: limits, files: files, names: names)
    do {
        try await body(site)
    } catch {
        daemon.gate.open()
        await site.server.stop()
        daemon.stop()
        throw error
    }
    daemon.gate.open()
    await site.server.stop()
    // It and its connections hold each other until then.
    daemon.stop()
}

struct RawReply: Sendable {
    let status: Int
    let headers: [(String, String)]
    let body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }

    func header(_ name: String) -> String? { headers.first { $0.0 == name }?.1 }

    var error: JSONValue? { (try? JSONDecoder().decode(JSONValue.self, from: Data(body)))?["error"] }
    var errorStatus: String? { error?["data"]?["status"]?.stringValue }
}

/// Bytes over TCP, as a browser or somebody else may send them. Its calls block a thread of their own.
final class RawHTTP: Sendable {
    enum Fault: Error { case closed, notHTTP(String) }

    private static let threads = BlockingPool(name: "raw-http", threads: 8)
    private let socket: Int32
    private let buffer = Mutex([UInt8]())

    private init(_ socket: Int32) { self.socket = socket }

    deinit { Foundation.close(socket) }

    /// - Parameter client: the address that it comes from; nil for the system's choice.
    static func connect(
        _ port: UInt16, host: String = "127.0.0.1", from client: String? = nil
    ) async throws -> RawHTTP {
        try await threads.run {
            let descriptor = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            let raw = RawHTTP(descriptor)
            if let client { try check(withAddress(client, 0) { Foundation.bind(descriptor, $0, $1) }) }
            try check(withAddress(host, port) { Foundation.connect(descriptor, $0, $1) })
            return raw
        }
    }

    private static func check(_ status: Int32) throws {
        guard status == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    private static func withAddress(
        _ host: String, _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        inet_pton(AF_INET, host, &address.sin_addr)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    func send(_ text: String) async throws { try await send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) async throws {
        let socket = socket
        try await Self.threads.run {
            var done = 0
            while done < bytes.count {
                let count = bytes.withUnsafeBytes {
                    Foundation.send(socket, $0.baseAddress! + done, $0.count - done, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { throw Fault.closed }
                done += count
            }
        }
    }

    /// Ends this side at once, as a phone that loses its network does in the end.
    func cut() {
        shutdown(socket, Int32(SHUT_RDWR))
    }

    /// As a client that has said all.
    func endSending() { shutdown(socket, Int32(SHUT_WR)) }

    /// The next bytes; empty at the end of the connection.
    private func more() async throws -> [UInt8] {
        let socket = socket
        return try await Self.threads.run {
            var room = [UInt8](repeating: 0, count: 1 << 16)
            let count = recv(socket, &room, room.count, 0)
            return Array(room.prefix(max(0, count)))
        }
    }

    /// Reads up to and with `end`.
    func read(until end: String) async throws -> String {
        let end = Array(end.utf8)
        while true {
            let found = buffer.withLock { buffer -> String? in
                guard let range = buffer.firstRange(of: end) else { return nil }
                defer { buffer.removeSubrange(..<range.upperBound) }
                return String(decoding: buffer[..<range.upperBound], as: UTF8.self)
            }
            if let found { return found }
            let bytes = try await more()
            guard !bytes.isEmpty else { throw Fault.closed }
            buffer.withLock { $0 += bytes }
        }
    }

    private func read(_ count: Int) async throws -> [UInt8] {
        while buffer.withLock({ $0.count }) < count {
            let bytes = try await more()
            guard !bytes.isEmpty else { throw Fault.closed }
            buffer.withLock { $0 += bytes }
        }
        return buffer.withLock { buffer in
            defer { buffer.removeFirst(count) }
            return Array(buffer.prefix(count))
        }
    }

    /// Everything up to the end of the connection.
    func rest() async throws -> String {
        while true {
            let bytes = try await more()
            if bytes.isEmpty { break }
            buffer.withLock { $0 += bytes }
        }
        return buffer.withLock { String(decoding: $0, as: UTF8.self) }
    }

    /// The status line and headers of a response.
    func head() async throws -> RawReply {
        let lines = try await read(until: "\r\n\r\n").split(separator: "\r\n")
        guard let first = lines.first, first.hasPrefix("HTTP/1.1 "), let status = Int(first.split(separator: " ")[1])
        else { throw Fault.notHTTP(lines.joined(separator: "|")) }
        let headers = lines.dropFirst().map { line -> (String, String) in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (parts[0].lowercased(), parts.count == 2 ? parts[1].trimmingCharacters(in: .whitespaces) : "")
        }
        return RawReply(status: status, headers: headers, body: [])
    }

    func reply(hasBody: Bool = true) async throws -> RawReply {
        var head = try await head()
        if head.status == 100 { head = try await self.head() }
        let count = hasBody && head.status != 304 ? Int(head.header("content-length") ?? "0") ?? 0 : 0
        return RawReply(status: head.status, headers: head.headers, body: try await read(count))
    }

    /// The next event of a stream, without chunks and comments.
    func event() async throws -> (name: String, id: String, data: String) {
        while true {
            var fields: [String: String] = [:]
            // Chunks' sizes stand in lines of their own, and have no colon.
            for line in try await read(until: "\n\n").split(whereSeparator: { $0 == "\n" || $0 == "\r\n" }) {
                let parts = line.split(separator: ":", maxSplits: 1)
                if parts.count == 2 { fields[String(parts[0])] = parts[1].trimmingCharacters(in: .whitespaces) }
            }
            if let name = fields["event"] { return (name, fields["id"] ?? "", fields["data"] ?? "") }
        }
    }
}
