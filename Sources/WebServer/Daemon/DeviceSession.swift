import ControlSocket
import Foundation
import ServiceMesh
import Synchronization

/// What one paired browser has of the daemon: a connection of its own, and with it a role of its own. A PIN that is
/// entered there unlocks that browser alone, and for as long as the daemon says.
///
/// The connection is made when something is asked, and made anew where it has ended: the daemon may be restarted under
/// it.
actor DeviceSession {
    /// What the daemon calls the device.
    nonisolated let device: String
    /// Changes and what waits for them; the other requests of a connection's 64 are for the page's questions.
    static let mostObservations = 40

    private let connect: @Sendable () throws -> any DaemonConnection
    private var current: (any DaemonConnection)?
    private var isForgotten = false
    private let streams = Mutex<[ObjectIdentifier: @Sendable () -> Void]>([:])
    private let observations = Mutex(0)

    init(device: String, connect: @escaping @Sendable () throws -> any DaemonConnection) {
        self.device = device
        self.connect = connect
    }

    /// The connection, a new one where the last has ended.
    /// - Throws: `ControlError` where there is no daemon, `MeshError` where the device has been forgotten.
    func connection() throws -> any DaemonConnection {
        if isForgotten { throw Refusal.unpaired.error }
        if let current, current.isOpen { return current }
        let made = try connect()
        current = made
        return made
    }

    /// Ends the connection, and with it a role that has been over for new ones. What is observed is taken up again by a new
    /// one.
    func disconnect() {
        current?.close()
        current = nil
    }

    /// Ends everything that this device has running.
    func forget() {
        isForgotten = true
        current?.close()
        current = nil
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
