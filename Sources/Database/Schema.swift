import CSQLite

/// What a database file must be: whose it is, and the steps that bring it to the present form.
public struct Schema: Sendable {
    /// Stored in the file's header (`PRAGMA application_id`), so that another application's file is recognised. Not 0.
    public let applicationID: Int32
    /// In ascending order of version. A migration that has shipped is never changed; a new one is added.
    public let migrations: [Migration]
    /// Registered on every connection, before migrations run.
    public let functions: [ScalarFunction]
    /// What its tables need done besides, a little at a time.
    public let upkeep: Upkeep?

    /// - Precondition: `applicationID` is not 0 (the value of files that say nothing); versions are 1 or more and rise.
    public init(
        applicationID: Int32, migrations: [Migration], functions: [ScalarFunction] = [], upkeep: Upkeep? = nil
    ) {
        precondition(applicationID != 0, "an application id tells files apart; 0 says nothing")
        var last = 0
        for migration in migrations {
            precondition(migration.version > last, "versions of migrations must rise")
            last = migration.version
        }
        self.applicationID = applicationID
        self.migrations = migrations
        self.functions = functions
        self.upkeep = upkeep
    }

    /// The version that a file has once every migration ran (`PRAGMA user_version`); 0 without migrations.
    public var version: Int { migrations.last?.version ?? 0 }
}

/// Work that writes leave behind and that is done in small steps: one with each commit that makes more of it, and the rest
/// while there is nothing else to do.
///
/// A text index in FTS5 is such a table: each write adds a segment to it, and the segments are merged from time to time. Left to
/// itself it merges at once what 64 pages have left, in the middle of the write that fills the last of them.
public struct Upkeep: Sendable {
    /// Writes to any of these make more to be done.
    let tables: Set<String>
    let step: @Sendable (Connection) throws -> Bool

    /// - Parameter step: does a little of it, within milliseconds, and says whether there may be more. It is a part of a
    ///   transaction; where it throws, only what it did itself is undone.
    public init(after tables: Set<String>, step: @escaping @Sendable (Connection) throws -> Bool) {
        (self.tables, self.step) = (tables, step)
    }
}

/// One step from one version of the schema to the next. It runs in one transaction: wholly or not at all.
///
/// Foreign keys are not enforced while it runs (so that tables can be rebuilt, and without cascades); all of them are
/// checked before it commits.
public struct Migration: Sendable {
    /// The `user_version` of the file afterwards, 1 or more.
    public let version: Int
    /// A few words for the error message.
    public let name: String
    let apply: @Sendable (Connection) throws -> Void

    public init(version: Int, name: String, apply: @escaping @Sendable (Connection) throws -> Void) {
        precondition((1...Int(Int32.max)).contains(version), "user_version is a positive 32-bit number")
        self.version = version
        self.name = name
        self.apply = apply
    }

    /// - Parameter script: statements separated by semicolons.
    public init(version: Int, name: String, script: String) {
        self.init(version: version, name: name) { try $0.executeScript(script) }
    }
}

/// A Swift function for SQL, for example `fold(text)` for comparing without case and diacritics.
///
/// It has to be deterministic (same arguments, same result, for ever): indexes and generated columns are built on
/// that. It may be used in the schema itself and must therefore have no effects.
public struct ScalarFunction: Sendable {
    public let name: String
    /// How many arguments it takes, 0…100.
    public let argumentCount: Int
    private let body: @Sendable ([SQLValue]) throws -> SQLValue

    /// - Parameter body: called on database threads with `argumentCount` values. An error it throws fails the
    ///   statement with `DatabaseError.invalidStatement`.
    public init(
        _ name: String, argumentCount: Int, body: @escaping @Sendable ([SQLValue]) throws -> SQLValue
    ) {
        precondition((0...100).contains(argumentCount), "SQLite allows up to 100 arguments here")
        self.name = name
        self.argumentCount = argumentCount
        self.body = body
    }

    func register(on handle: OpaquePointer) throws(DatabaseError) {
        let box = Unmanaged.passRetained(Body(body))
        // SQLite calls the last function when the connection closes, and also when registering fails.
        let code = sqlite3_create_function_v2(
            handle, name, Int32(argumentCount), SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, box.toOpaque(),
            { context, count, arguments in
                guard let context, let data = sqlite3_user_data(context) else { return }
                Unmanaged<Body>.fromOpaque(data).takeUnretainedValue().call(context, count, arguments)
            }, nil, nil,
            { data in
                if let data { Unmanaged<Body>.fromOpaque(data).release() }
            })
        guard code == SQLITE_OK else { throw .from(code, handle) }
    }

    /// Keeps the closure alive while SQLite points at it.
    private final class Body: Sendable {
        let run: @Sendable ([SQLValue]) throws -> SQLValue

        init(_ run: @escaping @Sendable ([SQLValue]) throws -> SQLValue) { self.run = run }

        func call(
            _ context: OpaquePointer, _ count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?
        ) {
            do {
                var values: [SQLValue] = []
                values.reserveCapacity(Int(count))
                for index in 0..<Int(count) { values.append(try Self.value(arguments?[index])) }
                Self.answer(try run(values), context)
            } catch {
                sqlite3_result_error(context, "\(error)", -1)
            }
        }

        private static func value(_ argument: OpaquePointer?) throws(DatabaseError) -> SQLValue {
            switch sqlite3_value_type(argument) {
            case SQLITE_INTEGER: return .integer(sqlite3_value_int64(argument))
            case SQLITE_FLOAT: return .real(sqlite3_value_double(argument))
            case SQLITE_TEXT:
                guard let start = sqlite3_value_text(argument) else { throw .outOfMemory }
                let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(argument)))
                guard let text = String(validating: bytes, as: UTF8.self) else {
                    throw .unexpectedValue(column: "a function's argument", problem: "text that is not valid UTF-8")
                }
                return .text(text)
            case SQLITE_BLOB:
                guard let start = sqlite3_value_blob(argument) else { return .blob([]) }
                return .blob([UInt8](UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(argument)))))
            default: return .null
            }
        }

        private static func answer(_ value: SQLValue, _ context: OpaquePointer) {
            switch value {
            case .null: sqlite3_result_null(context)
            case .integer(let number): sqlite3_result_int64(context, number)
            case .real(let number): sqlite3_result_double(context, number)
            case .text(let text):
                // Not `String.withCString`'s length: text may hold a NUL.
                let bytes = Array(text.utf8)
                bytes.withUnsafeBytes { buffer in
                    guard let base = buffer.baseAddress?.assumingMemoryBound(to: CChar.self), !bytes.isEmpty else {
                        return sqlite3_result_text(context, "", 0, csqlite_transient())
                    }
                    sqlite3_result_text64(
                        context, base, UInt64(bytes.count), csqlite_transient(), UInt8(SQLITE_UTF8))
                }
            case .blob(let bytes):
                bytes.withUnsafeBytes { buffer in
                    guard let base = buffer.baseAddress, !bytes.isEmpty else {
                        return sqlite3_result_zeroblob(context, 0)
                    }
                    sqlite3_result_blob64(context, base, UInt64(bytes.count), csqlite_transient())
                }
            }
        }
    }
}
