import CSQLite

/// One prepared statement. Finalised when the last reference goes.
///
/// Not `Sendable`: it lives on the thread of its connection, which also outlives it (the connection drops its
/// cache before it closes its handle).
final class Statement {
    let handle: OpaquePointer
    /// Tables that running it may write to, triggers and foreign-key actions included, as SQLite's compiler named them.
    var writes: Set<String>
    /// Being stepped through right now, so that the same text met again underneath must not reuse it.
    var isRunning = false
    /// The cache's clock at the last use.
    var lastUse: UInt64 = 0

    private var columns: [String: Int32] = [:]
    private var columnsPreparation: Int32 = -1

    init(handle: OpaquePointer, writes: Set<String>) {
        self.handle = handle
        self.writes = writes
    }

    deinit { sqlite3_finalize(handle) }

    func bind(_ values: [(any SQLBindable)?]) throws(DatabaseError) {
        let expected = sqlite3_bind_parameter_count(handle)
        guard expected == values.count else {
            throw .invalidStatement("\(expected) parameters, \(values.count) values: \(text)")
        }
        var position: Int32 = 0
        for value in values {
            position += 1
            let code = bind(value?.sqlValue ?? .null, at: position)
            guard code == SQLITE_OK else { throw .from(code, sqlite3_db_handle(handle)) }
        }
    }

    private func bind(_ value: SQLValue, at position: Int32) -> Int32 {
        switch value {
        case .null: return sqlite3_bind_null(handle, position)
        case .integer(let number): return sqlite3_bind_int64(handle, position, number)
        case .real(let number): return sqlite3_bind_double(handle, position, number)
        case .text(var text):
            return text.withUTF8 { bytes in
                // A null pointer would bind NULL, and an empty buffer may have one.
                guard let base = bytes.baseAddress else {
                    return sqlite3_bind_text64(handle, position, "", 0, csqlite_transient(), UInt8(SQLITE_UTF8))
                }
                return base.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
                    sqlite3_bind_text64(
                        handle, position, $0, UInt64(bytes.count), csqlite_transient(), UInt8(SQLITE_UTF8))
                }
            }
        case .blob(let blob):
            return blob.withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress, !bytes.isEmpty else {
                    return sqlite3_bind_zeroblob(handle, position, 0)
                }
                return sqlite3_bind_blob64(handle, position, base, UInt64(bytes.count), csqlite_transient())
            }
        }
    }

    /// Shows the row it stands on to `body`.
    ///
    /// Never inlined: swift 6.3.1 crashes while inlining a closure that makes a non-copyable value for a closure.
    @inline(never)
    func read<T>(_ body: (borrowing Row) throws -> T) rethrows -> T {
        let row = Row(statement: self)
        return try body(row)
    }

    /// Ends the run and lets go of bound texts and blobs.
    func reset() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

    var text: String { sqlite3_sql(handle).map { String(cString: $0) } ?? "" }

    /// The position of a column of the result, or nil. Where several have one name, the first counts.
    func column(named name: String) -> Int32? {
        // A changed schema makes SQLite prepare the statement again, perhaps with other columns.
        let preparation = sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_REPREPARE, 0)
        if columnsPreparation != preparation {
            columns.removeAll(keepingCapacity: true)
            for position in (0..<sqlite3_column_count(handle)).reversed() {
                guard let text = sqlite3_column_name(handle, position) else { continue }
                columns[String(cString: text)] = position
            }
            columnsPreparation = preparation
        }
        return columns[name]
    }

    func name(of column: Int32) -> String {
        sqlite3_column_name(handle, column).map { String(cString: $0) } ?? "column \(column)"
    }
}

/// The prepared statements of one connection by their text; past `capacity` the one unused for longest is dropped.
struct StatementCache {
    let capacity: Int
    private var statements: [String: Statement] = [:]
    private var clock: UInt64 = 0

    init(capacity: Int) { self.capacity = max(1, capacity) }

    var count: Int { statements.count }

    mutating func statement(_ sql: String) -> Statement? {
        guard let statement = statements[sql] else { return nil }
        clock &+= 1
        statement.lastUse = clock
        return statement
    }

    mutating func insert(_ statement: Statement, for sql: String) {
        // A scan of at most `capacity` entries, and only when a statement had to be compiled, which costs far more.
        if statements.count >= capacity, let oldest = statements.min(by: { $0.value.lastUse < $1.value.lastUse }) {
            statements.removeValue(forKey: oldest.key)
        }
        clock &+= 1
        statement.lastUse = clock
        statements[sql] = statement
    }

    mutating func removeAll() { statements.removeAll() }
}
