import Executors
import Files
import LibraryModel
import LibraryStorage
import ServiceMesh

/// Brings files and catalogue together after a stop of any kind: finishes or withdraws what was under way, and
/// removes what was discarded. Runs before anything else may change the library.
package enum Reconciliation {
    /// - Returns: what is wrong with the catalogue, in sentences for people.
    package static func run(
        catalogue: any Catalogue, photoFiles: any PhotoFiles, namedFiles: NamedFiles, places: BackupPlaces,
        discards: DiscardedFiles, pool: BlockingPool
    ) async throws -> [String] {
        let abandoned = try await pool.run { try photoFiles.abandoned() }
        let stored = try await catalogue.read { try $0.photos.inUse(abandoned) }
        let kept = try await pool.run { () -> [String] in
            try photoFiles.settle(abandoned.filter { stored.contains($0) })
            do {
                try photoFiles.requireMayRemove()
            } catch let error as MeshError {
                return [error.message]
            }
            try photoFiles.withdraw(abandoned.filter { !stored.contains($0) })
            return []
        }
        try await UnfinishedBackups(catalogue: catalogue, places: places, namedFiles: namedFiles, pool: pool).settle()
        let discarded = try await catalogue.read { try $0.discardedFiles.all() }
        await discards.removeAll()
        return kept
            + discarded.filter { StoredName(path: $0) == nil }.prefix(10).map {
                "It asks for a file to be removed that is not in the library's folders, '\($0.prefix(200))'; that is not done."
            }
    }
}
