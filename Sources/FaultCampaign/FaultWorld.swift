import BenchSupport
import LibraryModel

/// What a family would see in its library: what a change does is said once more here, in the plainest way, and the
/// library must come to the same.
struct FaultWorld: Equatable, Sendable {
    struct PhotoFacts: Equatable, Sendable {
        var category: String
        var caption: String?
        var isFavorite = false
        var notes: String?
    }

    struct CategoryFacts: Equatable, Sendable {
        var name: String
        var color: String
    }

    struct SessionFacts: Equatable, Sendable {
        var decisions = 0
        var isFinished = false
    }

    /// By name: the campaign gives no name twice.
    var photos: [String: PhotoFacts] = [:]
    /// How many of each name are in the trash: a photo may be there and, from a backup, in the library as well.
    var trash: [String: Int] = [:]
    var categories: [CategoryFacts] = []
    var sessions: [String: SessionFacts] = [:]
    var threshold = 0.0

    /// Stands for a session whose id was never learnt, because the reply did not come.
    static let unknownSession = "?"

    init() {}

    init(_ contents: LibraryContents) {
        let names = Dictionary(uniqueKeysWithValues: contents.categories.map { ($0.id, $0.displayName) })
        for photo in contents.photos {
            // A second one of a name would be a photo that came twice; it must not hide behind the first.
            let name = photos[photo.name] == nil ? photo.name : "\(photo.name) again (\(photo.id))"
            photos[name] = PhotoFacts(
                category: names[photo.categoryId] ?? "none", caption: photo.caption, isFavorite: photo.isFavorite,
                notes: contents.notes[photo.uuid])
        }
        for item in contents.trash { trash[item.photo.name, default: 0] += 1 }
        categories = contents.categories.map { CategoryFacts(name: $0.displayName, color: $0.colorHex) }
        for session in contents.sessions {
            sessions[session.sessionID] = SessionFacts(
                decisions: session.photosProcessed, isFinished: session.endTime != nil)
        }
        threshold = contents.settings.swipeThreshold
    }

    // MARK: Changes

    mutating func moveToTrash(_ name: String) {
        if photos.removeValue(forKey: name) != nil { trash[name, default: 0] += 1 }
    }

    mutating func takeFromTrash(_ name: String) {
        guard let count = trash[name] else { return }
        trash[name] = count > 1 ? count - 1 : nil
    }

    mutating func rename(category name: String, to other: String) {
        guard let index = categories.firstIndex(where: { $0.name == name }) else { return }
        categories[index].name = other
        for key in photos.keys where photos[key]?.category == name { photos[key]?.category = other }
    }

    /// What the backup has and the library has not comes; what is there stays.
    mutating func merge(_ backup: FaultWorld) {
        for category in backup.categories where !categories.contains(where: { $0.name == category.name }) {
            categories.append(category)
        }
        photos.merge(backup.photos) { own, _ in own }
        sessions.merge(backup.sessions) { own, _ in own }
    }

    /// The library becomes the backup; photos that the backup does not have go to the trash.
    mutating func replace(with backup: FaultWorld) {
        for name in photos.keys where backup.photos[name] == nil { trash[name, default: 0] += 1 }
        photos = backup.photos
        categories = backup.categories
        sessions = backup.sessions
        threshold = backup.threshold
    }

    // MARK: Comparing

    /// With sessions whose ids were never learnt under the ids that they have there.
    func naming(unknownSessionsAs other: FaultWorld) -> FaultWorld {
        guard let facts = sessions[Self.unknownSession],
            let id = other.sessions.first(where: { sessions[$0.key] == nil && $0.value == facts })?.key
        else { return self }
        var named = self
        named.sessions[Self.unknownSession] = nil
        named.sessions[id] = facts
        return named
    }

    /// In words; empty where they are the same.
    func differences(from expected: FaultWorld) -> [String] {
        var words: [String] = []
        func compare<Value: Equatable>(_ what: String, _ found: [String: Value], _ wanted: [String: Value]) {
            for name in Set(found.keys).union(wanted.keys).sorted() where found[name] != wanted[name] {
                func text(_ value: Value?) -> String { value.map { "\($0)" } ?? "nothing" }
                words.append("\(what) \(name): \(text(found[name])), expected \(text(wanted[name]))")
            }
        }
        compare("photo", photos, expected.photos)
        compare("trash", trash, expected.trash)
        compare("session", sessions, expected.sessions)
        if categories != expected.categories {
            words.append("categories: \(categories), expected \(expected.categories)")
        }
        if threshold != expected.threshold { words.append("threshold: \(threshold), expected \(expected.threshold)") }
        return words
    }
}
