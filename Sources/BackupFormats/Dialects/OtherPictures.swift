import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh

/// Pictures of a backup whose uuid a photo of the library has that is another picture, made from another file. In a merge they come
/// as photos of their own: a picture that only the backup has is never left out.
package struct OtherPictures: Sendable {
    /// The uuids that they get, by those that they have in the backup; the same ones each time, so that a second restore finds them.
    let uuids: [String: String]
    let lines: [ReceiptLine]

    package init(uuids: [String: String], lines: [ReceiptLine]) {
        self.uuids = uuids
        self.lines = lines
    }

    package static let outcome = "added"

    /// - Parameter damaged: names of entries that were damaged when they were saved: by their bytes they are other pictures, and are
    ///   none.
    package init(_ contents: BackupContents, _ damaged: Set<String>, in transaction: any CatalogueTransaction) throws {
        var (uuids, lines): ([String: String], [ReceiptLine]) = ([:], [])
        if !contents.isForeign {
            let matches = try transaction.photos.matches(of: contents.photos.map(PhotoIdentity.init))
            var others: [(source: String, photo: Photo, there: Photo)] = []
            for (sourced, there) in zip(contents.photos, matches) {
                let photo = sourced.photo
                guard let there, there.uuid == photo.uuid, there.contentDigest != photo.contentDigest,
                    !damaged.contains(photo.path)
                else { continue }
                others.append((sourced.sourceDigest, photo, there))
            }
            let ofSource = try transaction.photos.find(sourceDigests: others.map(\.source))
            for ((_, photo, there), found) in zip(others, ofSource) where found?.id != there.id {
                uuids[photo.uuid] = DerivedUUID.of(["other picture", photo.uuid, photo.contentDigest])
                lines.append(
                    ReceiptLine(
                        item: photo.path, outcome: Self.outcome,
                        detail: "added beside \(there.id), which has its uuid and is another picture"))
            }
        }
        (self.uuids, self.lines) = (uuids, lines)
    }

    func uuid(_ uuid: String) -> String { uuids[uuid] ?? uuid }
}

extension PhotoIdentity {
    package init(_ sourced: SourcedPhoto) {
        self.init(
            uuid: sourced.photo.uuid, contentDigest: sourced.photo.contentDigest, sourceDigest: sourced.sourceDigest)
    }
}
