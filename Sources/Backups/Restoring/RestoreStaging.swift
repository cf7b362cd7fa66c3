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
    typealias RestoredPhoto = (photo: Photo, staged: StagedPhoto)

    /// Extracts originals and sidecars of photos that the library has without them.
    func stage(
        _ completions: SpooledList<RestorePlan.Completion>, from backup: CheckedBackup, job: Job
    ) async throws -> SpooledList<StagedPhoto> {
        guard !completions.isEmpty else { return [] }
        job.begin(
            phase: "completing photos", items: Int64(completions.count),
            bytes: try await pool.run { try completions.size() })
        return try await recorded(in: backup.contents.scratch) { record in
            for place in completions.indices {
                try await job.mayContinue()
                try await pool.run {
                    let staged = try extract(completions.element(at: place), from: backup, job: job)
                    if !staged.files.isEmpty { try take(down: [staged], record) }
                }
                job.advance(items: 1)
            }
            try await pool.run { try photoFiles.syncStaged() }
        }
    }

    /// - Parameter body: takes down what it stages; where it fails, all of that is removed.
    private func recorded(
        in scratch: Scratch, _ body: (StagingRecord) async throws -> Void
    ) async throws -> SpooledList<StagedPhoto> {
        let record = StagingRecord(in: scratch)
        do {
            try await body(record)
            return try await pool.run { try record.finish() }
        } catch {
            try await pool.run {
                // Where the disk does not even say what was staged, the next start finds it.
                if let staged = try? record.finish() { photoFiles.abandon(staged) }
            }
            throw error
        }
    }

    /// Blocks. What is not taken down is removed, since nobody else would know of it.
    private func take(down staged: [StagedPhoto], _ record: StagingRecord) throws {
        do {
            try record.append(staged)
        } catch {
            photoFiles.unstage(staged.flatMap(\.files).map(\.staged))
            throw error
        }
    }

    /// Blocks. A file that has the name of one is somebody else's, or was left by who knows whom: then the photo stays without.
    private func extract(
        _ completion: RestorePlan.Completion, from backup: CheckedBackup, job: Job
    ) throws -> StagedPhoto {
        let owner = try StoredName(catalogued: completion.there.path)
        var restored = StagedPhoto(uuid: completion.uuid)
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
                let number = completion.there.sidecars.count + place + 1
                let name = owner.sidecar(number, PhotoFileName.fileExtension(of: sidecar.path))
                guard try photoFiles.facts(name) == nil else { continue }
                restored.files.append(try stage(sidecar, as: name, from: backup, job: job))
                restored.sidecars.append(sidecar.stored(as: name))
            }
        } catch {
            photoFiles.unstage(restored.files.map(\.staged))
            throw error
        }
        restored.completed = CompletedPhoto(path: completion.there.path, original: named)
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

    /// Extracts photos into the staging place, durably, and makes the thumbnails that the backup lacks.
    func stage(
        _ photos: SpooledList<Photo>, from backup: CheckedBackup, job: Job
    ) async throws -> SpooledList<StagedPhoto> {
        let (portions, bytes) = try await pool.run {
            var bytes = try backup.originalBytes(of: photos)
            try photos.forEach { bytes = bytes &+ $0.fileSize &+ $0.sidecars.reduce(0) { $0 &+ $1.fileSize } }
            return (try Self.portions(of: photos, areForeign: backup.contents.isForeign), bytes)
        }
        job.begin(phase: "restoring", items: Int64(photos.count), bytes: bytes)
        return try await recorded(in: backup.contents.scratch) { record in
            try await withThrowingTaskGroup(of: Int64.self) { group in
                var next = portions.makeIterator()
                var unsynced: Int64 = 0
                func startNext() {
                    if unsynced >= Self.syncStep {
                        unsynced = 0
                        group.addTask {
                            try await pool.run { try photoFiles.syncStaged() }
                            return 0
                        }
                    } else if let portion = next.next() {
                        group.addTask {
                            let some = try await pool.run { try photos.elements(portion) }
                            let staged = try await stage(some, from: backup, job: job)
                            try await pool.run { try take(down: staged, record) }
                            return some.reduce(0) { $0 &+ $1.fileSize }
                        }
                    }
                }
                for _ in 0..<(width + 2) { startNext() }
                do {
                    while let bytes = try await group.next() {
                        unsynced &+= bytes
                        startNext()
                    }
                    try await pool.run { try photoFiles.syncStaged() }
                } catch {
                    group.cancelAll()
                    isCancelled.set()
                    // They take down what they have staged.
                    while await group.nextResult() != nil {}
                    throw error
                }
            }
        }
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

    /// What was staged is not taken down yet.
    private func stage(_ photos: [Photo], from backup: CheckedBackup, job: Job) async throws -> [StagedPhoto] {
        if backup.contents.isForeign { return [try await convert(photos[0], from: backup, job: job)] }
        try await job.mayContinue()
        let wanted = try await unknownNames(like: photos, from: backup)
        var restored = try await pool.run { try extract(photos, wanted, from: backup, job: job) }
        do {
            for place in restored.indices {
                let (photo, staged) = restored[place]
                guard let names = staged.names, !staged.files.contains(where: { $0.name == names.thumbnail }) else {
                    continue
                }
                let (thumbnail, problem) = try await makeThumbnail(of: staged.files[0].staged, for: photo)
                if let thumbnail { restored[place].staged.files.append(StagedFile(thumbnail, as: names.thumbnail)) }
                restored[place].staged.line = problem
            }
        } catch {
            let leftovers = restored.flatMap(\.staged.files)
            try? await pool.run { photoFiles.unstage(leftovers.map(\.staged)) }
            throw error
        }
        return restored.map(\.staged)
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
                let files = Array(staged[first...])
                restored.append(
                    (photo, StagedPhoto(uuid: photo.uuid, names: names, files: files, sidecars: sidecars)))
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
            found.sha256.hex == digest, StoredThumbnail.isUsable(bytes, turned: photo.turned)
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
            return (
                try await mesh.send(MakeThumbnail(stagedPhoto: staged, rotation: photo.rotation)).stagedThumbnail, nil
            )
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
    func taking(_ staged: StagedPhotos) throws -> BackupContents {
        guard isForeign else { return self }
        var contents = self
        contents.photos = try photos.spooled(in: scratch) { sourced in
            guard let restored = try staged[sourced.photo.uuid] else { return sourced }
            return restored.made?.sourced
        }
        return contents
    }
}
