import Files
import Foundation
import Scratch
import ServiceMesh
import ZipArchive

/// The folder that a backup was unpacked into, by whatever program and on whatever machine. Nothing outside the backup is
/// looked at, however large the folder is that somebody names.
struct UnpackedBackup {
    let reader: ZipReader
    /// When its first document was last written.
    let modified: Timestamp

    /// By which a backup is known: of any dialect.
    private static let documents = [
        SmilePileDialect.manifestEntry, SmilePileDialect.metadataEntry, PhoneDialect.metadataEntry,
    ]
    /// Folders in which a backup is looked for.
    private static let mostFolders = 1000
    /// Folders below the backup's own, in each other, that are looked into. A backup has one, whatever its dialect.
    private static let deepest = 4

    /// - Returns: nil where `path` names no folder.
    /// - Throws: `invalid_argument` for a folder without a backup, or with several.
    init?(at path: String, _ namedFiles: NamedFiles) throws {
        var found = stat()
        guard stat(path, &found) == 0, found.st_mode & S_IFMT == S_IFDIR else { return nil }
        let (root, document) = try Self.root(in: path)
        modified = Timestamp(milliseconds: Self.milliseconds(document))
        var files = SpooledList<UnpackedEntries.File>.Spooler(in: namedFiles.scratch)
        try Self.list(path, root, depth: 0, &files)
        reader = try ZipReader(
            unpacked: UnpackedEntries(files.finish()) { name throws(ZipError) in
                do {
                    return try namedFiles.open(path + "/" + name).descriptor
                } catch let failure as FileSystem.Failure {
                    throw ZipError.readFailed(errno: failure.code)
                } catch {
                    // Exchanged since it was listed for something else; or a file of the library itself, under another name.
                    throw ZipError.unusableEntry(name: name, .specialFile)
                }
            }, scratch: namedFiles.scratch)
    }

    /// The folder of the backup, with a slash at its end: empty, or that of a folder in `path`, which unpacking makes.
    private static func root(in path: String) throws -> (name: String, document: stat) {
        if let document = try document(in: path) { return ("", document) }
        var roots: [(name: String, document: stat)] = []
        for name in try FileSystem.names(in: path).prefix(mostFolders) {
            guard let name, !name.hasPrefix("."), name != "__MACOSX",
                try FileSystem.status(path + "/" + name).map({ $0.st_mode & S_IFMT == S_IFDIR }) == true
            else { continue }
            // Of folders that may not be looked into nobody expects a backup.
            if let document = try? document(in: path + "/" + name) { roots.append((name + "/", document)) }
        }
        let place = FileSystem.plain(path)
        guard roots.count < 2 else {
            let names = roots.prefix(3).map { FileSystem.plain(String($0.name.dropLast())) }.joined(separator: ", ")
            throw MeshError(
                .invalidArgument, "\(place) has several backups: \(names). Name the folder of one.")
        }
        guard let root = roots.first else {
            throw MeshError(
                .invalidArgument,
                "\(place) is a folder, and no backup was unpacked into it: it has neither a \(SmilePileDialect.manifestEntry) nor a "
                    + "\(PhoneDialect.metadataEntry). Name the backup's file, or the folder that it was unpacked into.")
        }
        return root
    }

    private static func document(in folder: String) throws -> stat? {
        for name in documents {
            if let found = try FileSystem.status(folder + "/" + name), found.st_mode & S_IFMT == S_IFREG {
                return found
            }
        }
        return nil
    }

    /// - Parameter folder: below `path`, with a slash at its end, or empty.
    private static func list(
        _ path: String, _ folder: String, depth: Int,
        _ files: inout SpooledList<UnpackedEntries.File>.Spooler
    ) throws {
        for name in try FileSystem.names(in: path + "/" + folder) {
            guard files.count < BackupFormat.maximumEntries else {
                throw MeshError(refusingBackup: "it has more than \(BackupFormat.maximumEntries) files.")
            }
            guard let name else {
                try files.append(.init(name: folder + "?", size: 0, modified: 0, fault: .nameNotUTF8))
                continue
            }
            let entry = folder + name
            // Gone since it was named.
            guard let found = try FileSystem.status(path + "/" + entry) else { continue }
            var fault: UnpackedEntries.Fault?
            switch found.st_mode & S_IFMT {
            case S_IFREG: break
            case S_IFDIR:
                if depth < deepest { try list(path, entry + "/", depth: depth + 1, &files) }
                continue
            case S_IFLNK: fault = .symbolicLink
            default: fault = .specialFile
            }
            try files.append(
                .init(name: entry, size: Int64(found.st_size), modified: milliseconds(found), fault: fault))
        }
    }

    private static func milliseconds(_ found: stat) -> Int64 { Int64(found.st_mtim.tv_sec) * 1000 }
}
