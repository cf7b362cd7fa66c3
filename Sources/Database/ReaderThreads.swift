import Executors
import Synchronization

/// The threads that read, each with a read-only connection of its own, sharing one queue.
///
/// Each read sees one snapshot: the file as the last commit before its first statement left it. The snapshot ends
/// before the caller gets the reply, because an open one keeps the log from being written back.
final class ReaderThreads: Sendable {
    let queue: WorkQueue
    private let path: String
    private let schema: Schema
    private let limits: DatabaseLimits
    private let count: Int
    /// The threads; in a simulation there are none, and one connection, because a read there takes no time.
    private let threads: BlockingPool?
    private let stepped = Mutex<SteppedConnection?>(nil)
    private let done = Atomic<UInt64>(0)

    init(
        path: String, schema: Schema, count: Int, limits: DatabaseLimits, execution: DatabasePool.Execution = .threads
    ) {
        self.path = path
        self.schema = schema
        self.limits = limits
        self.count = max(1, count)
        queue = WorkQueue(capacity: limits.queuedReads, steps: execution.steps)
        threads = execution.steps == nil ? BlockingPool(name: "db-read", threads: self.count) : nil
    }

    /// Reads done, well or not.
    var reads: UInt64 { done.load(ordering: .relaxed) }

    /// Opens the connections and starts taking work. The commit thread must have opened the file before.
    func start() async throws(DatabaseError) {
        guard let threads else { return try startSteps() }
        for _ in 0..<count {
            let result: Result<Void, DatabaseError> = await withCheckedContinuation { continuation in
                let accepted = threads.submit { [self] in
                    do throws(DatabaseError) {
                        let connection = try Connection(
                            path: path, readOnly: true, statements: limits.statements, functions: schema.functions)
                        continuation.resume(returning: .success(()))
                        run(connection)
                    } catch {
                        continuation.resume(returning: .failure(error))
                    }
                }
                if !accepted { continuation.resume(returning: .failure(.closed)) }
            }
            if case .failure(let error) = result {
                await shutDown()
                throw error
            }
        }
    }

    /// Does what is queued and closes the connections.
    func shutDown() async {
        queue.finish()
        guard let threads else { return finishSteps() }
        await threads.shutDown()
    }

    private func run(_ connection: Connection) {
        while queue.wait() != .finished { takeTurn(connection) }
    }

    private func takeTurn(_ connection: Connection) {
        guard let item = queue.take() else { return }
        perform(item, connection)
        done.add(1, ordering: .relaxed)
    }

    // MARK: In a simulation

    private func startSteps() throws(DatabaseError) {
        let connection = try Connection(
            path: path, readOnly: true, statements: limits.statements, functions: schema.functions)
        let stepped = SteppedConnection(connection)
        stepped.serve(queue) { [weak self] in self?.takeTurn($0) }
        self.stepped.withLock { $0 = stepped }
    }

    private func finishSteps() {
        stepped.withLock { $0 }?.close { connection in while !queue.isEmpty { takeTurn(connection) } }
    }

    /// See `DatabasePool.crash`.
    func crash() {
        queue.finish()
        while let item = queue.take() { item.fail(DatabaseError.closed) }
        stepped.withLock { $0 }?.close { _ in }
    }

    private func perform(_ item: WorkItem, _ connection: Connection) {
        let outcome: Result<WorkItem.Reply, any Error>
        connection.interruption = item.interruption
        item.interruption?.begin(on: connection)
        do {
            if item.kind != .bare {
                do { try connection.control(.begin) } catch { throw connection.explained(error) }
                outcome = .success(try connection.lent { try item.run(connection) })
            } else {
                outcome = .success(try item.run(connection))
            }
        } catch {
            outcome = .failure(error)
        }
        // From here on nothing can interrupt this connection, so that ending the snapshot works.
        item.interruption?.end()
        connection.interruption = nil
        if connection.isInTransaction { try? connection.control(.rollback) }
        switch outcome {
        case .success(let reply): reply()
        case .failure(let error): item.fail(error)
        }
    }
}
