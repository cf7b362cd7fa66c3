import CLinux
import Dispatch
import Foundation

/// A client that sends any bytes and reads lines, for what a well-behaved client would not do. What blocks runs on
/// queues of its own.
final class RawClient: Sendable {
    struct Failure: Error { let reason: String }

    private let socket: Int32
    private let writing = DispatchQueue(label: "raw-client-writing")
    private let reading = DispatchQueue(label: "raw-client-reading")
    private let input = Input()

    /// Confined to the reading queue.
    private final class Input: @unchecked Sendable {
        // Unchecked because only closures on the serial reading queue touch it.
        var bytes: [UInt8] = []
        var hasEnded = false
        /// Bytes that are known to have no LF among them.
        private var searched = 0

        func takeLine() -> String? {
            let end = bytes[searched...].withUnsafeBytes { rest -> Int? in
                guard let base = rest.baseAddress, let found = memchr(base, 0x0A, rest.count) else { return nil }
                return searched + (UnsafeRawPointer(found) - base)
            }
            guard let end else {
                searched = bytes.count
                return nil
            }
            let line = String(decoding: bytes[..<end], as: UTF8.self)
            bytes.removeFirst(end + 1)
            searched = 0
            return line
        }
    }

    init(path: String) throws {
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(reason: "socket") }
        guard clinux_unix_connect(descriptor, path) == 0 else {
            Glibc.close(descriptor)
            throw Failure(reason: "connect: \(errno)")
        }
        socket = descriptor
    }

    deinit { Glibc.close(socket) }

    private func on<T: Sendable>(_ queue: DispatchQueue, _ work: @escaping @Sendable () -> T) async -> T {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: work()) }
        }
    }

    /// Sends all bytes; returns false where the other side has closed.
    @discardableResult
    func send(bytes: [UInt8]) async -> Bool {
        await on(writing) { [self] in
            var sent = 0
            while sent < bytes.count {
                let count = bytes.withUnsafeBytes {
                    Glibc.send(socket, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return false }
                sent += count
            }
            return true
        }
    }

    /// Sends `line` and a LF.
    @discardableResult
    func send(_ line: String) async -> Bool { await send(bytes: Array(line.utf8) + [0x0A]) }

    /// The next line without its LF, or nil at the end.
    func line() async -> String? {
        await on(reading) { [self] in
            while true {
                if let line = input.takeLine() { return line }
                guard !input.hasEnded else { return nil }
                var chunk = [UInt8](repeating: 0, count: 64 << 10)
                let count = recv(socket, &chunk, chunk.count, 0)
                if count <= 0 { input.hasEnded = true } else { input.bytes += chunk[..<count] }
            }
        }
    }

    /// Reads a few bytes and forgets them. False at the end.
    func skip(_ count: Int) async -> Bool {
        await on(reading) { [self] in
            var chunk = [UInt8](repeating: 0, count: count)
            return recv(socket, &chunk, chunk.count, 0) > 0
        }
    }

    /// The next line as JSON.
    func reply() async throws -> Reply {
        guard let line = await line() else { throw Failure(reason: "the server closed the connection") }
        return try Reply(line)
    }

    /// Sends a request and takes the next line.
    func ask(_ line: String) async throws -> Reply {
        await send(line)
        return try await reply()
    }

    /// The lines until the server closes.
    func rest() async -> [String] {
        var lines: [String] = []
        while let line = await line() { lines.append(line) }
        return lines
    }

    /// Waits, without reading, until the server has closed the connection.
    func hungUp() async {
        await on(reading) { [self] in
            var watched = pollfd(fd: socket, events: 0, revents: 0)
            while poll(&watched, 1, -1) < 0 && errno == EINTR {}
        }
    }

    func endSending() { shutdown(socket, Int32(SHUT_WR)) }

    func disconnect() { shutdown(socket, Int32(SHUT_RDWR)) }
}
