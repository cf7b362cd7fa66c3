import Executors
import LibraryModel
import LibraryStorage
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
package struct DiscardedFiles: Sendable {
    /// Files that are being removed. Two that removed the same one could meet a new file of that name between them.
    private final class Claims: Sendable {
        private let names = Mutex<Set<StoredName>>([])

        /// Those of `wanted` that nobody else removes at the moment.
        func take(_ wanted: ArraySlice<StoredName>) -> [StoredName] {
            names.withLock { names in wanted.filter { names.insert($0).inserted } }
        }

        func giveBack(_ taken: [StoredName]) { names.withLock { $0.subtract(taken) } }
    }

    /// Removed by one transaction.
    private static let atOnce = 1_000

    private let catalogue: any Catalogue
    private let photoFiles: any PhotoFiles
    private let pool: BlockingPool
    private let claims = Claims()

    package init(catalogue: any Catalogue, photoFiles: any PhotoFiles, pool: BlockingPool) {
        self.catalogue = catalogue
        self.photoFiles = photoFiles
        self.pool = pool
    }

    /// Removes what is in the list of these.
    func remove(_ names: [StoredName]) async {
        _ = try? await uncancelled {
            for start in stride(from: 0, to: names.count, by: Self.atOnce) {
                await removeNow(names[start..<min(start + Self.atOnce, names.count)])
            }
        }
    }

    /// Removes everything in the list, when the backup has ended for which it was kept.
    package func removeAll() async {
        let catalogue = catalogue
        let all = try? await uncancelled { try await catalogue.read { try $0.discardedFiles.all() } }
        await remove((all ?? []).compactMap { StoredName(path: $0) })
    }

    private func removeNow(_ names: ArraySlice<StoredName>) async {
        let names = claims.take(names)
        defer { claims.giveBack(names) }
        let photoFiles = photoFiles
        let found = try? await catalogue.read { transaction -> (removable: [StoredName], used: [StoredName]) in
            let isBackupUnfinished = try transaction.unfinishedBackups.needsPhotos()
            // Whoever had the claim before may have been done with it.
            let listed = try transaction.discardedFiles.among(
                names.filter { !isBackupUnfinished || $0.kind.isMade })
            let used = try transaction.photos.inUse(Array(listed))
            return (listed.subtracting(used).sorted(), used.sorted())
        }
        guard let found else { return }
        let gone = try? await pool.run { found.used + photoFiles.remove(found.removable) }
        guard let gone, !gone.isEmpty else { return }
        _ = try? await catalogue.writeFreeingSpace { try $0.discardedFiles.remove(gone) }
    }
}
