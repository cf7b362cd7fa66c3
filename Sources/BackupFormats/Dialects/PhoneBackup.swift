import Foundation
import LibraryModel
import ServiceMesh

/// How a backup for the phone apps is made: one document and the photos as they are shown, and nothing else, because what the
/// apps make of other entries is not known.
extension PhoneDialect {
    /// The documents of a backup for the phone apps, in the order in which they stand in it.
    package static func documents(of contents: BackupContents, at time: Timestamp) throws -> [BackupDocument] {
        let document = try AppMetadata.encode(contents, as: metadataEntry, at: time)
        try SmilePileDialect.requirePossible(document)
        return [document]
    }
}

extension BackupContents {
    /// Keeps what a backup for the phone apps can say.
    /// - Returns: a line for each kind of thing that it cannot.
    package mutating func keepWhatPhonesRead() throws -> [ReceiptLine] {
        let all = photos.count
        // The apps know photos alone, and would take a film's poster for one.
        photos = try photos.spooled(in: scratch) { $0.photo.isFilm ? nil : $0 }
        let films = all - photos.count
        // A phone would show the grey card that stands in for them, and take it for the photo.
        photos = try photos.spooled(in: scratch) { $0.photo.unseenBy == nil ? $0 : nil }
        let unseen = all - films - photos.count
        func count(_ isMeant: (Photo) -> Bool) throws -> Int {
            var count = 0
            try photos.forEach { if isMeant($0.photo) { count += 1 } }
            return count
        }
        let kinds: [(count: Int, what: String)] = [
            (films, "films"), (unseen, "photos that cannot be seen here yet"),
            (try sealed?.only(of: photos, in: scratch)?.values.count ?? 0, "sealed fields"),
            (try count { $0.caption != nil }, "captions"),
            // What the app itself showed is its `createdAt` too.
            (try count { $0.takenAt != nil && $0.dateSource != .app }, "dates from cameras"),
            (try count { $0.takenOffset != nil }, "time offsets"),
            (try count { $0.camera != nil }, "cameras"),
            (try count { $0.rotation != nil }, "turns of photos"),
            (try count { $0.lastDecision != nil }, "decisions of reviews"),
            (swipeSessions.count, "reviews"), (groups.count, "groups"),
            (try count(\.hasExtraFiles), "photos' originals and sidecars"),
        ]
        self = try withoutOriginals()
        (sealed, lock, isForPhone) = (nil, nil, true)
        let kept = kinds.filter { $0.count > 0 }.map { "\($0.what) (\($0.count))" }
        return (kept + ["preferences"]).map { what in
            ReceiptLine(
                item: PhoneDialect.metadataEntry, outcome: ForeignContents.left, detail: "not in it: \(what)")
        }
    }
}
