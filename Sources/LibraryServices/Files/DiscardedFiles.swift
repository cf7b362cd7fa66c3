import Database
import Executors
import Foundation
import Synchronization

/// Removes files to which the catalogue does not refer any more, and only those: each path was written to the
/// list of discarded files by the transaction that removed its row, and leaves it once its file is gone durably. What
/// cannot be removed now stays in the list and is tried at the next start.
///
/// A backup holds the library as it was at one moment, and copies it for minutes. While one is unfinished, also while it
/// is paused or waits for its stick, photos' files stay in the list; they go when it has ended. That a backup is
/// unfinished is looked up in the catalogue, after the purge's own transaction: a backup that begins later does not know
/// the photo any more. Rejected: links to all files of the snapshot, which cost more than copying small photos, and a list
/// in memory of what a backup needs, which a restart forgets.
struct DiscardedFiles: Sendable {
    /// Paths that are being removed. Two that removed the same one could meet a new file of that name between them.
    private final class Claims: Sendable {
        private let paths = Mutex<Set<String>>([])

        /// Those of `wanted` that nobody else removes at the moment.
        func take(_ wanted: ArraySlice<String>) -> [String] {
            paths.withLock { paths in wanted.filter { paths.insert($0).inserted } }
        }

        func giveBack(_ taken: [String]) { paths.withLock { $0.subtract(taken) } }
    }

    /// Removed by one transaction.
    private static let atOnce = 1_000

    let folder: LibraryFolder
    let database: Database
    let pool: BlockingPool
    private let claims = Claims()

    init(folder: LibraryFolder, database: Database, pool: BlockingPool) {
        self.folder = folder
        self.database = database
        self.pool = pool
    }

    /// Removes what is in the list of these.
    func remove(_ paths: [String]) async {
        _ = try? await uncancelled {
            for start in stride(from: 0, to: paths.count, by: Self.atOnce) {
                await removeNow(paths[start..<min(start + Self.atOnce, paths.count)])
            }
        }
    }

    /// Removes everything in the list, when the backup has ended for which it was kept.
    func removeAll() async {
        let database = database
        let all = try? await uncancelled { try await database.read { try DiscardedFileTable.all(in: $0) } }
        await remove(all ?? [])
    }

    private func removeNow(_ paths: ArraySlice<String>) async {
        let paths = claims.take(paths)
        defer { claims.giveBack(paths) }
        let folder = folder
        let found = try? await database.read { connection -> (removable: [String], used: [String]) in
            let isBackupUnfinished = try UnfinishedBackupTable.needsPhotos(in: connection)
            // Whoever had the claim before may have been done with it.
            let listed = try paths.filter { path in
                if isBackupUnfinished && path.hasPrefix(BackupFormat.photoPrefix) { return false }
                return try DiscardedFileTable.contains(path, in: connection)
            }
            let used = try Set(listed.filter { try PhotoTable.isInUse(path: $0, in: connection) })
            return (listed.filter { !used.contains($0) }, Array(used))
        }
        guard let found else { return }
        let gone = try? await pool.run { found.used + folder.remove(stored: found.removable) }
        guard let gone, !gone.isEmpty else { return }
        _ = try? await database.write { try DiscardedFileTable.remove(gone, in: $0) }
    }
}
