import ControlSocket
import Foundation
import ServiceMesh

/// The paired browsers that this server knows, by the token that each sends.
///
/// The daemon decides who is paired; what it said is remembered here until it says that something has changed about its
/// devices. Tokens are kept in memory and nowhere else.
actor Devices {
    /// How long the daemon is left alone after it could not be asked about its devices.
    private static let patience = Duration.seconds(1)

    /// After so long the daemon is told once more that a device is here: it shows people when each was here last.
    static let remindAfter: UInt64 = 600_000_000_000

    private let now: @Sendable () -> UInt64
    private let connect: @Sendable () async throws -> any DaemonConnection
    private let pictures: KeptPictures
    private let shared: SharedConnection
    private let onForget: @Sendable (String) -> Void
    private var sessions: [String: DeviceSession] = [:]
    /// When the daemon has last been asked about a token, in nanoseconds.
    private var reminded: [String: UInt64] = [:]
    /// Tokens that the daemon is being asked about.
    private var asked: [String: Task<DeviceSession, any Error>] = [:]
    /// How often the daemon has changed what a device may, by the device's name.
    private var rights: [String: Int] = [:]
    /// How often the daemon has told which devices there are.
    private var changes: UInt64 = 0
    private var watch: Task<Void, Never>?

    /// - Parameters:
    ///   - pictures: kept for devices; a device's own go with it.
    ///   - shared: for pairing, and to hear of devices.
    ///   - onForget: told of the token of a device that the daemon has forgotten, so that the device's requests end.
    init(
        pictures: KeptPictures, shared: SharedConnection, onForget: @escaping @Sendable (String) -> Void = { _ in },
        now: @escaping @Sendable () -> UInt64 = { MonotonicClock.now() },
        connect: @escaping @Sendable () async throws -> any DaemonConnection
    ) {
        self.pictures = pictures
        self.shared = shared
        self.onForget = onForget
        self.now = now
        self.connect = connect
    }

    /// The session of the browser that has this token.
    /// - Throws: `MeshError` with the status `unauthenticated` where nobody has; `ControlError` without a daemon.
    func session(_ token: String, admitted: @escaping @Sendable () throws -> Void) async throws -> DeviceSession {
        if let known = sessions[token] {
            remind(token)
            return known
        }
        if let task = asked[token] { return try await task.value }
        try admitted()
        let task = Task { try await self.ask(token) }
        asked[token] = task
        defer { asked[token] = nil }
        return try await task.value
    }

    private func remind(_ token: String) {
        let now = now()
        guard let last = reminded[token], now - last >= Self.remindAfter else { return }
        reminded[token] = now
        sessions[token]?.remind()
    }

    private func ask(_ token: String) async throws -> DeviceSession {
        while true {
            let before = changes
            let session = try await DeviceSession.open(token, connect: connect)
            // The answer is of a moment that may be over: a change since then was told before there was a session to end.
            guard changes == before else {
                await session.forget()
                continue
            }
            // As many as there are devices: the daemon has a bound on those.
            sessions[token] = session
            reminded[token] = now()
            return session
        }
    }

    /// - Returns: what the daemon says about the device, and its token.
    /// - Parameter userAgent: what the browser calls itself.
    func pair(
        code: String, name: String, userAgent: String?
    ) async throws -> (device: JSONValue, token: String) {
        var params: [String: JSONValue] = ["code": .string(code), "name": .string(name)]
        if let userAgent { params["userAgent"] = .string(userAgent) }
        let reply = try await shared.open().call("device.pair", .object(params))
        guard let token = reply["token"]?.stringValue, Self.isToken(token), let device = reply["device"] else {
            throw ControlError.protocolViolation("the answer to device.pair has no device and token")
        }
        return (device, token)
    }

    /// The browser is to be forgotten, by its own wish.
    func unpair(_ token: String, _ session: DeviceSession) async throws {
        let connection = try await session.connection()
        _ = try await connection.call("device.forget", ["id": .string(session.device)])
        remove(token)
        await session.forget()
    }

    private func remove(_ token: String) {
        sessions[token] = nil
        reminded[token] = nil
        pictures.forget(token)
    }

    /// 20 to 128 letters, digits, `-` and `_`: the daemon is not asked about a text that can be no token.
    static func isToken(_ text: String) -> Bool {
        (20...128).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                switch $0 {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
                default: false
                }
            }
    }

    // MARK: Devices that are forgotten

    /// Follows the daemon's devices until ``stop()``.
    func start() { watch = Task { [weak self] in await Self.watch(self) } }

    private static func watch(_ devices: Devices?) async {
        while !Task.isCancelled {
            guard let devices else { return }
            let pause = await devices.follow()
            // A timer by nature: between two tries to reach a daemon that is away. Cancelled, the loop ends.
            try? await Task.sleep(for: pause)
        }
    }

    /// Observes the daemon's devices, and ends at each change the sessions of devices that are gone.
    /// - Returns: how long to wait before the next time.
    private func follow() async -> Duration {
        do {
            _ = try await shared.open().observe(method: "device.observe", params: Data()) { [weak self] update in
                guard let paired = try? JSONDecoder().decode(Paired.self, from: update.value) else { return }
                await self?.keep(Set(paired.ids), changes: paired.changes ?? [:])
            }
        } catch {
            // The daemon is away, or is about to be: who is paired stays so until somebody can be asked again.
        }
        return Self.patience
    }

    private struct Paired: Decodable {
        let ids: [String]
        /// Absent from a daemon that knows no roles of devices.
        let changes: [String: Int]?
    }

    /// Ends the sessions of devices that the daemon does not know any more, and what was made for those that may other things now.
    private func keep(_ paired: Set<String>, changes told: [String: Int]) async {
        changes += 1
        for (token, session) in sessions
        where paired.contains(session.device) && told[session.device] != rights[session.device] {
            pictures.forget(token)
            await session.disconnect()
        }
        rights = told
        for (token, session) in sessions where !paired.contains(session.device) {
            remove(token)
            onForget(token)
            await session.forget()
        }
    }

    /// Ends all connections. Requests that run fail.
    func stop() async {
        watch?.cancel()
        for session in sessions.values { await session.forget() }
        sessions = [:]
        reminded = [:]
    }
}
