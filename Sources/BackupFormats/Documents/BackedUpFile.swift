import LibraryModel

/// A stored file on its way into a backup.
package struct BackedUpFile: Sendable {
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
    package let content: Content
    /// Milliseconds since 1970.
    package let modified: Int64

    /// Of the stored file, as the catalogue recorded it; nil where it did not.
    package var digest: String? {
        switch content {
        case .stored(let digest): digest
        case .thumbnail: nil
        case .sealed(let sealed): sealed.sidecar.contentDigest
        }
    }

    /// Where it is stored.
    package var storedPath: String { if case .sealed(let sealed) = content { sealed.sidecar.path } else { path } }

    /// Whether its entry is other bytes than the stored file's.
    package var isSealed: Bool { if case .sealed = content { true } else { false } }
    package var isThumbnail: Bool { if case .thumbnail = content { true } else { false } }
    /// Whether it is known what the entry has to be, before it is written.
    package var isKnown: Bool { if case .stored = content { true } else { false } }

    package static func isThumbnail(_ path: String) -> Bool { path.hasPrefix(BackupFormat.thumbnailPrefix) }
}

extension BackupContents {
    /// In the order in which they stand in a backup: photos, then what else there is of them, then thumbnails.
    package var files: [BackedUpFile] {
        var (shown, kept, thumbnails) = ([BackedUpFile](), [BackedUpFile](), [BackedUpFile]())
        shown.reserveCapacity(2 * photos.count)
        thumbnails.reserveCapacity(self.thumbnails.count)
        var taken: Set<String> = []
        var moments: [String: Int64] = [:]
        // By index: an element that is taken out of the array is a copy of all that is said about a photo.
        for index in photos.indices {
            let path = photos[index].photo.path
            let modified = photos[index].photo.shownMoment.milliseconds
            func add(_ path: String, _ size: Int64, _ content: BackedUpFile.Content, to files: inout [BackedUpFile]) {
                files.append(BackedUpFile(path: path, size: size, content: content, modified: modified))
            }
            add(path, photos[index].photo.fileSize, .stored(digest: photos[index].photo.contentDigest), to: &shown)
            if let original = photos[index].photo.originalPath, original != path, taken.insert(original).inserted {
                add(original, photos[index].sourceSize, .stored(digest: photos[index].sourceDigest), to: &kept)
            }
            for sidecar in photos[index].photo.sidecars where taken.insert(sidecar.path).inserted {
                add(sidecar.path, sidecar.fileSize, .stored(digest: sidecar.contentDigest), to: &kept)
            }
            if !self.thumbnails.isEmpty, case let path = photos[index].photo.thumbnailPath,
                let size = self.thumbnails[path]
            {
                add(path, size, .thumbnail, to: &thumbnails)
            }
            if !sealedSidecars.isEmpty { moments[photos[index].photo.uuid] = modified }
        }
        kept += sealedSidecars.map {
            BackedUpFile(path: $0.entry, size: $0.entrySize, content: .sealed($0), modified: moments[$0.uuid] ?? 0)
        }
        return shown + kept + thumbnails
    }

    /// The same without files that are not there, or cannot be read: a photo's own takes the photo with it, others only
    /// themselves.
    package func without(_ gone: Set<String>) -> BackupContents {
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
    package func withoutOriginals() -> BackupContents {
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
