import Foundation
import LibraryModel
import LibraryStorage
import ServiceMesh

/// What restoring a backup would do to the library as it is: computed from the catalogue for the preview, and again,
/// by the same code, in the transaction that does it.
struct RestorePlan: Sendable {
    /// In the order of the backup.
    var newCategories: [Category] = []
    /// Category id in the backup to that of the library, for those that are there already.
    var matchedCategories: [Int64: Int64] = [:]
    /// Under the paths and categories that they have in the backup.
    var newPhotos: [Photo] = []
    /// Photos that stay as they are (merge), or whose file stays in use (replace), by the backup's uuid.
    var kept: [String: Photo] = [:]
    /// Kept photos that were made from the same source as the backup's (replace), by its uuid: what they have of that source
    /// stays.
    var ofSameSource: [String: Photo] = [:]
    /// Photos of the library that the backup does not have (replace): they go to the trash.
    var removed: [Photo] = []
    var newSessions: [SwipeRecord] = []
    /// Everything a person should know: conflicts, defaults, what was dropped.
    var lines: [ReceiptLine] = []

    static func make(
        _ contents: BackupContents, mode: RestoreMode, in transaction: any CatalogueTransaction
    ) throws -> RestorePlan {
        var plan = RestorePlan()
        plan.lines = contents.defaulted
        switch mode {
        case .merge: try plan.merge(contents, in: transaction)
        case .replace: try plan.replace(contents, in: transaction)
        }
        return plan
    }

    private mutating func merge(_ contents: BackupContents, in transaction: any CatalogueTransaction) throws {
        for category in contents.categories {
            if let there = try transaction.categories.find(.displayName(category.displayName)) {
                matchedCategories[category.id] = there.id
                if category.colorHex != there.colorHex {
                    lines.append(
                        ReceiptLine(
                            item: there.displayName, outcome: "conflict",
                            detail: "the library's colour \(there.colorHex) stays; the backup has \(category.colorHex)")
                    )
                }
            } else {
                newCategories.append(category)
            }
        }
        let matches = try transaction.photos.matches(
            of: contents.photos.map {
                PhotoIdentity(
                    uuid: $0.photo.uuid, contentDigest: $0.photo.contentDigest, sourceDigest: $0.sourceDigest)
            })
        for (photo, there) in zip(contents.photos.map(\.photo), matches) {
            if let there {
                kept[photo.uuid] = there
                if let difference = Self.difference(between: there, and: photo) {
                    lines.append(
                        ReceiptLine(
                            item: there.path, outcome: "conflict", detail: "the library's \(difference) stays"))
                }
            } else {
                newPhotos.append(photo)
            }
        }
        let known = try transaction.swipes.known(contents.swipeSessions.map(\.sessionID))
        newSessions = contents.swipeSessions.filter { !known.contains($0.sessionID) }
    }

    private static func difference(between there: Photo, and photo: Photo) -> String? {
        var fields: [String] = []
        if there.contentDigest != photo.contentDigest { fields.append("picture") }
        if there.caption != photo.caption { fields.append("caption") }
        if there.isFavorite != photo.isFavorite { fields.append("favourite mark") }
        if there.takenAt != photo.takenAt { fields.append("date") }
        return fields.isEmpty ? nil : fields.joined(separator: ", ")
    }

    private mutating func replace(_ contents: BackupContents, in transaction: any CatalogueTransaction) throws {
        newCategories = contents.categories
        newSessions = contents.swipeSessions
        var present: [SourcedPhoto] = []
        try transaction.photos.forEach(since: nil) { present.append($0) }
        // Those of the same uuid first: two photos may share their content, and each is to keep its own file.
        var unused = Dictionary(grouping: present, by: \.photo.contentDigest)
        func take(_ wanted: SourcedPhoto, where isMeant: (SourcedPhoto) throws -> Bool) rethrows -> Bool {
            let photo = wanted.photo
            guard let index = try unused[photo.contentDigest]?.firstIndex(where: isMeant),
                let there = unused[photo.contentDigest]?.remove(at: index)
            else { return false }
            kept[photo.uuid] = there.photo
            if there.sourceDigest == wanted.sourceDigest { ofSameSource[photo.uuid] = there.photo }
            return true
        }
        let others = contents.photos.filter { wanted in !take(wanted) { $0.photo.uuid == wanted.photo.uuid } }
        // Sealed fields are sealed for a uuid: a photo of another one that has any goes to the trash with them.
        newPhotos = try others.filter { wanted in
            try !take(wanted) { try transaction.sealedFields.values(of: $0.photo.uuid).isEmpty }
        }.map(\.photo)
        removed = unused.values.flatMap { $0 }.map(\.photo).sorted { $0.id < $1.id }
    }
}
