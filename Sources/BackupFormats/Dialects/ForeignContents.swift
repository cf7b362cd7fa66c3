import Foundation
import LibraryModel
import LibraryServices
import ServiceMesh
import ZipArchive

/// What a backup of another program holds, on its way to ``BackupContents``: with ids, names and colours that a library can
/// have, each photo tied to the entry that has its picture, and a line for whatever is not as it was.
///
/// Its pictures are as that program kept them, of any size and kind. What they are is found out when they are restored:
/// ``BackupContents/isForeign``.
package struct ForeignContents {
    /// A category as some document has it; nil for what it does not say.
    struct Category {
        var id: Int64?
        var displayName: String?
        /// The derived name, where that is all there is.
        var name: String?
        var position: Int?
        var colorHex: String?
        var iconResource: String?
        var isDefault: Bool?
        var createdAt: Int64?
    }

    /// A photo as some document has it; nil for what it does not say.
    struct Photo {
        var id: Int64?
        /// Where that program had it: a name, never a place to write to.
        var path: String
        var categoryId: Int64?
        var name: String?
        var caption: String?
        var isFromAssets: Bool?
        /// Milliseconds since 1970.
        var createdAt: Int64?
        var isFavorite: Bool?
    }

    /// Of a backup of another program, which phones make: its photos are held in memory, with all that their document says.
    static let maximumPhotos = 100_000
    /// Of lines about values that a document leaves out, and that have a usual one: nothing is wrong with those.
    package static let assumed = "assumed"
    /// Of lines about what has no place here, such as a phone's settings.
    package static let left = "left"
    static let missing = "missing"

    package private(set) var lines: [ReceiptLine] = []
    private var categories: [LibraryModel.Category] = []
    private var photos: [SourcedPhoto] = []
    /// The id here by that in the document.
    private var categoryIds: [Int64: Int64] = [:]
    private var idsByName: [String: Int64] = [:]
    private var usedEntries: Set<String> = []
    /// How many have no value, by what is said of it.
    private var absent: [String: Int] = [:]
    /// Ids as the document has them, while all of them could be those of a library.
    private var photoIds: Set<Int64>? = []

    init() {}

    mutating func note(_ item: String, _ outcome: String, _ detail: String) {
        lines.append(ReceiptLine(item: String(item.prefix(300)), outcome: outcome, detail: detail))
    }

    /// Counts a value that is not there, and gives the usual one for it.
    mutating func value<T>(_ value: T?, or usual: T, _ key: String, of kind: String) -> T {
        expect(value, key, of: kind, or: "\(usual)")
        return value ?? usual
    }

    /// Counts a value that is not there.
    /// - Parameter instead: what is taken instead.
    mutating func expect<T>(_ value: T?, _ key: String, of kind: String, or instead: String) {
        if value == nil { absent["'\(key)' of \(kind): \(instead)", default: 0] += 1 }
    }

    // MARK: Categories

    mutating func enter(_ category: Category) {
        let number = categories.count + 1
        var name = (category.displayName ?? "").trimmingWhitespace
        if name.isEmpty { name = category.name ?? "" }
        let given = name
        if (try? CategoryName.validated(name)) == nil {
            let scalars = name.unicodeScalars.filter { $0.properties.generalCategory != .control }
            name = String(String(String.UnicodeScalarView(scalars)).trimmingWhitespace.prefix(100))
            if (try? CategoryName.validated(name)) == nil { name = "Category \(number)" }
            note(name, "renamed", given.isEmpty ? "it had no name" : "its name is none that a category has here")
        }
        let key = CategoryName.key(name)
        if let there = idsByName[key] {
            note(name, "merged", "the backup has two categories of this name, which are one here")
            if let id = category.id, categoryIds[id] == nil { categoryIds[id] = there }
            return
        }
        let color = category.colorHex.flatMap(CategoryColor.normalized)
        if color == nil {
            note(
                name, "defaulted",
                "its colour is \(category.colorHex == nil ? "not said" : "not valid") and becomes \(CategoryColor.fallback)"
            )
        }
        expect(category.createdAt, "createdAt", of: "categories", or: "today")
        let (createdAt, change) = category.createdAt.map { LegacyDate.credible($0) } ?? (.now(), nil)
        if let change { note(name, "defaulted", change) }
        let icon = category.iconResource.flatMap { $0.utf8.count <= CategoryLimits.iconBytes ? $0 : nil }
        let id = Int64(number)
        idsByName[key] = id
        if let old = category.id {
            if categoryIds[old] == nil {
                categoryIds[old] = id
            } else {
                note(name, "defaulted", "another category has its id \(old), and the photos with it")
            }
        }
        let isDefault = value(category.isDefault, or: false, "isDefault", of: "categories")
        let position = value(category.position, or: 0, "position", of: "categories")
        categories.append(
            LibraryModel.Category(
                id: id, displayName: name, position: position, iconResource: icon,
                colorHex: color ?? CategoryColor.fallback, isDefault: isDefault, createdAt: createdAt, photoCount: 0))
    }

    // MARK: Photos

    /// - Parameter entry: the entry that has its picture; nil where there is none.
    mutating func enter(_ photo: Photo, entry: BackupArchive.Entry?) {
        guard let entry else {
            return note(photo.path, Self.missing, "its picture is not in the backup")
        }
        guard usedEntries.insert(entry.path).inserted else {
            return note(photo.path, "duplicate", "another photo of the backup has the same file")
        }
        let file = entry.path.split(separator: "/").last.map(String.init) ?? entry.path
        let (createdAt, change) = LegacyDate.credible(photo.createdAt)
        let date = LegacyDate.shown(photo.createdAt)
        if let change { note(entry.path, "defaulted", change) }
        let name = Self.cut(value(photo.name, or: "", "name", of: "photos"), 200)
        let caption = photo.caption.map { Self.cut($0, SetCaption.maximumLength, hasLines: true) }
        if let caption, caption != photo.caption {
            note(entry.path, "defaulted", "its caption was too long, or had control characters, and is cut")
        }
        if let id = photo.id, BackupFormat.ids.contains(id), photoIds?.insert(id).inserted == true {
        } else {
            photoIds = nil
        }
        let provisional = ContentDigest(of: Data("entry \(entry.path)".utf8)).sha256.hex
        photos.append(
            SourcedPhoto(
                photo: LibraryModel.Photo(
                    id: photo.id ?? 0, uuid: DerivedUUID.of(["backup", entry.path]), path: entry.path,
                    categoryId: home(of: photo, entry.path),
                    name: name.isEmpty ? Self.cut(Self.stem(file), 200) : name, caption: caption,
                    isFromAssets: value(photo.isFromAssets, or: false, "isFromAssets", of: "photos"),
                    createdAt: createdAt, fileSize: entry.size, width: 0, height: 0,
                    isFavorite: value(photo.isFavorite, or: false, "isFavorite", of: "photos"), takenAt: date?.clock,
                    datePrecision: date?.precision, dateSource: date?.source,
                    contentDigest: provisional, mediaType: "image/jpeg"),
                sourceDigest: provisional, sourceSize: entry.size))
    }

    private mutating func home(of photo: Photo, _ entry: String) -> Int64 {
        if let id = photo.categoryId.flatMap({ categoryIds[$0] }) { return id }
        if categories.isEmpty {
            enter(Category(displayName: "Family", colorHex: "#E91E63", isDefault: false))
        }
        note(entry, "defaulted", "its category is not in the backup; it goes to '\(categories[0].displayName)'")
        return categories[0].id
    }

    private static func stem(_ file: String) -> String {
        file.lastIndex(of: ".").map { $0 == file.startIndex ? file : String(file[..<$0]) } ?? file
    }

    /// Without control characters, but line breaks of a text that may have any, and no longer than it may be.
    private static func cut(_ text: String, _ length: Int, hasLines: Bool = false) -> String {
        let scalars = text.unicodeScalars.filter {
            $0.properties.generalCategory != .control || hasLines && $0 == "\n"
        }
        return String(String(String.UnicodeScalarView(scalars)).prefix(length))
    }

    // MARK: The whole

    /// - Throws: `data_loss` for what no library holds.
    func contents(_ document: String) throws -> BackupContents {
        var photos = photos
        if photoIds == nil {
            for index in photos.indices { photos[index].photo.id = Int64(index + 1) }
        }
        let unsaid = absent.sorted { $0.key < $1.key }.map { text, count in
            ReceiptLine(
                item: document, outcome: Self.assumed,
                detail: "not said \(count == 1 ? "once" : "\(count) times"), \(text)")
        }
        var contents = BackupContents(
            foreignCategories: categories, photos: photos, lines: lines + unsaid)
        try contents.validate()
        return contents
    }
}

/// The entries of a backup by the names under which other programs speak of them.
struct ForeignEntries {
    private let byPath: [String: BackupArchive.Entry]
    /// By the last component, in lower case; nil for one that several have.
    private let byFile: [String: BackupArchive.Entry?]
    /// The folder in which all of it is: empty, or with a slash at its end.
    private let root: String

    init(_ archive: BackupArchive, root: String) throws {
        self.root = root
        let entries = try archive.entries(below: root + BackupFormat.photoPrefix)
        byPath = Dictionary(entries.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
        byFile = Dictionary(
            entries.map { (Self.file($0.path).lowercased(), Optional($0)) }, uniquingKeysWith: { _, _ in nil })
    }

    /// - Parameter names: what it may be called, the best guess first: paths in the backup, or of a phone.
    func find(_ names: [String]) -> BackupArchive.Entry? {
        for name in names where !name.isEmpty {
            if let entry = byPath[root + name] ?? byPath[root + BackupFormat.photoPrefix + name] { return entry }
        }
        for name in names {
            if let entry = byFile[Self.file(name).lowercased()] ?? nil { return entry }
        }
        return nil
    }

    static func file(_ path: String) -> String {
        let path = path.removingPercentEncoding ?? path
        return path.split(separator: "/").last.map(String.init) ?? path
    }
}
