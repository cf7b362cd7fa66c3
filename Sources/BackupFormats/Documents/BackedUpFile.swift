import LibraryModel
import Scratch

/// A stored file on its way into a backup.
package struct BackedUpFile: Codable, Sendable {
    package enum Content: Sendable {
        /// As it is stored. SHA-256 as the catalogue recorded it, lower-case hex.
        case stored(digest: String)
        /// As it is stored, and the catalogue records nothing of it.
        case thumbnail
        /// Sealed while it is copied.
        case sealed(SealedSidecar)
    }

    /// The name of its entry: the one that it has in the library, unless it is sealed.
    package let path: String
    /// Bytes of the entry.
    package let size: Int64
    /// Milliseconds since 1970.
    package let modified: Int64
    /// Of the stored file, as the catalogue recorded it, SHA-256 in lower-case hex; nil where it did not.
    package let digest: String?
    /// Nil of what is stored as it stands.
    private let sealed: SealedSidecar?

    package init(path: String, size: Int64, content: Content, modified: Int64) {
        (self.path, self.size, self.modified) = (path, size, modified)
        (digest, sealed) =
            switch content {
            case .stored(let digest): (digest, nil)
            case .thumbnail: (nil, nil)
            case .sealed(let sealed): (sealed.sidecar.contentDigest, sealed)
            }
    }

    package var content: Content { sealed.map { .sealed($0) } ?? digest.map { .stored(digest: $0) } ?? .thumbnail }

    /// Where it is stored.
    package var storedPath: String { sealed?.sidecar.path ?? path }

    /// Whether its entry is other bytes than the stored file's.
    package var isSealed: Bool { sealed != nil }
    package var isThumbnail: Bool { digest == nil }
    /// Whether it is known what the entry has to be, before it is written.
    package var isKnown: Bool { sealed == nil && digest != nil }

    package static func isThumbnail(_ path: String) -> Bool { path.hasPrefix(BackupFormat.thumbnailPrefix) }
}

/// A file that is there, and no more is known of it.
package struct SizedFile: Codable, Sendable {
    package let path: String
    /// In bytes.
    package let size: Int64

    package init(path: String, size: Int64) { (self.path, self.size) = (path, size) }
}

extension SourcedPhoto {
    /// Its original, where the photo is another file, and its sidecars.
    package var entriesBeside: [BackedUpFile] {
        guard photo.hasExtraFiles else { return [] }
        let modified = photo.shownMoment.milliseconds
        var files = photo.sidecars.map {
            BackedUpFile(
                path: $0.path, size: $0.fileSize, content: .stored(digest: $0.contentDigest), modified: modified)
        }
        if let original = photo.originalPath, original != photo.path {
            let content = BackedUpFile.Content.stored(digest: sourceDigest)
            files.insert(BackedUpFile(path: original, size: sourceSize, content: content, modified: modified), at: 0)
        }
        return files
    }
}

extension BackupContents {
    /// In the order in which they stand in a backup: photos, then what else there is of them, then thumbnails. Blocks.
    package func files() throws -> SpooledList<BackedUpFile> {
        // Photos are looked at once: one takes as long to be read as ten files. So what stands behind them waits in lists.
        var files = SpooledList<BackedUpFile>.Spooler(in: scratch)
        var kept = SpooledList<BackedUpFile>.Spooler(in: scratch)
        var shown = SpooledList<BackedUpFile>.Spooler(in: scratch)
        var thumbnails = thumbnails.map { SpooledFinder($0, by: \.path) }
        try concurrently(photos) { sourced in
            let photo = sourced.photo
            let file = BackedUpFile(
                path: photo.path, size: photo.fileSize, content: .stored(digest: photo.contentDigest),
                modified: photo.shownMoment.milliseconds)
            return (file: file, beside: sourced.entriesBeside, thumbnailPath: photo.thumbnailPath)
        } take: { (file: BackedUpFile, beside: [BackedUpFile], thumbnailPath: String) in
            try files.append(file)
            for file in beside { try kept.append(file) }
            guard thumbnails != nil, !goneThumbnails.contains(thumbnailPath),
                let thumbnail = try thumbnails?.find(thumbnailPath)?.element
            else { return }
            try shown.append(
                BackedUpFile(
                    path: thumbnailPath, size: thumbnail.size, content: .thumbnail, modified: file.modified))
        }
        try forEachFirst(of: kept.finish()) { try files.append($0) }
        try forEachSealed { try files.append($0) }
        try shown.finish().forEach { try files.append($0) }
        return try files.finish()
    }

    /// Each once, though several photos may have it.
    private func forEachFirst(of kept: SpooledList<BackedUpFile>, _ body: (BackedUpFile) throws -> Void) throws {
        guard !kept.isEmpty else { return }
        let index = try SpooledIndex(kept, by: \.path)
        try kept.forEach { place, file in
            if try index.firstRepeated == nil || index.place(of: file.path) == place { try body(file) }
        }
    }

    private func forEachSealed(_ body: (BackedUpFile) throws -> Void) throws {
        guard !sealedSidecars.isEmpty else { return }
        let sealed = Set(sealedSidecars.map(\.uuid))
        var moments: [String: Int64] = [:]
        try photos.forEach { sourced in
            guard sealed.contains(sourced.photo.uuid) else { return }
            moments[sourced.photo.uuid] = sourced.photo.shownMoment.milliseconds
        }
        for sidecar in sealedSidecars {
            try body(
                BackedUpFile(
                    path: sidecar.entry, size: sidecar.entrySize, content: .sealed(sidecar),
                    modified: moments[sidecar.uuid] ?? 0))
        }
    }

    /// The same without files that are not there, or cannot be read: a photo's own takes the photo with it, others only
    /// themselves. Blocks.
    package func without(_ gone: Set<String>) throws -> BackupContents {
        guard !gone.isEmpty else { return self }
        var contents = self
        var gonePhotos: Set<String> = []
        contents.photos = try photos.spooled(in: scratch) { sourced in
            guard !gone.contains(sourced.photo.path) else {
                gonePhotos.insert(sourced.photo.uuid)
                return nil
            }
            var left = sourced
            if let original = left.photo.originalPath, gone.contains(original) { left.photo.dropOriginal() }
            left.photo.sidecars.removeAll { gone.contains($0.path) }
            return left
        }
        contents.sealedSidecars.removeAll { gone.contains($0.entry) || gonePhotos.contains($0.uuid) }
        contents.goneThumbnails.formUnion(gone.filter(BackedUpFile.isThumbnail))
        return contents
    }

    /// The same with nothing but what is shown of photos. Blocks.
    package func withoutOriginals() throws -> BackupContents {
        var contents = self
        contents.leavesOriginals = true
        contents.photos = try photos.spooled(in: scratch) { sourced in
            var left = sourced
            if left.photo.originalPath != left.photo.path, !left.photo.isFilm { left.photo.dropOriginal() }
            left.photo.sidecars = []
            return left
        }
        return contents
    }

    /// The same where some photos have other bytes than the catalogue has recorded. Blocks.
    /// - Parameter deviation: by the photo's path.
    package func with(
        _ deviation: (String) -> (size: Int64, digest: String)?
    ) throws -> BackupContents {
        var contents = self
        contents.photos = try photos.spooled(in: scratch) { sourced in
            guard let found = deviation(sourced.photo.path) else { return sourced }
            var sourced = sourced
            (sourced.photo.fileSize, sourced.photo.contentDigest) = found
            return sourced
        }
        return contents
    }
}
