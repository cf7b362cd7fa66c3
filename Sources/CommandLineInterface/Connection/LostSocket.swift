import ServiceMesh

/// A socket whose name somebody has removed under a running daemon, as the end of a login session does: the daemon makes it
/// again within a second or two, and whoever comes meanwhile waits for that instead of being told that nothing runs.
package enum LostSocket {
    private static let pause = Duration.milliseconds(100)
    private static let tries = 30

    /// - Throws: `notRunning` where no daemon listens, or none at this path in time.
    package static func connection(
        to path: String, with connect: (String) async throws -> any LibraryConnection
    ) async throws -> any LibraryConnection {
        for _ in 1..<tries {
            do {
                return try await connect(path)
            } catch CommandFailure.notRunning(let socket, _, _) {
                guard await isListening(at: path) else { throw CommandFailure.notRunning(socket: socket) }
            }
            // A timer by nature: what the daemon does next tells nobody.
            try await Task.sleep(for: pause)
        }
        return try await connect(path)
    }

    private static func isListening(at path: String) async -> Bool {
        let found = try? await Console.offPool { ListeningDaemon.process(at: path) }
        return (found ?? nil) != nil
    }
}
