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
        guard let files = manifest.files, let appVersion = manifest.appVersion, let timestamp = manifest.timestamp,
            let photoCount = manifest.photoCount, let categoryCount = manifest.categoryCount
        else { throw MeshError(refusingBackup: "its manifest does not say all that it has to.", entry: manifestEntry) }
        var (metadata, contents) = try archive.decoded(metadataEntry) {
            try BackupMetadata.read($0, isPartial: manifest.isPartial == true)
        }
        try FormatVersion.require(metadata.version, in: metadataEntry)
        guard photoCount == contents.photos.count, categoryCount == metadata.categories.count else {
            throw MeshError(refusingBackup: "its counts of photos and categories disagree with its contents.")
        }
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
                dialect: name, backupVersion: manifest.backupVersion, appVersion: appVersion, timestamp: timestamp,
                photoCount: photoCount, categoryCount: categoryCount, isPartial: contents.isPartial,
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
        var (metadata, contents) = try archive.decoded(metadataEntry) { try BackupMetadata.read($0, isPartial: false) }
        try FormatVersion.require(metadata.version, in: metadataEntry)
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
        var others = [
            (name: metadataEntry, bytes: try BackupMetadata.encode(contents, at: time)),
            (name: appMetadataEntry, bytes: try AppMetadata.encode(contents, at: time)),
        ]
        let sealed = contents.sealed?.only(of: contents.photos)
        if let sealed { others.append((name: BackupFormat.sealedEntry, bytes: try sealed.encoded())) }
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
            withoutOriginals: contents.leavesOriginals ? true : nil, files: [])
        let documents = documents.map { document in
            let digest = ContentDigest(of: document.bytes)
            return BackupManifest.File(path: document.name, size: digest.size, sha256: digest.sha256.hex, damaged: nil)
        }
        return try LongLists.encode(manifest, [.init("files", documents + files)])
    }

    /// What an unfinished backup of ours holds, from its documents.
    /// - Parameter sealed: nil where it has none.
    static func contents(
        ofUnfinished metadata: Data, sealed: Data? = nil, isPartial: Bool
    ) throws -> BackupContents {
        var contents = try BackupMetadata.read(metadata, isPartial: isPartial).contents
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
    // Not ours alone is read: of another program's, what it does not say is found out.
    let appVersion: String?
    let platform: String?
    let timestamp: Timestamp?
    let photoCount: Int?
    let categoryCount: Int?
    let generator: String?
    /// Set where the backup holds a part of the library only.
    let isPartial: Bool?
    /// What the sealed fields need to be opened: ids of keys, or `passphrase`; absent without sealed fields.
    let sealedWith: String?
    /// Set where originals and sidecars were left out.
    let withoutOriginals: Bool?
    /// Nil where another program wrote it.
    private(set) var files: [File]?

    /// - Throws: an error of decoding; `data_loss`.
    static func read(_ bytes: Data) throws -> BackupManifest {
        let lists = try LongLists(bytes, ["files": BackupFormat.maximumEntries])
        var manifest = try lists.decodeRest(BackupManifest.self)
        if manifest.files != nil { manifest.files = try lists.decode("files") { $0 } }
        return manifest
    }
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

    struct Group: Codable, Sendable {
        let id: String
        let name: String
        let createdAt: Timestamp
        /// Absent before the first photo.
        let lastPhotoDate: Timestamp?
        let members: [GroupMember]
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
    /// Absent where there are none, and in backups from before they were kept.
    let groups: [Group]?
}

extension BackupMetadata {
    static func encode(_ contents: BackupContents, at time: Timestamp) throws -> Data {
        let (photos, sessions) = (contents.photos, contents.swipeSessions)
        let rest = BackupMetadata(
            version: SmilePileDialect.version, timestamp: time, categories: contents.categories.map(Category.init),
            photos: [], settings: AppSettings(contents.preferences), preferences: contents.preferences,
            swipeSessions: sessions.isEmpty ? nil : [],
            groups: contents.groups.isEmpty ? nil : contents.groups.map(Group.init))
        return try LongLists.encode(
            rest,
            [
                .init("photos", photos.lazy.map(Photo.init)),
                .init("swipeSessions", encoded: try sessions.map { try SwipeSession.encode($0) }),
            ])
    }

    /// - Returns: the document without its lists of photos and sessions, and what they say.
    /// - Throws: an error of decoding; `data_loss`.
    static func read(
        _ bytes: Data, isPartial: Bool
    ) throws -> (metadata: BackupMetadata, contents: BackupContents) {
        let lists = try LongLists(
            bytes, ["photos": BackupFormat.maximumPhotos, "swipeSessions": BackupFormat.maximumSessions],
            single: ["swipeSessions"])
        let metadata = try lists.decodeRest(BackupMetadata.self)
        var contents = BackupContents(
            photos: try lists.decode("photos") { (photo: Photo) in photo.sourced },
            swipeSessions: try lists.decodeObjects(
                "swipeSessions", ["actions": BackupFormat.maximumActions], SwipeSession.record),
            preferences: metadata.preferences, isPartial: isPartial)
        contents.groups = (metadata.groups ?? []).map(\.stored)
        for category in metadata.categories {
            try contents.enterCategory(
                id: category.id, displayName: category.displayName, position: category.orderIndex,
                colorHex: category.colorHex, iconResource: category.iconResource, isDefault: category.isDefault,
                createdAt: category.createdAt)
        }
        return (metadata, contents)
    }
}

extension BackupMetadata.Group {
    fileprivate init(_ group: StoredGroup) {
        self.init(
            id: group.id, name: group.name, createdAt: group.createdAt, lastPhotoDate: group.lastPhotoDate,
            members: group.members)
    }

    fileprivate var stored: StoredGroup {
        StoredGroup(id: id, name: name, createdAt: createdAt, lastPhotoDate: lastPhotoDate, members: members)
    }
}

extension BackupMetadata.AppSettings {
    init(_ preferences: Settings?) {
        self.init(
            hasPIN: preferences?.parentalLockEnabled ?? false, kidsModeEnabled: preferences?.currentAppMode == .kids)
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
    fileprivate static func encode(_ record: SwipeRecord) throws -> Data {
        let rest = BackupMetadata.SwipeSession(
            sessionID: record.sessionID, startTime: record.startTime, endTime: record.endTime,
            forgottenPhotos: record.forgottenPhotos == 0 ? nil : record.forgottenPhotos, actions: [])
        let actions = record.actions.lazy.map { action in
            Action(
                photoIdentifier: action.decision.photo, contentDigest: action.decision.contentDigest,
                action: action.decision.action, timestamp: action.timestamp, isProcessed: action.isProcessed)
        }
        return try LongLists.encode(rest, [.init("actions", actions)])
    }

    fileprivate static func record(_ lists: LongLists) throws -> SwipeRecord {
        let session = try lists.decodeRest(BackupMetadata.SwipeSession.self)
        return SwipeRecord(
            sessionID: session.sessionID, startTime: session.startTime, endTime: session.endTime,
            forgottenPhotos: session.forgottenPhotos ?? 0,
            actions: try lists.decode("actions") { (action: Action) in
                .init(
                    decision: SwipeDecision(
                        session: session.sessionID, photo: action.photoIdentifier, contentDigest: action.contentDigest,
                        action: action.action),
                    timestamp: action.timestamp, isProcessed: action.isProcessed)
            })
    }
}
