import Executors
import Files
import LibraryModel
import LibraryStorage

/// Brings files and catalogue together after a stop of any kind: finishes or withdraws what was under way, and
/// removes what was discarded. Runs before anything else may change the library.
package enum Reconciliation {
    /// - Returns: what is wrong with the catalogue, in sentences for people.
    package static func run(
        catalogue: any Catalogue, photoFiles: any PhotoFiles, namedFiles: NamedFiles, places: BackupPlaces,
        discards: DiscardedFiles, pool: BlockingPool
    ) async throws -> [String] {
        let leftovers = try await pool.run { try photoFiles.leftovers() }
        let stored = try await catalogue.read { try $0.photos.inUse(leftovers) }
        try await pool.run {
            try photoFiles.settle(leftovers.filter { stored.contains($0) })
            try photoFiles.withdraw(leftovers.filter { !stored.contains($0) })
        }
        try await UnfinishedBackups(catalogue: catalogue, places: places, namedFiles: namedFiles, pool: pool).settle()
        let discarded = try await catalogue.read { try $0.discardedFiles.all() }
        await discards.removeAll()
        return discarded.filter { StoredName(path: $0) == nil }.prefix(10).map {
            "It asks for a file to be removed that is not in the library's folders, '\($0.prefix(200))'; that is not done."
        }
    }
}
