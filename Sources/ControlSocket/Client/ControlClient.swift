import Foundation
import ServiceMesh

/// Talks to a daemon over its socket: for the command line, the benchmarks and the tests. Many requests may run at
/// once on one client.
///
/// ```swift
/// let client = try ControlClient(path: ControlAddress.resolve())
/// let page = try await client.call(SearchPhotos(PhotoFilter(text: "beach")))
/// ```
///
/// Errors of a request are ``/ServiceMesh/MeshError``, as in the process itself; those of the connection are
/// ``ControlError``. Not for use inside the daemon: there the mesh is asked directly.
public final class ControlClient: Sendable {
    private let link: ClientLink

    /// Connects, without waiting: who has no place in the listener's queue yet gets it while the first request waits.
    /// - Parameter patience: how long the daemon may say nothing at all while a request waits, also one that takes long:
    ///   it is asked for a sign of life meanwhile. Then requests end with ``ControlError/notAnswering(path:pid:)``.
    /// - Throws: ``ControlError/notRunning(path:)``, ``ControlError/cannotConnect(path:reason:)``,
    ///   ``ControlError/unusableAddress(path:reason:)``.
    public init(path: String = ControlAddress.resolve(), patience: Duration = .seconds(5)) throws {
        let (seconds, attoseconds) = patience.components
        link = try ClientLink(
            path: path,
            patience: UInt64(max(0, seconds)) &* 1_000_000_000 &+ UInt64(max(0, attoseconds / 1_000_000_000)))
    }

    /// Over a connection that another process has made.
    /// - Parameters:
    ///   - socket: connected, not waited for, and the client's from now on.
    ///   - path: where to, for messages.
    ///   - user: whose the daemon has to be, beside root's.
    /// - Throws: ``ControlError/foreign(path:uid:)``.
    public init(connected socket: Int32, path: String, user: UInt32) throws {
        link = try ClientLink(connected: socket, path: path, user: user, patience: 5_000_000_000)
    }

    deinit { close() }

    /// Ends the connection. A request that still waits for a reply gets ``ControlError/closed(_:)``.
    public func close() { link.end(ControlError.closed("it was closed on this side")) }

    /// Whether the connection has not ended, as far as this side knows. A request on one that has ended fails at once, and
    /// has not been sent.
    public var isOpen: Bool { link.isOpen }

    /// Asks and waits for the reply.
    /// - Parameter deadlineMs: milliseconds for the whole call, at the daemon.
    /// - Throws: ``/ServiceMesh/MeshError``, or ``ControlError`` where the connection fails. When the task is cancelled,
    ///   the daemon is told, and its answer (usually the status `cancelled`) is waited for.
    public func call<M: Message>(_ message: M, deadlineMs: Int64? = nil) async throws -> M.Reply {
        let reply = try await ask(
            M.method, try Self.encode(message), deadlineMs, wantsFiles: M.carriesFiles
        ) { _ in }
        return try Self.decode(M.Reply.self, reply, of: M.method)
    }

    /// Asks by name, and takes the open files of the reply beside its JSON.
    public func callForFiles(
        method: String, params: Data = Data(), deadlineMs: Int64? = nil
    ) async throws -> ControlReply {
        try await ask(method, params, deadlineMs, wantsFiles: true) { _ in }
    }

    /// Asks by name. `params` is a JSON object on one line, or empty for none.
    public func call(method: String, params: Data = Data(), deadlineMs: Int64? = nil) async throws -> Data {
        try await observe(method: method, params: params, deadlineMs: deadlineMs) { _ in }
    }

    /// Observes: `onUpdate` gets the current value, then each change, and is awaited before the next one is
    /// handed out; the reply comes when there are no more. An error from `onUpdate` cancels the request and is
    /// thrown when it has ended.
    public func observe<M: Message, Update: Decodable & Sendable>(
        _ message: M, updates: Update.Type = Update.self, deadlineMs: Int64? = nil,
        onUpdate: @Sendable (ControlUpdate<Update>) async throws -> Void
    ) async throws -> M.Reply {
        let reply = try await observe(
            method: M.method, params: try Self.encode(message), deadlineMs: deadlineMs
        ) { update in
            try await onUpdate(
                ControlUpdate(
                    sequence: update.sequence,
                    value: try Self.decode(Update.self, ControlReply(json: update.value), of: M.method),
                    overflowed: update.overflowed))
        }
        return try Self.decode(M.Reply.self, ControlReply(json: reply), of: M.method)
    }

    /// Observes by name.
    public func observe(
        method: String, params: Data = Data(), deadlineMs: Int64? = nil,
        onUpdate: @Sendable (ControlUpdate<Data>) async throws -> Void
    ) async throws -> Data {
        try await ask(method, params, deadlineMs, wantsFiles: false, onUpdate: onUpdate).json
    }

    private func ask(
        _ method: String, _ params: Data, _ deadlineMs: Int64?, wantsFiles: Bool,
        onUpdate: @Sendable (ControlUpdate<Data>) async throws -> Void
    ) async throws -> ControlReply {
        if Task.isCancelled { throw MeshError(describing: CancellationError()) }
        let (id, reply) = try link.send { Self.line($0, method, params, deadlineMs, wantsFiles: wantsFiles) }
        return try await withTaskCancellationHandler {
            while true {
                switch await reply.next() {
                case .reply(let outcome): return try outcome.get()
                case .update(let update):
                    do {
                        try await onUpdate(update)
                    } catch {
                        await abandon(id, reply)
                        throw error
                    }
                }
            }
        } onCancel: {
            link.notify(Self.cancellation(of: id))
        }
    }

    private func abandon(_ id: UInt64, _ reply: PendingReply) async {
        link.notify(Self.cancellation(of: id))
        while case .update = await reply.next() {}
    }

    // MARK: Lines

    static func line(
        _ id: UInt64, _ method: String, _ params: Data, _ deadlineMs: Int64?, wantsFiles: Bool = false
    ) -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(params.count + method.utf8.count + 96)
        line += "{\"jsonrpc\":\"2.0\",\"id\":\(id),\"method\":".utf8
        line += JSONSyntax.quoted(method.utf8)
        if !params.isEmpty {
            line += ",\"params\":".utf8
            // A line end inside JSON can only be space between its parts, and would end the request.
            for byte in params { line.append(byte == 0x0A || byte == 0x0D ? 0x20 : byte) }
        }
        if let deadlineMs { line += ",\"deadlineMs\":\(deadlineMs)".utf8 }
        if wantsFiles { line += ",\"descriptors\":true".utf8 }
        line += "}\n".utf8
        return line
    }

    private static func cancellation(of id: UInt64) -> [UInt8] {
        Array("{\"jsonrpc\":\"2.0\",\"method\":\"\(BuiltIn.cancelMethod)\",\"params\":{\"id\":\(id)}}\n".utf8)
    }

    private static func encode<M: Message>(_ message: M) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        do {
            return try encoder.encode(message)
        } catch {
            throw MeshError(.invalidArgument, "\(M.method) cannot be written as JSON: \(error).")
        }
    }

    private static func decode<T: Decodable>(_ type: T.Type, _ reply: ControlReply, of method: String) throws -> T {
        do {
            return reply.files.isEmpty
                ? try JSONDecoder().decode(type, from: reply.json)
                : try OwnedFiles(reply.files).decode(type, from: reply.json)
        } catch {
            throw ControlError.protocolViolation("the answer to \(method) is not what it should be (\(error))")
        }
    }
}
