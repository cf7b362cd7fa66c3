import Foundation
import ServiceMesh
import Synchronization

/// The DevTools protocol on our end of a socket pair: commands and their answers, and events.
///
/// Each message is JSON and ends with a zero byte. A thread of its own reads, because reading blocks.
final class DevToolsSocket: Sendable {
    typealias Listener = @Sendable (_ event: String, _ parameters: JSONValue) -> Void

    private struct Command: Encodable {
        let id: Int
        let method: String
        let params: [String: JSONValue]
        let sessionId: String?
    }

    private struct Incoming: Decodable {
        struct Fault: Decodable {
            let message: String
        }

        let id: Int?
        let method: String?
        let sessionId: String?
        let params: JSONValue?
        let result: JSONValue?
        let error: Fault?
    }

    private struct State {
        var lastID = 0
        var waiting: [Int: CheckedContinuation<JSONValue, any Error>] = [:]
        /// By session.
        var listeners: [String: Listener] = [:]
        var hasEnded = false
    }

    private let descriptor: Int32
    private let state = Mutex(State())
    /// Held for as long as a message is being written: messages do not mix.
    private let writing = Mutex(())

    /// - Parameter descriptor: a connected stream socket. Belongs to this value from now on.
    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        let thread = Thread { [self] in read() }
        thread.stackSize = 4 << 20
        thread.start()
    }

    deinit { close(descriptor) }

    /// Ends the connection: what waits for an answer fails, and the browser ends.
    func shutDown() {
        // Behind no lock: this also ends a write that waits.
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Events of a session go here from now on, on the thread that reads: the listener returns soon.
    func listen(to session: String, _ listener: @escaping Listener) {
        state.withLock { $0.listeners[session] = listener }
    }

    func forget(_ session: String) { state.withLock { _ = $0.listeners.removeValue(forKey: session) } }

    /// Sends a command and returns its result.
    /// - Throws: ``BrowserFault`` where the browser refuses, does not answer in time, or has ended.
    func send(
        _ method: String, _ parameters: [String: JSONValue], session: String?, within limit: Duration
    ) async throws -> JSONValue {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let message = Command(id: id, method: method, params: parameters, sessionId: session)
        let bytes = [UInt8](try JSONEncoder().encode(message)) + [0]
        let late = BrowserFault("\(method) was not answered within \(limit).")
        let timer = DispatchSource.makeTimerSource()
        timer.setEventHandler { [self] in finish(id, .failure(late)) }
        timer.schedule(deadline: .now() + .milliseconds(Int(limit / .milliseconds(1))))
        timer.activate()
        defer { timer.cancel() }
        return try await withCheckedThrowingContinuation { continuation in
            let hasEnded = state.withLock { state in
                if !state.hasEnded { state.waiting[id] = continuation }
                return state.hasEnded
            }
            if hasEnded { return continuation.resume(throwing: Self.ended) }
            // Dispatch's thread and not the caller's: a script may be larger than the socket's buffer.
            DispatchQueue.global().async { [self] in
                if !write(bytes) { finish(id, .failure(Self.ended)) }
            }
        }
    }

    private static let ended = BrowserFault("The browser has ended.")

    private func finish(_ id: Int, _ result: Result<JSONValue, any Error>) {
        state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(with: result)
    }

    private func write(_ bytes: [UInt8]) -> Bool {
        writing.withLock { _ in
            var sent = 0
            while sent < bytes.count {
                // Without a signal where the browser has gone.
                let count = bytes[sent...].withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { return false }
                sent += count
            }
            return true
        }
    }

    // MARK: The thread

    private func read() {
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        var message = Data()
        while true {
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { break }
            var rest = piece[..<count]
            while let end = rest.firstIndex(of: 0) {
                message.append(contentsOf: rest[..<end])
                take(message)
                message.removeAll(keepingCapacity: true)
                rest = rest[(end + 1)...]
            }
            message.append(contentsOf: rest)
        }
        let waiting = state.withLock { state in
            state.hasEnded = true
            defer { state.waiting = [:] }
            return state.waiting
        }
        for continuation in waiting.values { continuation.resume(throwing: Self.ended) }
    }

    private func take(_ message: Data) {
        guard let incoming = try? JSONDecoder().decode(Incoming.self, from: message) else { return }
        if let id = incoming.id {
            if let error = incoming.error {
                finish(id, .failure(BrowserFault(error.message)))
            } else {
                finish(id, .success(incoming.result ?? .null))
            }
        } else if let method = incoming.method, let session = incoming.sessionId {
            state.withLock { $0.listeners[session] }?(method, incoming.params ?? .null)
        }
    }
}
