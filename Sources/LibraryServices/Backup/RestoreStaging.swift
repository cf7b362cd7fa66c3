import Files
import Foundation
import LibraryModel
import LibraryStorage
import ServiceMesh
import ZipArchive

/// Photos of a backup on their way into the library: staged, where nobody sees them.
extension BackupRestorer {
    /// A staged photo, and its line where something is to be said of it.
    struct RestoredFiles: Sendable {
        let photo: StoredName
        let files: [StagedFile]
        let line: ReceiptLine?
    }

    /// Extracts photos into the staging place and makes their thumbnails, by the photos' uuids.
    func stage(
        _ photos: [Photo], from backup: BackupFile, job: Job
    ) async throws -> [String: RestoredFiles] {
        job.begin(
            phase: "restoring", items: Int64(photos.count), bytes: photos.reduce(0) { $0 &+ $1.fileSize })
        var staged: [String: RestoredFiles] = [:]
        do {
            try await withThrowingTaskGroup(of: (String, RestoredFiles).self) { group in
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
            try await pool.run { photoFiles.abandon(leftovers.flatMap(\.files)) }
            throw error
        }
        return staged
    }

    private func stage(
        _ photo: Photo, from backup: BackupFile, job: Job
    ) async throws -> RestoredFiles {
        try await job.mayContinue()
        let staged = try await pool.run { try photoFiles.stage() }
        var thumbnail: String?
        do {
            try await pool.run {
                defer { close(staged.descriptor) }
                let digest = try backup.archive.extract(
                    photo.path, to: staged.descriptor, cancelled: { isCancelled.isSet },
                    progress: { job.advance(bytes: Int64($0)) })
                guard digest.sha256.hex == photo.contentDigest else {
                    throw MeshError(.dataLoss, "The backup's file changed while it was read. Restore it again.")
                }
                try FileSystem.sync(staged.descriptor, staged.name)
            }
            let problem: ReceiptLine?
            (thumbnail, problem) = try await makeThumbnail(of: staged.name, for: photo)
            job.advance(items: 1)
            let name = try await freeName(like: photo)
            return RestoredFiles(
                photo: name,
                files: [StagedFile(staged.name, as: name)]
                    + (thumbnail.map { [StagedFile($0, as: name.thumbnail)] } ?? []),
                line: problem)
        } catch {
            let names = [staged.name, thumbnail].compactMap { $0 }
            try? await pool.run { photoFiles.unstage(names) }
            throw error
        }
    }

    /// The photo's name in the backup where that is one of ours and free, else a new one. A backup names files; it
    /// does not decide where they go.
    ///
    /// Free is what neither the disk nor the catalogue knows. A photo whose file was lost still has its row, perhaps
    /// in the trash soon, and a discarded file may be about to be removed: a second photo of that name would lose
    /// its files with the first.
    private func freeName(like photo: Photo) async throws -> StoredName {
        let new = PhotoFileName.new(takenAt: photo.takenAt, fileExtension: PhotoFileName.fileExtension(of: photo.path))
        guard let wanted = photo.ownName else { return new }
        let files = [wanted, wanted.thumbnail]
        let isKnown = try await catalogue.read { transaction in
            try !transaction.photos.inUse(files).isEmpty || !transaction.discardedFiles.among(files).isEmpty
        }
        let isThere = try await pool.run { try files.contains { try photoFiles.facts($0) != nil } }
        return isKnown || isThere ? new : wanted
    }

    /// - Returns: the staged thumbnail, or a line for a photo that cannot be opened: its bytes are what was saved, so it is
    ///   restored all the same, without a thumbnail. A full disk, or workers that do not start, end the restore instead: it
    ///   can be repeated, a library without thumbnails could not.
    private func makeThumbnail(
        of staged: String, for photo: Photo
    ) async throws -> (thumbnail: String?, problem: ReceiptLine?) {
        do {
            return (try await mesh.send(MakeThumbnail(stagedPhoto: staged)).stagedThumbnail, nil)
        } catch let error as MeshError {
            guard error.isOfPicture else { throw error }
            return (nil, ReceiptLine(item: photo.path, outcome: "no_thumbnail", detail: error.message))
        }
    }
}

extension Photo {
    /// The photo's name in the backup where it is like those that we give: in lower case behind `IMG_`, so that no two
    /// differ in case alone, which no backup could hold.
    fileprivate var ownName: StoredName? {
        let wanted = path.dropFirst(BackupFormat.photoPrefix.count)
        let prefix = "IMG_"
        guard wanted.hasPrefix(prefix), wanted.utf8.count <= 128, wanted.utf8.last != UInt8(ascii: ".") else {
            return nil
        }
        let isOurs = wanted.dropFirst(prefix.count).utf8.allSatisfy { byte in
            (48...57).contains(byte) || (97...122).contains(byte) || byte == UInt8(ascii: "_")
                || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
        }
        return isOurs ? StoredName(.photos, String(wanted)) : nil
    }
}
