import CSQLite
import Foundation

/// One connection, lent to the body of a `read`, a `write` or a migration for as long as that runs.
///
/// It belongs to one thread and is therefore not `Sendable`. Statements take positional parameters (`?`) and are
/// prepared once, then kept in a cache of bounded size. Bodies do not begin or end transactions and attach no files:
/// the database does (`DatabaseError.invalidStatement` otherwise).
public final class Connection {
    let handle: OpaquePointer
    let path: String
    private var cache: StatementCache

    /// What the running read is stopped by; nil on the writer, whose bodies always run to their end.
    var interruption: Interruption?
    /// The prepared statements of `Control`, by its raw value.
    var controls: [Statement] = []
    /// While a body runs, transactions and attached files are refused.
    var isLent = false
    /// Tables that statements have changed since this was last emptied.
    var touchedTables: Set<String> = []
    /// Whether the last step of the schema's ``Upkeep`` has left something to be done.
    var owesUpkeep = false
    /// Tables that SQLite's compiler has named as written since this was last emptied.
    private var compiledWrites: Set<String> = []
    /// Where rows that were passed over are noted, and how many there were in all reads of this connection.
    public var unreadable = UnreadableRows()
    var passedOver = 0
    /// Pages in the log after the last commit; on the commit thread's connection only.
    var logPages = 0

    /// Every connection is used by the one thread that made it, so SQLite's own lock is left out (`NOMUTEX`).
    /// - Parameter recovers: a `readOnly` connection may still undo what a killed writer left in the file.
    init(
        path: String, readOnly: Bool, recovers: Bool = false, statements: Int, functions: [ScalarFunction]
    ) throws(DatabaseError) {
        _ = Self.processWideSettings
        var opened: OpaquePointer?
        // No SQLITE_OPEN_CREATE: the file is created beforehand, with mode 0600.
        let flags =
            (readOnly && !recovers ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_NOMUTEX
            | SQLITE_OPEN_EXRESCODE
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            let error = DatabaseError.from(code, opened, path: path)
            sqlite3_close_v2(opened)
            throw error
        }
        handle = opened
        self.path = path
        cache = StatementCache(capacity: statements)
        try setFlag(SQLITE_DBCONFIG_DQS_DML, false)
        try setFlag(SQLITE_DBCONFIG_DQS_DDL, false)
        try setFlag(SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)
        try setFlag(SQLITE_DBCONFIG_DEFENSIVE, true)
        try setFlag(SQLITE_DBCONFIG_ENABLE_FKEY, true)
        // Readers never checkpoint, also not by being the last to close (see `CommitThread`).
        try setFlag(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, readOnly)
        // Checkpoints are taken by the commit thread alone and when it chooses.
        try check(sqlite3_wal_autocheckpoint(handle, 0))
        for function in functions { try function.register(on: handle) }
        sqlite3_set_authorizer(handle, connectionAuthorizer, Unmanaged.passUnretained(self).toOpaque())
        // A damaged page is noticed when it is read; nothing spills into files outside the database's folder.
        let pragmas = "PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY;"
        try check(sqlite3_exec(handle, pragmas, nil, nil, nil))
        if readOnly {
            try check(sqlite3_exec(handle, "PRAGMA query_only = ON", nil, nil, nil))
            sqlite3_progress_handler(handle, 1_000, connectionProgress, Unmanaged.passUnretained(self).toOpaque())
        }
    }

    deinit {
        controls.removeAll()
        cache.removeAll()
        sqlite3_close_v2(handle)
    }

    private static let processWideSettings: Void = { _ = csqlite_without_memory_statistics() }()

    // MARK: Statements

    /// Rows that have been inserted, changed or deleted since the connection was opened, those of triggers and of the tables
    /// beneath a text index included.
    public var totalChanges: Int64 { sqlite3_total_changes64(handle) }

    /// Runs one statement to its end and returns how many rows it inserted, changed or deleted itself (what its
    /// triggers and foreign-key actions did is not counted).
    @discardableResult
    public func execute(_ sql: String, _ values: (any SQLBindable)?...) throws -> Int {
        try execute(sql, values: values)
    }

    /// As `execute(_:_:)`, with the values in an array.
    @discardableResult
    public func execute(_ sql: String, values: [(any SQLBindable)?]) throws -> Int {
        let before = sqlite3_total_changes64(handle)
        try run(sql, values) { statement in while try step(statement) {} }
        return sqlite3_total_changes64(handle) == before ? 0 : Int(sqlite3_changes64(handle))
    }

    /// Every row, each made into a value by `transform`. For results of bounded size; see `forEach` for others.
    public func query<T>(
        _ sql: String, _ values: (any SQLBindable)?..., transform: (borrowing Row) throws -> T
    ) throws -> [T] {
        try query(sql, values: values, transform: transform)
    }

    /// As `query(_:_:transform:)`, with the values in an array.
    public func query<T>(
        _ sql: String, values: [(any SQLBindable)?], transform: (borrowing Row) throws -> T
    ) throws -> [T] {
        var results: [T] = []
        try run(sql, values) { statement in
            while try step(statement) { results.append(try statement.read(transform)) }
        }
        return results
    }

    /// The first row made into a value, or nil where there is none. Later rows are not looked for.
    public func first<T>(
        _ sql: String, _ values: (any SQLBindable)?..., transform: (borrowing Row) throws -> T
    ) throws -> T? {
        try first(sql, values: values, transform: transform)
    }

    /// As `first(_:_:transform:)`, with the values in an array.
    public func first<T>(
        _ sql: String, values: [(any SQLBindable)?], transform: (borrowing Row) throws -> T
    ) throws -> T? {
        try run(sql, values) { statement in
            try step(statement) ? try statement.read(transform) : nil
        }
    }

    /// The first column of the first row, or nil where there is no row: `try connection.value("SELECT count(*) …")`.
    public func value<T: SQLReadable>(_ sql: String, _ values: (any SQLBindable)?...) throws -> T? {
        try first(sql, values: values) { row in try row[0] }
    }

    /// Shows every row to `body`, one at a time and in no more memory than one takes.
    public func forEach(
        _ sql: String, _ values: (any SQLBindable)?..., body: (borrowing Row) throws -> Void
    ) throws {
        try forEach(sql, values: values, body: body)
    }

    /// As `forEach(_:_:body:)`, with the values in an array.
    public func forEach(
        _ sql: String, values: [(any SQLBindable)?], body: (borrowing Row) throws -> Void
    ) throws {
        try run(sql, values) { statement in
            while try step(statement) { try statement.read(body) }
        }
    }

    /// Runs several statements separated by semicolons, without parameters. For migrations; nothing is cached.
    public func executeScript(_ sql: String) throws {
        var remaining = Substring(sql)
        while let (statement, rest) = try prepare(remaining) {
            defer { statement.reset() }
            while try step(statement) {}
            remaining = rest
        }
    }

    /// The row id of the last row inserted on this connection; in a `write` body, of that body's last `INSERT`.
    public var lastInsertRowID: Int64 { sqlite3_last_insert_rowid(handle) }

    // MARK: For the database itself

    var cachedStatements: Int { cache.count }

    /// Switches one of the `SQLITE_DBCONFIG_` flags.
    func setFlag(_ flag: Int32, _ on: Bool) throws(DatabaseError) {
        try check(csqlite_set_flag(handle, flag, on ? 1 : 0))
    }

    func check(_ code: Int32) throws(DatabaseError) {
        guard code == SQLITE_OK else { throw .from(code, handle, path: path) }
    }

    // MARK: Running

    private func run<T>(
        _ sql: String, _ values: [(any SQLBindable)?], _ body: (Statement) throws -> T
    ) throws -> T {
        // A body that hid the failure which ended its transaction must not go on outside of one.
        guard !isLent || isInTransaction else {
            throw DatabaseError.notCommitted(cause: "a statement ended the transaction")
        }
        let statement: Statement
        do {
            statement = try prepared(sql)
        } catch {
            throw explained(error)
        }
        statement.isRunning = true
        defer {
            statement.reset()
            statement.isRunning = false
        }
        try statement.bind(values)
        return try body(statement)
    }

    /// The error for a failure: the reason for stopping where SQLite has noticed that it was stopped, else the failure itself.
    ///
    /// SQLite notices in more places than in steps: while it prepares a statement (the first one reads the schema), and while
    /// it begins a transaction.
    func explained(_ error: any Error) -> any Error {
        guard sqlite3_errcode(handle) & 0xff == SQLITE_INTERRUPT else { return error }
        return interruption?.error ?? error
    }

    /// True where the statement stands on a row, false where it is done.
    private func step(_ statement: Statement) throws -> Bool {
        if let error = interruption?.error { throw error }
        let before = sqlite3_total_changes64(handle)
        let code = sqlite3_step(statement.handle)
        // A changed schema made SQLite compile it again inside the step, perhaps with other triggers.
        if !compiledWrites.isEmpty {
            statement.writes.formUnion(compiledWrites)
            compiledWrites.removeAll()
        }
        if !statement.writes.isEmpty, sqlite3_total_changes64(handle) != before {
            touchedTables.formUnion(statement.writes)
        }
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case SQLITE_INTERRUPT: throw interruption?.error ?? CancellationError()
        default: throw DatabaseError.from(code, handle, path: path)
        }
    }

    private func prepared(_ sql: String) throws(DatabaseError) -> Statement {
        let kept = cache.statement(sql)
        if let kept, !kept.isRunning { return kept }
        guard let (statement, rest) = try prepare(Substring(sql), persistent: kept == nil) else {
            throw .invalidStatement("empty statement")
        }
        if try prepare(rest) != nil { throw .invalidStatement("more than one statement: \(sql)") }
        if kept == nil { cache.insert(statement, for: sql) }
        return statement
    }

    /// The first statement of `sql` and the text after it, or nil where only spaces and comments are left.
    func prepare(
        _ sql: Substring, persistent: Bool = false
    ) throws(DatabaseError) -> (statement: Statement, rest: Substring)? {
        var text = String(sql)
        compiledWrites.removeAll()
        var compiled: OpaquePointer?
        var consumed = 0
        let code = text.withUTF8 { bytes -> Int32 in
            guard let base = bytes.baseAddress, let length = Int32(exactly: bytes.count) else { return SQLITE_OK }
            return base.withMemoryRebound(to: CChar.self, capacity: bytes.count) { start in
                var tail: UnsafePointer<CChar>?
                let flags = persistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
                let code = sqlite3_prepare_v3(handle, start, length, flags, &compiled, &tail)
                consumed = tail.map { $0 - start } ?? bytes.count
                return code
            }
        }
        try check(code)
        guard let compiled else {
            guard text.utf8.contains(0) else { return nil }
            throw .invalidStatement("a NUL byte in a statement")
        }
        defer { compiledWrites.removeAll() }
        let statement = Statement(handle: compiled, writes: compiledWrites)
        return (statement, Substring(text.utf8.dropFirst(consumed)))
    }

    // MARK: Called by SQLite

    /// Notes which tables a statement writes, and refuses what bodies may not do.
    ///
    /// This is how changes are observed. `sqlite3_update_hook` was rejected: it is silent for tables without row
    /// ids, for rows that REPLACE removes and for DELETE without WHERE, and it costs a call for every row.
    fileprivate func authorize(_ action: Int32, _ subject: UnsafePointer<CChar>?) -> Int32 {
        switch action {
        case SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE:
            if let subject {
                let table = String(cString: subject)
                if !table.hasPrefix("sqlite_") { compiledWrites.insert(table) }
            }
            return SQLITE_OK
        case SQLITE_TRANSACTION, SQLITE_SAVEPOINT, SQLITE_ATTACH, SQLITE_DETACH:
            return isLent ? SQLITE_DENY : SQLITE_OK
        default:
            return SQLITE_OK
        }
    }

    fileprivate var mustStop: Bool { interruption?.error != nil }
}

private func connectionAuthorizer(
    _ context: UnsafeMutableRawPointer?, _ action: Int32, _ first: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?,
    _: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?
) -> Int32 {
    guard let context else { return SQLITE_DENY }
    return Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue().authorize(action, first)
}

private func connectionProgress(_ context: UnsafeMutableRawPointer?) -> Int32 {
    guard let context else { return 1 }
    return Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue().mustStop ? 1 : 0
}
