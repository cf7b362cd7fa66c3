import Database
import ServiceMesh

/// Looks through the catalogue's file after a stop that was not a shutdown, while the library serves already: with a
/// million photos that takes seconds, and hardly ever finds anything.
actor CatalogueCheck {
    private let task: Task<[String], Never>?
    private var found: [String]?

    init(_ database: DatabasePool) {
        guard database.wasStoppedUncleanly else {
            task = nil
            return
        }
        task = Task(executorPreference: MeshClock.executor) {
            do {
                return try await database.integrityCheck(quick: true)
            } catch is CancellationError {
                // The library is being closed; the next start after an unclean stop looks again.
                return []
            } catch {
                return ["\(error)"]
            }
        }
        if let task { Task(executorPreference: MeshClock.executor) { await self.note(task.value) } }
    }

    /// What is wrong, in SQLite's words. Empty before the end, and where all is well.
    var problems: [String] { found ?? [] }

    private func note(_ problems: [String]) { found = problems }

    /// Returns when the check is done, at once where none was needed.
    func wait() async {
        if let task { found = await task.value }
    }

    func stop() async {
        task?.cancel()
        _ = await task?.value
    }
}
