import BackupFormats
import Foundation
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh

/// Where library and backup say different things of one photo, category or setting. In a merge the library's word counts,
/// and each difference has a line; asked to, the restore takes the backup's.
extension RestorePlan {
    /// Of lines about what the library goes on saying.
    static let conflict = "conflict"
    /// Of lines about what the library says from now on.
    static let updated = "updated"

    /// A photo of the library that gets what the backup says of it.
    struct PhotoUpdate: Codable, Sendable {
        let there: Photo
        /// With the category that it has in the backup.
        let wanted: Photo
    }

    private static let reviewDecisions = "decisions"
    static let sealedFields = "sealed fields"
    private static let plurals: Set = [reviewDecisions, sealedFields]

    /// One thing that both say differently.
    struct Difference {
        /// Where the library's word counts.
        let kept: String
        /// Where the backup's does: with what was there.
        let taken: String

        init(_ field: String) { (kept, taken) = (field, field) }

        /// - Parameter was: what the library says; nil for nothing.
        init(_ field: String, was: String?, kept: String? = nil) {
            self.kept = kept ?? field
            taken = "\(field) (was: \(was.map { $0.count > 500 ? "\($0.prefix(500))…" : $0 } ?? "none"))"
        }
    }

    /// A difference in which either's word may count.
    mutating func tell(_ item: String, _ fields: [Difference], _ prefersBackup: Bool) {
        guard !fields.isEmpty else { return }
        guard prefersBackup else {
            takeable += 1
            return keep(item, fields.map(\.kept))
        }
        let list = fields.map(\.taken).joined(separator: ", ")
        lines.append(ReceiptLine(item: item, outcome: Self.updated, detail: "gets the backup's \(list)"))
    }

    /// A difference in which the library's word counts, whatever is asked for.
    mutating func keep(_ item: String, _ fields: [String]) {
        guard let first = fields.first else { return }
        let list = fields.joined(separator: ", ")
        let verb = fields.count > 1 || Self.plurals.contains(first) ? "stay" : "stays"
        lines.append(ReceiptLine(item: item, outcome: Self.conflict, detail: "the library's \(list) \(verb)"))
    }

    // MARK: Categories

    mutating func compare(_ category: Category, with there: Category, isForeign: Bool, prefersBackup: Bool) {
        var fields: [Difference] = []
        if category.displayName != there.displayName {
            let name = "'\(there.displayName)'"
            fields.append(Difference("name", was: name, kept: "name \(name)"))
        }
        if category.colorHex != there.colorHex {
            fields.append(Difference("colour", was: there.colorHex, kept: "colour \(there.colorHex)"))
        }
        if category.iconResource != there.iconResource, !isForeign || category.iconResource != nil {
            fields.append(Difference("icon", was: there.iconResource))
        }
        guard !fields.isEmpty else { return }
        if prefersBackup {
            updatedCategories[there.id] = CategoryDetails(
                displayName: category.displayName, colorHex: category.colorHex,
                iconResource: category.iconResource ?? there.iconResource)
        }
        tell(there.displayName, fields, prefersBackup)
    }

    /// The order of those that the backup has: what is added comes to the end, unless the backup's order is taken.
    mutating func compareOrder(_ contents: BackupContents, _ all: [Category], prefersBackup: Bool) {
        let places = contents.categories.map { matchedCategories[$0.id] }
        let wanted = places.compactMap { $0 }
        let matched = Set(wanted)
        let areAddedLast = !places.drop { $0 != nil }.contains { $0 != nil }
        guard !areAddedLast || wanted != all.map(\.id).filter(matched.contains) else { return }
        takesOrder = prefersBackup
        tell("categories", [Difference("order")], prefersBackup)
    }

    // MARK: Photos

    /// - Parameter isForeign: another program's pictures are what photos are made of.
    /// - Returns: what the photo gets; nil where it stays as it is.
    mutating func compare(
        _ photo: Photo, with there: Photo, isForeign: Bool, prefersBackup: Bool
    ) -> PhotoUpdate? {
        var wanted = there
        var fields: [Difference] = []
        if matchedCategories[photo.categoryId] != there.categoryId {
            fields.append(Difference("category", was: ownCategories[there.categoryId]))
        }
        for field in EditableField.all where !isForeign || field.isSaidByOthers(photo) {
            guard !field.isEqual(photo, there) else { continue }
            fields.append(Difference(field.name, was: field.text(there)))
            field.copy(photo, &wanted)
        }
        // The category is one of the backup until the new ones have their ids.
        wanted.categoryId = photo.categoryId
        tell(there.path, fields, prefersBackup)
        // One source, and another picture made of it: neither is overwritten by the other. Of one that was damaged there is a line of its
        // own; what has another source is not the same photo.
        if photo.contentDigest != there.contentDigest, !isForeign, !damaged.contains(photo.path) {
            keep(there.path, ["picture"])
        }
        return prefersBackup && !fields.isEmpty ? PhotoUpdate(there: there, wanted: wanted) : nil
    }

    /// A film or a raw file that is a photo of its own in the backup, and that the library keeps beside its picture. What somebody has
    /// said of it by itself is not taken over, whatever is asked for: the picture may say something else with equal right. Sealed fields
    /// are compared with the picture's, as any photo's are.
    mutating func leave(_ half: Photo, of holder: Photo, isForeign: Bool) {
        var lost: [String] = []
        if matchedCategories[half.categoryId] != holder.categoryId { lost.append("category") }
        if !isForeign, !half.isNamedByFile, half.name != holder.name { lost.append("name") }
        if half.caption != nil, half.caption != holder.caption { lost.append("caption") }
        if half.isFavorite, !holder.isFavorite { lost.append("favourite mark") }
        if !isForeign, half.dateSource == .person, !half.hasDate(of: holder) { lost.append("date") }
        if half.rotation != nil, half.rotation != holder.rotation { lost.append("rotation") }
        if half.lastDecision != nil, half.lastDecision != holder.lastDecision { lost.append("decision") }
        guard !lost.isEmpty else { return }
        let what = half.isFilm ? "film" : "raw file"
        lines.append(
            ReceiptLine(
                item: holder.path, outcome: Self.conflict,
                detail: "its \(what) is a photo of its own in the backup, \(half.path), of which the following is not "
                    + "taken over: \(lost.joined(separator: ", "))"))
    }

    // MARK: Settings and reviews

    mutating func comparePreferences(_ contents: BackupContents, with there: Settings, prefersBackup: Bool) {
        guard let preferences = contents.preferences else { return }
        let different = Preference.all.filter { !$0.isEqual(preferences, there) }
        if prefersBackup, !different.isEmpty { takesPreferences = true }
        tell("settings", different.map { Difference($0.key.rawValue, was: $0.text(there)) }, prefersBackup)
    }

    /// What was decided about which picture, in the order in which it was.
    private struct ReviewedPhoto: Equatable {
        /// Its uuid here, where it is here.
        let photo: String
        let contentDigest: String
        let action: SwipeAction
        let isProcessed: Bool
    }

    private func reviewed(_ session: SwipeRecord) throws -> [ReviewedPhoto] {
        let actions = try session.actions.map { action in
            (action: action, photo: try kept[action.decision.photo]?.uuid ?? action.decision.photo)
        }
        return actions.sorted {
            ($0.photo, $0.action.timestamp.milliseconds, $0.action.decision.action.rawValue)
                < ($1.photo, $1.action.timestamp.milliseconds, $1.action.decision.action.rawValue)
        }.map { action, photo in
            ReviewedPhoto(
                photo: photo, contentDigest: action.decision.contentDigest, action: action.decision.action,
                isProcessed: action.isProcessed)
        }
    }

    /// Decisions of a review are what somebody did here: nobody adds to them, nor takes any away.
    ///
    /// Rejected: to take the backup's session where that is asked for. What was applied since would wait to be applied again, or
    /// be gone from the history of what was done to a photo; and a decision that was taken back here was taken back on the other
    /// machines of this person too, where it can never come back.
    mutating func compareSessions(_ contents: BackupContents, with there: [SwipeRecord]) throws {
        let known = Dictionary(there.map { ($0.sessionID, $0) }, uniquingKeysWith: { first, _ in first })
        for session in contents.swipeSessions {
            guard let own = known[session.sessionID] else { continue }
            var fields = try reviewed(own) == reviewed(session) ? [] : [Self.reviewDecisions]
            if own.endTime != session.endTime { fields.append("end") }
            keep("review \(session.sessionID.prefix(8))", fields)
        }
    }

    // MARK: A library that has not been used

    /// Whether nothing has been done with the library: no photo, nothing in the trash, no review, and the categories as the
    /// first start made them.
    static func isUnused(_ transaction: any CatalogueTransaction) throws -> Bool {
        guard try transaction.photos.totals().photos == 0, try transaction.trash.count() == 0,
            try transaction.swipes.sessions(limit: 1).isEmpty
        else { return false }
        let categories = try transaction.categories.all()
        return categories.count == CategoryStore.defaults.count
            && zip(categories, CategoryStore.defaults).allSatisfy { category, made in
                category.displayName == made.0 && category.colorHex == made.1 && category.isDefault
                    && category.iconResource == nil
            }
    }
}
