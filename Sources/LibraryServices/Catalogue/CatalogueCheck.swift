import Database

/// Looks through the catalogue's file after a stop that was not a shutdown, while the library serves already: with a
/// million photos that takes seconds, and hardly ever finds anything.
actor CatalogueCheck {
    private let database: Database
    private var task: Task<Void, Never>?
    /// What is wrong, in SQLite's words. Empty before the end, and where all is well.
    private(set) var problems: [String] = []

    init(database: Database) { self.database = database }

    func start() {
        guard database.wasStoppedUncleanly else { return }
        task = Task { await look() }
    }

    /// Returns when the check is done, at once where none was needed.
    func wait() async { await task?.value }

    func stop() async {
        task?.cancel()
        await task?.value
    }

    private func look() async {
        do {
            problems = try await database.integrityCheck(quick: true)
        } catch is CancellationError {
            // The library is being closed; the next start after an unclean stop looks again.
        } catch {
            problems = ["\(error)"]
        }
    }
}
