import CSQLite
import Executors

extension DatabasePool {
    /// Reads a database of another program, which says nothing of this one's schema, and changes nothing in it.
    ///
    /// `body` runs once, on a thread and a read-only connection of its own. What the file says is not trusted: functions
    /// named in its schema do not run, damaged pages are noticed, and values over
    /// 16 MiB are refused (`tooLarge`), and `deadline` bounds even a query that never ends.
    /// Text in it may be anything: see `Row.rawBytes(_:)`.
    ///
    /// A file in WAL mode needs its `-wal` beside it and a folder in which SQLite may make an index, which it leaves
    /// there; one whose writer was killed needs its `-journal` undone first, which a reader may not do: inspect a copy
    /// where the original's folder has to stay as it is.
    /// - Parameter isOwnCopy: the file is a copy made for this, together with the log or journal beside it. What its
    ///   writer left half done is undone in the copy before `body` sees it; `body` may still only read.
    /// - Throws: what `body` throws; `cannotOpen`, `notADatabase`, `corrupt`, `deadlineExceeded`; and
    ///   `CancellationError` where the task is cancelled.
    public static func inspect<T: Sendable>(
        at path: String, isOwnCopy: Bool = false, deadline: ContinuousClock.Instant? = nil,
        _ body: @escaping @Sendable (Connection) throws -> T
    ) async throws -> T {
        let interruption = Interruption(deadline: deadline)
        let thread = BlockingPool(name: "db-inspect", threads: 1)
        return try await withTaskCancellationHandler {
            try await thread.run {
                let connection = try Connection(
                    path: path, readOnly: true, recovers: isOwnCopy, statements: 16, functions: [])
                // Bytes of one value, so that a made-up length does not take the memory.
                sqlite3_limit(connection.handle, SQLITE_LIMIT_LENGTH, 16 << 20)
                connection.interruption = interruption
                // Not closed before nobody can interrupt it any more.
                return try withExtendedLifetime(connection) {
                    interruption.begin(on: connection)
                    defer { interruption.end() }
                    try connection.control(.begin)
                    return try connection.lent { try body(connection) }
                }
            }
        } onCancel: {
            interruption.stop(.cancelled)
        }
    }
}
