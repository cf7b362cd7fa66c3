import LibraryModel
import LibraryServices
import LibraryStorage
import Scratch
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
            var others: [(source: String, photo: Photo, there: Photo)] = []
            try contents.photos.forEachMatch(in: transaction) { sourced, there in
                let photo = sourced.photo
                guard let there, there.uuid == photo.uuid, there.contentDigest != photo.contentDigest,
                    !damaged.contains(photo.path)
                else { return }
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

extension SpooledList<SourcedPhoto> {
    /// Each with the photo of a catalogue that is the same; nil where none is. Some hundred at a time are in memory.
    package func forEachMatch(
        in transaction: any CatalogueTransaction, _ body: (SourcedPhoto, Photo?) throws -> Void
    ) throws {
        for start in stride(from: 0, to: count, by: 512) {
            let some = try elements(start..<Swift.min(start + 512, count))
            let matches = try transaction.photos.matches(of: some.map(PhotoIdentity.init))
            for (sourced, there) in zip(some, matches) { try body(sourced, there) }
        }
    }
}

extension PhotoIdentity {
    package init(_ sourced: SourcedPhoto) {
        self.init(
            uuid: sourced.photo.uuid, contentDigest: sourced.photo.contentDigest, sourceDigest: sourced.sourceDigest)
    }
}
