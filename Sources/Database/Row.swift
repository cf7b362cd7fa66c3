import CSQLite

/// The row a query stands on. It cannot be copied or kept: take the values out.
///
///     let photos = try connection.query("SELECT id, caption FROM photo") { row in
///         try Photo(id: row["id"], caption: row["caption"])
///     }
///
/// The type asked for decides: an optional takes NULL as nil, anything else refuses it. Nothing is converted except
/// a whole number to a `Double`, because a value of the wrong class means the file is not what this program wrote.
public struct Row: ~Copyable {
    let statement: Statement

    public var count: Int { Int(sqlite3_data_count(statement.handle)) }

    /// The value in the column at `index`, counted from 0.
    /// - Throws: `DatabaseError.unexpectedValue`; `invalidStatement` where there is no such column.
    public subscript<T: SQLReadable>(_ index: Int) -> T {
        get throws {
            guard index >= 0, index < count else {
                throw DatabaseError.invalidStatement("no column \(index) in: \(statement.text)")
            }
            return try value(at: Int32(index))
        }
    }

    /// The value in the column called `name`, as the statement spells it.
    /// - Throws: `DatabaseError.unexpectedValue`; `invalidStatement` where there is no such column.
    public subscript<T: SQLReadable>(_ name: String) -> T {
        get throws {
            guard let index = statement.column(named: name) else {
                throw DatabaseError.invalidStatement("no column \"\(name)\" in: \(statement.text)")
            }
            return try value(at: index)
        }
    }

    /// The bytes of a text or blob as they are stored, also of text that is not valid UTF-8; nil for NULL and numbers.
    /// For reading files that other programs wrote.
    public func rawBytes(_ index: Int) -> [UInt8]? {
        let column = Int32(clamping: index)
        switch sqlite3_column_type(statement.handle, column) {
        case SQLITE_TEXT, SQLITE_BLOB: return bytes(at: column)
        default: return nil
        }
    }

    private func value<T: SQLReadable>(at index: Int32) throws(DatabaseError) -> T {
        let stored = try stored(at: index)
        guard let value = T(stored) else {
            throw .unexpectedValue(column: statement.name(of: index), problem: "\(stored.className) is not a \(T.self)")
        }
        return value
    }

    private func stored(at index: Int32) throws(DatabaseError) -> SQLValue {
        let handle = statement.handle
        switch sqlite3_column_type(handle, index) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(handle, index))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(handle, index))
        case SQLITE_TEXT:
            // Pointer first, length second: the other way round the length may be that of another encoding.
            guard let start = sqlite3_column_text(handle, index) else { throw .outOfMemory }
            let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, index)))
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw .unexpectedValue(column: statement.name(of: index), problem: "text that is not valid UTF-8")
            }
            return .text(text)
        case SQLITE_BLOB: return .blob(bytes(at: index))
        default: return .null
        }
    }

    private func bytes(at index: Int32) -> [UInt8] {
        guard let start = sqlite3_column_blob(statement.handle, index) else { return [] }
        return [UInt8](UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement.handle, index))))
    }
}

extension SQLValue {
    /// The storage class in words. Errors name the class and never the value, which may be private.
    var className: String {
        switch self {
        case .null: "NULL"
        case .integer: "an integer out of range or place"
        case .real: "a real"
        case .text: "text"
        case .blob: "a blob"
        }
    }
}
