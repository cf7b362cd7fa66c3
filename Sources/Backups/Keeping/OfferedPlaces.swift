import BackupFormats
import Executors
import Files
import Foundation
import LibraryModel
import LibraryStorage
import ServiceMesh

/// The folders of this machine that are offered to whoever is not at it: they choose among these, and name no others. A page that
/// somebody has taken over learns nothing of other folders, and writes into none.
struct OfferedPlaces: Sendable {
    let catalogue: any Catalogue
    let places: BackupPlaces
    let pool: BlockingPool
    /// Where file systems are mounted, and below which folders one of them is a drive.
    var mounts: @Sendable () -> [String] = Self.mounted
    var driveFolders = ["/media", "/run/media", "/mnt"]
    var downloads = NSHomeDirectory() + "/Downloads"

    /// By glibc's own reader of the kernel's table.
    private static let mounted: @Sendable () -> [String] = {
        (FileManager.default.mountedVolumeURLs(includingResourceValuesForKeys: nil) ?? []).map(\.path)
    }

    // MARK: Offering

    func list() async throws -> BackupPlaceList {
        let known = try await known()
        return try await pool.run {
            let folders = folders(known)
            let files = folders.flatMap(backups).sorted { $0.modifiedAt > $1.modifiedAt }
            return BackupPlaceList(folders: folders, files: Array(files.prefix(ListBackupPlaces.maximumFiles)))
        }
    }

    private struct Known: Sendable {
        let schedule: String?
        let made: [MadeBackup]
    }

    private func known() async throws -> Known {
        try await catalogue.read {
            Known(schedule: try $0.madeBackups.schedule()?.folder, made: try $0.madeBackups.all())
        }
    }

    private func folders(_ known: Known) -> [BackupFolder] {
        var candidates: [(path: String, kind: BackupFolder.Kind)] = [(places.standard, .library)]
        if let schedule = known.schedule { candidates.append((schedule, .schedule)) }
        candidates += known.made.compactMap { places.path($0.path) }.map { (SnapshotFolder.place(of: $0), .earlier) }
        candidates += mounts().filter(isDrive).sorted().map { ($0, .drive) }
        candidates.append((downloads, .downloads))
        var seen: Set<FileIdentity> = []
        var folders: [BackupFolder] = []
        for (path, kind) in candidates where folders.count < ListBackupPlaces.maximumFolders {
            guard let found = try? FileSystem.status(path + "/."), seen.insert(FileIdentity(found)).inserted else {
                continue
            }
            folders.append(
                BackupFolder(
                    path: path, kind: kind, isWritable: kind != .downloads && access(path, W_OK) == 0,
                    freeBytes: try? FileSystem.freeBytes(path), isOnLibraryDisk: places.isOnLibraryDisk(path + "/.")))
        }
        return folders
    }

    private func isDrive(_ mount: String) -> Bool { driveFolders.contains { mount.hasPrefix($0 + "/") } }

    /// Those in the folder itself, and the snapshots of one that holds each file once.
    private func backups(in folder: BackupFolder) -> [BackupFileInFolder] {
        let snapshots = (try? SnapshotFolder(folder.path).snapshotNames()) ?? []
        let names = ((try? FileSystem.names(in: folder.path)) ?? []).compactMap { $0 }
        let paths =
            names.filter { $0.lowercased().hasSuffix(".zip") }
            + snapshots.map { SnapshotFolder.snapshots + "/" + $0 }
        return paths.compactMap { name in
            let path = folder.path + "/" + name
            // A link may lead anywhere.
            guard let found = try? FileSystem.status(path), found.st_mode & S_IFMT == S_IFREG else { return nil }
            let modified = Timestamp(milliseconds: Int64(found.st_mtim.tv_sec) * 1000)
            return BackupFileInFolder(path: path, bytes: Int64(found.st_size), modifiedAt: modified)
        }
    }

    // MARK: Holding to what is offered

    /// - Throws: `permission_denied` where a caller who is not at this machine names a folder that is not offered.
    func requireFolder(_ folder: String?) async throws {
        guard let folder, CallContext.current?.isFromAfar ?? false else { return }
        let known = try await known()
        let isOffered = try await pool.run {
            guard let wanted = FileIdentity(at: folder + "/.") else { return false }
            return folders(known).contains { $0.isWritable && FileIdentity(at: $0.path + "/.") == wanted }
        }
        guard isOffered else { throw Self.refusal }
    }

    /// - Throws: `permission_denied` where a caller who is not at this machine names anything that lies in no folder that is offered.
    func requireBackups(_ paths: [String]) async throws {
        guard CallContext.current?.isFromAfar ?? false else { return }
        let known = try await known()
        let areOffered = try await pool.run {
            let offered = Set(folders(known).compactMap { FileIdentity(at: $0.path + "/.") })
            return paths.allSatisfy { path in
                let place = SnapshotFolder.place(of: path)
                guard !path.hasSuffix("/."), !path.hasSuffix("/.."), let found = try? FileSystem.status(path) else {
                    return false
                }
                if found.st_mode & S_IFMT == S_IFDIR, offered.contains(FileIdentity(found)) { return true }
                guard let folder = FileIdentity(at: place + "/."), offered.contains(folder)
                else { return false }
                return [S_IFREG, S_IFDIR].contains(found.st_mode & S_IFMT)
            }
        }
        guard areOffered else { throw Self.refusal }
    }

    private static let refusal = MeshError(
        .permissionDenied,
        "From here backups go to the places that 'backup.places' lists, and come from them. For others go to the library's machine: smilepile backup --help"
    )
}
