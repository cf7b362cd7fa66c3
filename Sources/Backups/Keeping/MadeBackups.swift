import BackupFormats
import CLinux
import Executors
import Files
import Foundation
import LibraryModel
import LibraryStorage
import ServiceMesh
import ZipArchive

/// Remembers the backups that were made, looks after their files, and removes the oldest. Files that are not known to be
/// ours, as ``MadeBackup`` has it, are never touched.
struct MadeBackups: Sendable {
    let catalogue: any Catalogue
    let places: BackupPlaces
    let pool: BlockingPool

    // MARK: Remembering

    /// A backup that was proven, as it is to be remembered. Blocks.
    /// - Parameters:
    ///   - name: of the backup, as the catalogue has it.
    ///   - path: of its file, which may have another name still.
    func made(
        _ name: String, in path: String, _ receipt: BackupReceipt, at time: Timestamp, provenAt: Timestamp
    ) throws -> MadeBackup {
        try FileSystem.withFile(path, O_RDONLY | O_NOFOLLOW) { descriptor in
            MadeBackup(
                path: name, mount: FileSystem.mountPoint(of: FileSystem.parent(of: path)) ?? "/",
                library: try places.origin(), madeAt: time, photos: receipt.photos, bytes: receipt.bytes,
                damaged: receipt.damaged, isWhole: !receipt.isPartial && receipt.originalsLeftOut == 0,
                fingerprint: try Self.fingerprint(of: descriptor, path), verifiedAt: provenAt)
        }
    }

    /// Bytes at either end of a file that its fingerprint is of.
    private static let end = 64 << 10

    /// Of the size, the beginning and the end. At the beginning stands the manifest, with the time and the digests of
    /// everything, at the end the directory: a file that has both is this backup, though perhaps no longer sound.
    ///
    /// Rejected: inode and time, which are others on a stick each time that it is plugged in.
    private static func fingerprint(of descriptor: Int32, _ path: String) throws -> String {
        var found = stat()
        try FileSystem.check(fstat(descriptor, &found), "look at", path)
        guard found.st_mode & S_IFMT == S_IFREG else { return "" }
        var bytes = Data("\(found.st_size):".utf8)
        for place in [0, max(0, Int(found.st_size) - end)] {
            var part = Data(count: min(end, Int(found.st_size)))
            let count = part.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, off_t(place)) }
            guard count >= 0 else { throw FileSystem.Failure(action: "read", path: path, code: errno) }
            bytes += part.prefix(count)
        }
        return ContentDigest(of: bytes).sha256.hex
    }

    // MARK: Looking

    /// Where a person finds its file.
    func path(of backup: MadeBackup) -> String { places.path(backup.path) ?? backup.path }

    func all() async throws -> [KnownBackup] {
        let all = try await catalogue.read { try $0.madeBackups.all() }
        return try await pool.run { all.map { known($0, presence(of: $0)) } }
    }

    /// Forgets those of a folder whose files somebody has removed.
    func forgetGone(in folder: String) async throws {
        let all = try await catalogue.read { try $0.madeBackups.all() }
        let gone = try await pool.run { all.filter { isIn(folder, $0) && presence(of: $0) == .gone } }
        try await forget(gone)
    }

    private func forget(_ backups: [MadeBackup]) async throws {
        guard !backups.isEmpty else { return }
        try await catalogue.write { try $0.madeBackups.forget(backups) }
    }

    /// In the folder itself, or as a snapshot where it is a backup folder.
    private func isIn(_ folder: String, _ backup: MadeBackup) -> Bool {
        places.path(backup.path).map(SnapshotFolder.place) == folder
    }

    private func known(_ backup: MadeBackup, _ presence: KnownBackup.Presence) -> KnownBackup {
        KnownBackup(
            path: places.path(backup.path) ?? backup.path, madeAt: backup.madeAt, verifiedAt: backup.verifiedAt,
            photos: backup.photos, bytes: backup.bytes, damaged: backup.damaged, isWhole: backup.isWhole,
            presence: presence)
    }

    /// The newest one that would give the library back, as far as is known. Blocks.
    /// - Parameters:
    ///   - made: what the catalogue remembers, the last first.
    ///   - now: what lies after it is from a clock that was wrong, and does not count.
    func newest(of made: [MadeBackup], in folder: String, at now: Timestamp) -> MadeBackup? {
        made.first { $0.madeAt <= now && isProven($0, in: folder) && presence(of: $0).mayBeThere }
    }

    /// Whether a backup is of the whole library and the last check found it right.
    func isProven(_ backup: MadeBackup, in folder: String?) -> Bool {
        backup.isWhole && backup.verifiedAt != nil && folder.map { isIn($0, backup) } ?? true
    }

    /// What cannot be looked at is out of reach: nothing is concluded from it. Blocks.
    func presence(of backup: MadeBackup) -> KnownBackup.Presence {
        guard let path = places.path(backup.path) else { return .changed }
        let isInLibrary = !backup.path.hasPrefix("/")
        guard isInLibrary || FileSystem.mountPoint(of: FileSystem.parent(of: path)) == backup.mount else {
            return .outOfReach
        }
        let descriptor = clinux_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0)
        guard descriptor >= 0 else {
            return errno == ENOENT ? .gone : errno == ELOOP ? .changed : .outOfReach
        }
        defer { close(descriptor) }
        guard let found = try? Self.fingerprint(of: descriptor, path) else { return .outOfReach }
        return found == backup.fingerprint ? .there : .changed
    }

    /// What the catalogue calls the file at a path, whatever links lead there. Blocks.
    ///
    /// Of the others only those whose files are called alike are looked at: a stick that does not answer has nothing to do
    /// with a check of another disk.
    func names(of path: String, among all: [MadeBackup]) -> [String] {
        let name = places.name(path)
        var names = all.map(\.path).filter { $0 == name }
        guard let identity = FileIdentity(at: path), let resolved = realpath(path, nil) else { return names }
        defer { free(resolved) }
        let file = String(cString: resolved).lastComponent
        for other in all.map(\.path) where other != name && other.lastComponent == file {
            guard let path = places.path(other), let found = try? FileSystem.status(path),
                FileIdentity(found) == identity
            else { continue }
            names.append(other)
        }
        return names
    }

    // MARK: Pruning

    /// Removes the oldest backups of a folder, as ``PruneBackups`` has it.
    func prune(_ folder: String, keep: Int, dryRun: Bool) async throws -> PrunedBackups {
        let all = try await catalogue.read { try $0.madeBackups.all() }
        let (going, gone, kept) = try await pool.run {
            let library = try places.origin()
            let ours = all.filter {
                isIn(folder, $0) && $0.isWhole && BackupFormat.isFileName($0.path)
                    && $0.library.isSame(as: library)
            }
            let looked = ours.map { (backup: $0, presence: presence(of: $0)) }
            let gone = looked.filter { $0.presence == .gone }.map(\.backup)
            let plan = Self.plan(looked, keep: keep)
            let removed = try dryRun ? plan.going : plan.going.filter { try remove($0) }
            if !dryRun && !removed.isEmpty {
                for parent in Set(removed.compactMap { places.path($0.path).map(FileSystem.parent) }) {
                    try FileSystem.sync(parent)
                }
            }
            return (removed, gone, plan.kept)
        }
        // After the files: of one that is gone and still known, the next look finds out.
        if !dryRun { try await forget(gone + going) }
        return PrunedBackups(folder: folder, removed: going.map { known($0, dryRun ? .there : .gone) }, kept: kept)
    }

    /// Which backups go, the oldest first, and how many stay that count.
    /// - Parameter looked: the newest first.
    static func plan(
        _ looked: [(backup: MadeBackup, presence: KnownBackup.Presence)], keep: Int
    ) -> (going: [MadeBackup], kept: Int) {
        let counting = looked.indices.filter {
            looked[$0].presence == .there && looked[$0].backup.verifiedAt != nil
        }
        guard counting.count > keep, keep > 0 else { return ([], counting.count) }
        // A photo that is damaged today may be whole in there, and nowhere else.
        let undamaged = counting.first { looked[$0].backup.damaged == 0 }
        let going = looked.indices.filter {
            $0 > counting[keep - 1] && $0 != undamaged && looked[$0].presence == .there
        }
        return (going.reversed().map { looked[$0].backup }, counting.count - counting.count(where: going.contains))
    }

    /// - Returns: false where another file has come to its place since it was looked at.
    private func remove(_ backup: MadeBackup) throws -> Bool {
        guard let path = places.path(backup.path) else { return false }
        return try FileSystem.withFile(path, O_RDONLY | O_NOFOLLOW) { descriptor in
            var opened = stat()
            try FileSystem.check(fstat(descriptor, &opened), "look at", path)
            guard try Self.fingerprint(of: descriptor, path) == backup.fingerprint,
                let named = try FileSystem.status(path), FileIdentity(named) == FileIdentity(opened)
            else { return false }
            try FileSystem.remove(path)
            return true
        }
    }
}

extension String {
    /// Of a path, in lower case: sticks do not tell `B.ZIP` from `b.zip`.
    fileprivate var lastComponent: String { (split(separator: "/").last.map(String.init) ?? self).lowercased() }
}

extension KnownBackup.Presence {
    /// A stick that is not plugged in has what was on it.
    var mayBeThere: Bool { self == .there || self == .outOfReach }
}
