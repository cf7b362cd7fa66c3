import CLinux
import Files
import Foundation
import Scratch
import ServiceMesh
import ZipArchive

/// A snapshot in a backup folder, read as the archive that it would be with everything in one file: its documents lie in an
/// archive of their own, and the files that its manifest names in the folder.
struct FolderSnapshot {
    let reader: ZipReader
    let modified: Timestamp
    /// Nil where it cannot be read.
    let manifest: BackupManifest?

    /// - Parameters:
    ///   - path: of a snapshot, finished or not.
    ///   - salvaging: as of ``BackupArchive``: where its manifest cannot be read, every file in the folder is an entry.
    /// - Returns: nil where `path` names anything else.
    /// - Throws: `data_loss` for a damaged snapshot.
    init?(at path: String, _ namedFiles: NamedFiles, salvaging: Bool) throws {
        guard let folder = Self.folder(of: path) else { return nil }
        let (number, status) = try namedFiles.open(path)
        let snapshot = BackupArchive.Descriptor(number)
        let limits = Self.limits(status)
        let documents =
            salvaging
            ? try BackupArchive.refusing {
                try ZipReader.salvaging(number, limits: limits, scratch: namedFiles.scratch)
            }
            : try BackupArchive.read(number, limits, nil, namedFiles.scratch)
        if !salvaging { try Self.requireWhole(documents) }
        let own = Set(try documents.entries.map(\.name))
        let inSnapshot = try documents.entries.map { entry throws(ZipError) in
            UnpackedEntries.File(
                name: entry.name, size: entry.size, modified: entry.modified ?? 0,
                offset: try documents.dataOffset(of: entry.index) ?? 0)
        }
        // A link in the place of one of them would lead anywhere.
        let parts = try SnapshotFolder.parts.filter { part in
            try FileSystem.status(folder.file(String(part.dropLast()))).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false
        }
        var files = SpooledList<UnpackedEntries.File>.Spooler(in: namedFiles.scratch)
        for file in inSnapshot { try files.append(file) }
        let look: @Sendable (String) throws -> UnpackedEntries.File? = { name in
            own.contains(name) ? nil : try Self.file(name, in: folder, parts)
        }
        manifest = try Self.manifest(of: documents, namedFiles.scratch, salvaging: salvaging)
        if let manifest {
            try concurrently(manifest.files ?? []) {
                try look($0.path)
            } take: {
                if let file = $0 { try files.append(file) }
            }
        } else {
            for name in Self.names(in: folder) { if let file = try look(name) { try files.append(file) } }
        }
        modified = Timestamp(milliseconds: Int64(status.st_mtim.tv_sec) * 1000)
        reader = try ZipReader(
            unpacked: UnpackedEntries(files.finish()) { name throws(ZipError) in
                if own.contains(name) {
                    let again = clinux_reopen(snapshot.number, O_RDONLY | O_NONBLOCK | O_NOCTTY)
                    guard again >= 0 else { throw .readFailed(errno: errno) }
                    return again
                }
                do {
                    return try namedFiles.open(folder.file(name)).descriptor
                } catch let failure as FileSystem.Failure {
                    throw ZipError.readFailed(errno: failure.code)
                } catch {
                    throw ZipError.unusableEntry(name: name, .specialFile)
                }
            }, scratch: namedFiles.scratch)
    }

    private static func folder(of path: String) -> SnapshotFolder? {
        let parts = path.split(separator: "/")
        guard parts.count > 2, parts[parts.count - 2] == SnapshotFolder.snapshots, let name = parts.last else {
            return nil
        }
        let finished =
            name.hasSuffix(BackupFormat.partialSuffix) ? name.dropLast(BackupFormat.partialSuffix.count) : name
        guard SnapshotFolder.isSnapshotName(String(finished)) else { return nil }
        return SnapshotFolder(FileSystem.parent(of: FileSystem.parent(of: path)))
    }

    /// Every byte of the snapshot's own file is what was written: nothing else tells that of its manifest.
    private static func requireWhole(_ documents: ZipReader) throws {
        guard try documents.entries.allSatisfy(\.isStored) else {
            throw MeshError(refusingBackup: "its snapshot was packed by another program.")
        }
        let verification = try ZipVerification(documents, forOthers: false)
        try verification.work()
        guard let failure = verification.failures.first else { return }
        throw MeshError(refusingBackup: failure.description + BackupFormat.salvageHint, entry: failure.name)
    }

    /// - Returns: nil where it cannot be read, and what is whole is wanted.
    private static func manifest(
        of documents: ZipReader, _ scratch: Scratch, salvaging: Bool
    ) throws -> BackupManifest? {
        do {
            return try manifest(in: documents, scratch)
        } catch  where salvaging {
            return nil
        } catch let error as MeshError {
            throw error
        } catch {
            throw MeshError(refusingBackup: "its manifest cannot be read: \(MeshError(describing: error).message)")
        }
    }

    /// Names of all files in a folder of which no manifest says which are meant.
    private static func names(in folder: SnapshotFolder) -> [String] {
        SnapshotFolder.parts.flatMap { part in
            ((try? FileSystem.names(in: folder.file(part))) ?? []).compactMap { name in name.map { part + $0 } }
        }
    }

    fileprivate static func manifest(in documents: ZipReader, _ scratch: Scratch) throws -> BackupManifest {
        guard let index = try documents.index(of: SmilePileDialect.manifestEntry) else {
            throw MeshError(refusingBackup: "\(SmilePileDialect.manifestEntry) is not in it.")
        }
        return try BackupManifest.read(documents.document(index, in: scratch), scratch: scratch)
    }

    fileprivate static func limits(_ status: stat) -> ZipLimits {
        ZipLimits(
            maximumEntries: BackupFormat.maximumEntries, maximumTotalBytes: Int64(status.st_size),
            maximumDirectoryBytes: BackupFormat.maximumDirectory)
    }

    /// - Parameter parts: folders of files that are there.
    /// - Returns: nil for a file that is not there, and for a name that leads anywhere but into one of these.
    private static func file(
        _ name: String, in folder: SnapshotFolder, _ parts: [String]
    ) throws -> UnpackedEntries.File? {
        guard let part = parts.first(where: name.hasPrefix), case let own = name.utf8.dropFirst(part.utf8.count),
            !own.isEmpty, !own.elementsEqual(".".utf8), !own.elementsEqual("..".utf8),
            !own.contains(where: { $0 == UInt8(ascii: "/") || $0 == 0 }),
            let found = try FileSystem.status(folder.file(name))
        else { return nil }
        let fault: UnpackedEntries.Fault? =
            switch found.st_mode & S_IFMT {
            case S_IFREG: nil
            case S_IFLNK: .symbolicLink
            default: .specialFile
            }
        return UnpackedEntries.File(
            name: name, size: Int64(found.st_size), modified: Int64(found.st_mtim.tv_sec) * 1000, fault: fault)
    }
}

extension BackupArchive {
    /// What a snapshot says of the files in its folder: those that are in the snapshot itself are left out. Blocks.
    /// - Throws: where it is not whole, or is no snapshot.
    package static func promisedFiles(
        ofSnapshot path: String, _ namedFiles: NamedFiles
    ) throws -> (time: Timestamp, files: SpooledList<BackupManifest.File>) {
        let (number, status) = try namedFiles.open(path)
        let snapshot = Descriptor(number)
        defer { withExtendedLifetime(snapshot) {} }
        let documents = try read(number, FolderSnapshot.limits(status), nil, namedFiles.scratch)
        let own = Set(try documents.entries.map(\.name))
        let manifest = try FolderSnapshot.manifest(in: documents, namedFiles.scratch)
        guard let time = manifest.facts.timestamp, let files = manifest.files else {
            throw MeshError(refusingBackup: "its manifest does not say all that it has to.")
        }
        return (time, try files.spooled(in: namedFiles.scratch) { own.contains($0.path) ? nil : $0 })
    }
}
