import BackupFormats
import Foundation
import LibraryModel
import LibraryServices
import LibraryStorage
import Scratch
import ServiceMesh

/// What restoring a backup would do to the library as it is: computed from the catalogue for the preview, and again,
/// by the same code, in the transaction that does it.
struct RestorePlan: Sendable {
    /// What is done: a merge into a library that has not been used replaces it by the backup.
    var mode = RestoreMode.merge
    /// In the order of the backup.
    var newCategories: [Category] = []
    /// Category id in the backup to that of the library, for those that are there already.
    var matchedCategories: [Int64: Int64] = [:]
    /// Names of the library's, by their ids (merge).
    var ownCategories: [Int64: String] = [:]
    /// Under the paths and categories that they have in the backup.
    var newPhotos: SpooledList<Photo> = []
    /// Photos that stay as they are (merge), or whose file stays in use (replace), by the backup's uuid.
    var kept = KeptPhotos()
    /// Names of the backup's entries whose bytes were not those recorded when they were saved.
    private(set) var damaged: Set<String> = []
    /// Photos of the library that the backup does not have (replace): they go to the trash.
    var removed: SpooledList<Photo> = []
    var newSessions: [SwipeRecord] = []
    var newGroups: [StoredGroup] = []
    /// Photos that get sealed values of the backup.
    var sealed: SpooledList<SealedPhoto> = []

    /// What is sealed for one photo: not the values themselves, which are open in no file.
    struct SealedPhoto: Codable, Sendable {
        /// In the library.
        let uuid: String
        /// The photo's uuid in the backup.
        let source: String
        var fields: [SealedField]

        /// Two photos of the backup may be one here: the first one counts.
        fileprivate static func eachOnce(
            _ photos: SpooledList<SealedPhoto>, in scratch: Scratch
        ) throws -> SpooledList<SealedPhoto> {
            let ofOne = try SpooledGroups(photos, by: \.uuid)
            guard ofOne.index.firstRepeated != nil else { return photos }
            return try photos.spooled(in: scratch) { photo in
                var photo = photo
                for other in try ofOne.all(of: photo.uuid).prefix(while: { $0.source != photo.source }) {
                    photo.fields.removeAll(where: other.fields.contains)
                }
                return photo.fields.isEmpty ? nil : photo
            }
        }
    }
    /// Details that categories of the library get from the backup, by their ids.
    var updatedCategories: [Int64: CategoryDetails] = [:]
    /// Whether the library's categories get the backup's order, those that it does not have behind it.
    var takesOrder = false
    private(set) var updatedPhotos: SpooledList<PhotoUpdate> = []
    var takesPreferences = false
    /// That of the backup, where the library gets it.
    var lock: LibraryLock?
    /// Differences in which the library's word counts, and the backup's would if that was asked for.
    var takeable = 0
    /// What photos that are kept lack and the backup has (merge).
    var completions: SpooledList<Completion> = []

    /// What a photo of the library gets.
    struct Completion: Codable, Sendable {
        struct Original: Codable, Sendable {
            /// The entry that has it.
            let entry: String
            /// Of the source: SHA-256, lower-case hex.
            let digest: String
            /// In bytes.
            let size: Int64
        }

        /// Of the photo in the backup.
        let uuid: String
        let there: Photo
        var original: Original?
        /// As the backup has them.
        var sidecars: [KeptSidecar] = []

        /// What of it could be staged.
        /// - Returns: nil where that is nothing.
        func with(original hasOriginal: Bool, sidecars staged: [KeptSidecar]) -> Completion? {
            var completion = self
            if !hasOriginal { completion.original = nil }
            completion.sidecars = sidecars.filter { wanted in
                staged.contains { $0.contentDigest == wanted.contentDigest }
            }
            return completion.isEmpty ? nil : completion
        }

        var isEmpty: Bool { original == nil && sidecars.isEmpty }
        /// In bytes.
        var size: Int64 { sidecars.reduce(original?.size ?? 0) { $0 &+ $1.fileSize } }

        var line: ReceiptLine {
            let names = sidecars.map(\.name).joined(separator: ", ")
            let gets = (original == nil ? [] : ["its original"]) + (sidecars.isEmpty ? [] : [names])
            return ReceiptLine(
                item: there.path, outcome: RestorePlan.completed,
                detail: "photo \(there.id) gets \(gets.joined(separator: " and ")) from the backup")
        }
    }

    /// As the backup has them, of photos that are new and of those that get some.
    func forEachNewSidecar(_ body: (KeptSidecar) -> Void) throws {
        try newPhotos.forEach { $0.sidecars.forEach(body) }
        try completions.forEach { $0.sidecars.forEach(body) }
    }

    static let completed = "completed"
    static let damagedOutcome = "damaged"

    /// Outcomes of lines that tell of nothing lost.
    private static let harmless: Set = [
        "ignored", ForeignContents.assumed, ForeignContents.left, updated, completed, OtherPictures.outcome,
    ]
    /// That of sealed values whose key or passphrase was not given.
    private var locked: ReceiptLine?
    /// Whether a line tells of something that is not as the backup has it. What waits for its key is lost no more than what nobody has
    /// restored yet; of a damaged backup nobody knows that it waits only for that.
    func hasLosses(fromDamaged isDamaged: Bool) -> Bool {
        lines.contains { !Self.harmless.contains($0.outcome) && (isDamaged || $0 != locked) }
    }
    /// Everything a person should know: conflicts, defaults, what was dropped.
    var lines: [ReceiptLine] = []

    /// SHA-256 of an entry of the backup that is whole, lower-case hex, by its name.
    typealias Digests = (String) throws -> String?

    /// - Parameter digests: what it does not know is nothing to complete a photo with.
    static func make(
        _ contents: BackupContents, _ opened: OpenedFields = .none, digests: Digests = { _ in nil },
        damaged: [String] = [], mode: RestoreMode, prefersBackup: Bool = false,
        in transaction: any CatalogueTransaction
    ) throws -> RestorePlan {
        var plan = RestorePlan()
        plan.damaged = Set(damaged)
        plan.lines = contents.defaulted
        // A new machine becomes the old one.
        plan.mode = try !contents.isPartial && isUnused(transaction) ? .replace : mode
        switch plan.mode {
        case .merge:
            try plan.merge(contents, digests, prefersBackup, in: transaction)
            try plan.leaveDamagedOriginals(contents, digests)
        case .replace:
            try plan.replace(contents, in: transaction)
            plan = try plan.distrusting(contents, plan.lackingFiles(contents, digests))
            plan.takesPreferences = contents.preferences != nil
        }
        try plan.takeOver(opened, contents, prefersBackup, in: transaction)
        try plan.takeGroups(contents.groups, in: transaction)
        try plan.takeLock(opened, contents, in: transaction)
        return plan
    }

    /// The backup may hold an original as it was when it was saved, damaged: the photo here stays as it is.
    private mutating func leaveDamagedOriginals(_ contents: BackupContents, _ digests: Digests) throws {
        guard !completions.isEmpty else { return }
        var damaged: [Photo] = []
        completions = try completions.spooled(in: contents.scratch) { completion in
            guard let original = completion.original, try digests(original.entry) != original.digest else {
                return completion
            }
            damaged.append(completion.there)
            return completion.with(original: false, sidecars: completion.sidecars)
        }
        for photo in damaged.sorted(by: { $0.id < $1.id }) {
            lines.append(
                ReceiptLine(
                    item: photo.path, outcome: Self.damagedOutcome,
                    detail: "photo \(photo.id) stays without its original, which is damaged in the backup"))
        }
    }

    /// A line for each file of the backup that was damaged when it was saved and is restored, or would have been. Where the
    /// picture is among the library's own by now, an earlier restore has brought it.
    func damagedLines(_ contents: BackupContents) throws -> [ReceiptLine] {
        guard !damaged.isEmpty else { return [] }
        let saved = "it was damaged when it was saved; "
        var lines: [ReceiptLine] = []
        try contents.photos.forEach { sourced in
            let photo = sourced.photo
            let there = try kept[photo.uuid]
            if damaged.contains(photo.path) {
                let isOwn = there.map { $0.contentDigest != photo.contentDigest } ?? false
                lines.append(
                    ReceiptLine(
                        item: photo.path, outcome: Self.damagedOutcome,
                        detail: saved + (isOwn ? "the library's own picture stays" : "look at it")))
            }
            if there == nil {
                lines += sourced.filesBeside.map(\.path).filter(damaged.contains).map {
                    ReceiptLine(item: $0, outcome: Self.damagedOutcome, detail: saved + "look at it")
                }
            }
        }
        return lines
    }

    /// What is sealed goes to the photo that stands for the backup's. In a merge the library's own values stay, also those of
    /// a photo in its trash; a replacement takes the backup's, and leaves those of which the backup says nothing.
    private mutating func takeOver(
        _ opened: OpenedFields, _ contents: BackupContents, _ prefersBackup: Bool,
        in transaction: any CatalogueTransaction
    ) throws {
        let unopened = try opened.lines(
            contents, "sealed fields do not open, and are not taken over: they are damaged, or under another key"
        ) { uuid in
            // What cannot be opened cannot be compared: only what the library does not have is missing.
            guard let photo = try kept[uuid] else { return [] }
            return try Set(transaction.sealedFields.values(of: photo.uuid).map(\.name.field))
                .union(photo.sidecars.indices.map(SealedSidecar.field))
        }
        if opened.isLocked { locked = unopened.first }
        lines += unopened
        guard !opened.isEmpty else { return }
        var sealed = SpooledList<SealedPhoto>.Spooler(in: contents.scratch)
        try contents.photos.forEachPortion(of: 512) { some in
            let found = try some.compactMap { sourced in
                let values = try opened.values(of: sourced.photo.uuid)
                return values.isEmpty
                    ? nil : (photo: sourced.photo, values: values, there: try kept[sourced.photo.uuid])
            }
            let owned = try transaction.sealedFields.values(of: found.map { $0.there?.uuid ?? $0.photo.uuid })
            for (photo, var values, there) in found {
                let uuid = there?.uuid ?? photo.uuid
                if mode == .merge || (contents.isForeign && there != nil) {
                    compare(&values, with: owned[uuid] ?? [], opened, at: there?.path ?? photo.path, prefersBackup)
                }
                if !values.isEmpty {
                    try sealed.append(SealedPhoto(uuid: uuid, source: photo.uuid, fields: Array(values.keys)))
                }
            }
        }
        self.sealed = try SealedPhoto.eachOnce(sealed.finish(), in: contents.scratch)
    }

    /// - Parameter values: of the backup; those stay that the library gets.
    private mutating func compare(
        _ values: inout [SealedField: [UInt8]], with owned: [SealedRow], _ opened: OpenedFields, at path: String,
        _ prefersBackup: Bool
    ) {
        var (differs, isClosed) = (false, false)
        for row in owned {
            guard let field = SealedField(rawValue: row.name.field), let other = values.removeValue(forKey: field)
            else { continue }
            let own = try? opened.keyring?.open(row.sealed, at: SealedFields.place(row.name))
            guard own != other else { continue }
            guard own != nil else {
                // What does not open is overwritten by nobody.
                isClosed = true
                continue
            }
            differs = true
            if prefersBackup { values[field] = other }
        }
        if differs { tell(path, [Difference(Self.sealedFields)], prefersBackup) }
        if isClosed { keep(path, [Self.sealedFields]) }
    }

    private mutating func merge(
        _ contents: BackupContents, _ digests: Digests, _ prefersBackup: Bool,
        in transaction: any CatalogueTransaction
    ) throws {
        let isForeign = contents.isForeign
        try mergeCategories(contents, prefersBackup, in: transaction)
        var lacking = SpooledList<LackingPhoto>.Spooler(in: contents.scratch)
        var updated = SpooledList<PhotoUpdate>.Spooler(in: contents.scratch)
        var newPhotos = SpooledList<Photo>.Spooler(in: contents.scratch)
        var kept = SpooledList<KeptPhotos.Kept>.Spooler(in: contents.scratch)
        try contents.photos.forEachMatch(in: transaction) { sourced, there in
            let photo = sourced.photo
            if let there {
                try kept.append(.init(uuid: photo.uuid, photo: there))
                let completion = isForeign ? nil : try Self.completion(of: there, from: sourced, digests)
                if let completion { try lacking.append(.init(completion: completion, source: sourced.sourceDigest)) }
                let update = compare(photo, with: there, isForeign: isForeign, prefersBackup: prefersBackup)
                if let update { try updated.append(update) }
            } else if photo.isFilm || photo.isRaw,
                let holder = try transaction.photos.find(companionDigest: sourced.sourceDigest)
            {
                // It has found its picture since, whose row says what is known of both.
                try kept.append(.init(uuid: photo.uuid, photo: holder))
                leave(photo, of: holder, isForeign: isForeign)
            } else {
                try newPhotos.append(photo)
            }
        }
        self.newPhotos = try newPhotos.finish()
        self.kept = try KeptPhotos(kept.finish())
        updatedPhotos = try updated.finish()
        // Two photos of the backup may be one here. No two are of one source, so one of them gives it what it lacks.
        var completions = SpooledList<Completion>.Spooler(in: contents.scratch)
        try lacking.finish().forEachPortion(of: 512) { some in
            let ofSource = try transaction.photos.find(sourceDigests: some.map(\.source))
            for (photo, found) in zip(some, ofSource) where found?.id == photo.completion.there.id {
                var completion = photo.completion
                // A film or a raw file that stands by itself here would be here twice.
                try completion.sidecars.removeAll { sidecar in
                    try sidecar.isCompanion && transaction.photos.find(sourceDigest: sidecar.contentDigest) != nil
                }
                if !completion.isEmpty { try completions.append(completion) }
            }
        }
        self.completions = try completions.finish()
        let known = try transaction.swipes.known(contents.swipeSessions.map(\.sessionID))
        newSessions = contents.swipeSessions.filter { !known.contains($0.sessionID) }
        if !known.isEmpty { try compareSessions(contents, with: try transaction.swipes.history()) }
        comparePreferences(contents, with: try transaction.settings.settings(), prefersBackup: prefersBackup)
    }

    /// A photo that gets something, if it was made of what the backup has the original of.
    private struct LackingPhoto: Codable {
        let completion: Completion
        let source: String
    }

    /// A photo that was reduced, or came without its original, gets that where the backup has it, and it is the same source's; and
    /// sidecars where it has none.
    /// - Returns: what it gets if it is of that source; nil where that is nothing.
    private static func completion(
        of there: Photo, from sourced: SourcedPhoto, _ digests: Digests
    ) throws -> Completion? {
        var completion = Completion(uuid: sourced.photo.uuid, there: there)
        if there.originalPath == nil, let entry = sourced.photo.originalPath {
            completion.original = .init(entry: entry, digest: sourced.sourceDigest, size: sourced.sourceSize)
        }
        let hasText = there.sidecars.contains { !$0.isCompanion }
        let hasHalf = there.kind != nil || there.companion != nil
        completion.sidecars = try sourced.photo.sidecars.filter {
            try !($0.isCompanion ? hasHalf : hasText) && digests($0.path) != nil
        }
        return completion.isEmpty ? nil : completion
    }
}
