import Executors
import LibraryModel
import LibraryStorage
import ServiceMesh

/// Brings files and catalogue together after a stop of any kind: finishes or withdraws what was under way, and
/// removes what was discarded. Runs before anything else may change the library.
package enum Reconciliation {
    /// - Parameter settleBackups: finishes or withdraws the backups that were being written. Photos' files are kept for those
    ///   that are unfinished, so it comes before what was discarded is removed.
    /// - Returns: what is wrong with the catalogue, in sentences for people.
    package static func run(
        catalogue: any Catalogue, photoFiles: any PhotoFiles, discards: DiscardedFiles, pool: BlockingPool,
        settleBackups: () async throws -> Void
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
        try await settleBackups()
        let discarded = try await catalogue.read { try $0.discardedFiles.all() }
        await discards.removeAll()
        return kept
            + discarded.filter { StoredName(path: $0) == nil }.prefix(10).map {
                "It asks for a file to be removed that is not in the library's folders, '\($0.prefix(200))'; that is not done."
            }
    }
}
