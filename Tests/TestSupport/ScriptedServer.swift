import Foundation
import Synchronization

/// A TCP server on 127.0.0.1 that does with each connection what a test says, on a thread of the connection's own.
public final class ScriptedServer: Sendable {
    public struct Failure: Error {
        public let reason: String

        public init(reason: String) { self.reason = reason }
    }

    public let port: Int
    private let listener: Int32
    private let taken = Mutex(0)

    /// Connections that have been taken so far.
    public var connections: Int { taken.withLock { $0 } }

    /// - Parameter script: the connection is closed when it ends.
    public init(_ script: @escaping @Sendable (Peer) throws -> Void) throws {
        (listener, port) = try Self.bind()
        guard listen(listener, 128) == 0 else { throw Failure(reason: "listen: \(errno)") }
        let listener = listener
        Thread.detachNewThread { [weak self] in
            // Ends when the listener is shut down, which the server does when it goes.
            while case let connection = accept(listener, nil, nil), connection >= 0 {
                self?.taken.withLock { $0 += 1 }
                Thread.detachNewThread {
                    let peer = Peer(connection)
                    try? script(peer)
                    peer.close()
                }
            }
            Glibc.close(listener)
        }
    }

    /// Answers every request with `answer`, and keeps connections open.
    public convenience init(answering answer: @escaping @Sendable (Peer.Request) -> String) throws {
        try self.init { peer in
            while true { try peer.send(answer(try peer.readRequest())) }
        }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    /// A socket with a port of its own at which nobody listens until it does.
    public static func bind() throws -> (socket: Int32, port: Int) {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutableBytes(of: &address) { bytes in
            let pointer = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            return Glibc.bind(socket, pointer!, length) == 0 && getsockname(socket, pointer!, &length) == 0
        }
        guard isBound else { throw Failure(reason: "bind: \(errno)") }
        return (socket, Int(UInt16(bigEndian: address.sin_port)))
    }

    /// An answer with its length.
    public static func answer(_ status: String = "200 OK", _ body: String = "", headers: [String] = []) -> String {
        (["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + headers + ["", body]).joined(separator: "\r\n")
    }
}

/// The server's end of one connection.
public final class Peer: Sendable {
    public struct Request: Sendable {
        public let method: String
        public let target: String
        /// Names in small letters.
        public let headers: [String: String]
        public let body: [UInt8]
    }

    private let socket: Mutex<Int32>
    private let rest = Mutex<[UInt8]>([])

    public init(_ socket: Int32) { self.socket = Mutex(socket) }

    private var descriptor: Int32 { socket.withLock { $0 } }

    public func close() {
        socket.withLock {
            if $0 >= 0 { Glibc.close($0) }; $0 = -1
        }
    }

    /// The other side is told that the connection has failed, and not that it has ended.
    public func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        close()
    }

    public func send(_ text: String) throws { try send(Array(text.utf8)) }

    public func send(_ bytes: [UInt8]) throws {
        var done = 0
        while done < bytes.count {
            let count = bytes[done...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw ScriptedServer.Failure(reason: "send: \(errno)") }
            done += count
        }
    }

    /// Sends again and again until the other side takes no more.
    public func sendWithoutEnd(_ text: String) {
        let bytes = Array(repeating: text, count: 64).flatMap(\.utf8)
        while (try? send(bytes)) != nil {}
    }

    /// Reads, and throws away, until the other side has closed the connection.
    public func waitForEnd() {
        var room = [UInt8](repeating: 0, count: 64 << 10)
        while recv(descriptor, &room, room.count, 0) > 0 {}
    }

    /// Whether the other side has closed the connection after so many milliseconds.
    public func hasEnded(after milliseconds: Int32) -> Bool {
        var watched = pollfd(fd: descriptor, events: 0x2000 /* POLLRDHUP */, revents: 0)
        return poll(&watched, 1, milliseconds) == 1
    }

    public func readHead() throws -> Request {
        try rest.withLock { rest in
            let end = Array("\r\n\r\n".utf8)
            while true {
                if let place = rest.firstRange(of: end) {
                    let lines = String(decoding: rest[..<place.lowerBound], as: UTF8.self)
                        .components(separatedBy: "\r\n")
                    rest.removeSubrange(..<place.upperBound)
                    let words = lines[0].split(separator: " ").map(String.init)
                    guard words.count == 3 else { throw ScriptedServer.Failure(reason: "no request: \(lines[0])") }
                    let headers = lines.dropFirst().map { line in
                        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                        return (
                            parts[0].lowercased(),
                            parts.count == 2 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
                        )
                    }
                    return Request(
                        method: words[0], target: words[1],
                        headers: Dictionary(headers, uniquingKeysWith: { $0 + ", " + $1 }), body: [])
                }
                try receive(&rest)
            }
        }
    }

    public func readRequest() throws -> Request {
        let head = try readHead()
        let count = Int(head.headers["content-length"] ?? "0") ?? 0
        let body = try rest.withLock { rest in
            while rest.count < count { try receive(&rest) }
            defer { rest.removeSubrange(..<count) }
            return Array(rest[..<count])
        }
        return Request(method: head.method, target: head.target, headers: head.headers, body: body)
    }

    private func receive(_ rest: inout [UInt8]) throws {
        var room = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(descriptor, &room, room.count, 0)
        guard count > 0 else { throw ScriptedServer.Failure(reason: "the connection has ended") }
        rest += room[..<count]
    }
}
