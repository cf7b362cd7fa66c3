import Foundation
import LibraryModel
import ServiceMesh

/// Backups as the source document `backup-restore-story.md` lays them out: `manifest.json`, `backup_metadata.json` and `photos/`, without the keys that
/// ours add to these.
enum StoryDialect {
    struct Document: Decodable {
        struct Category: Decodable {
            let id: Int64?
            let displayName: String?
            let colorHex: String?
            let orderIndex: Int?
            let isDefault: Bool?
        }

        struct Photo: Decodable {
            let id: Int64?
            let path: String?
            let categoryId: Int64?
            let caption: String?
            let timestamp: Lenient<Timestamp>?
            let isFavorite: Bool?
        }

        struct AppSettings: Decodable {
            let hasPIN: Bool?
            let kidsModeEnabled: Bool?
        }

        let version: String?
        package private(set) var categories: [Category]
        package private(set) var photos: [Photo]
        let settings: AppSettings?

        /// - Throws: an error of decoding; `data_loss`.
        static func read(_ bytes: DocumentBytes) throws -> Document {
            let lists = try LongLists(
                bytes, ["categories": CategoryLimits.count, "photos": ForeignContents.maximumPhotos])
            var document = try lists.decodeRest(Document.self)
            document.categories = try lists.decode("categories") { $0 }
            document.photos = try lists.decode("photos") { $0 }
            return document
        }
    }

    /// A value that costs nothing but itself where it cannot be read.
    struct Lenient<Value: Decodable & Sendable>: Decodable, Sendable {
        let value: Value?

        init(from decoder: any Decoder) throws { value = try? decoder.singleValueContainer().decode(Value.self) }
    }

    /// - Parameters:
    ///   - manifest: as it was read.
    ///   - root: the folder in the archive that has it all, with a slash at its end; empty for none.
    /// - Throws: `data_loss`.
    static func read(_ archive: BackupArchive, _ manifest: BackupManifest, root: String) throws -> DescribedBackup {
        let name = root + SmilePileDialect.metadataEntry
        let document = try archive.decoded(name, Document.read)
        if let version = document.version { try FormatVersion.require(version, in: name) }
        let facts = manifest.facts
        guard facts.photoCount ?? document.photos.count == document.photos.count,
            facts.categoryCount ?? document.categories.count == document.categories.count
        else { throw MeshError(refusingBackup: "its counts of photos and categories disagree with its contents.") }
        var foreign = ForeignContents()
        foreign.expect(facts.platform, "platform", of: "the manifest", or: "unknown")
        foreign.expect(facts.timestamp, "timestamp", of: "the manifest", or: "the date of the file")
        foreign.expect(facts.photoCount, "photoCount", of: "the manifest", or: "as many as there are")
        foreign.expect(facts.categoryCount, "categoryCount", of: "the manifest", or: "as many as there are")
        let appVersion = foreign.value(facts.appVersion, or: "unknown", "appVersion", of: "the manifest")
        foreign.expect(document.version, "version", of: "the document", or: SmilePileDialect.version)
        foreign.expect(document.settings, "settings", of: "the document", or: "none")
        for category in document.categories {
            foreign.enter(
                ForeignContents.Category(
                    id: category.id, displayName: category.displayName, position: category.orderIndex,
                    colorHex: category.colorHex, isDefault: category.isDefault))
        }
        let entries = try ForeignEntries(archive, root: root)
        for photo in document.photos {
            foreign.enter(
                ForeignContents.Photo(
                    id: photo.id, path: photo.path ?? "photo \(photo.id ?? 0)", categoryId: photo.categoryId, name: "",
                    caption: photo.caption, isFromAssets: false, createdAt: photo.timestamp?.value?.milliseconds,
                    isFavorite: photo.isFavorite),
                entry: photo.path.flatMap { entries.find([$0]) })
        }
        if document.settings?.hasPIN == true {
            foreign.note(name, ForeignContents.left, "the PIN, which no backup has; set one here: smilepile pin set")
        }
        if document.settings?.kidsModeEnabled == true {
            foreign.note(name, ForeignContents.left, "kids mode was on; who uses this machine is decided here")
        }
        let contents = try foreign.contents(name)
        let known = try [name, root + SmilePileDialect.manifestEntry] + contents.photos.compactMap { $0.photo.path }
        return DescribedBackup(
            summary: BackupSummary(
                dialect: "story", backupVersion: facts.backupVersion, appVersion: appVersion,
                timestamp: facts.timestamp ?? archive.modified, photoCount: contents.photos.count,
                categoryCount: contents.categories.count, isPartial: false, sealedWith: nil),
            contents: contents, promised: [], unpromised: Set(known), damaged: [], notices: [])
    }
}
