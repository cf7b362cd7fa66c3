import Database
import Executors
import Foundation
import LibraryModel

/// Brings files and catalogue together after a stop of any kind: finishes or withdraws what was under way, and
/// removes what was discarded. Runs before anything else may change the library.
enum Reconciliation {
    /// - Returns: what is wrong with the catalogue, in sentences for people.
    static func run(folder: LibraryFolder, database: Database, pool: BlockingPool) async throws -> [String] {
        let leftovers = try await pool.run { try folder.leftovers() }
        let stored = try await database.read { connection in
            try Set(leftovers.filter { try PhotoTable.isStored(path: "photos/" + $0, in: connection) })
        }
        try await pool.run {
            for name in stored { try folder.settle(name) }
            try folder.withdraw(leftovers.filter { !stored.contains($0) })
        }
        try await UnfinishedBackups(folder: folder, database: database, pool: pool).settle()
        let discarded = try await database.read { try DiscardedFileTable.all(in: $0) }
        let foreign = discarded.filter { (try? folder.location(of: $0)) == nil }
        await DiscardedFiles(folder: folder, database: database, pool: pool).remove(discarded)
        return foreign.prefix(10).map {
            "It asks for a file to be removed that is not in the library's folders, '\($0.prefix(200))'; that is not done."
        }
    }
}
