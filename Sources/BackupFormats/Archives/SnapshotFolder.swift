import Files
import Foundation
import ServiceMesh

/// A folder that holds each file of a library once, and a snapshot for each time that the library was saved into it:
/// <doc:/LibraryModel/BackupsAsFiles>. Where things are in it.
package struct SnapshotFolder: Sendable {
    /// Of the snapshots, and of what says whose they are.
    package static let snapshots = "snapshots"
    /// In the folder of the snapshots: which library it belongs to. Its lock is the writer's.
    package static let identity = snapshots + "/library.json"
    package static let readme = "README.txt"
    /// Folders of files, each with a slash at its end.
    package static let parts = [BackupFormat.photoPrefix, BackupFormat.originalPrefix, BackupFormat.thumbnailPrefix]

    /// Without a slash at its end.
    package let path: String

    package init(_ path: String) {
        var path = path[...]
        while path.count > 1, path.last == "/" { path.removeLast() }
        self.path = String(path)
    }

    package func file(_ name: String) -> String { path + "/" + name }

    /// Whether a path names such a folder.
    package static func isThere(at path: String) -> Bool {
        guard let found = try? FileSystem.status(path + "/" + snapshots), found.st_mode & S_IFMT == S_IFDIR else {
            return false
        }
        let isOurs = (try? FileSystem.status(path + "/" + identity)) ?? nil != nil
        return isOurs || (try? SnapshotFolder(path).snapshotNames().isEmpty) == false
    }

    /// Where somebody puts a backup: the folder that its file is in, or the backup folder that it is a snapshot in.
    package static func place(of backup: String) -> String {
        let parent = FileSystem.parent(of: backup)
        let isSnapshot = parent.hasSuffix("/" + snapshots) && isSnapshotName(String(backup.dropFirst(parent.count + 1)))
        return isSnapshot ? FileSystem.parent(of: parent) : parent
    }

    // MARK: Snapshots

    private static func parts(of name: String) -> (stem: String, number: Int)? {
        let pattern = #/SmilePileSnapshot_([0-9]{4}-[0-9]{2}-[0-9]{2}_[0-9]{6})(?:-([0-9]{1,4}))?\.zip/#
        guard let match = name.wholeMatch(of: pattern) else { return nil }
        return (String(match.1), match.2.flatMap { Int($0) } ?? 1)
    }

    package static func isSnapshotName(_ name: String) -> Bool { parts(of: name) != nil }

    /// Names of the snapshots that are there, the newest first.
    package func snapshotNames() throws -> [String] {
        try FileSystem.names(in: file(Self.snapshots)).compactMap { name -> (name: String, key: (String, Int))? in
            name.flatMap { name in Self.parts(of: name).map { (name, ($0.stem, $0.number)) } }
        }.sorted { $0.key > $1.key }.map(\.name)
    }

    /// `SmilePileSnapshot_yyyy-MM-dd_HHmmss.zip`, numbered as `BackupFormat.fileName` numbers.
    package func newSnapshot(at time: Timestamp, number: Int = 1) -> String {
        let name = BackupFormat.name("SmilePileSnapshot_%Y-%m-%d_%H%M%S", at: time, number: number)
        return file(Self.snapshots) + "/" + name
    }

    /// The backup that somebody means: a file, a folder that one was unpacked into, or a snapshot of a backup folder.
    /// - Parameters:
    ///   - path: of any of them.
    ///   - date: of the snapshot, or its beginning: `2026-11`, `2026-11-28`, `2026-11-28 14:30`. Nil for the newest.
    /// - Returns: the path of the snapshot, or `path` itself.
    /// - Throws: `not_found` where the folder has no such snapshot; `invalid_argument` for a date of anything else.
    package static func resolve(_ path: String, date: String?) throws -> String {
        guard isThere(at: path) else {
            guard date == nil else {
                throw MeshError(
                    .invalidArgument,
                    "\(FileSystem.plain(path)) is no backup folder, so it has no snapshots to choose from. Leave out the date."
                )
            }
            return path
        }
        let folder = SnapshotFolder(path)
        let names = try folder.snapshotNames()
        let digits = date.map { $0.filter(\.isNumber) } ?? ""
        guard date == nil || digits.count >= 4 else {
            throw MeshError(
                .invalidArgument, "'\(date ?? "")' is no date of a snapshot. Such are 2026-11-28 and 2026-11.")
        }
        let chosen = names.first { name in parts(of: name).map { $0.stem.filter(\.isNumber).hasPrefix(digits) } ?? false
        }
        if let chosen { return folder.file(snapshots) + "/" + chosen }
        let there = names.prefix(5).compactMap { parts(of: $0)?.stem }.joined(separator: ", ")
        throw MeshError(
            .notFound,
            names.isEmpty
                ? "\(FileSystem.plain(path)) has no snapshot yet, so there is no backup in it."
                : "\(FileSystem.plain(path)) has no snapshot of \(date ?? ""). The newest are: \(there).")
    }
}
