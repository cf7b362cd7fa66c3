import BackupFormats
import Executors
import Files
import Foundation
import LibraryModel
import LibraryStorage
import ServiceMesh

/// A backup that goes into a backup folder.
extension BackupCreation {
    /// In the library's own `backups/`, where such a folder is made unless one is named.
    private static let standardFolder = "folder"

    /// - Throws: `invalid_argument` for what a backup folder is not for.
    func checkFolder(_ request: CreateBackup) async throws {
        guard request.categoryIds == nil, request.since == nil, request.forPhone != true else {
            throw MeshError(
                .invalidArgument,
                "A backup folder has the whole library: leave out categories, dates and phones, or make a backup in one file."
            )
        }
        let folder = try folder(of: request)
        try await bulk.run {
            let parent = FileSystem.parent(of: folder)
            guard FileSystem.mountPoint(of: parent) != nil else {
                throw MeshError(
                    .notFound, "There is no folder \(FileSystem.plain(parent)). Make it first, or plug its disk in.")
            }
            try places.requireFree(parent)
            guard let found = try FileSystem.status(folder + "/.") ?? FileSystem.status(folder) else { return }
            guard found.st_mode & S_IFMT == S_IFDIR else {
                throw MeshError(.alreadyExists, "\(FileSystem.plain(folder)) is a file. Name a folder.")
            }
            try places.requireFree(folder)
            try SnapshotFolderHold.requireUsable(SnapshotFolder(folder))
        }
    }

    private func folder(of request: CreateBackup) throws -> String {
        let folder = SnapshotFolder(request.path ?? places.standard + "/" + Self.standardFolder).path
        try BackupCoordinator.requireAbsolute(folder)
        return folder
    }

    /// The folder of a request, which nobody else writes into while it is held.
    func hold(_ request: CreateBackup) async throws -> SnapshotFolderHold {
        try await checkFolder(request)
        let folder = try folder(of: request)
        let library = try await libraryID()
        return try await bulk.run { try SnapshotFolderHold(folder, library: library) }
    }

    /// By which a backup folder knows its library again, wherever that is moved.
    private func libraryID() async throws -> String {
        let new = UUID().uuidString.lowercased()
        return try await catalogue.write { transaction in
            if let known = try transaction.settings.libraryID() { return known }
            try transaction.settings.setLibraryID(new)
            return new
        }
    }

    /// The path of the next snapshot.
    func snapshotTarget(in folder: SnapshotFolder, at time: Timestamp, job: Job) async throws -> String {
        for number in 1..<Self.maximumNumber {
            let target = folder.newSnapshot(at: time, number: number)
            if try await taken(by: target, for: job) == nil { return target }
        }
        throw MeshError(.alreadyExists, "There are too many snapshots of this second. Try again.")
    }

    /// Brings the folder to what the library is, writes the snapshot, makes both durable, and proves them.
    func write(
        _ contents: BackupContents, to descriptor: Int32, _ checkpoint: BackupCheckpoint, in hold: SnapshotFolderHold,
        flag: CancellationFlag, job: Job
    ) async throws -> BackupWriter.Written {
        let writer = SnapshotWriter(
            hold: hold, photoFiles: photoFiles, namedFiles: namedFiles, pool: bulk, width: width, isCancelled: flag,
            sealing: try await sealing(contents))
        let partial = places.path(checkpoint.partial) ?? checkpoint.partial
        let left = try await bulk.run { try contents.without(Set(checkpoint.unreadable.keys)) }
        var written = try await writer.write(left, to: descriptor, partial, at: checkpoint.time, job: job)
        written.unreadable.merge(checkpoint.unreadable) { new, _ in new }
        return written
    }
}
