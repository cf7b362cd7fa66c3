import Foundation
import LibraryModel
import ServiceMesh

/// Backups as the source document lays them out: `manifest.json`, `backup_metadata.json` and `photos/`, without the keys that
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
            let path: String
            let categoryId: Int64?
            let caption: String?
            let timestamp: Timestamp?
            let isFavorite: Bool?
        }

        struct AppSettings: Decodable {
            let hasPIN: Bool?
            let kidsModeEnabled: Bool?
        }

        let categories: [Category]
        let photos: [Photo]
        let settings: AppSettings?
    }

    /// - Parameters:
    ///   - manifest: as it was read.
    ///   - root: the folder in the archive that has it all, with a slash at its end; empty for none.
    /// - Throws: `data_loss`.
    static func read(_ archive: BackupArchive, _ manifest: BackupManifest, root: String) throws -> DescribedBackup {
        let name = root + SmilePileDialect.metadataEntry
        let document = try archive.document(name, Document.self)
        guard manifest.photoCount == document.photos.count, manifest.categoryCount == document.categories.count else {
            throw MeshError(refusingBackup: "its counts of photos and categories disagree with its contents.")
        }
        var foreign = ForeignContents()
        for category in document.categories {
            foreign.enter(
                ForeignContents.Category(
                    id: category.id, displayName: category.displayName, position: category.orderIndex,
                    colorHex: category.colorHex, isDefault: category.isDefault))
        }
        let entries = ForeignEntries(archive, root: root)
        for photo in document.photos {
            foreign.enter(
                ForeignContents.Photo(
                    id: photo.id, path: photo.path, categoryId: photo.categoryId, name: "", caption: photo.caption,
                    isFromAssets: false, createdAt: photo.timestamp?.milliseconds, isFavorite: photo.isFavorite),
                entry: entries.find([photo.path]))
        }
        if document.settings?.hasPIN == true {
            foreign.note(name, ForeignContents.left, "the PIN, which no backup has; set one here: smilepile pin set")
        }
        if document.settings?.kidsModeEnabled == true {
            foreign.note(name, ForeignContents.left, "kids mode was on; who uses this machine is decided here")
        }
        let contents = try foreign.contents(name)
        let known = [name, root + SmilePileDialect.manifestEntry] + contents.photos.map(\.photo.path)
        return DescribedBackup(
            summary: BackupSummary(
                dialect: "story", backupVersion: manifest.backupVersion, appVersion: manifest.appVersion,
                timestamp: manifest.timestamp, photoCount: contents.photos.count,
                categoryCount: contents.categories.count, isPartial: false, sealedWith: nil),
            contents: contents, promised: [], unpromised: Set(known), damaged: [], notices: [])
    }
}
