import ServiceMesh

/// One connection for requests that are no device's: pairing, and members of groups on other machines, each of whose requests brings the
/// token that says whose it is. It stays nobody's.
actor SharedConnection {
    private let connect: @Sendable () async throws -> any DaemonConnection
    private var current: (any DaemonConnection)?
    private var making: Task<any DaemonConnection, any Error>?
    private var isStopped = false

    init(connect: @escaping @Sendable () async throws -> any DaemonConnection) { self.connect = connect }

    /// Made anew where it has ended.
    func open() async throws -> any DaemonConnection {
        guard !isStopped else { throw Refusal.stopping }
        if let current, current.isOpen { return current }
        let task = making ?? Task { try await connect() }
        making = task
        defer { making = nil }
        let made = try await task.value
        guard !isStopped else {
            made.close()
            throw Refusal.stopping
        }
        current = made
        return made
    }

    func stop() {
        isStopped = true
        current?.close()
        current = nil
    }
}
