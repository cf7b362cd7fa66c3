import CSQLite
import Executors
import Synchronization

/// The thread that owns the only read-write connection: it does every write and every checkpoint.
///
/// Only it, because of a bug of SQLite before 3.51.3: two connections that write or checkpoint at the same instant can
/// corrupt the file when the log restarts. With one there is also no waiting for locks, hence no busy handler.
///
/// Group commit: one transaction takes every write that is queued, each in a savepoint of its own, and one fsync makes
/// all of them durable; only then do they get their replies. While that fsync runs, the next group gathers.
final class CommitThread: Sendable {
    private struct State {
        var statistics = DatabaseStatistics()
        var observers: [@Sendable (CommitNotice) -> Void] = []
        var idleObserver: (@Sendable () -> Void)?
        var foundLog = false
        /// Why nothing is written any more; nil while all is well.
        var writingStopped: String?
    }

    let queue: WorkQueue
    private let file: DatabaseFile
    private let limits: DatabaseLimits
    private let state = Mutex(State())
    /// The thread; in a simulation there is none.
    private let thread: BlockingPool?
    private let stepped = Mutex<SteppedConnection?>(nil)

    init(file: DatabaseFile, limits: DatabaseLimits, execution: DatabasePool.Execution = .threads) {
        self.file = file
        self.limits = limits
        queue = WorkQueue(capacity: limits.queuedWrites, steps: execution.steps)
        thread = execution.steps == nil ? BlockingPool(name: "db-commit", threads: 1) : nil
    }

    var statistics: DatabaseStatistics { state.withLock { $0.statistics } }

    func observe(_ observer: @escaping @Sendable (CommitNotice) -> Void) {
        state.withLock { $0.observers.append(observer) }
    }

    /// Sets what is called each time the thread has written the log back because it had nothing to do; for tests.
    func observeIdle(_ observer: @escaping @Sendable () -> Void) { state.withLock { $0.idleObserver = observer } }

    /// Whether the log of somebody who did not close the file was there.
    var foundLog: Bool { state.withLock { $0.foundLog } }

    /// Why nothing is written any more, since a commit failed of which nobody knows whether it was one; else nil.
    var writingStopped: String? { state.withLock { $0.writingStopped } }

    /// Opens the file and starts taking work.
    func start() async throws(DatabaseError) {
        guard let thread else { return try startSteps() }
        let result: Result<Void, DatabaseError> = await withCheckedContinuation { continuation in
            let accepted = thread.submit { [self] in
                do throws(DatabaseError) {
                    state.withLock { $0.foundLog = file.hasLog }
                    let connection = try file.prepare(statements: limits.statements)
                    connection.watchLog()
                    continuation.resume(returning: .success(()))
                    run(connection)
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
            if !accepted { continuation.resume(returning: .failure(.closed)) }
        }
        guard case .failure(let error) = result else { return }
        await thread.shutDown()
        throw error
    }

    /// Does what is queued, takes a last checkpoint and closes the file. The readers must be closed by now.
    func shutDown() async {
        queue.finish()
        guard let thread else { return finishSteps() }
        await thread.shutDown()
    }

    private func run(_ connection: Connection) {
        var log = LogPolicy(limit: limits.logPages)
        while true {
            switch queue.wait(idleAfter: log.isWrittenBack ? nil : limits.idleCheckpoint) {
            case .finished:
                // What SQLite's planner knows about the tables, brought up to date where they have changed much. A
                // full disk is no reason not to close.
                if limits.refusal() != nil {
                    // Closing would remove by path, and what stands there may be another's.
                    connection.keepLog()
                } else if writingStopped == nil {
                    _ = try? connection.execute("PRAGMA optimize")
                }
                _ = checkpoint(connection, SQLITE_CHECKPOINT_TRUNCATE)
                return
            case .idle:
                while queue.isEmpty, connection.owesUpkeep { takeUpkeepStep(connection) }
                // Where a reader still needs some of the log, the rest waits for the next commit: no loop.
                _ = checkpoint(connection, SQLITE_CHECKPOINT_PASSIVE)
                log.isWrittenBack = true
                connection.releaseMemory()
                state.withLock { $0.idleObserver }?()
            case .items:
                takeTurn(connection, &log)
            }
        }
    }

    private func takeTurn(_ connection: Connection, _ log: inout LogPolicy) {
        guard let item = queue.take() else { return }
        if let writingStopped { return item.fail(DatabaseError.writingStopped(detail: writingStopped)) }
        switch item.kind {
        case .shared: commitGroup(startingWith: item, connection)
        case .alone: commitAlone(item, connection)
        case .bare: runBare(item, connection)
        }
        if let mode = log.checkpointDue(pages: connection.logPages) { _ = checkpoint(connection, mode) }
    }

    // MARK: In a simulation

    private func startSteps() throws(DatabaseError) {
        let connection = try file.prepare(statements: limits.statements)
        connection.watchLog()
        let stepped = SteppedConnection(connection)
        let log = Mutex(LogPolicy(limit: limits.logPages))
        stepped.serve(queue) { [weak self] connection in
            log.withLock { self?.takeTurn(connection, &$0) }
        }
        self.stepped.withLock { $0 = stepped }
    }

    private func finishSteps() {
        guard let stepped = stepped.withLock({ $0 }) else { return }
        stepped.close { connection in
            var log = LogPolicy(limit: limits.logPages)
            while !queue.isEmpty { takeTurn(connection, &log) }
            _ = checkpoint(connection, SQLITE_CHECKPOINT_TRUNCATE)
        }
    }

    /// See `DatabasePool.crash`.
    func crash() {
        queue.finish()
        while let item = queue.take() { item.fail(DatabaseError.closed) }
        // Closed like a reader's: the log stays as it is.
        stepped.withLock { $0 }?.close { try? $0.setFlag(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true) }
    }

    // MARK: Writing

    private enum Outcome {
        case stored(WorkItem.Reply)
        case refused(any Error)
    }

    private func commitGroup(startingWith first: WorkItem, _ connection: Connection) {
        do { try connection.control(.beginWriting) } catch { return first.fail(error) }

        var group: [(item: WorkItem, outcome: Outcome)] = []
        var tables: Set<String> = []
        var stored = 0
        let size = queue.groupSize(atMost: limits.groupSize)
        let end = ContinuousClock.now + limits.groupTime
        var next: WorkItem? = first
        // Taken one at a time, at its turn: until then a write can be withdrawn, and late ones still join.
        while let item = next {
            let outcome = perform(item, connection)
            group.append((item, outcome))
            if case .stored = outcome {
                stored += 1
                tables.formUnion(connection.touchedTables)
            }
            guard connection.isInTransaction else { return abandon(group) }
            let goesOn = group.count < size && (thread == nil || ContinuousClock.now < end)
            next = goesOn ? queue.take(onlyShared: true) : nil
        }

        do {
            if stored > 0 { try takeUpkeepStep(connection, after: tables) }
            if stored == 0 { try connection.control(.rollback) } else { try commit(connection) }
        } catch {
            // Also for bodies that threw: what they saw of their neighbours' work never came to be.
            for member in group { member.item.fail(error) }
            return
        }
        announce(stored: stored, refused: group.count - stored, tables: tables)
        for member in group {
            switch member.outcome {
            case .stored(let reply): reply()
            case .refused(let error): member.item.fail(error)
            }
        }
    }

    /// Commits, or undoes the transaction and says why. Where nobody can tell whether it was committed, nothing more is
    /// written: the next write would lay its frames over those of this one and so decide, behind the back of callers that
    /// have kept their files in case it was. The next start decides, by what is really there.
    private func commit(_ connection: Connection) throws {
        // At the last moment: what is committed into a file that has lost its name is gone with this process.
        if let refusal = limits.refusal() {
            try? connection.control(.rollback)
            throw DatabaseError.writingRefused(refusal)
        }
        do {
            try connection.control(.commit)
        } catch let error as DatabaseError {
            let mayHaveCommitted = connection.mayHaveCommitted
            if mayHaveCommitted {
                // Closing would write back what this process believes, without that transaction, and remove the log.
                try? connection.setFlag(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
                state.withLock { $0.writingStopped = error.cause }
            }
            if connection.isInTransaction { try? connection.control(.rollback) }
            throw mayHaveCommitted ? DatabaseError.outcomeUnknown(detail: error.cause) : error
        }
    }

    /// Runs one body in its savepoint. Where it throws, what it did is undone and its neighbours go on.
    private func perform(_ item: WorkItem, _ connection: Connection) -> Outcome {
        connection.touchedTables.removeAll(keepingCapacity: true)
        do {
            try connection.control(.savepoint)
            let reply = try connection.lent { try item.run(connection) }
            guard connection.isInTransaction else {
                return .refused(DatabaseError.notCommitted(cause: "a statement ended the transaction"))
            }
            // A deferred key would otherwise fail the commit, and with it the whole group.
            if connection.hasUnresolvedForeignKeys {
                throw DatabaseError.constraint(.foreignKey, detail: "deferred foreign key")
            }
            try connection.control(.release)
            return .stored(reply)
        } catch {
            guard connection.isInTransaction else { return .refused(error) }
            do {
                try connection.control(.undo)
                try connection.control(.release)
            } catch {
                // The body cannot be undone alone, so nothing of the group may be kept.
                try? connection.control(.rollback)
            }
            return .refused(error)
        }
    }

    /// Replies to a group whose transaction SQLite ended under its last body (a full disk, a failing one, or
    /// `ON CONFLICT ROLLBACK`).
    private func abandon(_ group: [(item: WorkItem, outcome: Outcome)]) {
        guard let last = group.last, case .refused(let cause) = last.outcome else { return }
        let shared: any Error =
            switch cause as? DatabaseError {
            case .diskFull, .fileTooLarge, .ioFailure, .corrupt, .outOfMemory: cause
            default: DatabaseError.notCommitted(cause: "\(cause)")
            }
        for member in group.dropLast() { member.item.fail(shared) }
        last.item.fail(cause)
    }

    private func announce(stored: Int, refused: Int, tables: Set<String>) {
        let (observers, sequence) = state.withLock { state in
            state.statistics.refusedWrites &+= UInt64(refused)
            if stored > 0 {
                state.statistics.commits &+= 1
                state.statistics.writes &+= UInt64(stored)
                state.statistics.largestGroup = max(state.statistics.largestGroup, stored)
            }
            return (state.observers, state.statistics.commits)
        }
        guard !tables.isEmpty else { return }
        for observer in observers { observer(CommitNotice(sequence: sequence, tables: tables)) }
    }

    /// One body in one transaction, without a savepoint: see `DatabasePool.writeAlone`.
    private func commitAlone(_ item: WorkItem, _ connection: Connection) {
        connection.touchedTables.removeAll(keepingCapacity: true)
        do {
            try connection.control(.beginWriting)
            let reply = try connection.lent { try item.run(connection) }
            guard connection.isInTransaction else {
                throw DatabaseError.notCommitted(cause: "a statement ended the transaction")
            }
            let tables = connection.touchedTables
            try takeUpkeepStep(connection, after: tables)
            try commit(connection)
            announce(stored: 1, refused: 0, tables: tables)
            reply()
        } catch {
            if connection.isInTransaction { try? connection.control(.rollback) }
            announce(stored: 0, refused: 1, tables: [])
            item.fail(error)
        }
    }

    // MARK: Upkeep

    /// A part of the transaction that is about to be committed. A failure is not one of any caller's: the next commit tries again.
    /// - Throws: what made SQLite end the whole transaction (a full disk): there is nothing left to commit, and a COMMIT that
    ///   fails for that reason would look like one of which nobody knows.
    private func takeUpkeepStep(_ connection: Connection, after tables: Set<String>) throws {
        guard let upkeep = file.schema.upkeep, !upkeep.tables.isDisjoint(with: tables) else { return }
        do {
            connection.owesUpkeep = try connection.inSavepoint { try upkeep.step(connection) }
        } catch {
            connection.owesUpkeep = false
            guard connection.isInTransaction else { throw error }
        }
    }

    /// A transaction of its own, while nobody waits.
    private func takeUpkeepStep(_ connection: Connection) {
        guard let upkeep = file.schema.upkeep, writingStopped == nil else { return connection.owesUpkeep = false }
        do {
            try connection.control(.beginWriting)
            connection.owesUpkeep = try upkeep.step(connection)
            try commit(connection)
        } catch {
            connection.owesUpkeep = false
            if connection.isInTransaction { try? connection.control(.rollback) }
        }
    }

    private func runBare(_ item: WorkItem, _ connection: Connection) {
        do {
            let reply = try item.run(connection)
            reply()
        } catch {
            item.fail(error)
        }
    }

    // MARK: Checkpoints

    /// Writes the log back into the file. True where the whole log was.
    ///
    /// A failure (a full disk) is not one of any caller's: the log keeps everything and the next checkpoint tries again.
    func checkpoint(_ connection: Connection, _ mode: Int32) -> Bool {
        guard writingStopped == nil else { return false }
        let isWhole = connection.checkpoint(mode)
        state.withLock { state in
            state.statistics.checkpoints &+= 1
            state.statistics.logPages = connection.logPages
        }
        return isWhole
    }
}
