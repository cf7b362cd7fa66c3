import Database
import LibraryModel
import LibraryStorage

/// Sources of which no photo could be made, in SQLite.
struct FailedSourceTable: FailedSourceRepository {
    let connection: Connection

    /// Rows that are kept: of a folder that is no album, such as a decoder's own tests, more are of no use.
    static let kept: Int64 = 100_000

    func all(size: Int64, version: String) throws -> [String: SourceFailure] {
        let rows = try connection.query(
            "SELECT digest, outcome, detail FROM failed_sources WHERE size = ? AND version = ? LIMIT 1000", size,
            version
        ) { row -> (String, SourceFailure)? in
            // A later version may write what this one does not know.
            try ImportOutcome(rawValue: row[1]).map { (try row[0], SourceFailure(outcome: $0, detail: try row[2])) }
        }
        return Dictionary(rows.compactMap { $0 }, uniquingKeysWith: { first, _ in first })
    }

    func add(_ failure: SourceFailure, digest: String, size: Int64, version: String) throws {
        try connection.execute(
            "INSERT OR REPLACE INTO failed_sources (digest, size, outcome, detail, version) VALUES (?, ?, ?, ?, ?)",
            digest, size, failure.outcome.rawValue, failure.detail, version)
        try connection.execute(
            "DELETE FROM failed_sources WHERE number <= (SELECT max(number) FROM failed_sources) - ?", Self.kept)
    }
}
