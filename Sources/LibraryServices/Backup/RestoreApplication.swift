import Foundation
import LibraryModel
import LibraryStorage
import ServiceMesh

/// The switch: puts a plan into effect inside one transaction of the catalogue. A crash before its commit leaves the
/// old library whole, after it the new one; the catalogue's own journal is what decides, so there is no second one
/// to exchange and no moment at which two could be mixed up.
struct RestoreApplication {
    let contents: BackupContents
    let plan: RestorePlan
    let mode: RestoreMode
    /// The new files' names, by the photo's uuid: in place and durable already.
    let names: [String: StoredName]

    func apply(in transaction: any CatalogueTransaction) throws {
        let categories: [Int64: Int64]
        switch mode {
        case .merge: categories = try addMissingCategories(in: transaction)
        case .replace:
            try transaction.sealedFields.beginReplacing()
            categories = try exchangeCategories(in: transaction)
        }
        let photos = try contents.photos.compactMap { sourced -> SourcedPhoto? in
            let photo = sourced.photo
            if mode == .merge && plan.kept[photo.uuid] != nil { return nil }
            // One that is kept may be staged too: it was not there for a while.
            guard
                let path = try plan.kept[photo.uuid].map({ try StoredName(catalogued: $0.path) })
                    ?? names[photo.uuid],
                let category = categories[photo.categoryId]
            else {
                throw MeshError(.internal, "The photo \(photo.path) was not staged. Please report it.")
            }
            var entered = sourced
            (entered.photo.path, entered.photo.categoryId) = (path.path, category)
            // A backup has no originals but those that are the photos themselves, and no sidecars.
            entered.photo.originalPath =
                plan.ofSameSource[photo.uuid]?.originalPath
                ?? (photo.contentDigest == sourced.sourceDigest ? path.path : nil)
            entered.photo.sidecars = plan.ofSameSource[photo.uuid]?.sidecars ?? []
            return entered
        }
        try transaction.photos.insert(photos, keepingIDs: mode == .replace)
        if mode == .replace { try transaction.sealedFields.endReplacing() }
        try transaction.swipes.insert(plan.newSessions)
        if mode == .replace, let preferences = contents.preferences { try transaction.settings.store(preferences) }
        try check(transaction)
    }

    private func entry(_ category: Category, id: Int64? = nil, position: Int? = nil) -> CategoryEntry {
        CategoryEntry(
            CategoryDetails(
                displayName: category.displayName, colorHex: category.colorHex, iconResource: category.iconResource),
            isDefault: category.isDefault, createdAt: category.createdAt, id: id, position: position)
    }

    private func addMissingCategories(in transaction: any CatalogueTransaction) throws -> [Int64: Int64] {
        var ids = plan.matchedCategories
        for category in plan.newCategories {
            ids[category.id] = try transaction.categories.insert(entry(category)).id
        }
        return ids
    }

    /// Photos that the backup does not have go to the trash, where they stay for 30 days: a replacement that was a
    /// mistake must not cost pictures that exist once.
    private func exchangeCategories(in transaction: any CatalogueTransaction) throws -> [Int64: Int64] {
        _ = try transaction.trash.add(plan.removed, at: .now())
        try transaction.categories.removeAll()
        try transaction.swipes.removeAll()
        var ids: [Int64: Int64] = [:]
        for (position, category) in plan.newCategories.enumerated() {
            ids[category.id] = try transaction.categories.insert(
                entry(category, id: category.id, position: position)
            ).id
        }
        try transaction.trash.followCategories()
        return ids
    }

    /// The new library's health, before it becomes the library.
    private func check(_ transaction: any CatalogueTransaction) throws {
        let count = try transaction.photos.totals().photos
        guard try transaction.isConsistent(), mode == .merge || count == contents.photos.count else {
            throw MeshError(
                .internal, "The restored library did not pass its check; nothing was changed. Please report it.")
        }
    }
}
