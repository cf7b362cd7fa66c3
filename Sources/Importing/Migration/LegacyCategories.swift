import AndroidDatabase
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh

/// Where each old category goes: decided from the old library and this one's categories, by the same code for the
/// preview and in the transaction that adds them.
struct LegacyCategories: Sendable {
    enum Place: Sendable, Equatable {
        /// One that is here.
        case here(Int64)
        /// One that is to be added: its place in ``added``.
        case added(Int)
        /// The limit on categories keeps it out.
        case left
    }

    struct New: Sendable {
        /// Its id in the old database, where that is a number that could be one of ours.
        let number: Int64?
        let details: CategoryDetails
        let isDefault: Bool
        let createdAt: Timestamp
    }

    /// To be added, in their old order, after the categories that are here.
    private(set) var added: [New] = []
    /// What to tell, category by category.
    private(set) var lines: [ReceiptLine] = []
    private var byKey: [String: Place] = [:]
    private var byNumber: [String: Place] = [:]
    /// Ids of ``added``, once they have any.
    private var ids: [Int64] = []
    /// Where photos go whose category the old database does not have.
    private let fallback: (id: Int64, name: String)?

    /// - Parameter here: the library's categories, in order.
    init(_ old: LegacyLibrary, here: [Category]) {
        fallback = here.first.map { ($0.id, $0.displayName) }
        let existing = Dictionary(here.map { (CategoryName.key($0.displayName), $0) }) { first, _ in first }
        let names = LegacyNames.names(for: old.categories) { existing[CategoryName.key($0)] != nil }
        let fitting = Self.fitting(old, names, existing: existing, room: CategoryLimits.count - here.count)
        var placed: [String: (place: Place, name: String)] = [:]
        for (category, name) in zip(old.categories, names) {
            let key = CategoryName.key(name.text)
            let item = Self.item(category)
            let place: Place
            if let there = existing[key] {
                place = .here(there.id)
                note(item, .merged, "it is '\(there.displayName)', which is here")
            } else if let other = placed[key] {
                place = other.place
                note(item, place == .left ? .left : .merged, "it is the same as '\(other.name)'")
            } else if fitting.contains(key) {
                place = .added(added.count)
                note(item, .added, item == name.text ? nil : "as '\(name.text)'")
                if let change = name.change { note(item, .renamed, "its name \(change) and is '\(name.text)' here") }
                added.append(new(category, name.text, item))
            } else {
                place = .left
                note(item, .left, "a library has \(CategoryLimits.count) categories at most; its photos are left too")
            }
            if placed[key] == nil { placed[key] = (place, name.text) }
            guard let oldKey = category.key else { continue }
            if byKey[oldKey] == nil { byKey[oldKey] = place }
            if let number = Self.number(oldKey), byNumber[number] == nil { byNumber[number] = place }
        }
    }

    /// The keys of new names for which there is room; those that have photos go first.
    private static func fitting(
        _ old: LegacyLibrary, _ names: [LegacyNames.Name], existing: [String: Category], room: Int
    ) -> Set<String> {
        var order: [String] = []
        var isNew: Set<String> = []
        var used: Set<String> = []
        let keys = Set(old.photos.compactMap(\.categoryKey))
        for (category, name) in zip(old.categories, names) {
            let key = CategoryName.key(name.text)
            guard existing[key] == nil else { continue }
            if isNew.insert(key).inserted { order.append(key) }
            if let id = category.key, keys.contains(id) { used.insert(key) }
        }
        guard order.count > room else { return isNew }
        return Set((order.filter(used.contains) + order.filter { !used.contains($0) }).prefix(max(0, room)))
    }

    private mutating func new(_ category: LegacyLibrary.Category, _ name: String, _ item: String) -> New {
        let color = category.color.flatMap(CategoryColor.normalized)
        if color == nil {
            note(item, .defaulted, "its colour is not valid and becomes \(CategoryColor.fallback)")
        }
        let (createdAt, change) = LegacyDate.credible(category.createdAt)
        if let change { note(item, .defaulted, change) }
        var icon: String?
        if let bytes = category.icon, !bytes.isEmpty {
            let text = String(validating: bytes, as: UTF8.self)
            icon = text.flatMap { text in
                text.utf8.count <= CategoryLimits.iconBytes
                    && !text.unicodeScalars.contains { $0.properties.generalCategory == .control } ? text : nil
            }
            if icon == nil { note(item, .defaulted, "its icon's name is not valid and is left out") }
        }
        let number = category.key.flatMap(Self.number).flatMap(Int64.init).flatMap { Self.ids.contains($0) ? $0 : nil }
        return New(
            number: number,
            details: CategoryDetails(
                displayName: name, colorHex: color ?? CategoryColor.fallback, iconResource: icon),
            isDefault: (category.isDefault ?? 0) != 0, createdAt: createdAt)
    }

    private mutating func note(_ item: String, _ outcome: MigrationOutcome, _ detail: String?) {
        lines.append(ReceiptLine(item: item, outcome: outcome.rawValue, detail: detail))
    }

    /// How a receipt names an old category, whatever its name is.
    private static func item(_ category: LegacyLibrary.Category) -> String {
        let name = String(decoding: category.name ?? [], as: UTF8.self).trimmingWhitespace
        let short = String(String.UnicodeScalarView(name.unicodeScalars.prefix(100)))
        guard short.isEmpty else { return short.unicodeScalars.count < name.unicodeScalars.count ? short + "…" : short }
        return "category " + String((category.key ?? "without id").prefix(50))
    }

    /// How a receipt names the categories behind a photo's further places: the first few. Nil where there are none.
    static func titles(_ keys: [String], _ categories: [String: LegacyLibrary.Category]) -> String? {
        guard !keys.isEmpty else { return nil }
        let named = keys.prefix(10).map { "'" + (categories[$0].map(item) ?? "category \($0.prefix(50))") + "'" }
        return named.joined(separator: ", ") + (keys.count > 10 ? " and \(keys.count - 10) more" : "")
    }

    // MARK: Adding

    /// Of an old category. The app counted from 1; what is greater is not worth a catalogue that counts on from there.
    private static let ids: ClosedRange<Int64> = 1...Int64(Int32.max)

    /// Adds what is new and remembers the ids. In the caller's transaction.
    ///
    /// Numbers are kept (<doc:/LibraryModel/OldLibraries>), but not one that the library has given out before: photos in the trash may still
    /// belong to the category that had it. The others get numbers past all of those.
    mutating func add(in transaction: any CatalogueTransaction) throws {
        let last = try transaction.categories.lastID()
        var taken: Set<Int64> = []
        let kept = added.map { category in
            category.number.flatMap { $0 > last && taken.insert($0).inserted ? $0 : nil }
        }
        var next = max(last, taken.max() ?? 0)
        let entries = zip(added, kept).map { category, number in
            if number == nil { next += 1 }
            return CategoryEntry(
                category.details, isDefault: category.isDefault, createdAt: category.createdAt, id: number ?? next)
        }
        ids += try transaction.categories.insert(entries).map(\.id)
    }

    // MARK: Asking

    enum Home: Sendable, Equatable {
        case category(Int64)
        /// The old database does not have the photo's category; this one of the library is used.
        case instead(Int64, name: String)
        /// Its category is not taken over.
        case none
    }

    /// The category of a photo; 0 stands for one that a preview did not add.
    func home(of photo: LegacyLibrary.Photo) -> Home {
        guard let key = photo.categoryKey, let place = byKey[key] ?? Self.number(key).flatMap({ byNumber[$0] }) else {
            return fallback.map { .instead($0.id, name: $0.name) } ?? .none
        }
        return switch place {
        case .here(let id): .category(id)
        case .added(let index): .category(ids.isEmpty ? 0 : ids[index])
        case .left: .none
        }
    }

    /// Numbers that were written in two ways, `7` and `007`, name one category where no other says exactly that.
    private static func number(_ key: String) -> String? {
        guard !key.isEmpty, key.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        let digits = key.drop { $0 == "0" }
        return digits.isEmpty ? "0" : String(digits)
    }
}
