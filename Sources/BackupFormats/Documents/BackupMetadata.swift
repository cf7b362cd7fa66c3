import Foundation
import LibraryModel
import LibraryStorage
import Scratch
import ServiceMesh

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
        /// Absent in backups from before it was kept.
        let sourceName: String?
        let isFromAssets: Bool
        let createdAt: Timestamp
        let takenAt: CameraClock?
        /// Absent in backups from before they were kept, as the next two.
        let datePrecision: String?
        let takenOffset: Int?
        let dateSource: String?
        /// Absent where the picture says none, and in backups from before it was kept.
        let camera: String?
        /// Absent of pictures that do not move, as the next four, and of those whose film is among the sidecars: programs from before
        /// these were would look for it in the original.
        let kind: String?
        let duration: Int64?
        let codecs: String?
        let filmOffset: Int64?
        let filmLength: Int64?
        /// Absent where the picture says none, and in backups from before it was kept.
        let contentIdentifier: String?
        /// Absent of photos that can be seen.
        let unseenBy: String?
        /// Absent of photos that were not reviewed, and in backups from before it was kept.
        let lastDecision: String?
        /// Of the file, before a person turned the photo.
        let width: Int
        let height: Int
        /// Degrees clockwise: 90, 180, 270. Absent of photos that nobody has turned, and in backups from before it was kept; programs
        /// from then show the photo as its file is.
        let rotation: Int?
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
    static func encode(_ contents: BackupContents, at time: Timestamp) throws -> BackupDocument {
        let (photos, sessions) = (contents.photos, contents.swipeSessions)
        let rest = BackupMetadata(
            version: SmilePileDialect.version, timestamp: time, categories: contents.categories.map(Category.init),
            photos: [], settings: AppSettings(contents.preferences), preferences: contents.preferences,
            swipeSessions: sessions.isEmpty ? nil : [],
            groups: contents.groups.isEmpty ? nil : contents.groups.map(Group.init))
        let written = try LongLists.encode(
            rest,
            [
                .init("photos", photos) { Photo($0) },
                .init("swipeSessions", encoded: try sessions.map { try SwipeSession.encode($0) }),
            ], in: contents.scratch)
        return BackupDocument(SmilePileDialect.metadataEntry, written)
    }

    /// - Returns: the document without its lists of photos and sessions, and what they say.
    /// - Throws: an error of decoding; `data_loss`.
    static func read(
        _ bytes: DocumentBytes, isPartial: Bool, scratch: Scratch
    ) throws -> (metadata: BackupMetadata, contents: BackupContents) {
        let lists = try LongLists(
            bytes,
            [
                "categories": CategoryLimits.count, "groups": LibraryModel.Group.maximumCount,
                "photos": BackupFormat.maximumPhotos, "swipeSessions": BackupFormat.maximumSessions,
            ], single: ["swipeSessions"])
        let metadata = try lists.decodeRest(BackupMetadata.self)
        var contents = BackupContents(
            photos: try lists.spool("photos", in: scratch) { (photo: Photo) in photo.sourced },
            swipeSessions: try lists.decodeObjects(
                "swipeSessions", ["actions": BackupFormat.maximumActions], SwipeSession.record),
            preferences: metadata.preferences, isPartial: isPartial, scratch: scratch)
        contents.groups = try lists.decode("groups") { (group: Group) in group.stored }
        for category in try lists.decode("categories", { (category: Category) in category }) {
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
            sourceName: photo.sourceName, isFromAssets: photo.isFromAssets, createdAt: photo.createdAt,
            takenAt: photo.takenAt.map(BackupMetadata.CameraClock.init),
            datePrecision: photo.datePrecision?.rawValue, takenOffset: photo.takenOffset,
            dateSource: photo.dateSource?.rawValue,
            camera: photo.camera, kind: photo.companionFilm == nil ? photo.kind?.rawValue : nil,
            duration: photo.duration, codecs: photo.codecs,
            filmOffset: photo.filmOffset, filmLength: photo.filmLength, contentIdentifier: photo.contentIdentifier,
            unseenBy: photo.unseenBy, lastDecision: photo.lastDecision?.rawValue,
            width: photo.sidesOfFile.width,
            height: photo.sidesOfFile.height, rotation: photo.rotation?.rawValue, fileSize: photo.fileSize,
            mediaType: photo.mediaType, contentDigest: photo.contentDigest, sourceDigest: sourced.sourceDigest,
            sourceSize: sourced.sourceSize, originalPath: photo.originalPath == photo.path ? nil : photo.originalPath,
            sidecars: photo.sidecars.isEmpty ? nil : photo.sidecars)
    }

    fileprivate var sourced: SourcedPhoto {
        var photo = unturned
        if photo.turningRefusal == nil { photo.turn(to: rotation.flatMap(Rotation.init(rawValue:))) }
        return SourcedPhoto(photo: photo, sourceDigest: sourceDigest, sourceSize: sourceSize)
    }

    private var unturned: LibraryModel.Photo {
        LibraryModel.Photo(
            id: id, uuid: uuid, path: path, categoryId: categoryId, name: name, sourceName: sourceName,
            caption: caption,
            isFromAssets: isFromAssets, createdAt: createdAt, fileSize: fileSize, width: width, height: height,
            isFavorite: isFavorite, takenAt: takenAt?.date,
            datePrecision: datePrecision.flatMap(DatePrecision.init), takenOffset: takenOffset,
            dateSource: dateSource.flatMap(DateSource.init), camera: camera, kind: kind.flatMap(PhotoKind.init),
            duration: duration, codecs: codecs, filmOffset: filmOffset, filmLength: filmLength,
            contentIdentifier: contentIdentifier, contentDigest: contentDigest,
            mediaType: mediaType,
            originalPath: originalPath ?? (contentDigest == sourceDigest ? path : nil), sidecars: sidecars ?? [],
            unseenBy: unseenBy, lastDecision: lastDecision.flatMap(SwipeAction.init))
    }
}

extension BackupMetadata.SwipeSession {
    fileprivate static func encode(_ record: SwipeRecord) throws -> Data {
        let rest = BackupMetadata.SwipeSession(
            sessionID: record.sessionID, startTime: record.startTime, endTime: record.endTime,
            forgottenPhotos: record.forgottenPhotos == 0 ? nil : record.forgottenPhotos, actions: [])
        let actions = LongLists.List("actions", record.actions) { action in
            Action(
                photoIdentifier: action.decision.photo, contentDigest: action.decision.contentDigest,
                action: action.decision.action, timestamp: action.timestamp, isProcessed: action.isProcessed)
        }
        let (bytes, _) = try LongLists.encode(rest, [actions], in: .memory)
        return try bytes.bytes(0..<bytes.count)
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
