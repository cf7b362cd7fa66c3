import CSQLite
import Synchronization

/// A row that holds what this program never writes: one that a damaged disk or another program has left.
public struct UnreadableRow: Sendable, Hashable {
    public let table: String
    /// The value of its column `id`.
    public let id: String
    public let problem: String

    public init(table: String, id: String, problem: String) {
        self.table = table
        self.id = id
        self.problem = problem
    }
}

/// The rows that reads have passed over, as far as they were met.
public final class UnreadableRows: Sendable {
    /// So many are named. On a disk that has lost more, other words are needed than their ids.
    public static let most = 1000

    private let noted = Mutex<[UnreadableRow]>([])

    private let looked = Mutex(false)

    public init() {}

    /// Whether nobody has looked at all rows yet.
    public var isFirstLook: Bool {
        get { looked.withLock { !$0 } }
        set { looked.withLock { $0 = !newValue } }
    }

    public var all: [UnreadableRow] { noted.withLock { $0 } }

    public func note(_ row: UnreadableRow) {
        noted.withLock { rows in
            let isKnown = rows.contains { $0.table == row.table && $0.id == row.id }
            guard rows.count < Self.most, !isKnown else { return }
            rows.append(row)
        }
    }

    /// Takes out those that were mended or removed meanwhile.
    public func remove(_ rows: [UnreadableRow]) { noted.withLock { all in all.removeAll { rows.contains($0) } } }
}

// Lists are read with these, and single rows and files in use with the others: what is asked for by its name has to say that it
// cannot be read, and a file whose row is unreadable is not nobody's.
extension Connection {
    /// As ``query(_:_:transform:)`` over rows of one table that have its column `id`. One that holds what it should not is passed over
    /// and noted in ``unreadable``.
    public func readable<T>(
        _ table: String, _ sql: String, values: [(any SQLBindable)?] = [], transform: (borrowing Row) throws -> T
    ) throws -> [T] {
        var found: [T] = []
        try forEachReadable(table, sql, values: values, transform: transform) { found.append($0) }
        return found
    }

    /// As ``readable(_:_:values:transform:)``, one at a time.
    public func forEachReadable<T>(
        _ table: String, _ sql: String, values: [(any SQLBindable)?] = [], transform: (borrowing Row) throws -> T,
        body: (T) throws -> Void
    ) throws {
        try forEach(sql, values: values) { row in
            let value: T
            do {
                value = try transform(row)
            } catch DatabaseError.unexpectedValue(let column, let problem) {
                passedOver += 1
                unreadable.note(UnreadableRow(table: table, id: row.id, problem: "\(column): \(problem)"))
                return
            }
            try body(value)
        }
    }

    /// The first row, of a table that has its column `id`.
    /// - Throws: `unreadableRow`.
    public func firstReadable<T>(
        _ table: String, _ sql: String, values: [(any SQLBindable)?], transform: (borrowing Row) throws -> T
    ) throws -> T? {
        try first(sql, values: values) { row in
            do {
                return try transform(row)
            } catch DatabaseError.unexpectedValue(let column, let problem) {
                let unread = UnreadableRow(table: table, id: row.id, problem: "\(column): \(problem)")
                unreadable.note(unread)
                throw DatabaseError.unreadableRow(unread)
            }
        }
    }

    /// A part of a walk by id, which is empty at the end alone: parts of which nothing can be read are passed over.
    /// - Parameter find: sets the id to that of the last row that it has seen.
    public func walked<T>(from id: Int64, _ find: (_ last: inout Int64) throws -> [T]) throws -> [T] {
        var last = id
        while true {
            let before = last
            let found = try find(&last)
            if !found.isEmpty || last == before { return found }
        }
    }

    /// As many rows as asked for, where `find` stops at a limit before it knows which of them can be read.
    public func filled<T>(_ limit: Int, _ find: (_ limit: Int) throws -> [T]) throws -> [T] {
        var spare = 0
        while true {
            let before = passedOver
            let found = try find(limit + spare)
            guard found.count < limit, passedOver - before > spare else { return found }
            spare = passedOver - before
        }
    }

    /// Looks at every value of some rows of a table, and notes those that are no text though they should be.
    /// - Parameter sql: selects all columns.
    /// - Returns: the id of the last one, nil where there are none.
    public func noteUnreadable(_ table: String, _ sql: String, values: [(any SQLBindable)?] = []) throws -> String? {
        var last: String?
        try forEach(sql, values: values) { row in
            last = row.id
            guard let column = row.columnOfNoText else { return }
            unreadable.note(
                UnreadableRow(table: table, id: row.id, problem: "\(column): text that is not valid UTF-8"))
        }
        return last
    }
}

extension Row {
    /// The value of the column `id`, which may be unreadable itself.
    fileprivate var id: String {
        guard let index = statement.column(named: "id") else { return "?" }
        switch sqlite3_column_type(statement.handle, index) {
        case SQLITE_INTEGER: return "\(sqlite3_column_int64(statement.handle, index))"
        default: return String(decoding: rawBytes(Int(index)) ?? [], as: UTF8.self)
        }
    }

    /// The first column that has text which is none.
    fileprivate var columnOfNoText: String? {
        for index in 0..<Int32(count) where sqlite3_column_type(statement.handle, index) == SQLITE_TEXT {
            guard let start = sqlite3_column_text(statement.handle, index) else { continue }
            let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement.handle, index)))
            if String(validating: bytes, as: UTF8.self) == nil { return statement.name(of: index) }
        }
        return nil
    }
}
