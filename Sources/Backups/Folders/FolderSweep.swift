import BackupFormats
import Files
import Foundation
import Scratch
import ServiceMesh

/// Removes from a backup folder the files that no snapshot names any more.
struct FolderSweep: Sendable {
    let folder: String
    /// The uuid of the library that the folder has to belong to.
    let library: String
    let namedFiles: NamedFiles

    /// Nothing goes while a snapshot cannot be read: nobody knows what it names.
    ///
    /// Rejected: to remember what a snapshot that is removed had named, and to remove what the others do not have of that. A run that
    /// was broken off between the two would leave files for ever; and files of a backup that was broken off are found by this too.
    /// - Returns: how many files went; nil where somebody writes into the folder, or one of its snapshots cannot be read: then the
    ///   next prune does it.
    /// - Throws: where the folder fails; `failed_precondition` where it is another library's.
    func run() throws -> Int? {
        guard SnapshotFolder.isThere(at: folder) else { return 0 }
        let hold: SnapshotFolderHold
        do {
            hold = try SnapshotFolderHold(folder, library: library)
        } catch let error as MeshError where error.status == .failedPrecondition {
            return nil
        }
        defer { hold.release() }
        var named: [SpooledIndex<BackupManifest.File>] = []
        for name in try hold.folder.snapshotNames() {
            let path = hold.folder.file(SnapshotFolder.snapshots) + "/" + name
            guard let listed = try? BackupArchive.promisedFiles(ofSnapshot: path, namedFiles) else { return nil }
            named.append(try SpooledIndex(listed.files, by: \.path))
        }
        // Without any snapshot this is a folder that a first backup has begun to fill, and may go on with.
        guard named.contains(where: { !$0.list.isEmpty }) else { return 0 }
        var removed = 0
        for part in SnapshotFolder.parts {
            for name in try FileSystem.names(in: hold.folder.file(part)) {
                guard let name, try !named.contains(where: { try $0.place(of: part + name) != nil }) else { continue }
                let path = hold.folder.file(part + name)
                guard let found = try FileSystem.status(path), found.st_mode & S_IFMT == S_IFREG else { continue }
                try FileSystem.remove(path)
                removed += 1
            }
        }
        if removed > 0 { try hold.syncNames() }
        return removed
    }
}
