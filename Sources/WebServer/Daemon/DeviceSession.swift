import ControlSocket
import Foundation
import ServiceMesh
import Synchronization

/// What one paired browser has of the daemon: a connection of its own, over which its token is the first thing that is said, and
/// with it a role that the daemon gives it. A PIN that is entered there unlocks that browser alone, and for as long as the daemon
/// says.
///
/// The connection is made when something is asked, and made anew where it has ended: the daemon may be restarted under
/// it.
actor DeviceSession {
    /// What the daemon calls the device.
    nonisolated let device: String
    /// Changes and what waits for them; the other requests of a connection's 64 are for the page's questions.
    static let mostObservations = 40

    private let token: String
    private let connect: @Sendable () async throws -> any DaemonConnection
    private var current: (any DaemonConnection)?
    private var making: Task<any DaemonConnection, any Error>?
    /// How often the connection was ended from this side: a connection that was being made then is not wanted any more.
    private var disconnects = 0
    private var isForgotten = false
    private let isChilds: Mutex<Bool>
    private let streams = Mutex<[ObjectIdentifier: @Sendable () -> Void]>([:])
    private let observations = Mutex(0)

    private init(
        device: Identified, token: String, first: any DaemonConnection,
        connect: @escaping @Sendable () async throws -> any DaemonConnection
    ) {
        self.device = device.id
        isChilds = Mutex(device.isChilds)
        self.token = token
        self.connect = connect
        current = first
    }

    /// The session of the device that has this token, with its connection.
    /// - Throws: `MeshError` with the status `unauthenticated` where no device has it; `ControlError` without a daemon.
    static func open(
        _ token: String, connect: @escaping @Sendable () async throws -> any DaemonConnection
    ) async throws -> DeviceSession {
        let (connection, device) = try await identified(token, connect)
        return DeviceSession(device: device, token: token, first: connection, connect: connect)
    }

    /// Whether the device hears of some photos alone, as the daemon said with the last connection: a child's does.
    nonisolated var seesSome: Bool { isChilds.withLock { $0 } }

    /// What the daemon says of the device that a token belongs to.
    private struct Identified {
        let id: String
        let isChilds: Bool
    }

    /// A connection that the daemon knows to be this token's.
    private static func identified(
        _ token: String, _ connect: @Sendable () async throws -> any DaemonConnection
    ) async throws -> (connection: any DaemonConnection, device: Identified) {
        let connection = try await connect()
        do {
            let reply = try await connection.call("device.authenticate", ["token": .string(token)])
            guard let device = reply["id"]?.stringValue else {
                throw ControlError.protocolViolation("the answer to device.authenticate names no device")
            }
            return (connection, Identified(id: device, isChilds: reply["role"]?.stringValue == "child"))
        } catch {
            connection.close()
            throw error
        }
    }

    /// The connection, a new one where the last has ended.
    /// - Throws: `ControlError` where there is no daemon, `MeshError` where the device has been forgotten.
    func connection() async throws -> any DaemonConnection {
        if isForgotten { throw Refusal.unpaired.error }
        if let current, current.isOpen { return current }
        let task = making ?? Task { try await make() }
        making = task
        return try await task.value
    }

    private func make() async throws -> any DaemonConnection {
        let asked = disconnects
        defer { if asked == disconnects { making = nil } }
        let (made, device) = try await Self.identified(token, connect)
        isChilds.withLock { $0 = device.isChilds }
        guard asked == disconnects else {
            made.close()
            return try await connection()
        }
        current = made
        return made
    }

    /// Tells the daemon once more that the device is here, which shows people when each was here last.
    nonisolated func remind() {
        // No request waits for the reply, which tells nothing that the observation of the devices does not tell.
        Task { _ = try? await connection().call("device.authenticate", ["token": .string(token)]) }
    }

    /// Ends the connection, and with it a role that has been over for new ones. What is observed is taken up again by a new
    /// one.
    func disconnect() {
        disconnects += 1
        making = nil
        current?.close()
        current = nil
    }

    /// Ends everything that this device has running.
    func forget() {
        isForgotten = true
        disconnect()
        for end in streams.withLock({ Array($0.values) }) { end() }
    }

    // MARK: Event streams

    /// Takes up so many observations.
    /// - Returns: false where the device has too many.
    nonisolated func begin(_ stream: EventStream, observations count: Int) -> Bool {
        let fits = observations.withLock { observations in
            guard observations + count <= Self.mostObservations else { return false }
            observations += count
            return true
        }
        if fits { streams.withLock { $0[ObjectIdentifier(stream)] = { stream.end() } } }
        return fits
    }

    nonisolated func end(_ stream: EventStream, observations count: Int) {
        observations.withLock { $0 -= count }
        streams.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(stream)) }
    }
}
