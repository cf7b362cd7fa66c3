import Database
import Executors
import Foundation

/// Removes files to which the catalogue does not refer any more, and only those: each path was written to the
/// list of discarded files by the transaction that removed its row, and leaves it once its file is gone durably. What
/// cannot be removed now stays in the list and is tried at the next start.
struct DiscardedFiles: Sendable {
    let folder: LibraryFolder
    let database: Database
    let pool: BlockingPool

    /// Each path is given here once, by whoever discarded it: two that removed the same one could meet a new file of
    /// that name between them.
    func remove(_ paths: [String]) async {
        _ = try? await uncancelled { await removeNow(paths) }
    }

    private func removeNow(_ paths: [String]) async {
        let folder = folder
        let stillUsed = try? await database.read { connection in
            try paths.filter { try PhotoTable.isInUse(path: $0, in: connection) }
        }
        guard let stillUsed else { return }
        let used = Set(stillUsed)
        let gone = try? await pool.run {
            stillUsed + folder.remove(stored: paths.filter { !used.contains($0) })
        }
        guard let gone, !gone.isEmpty else { return }
        _ = try? await database.write { try DiscardedFileTable.remove(gone, in: $0) }
    }
}
