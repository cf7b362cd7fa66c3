import CLinux
import Database
import Foundation
import LibraryModel
import ServiceMesh
import ZipArchive

/// Photos of a backup on their way into the library: in `staging/`, where nobody sees them.
extension BackupRestorer {
    /// A photo in `staging/`, and its line where something is to be said of it.
    struct StagedPhoto: Sendable {
        let files: LibraryFolder.Staged
        let line: ReceiptLine?
    }

    /// Extracts photos into `staging/` and makes their thumbnails, by the photos' uuids.
    func stage(
        _ photos: [BackupMetadata.Photo], from backup: BackupFile, job: Job
    ) async throws -> [String: StagedPhoto] {
        job.begin(
            phase: "restoring", items: Int64(photos.count), bytes: photos.reduce(0) { $0 &+ $1.fileSize })
        var staged: [String: StagedPhoto] = [:]
        do {
            try await withThrowingTaskGroup(of: (String, StagedPhoto).self) { group in
                var next = photos.makeIterator()
                func startNext() {
                    guard let photo = next.next() else { return }
                    group.addTask { (photo.uuid, try await stage(photo, from: backup, job: job)) }
                }
                for _ in 0..<(width + 2) { startNext() }
                do {
                    while let (uuid, item) = try await group.next() {
                        staged[uuid] = item
                        startNext()
                    }
                } catch {
                    group.cancelAll()
                    isCancelled.set()
                    while let ended = await group.nextResult() {
                        if case .success(let (uuid, item)) = ended { staged[uuid] = item }
                    }
                    throw error
                }
            }
        } catch {
            let leftovers = staged.values
            try await pool.run { folder.abandon(leftovers.map(\.files)) }
            throw error
        }
        return staged
    }

    private func stage(
        _ photo: BackupMetadata.Photo, from backup: BackupFile, job: Job
    ) async throws -> StagedPhoto {
        try await job.mayContinue()
        let names = folder.temporaryNames()
        let path = folder.staging + "/" + names.photo
        guard let entry = backup.photoEntries[photo.path] else {
            throw MeshError(.internal, "The photo \(photo.path) has no entry.")
        }
        do {
            try await pool.run {
                try FileSystem.withFile(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW) { file in
                    let digest = try backup.reader.extract(
                        entry, to: file, cancelled: { isCancelled.isSet },
                        progress: { job.advance(bytes: Int64($0)) })
                    guard digest.sha256.hex == photo.contentDigest else {
                        throw MeshError(.dataLoss, "The backup's file changed while it was read. Restore it again.")
                    }
                    try FileSystem.sync(file, path)
                }
            }
            let problem = try await makeThumbnail(of: path, named: names.thumbnail, for: photo)
            job.advance(items: 1)
            let fileName = try await freeName(like: photo)
            return StagedPhoto(
                files: LibraryFolder.Staged(
                    photo: names.photo, thumbnail: problem == nil ? names.thumbnail : nil, fileName: fileName),
                line: problem)
        } catch {
            try? await pool.run {
                try FileSystem.remove(path)
                try FileSystem.remove(folder.staging + "/" + names.thumbnail)
            }
            throw error
        }
    }

    /// The photo's name in the backup where that is one of ours and free, else a new one. A backup names files; it
    /// does not decide where they go.
    ///
    /// Free is what neither the disk nor the catalogue knows. A photo whose file was lost still has its row, perhaps
    /// in the trash soon, and a discarded file may be about to be removed: a second photo of that name would lose
    /// its files with the first.
    private func freeName(like photo: BackupMetadata.Photo) async throws -> String {
        guard let wanted = folder.ownName(of: photo) else {
            return folder.newFileName(takenAt: photo.takenAt, fileExtension: folder.fileExtension(of: photo))
        }
        let (path, thumbnail) = ("photos/" + wanted, "thumbnails/" + LibraryFolder.thumbnailPrefix + wanted)
        let isKnown = try await database.read { connection in
            try PhotoTable.isStored(path: path, in: connection)
                || DiscardedFileTable.contains(path, in: connection)
                || DiscardedFileTable.contains(thumbnail, in: connection)
        }
        let isThere = try await pool.run {
            try [path, thumbnail].contains { try FileSystem.status(folder.location(of: $0)) != nil }
        }
        guard isKnown || isThere else { return wanted }
        return folder.newFileName(takenAt: photo.takenAt, fileExtension: folder.fileExtension(of: photo))
    }

    /// What can be wrong with a picture itself. A full disk, or workers that do not start, end the restore instead: it can
    /// be repeated, a library without thumbnails could not.
    private static let faultsOfPictures: Set = ["unsupported_media", "damaged", "too_large"]

    /// - Returns: a line for a photo that cannot be opened: its bytes are what was saved, so it is restored all the
    ///   same, without a thumbnail.
    private func makeThumbnail(
        of path: String, named name: String, for photo: BackupMetadata.Photo
    ) async throws -> ReceiptLine? {
        do {
            _ = try await mesh.send(MakeThumbnail(photo: path, thumbnail: folder.staging + "/" + name))
            return nil
        } catch let error as MeshError {
            guard let fault = error.details["imaging"]?.stringValue, Self.faultsOfPictures.contains(fault) else {
                throw error
            }
            return ReceiptLine(item: photo.path, outcome: "no_thumbnail", detail: error.message)
        }
    }
}

extension LibraryFolder {
    /// The photo's name in the backup where it is like those that we give: in lower case behind `IMG_`, so that no two
    /// differ in case alone, which no backup could hold.
    fileprivate func ownName(of photo: BackupMetadata.Photo) -> String? {
        let wanted = photo.path.dropFirst(BackupFormat.photoPrefix.count)
        let prefix = "IMG_"
        guard wanted.hasPrefix(prefix), wanted.utf8.count <= 128, wanted.utf8.last != UInt8(ascii: ".") else {
            return nil
        }
        let isOurs = wanted.dropFirst(prefix.count).utf8.allSatisfy { byte in
            (48...57).contains(byte) || (97...122).contains(byte) || byte == UInt8(ascii: "_")
                || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
        }
        return isOurs ? String(wanted) : nil
    }

    /// With the dot; by the photo's name where that says something harmless.
    fileprivate func fileExtension(of photo: BackupMetadata.Photo) -> String {
        guard let dot = photo.path.lastIndex(of: ".") else { return ".jpg" }
        let letters = photo.path[photo.path.index(after: dot)...].lowercased()
        let isHarmless =
            (1...5).contains(letters.utf8.count)
            && letters.utf8.allSatisfy { (48...57).contains($0) || (97...122).contains($0) }
        return isHarmless ? "." + letters : ".jpg"
    }
}
