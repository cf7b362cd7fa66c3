import Foundation
import LibraryModel
import ServiceMesh

/// The JSON documents of a backup: <doc:/LibraryModel/BackupsAsFiles>. Keys are the format's; ours are added, none removed.
enum BackupFormat {
    static let manifestEntry = "manifest.json"
    static let metadataEntry = "backup_metadata.json"
    /// The form that the shipped apps read (the same article, "metadata.json").
    static let appMetadataEntry = "metadata.json"
    static let photoPrefix = "photos/"
    /// Behind the name of a file that is no backup yet.
    static let partialSuffix = ".partial"
    static let generator = "SmilePile"
    static let version = "1.0"
    static let maximumPhotos = 100_000
    /// Ids beyond cannot be said in every JSON, and one at the end of Int64 would leave the catalogue none to give.
    static let ids: ClosedRange<Int64> = 1...(1 << 53)
    /// Bytes of one JSON document: 100,000 photos need about 70 MB.
    static let maximumDocument = 256 << 20

    /// `SmilePileBackup_yyyy-MM-dd_HHmmss.zip`, local time.
    static func fileName(at time: Timestamp) -> String {
        var seconds = time_t(time.milliseconds / 1000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 64)
        strftime(&text, text.count, "SmilePileBackup_%Y-%m-%d_%H%M%S.zip", &parts)
        return text.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    static func encode<T: Encodable>(_ document: T) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(document)
    }
}

/// `manifest.json`: what the backup is, and every other entry with its size and digest.
struct BackupManifest: Codable, Sendable {
    struct File: Codable, Sendable {
        let path: String
        let size: Int64
        /// Of the entry's bytes, lower-case hex.
        let sha256: String
        /// Set where these are not the bytes that the catalogue had recorded.
        let damaged: Bool?
    }

    let backupVersion: String
    let appVersion: String
    let platform: String
    let timestamp: Timestamp
    let photoCount: Int
    let categoryCount: Int
    let generator: String?
    /// Set where the backup holds a part of the library only.
    let isPartial: Bool?
    /// What the sealed fields need to be opened: a key's id, or `passphrase`; absent without sealed fields.
    let sealedWith: String?
    let files: [File]?
}

/// `backup_metadata.json`: everything but the photos' bytes.
struct BackupMetadata: Codable, Sendable {
    struct Category: Codable, Sendable {
        let id: Int64
        let displayName: String
        let colorHex: String?
        let orderIndex: Int
        let isDefault: Bool
        let name: String?
        let iconResource: String?
        let createdAt: Timestamp?
    }

    struct Photo: Codable, Sendable {
        var id: Int64
        var path: String
        var categoryId: Int64
        var caption: String?
        var timestamp: Timestamp
        var isFavorite: Bool
        var uuid: String
        var name: String
        var isFromAssets: Bool
        var createdAt: Timestamp
        var takenAt: Timestamp?
        var width: Int
        var height: Int
        var fileSize: Int64
        var mediaType: String
        var contentDigest: String
        var sourceDigest: String
        var sourceSize: Int64
    }

    struct SwipeSession: Codable, Sendable {
        struct Action: Codable, Sendable {
            let photoIdentifier: String
            let contentDigest: String
            let action: SwipeAction
            let timestamp: Timestamp
            let isProcessed: Bool
        }

        let sessionID: String
        let startTime: Timestamp
        let endTime: Timestamp?
        let actions: [Action]
    }

    struct AppSettings: Codable, Sendable {
        let hasPIN: Bool
        let kidsModeEnabled: Bool
    }

    let version: String
    let timestamp: Timestamp
    let categories: [Category]
    let photos: [Photo]
    let settings: AppSettings
    let preferences: Settings?
    let swipeSessions: [SwipeSession]?
}

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
        appVersion = LibraryModel.version
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
