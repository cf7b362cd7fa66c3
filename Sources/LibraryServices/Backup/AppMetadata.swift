import LibraryModel

/// `metadata.json`: the shipped apps' version 2 form, so that they can read our backups.
struct AppMetadata: Codable, Sendable {
    struct Category: Codable, Sendable {
        let id: Int64
        let name: String
        let displayName: String
        let position: Int
        let iconResource: String?
        let colorHex: String?
        let isDefault: Bool
        let createdAt: Int64
    }

    struct Photo: Codable, Sendable {
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

    struct Settings: Codable, Sendable {
        struct Security: Codable, Sendable {
            let hasPIN: Bool
            let hasPattern: Bool
            let kidSafeModeEnabled: Bool
            let deleteProtectionEnabled: Bool
        }

        let isDarkMode: Bool
        let securitySettings: Security
    }

    struct ManifestEntry: Codable, Sendable {
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

    init(_ metadata: BackupMetadata) {
        version = 2
        exportDate = metadata.timestamp.milliseconds
        appVersion = Release.version
        format = "ZIP"
        categories = metadata.categories.map { category in
            Category(
                id: category.id, name: CategoryName.internalName(category.displayName),
                displayName: category.displayName, position: category.orderIndex, iconResource: category.iconResource,
                colorHex: category.colorHex, isDefault: category.isDefault,
                createdAt: category.createdAt?.milliseconds ?? 0)
        }
        photos = metadata.photos.map { photo in
            Photo(
                id: photo.id, path: photo.path, categoryId: photo.categoryId, name: photo.name,
                isFromAssets: photo.isFromAssets, createdAt: photo.createdAt.milliseconds, fileSize: photo.fileSize,
                width: photo.width, height: photo.height, isFavorite: photo.isFavorite)
        }
        settings = Settings(
            isDarkMode: false,
            securitySettings: .init(
                hasPIN: metadata.settings.hasPIN, hasPattern: false,
                kidSafeModeEnabled: metadata.settings.kidsModeEnabled, deleteProtectionEnabled: false))
        photoManifest = metadata.photos.map { photo in
            ManifestEntry(
                photoId: photo.id, originalPath: photo.path, zipEntryName: photo.path,
                fileName: String(photo.path.dropFirst(BackupFormat.photoPrefix.count)), fileSize: photo.fileSize)
        }
    }
}
