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
    private(set) var newPhotos: SpooledList<Photo> = []
    /// Photos that stay as they are (merge), or whose file stays in use (replace), by the backup's uuid.
    var kept = KeptPhotos()
    /// Kept photos that were made from the same source as the backup's (replace), by its uuid: what they have of that source
    /// stays.
    var ofSameSource: [String: Photo] = [:]
    /// Kept photos whose picture is the library's own, because that of the backup was damaged when it was saved (replace), by the
    /// backup's uuid.
    var insteadOfDamaged: [String: Photo] = [:]
    /// Names of the backup's entries whose bytes were not those recorded when they were saved.
    private(set) var damaged: Set<String> = []
    /// Photos of the library that the backup does not have (replace): they go to the trash.
    var removed: [Photo] = []
    var newSessions: [SwipeRecord] = []
    var newGroups: [StoredGroup] = []
    /// What is sealed, opened, by the uuid that its photo has in the library.
    var sealed: [String: [SealedField: [UInt8]]] = [:]
    var sealedCount: Int { sealed.values.reduce(0) { $0 + $1.count } }
    /// Details that categories of the library get from the backup, by their ids.
    var updatedCategories: [Int64: CategoryDetails] = [:]
    /// Whether the library's categories get the backup's order, those that it does not have behind it.
    var takesOrder = false
    var updatedPhotos: [PhotoUpdate] = []
    var takesPreferences = false
    /// That of the backup, where the library gets it.
    var lock: LibraryLock?
    /// Differences in which the library's word counts, and the backup's would if that was asked for.
    var takeable = 0
    /// What photos that are kept lack and the backup has (merge), by its uuid.
    var completions: [String: Completion] = [:]

    /// What a photo of the library gets.
    struct Completion: Sendable {
        struct Original: Sendable {
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
        for completion in completions.values { completion.sidecars.forEach(body) }
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
            try plan.leaveDamagedOriginals(digests)
        case .replace:
            try plan.replace(contents, in: transaction)
            let lacking = try plan.lackingFiles(contents, digests)
            plan = try plan.distrusting(contents) { !lacking.contains($0) }
            plan.takesPreferences = contents.preferences != nil
        }
        try plan.takeOver(opened, contents, prefersBackup, in: transaction)
        try plan.takeGroups(contents.groups, in: transaction)
        try plan.takeLock(opened, contents, in: transaction)
        return plan
    }

    /// The backup may hold an original as it was when it was saved, damaged: the photo here stays as it is.
    private mutating func leaveDamagedOriginals(_ digests: Digests) throws {
        let damaged = try completions.filter {
            try $0.value.original.map { try digests($0.entry) != $0.digest } ?? false
        }
        for (uuid, completion) in damaged.sorted(by: { $0.value.there.id < $1.value.there.id }) {
            completions[uuid]?.original = nil
            if completion.sidecars.isEmpty { completions[uuid] = nil }
            lines.append(
                ReceiptLine(
                    item: completion.there.path, outcome: Self.damagedOutcome,
                    detail: "photo \(completion.there.id) stays without its original, which is damaged in the backup"))
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

    /// Photos that would stay, by the backup's uuid, without an original or a sidecar that the backup has whole.
    private func lackingFiles(_ contents: BackupContents, _ digests: Digests) throws -> Set<String> {
        guard !ofSameSource.isEmpty else { return [] }
        return Set(
            try contents.photos.compactMap { sourced in
                guard let there = ofSameSource[sourced.photo.uuid] else { return nil }
                let isLacking = try sourced.filesBeside.contains { path, digest in
                    try there.fileBeside(of: digest, sourced) == nil && digests(path) == digest
                }
                return isLacking ? sourced.photo.uuid : nil
            })
    }

    /// What is sealed goes to the photo that stands for the backup's. In a merge the library's own values stay, also those of
    /// a photo in its trash; a replacement takes the backup's, and leaves those of which the backup says nothing.
    private mutating func takeOver(
        _ opened: OpenedFields, _ contents: BackupContents, _ prefersBackup: Bool,
        in transaction: any CatalogueTransaction
    ) throws {
        var there: [String: Set<String>] = [:]
        let own = try transaction.sealedFields.values(of: opened.unopened.keys.compactMap { try kept[$0]?.uuid })
        for uuid in opened.unopened.keys {
            // What cannot be opened cannot be compared: only what the library does not have is missing.
            guard let photo = try kept[uuid] else { continue }
            there[uuid] = Set((own[photo.uuid] ?? []).map(\.name.field))
                .union(photo.sidecars.indices.map(SealedSidecar.field))
        }
        let unopened = try opened.lines(
            contents, "sealed fields do not open, and are not taken over: they are damaged, or under another key",
            there: there)
        if opened.isLocked { locked = unopened.first }
        lines += unopened
        guard !opened.values.isEmpty else { return }
        let owned = try transaction.sealedFields.values(of: opened.values.keys.map { try kept[$0]?.uuid ?? $0 })
        try contents.photos.forEach { sourced in
            let photo = sourced.photo
            guard var values = opened.values[photo.uuid] else { return }
            let there = try kept[photo.uuid]
            guard mode == .merge || (contents.isForeign && there != nil) else {
                sealed[photo.uuid] = values
                return
            }
            let uuid = there?.uuid ?? photo.uuid
            var (differs, isClosed) = (false, false)
            for row in owned[uuid] ?? [] {
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
            if differs { tell(there?.path ?? photo.path, [Difference(Self.sealedFields)], prefersBackup) }
            if isClosed { keep(there?.path ?? photo.path, [Self.sealedFields]) }
            // Two photos of the backup may be one here: the first one counts.
            if !values.isEmpty { sealed[uuid, default: [:]].merge(values) { first, _ in first } }
        }
    }

    private mutating func merge(
        _ contents: BackupContents, _ digests: Digests, _ prefersBackup: Bool,
        in transaction: any CatalogueTransaction
    ) throws {
        let isForeign = contents.isForeign
        try mergeCategories(contents, prefersBackup, in: transaction)
        var completions: [(completion: Completion, source: String)] = []
        var newPhotos = SpooledList<Photo>.Spooler(in: contents.scratch)
        var kept = SpooledList<KeptPhotos.Kept>.Spooler(in: contents.scratch)
        try contents.photos.forEachMatch(in: transaction) { sourced, there in
            let photo = sourced.photo
            if let there {
                try kept.append(.init(uuid: photo.uuid, photo: there))
                let completion = isForeign ? nil : try Self.completion(of: there, from: sourced, digests)
                if let completion { completions.append((completion, sourced.sourceDigest)) }
                compare(photo, with: there, isForeign: isForeign, prefersBackup: prefersBackup)
            } else {
                try newPhotos.append(photo)
            }
        }
        self.newPhotos = try newPhotos.finish()
        self.kept = try KeptPhotos(kept.finish())
        var completed: Set<Int64> = []
        let ofSource = try transaction.photos.find(sourceDigests: completions.map(\.source))
        for ((completion, _), found) in zip(completions, ofSource)
        where found?.id == completion.there.id && completed.insert(completion.there.id).inserted {
            self.completions[completion.uuid] = completion
        }
        let known = try transaction.swipes.known(contents.swipeSessions.map(\.sessionID))
        newSessions = contents.swipeSessions.filter { !known.contains($0.sessionID) }
        if !known.isEmpty { try compareSessions(contents, with: try transaction.swipes.history()) }
        comparePreferences(contents, with: try transaction.settings.settings(), prefersBackup: prefersBackup)
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
        if there.sidecars.isEmpty {
            completion.sidecars = try sourced.photo.sidecars.filter { try digests($0.path) != nil }
        }
        return completion.isEmpty ? nil : completion
    }

    private mutating func replace(_ contents: BackupContents, in transaction: any CatalogueTransaction) throws {
        newCategories = named(contents.categories) { _ in false }
        newSessions = contents.swipeSessions
        var present: [SourcedPhoto] = []
        try transaction.photos.forEach(since: nil) { present.append($0) }
        // Those of the same uuid first: two photos may share their content, and each is to keep its own file.
        // What another program saved is the source of a photo, and not its content.
        func key(_ photo: SourcedPhoto) -> String {
            contents.isForeign ? photo.sourceDigest : photo.photo.contentDigest
        }
        var unused = Dictionary(grouping: present, by: key)
        func take(_ wanted: SourcedPhoto, where isMeant: (SourcedPhoto) -> Bool) -> Bool {
            let photo = wanted.photo
            guard let index = unused[key(wanted)]?.firstIndex(where: isMeant),
                let there = unused[key(wanted)]?.remove(at: index)
            else { return false }
            kept.put(there.photo, photo.uuid)
            if there.sourceDigest == wanted.sourceDigest { ofSameSource[photo.uuid] = there.photo }
            return true
        }
        let others = try contents.photos.spooled(in: contents.scratch) { wanted in
            take(wanted) { $0.photo.uuid == wanted.photo.uuid } ? nil : wanted
        }
        let left = unused.values.joined().map(\.photo.uuid)
        let sealed = Set(try transaction.sealedFields.values(of: left).keys)
        // Sealed fields are sealed for a uuid: a photo of another one that has any goes to the trash with them.
        func mayBecome(_ wanted: SourcedPhoto, _ there: SourcedPhoto) -> Bool {
            // Another program's photo takes the uuid that is here.
            contents.isForeign || there.photo.uuid == wanted.photo.uuid || !sealed.contains(there.photo.uuid)
        }
        let lacking = try others.spooled(in: contents.scratch) { wanted in
            take(wanted) { mayBecome(wanted, $0) } ? nil : wanted
        }
        // What was damaged when it was saved is another picture by its bytes. One of the same source is better, if it is whole.
        newPhotos = try lacking.spooled(in: contents.scratch) { wanted in
            guard damaged.contains(wanted.photo.path),
                let there = unused.values.joined().first(where: { $0.sourceDigest == wanted.sourceDigest }),
                mayBecome(wanted, there)
            else { return wanted.photo }
            unused[key(there)]?.removeAll { $0.photo.id == there.photo.id }
            kept.put(there.photo, wanted.photo.uuid)
            ofSameSource[wanted.photo.uuid] = there.photo
            insteadOfDamaged[wanted.photo.uuid] = there.photo
            return nil
        }
        removed = unused.values.flatMap { $0 }.map(\.photo).sorted { $0.id < $1.id }
    }
}

extension RestorePlan {
    /// The plan with kept files that are not trusted taken from the backup instead; the library's own copies of
    /// them go to the trash. Blocks.
    func distrusting(_ contents: BackupContents, _ isSound: (String) throws -> Bool) throws -> RestorePlan {
        guard try kept.contains({ try !isSound($0) }) else { return self }
        var plan = self
        var photos = SpooledList<Photo>.Spooler(in: contents.scratch)
        try newPhotos.forEach { try photos.append($0) }
        try contents.photos.forEach { sourced in
            let photo = sourced.photo
            guard let there = try plan.kept[photo.uuid], try !isSound(photo.uuid) else { return }
            try plan.kept.remove(photo.uuid)
            // It goes to the trash with the library's own copy.
            plan.ofSameSource[photo.uuid] = nil
            plan.insteadOfDamaged[photo.uuid] = nil
            try photos.append(photo)
            plan.removed.append(there)
        }
        plan.newPhotos = try photos.finish()
        return plan
    }
}
