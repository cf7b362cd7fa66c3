import ServiceMesh

/// The one connection over which members of groups on other machines are heard: each request brings the token that says whose it
/// is, so it needs none of its own.
actor HubDoor {
    private let connect: @Sendable () throws -> any DaemonConnection
    private var connection: (any DaemonConnection)?
    private var isStopped = false

    init(connect: @escaping @Sendable () throws -> any DaemonConnection) { self.connect = connect }

    /// Made anew where it has ended.
    func open() throws -> any DaemonConnection {
        guard !isStopped else { throw Refusal.stopping }
        if let connection, connection.isOpen { return connection }
        let made = try connect()
        connection = made
        return made
    }

    func stop() {
        isStopped = true
        connection?.close()
        connection = nil
    }
}
