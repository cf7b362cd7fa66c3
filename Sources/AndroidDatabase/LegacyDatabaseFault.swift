import Database
import LibraryModel
import ServiceMesh

/// What keeps an old database from being read, in words for the person who has it. Nothing was changed by then.
package enum LegacyDatabaseFault {
    private static let again =
        "Copy it from the phone again with the app closed, together with the files of the same name that end in -wal and -journal, if there are any."

    static func notADatabase(_ path: String) -> MeshError {
        MeshError(
            .failedPrecondition,
            "\(path) is not an SQLite database, or it is encrypted. Name the app's own file smilepile_database. \(again)"
        )
    }

    static func foreign(_ path: String, _ reason: String) -> MeshError {
        MeshError(
            .failedPrecondition,
            "\(path) is not a database of the SmilePile app: \(reason.prefix(200)). Name the app's own file smilepile_database."
        )
    }

    static func version(_ version: Int64, _ path: String) -> MeshError {
        let advice =
            version < Int64(LegacyFormat.versions.lowerBound)
            ? "Update the app on the phone, start it once, and copy the database again."
            : "It comes from a newer app: update this program."
        return MeshError(
            .failedPrecondition,
            "\(path) has version \(version); versions \(LegacyFormat.versions.lowerBound) to \(LegacyFormat.versions.upperBound) can be taken over. \(advice)",
            details: ["version": .integer(version)])
    }

    static func damaged(_ path: String, _ detail: String) -> MeshError {
        MeshError(
            .dataLoss,
            "\(path) is damaged (\(detail.prefix(200))); nothing was taken over. \(again) If that is what the phone has, repair a copy: sqlite3 OLD .recover | sqlite3 NEW, and PRAGMA user_version as it was."
        )
    }

    /// Of the log or the journal.
    static func damagedBeside(_ path: String, _ detail: String) -> MeshError {
        MeshError(
            .dataLoss,
            "\(path) is damaged (\(detail)), and it has the latest changes; nothing was taken over. \(again) To do without them, name a copy of the database without that file."
        )
    }

    static func tooMany(_ what: String, _ limit: Int, _ path: String) -> MeshError {
        MeshError(
            short: .count,
            "\(path) has more than \(limit) \(what), which is more than can be taken over; nothing was. Make it smaller in the app first."
        )
    }

    static func tooLarge(_ path: String) -> MeshError {
        MeshError(
            .dataLoss,
            "\(path) has a value of over 16 MiB, which the app does not write; nothing was taken over. \(again) If that is what the phone has, find the value in a copy with sqlite3 and shorten it."
        )
    }

    /// A damaged page may ask for more than any machine has.
    static func tooMuchMemory(_ path: String) -> MeshError {
        MeshError(
            .resourceExhausted,
            "Reading \(path) takes more memory than there is; nothing was taken over. Close other programs, then try again. If that does not help, the file is damaged: \(again.prefix(1).lowercased() + again.dropFirst())"
        )
    }

    /// An error of reading as one of the old database; the database layer speaks of the program's own.
    package static func explaining(_ error: any Error, _ path: String) -> any Error {
        switch error as? DatabaseError {
        case .notADatabase: notADatabase(path)
        case .corrupt(let detail): damaged(path, detail)
        case .unexpectedValue(let column, let problem): damaged(path, "\(column): \(problem)")
        case .tooLarge: tooLarge(path)
        case .locked: LegacyDatabaseLock.inUse(path)
        case .invalidStatement(let detail): foreign(path, detail)
        case .deadlineExceeded:
            MeshError(.deadlineExceeded, "Reading \(path) took too long; nothing was taken over. Try again.")
        case .outOfMemory: tooMuchMemory(path)
        default: error
        }
    }
}
