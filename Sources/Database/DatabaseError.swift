import CSQLite
import Foundation

/// Everything that can go wrong on this floor. Its `description` is a sentence for people that says what to do next.
///
/// Errors that a `read` or `write` body throws of its own are passed on as they are and never become one of these.
public enum DatabaseError: Error, Sendable, Equatable {
    /// The rule of the schema that a statement broke.
    public enum Constraint: String, Sendable, Equatable {
        case unique, foreignKey, check, notNull, trigger, dataType, other
    }

    /// The file or its folder cannot be opened or created.
    case cannotOpen(path: String, reason: String)
    /// The file is something else than an SQLite database.
    case notADatabase(path: String)
    /// The file is an SQLite database, but its structure is damaged.
    case corrupt(detail: String)
    /// The file is a database of another application.
    case foreign(path: String, applicationID: Int32)
    /// The file was written by a newer version of this application.
    case newer(path: String, version: Int, supported: Int)
    /// A migration failed and was undone. `copy` is the path of the copy made before migrating, where there was one.
    case migrationFailed(version: Int, name: String, reason: String, copy: String?)
    /// A statement broke a rule of the schema; `detail` names the columns or the rule, as far as SQLite tells.
    case constraint(Constraint, detail: String)
    /// No space left on the device, or the quota is used up. Nothing of the refused write was stored.
    case diskFull
    /// The file is as large as its file system takes, or this process may write. Nothing of the refused write was stored.
    case fileTooLarge
    /// The device or the file system failed. Nothing of the refused write was stored.
    case ioFailure(detail: String)
    /// The device failed while the write was being made durable: it may be in the log, or not. Who opens the file next
    /// finds out; until then nothing more is written (`writingStopped`), and what depends on the write has to stay as it is.
    case outcomeUnknown(detail: String)
    /// An earlier write ended with `outcomeUnknown`, so that this one was not tried.
    case writingStopped(detail: String)
    /// The program does not let anything be written at this moment, for this reason. Nothing was stored.
    case writingRefused(String)
    /// More reads or writes are waiting than the limits allow. Nothing was done; trying again later is fine.
    case busy
    /// Another process holds a lock on the file.
    case locked
    /// The database was closed before this request was taken.
    case closed
    /// The deadline passed before the read was done.
    case deadlineExceeded
    /// Another write of the same commit group ended the transaction. Nothing of this write was stored.
    case notCommitted(cause: String)
    /// A write was tried on a read-only connection or file.
    case readOnly
    /// A value or a statement is larger than SQLite's limits.
    case tooLarge
    /// A column holds something else than was asked for.
    case unexpectedValue(column: String, problem: String)
    /// The row that was asked for by its name holds something else than this program writes.
    case unreadableRow(UnreadableRow)
    /// The statement itself is wrong: a mistake in this program.
    case invalidStatement(String)
    case outOfMemory
}

extension DatabaseError: CustomStringConvertible, LocalizedError {
    public var errorDescription: String? { description }

    public var description: String {
        switch self {
        case .cannotOpen(let path, let reason):
            "The database \(path) cannot be opened: \(reason). Check that the folder exists and belongs to this user."
        case .notADatabase(let path):
            "\(path) is not a database. Move it away, or restore the database from a backup."
        case .corrupt(let detail):
            "The database is damaged (\(detail)). Stop the program, keep a copy of the file, and restore a backup."
        case .foreign(let path, let applicationID):
            "\(path) is a database of another application (id \(applicationID)). Choose another file."
        case .newer(let path, let version, let supported):
            "\(path) was written by a newer version of this program (format \(version); this one reads up to "
                + "\(supported)). Update the program."
        case .migrationFailed(let version, let name, let reason, let copy):
            "Bringing the database to format \(version) (\(name)) failed: \(reason.hasSuffix(".") ? String(reason.dropLast()) : reason). "
                + "Nothing of that step was kept"
                + (copy.map { "; a copy from before is at \($0)." } ?? ".")
        case .constraint(.unique, let detail): "There is one like it already (\(detail)). Use another value."
        case .constraint(.foreignKey, _):
            "It refers to something that does not exist, or something refers to it. Look both up again."
        case .constraint(.notNull, let detail): "A required value is missing (\(detail)). Give one."
        case .constraint(_, let detail): "A value breaks a rule (\(detail)). Use another value."
        case .fileTooLarge:
            "The database's file would be too large for its file system. Move the library to another one, such as ext4 or Btrfs."
        case .diskFull: "There is no space left on the disk. Free some space, then try again."
        case .ioFailure(let detail): "The disk failed (\(detail)). Check the disk and the system's log."
        case .outcomeUnknown(let detail):
            "The disk failed while a change was being stored (\(detail)). Whether it was stored shows at the next start; "
                + "nothing more is changed until then. Check the disk and the system's log, then restart the program."
        case .writingStopped(let detail):
            "Nothing is changed any more, because the disk failed before (\(detail)). Check the disk and the system's "
                + "log, then restart the program."
        case .writingRefused(let reason): reason
        case .busy: "The database has too much waiting. Try again in a moment."
        case .locked: "Another program is using the database. Stop it, then try again."
        case .closed: "The database is closed. Open it again."
        case .deadlineExceeded: "The database did not answer in time. Try again, or ask for less."
        case .notCommitted(let cause): "The change was not stored (\(cause)). Try again."
        case .readOnly: "The database can only be read here. Check the file's owner and mode."
        case .tooLarge: "A value is too large for the database. Use a smaller one."
        case .unexpectedValue(let column, let problem):
            "The database holds an unexpected value in \(column): \(problem). Restore a backup if this stays."
        case .unreadableRow(let row):
            "The row \(row.id) of \(row.table) cannot be read (\(row.problem)). Restore a backup if it is needed."
        case .invalidStatement(let detail): "A database request was wrong (\(detail)). This is a bug: report it."
        case .outOfMemory: "There is not enough memory. Close other programs, then try again."
        }
    }
}

extension DatabaseError {
    /// The failure, without advice.
    var cause: String {
        if case .ioFailure(let detail) = self { detail } else { description }
    }

    /// The `errno` behind an SQLITE_IOERR; 0 where nobody knows.
    ///
    /// Of a COMMIT that could not write, sqlite3_system_errno says nothing (3.40 notes it for other statements alone), and the log's
    /// file does.
    static func systemError(of code: Int32, _ handle: OpaquePointer) -> Int32 {
        let said = sqlite3_system_errno(handle)
        guard code == ioErrorWriting else { return said }
        var log: UnsafeMutablePointer<sqlite3_file>?
        var cause: Int32 = 0
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) == SQLITE_OK, let log,
            let methods = log.pointee.pMethods,
            methods.pointee.xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &cause) == SQLITE_OK, cause != 0
        else { return said }
        return cause
    }

    /// SQLITE_IOERR_WRITE, a macro that Swift does not import.
    static let ioErrorWriting = SQLITE_IOERR | (3 << 8)

    /// The error behind an SQLite result code.
    /// - Parameters:
    ///   - code: an extended result code.
    ///   - handle: the connection whose last call returned it, for the message.
    static func from(_ code: Int32, _ handle: OpaquePointer?, path: String = "") -> DatabaseError {
        let message =
            handle.flatMap(sqlite3_errmsg).map { String(cString: $0) } ?? String(cString: sqlite3_errstr(code))
        switch code & 0xff {
        case SQLITE_CONSTRAINT: return .constraint(constraint(code), detail: rule(message))
        case SQLITE_FULL: return .diskFull
        case SQLITE_IOERR:
            let cause = handle.map { systemError(of: code, $0) } ?? 0
            // The shared-memory index is grown byte by byte so that a full disk shows here and not as SIGBUS.
            if cause == EFBIG { return .fileTooLarge }
            if cause == ENOSPC || cause == EDQUOT || code == ioErrorGrowingIndex { return .diskFull }
            return .ioFailure(
                detail: "\(message), code \(code)\(cause == 0 ? "" : ", \(String(cString: strerror(cause)))")")
        case SQLITE_CORRUPT: return .corrupt(detail: message)
        case SQLITE_NOTADB: return .notADatabase(path: path)
        case SQLITE_CANTOPEN: return .cannotOpen(path: path, reason: message)
        case SQLITE_PERM: return .cannotOpen(path: path, reason: message)
        case SQLITE_READONLY: return .readOnly
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: return .locked
        case SQLITE_TOOBIG: return .tooLarge
        case SQLITE_NOMEM: return .outOfMemory
        case SQLITE_AUTH:
            return .invalidStatement("transactions and attached files belong to the database, not to a body")
        default: return .invalidStatement("\(message), code \(code)")
        }
    }

    private static func constraint(_ code: Int32) -> Constraint {
        // The extended codes are macros with casts or shifts that Swift does not import: (number << 8) | CONSTRAINT.
        switch code >> 8 {
        case 1: .check
        case 3: .foreignKey
        case 5: .notNull
        case 6, 8, 10: .unique  // primary key, unique, rowid
        case 7: .trigger
        case 12: .dataType
        default: .other
        }
    }

    /// SQLite says "UNIQUE constraint failed: category.name"; the part after the colon is what callers look at.
    private static func rule(_ message: String) -> String {
        guard let colon = message.range(of: "constraint failed: ") else { return message }
        return String(message[colon.upperBound...])
    }
}

/// `SQLITE_IOERR | (19 << 8)`, a macro that Swift does not import.
private let ioErrorGrowingIndex: Int32 = SQLITE_IOERR | (19 << 8)
