import CSQLite
import Foundation

extension Connection {
    /// Runs `body`; where it throws, undoes what it changed and passes the error on. May be nested.
    @discardableResult
    public func inSavepoint<T>(_ body: () throws -> T) throws -> T {
        try control(.nestedSavepoint)
        do {
            let result = try body()
            try control(.releaseNested)
            return result
        } catch {
            // Where the failure ended the whole transaction, there is nothing left to undo.
            if isInTransaction {
                try control(.undoNested)
                try control(.releaseNested)
            }
            throw error
        }
    }

    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Violations of deferred foreign keys that would make the commit fail.
    var hasUnresolvedForeignKeys: Bool {
        var unresolved: Int32 = 0
        var highest: Int32 = 0
        sqlite3_db_status(handle, SQLITE_DBSTATUS_DEFERRED_FKS, &unresolved, &highest, 0)
        return unresolved != 0
    }

    /// Whether a COMMIT that has just failed may have reached the file all the same: its frames are in the log, and the process
    /// that opens the file next takes them for committed, unless a later write overwrites them first.
    ///
    /// Only a write that the disk or the file had no room for ended before the last frame was whole. An fsync that failed says
    /// nothing of what was written before it, whatever its errno, and SQLite may fail after it still, where the index
    /// beside the log has to grow.
    var mayHaveCommitted: Bool {
        switch sqlite3_extended_errcode(handle) {
        case SQLITE_FULL: false
        case DatabaseError.ioErrorWriting:
            ![ENOSPC, EDQUOT, EFBIG].contains(DatabaseError.systemError(of: DatabaseError.ioErrorWriting, handle))
        case let code: ![SQLITE_CONSTRAINT, SQLITE_BUSY, SQLITE_INTERRUPT].contains(code & 0xff)
        }
    }

    /// Runs a body of somebody else's, who may not end the transaction.
    func lent<T>(_ body: () throws -> T) rethrows -> T {
        isLent = true
        defer { isLent = false }
        return try body()
    }

    /// Runs a statement that begins or ends a transaction or a savepoint; bodies may not.
    ///
    /// Kept apart from the cache, because every write needs three of them and the search alone would show.
    func control(_ control: Control) throws {
        if controls.isEmpty {
            controls = try Control.allCases.map { control in
                guard let (statement, _) = try prepare(control.sql[...], persistent: true) else {
                    throw DatabaseError.invalidStatement(control.sql)
                }
                return statement
            }
        }
        let statement = controls[control.rawValue]
        // A changed schema may make SQLite compile it again here, and ask the authorizer again.
        let lent = isLent
        isLent = false
        defer { isLent = lent }
        let code = sqlite3_step(statement.handle)
        guard code == SQLITE_DONE else {
            let error = DatabaseError.from(code, handle, path: path)
            sqlite3_reset(statement.handle)
            throw error
        }
        sqlite3_reset(statement.handle)
    }

    /// The statements that are the database's own. Savepoints of one name nest: the innermost is meant.
    enum Control: Int, CaseIterable {
        case begin, beginWriting, commit, rollback, savepoint, release, undo
        case nestedSavepoint, releaseNested, undoNested

        var sql: String {
            switch self {
            case .begin: "BEGIN DEFERRED"
            case .beginWriting: "BEGIN IMMEDIATE"
            case .commit: "COMMIT"
            case .rollback: "ROLLBACK"
            case .savepoint: "SAVEPOINT body"
            case .release: "RELEASE body"
            case .undo: "ROLLBACK TO body"
            case .nestedSavepoint: "SAVEPOINT nested"
            case .releaseNested: "RELEASE nested"
            case .undoNested: "ROLLBACK TO nested"
            }
        }
    }
}
