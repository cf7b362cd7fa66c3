import LibraryModel

/// A stored file on its way into a backup.
struct BackedUpFile: Sendable {
    enum Content: Sendable {
        /// As it is stored. SHA-256 as the catalogue recorded it, lower-case hex.
        case stored(digest: String)
        /// As it is stored, and the catalogue records nothing of it.
        case thumbnail
        /// Sealed while it is copied.
        case sealed(SealedSidecar)
    }

    /// The name of its entry: the one that it has in the library, unless it is sealed.
    let path: String
    /// Bytes of the entry.
    let size: Int64
    let content: Content
    /// Milliseconds since 1970.
    let modified: Int64

    /// Of the stored file, as the catalogue recorded it; nil where it did not.
    var digest: String? {
        switch content {
        case .stored(let digest): digest
        case .thumbnail: nil
        case .sealed(let sealed): sealed.sidecar.contentDigest
        }
    }

    /// Where it is stored.
    var storedPath: String { if case .sealed(let sealed) = content { sealed.sidecar.path } else { path } }

    var isThumbnail: Bool { if case .thumbnail = content { true } else { false } }
    /// Whether it is known what the entry has to be, before it is written.
    var isKnown: Bool { if case .stored = content { true } else { false } }

    static func isThumbnail(_ path: String) -> Bool { path.hasPrefix(BackupFormat.thumbnailPrefix) }
}

extension BackupContents {
    /// In the order in which they stand in a backup: photos, then what else there is of them, then thumbnails.
    var files: [BackedUpFile] {
        let shown = photos.map(\.photo).map {
            BackedUpFile(
                path: $0.path, size: $0.fileSize, content: .stored(digest: $0.contentDigest),
                modified: $0.shownMoment.milliseconds)
        }
        var kept: [BackedUpFile] = []
        var taken: Set<String> = []
        for sourced in photos {
            let (photo, modified) = (sourced.photo, sourced.photo.shownMoment.milliseconds)
            if let original = photo.originalPath, original != photo.path, taken.insert(original).inserted {
                kept.append(
                    BackedUpFile(
                        path: original, size: sourced.sourceSize, content: .stored(digest: sourced.sourceDigest),
                        modified: modified))
            }
            for sidecar in photo.sidecars where taken.insert(sidecar.path).inserted {
                kept.append(
                    BackedUpFile(
                        path: sidecar.path, size: sidecar.fileSize, content: .stored(digest: sidecar.contentDigest),
                        modified: modified))
            }
        }
        if !sealedSidecars.isEmpty {
            let moments = Dictionary(
                photos.map { ($0.photo.uuid, $0.photo.shownMoment.milliseconds) },
                uniquingKeysWith: { first, _ in first })
            kept += sealedSidecars.map {
                BackedUpFile(
                    path: $0.entry, size: $0.entrySize, content: .sealed($0), modified: moments[$0.uuid] ?? 0)
            }
        }
        let thumbnails = photos.map(\.photo).compactMap { photo in
            self.thumbnails[photo.thumbnailPath].map {
                BackedUpFile(
                    path: photo.thumbnailPath, size: $0, content: .thumbnail, modified: photo.shownMoment.milliseconds)
            }
        }
        return shown + kept + thumbnails
    }

    /// The same without files that are not there, or cannot be read: a photo's own takes the photo with it, others only
    /// themselves.
    func without(_ gone: Set<String>) -> BackupContents {
        guard !gone.isEmpty else { return self }
        var contents = self
        contents.photos = photos.compactMap { sourced in
            guard !gone.contains(sourced.photo.path) else { return nil }
            var left = sourced
            if let original = left.photo.originalPath, gone.contains(original) { left.photo.originalPath = nil }
            left.photo.sidecars.removeAll { gone.contains($0.path) }
            return left
        }
        let gonePhotos = Set(photos.lazy.filter { gone.contains($0.photo.path) }.map(\.photo.uuid))
        contents.sealedSidecars.removeAll { gone.contains($0.entry) || gonePhotos.contains($0.uuid) }
        for path in gone { contents.thumbnails[path] = nil }
        return contents
    }

    /// The same with nothing but what is shown of photos.
    func withoutOriginals() -> BackupContents {
        var contents = self
        contents.leavesOriginals = true
        for index in contents.photos.indices {
            let photo = contents.photos[index].photo
            if photo.originalPath != photo.path { contents.photos[index].photo.originalPath = nil }
            contents.photos[index].photo.sidecars = []
        }
        return contents
    }
}
