import BackupFormats
import CLinux
import Files
import Foundation
import LibraryModel
import ServiceMesh

/// A backup folder that this process alone writes into. All of it blocks.
final class SnapshotFolderHold: Sendable {
    /// What `snapshots/library.json` says.
    private struct Identity: Codable {
        /// Of the layout. One that is not known is not written into.
        var version = 1
        /// Of the library whose files are in it: a uuid.
        let library: String
    }

    let folder: SnapshotFolder
    /// Of the identity, with the lock on it.
    private let descriptor: Int32

    /// Opens the folder, and makes of an empty one, or one that is not there, what it is to be.
    /// - Parameter library: the uuid of the library that is saved into it.
    /// - Throws: `failed_precondition` where it is another library's or a newer version's, or somebody writes into it;
    ///   `already_exists` where folders of these names are there that are none of ours; `not_found`.
    init(_ path: String, library: String) throws {
        folder = SnapshotFolder(path)
        try Self.make(folder, library)
        let identity = folder.file(SnapshotFolder.identity)
        let descriptor = clinux_open(identity, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0)
        guard descriptor >= 0 else { throw FileSystem.Failure(action: "open", path: identity, code: errno) }
        do {
            // A file system that knows no locks, as some of networks, is taken as it is: names are written once in any case.
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else {
                throw MeshError(
                    .failedPrecondition,
                    "Another backup is being written into \(FileSystem.plain(folder.path)). Wait until it is done.")
            }
            try Self.require(library, in: descriptor, folder)
            try Self.removePartials(in: folder)
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
    }

    deinit {
        release()
        close(descriptor)
    }

    /// Lets others write into the folder; again does nothing.
    ///
    /// Closing would not be enough: a lock is the open file's, a process that is about to start something has that open until it
    /// does, and who was given this object may let go of it after the backup has ended.
    func release() { flock(descriptor, LOCK_UN) }

    /// Removes what a run has begun and did not finish. Files that are whole stay, for the next one.
    func removePartials() throws { try Self.removePartials(in: folder) }

    /// Has the bytes of some of its files on the disk, with one call for each of the folders that they are in.
    func sync(_ files: some Sequence<String>) throws {
        for part in SnapshotFolder.parts where files.contains(where: { $0.hasPrefix(part) }) {
            let path = folder.file(part)
            try FileSystem.withFile(path, O_RDONLY | O_DIRECTORY) {
                try FileSystem.check(clinux_sync_file_system($0), "sync", path)
            }
        }
    }

    /// Has the names of its files on the disk.
    func syncNames() throws {
        for part in SnapshotFolder.parts { try FileSystem.sync(folder.file(part)) }
    }

    private static func make(_ folder: SnapshotFolder, _ library: String) throws {
        let identity = folder.file(SnapshotFolder.identity)
        if try FileSystem.status(identity) != nil { return }
        try requireUsable(folder)
        try FileSystem.makeFolder(folder.path)
        for part in [SnapshotFolder.snapshots] + SnapshotFolder.parts {
            try FileSystem.makeFolder(folder.file(part.filter { $0 != "/" }))
        }
        let readme = folder.file(SnapshotFolder.readme)
        if try FileSystem.status(readme) == nil { try write(Data(Self.explanation.utf8), to: readme) }
        try write(JSONEncoder().encode(Identity(library: library)), to: identity)
    }

    /// Whether a folder is a backup folder, or can become one.
    /// - Throws: `already_exists` where it has a `photos`, or another of these names, that is somebody else's.
    static func requireUsable(_ folder: SnapshotFolder) throws {
        if try FileSystem.status(folder.file(SnapshotFolder.identity)) != nil { return }
        // Of a folder that was begun and did not get its identity, empty ones may be there.
        for part in [SnapshotFolder.snapshots] + SnapshotFolder.parts {
            let path = folder.file(part)
            guard let found = try FileSystem.status(path.hasSuffix("/") ? String(path.dropLast()) : path) else {
                continue
            }
            guard found.st_mode & S_IFMT == S_IFDIR, try FileSystem.names(in: path).isEmpty else {
                throw MeshError(
                    .alreadyExists,
                    "\(FileSystem.plain(folder.path)) has a '\(part.filter { $0 != "/" })' that no backup has made. Name an empty folder, or a new one in it."
                )
            }
        }
    }

    /// Under another name first, so that it is whole or not there.
    private static func write(_ bytes: Data, to path: String) throws {
        let partial = path + BackupFormat.partialSuffix
        try FileSystem.remove(partial)
        let descriptor = clinux_open(partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o644)
        guard descriptor >= 0 else { throw FileSystem.Failure(action: "make", path: partial, code: errno) }
        defer { close(descriptor) }
        try bytes.withUnsafeBytes { try FileSystem.write($0, to: descriptor, partial) }
        try FileSystem.sync(descriptor, partial)
        try FileSystem.rename(partial, to: path)
    }

    private static func require(_ library: String, in descriptor: Int32, _ folder: SnapshotFolder) throws {
        var bytes = Data(count: 4096)
        let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        let place = FileSystem.plain(folder.path)
        guard count >= 0, let found = try? JSONDecoder().decode(Identity.self, from: bytes.prefix(count)) else {
            throw MeshError(
                .failedPrecondition,
                "What says whose backups are in \(place) cannot be read (\(SnapshotFolder.identity)). Name another folder: what is in this one can be restored all the same."
            )
        }
        guard found.version <= Identity(library: "").version else {
            throw MeshError(
                .failedPrecondition,
                "A newer version of SmilePile writes into \(place). Use that one, or name another folder.")
        }
        guard found.library == library else {
            throw MeshError(
                .failedPrecondition,
                "\(place) has the backups of another library. Name another folder for this one: they would take each other's files away."
            )
        }
    }

    /// What a run has left that was broken off. Files that are whole are taken over.
    private static func removePartials(in folder: SnapshotFolder) throws {
        let partial = BackupFormat.partialSuffix.utf8
        for part in SnapshotFolder.parts {
            var left: [String] = []
            // Nearly all names are those of whole files: none of them becomes a text.
            try FileSystem.eachName(in: FilePath(bytes: folder.file(part).utf8)) { name in
                guard name.suffix(partial.count).elementsEqual(partial) else { return }
                if let name = String(validating: name, as: UTF8.self) { left.append(name) }
            }
            for name in left { try FileSystem.remove(folder.file(part + name)) }
        }
    }

    /// For whoever finds the folder and has no SmilePile.
    private static let explanation = """
        This folder is a backup of a SmilePile photo library. Please do not change anything in it.

        photos/      every photo, as an ordinary picture file
        originals/   the files as they came from the camera, where the photo is not that file itself
        thumbnails/  small pictures, which can be made again
        snapshots/   for each backup a ZIP file that says which photos belonged to it, with their dates,
                     captions and categories

        To get the library back, on any computer with SmilePile:

            smilepile backup restore THIS_FOLDER
            smilepile backup restore THIS_FOLDER --snapshot 2026-11-28

        To get the photos back without SmilePile: copy them out of photos/ and originals/. They open with any
        program. In a snapshot's ZIP file, backup_metadata.json has a line of each photo's name, date, caption
        and category; manifest.json has the SHA-256 of each file.

        """
}
