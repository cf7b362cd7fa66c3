import CSQLite
import Synchronization

/// An SQLite database in one file, with one writer and several readers, for programs that must not lose what they
/// acknowledged. It knows SQL, transactions and threads, and nothing of what is stored.
///
///     let database = try await DatabasePool.open(at: path, schema: schema)
///     let id = try await database.write { connection in
///         try connection.execute("INSERT INTO album (name) VALUES (?)", name)
///         return connection.lastInsertRowID
///     }
///     let names = try await database.read { connection in
///         try connection.query("SELECT name FROM album ORDER BY id") { row in try row[0] as String }
///     }
///
/// A reply to `write` means that it is on disk (`synchronous=FULL`). Writes that wait at the same time share one
/// transaction and one fsync (see `CommitThread`). A read that starts after a write replied sees it. SQLite work runs
/// on threads of the database's own, never on the cooperative pool, so calls may come from any actor.
///
/// The file must not be opened by any other process, nor twice in this one; and this process must not even open and
/// close it as a plain file meanwhile, because POSIX drops a process's locks when it closes any descriptor of the file.
/// To copy it, use `backupSnapshot(to:)`.
public final class DatabasePool: Sendable {
    /// Seen by the tests, which put several writes into its queue at once.
    let commits: CommitThread
    let readers: ReaderThreads
    private let lastItem = Atomic<UInt64>(0)

    private init(commits: CommitThread, readers: ReaderThreads) {
        self.commits = commits
        self.readers = readers
    }

    /// Without `close`, the threads still end by themselves, a little later.
    deinit {
        readers.queue.finish()
        commits.queue.finish()
    }

    /// Opens the database at `path`, creating it with mode 0600 where there is none, and migrates it.
    ///
    /// Before an existing file is migrated, a copy `<path>.before-v<version>` is made; it is removed once all
    /// migrations succeeded, and left where one failed (but not where the first found the disk full: then the file is as
    /// it was, and the copy would only be in the way).
    /// - Parameters:
    ///   - readers: threads (and connections) that read, 1 or more.
    ///   - execution: where its work runs.
    /// - Throws: `cannotOpen`, `notADatabase`, `corrupt`, `foreign`, `newer`, `migrationFailed`, `diskFull` and what
    ///   else the file system brings. A refused file is left unchanged.
    public static func open(
        at path: String, schema: Schema, readers: Int = 2, limits: DatabaseLimits = DatabaseLimits(),
        execution: Execution = .threads
    ) async throws(DatabaseError) -> DatabasePool {
        let commits = CommitThread(file: DatabaseFile(path: path, schema: schema), limits: limits, execution: execution)
        try await commits.start()
        let readers = ReaderThreads(path: path, schema: schema, count: readers, limits: limits, execution: execution)
        do throws(DatabaseError) {
            try await readers.start()
        } catch {
            await commits.shutDown()
            throw error
        }
        return DatabasePool(commits: commits, readers: readers)
    }

    // MARK: Writing and reading

    /// Runs `body` in a transaction and returns its result once that is durable.
    ///
    /// `body` runs at most once, on the commit thread, together with other writes in one transaction but in a
    /// savepoint of its own: where it throws, its changes alone are undone and the error is passed on as it is. It
    /// has to be short, since every other write waits for it.
    ///
    /// A task cancelled before its turn gets `CancellationError` at once and `body` never runs. Once it runs,
    /// cancellation changes nothing: the result is returned. (To record something while being cancelled, write
    /// from a task of its own.)
    /// - Throws: what `body` throws; `busy` where `limits.queuedWrites` are waiting; `closed`; and where the commit
    ///   itself fails, the reason, for every write of the group: `diskFull` where nothing was stored, `outcomeUnknown`
    ///   where that cannot be told, and `writingStopped` for all that come after it.
    @discardableResult
    public func write<T: Sendable>(_ body: @escaping @Sendable (Connection) throws -> T) async throws -> T {
        try await submit(to: commits.queue, as: .shared, interruption: nil, body)
    }

    /// As ``write(_:)``, for bodies that change very many rows: in a transaction of its own, without a savepoint.
    ///
    /// Inside a savepoint SQLite keeps, in memory and until the end, a copy of every page for every statement that
    /// touches it: gigabytes where 100,000 rows join as many. So `body` uses none either (``Connection/inSavepoint(_:)``).
    @discardableResult
    public func writeAlone<T: Sendable>(_ body: @escaping @Sendable (Connection) throws -> T) async throws -> T {
        try await submit(to: commits.queue, as: .alone, interruption: nil, body)
    }

    /// Runs `body` on one snapshot of the database, on a read-only connection.
    ///
    /// Cancelling the task ends it, in the queue or in the middle of a statement, with `CancellationError`.
    /// - Parameter deadline: when to give up with `deadlineExceeded`, in the queue as well as while running.
    /// - Throws: what `body` throws; `busy` where `limits.queuedReads` are waiting; `closed`.
    public func read<T: Sendable>(
        deadline: ContinuousClock.Instant? = nil, _ body: @escaping @Sendable (Connection) throws -> T
    ) async throws -> T {
        let interruption = Interruption(deadline: deadline)
        return try await submit(to: readers.queue, as: .shared, interruption: interruption, body)
    }

    /// Adds what is called after each commit that changed rows, for as long as this is open: on the commit thread, in order of commits, after the
    /// change is durable and before its writers get their replies. It has to be short and must not block.
    ///
    /// The tables are those that the statements run may have written, triggers and foreign-key actions included;
    /// they are reported only where rows did change, yet a table can be named that stayed the same (a trigger
    /// whose condition did not hold). DELETE without WHERE, tables without row ids and REPLACE are covered. For an
    /// FTS table its own storage tables are named too.
    public func onCommit(_ observer: @escaping @Sendable (CommitNotice) -> Void) { commits.observe(observer) }

    // MARK: Care

    /// Whether the file was not closed the last time: the program was killed, or the machine stopped. Nothing that was
    /// acknowledged is missing then; a disk that lost power may still have damaged what it had before, so it is a time
    /// for `integrityCheck(quick: true)`.
    public var wasStoppedUncleanly: Bool { commits.foundLog }

    /// Why nothing is written any more, as a detail for people; nil while all is well. It stays until the database is opened
    /// again, which is also when it shows whether the write that failed was stored.
    public var writingStopped: String? { commits.writingStopped }

    /// Writes a consistent copy of the database as of now to `path`: one file of mode 0600, without deleted data, with
    /// the same application id and version. It appears complete or not at all; a file of that name is replaced.
    ///
    /// The copy is in rollback-journal mode and needs no other file; `DatabasePool.open` takes it as it is. Reading goes
    /// on meanwhile; writing waits. Once begun it is not cancelled.
    ///
    /// Not on a reader: with a table that has a generated column, SQLite 3.40 lets no connection `VACUUM INTO` that was
    /// opened read-only ("has 25 columns but 26 values were supplied").
    public func backupSnapshot(to path: String) async throws {
        try await submit(to: commits.queue, as: .bare, interruption: nil) { try $0.copy(to: path) }
    }

    /// Looks through the whole file and returns what is wrong with it, in SQLite's words; empty where it is sound.
    /// - Parameter quick: leaves out comparing indexes with their tables and checking foreign keys.
    public func integrityCheck(quick: Bool = false) async throws -> [String] {
        try await submit(to: readers.queue, as: .shared, interruption: Interruption(deadline: nil)) {
            connection in
            do {
                let pragma = quick ? "PRAGMA quick_check" : "PRAGMA integrity_check"
                var problems = try connection.query(pragma) { row in try row[0] as String }
                if problems == ["ok"] { problems = [] }
                if !quick {
                    problems += try connection.query("PRAGMA foreign_key_check") { row in
                        "\(try row[0] as String): a row refers to none in \(try row[2] as String)"
                    }
                }
                return problems
            } catch DatabaseError.corrupt(let detail) {
                return [detail]
            }
        }
    }

    /// Writes the log back into the file and empties it, so that what was deleted is in neither.
    /// - Returns: false where a read in progress kept part of the log; call again after it.
    public func checkpoint() async throws -> Bool {
        try await submit(to: commits.queue, as: .bare, interruption: nil) { [commits] connection in
            commits.checkpoint(connection, SQLITE_CHECKPOINT_TRUNCATE)
        }
    }

    /// Figures since the database was opened.
    public var statistics: DatabaseStatistics {
        var statistics = commits.statistics
        statistics.reads = readers.reads
        return statistics
    }

    /// Takes nothing more, does what is queued, writes the log back and closes the file. Calls from now on get `closed`.
    /// May be called more than once; each call returns when the file is closed.
    public func close() async {
        readers.queue.stopAdmission()
        commits.queue.stopAdmission()
        await readers.shutDown()
        await commits.shutDown()
    }

    // MARK: Queueing

    private func submit<T: Sendable>(
        to queue: WorkQueue, as kind: WorkItem.Kind, interruption: Interruption?,
        _ body: @escaping @Sendable (Connection) throws -> T
    ) async throws -> T {
        try Task.checkCancellation()
        if let error = interruption?.error { throw error }
        let id = lastItem.add(1, ordering: .relaxed).newValue
        // The one that takes the item out of the queue owns the reply: a thread, or this closure.
        let giveUp: @Sendable (Interruption.Reason) -> Void = { reason in
            interruption?.stop(reason)
            queue.withdraw(id)?.fail(reason.error)
        }
        return try await withTaskCancellationHandler {
            var alarm: Task<Void, Never>?
            defer { alarm?.cancel() }
            return try await withCheckedThrowingContinuation { continuation in
                let item = WorkItem(
                    id: id, kind: kind, interruption: interruption,
                    run: { connection in
                        let value = try body(connection)
                        return { continuation.resume(returning: value) }
                    },
                    fail: { continuation.resume(throwing: $0) })
                do throws(DatabaseError) {
                    let isTakenUp = try queue.submit(item)
                    // While it runs, the connection watches the deadline; in the queue, somebody else has to.
                    if !isTakenUp, let deadline = interruption?.deadline {
                        alarm = Task {
                            // A timer by nature: the deadline itself. What is taken up or withdrawn cancels it.
                            do { try await Task.sleep(until: deadline, clock: .continuous) } catch { return }
                            giveUp(.deadline)
                        }
                    }
                } catch {
                    return continuation.resume(throwing: error)
                }
                // The handler may have come before the item was there to be withdrawn.
                if Task.isCancelled { giveUp(.cancelled) }
            }
        } onCancel: {
            giveUp(.cancelled)
        }
    }
}
