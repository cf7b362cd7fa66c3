import Database
import LibraryModel
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

    static func take(_ request: CreateBackup, in connection: Connection) throws -> CatalogueSnapshot {
        let chosen = try request.categoryIds.map { ids in
            Set(try ids.map { try CategoryTable.require(id: $0, in: connection).id })
        }
        let categories = try CategoryTable.all(in: connection).filter { chosen?.contains($0.id) ?? true }
        let isPartial = chosen != nil || request.since != nil
        let since = request.since?.milliseconds ?? Int64.min
        let photos = try connection.query(
            "SELECT \(PhotoTable.sharedColumns) FROM photos WHERE created_at >= ? ORDER BY id", since
        ) { row in
            Self.photo(
                try PhotoTable.photo(row), sourceDigest: try row["source_digest"], sourceSize: try row["source_size"])
        }
        return CatalogueSnapshot(
            categories: categories.map { category in
                BackupMetadata.Category(
                    id: category.id, displayName: category.displayName, colorHex: category.colorHex,
                    orderIndex: category.position, isDefault: category.isDefault, name: category.name,
                    iconResource: category.iconResource, createdAt: category.createdAt)
            },
            photos: photos.filter { chosen?.contains($0.categoryId) ?? true },
            swipeSessions: isPartial ? [] : try sessions(in: connection),
            settings: try SettingTable.settings(in: connection), isPartial: isPartial)
    }

    private static func photo(
        _ photo: Photo, sourceDigest: String, sourceSize: Int64
    ) -> BackupMetadata.Photo {
        BackupMetadata.Photo(
            id: photo.id, path: photo.path, categoryId: photo.categoryId, caption: photo.caption,
            timestamp: photo.shownAt, isFavorite: photo.isFavorite, uuid: photo.uuid, name: photo.name,
            isFromAssets: photo.isFromAssets, createdAt: photo.createdAt, takenAt: photo.takenAt, width: photo.width,
            height: photo.height, fileSize: photo.fileSize, mediaType: photo.mediaType,
            contentDigest: photo.contentDigest, sourceDigest: sourceDigest, sourceSize: sourceSize)
    }

    private static func sessions(in connection: Connection) throws -> [BackupMetadata.SwipeSession] {
        try SwipeTable.sessions(limit: Int(Int32.max), in: connection).map { session in
            BackupMetadata.SwipeSession(
                sessionID: session.sessionID, startTime: session.startTime, endTime: session.endTime,
                actions: try SwipeTable.all(session: session.sessionID, in: connection).map { action in
                    .init(
                        photoIdentifier: action.photoIdentifier, contentDigest: action.contentDigest,
                        action: action.action, timestamp: action.timestamp, isProcessed: action.isProcessed)
                })
        }
    }

    func metadata(at time: Timestamp) -> BackupMetadata {
        BackupMetadata(
            version: BackupFormat.version, timestamp: time, categories: categories, photos: photos,
            settings: .init(hasPIN: false, kidsModeEnabled: false), preferences: settings,
            swipeSessions: swipeSessions.isEmpty ? nil : swipeSessions)
    }
}
