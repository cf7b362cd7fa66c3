import LibraryModel

/// A stored file on its way into a backup, under the name that it has in the library.
struct BackedUpFile: Sendable {
    let path: String
    /// Bytes.
    let size: Int64
    /// SHA-256 as the catalogue recorded it, lower-case hex; nil of thumbnails, of which it records nothing.
    let digest: String?
    /// Milliseconds since 1970.
    let modified: Int64

    var isThumbnail: Bool { digest == nil }

    static func isThumbnail(_ path: String) -> Bool { path.hasPrefix(BackupFormat.thumbnailPrefix) }
}

extension BackupContents {
    /// In the order in which they stand in a backup: photos, then what else there is of them, then thumbnails.
    var files: [BackedUpFile] {
        let shown = photos.map(\.photo).map {
            BackedUpFile(
                path: $0.path, size: $0.fileSize, digest: $0.contentDigest, modified: $0.shownMoment.milliseconds)
        }
        var kept: [BackedUpFile] = []
        var taken: Set<String> = []
        for sourced in photos {
            let (photo, modified) = (sourced.photo, sourced.photo.shownMoment.milliseconds)
            if let original = photo.originalPath, original != photo.path, taken.insert(original).inserted {
                kept.append(
                    BackedUpFile(
                        path: original, size: sourced.sourceSize, digest: sourced.sourceDigest, modified: modified))
            }
            for sidecar in photo.sidecars where taken.insert(sidecar.path).inserted {
                kept.append(
                    BackedUpFile(
                        path: sidecar.path, size: sidecar.fileSize, digest: sidecar.contentDigest, modified: modified))
            }
        }
        let thumbnails = photos.map(\.photo).compactMap { photo in
            self.thumbnails[photo.thumbnailPath].map {
                BackedUpFile(
                    path: photo.thumbnailPath, size: $0, digest: nil, modified: photo.shownMoment.milliseconds)
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
