import LibraryModel
import LibraryStorage
import ServiceMesh

/// The catalogue at one moment, as a backup needs it: taken in one read transaction, so that it agrees with itself
/// while the library goes on.
struct CatalogueSnapshot: Sendable {
    var categories: [BackupMetadata.Category]
    var photos: [BackupMetadata.Photo]
    let swipeSessions: [BackupMetadata.SwipeSession]
    let settings: Settings
    let isPartial: Bool

    init(
        categories: [BackupMetadata.Category], photos: [BackupMetadata.Photo],
        swipeSessions: [BackupMetadata.SwipeSession], settings: Settings, isPartial: Bool
    ) {
        self.categories = categories
        self.photos = photos
        self.swipeSessions = swipeSessions
        self.settings = settings
        self.isPartial = isPartial
    }

    /// The catalogue as it was when this document was written.
    init(_ metadata: BackupMetadata, isPartial: Bool) {
        self.init(
            categories: metadata.categories, photos: metadata.photos, swipeSessions: metadata.swipeSessions ?? [],
            settings: metadata.preferences ?? Settings(), isPartial: isPartial)
    }

    static func take(
        _ request: CreateBackup, in transaction: any CatalogueTransaction
    ) throws -> CatalogueSnapshot {
        let chosen = try request.categoryIds.map { ids in
            Set(try ids.map { try transaction.categories.require(.id($0)).id })
        }
        let categories = try transaction.categories.all().filter { chosen?.contains($0.id) ?? true }
        let isPartial = chosen != nil || request.since != nil
        var photos: [BackupMetadata.Photo] = []
        try transaction.photos.forEach(since: request.since) { photo in
            if chosen?.contains(photo.photo.categoryId) ?? true { photos.append(BackupMetadata.Photo(photo)) }
        }
        return CatalogueSnapshot(
            categories: categories.map { category in
                BackupMetadata.Category(
                    id: category.id, displayName: category.displayName, colorHex: category.colorHex,
                    orderIndex: category.position, isDefault: category.isDefault, name: category.name,
                    iconResource: category.iconResource, createdAt: category.createdAt)
            },
            photos: photos,
            swipeSessions: isPartial ? [] : try transaction.swipes.history().map(BackupMetadata.SwipeSession.init),
            settings: try transaction.settings.settings(), isPartial: isPartial)
    }

    func metadata(at time: Timestamp) -> BackupMetadata {
        BackupMetadata(
            version: BackupFormat.version, timestamp: time, categories: categories, photos: photos,
            settings: .init(hasPIN: false, kidsModeEnabled: false), preferences: settings,
            swipeSessions: swipeSessions.isEmpty ? nil : swipeSessions)
    }
}

extension BackupMetadata.Photo {
    init(_ sourced: SourcedPhoto) {
        let photo = sourced.photo
        self.init(
            id: photo.id, path: photo.path, categoryId: photo.categoryId, caption: photo.caption,
            timestamp: photo.shownAt, isFavorite: photo.isFavorite, uuid: photo.uuid, name: photo.name,
            isFromAssets: photo.isFromAssets, createdAt: photo.createdAt, takenAt: photo.takenAt, width: photo.width,
            height: photo.height, fileSize: photo.fileSize, mediaType: photo.mediaType,
            contentDigest: photo.contentDigest, sourceDigest: sourced.sourceDigest, sourceSize: sourced.sourceSize)
    }

    /// As the library enters it.
    func sourced(path: StoredName, category: Int64) -> SourcedPhoto {
        SourcedPhoto(
            photo: Photo(
                id: id, uuid: uuid, path: path.path, categoryId: category, name: name, caption: caption,
                isFromAssets: isFromAssets, createdAt: createdAt, fileSize: fileSize, width: width, height: height,
                isFavorite: isFavorite, takenAt: takenAt, contentDigest: contentDigest, mediaType: mediaType),
            sourceDigest: sourceDigest, sourceSize: sourceSize)
    }
}

extension BackupMetadata.SwipeSession {
    init(_ record: SwipeRecord) {
        self.init(
            sessionID: record.sessionID, startTime: record.startTime, endTime: record.endTime,
            actions: record.actions.map { action in
                Action(
                    photoIdentifier: action.decision.photo, contentDigest: action.decision.contentDigest,
                    action: action.decision.action, timestamp: action.timestamp, isProcessed: action.isProcessed)
            })
    }

    /// As the library enters it.
    var record: SwipeRecord {
        SwipeRecord(
            sessionID: sessionID, startTime: startTime, endTime: endTime,
            actions: actions.map { action in
                .init(
                    decision: SwipeDecision(
                        session: sessionID, photo: action.photoIdentifier, contentDigest: action.contentDigest,
                        action: action.action),
                    timestamp: action.timestamp, isProcessed: action.isProcessed)
            })
    }
}
