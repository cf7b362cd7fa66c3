import Foundation
import LibraryModel
import LibraryStorage
import ServiceMesh

/// Puts back what a restore has overwritten, as far as nobody has changed it since. What the restore has added stays.
struct RestoreUndoing {
    static let restored = "restored"

    private(set) var lines: [ReceiptLine] = []
    private let transaction: any CatalogueTransaction
    /// Photos that were overwritten, by uuid, as they are now. They are many, so they are read at once, and written at once at the end.
    private var photos: [String: Photo]
    private var restoredPhotos: Set<String> = []
    /// What is sealed for them, likewise.
    private let sealed: [String: [SealedRow]]
    private var restoredFields: [String: [SealedField: [UInt8]]] = [:]
    private let categories: Set<Int64>

    private init(_ changes: [Overwritten], in transaction: any CatalogueTransaction) throws {
        self.transaction = transaction
        var (uuids, sealed): (Set<String>, Set<String>) = ([], [])
        for change in changes {
            switch change {
            case .photo(_, let after): uuids.insert(after.uuid)
            case .sealed(let uuid, _, _, _): sealed.insert(uuid)
            case .category, .order, .preferences: break
            }
        }
        let wanted = Array(uuids.union(sealed))
        photos = Dictionary(
            zip(wanted, try transaction.photos.find(wanted.map { .uuid($0) })).compactMap { uuid, photo in
                photo.map { (uuid, $0) }
            }, uniquingKeysWith: { first, _ in first })
        self.sealed = try transaction.sealedFields.values(of: Array(sealed))
        categories = Set(try transaction.categories.all().map(\.id))
    }

    /// - Returns: a line for each photo, category and so on that was overwritten.
    /// - Throws: `not_found` where the job has overwritten nothing.
    static func run(_ job: JobID, in transaction: any CatalogueTransaction) throws -> [ReceiptLine] {
        let changes = try transaction.overwritten.changes(by: job)
        guard !changes.isEmpty else { throw nothing(job) }
        var undoing = try RestoreUndoing(changes, in: transaction)
        // The last change first, as always.
        for change in changes.reversed() { try undoing.undo(change) }
        try undoing.write()
        try transaction.overwritten.removeChanges(by: job)
        return undoing.lines
    }

    static func nothing(_ job: JobID) -> MeshError {
        MeshError(
            .notFound,
            "There is nothing to put back of '\(job.prefix(80))': it overwrote nothing, was undone already, or is older than "
                + "\(JobLimits.keptDays) days. Restores are listed by: smilepile jobs --all")
    }

    private mutating func undo(_ change: Overwritten) throws {
        switch change {
        case .photo(let before, let after): undo(before, after)
        case .category(let before, let after): try undo(before, after)
        case .order(let before, let after): try undoOrder(before, after)
        case .preferences(let before, let after): try undo(before, after)
        case .sealed(let photo, let field, let before, let after): undoSealed(photo, field, before, after)
        }
    }

    private func write() throws {
        try transaction.photos.update(restoredPhotos.compactMap { photos[$0] })
        try transaction.sealedFields.set(restoredFields)
    }

    /// A line that says what has its own value again, and one that says what has not.
    private mutating func tell(_ item: String, restored: [String], changed: [String]) {
        func line(_ outcome: String, _ fields: [String], _ words: String) {
            guard !fields.isEmpty else { return }
            lines.append(
                ReceiptLine(item: item, outcome: outcome, detail: "\(fields.joined(separator: ", ")): \(words)"))
        }
        line(Self.restored, restored, "as before the restore")
        line(RestorePlan.conflict, changed, "changed since, and stays")
    }

    private mutating func gone(_ item: String, _ what: String) {
        lines.append(ReceiptLine(item: item, outcome: RestorePlan.conflict, detail: "\(what) is not there any more"))
    }

    private mutating func undo(_ before: Photo, _ after: Photo) {
        guard var photo = photos[after.uuid] else { return gone(after.path, "the photo") }
        var (restored, changed): ([String], [String]) = ([], [])
        for field in EditableField.all where !field.isEqual(before, after) {
            if field.isEqual(photo, after) {
                field.copy(before, &photo)
                restored.append(field.name)
            } else {
                changed.append(field.name)
            }
        }
        if before.categoryId != after.categoryId {
            if photo.categoryId == after.categoryId, categories.contains(before.categoryId) {
                photo.categoryId = before.categoryId
                restored.append("category")
            } else {
                changed.append("category")
            }
        }
        if !restored.isEmpty {
            photos[after.uuid] = photo
            restoredPhotos.insert(after.uuid)
        }
        tell(photo.path, restored: restored, changed: changed)
    }

    /// One by one, since each may take a name that another one has just given up; there are ``CategoryLimits/count`` at most.
    private mutating func undo(_ before: Category, _ after: Category) throws {
        guard let now = try transaction.categories.find(.id(before.id)) else {
            return gone(after.displayName, "the category")
        }
        var (restored, changed): ([String], [String]) = ([], [])
        func own<Value: Equatable>(_ name: String, _ field: KeyPath<Category, Value>) -> Value {
            guard before[keyPath: field] != after[keyPath: field] else { return now[keyPath: field] }
            guard now[keyPath: field] == after[keyPath: field] else {
                changed.append(name)
                return now[keyPath: field]
            }
            restored.append(name)
            return before[keyPath: field]
        }
        var name = own("name", \.displayName)
        // Another one may have its name by now.
        if let other = try transaction.categories.find(.displayName(name)), other.id != now.id {
            name = now.displayName
            restored.removeAll { $0 == "name" }
            changed.append("name")
        }
        let details = CategoryDetails(
            displayName: name, colorHex: own("colour", \.colorHex), iconResource: own("icon", \.iconResource))
        if !restored.isEmpty { _ = try transaction.categories.update(id: now.id, to: details) }
        tell(details.displayName, restored: restored, changed: changed)
    }

    private mutating func undoOrder(_ before: [Int64], _ after: [Int64]) throws {
        let now = try transaction.categories.all().map(\.id)
        let there = Set(now)
        // Categories that came or went since are no other order.
        let known = Set(after)
        guard now.filter(known.contains) == after.filter(there.contains) else {
            return tell("categories", restored: [], changed: ["order"])
        }
        let ordered = before.filter(there.contains)
        let others = Set(ordered)
        try transaction.categories.reorder(ordered + now.filter { !others.contains($0) })
        tell("categories", restored: ["order"], changed: [])
    }

    private mutating func undo(_ before: Settings, _ after: Settings) throws {
        var now = try transaction.settings.settings()
        var (restored, changed): ([String], [String]) = ([], [])
        for preference in Preference.all where !preference.isEqual(before, after) {
            if preference.isEqual(now, after) {
                preference.copy(before, &now)
                restored.append(preference.key.rawValue)
            } else {
                changed.append(preference.key.rawValue)
            }
        }
        if !restored.isEmpty { try transaction.settings.takePreferences(now) }
        tell("settings", restored: restored, changed: changed)
    }

    private mutating func undoSealed(_ uuid: String, _ name: String, _ before: Data, _ after: Data) {
        let photo = photos[uuid]
        let item = photo?.path ?? uuid
        guard photo != nil, let field = SealedField(rawValue: name),
            let now = restoredFields[uuid]?[field] ?? sealed[uuid]?.first(where: { $0.name.field == name })?.sealed
        else { return gone(item, "a sealed field") }
        // One that was sealed with another key since is one that somebody has changed: its old value opens no more.
        guard now == Array(after) else { return tell(item, restored: [], changed: [RestorePlan.sealedFields]) }
        restoredFields[uuid, default: [:]][field] = Array(before)
        tell(item, restored: [RestorePlan.sealedFields], changed: [])
    }
}

/// A setting of a person, by which backups and libraries are compared.
struct Preference {
    let key: SettingKey
    let text: (Settings) -> String
    let isEqual: (Settings, Settings) -> Bool
    let copy: (_ from: Settings, _ to: inout Settings) -> Void

    private init<Value: Equatable>(_ key: SettingKey, _ path: WritableKeyPath<Settings, Value>) {
        self.key = key
        text = { "\($0[keyPath: path])" }
        isEqual = { $0[keyPath: path] == $1[keyPath: path] }
        copy = { $1[keyPath: path] = $0[keyPath: path] }
    }

    static var all: [Preference] {
        [
            Preference(.swipeThreshold, \.swipeThreshold), Preference(.enableHapticFeedback, \.enableHapticFeedback),
            Preference(.autoProcessActions, \.autoProcessActions),
            Preference(.storageCleanupEnabled, \.storageCleanupEnabled), Preference(.keepOriginals, \.keepOriginals),
            Preference(.groupPhotoMegabytes, \.groupPhotoMegabytes),
            Preference(.biometricAuthEnabled, \.biometricAuthEnabled),
        ]
    }
}

extension SettingRepository {
    /// Settings that a restore or its undoing puts in place.
    func takePreferences(_ preferences: Settings) throws {
        let isOther = try !settings().reviews(as: preferences)
        try store(preferences)
        // To this person's other machines, that was a change as by hand.
        if isOther { try setReviewPreferencesChanged(at: .now()) }
    }
}
