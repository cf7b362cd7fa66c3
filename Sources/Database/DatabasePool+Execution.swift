import CSQLite
import Executors
import Synchronization

extension DatabasePool {
    /// Where a database's work runs.
    public enum Execution: Sendable {
        /// On threads of its own.
        case threads
        /// For simulations: a step at a time among everything else that the simulation runs, which so decides when a
        /// read sees what, and which writes share a commit. It is the real SQLite on a real file, and it blocks the
        /// simulation's thread. No time passes in it: neither `DatabaseLimits.groupTime` nor `idleCheckpoint` counts,
        /// and a read's deadline is looked at only while it runs.
        case steps(any StepExecutor)

        var steps: (any StepExecutor)? {
            if case .steps(let steps) = self { steps } else { nil }
        }
    }

    /// Ends like a process that is killed: what waits fails with `closed`, no commit and no checkpoint is made, and the
    /// files stay as they are, so that opening them again shows what had been durable.
    ///
    /// For databases with `Execution.steps`; others cannot stop in the middle of their threads.
    public func crash() {
        commits.crash()
        readers.crash()
    }
}

/// A connection whose work a simulation does in place of a thread, which sleeps while the queue is empty as a thread does.
final class SteppedConnection: Sendable {
    private let connection: Mutex<Connection?>

    init(_ connection: sending Connection) { self.connection = Mutex(connection) }

    /// Lets `turn` do one item at each step from now on.
    func serve(_ queue: WorkQueue, turn: @escaping @Sendable (Connection) -> Void) {
        queue.serveSteps { [weak self, weak queue] in
            guard let self, let queue else { return }
            connection.withLock { if let connection = $0 { turn(connection) } }
            queue.endStep()
        }
    }

    /// Closes the connection after `last`.
    func close(_ last: (Connection) -> Void) {
        connection.withLock { connection in
            if let open = connection { last(open) }
            connection = nil
        }
    }
}
