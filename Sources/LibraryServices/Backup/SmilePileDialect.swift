import Foundation
import LibraryModel
import LibraryStorage
import ServiceMesh
import ZipArchive

/// Our own dialect: what the documents of a backup are called, and how they are read and written
/// (<doc:/LibraryModel/BackupsAsFiles>). Keys are the format's; ours are added, none removed.
enum SmilePileDialect {
    static let name = "smilepile"
    static let manifestEntry = "manifest.json"
    static let metadataEntry = "backup_metadata.json"
    /// The form that the shipped apps read (the same article, "metadata.json").
    static let appMetadataEntry = "metadata.json"
    static let generator = "SmilePile"
    static let version = "1.0"

    /// - Throws: `data_loss`.
    static func read(_ archive: BackupArchive, _ manifest: BackupManifest) throws -> DescribedBackup {
        guard let files = manifest.files else {
            throw MeshError(refusingBackup: "its manifest names no files.", entry: manifestEntry)
        }
        let metadata = try archive.document(metadataEntry, BackupMetadata.self)
        guard manifest.photoCount == metadata.photos.count, manifest.categoryCount == metadata.categories.count else {
            throw MeshError(refusingBackup: "its counts of photos and categories disagree with its contents.")
        }
        var contents = try metadata.contents(isPartial: manifest.isPartial == true)
        try contents.validate()
        var notices: [ReceiptLine] = []
        if files.contains(where: { $0.path == BackupFormat.sealedEntry }) {
            contents.sealed = try archive.decoded(BackupFormat.sealedEntry) { try SealedDocument(reading: $0) }
            if contents.sealed == nil {
                notices.append(
                    ReceiptLine(
                        item: BackupFormat.sealedEntry, outcome: BackupFormat.sealedOutcome,
                        detail: "a later version sealed the fields; restore them with that version"))
            }
        }
        if let sealed = contents.sealed, sealed.sealedWith != manifest.sealedWith {
            throw MeshError(
                refusingBackup: "what its manifest says about sealed fields disagrees.",
                entry: BackupFormat.sealedEntry)
        }
        return DescribedBackup(
            summary: BackupSummary(
                dialect: name, backupVersion: manifest.backupVersion, appVersion: manifest.appVersion,
                timestamp: manifest.timestamp, photoCount: manifest.photoCount,
                categoryCount: manifest.categoryCount, isPartial: contents.isPartial,
                sealedWith: manifest.sealedWith, sealedValues: contents.sealed?.values.count),
            contents: contents,
            promised: files.map { BackupArchive.Entry(path: $0.path, size: $0.size, sha256: $0.sha256) },
            unpromised: [manifestEntry], damaged: files.filter { $0.damaged == true }.map(\.path), notices: notices)
    }

    /// For a backup whose manifest is damaged: digests and sizes of its photos stand in the metadata too.
    /// - Throws: `data_loss`, `invalid_argument`.
    static func readWithoutManifest(
        _ archive: BackupArchive, _ failure: BackupArchive.Failure
    ) throws -> DescribedBackup {
        let metadata = try archive.document(metadataEntry, BackupMetadata.self)
        var contents = try metadata.contents(isPartial: false)
        try contents.validate()
        contents.sealed = try? archive.decoded(BackupFormat.sealedEntry) { try SealedDocument(reading: $0) }
        return DescribedBackup(
            summary: BackupSummary(
                dialect: name, backupVersion: metadata.version, appVersion: "unknown", timestamp: metadata.timestamp,
                photoCount: contents.photos.count, categoryCount: contents.categories.count, isPartial: false,
                sealedWith: contents.sealed?.sealedWith, sealedValues: contents.sealed?.values.count),
            contents: contents,
            promised: contents.files.map {
                BackupArchive.Entry(path: $0.path, size: $0.size, sha256: $0.digest ?? "")
            },
            unpromised: Set(
                [manifestEntry, metadataEntry, appMetadataEntry, BackupFormat.sealedEntry]
                    + archive.entries(below: BackupFormat.thumbnailPrefix).map(\.path)), damaged: [],
            notices: [ReceiptLine(item: failure.name, outcome: "damaged", detail: failure.sentence)])
    }

    /// The documents of a backup, in the order in which they stand in it.
    /// - Parameter files: every other entry; those that are `damaged` are not what the catalogue had recorded.
    static func documents(
        of contents: BackupContents, files: [BackupManifest.File], at time: Timestamp
    ) throws -> [(name: String, bytes: Data)] {
        let content = BackupMetadata(contents, at: time)
        var others = [
            (name: metadataEntry, bytes: try encode(content)),
            (name: appMetadataEntry, bytes: try encode(AppMetadata(content))),
        ]
        let sealed = contents.sealed?.only(of: contents.photos)
        if let sealed { others.append((name: BackupFormat.sealedEntry, bytes: try encode(sealed))) }
        for document in others { try requirePossible(document.name, document.bytes) }
        return [
            (name: manifestEntry, bytes: try manifest(of: contents, documents: others, files: files, at: time))
        ] + others
    }

    /// - Parameter documents: all others.
    static func manifest(
        of contents: BackupContents, documents: [(name: String, bytes: Data)], files: [BackupManifest.File],
        at time: Timestamp
    ) throws -> Data {
        let manifest = BackupManifest(
            backupVersion: version, appVersion: Release.version, platform: "Linux", timestamp: time,
            photoCount: contents.photos.count, categoryCount: contents.categories.count, generator: generator,
            isPartial: contents.isPartial ? true : nil,
            sealedWith: contents.sealed?.only(of: contents.photos)?.sealedWith,
            withoutOriginals: contents.leavesOriginals ? true : nil,
            files: documents.map { document in
                let digest = ContentDigest(of: document.bytes)
                return .init(path: document.name, size: digest.size, sha256: digest.sha256.hex, damaged: nil)
            } + files)
        return try encode(manifest)
    }

    /// What an unfinished backup of ours holds, from its documents.
    /// - Parameter sealed: nil where it has none.
    static func contents(
        ofUnfinished metadata: Data, sealed: Data? = nil, isPartial: Bool
    ) throws -> BackupContents {
        var contents = try JSONDecoder().decode(BackupMetadata.self, from: metadata).contents(isPartial: isPartial)
        contents.sealed = try sealed.flatMap { try SealedDocument(reading: $0) }
        return contents
    }

    /// - Throws: `resource_exhausted` for a document that would not be read back.
    static func requirePossible(_ name: String, _ bytes: Data) throws {
        guard bytes.count <= BackupFormat.maximumDocument else {
            throw MeshError(
                .resourceExhausted,
                "The backup would have a \(name) of more than \(BackupFormat.maximumDocument >> 20) MiB. "
                    + "Back up some categories at a time.")
        }
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
    /// What the sealed fields need to be opened: ids of keys, or `passphrase`; absent without sealed fields.
    let sealedWith: String?
    /// Set where originals and sidecars were left out.
    let withoutOriginals: Bool?
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
        let id: Int64
        let path: String
        let categoryId: Int64
        let caption: String?
        let timestamp: Timestamp
        let isFavorite: Bool
        let uuid: String
        let name: String
        let isFromAssets: Bool
        let createdAt: Timestamp
        let takenAt: CameraClock?
        /// Absent in backups from before they were kept, as the next one.
        let takenOffset: Int?
        let dateSource: String?
        /// Absent where the picture says none, and in backups from before it was kept.
        let camera: String?
        /// Absent of photos that can be seen.
        let unseenBy: String?
        /// Absent of photos that were not reviewed, and in backups from before it was kept.
        let lastDecision: String?
        let width: Int
        let height: Int
        let fileSize: Int64
        let mediaType: String
        let contentDigest: String
        let sourceDigest: String
        let sourceSize: Int64
        /// The entry that has the source; absent where the backup does not have it, and where the photo is it.
        let originalPath: String?
        /// Absent where there are none.
        let sidecars: [KeptSidecar]?
    }

    /// A time on a camera's clock, in no zone. Before that was so, backups said the moment, in UTC: what clocks here showed then
    /// is what the camera's showed, of those that did not say how far they were from UTC.
    struct CameraClock: Codable, Sendable {
        let date: LocalDateTime

        init(_ date: LocalDateTime) { self.date = date }

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            let text = try? container.decode(String.self)
            if let text, text.hasSuffix("Z"), let moment = Timestamp(rfc3339: text) {
                date = LocalDateTime(here: moment)
            } else {
                date = try container.decode(LocalDateTime.self)
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(date)
        }
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
        /// Photos that it counts and of which no decision is left; absent where there are none.
        let forgottenPhotos: Int?
        let actions: [Action]
    }

    /// What the library was; a restore changes neither, and the PIN itself is in no backup.
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

extension BackupMetadata {
    init(_ contents: BackupContents, at time: Timestamp) {
        self.init(
            version: SmilePileDialect.version, timestamp: time, categories: contents.categories.map(Category.init),
            photos: contents.photos.map(Photo.init),
            settings: .init(
                hasPIN: contents.preferences?.parentalLockEnabled ?? false,
                kidsModeEnabled: contents.preferences?.currentAppMode == .kids),
            preferences: contents.preferences,
            swipeSessions: contents.swipeSessions.isEmpty ? nil : contents.swipeSessions.map(SwipeSession.init))
    }

    func contents(isPartial: Bool) throws -> BackupContents {
        var contents = BackupContents(
            photos: photos.map(\.sourced), swipeSessions: swipeSessions?.map(\.record) ?? [],
            preferences: preferences, isPartial: isPartial)
        for category in categories {
            try contents.enterCategory(
                id: category.id, displayName: category.displayName, position: category.orderIndex,
                colorHex: category.colorHex, iconResource: category.iconResource, isDefault: category.isDefault,
                createdAt: category.createdAt)
        }
        return contents
    }
}

extension BackupMetadata.Category {
    fileprivate init(_ category: LibraryModel.Category) {
        self.init(
            id: category.id, displayName: category.displayName, colorHex: category.colorHex,
            orderIndex: category.position, isDefault: category.isDefault, name: category.name,
            iconResource: category.iconResource, createdAt: category.createdAt)
    }
}

extension BackupMetadata.Photo {
    fileprivate init(_ sourced: SourcedPhoto) {
        let photo = sourced.photo
        self.init(
            id: photo.id, path: photo.path, categoryId: photo.categoryId, caption: photo.caption,
            timestamp: photo.shownMoment, isFavorite: photo.isFavorite, uuid: photo.uuid, name: photo.name,
            isFromAssets: photo.isFromAssets, createdAt: photo.createdAt,
            takenAt: photo.takenAt.map(BackupMetadata.CameraClock.init),
            takenOffset: photo.takenOffset, dateSource: photo.dateSource?.rawValue,
            camera: photo.camera, unseenBy: photo.unseenBy, lastDecision: photo.lastDecision?.rawValue,
            width: photo.width,
            height: photo.height, fileSize: photo.fileSize,
            mediaType: photo.mediaType, contentDigest: photo.contentDigest, sourceDigest: sourced.sourceDigest,
            sourceSize: sourced.sourceSize, originalPath: photo.originalPath == photo.path ? nil : photo.originalPath,
            sidecars: photo.sidecars.isEmpty ? nil : photo.sidecars)
    }

    fileprivate var sourced: SourcedPhoto {
        SourcedPhoto(
            photo: LibraryModel.Photo(
                id: id, uuid: uuid, path: path, categoryId: categoryId, name: name, caption: caption,
                isFromAssets: isFromAssets, createdAt: createdAt, fileSize: fileSize, width: width, height: height,
                isFavorite: isFavorite, takenAt: takenAt?.date, takenOffset: takenOffset,
                dateSource: dateSource.flatMap(DateSource.init), camera: camera, contentDigest: contentDigest,
                mediaType: mediaType,
                originalPath: originalPath ?? (contentDigest == sourceDigest ? path : nil), sidecars: sidecars ?? [],
                unseenBy: unseenBy, lastDecision: lastDecision.flatMap(SwipeAction.init)),
            sourceDigest: sourceDigest, sourceSize: sourceSize)
    }
}

extension BackupMetadata.SwipeSession {
    fileprivate init(_ record: SwipeRecord) {
        self.init(
            sessionID: record.sessionID, startTime: record.startTime, endTime: record.endTime,
            forgottenPhotos: record.forgottenPhotos == 0 ? nil : record.forgottenPhotos,
            actions: record.actions.map { action in
                Action(
                    photoIdentifier: action.decision.photo, contentDigest: action.decision.contentDigest,
                    action: action.decision.action, timestamp: action.timestamp, isProcessed: action.isProcessed)
            })
    }

    fileprivate var record: SwipeRecord {
        SwipeRecord(
            sessionID: sessionID, startTime: startTime, endTime: endTime, forgottenPhotos: forgottenPhotos ?? 0,
            actions: actions.map { action in
                .init(
                    decision: SwipeDecision(
                        session: sessionID, photo: action.photoIdentifier, contentDigest: action.contentDigest,
                        action: action.action),
                    timestamp: action.timestamp, isProcessed: action.isProcessed)
            })
    }
}
