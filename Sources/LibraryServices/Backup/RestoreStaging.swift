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
        /// Nil where it could not be taken.
        let names: PhotoNames?
        var files: [StagedFile] = []
        var line: ReceiptLine?
        /// What was made of another program's picture.
        var made: SourcedPhoto?
        /// Where that was taken.
        var position: GeoPosition?
        /// Under their new names.
        var sidecars: [KeptSidecar] = []
        /// The original of a photo that the library has and that lacked it, and the path of that photo.
        var completes: (path: String, original: StoredName)?
    }

    /// Extracts originals of photos that the library has without them, by the uuids of those in the backup.
    func stage(
        _ completions: [String: RestorePlan.Completion], from backup: CheckedBackup, job: Job
    ) async throws -> [String: RestoredFiles] {
        guard !completions.isEmpty else { return [:] }
        job.begin(
            phase: "restoring originals", items: Int64(completions.count),
            bytes: completions.values.reduce(0) { $0 &+ $1.size })
        var staged: [String: RestoredFiles] = [:]
        do {
            for (uuid, completion) in completions {
                try await job.mayContinue()
                let name = try StoredName(catalogued: completion.there.path).original(
                    PhotoFileName.fileExtension(of: completion.entry))
                // A file of that name is somebody else's, or was left by who knows whom: the photo stays as it is.
                guard try await pool.run({ try photoFiles.facts(name) == nil }) else { continue }
                let file = try await extract(completion.entry, completion.digest, from: backup, job: job)
                staged[uuid] = RestoredFiles(
                    names: nil, files: [StagedFile(file, as: name)], completes: (completion.there.path, name))
                job.advance(items: 1)
            }
        } catch {
            let leftovers = staged.values.flatMap(\.files)
            try await pool.run { photoFiles.abandon(leftovers) }
            throw error
        }
        return staged
    }

    /// Extracts photos into the staging place and makes their thumbnails, by the photos' uuids.
    func stage(
        _ photos: [Photo], from backup: CheckedBackup, job: Job
    ) async throws -> [String: RestoredFiles] {
        let originals = backup.originalBytes(of: photos)
        job.begin(
            phase: "restoring", items: Int64(photos.count),
            bytes: photos.reduce(originals) { $0 &+ $1.fileSize &+ $1.sidecars.reduce(0) { $0 &+ $1.fileSize } })
        var staged: [String: RestoredFiles] = [:]
        do {
            try await withThrowingTaskGroup(of: (String, RestoredFiles).self) { group in
                var next = photos.makeIterator()
                func startNext() {
                    guard let photo = next.next() else { return }
                    group.addTask {
                        let restored =
                            backup.contents.isForeign
                            ? try await convert(photo, from: backup, job: job)
                            : try await stage(photo, from: backup, job: job)
                        return (photo.uuid, restored)
                    }
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
        _ photo: Photo, from backup: CheckedBackup, job: Job
    ) async throws -> RestoredFiles {
        try await job.mayContinue()
        var staged = [try await extract(photo.path, photo.contentDigest, from: backup, job: job)]
        do {
            let (thumbnail, problem) = try await thumbnail(of: staged[0], for: photo, from: backup)
            if let thumbnail { staged.append(thumbnail) }
            var original: String?
            if let path = photo.originalPath, path != photo.path, let digest = backup.digests[path] {
                original = try await extract(path, digest, from: backup, job: job)
                staged += [original].compactMap { $0 }
            }
            var sidecars: [(kept: KeptSidecar, staged: String)] = []
            for sidecar in photo.sidecars {
                guard let digest = backup.digests[sidecar.path] else { continue }
                sidecars.append((sidecar, try await extract(sidecar.path, digest, from: backup, job: job)))
                staged.append(sidecars[sidecars.count - 1].staged)
            }
            job.advance(items: 1)
            let names = try await freeNames(
                like: photo,
                originalExtension: original.map { _ in PhotoFileName.fileExtension(of: photo.originalPath ?? "") },
                sidecarExtensions: sidecars.map { PhotoFileName.fileExtension(of: $0.kept.path) })
            var files = [StagedFile(staged[0], as: names.photo)]
            if let thumbnail { files.append(StagedFile(thumbnail, as: names.thumbnail)) }
            if let original, let name = names.original { files.append(StagedFile(original, as: name)) }
            files += zip(sidecars, names.sidecars).map { StagedFile($0.staged, as: $1) }
            return RestoredFiles(
                names: names, files: files, line: problem,
                sidecars: zip(sidecars, names.sidecars).map { sidecar, name in
                    KeptSidecar(
                        name: sidecar.kept.name, path: name.path, fileSize: sidecar.kept.fileSize,
                        contentDigest: sidecar.kept.contentDigest)
                })
        } catch {
            let names = staged
            try? await pool.run { photoFiles.unstage(names) }
            throw error
        }
    }

    /// The thumbnail that the backup has, where it is one of this version: a JPEG of its size. Else a new one.
    private func thumbnail(
        of staged: String, for photo: Photo, from backup: CheckedBackup
    ) async throws -> (thumbnail: String?, problem: ReceiptLine?) {
        let path = photo.thumbnailPath
        guard let digest = backup.digests[path] else { return try await makeThumbnail(of: staged, for: photo) }
        let taken = try await pool.run { () -> String? in
            guard let bytes = try? backup.archive.read(path, limit: BackupFormat.maximumThumbnail),
                ContentDigest(of: bytes).sha256.hex == digest, StoredThumbnail.isUsable(bytes)
            else { return nil }
            let staged = try photoFiles.stage()
            defer { close(staged.descriptor) }
            do {
                try bytes.withUnsafeBytes { try FileSystem.write($0, to: staged.descriptor, staged.name) }
                try FileSystem.sync(staged.descriptor, staged.name)
                return staged.name
            } catch {
                photoFiles.unstage([staged.name])
                throw error
            }
        }
        if let taken { return (taken, nil) }
        return try await makeThumbnail(of: staged, for: photo)
    }

    /// An entry's bytes, staged and durable.
    private func extract(
        _ path: String, _ expected: String, from backup: CheckedBackup, job: Job
    ) async throws -> String {
        try await pool.run {
            let staged = try photoFiles.stage()
            defer { close(staged.descriptor) }
            do {
                let digest = try backup.archive.extract(
                    path, to: staged.descriptor, cancelled: { isCancelled.isSet },
                    progress: { job.advance(bytes: Int64($0)) })
                guard digest.sha256.hex == expected else {
                    throw MeshError(.dataLoss, "The backup's file changed while it was read. Restore it again.")
                }
                try FileSystem.sync(staged.descriptor, staged.name)
                return staged.name
            } catch {
                photoFiles.unstage([staged.name])
                throw error
            }
        }
    }

    // MARK: Pictures of another program

    /// Makes a photo of a picture, as an import does, with what its backup says of it. One that cannot be opened is left out,
    /// and told: unlike a photo of ours, nobody knows that it is a picture at all.
    private func convert(_ photo: Photo, from backup: CheckedBackup, job: Job) async throws -> RestoredFiles {
        try await job.mayContinue()
        let picture = try await extract(photo.path, photo.contentDigest, from: backup, job: job)
        let result: Result<PreparedPhoto, any Error>
        do {
            result = .success(
                try await mesh.send(
                    PreparePhoto(source: picture, isStaged: true, keepsOriginal: true, takesUnseen: true)))
        } catch {
            result = .failure(error)
        }
        // Where the photo is not it byte for byte, it was copied as the original.
        try? await pool.run { photoFiles.unstage([picture]) }
        switch result {
        case .success(let prepared):
            job.advance(items: 1)
            return restored(photo, prepared)
        case .failure(let error as MeshError) where error.isOfPicture:
            job.advance(items: 1)
            return RestoredFiles(
                names: nil,
                line: ReceiptLine(item: photo.path, outcome: "damaged", detail: "left out: \(error.message)"))
        case .failure(let error): throw error
        }
    }

    private func restored(_ photo: Photo, _ prepared: PreparedPhoto) -> RestoredFiles {
        let name = PhotoFileName.new(
            takenAt: prepared.taken?.clock ?? LocalDateTime(here: photo.createdAt),
            fileExtension: prepared.fileExtension)
        // By content and not by the entry's name: the Android app makes JPEGs under any extension.
        let names = PhotoNames(
            photo: name,
            originalExtension: prepared.stagedOriginal.map { _ in PhotoFileName.fileExtension(of: photo.path) })
        let staged = [prepared.stagedPhoto, prepared.stagedThumbnail] + (prepared.stagedOriginal.map { [$0] } ?? [])
        var made = photo
        (made.path, made.fileSize, made.contentDigest) = (name.path, prepared.fileSize, prepared.contentDigest)
        (made.width, made.height, made.mediaType) = (prepared.width, prepared.height, prepared.mediaType)
        (made.takenAt, made.takenOffset) = (prepared.taken?.clock, prepared.taken?.offset)
        made.dateSource = prepared.taken?.source
        made.caption = photo.caption ?? prepared.caption
        made.camera = prepared.camera
        made.unseenBy = prepared.isUnseen ? Release.version : nil
        return RestoredFiles(
            names: names, files: zip(staged, names.all).map { StagedFile($0, as: $1) },
            made: SourcedPhoto(
                photo: made, sourceDigest: prepared.sourceDigest, sourceSize: prepared.sourceSize),
            position: prepared.position)
    }

    /// The photo's name in the backup where that is one of ours and free, else a new one. A backup names files; it
    /// does not decide where they go.
    ///
    /// Free is what neither the disk nor the catalogue knows. A photo whose file was lost still has its row, perhaps
    /// in the trash soon, and a discarded file may be about to be removed: a second photo of that name would lose
    /// its files with the first.
    private func freeNames(
        like photo: Photo, originalExtension: String?, sidecarExtensions: [String]
    ) async throws -> PhotoNames {
        func names(_ name: StoredName) -> PhotoNames {
            PhotoNames(photo: name, originalExtension: originalExtension, sidecarExtensions: sidecarExtensions)
        }
        let new = names(
            PhotoFileName.new(takenAt: photo.takenAt, fileExtension: PhotoFileName.fileExtension(of: photo.path)))
        guard let wanted = photo.ownName.map(names) else { return new }
        let files = wanted.all
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

extension CheckedBackup {
    /// Bytes of the originals of these photos that are files of their own.
    func originalBytes(of photos: [Photo]) -> Int64 {
        let wanted = Set(photos.filter { $0.originalPath != nil && $0.originalPath != $0.path }.map(\.uuid))
        guard !wanted.isEmpty else { return 0 }
        return contents.photos.reduce(0) { wanted.contains($1.photo.uuid) ? $0 &+ $1.sourceSize : $0 }
    }
}

extension BackupContents {
    /// The same with what was made of another program's pictures; without those that could not be opened.
    func taking(_ staged: [String: BackupRestorer.RestoredFiles]) -> BackupContents {
        guard isForeign else { return self }
        var contents = self
        contents.photos = photos.compactMap { sourced in
            guard let restored = staged[sourced.photo.uuid] else { return sourced }
            return restored.made
        }
        return contents
    }
}
