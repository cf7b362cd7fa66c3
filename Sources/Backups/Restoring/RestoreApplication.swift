import BackupFormats
import Foundation
import LibraryModel
import LibraryServices
import LibraryStorage
import Sealing
import ServiceMesh

/// The switch: puts a plan into effect inside one transaction of the catalogue. A crash before its commit leaves the
/// old library whole, after it the new one; the catalogue's own journal is what decides, so there is no second one
/// to exchange and no moment at which two could be mixed up.
struct RestoreApplication {
    let contents: BackupContents
    let plan: RestorePlan
    private var mode: RestoreMode { plan.mode }
    /// The new files of a photo, by its uuid in the backup: in place and durable already.
    let staged: (String) throws -> StagedPhoto?
    /// What is sealed in the backup.
    var opened = OpenedFields.none
    /// Whose changes they are.
    let job: JobID
    /// The library's, to seal with what is sealed; nil where nothing is.
    var keyring: Keyring?

    /// Photos that one call enters or changes.
    private static let portion = 1024

    func apply(in transaction: any CatalogueTransaction) throws {
        var (categories, overwritten) =
            switch mode {
            case .merge: try enter(addMissingCategories(in: transaction), in: transaction)
            case .replace:
                try transaction.sealedFields.keepingValues {
                    try enter(exchangeCategories(in: transaction), in: transaction)
                }
            }
        try transaction.swipes.insert(plan.newSessions)
        // ``Group/maximumCount`` at most, and as a rule one or two.
        for group in plan.newGroups { try transaction.groups.insert(group) }
        try plan.lock?.apply(in: transaction)
        overwritten += try update(categories, in: transaction)
        // A replacement is undone by the trash and by another backup.
        if mode == .merge { try transaction.overwritten.add(overwritten, by: job) }
        try check(transaction)
    }

    /// Enters the photos that the library is to have from the backup, and what is sealed for them.
    /// - Parameter categories: the ids here by those in the backup.
    /// - Returns: these, and what was there.
    private func enter(
        _ categories: [Int64: Int64], in transaction: any CatalogueTransaction
    ) throws -> (categories: [Int64: Int64], overwritten: [Overwritten]) {
        var portion: [SourcedPhoto] = []
        func entered(_ sourced: SourcedPhoto) throws -> SourcedPhoto? {
            let photo = sourced.photo
            let kept = try plan.kept.find(photo.uuid)
            let there = kept?.photo
            if mode == .merge && there != nil { return nil }
            let staged = try self.staged(photo.uuid)
            // One that is kept may be staged too: it was not there for a while.
            guard
                let path = try there.map({ try StoredName(catalogued: $0.path) }) ?? staged?.names?.photo,
                let category = categories[photo.categoryId]
            else {
                throw MeshError(.internal, "The photo \(photo.path) was not staged. Please report it.")
            }
            if contents.isForeign, let there {
                return sourced.describing(there, in: category)
            }
            var entered = sourced
            (entered.photo.path, entered.photo.categoryId) = (path.path, category)
            let ofSameSource = kept.flatMap { $0.isOfSameSource ? $0.photo : nil }
            entered.photo.originalPath =
                ofSameSource?.originalPath ?? staged?.names?.original?.path
                ?? (photo.contentDigest == sourced.sourceDigest ? path.path : nil)
            if let kept, kept.isInsteadOfDamaged {
                let own = kept.photo
                (entered.photo.contentDigest, entered.photo.fileSize) = (own.contentDigest, own.fileSize)
                entered.photo.setSides(ofFile: own.sidesOfFile.width, own.sidesOfFile.height)
                entered.photo.mediaType = own.mediaType
            }
            // Of the same picture, where the backup is from before it was kept.
            entered.photo.camera = photo.camera ?? there?.camera
            entered.photo.sidecars = ofSameSource?.sidecars ?? staged?.sidecars ?? []
            return entered
        }
        try contents.photos.forEach { place, sourced in
            if let photo = try entered(sourced) { portion.append(photo) }
            guard portion.count == Self.portion || place == contents.photos.count - 1 else { return }
            try transaction.photos.insert(portion, keepingIDs: mode == .replace)
            portion.removeAll(keepingCapacity: true)
        }
        return (categories, try seal(in: transaction))
    }

    /// What the library has, and the backup's word counts of.
    /// - Parameter categories: the ids here by those in the backup.
    /// - Returns: what was there.
    private func update(
        _ categories: [Int64: Int64], in transaction: any CatalogueTransaction
    ) throws -> [Overwritten] {
        var overwritten: [Overwritten] = []
        let changes = plan.updatedCategories.sorted { $0.key < $1.key }.map { (id: $0.key, to: $0.value) }
        let there = Dictionary(
            try transaction.categories.all().map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        for after in try transaction.categories.update(changes) {
            if let before = there[after.id] { overwritten.append(.category(before: before, after: after)) }
        }
        if plan.takesOrder {
            let before = try transaction.categories.all().map(\.id)
            let order = contents.categories.compactMap { categories[$0.id] }
            let ordered = Set(order)
            let after = order + before.filter { !ordered.contains($0) }
            try transaction.categories.reorder(after)
            overwritten.append(.order(before: before, after: after))
        }
        try plan.updatedPhotos.forEachPortion(of: Self.portion) { updates in
            let updated = updates.map { update in
                var photo = update.wanted
                photo.categoryId = categories[photo.categoryId] ?? update.there.categoryId
                return photo
            }
            try transaction.photos.update(updated)
            overwritten += zip(updates, updated).map { .photo(before: $0.there, after: $1) }
        }
        try plan.completions.forEachPortion(of: Self.portion) { completions in
            let found = try transaction.photos.find(completions.map { .id($0.there.id) })
            let completed = try zip(completions, found).compactMap { completion, found -> Photo? in
                guard var photo = found, let staged = try self.staged(completion.uuid) else { return nil }
                if completion.original != nil { photo.originalPath = staged.completed?.original?.path }
                photo.sidecars = Array((photo.sidecars + staged.sidecars).prefix(KeptSidecar.maximumCount))
                return photo
            }
            // They had none, so no file is given up.
            _ = try transaction.photos.setFiles(of: completed)
        }
        if plan.takesPreferences, let preferences = contents.preferences {
            let before = try transaction.settings.settings()
            try transaction.settings.takePreferences(preferences)
            overwritten.append(.preferences(before: before, after: try transaction.settings.settings()))
        }
        return overwritten
    }

    /// - Returns: what was there.
    private func seal(in transaction: any CatalogueTransaction) throws -> [Overwritten] {
        guard let keyring else { return [] }
        var overwritten: [Overwritten] = []
        try plan.sealed.forEachPortion(of: Self.portion) { photos in
            let there = mode == .merge ? try transaction.sealedFields.values(of: photos.map(\.uuid)) : [:]
            var sealed: [String: [SealedField: [UInt8]]] = [:]
            for photo in photos {
                let values = try opened.values(of: photo.source)
                for field in photo.fields {
                    guard let plaintext = values[field] else { continue }
                    let name = SealedRow.Name(uuid: photo.uuid, field: field.rawValue)
                    let after = keyring.seal(plaintext, at: SealedFields.place(name))
                    sealed[photo.uuid, default: [:]][field] = after
                    guard let before = there[photo.uuid]?.first(where: { $0.name == name })?.sealed else { continue }
                    overwritten.append(
                        .sealed(photo: photo.uuid, field: name.field, before: Data(before), after: Data(after)))
                }
            }
            try transaction.sealedFields.set(sealed)
        }
        return overwritten
    }

    private func entry(_ category: Category, id: Int64? = nil, position: Int? = nil) -> CategoryEntry {
        CategoryEntry(
            CategoryDetails(
                displayName: category.displayName, colorHex: category.colorHex, iconResource: category.iconResource),
            isDefault: category.isDefault, createdAt: category.createdAt, id: id, position: position)
    }

    private func addMissingCategories(in transaction: any CatalogueTransaction) throws -> [Int64: Int64] {
        var ids = plan.matchedCategories
        let entered = try transaction.categories.insert(plan.newCategories.map { entry($0) })
        for (category, new) in zip(plan.newCategories, entered) { ids[category.id] = new.id }
        return ids
    }

    /// Photos that the backup does not have go to the trash, where they stay for 30 days: a replacement that was a
    /// mistake must not cost pictures that exist once.
    private func exchangeCategories(in transaction: any CatalogueTransaction) throws -> [Int64: Int64] {
        let now = Timestamp.now()
        try plan.removed.forEachPortion(of: Self.portion) { _ = try transaction.trash.add($0, at: now) }
        try transaction.categories.removeAll()
        try transaction.swipes.removeAll()
        let entered = try transaction.categories.insert(
            plan.newCategories.enumerated().map { entry($1, id: $1.id, position: $0) })
        var ids: [Int64: Int64] = [:]
        for (category, new) in zip(plan.newCategories, entered) { ids[category.id] = new.id }
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

extension SourcedPhoto {
    /// A photo of the library, with what another program's backup says of it.
    fileprivate func describing(_ there: Photo, in category: Int64) -> SourcedPhoto {
        var described = there
        (described.id, described.categoryId, described.isFavorite) = (photo.id, category, photo.isFavorite)
        described.caption = photo.caption ?? there.caption
        return SourcedPhoto(photo: described, sourceDigest: sourceDigest, sourceSize: sourceSize)
    }
}
