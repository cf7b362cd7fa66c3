import Database
import Foundation
import LibraryStorage

/// What restores have overwritten, in SQLite.
struct OverwrittenTable: OverwrittenRepository {
    let connection: Connection

    func add(_ changes: [Overwritten], by job: String) throws {
        let encoder = JSONEncoder()
        for (number, change) in changes.enumerated() {
            try connection.execute(
                "INSERT INTO overwritten (job, number, change) VALUES (?, ?, ?)", job, number,
                String(decoding: try encoder.encode(change), as: UTF8.self))
        }
    }

    func changes(by job: String) throws -> [Overwritten] {
        try connection.query("SELECT change FROM overwritten WHERE job = ? ORDER BY number", job) { row in
            let text: String = try row[0]
            return try? JSONDecoder().decode(Overwritten.self, from: Data(text.utf8))
        }.compactMap(\.self)
    }

    func removeChanges(by job: String) throws {
        try connection.execute("DELETE FROM overwritten WHERE job = ?", job)
    }

    func removeAll() throws { try connection.execute("DELETE FROM overwritten") }
}
