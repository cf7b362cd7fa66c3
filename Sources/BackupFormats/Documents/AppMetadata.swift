import Foundation
import LibraryModel
import ServiceMesh

/// `metadata.json`: the shipped apps' version 2 form, so that they can read our backups.
struct AppMetadata: Encodable, Sendable {
    struct Category: Encodable, Sendable {
        let id: Int64
        let name: String
        let displayName: String
        let position: Int
        let iconResource: String?
        let colorHex: String?
        let isDefault: Bool
        let createdAt: Int64
    }

    struct Photo: Encodable, Sendable {
        let id: Int64
        let path: String
        let categoryId: Int64
        let name: String
        let isFromAssets: Bool
        let createdAt: Int64
        let fileSize: Int64
        let width: Int
        let height: Int
        let isFavorite: Bool
    }

    struct Settings: Encodable, Sendable {
        struct Security: Encodable, Sendable {
            let hasPIN: Bool
            let hasPattern: Bool
            let kidSafeModeEnabled: Bool
            let deleteProtectionEnabled: Bool
        }

        let isDarkMode: Bool
        let securitySettings: Security
    }

    struct ManifestEntry: Encodable, Sendable {
        let photoId: Int64
        let originalPath: String
        let zipEntryName: String
        let fileName: String
        let fileSize: Int64
    }

    let version: Int
    let exportDate: Int64
    let appVersion: String
    let format: String
    let categories: [Category]
    let photos: [Photo]
    let settings: Settings
    let photoManifest: [ManifestEntry]

    /// - Throws: an error of encoding.
    static func encode(
        _ contents: BackupContents, as name: String, at time: Timestamp
    ) throws -> BackupDocument {
        let written = try LongLists.encode(
            AppMetadata(contents, at: time),
            [
                .init("photos", contents.photos) { Photo($0.photo) },
                .init("photoManifest", contents.photos) { ManifestEntry($0.photo) },
            ], in: contents.scratch)
        return BackupDocument(name, written)
    }

    /// Without its lists.
    private init(_ contents: BackupContents, at time: Timestamp) {
        version = 2
        exportDate = time.milliseconds
        appVersion = Release.version
        format = "ZIP"
        categories = contents.categories.map { category in
            Category(
                id: category.id, name: CategoryName.internalName(category.displayName),
                displayName: category.displayName, position: category.position, iconResource: category.iconResource,
                colorHex: category.colorHex, isDefault: category.isDefault,
                createdAt: category.createdAt.milliseconds)
        }
        let found = BackupMetadata.AppSettings(contents.preferences)
        settings = Settings(
            isDarkMode: false,
            securitySettings: .init(
                hasPIN: found.hasPIN, hasPattern: false, kidSafeModeEnabled: found.kidsModeEnabled,
                deleteProtectionEnabled: false))
        (photos, photoManifest) = ([], [])
    }
}

extension AppMetadata.Photo {
    fileprivate init(_ photo: LibraryModel.Photo) {
        self.init(
            id: photo.id, path: photo.path, categoryId: photo.categoryId, name: photo.name,
            isFromAssets: photo.isFromAssets, createdAt: photo.createdAt.milliseconds, fileSize: photo.fileSize,
            width: photo.sidesOfFile.width, height: photo.sidesOfFile.height, isFavorite: photo.isFavorite)
    }
}

extension AppMetadata.ManifestEntry {
    fileprivate init(_ photo: LibraryModel.Photo) {
        self.init(
            photoId: photo.id, originalPath: photo.path, zipEntryName: photo.path,
            fileName: String(photo.path.dropFirst(BackupFormat.photoPrefix.count)), fileSize: photo.fileSize)
    }
}
