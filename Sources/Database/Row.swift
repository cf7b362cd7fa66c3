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

    // Inlined into the caller's module, where the type asked for is known: looking types up at run time took a fifth of
    // a page of photos.

    /// The value in the column at `index`, counted from 0.
    /// - Throws: `DatabaseError.unexpectedValue`; `invalidStatement` where there is no such column.
    public subscript<T: SQLReadable>(_ index: Int) -> T {
        @inlinable get throws {
            let column = try column(index)
            let stored = try stored(at: column)
            guard let value = T(stored) else { throw mismatch(stored, at: column, T.self) }
            return value
        }
    }

    /// The value in the column called `name`, as the statement spells it.
    /// - Throws: `DatabaseError.unexpectedValue`; `invalidStatement` where there is no such column.
    public subscript<T: SQLReadable>(_ name: String) -> T {
        @inlinable get throws {
            let column = try column(name)
            let stored = try stored(at: column)
            guard let value = T(stored) else { throw mismatch(stored, at: column, T.self) }
            return value
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

    @usableFromInline
    func column(_ index: Int) throws(DatabaseError) -> Int32 {
        guard index >= 0, index < count else { throw .invalidStatement("no column \(index) in: \(statement.text)") }
        return Int32(index)
    }

    @usableFromInline
    func column(_ name: String) throws(DatabaseError) -> Int32 {
        guard let index = statement.column(named: name) else {
            throw .invalidStatement("no column \"\(name)\" in: \(statement.text)")
        }
        return index
    }

    @usableFromInline
    func mismatch(_ stored: SQLValue, at index: Int32, _ type: Any.Type) -> DatabaseError {
        .unexpectedValue(column: statement.name(of: index), problem: "\(stored.className) is not a \(type)")
    }

    @usableFromInline
    func stored(at index: Int32) throws(DatabaseError) -> SQLValue {
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
