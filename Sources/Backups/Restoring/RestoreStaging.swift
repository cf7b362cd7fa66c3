import BackupFormats
import Files
import Foundation
import Importing
import LibraryModel
import LibraryServices
import LibraryStorage
import Scratch
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
        /// Of another program's picture alone. An object, because a backup of 100,000 photos has as many of these values.
        var made: MadePhoto?
        /// Under their new names.
        var sidecars: [KeptSidecar] = []
        /// The path of a photo that the library has and that lacked these files, and the name of its original where that is one
        /// of them.
        var completes: (path: String, original: StoredName?)?
    }

    /// What was made of another program's picture, and where that was taken.
    final class MadePhoto: Sendable {
        let sourced: SourcedPhoto
        let position: GeoPosition?

        init(_ sourced: SourcedPhoto, at position: GeoPosition?) { (self.sourced, self.position) = (sourced, position) }
    }

    typealias RestoredPhoto = (photo: Photo, files: RestoredFiles)

    /// Extracts originals and sidecars of photos that the library has without them, by the uuids of those in the backup.
    func stage(
        _ completions: [String: RestorePlan.Completion], from backup: CheckedBackup, job: Job
    ) async throws -> [String: RestoredFiles] {
        guard !completions.isEmpty else { return [:] }
        job.begin(
            phase: "completing photos", items: Int64(completions.count),
            bytes: completions.values.reduce(0) { $0 &+ $1.size })
        var staged: [String: RestoredFiles] = [:]
        do {
            for (uuid, completion) in completions {
                try await job.mayContinue()
                let files = try await pool.run { try extract(completion, from: backup, job: job) }
                if !files.files.isEmpty { staged[uuid] = files }
                job.advance(items: 1)
            }
            try await pool.run { try photoFiles.syncStaged() }
        } catch {
            let leftovers = staged.values.flatMap(\.files)
            try await pool.run { photoFiles.abandon(leftovers) }
            throw error
        }
        return staged
    }

    /// Blocks. A file that has the name of one is somebody else's, or was left by who knows whom: then the photo stays without.
    private func extract(
        _ completion: RestorePlan.Completion, from backup: CheckedBackup, job: Job
    ) throws -> RestoredFiles {
        let owner = try StoredName(catalogued: completion.there.path)
        var restored = RestoredFiles(names: nil)
        var named: StoredName?
        do {
            if let original = completion.original {
                let name = owner.original(PhotoFileName.fileExtension(of: original.entry))
                if try photoFiles.facts(name) == nil {
                    let file = try extract(original.entry, original.digest, as: name, from: backup, job: job)
                    restored.files.append(StagedFile(file, as: name))
                    named = name
                }
            }
            for (place, sidecar) in completion.sidecars.enumerated() {
                let name = owner.sidecar(place + 1, PhotoFileName.fileExtension(of: sidecar.path))
                guard try photoFiles.facts(name) == nil else { continue }
                restored.files.append(try stage(sidecar, as: name, from: backup, job: job))
                restored.sidecars.append(sidecar.stored(as: name))
            }
        } catch {
            photoFiles.unstage(restored.files.map(\.staged))
            throw error
        }
        restored.completes = (completion.there.path, named)
        return restored
    }

    /// Blocks.
    private func stage(
        _ sidecar: KeptSidecar, as name: StoredName, from backup: CheckedBackup, job: Job
    ) throws -> StagedFile {
        // One that was damaged when it was saved is that still, by the digest that stays its own.
        let expected = try backup.digest(of: sidecar.path) ?? sidecar.contentDigest
        return StagedFile(try extract(sidecar.path, expected, as: name, from: backup, job: job), as: name)
    }

    /// Bytes after which what was staged is made durable while more is.
    private static let syncStep: Int64 = 64 << 20

    /// Extracts photos into the staging place, durably, and makes the thumbnails that the backup lacks, by the photos' uuids.
    func stage(
        _ photos: SpooledList<Photo>, from backup: CheckedBackup, job: Job
    ) async throws -> [String: RestoredFiles] {
        let (portions, bytes) = try await pool.run {
            var bytes = try backup.originalBytes(of: photos)
            try photos.forEach { bytes = bytes &+ $0.fileSize &+ $0.sidecars.reduce(0) { $0 &+ $1.fileSize } }
            return (try Self.portions(of: photos, areForeign: backup.contents.isForeign), bytes)
        }
        job.begin(phase: "restoring", items: Int64(photos.count), bytes: bytes)
        var staged: [String: RestoredFiles] = [:]
        do {
            try await withThrowingTaskGroup(of: [RestoredPhoto].self) { group in
                var next = portions.makeIterator()
                var unsynced: Int64 = 0
                func startNext() {
                    if unsynced >= Self.syncStep {
                        unsynced = 0
                        group.addTask {
                            try await pool.run { try photoFiles.syncStaged() }
                            return []
                        }
                    } else if let portion = next.next() {
                        group.addTask {
                            let some = try await pool.run { try photos.elements(portion) }
                            guard backup.contents.isForeign else {
                                return try await stage(some, from: backup, job: job)
                            }
                            return [(some[0], try await convert(some[0], from: backup, job: job))]
                        }
                    }
                }
                for _ in 0..<(width + 2) { startNext() }
                do {
                    while let restored = try await group.next() {
                        for (photo, files) in restored {
                            staged[photo.uuid] = files
                            unsynced += photo.fileSize
                        }
                        startNext()
                    }
                    try await pool.run { try photoFiles.syncStaged() }
                } catch {
                    group.cancelAll()
                    isCancelled.set()
                    while let ended = await group.nextResult() {
                        guard case .success(let restored) = ended else { continue }
                        for (photo, files) in restored { staged[photo.uuid] = files }
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

    /// What one thread does before it asks whether to go on. A hop between threads, and a look into the catalogue, for each small
    /// photo cost as much as the photo. Pictures of another program take long enough alone, one in each portion.
    private static func portions(of photos: SpooledList<Photo>, areForeign: Bool) throws -> [Range<Int>] {
        var portions: [Range<Int>] = []
        var turn = BackupTurn()
        try photos.forEach { place, photo in
            if portions.isEmpty || areForeign || !turn.mayTakeAnother {
                portions.append(place..<place)
                turn = BackupTurn()
            }
            portions[portions.count - 1] = portions[portions.count - 1].lowerBound..<place + 1
            turn.entries += 1
            turn.bytes += photo.fileSize
        }
        return portions
    }

    private func stage(_ photos: [Photo], from backup: CheckedBackup, job: Job) async throws -> [RestoredPhoto] {
        try await job.mayContinue()
        let wanted = try await unknownNames(like: photos, from: backup)
        var restored = try await pool.run { try extract(photos, wanted, from: backup, job: job) }
        do {
            for place in restored.indices {
                let (photo, files) = restored[place]
                guard let names = files.names, !files.files.contains(where: { $0.name == names.thumbnail }) else {
                    continue
                }
                let (thumbnail, problem) = try await makeThumbnail(of: files.files[0].staged, for: photo)
                if let thumbnail { restored[place].files.files.append(StagedFile(thumbnail, as: names.thumbnail)) }
                restored[place].files.line = problem
            }
        } catch {
            let leftovers = restored.flatMap(\.files.files)
            try? await pool.run { photoFiles.unstage(leftovers.map(\.staged)) }
            throw error
        }
        return restored
    }

    /// Blocks. What was staged is not durable yet.
    /// - Parameter wanted: names that the catalogue does not know; nil for a new one.
    private func extract(
        _ photos: [Photo], _ wanted: [PhotoNames?], from backup: CheckedBackup, job: Job
    ) throws -> [RestoredPhoto] {
        var restored: [RestoredPhoto] = []
        var staged: [StagedFile] = []
        do {
            for (photo, wanted) in zip(photos, wanted) {
                var names = try wanted ?? newNames(like: photo, from: backup)
                if try names.all.contains(where: { try photoFiles.facts($0) != nil }) {
                    names = try newNames(like: photo, from: backup)
                }
                let first = staged.count
                func take(_ path: String, _ digest: String, as name: StoredName) throws {
                    let file = try extract(path, digest, as: name, from: backup, job: job)
                    staged.append(StagedFile(file, as: name))
                }
                try take(photo.path, photo.contentDigest, as: names.photo)
                if let thumbnail = try thumbnail(of: photo, as: names.thumbnail, from: backup) {
                    staged.append(StagedFile(thumbnail, as: names.thumbnail))
                }
                if let name = names.original, let path = photo.originalPath, let digest = try backup.digest(of: path) {
                    try take(path, digest, as: name)
                }
                var sidecars: [KeptSidecar] = []
                for (sidecar, name) in zip(try backup.sidecars(of: photo), names.sidecars) {
                    staged.append(try stage(sidecar, as: name, from: backup, job: job))
                    sidecars.append(sidecar.stored(as: name))
                }
                restored.append(
                    (photo, RestoredFiles(names: names, files: Array(staged[first...]), sidecars: sidecars)))
                job.advance(items: 1)
            }
        } catch {
            photoFiles.unstage(staged.map(\.staged))
            throw error
        }
        return restored
    }

    /// The thumbnail that the backup has, staged, where it is one of this version: a JPEG of its size. Nil where one is to be made.
    private func thumbnail(
        of photo: Photo, as name: StoredName, from backup: CheckedBackup
    ) throws -> String? {
        let path = photo.thumbnailPath
        guard let digest = try backup.digest(of: path),
            let (bytes, found) = try? backup.read(path, limit: BackupFormat.maximumThumbnail),
            found.sha256.hex == digest, StoredThumbnail.isUsable(bytes)
        else { return nil }
        return try stage(as: name) { staged, descriptor in
            try bytes.withUnsafeBytes { try FileSystem.write($0, to: descriptor, staged) }
        }
    }

    /// Blocks.
    /// - Returns: the staged file with an entry's bytes, which is not durable yet.
    func extract(
        _ path: String, _ expected: String, as name: StoredName?, from backup: CheckedBackup, job: Job
    ) throws -> String {
        try stage(as: name) { _, descriptor in
            let digest = try backup.extract(
                path, to: descriptor, cancelled: { isCancelled.isSet }, progress: { job.advance(bytes: Int64($0)) })
            // Whoever sealed it has vouched for its bytes, also for those of one that was damaged when it was saved.
            guard backup.isSealed(path) || digest.sha256.hex == expected else {
                throw ZipError.changedSinceVerified(entry: path)
            }
        }
    }

    private func stage(as name: StoredName?, _ write: (String, Int32) throws -> Void) throws -> String {
        let staged = try photoFiles.stage(as: name)
        defer { close(staged.descriptor) }
        do {
            try write(staged.name, staged.descriptor)
        } catch {
            photoFiles.unstage([staged.name])
            throw error
        }
        return staged.name
    }

    private func newNames(like photo: Photo, from backup: CheckedBackup) throws -> PhotoNames {
        try backup.names(
            of: photo,
            as: PhotoFileName.new(
                takenAt: photo.takenAt, fileExtension: PhotoFileName.fileExtension(of: photo.path)))
    }

    /// The photos' names in the backup where they are ours and the catalogue does not know them; nil for others. A backup names
    /// files; it does not decide where they go.
    ///
    /// Free is what neither the disk nor the catalogue knows. A photo whose file was lost still has its row, perhaps
    /// in the trash soon, and a discarded file may be about to be removed: a second photo of that name would lose
    /// its files with the first.
    private func unknownNames(like photos: [Photo], from backup: CheckedBackup) async throws -> [PhotoNames?] {
        let wanted = try await pool.run {
            try photos.map { photo in try photo.ownName.map { try backup.names(of: photo, as: $0) } }
        }
        let files = wanted.compactMap { $0 }.flatMap(\.all)
        let known = try await catalogue.read { transaction in
            try transaction.photos.inUse(files).union(transaction.discardedFiles.among(files))
        }
        return wanted.map { names in names.flatMap { known.isDisjoint(with: $0.all) ? $0 : nil } }
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
            guard error.isPictureFault else { throw error }
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

extension KeptSidecar {
    fileprivate func stored(as name: StoredName) -> KeptSidecar {
        KeptSidecar(name: self.name, path: name.path, fileSize: fileSize, contentDigest: contentDigest)
    }
}

extension CheckedBackup {
    /// The sidecars of a photo that the backup holds.
    fileprivate func sidecars(of photo: Photo) throws -> [KeptSidecar] {
        try photo.sidecars.filter { try digest(of: $0.path) != nil }
    }

    /// Of the files that the backup has of a photo.
    fileprivate func names(of photo: Photo, as name: StoredName) throws -> PhotoNames {
        let original = try photo.originalPath.flatMap { try $0 != photo.path && digest(of: $0) != nil ? $0 : nil }
        return PhotoNames(
            photo: name, originalExtension: original.map { PhotoFileName.fileExtension(of: $0) },
            sidecarExtensions: try sidecars(of: photo).map { PhotoFileName.fileExtension(of: $0.path) })
    }

    /// Bytes of the originals of these photos that are files of their own.
    func originalBytes(of photos: SpooledList<Photo>) throws -> Int64 {
        let wanted = try SpooledIndex(photos) {
            $0.originalPath != nil && $0.originalPath != $0.path ? $0.uuid : nil
        }
        var bytes: Int64 = 0
        try contents.photos.forEach { sourced in
            guard sourced.photo.originalPath != nil, try wanted.place(of: sourced.photo.uuid) != nil else { return }
            bytes &+= sourced.sourceSize
        }
        return bytes
    }
}

extension BackupContents {
    /// The same with what was made of another program's pictures; without those that could not be opened.
    func taking(_ staged: [String: BackupRestorer.RestoredFiles]) throws -> BackupContents {
        guard isForeign else { return self }
        var contents = self
        contents.photos = try photos.spooled(in: scratch) { sourced in
            guard let restored = staged[sourced.photo.uuid] else { return sourced }
            return restored.made?.sourced
        }
        return contents
    }
}
