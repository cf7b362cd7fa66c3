import Database
import Executors
import Foundation
import LibraryModel

/// Brings files and catalogue together after a stop of any kind: finishes or withdraws what was under way, and
/// removes what was discarded. Runs before anything else may change the library.
enum Reconciliation {
    static func run(folder: LibraryFolder, database: Database, pool: BlockingPool) async throws {
        let leftovers = try await pool.run { try folder.leftovers() }
        let stored = try await database.read { connection in
            try Set(leftovers.filter { try PhotoTable.isStored(path: "photos/" + $0, in: connection) })
        }
        try await pool.run {
            for name in leftovers {
                if stored.contains(name) { try folder.settle(name) } else { try folder.withdraw(name) }
            }
        }
        try await UnfinishedBackups(folder: folder, database: database, pool: pool).settle()
        let discarded = try await database.read { try DiscardedFileTable.all(in: $0) }
        await DiscardedFiles(folder: folder, database: database, pool: pool).remove(discarded)
    }
}
