import Database
import Foundation
import LibraryModel
import ServiceMesh

/// The switch: puts a plan into effect inside one transaction of the catalogue. A crash before its commit leaves the
/// old library whole, after it the new one; SQLite's own journal is what decides, so there is no second catalogue
/// file to exchange and no moment at which two could be mixed up.
struct RestoreApplication {
    let metadata: BackupMetadata
    let plan: RestorePlan
    let mode: RestoreMode
    /// The new files' names, by the photo's uuid: in place and durable already.
    let fileNames: [String: String]

    func apply(in connection: Connection) throws {
        let categories: [Int64: Int64]
        switch mode {
        case .merge: categories = try addMissingCategories(in: connection)
        case .replace: categories = try exchangeCategories(in: connection)
        }
        for photo in metadata.photos {
            if mode == .merge && plan.kept[photo.uuid] != nil { continue }
            // One that is kept may be staged too: it was not there for a while.
            guard let path = plan.kept[photo.uuid]?.path ?? fileNames[photo.uuid].map({ "photos/" + $0 }),
                let category = categories[photo.categoryId]
            else {
                throw MeshError(.internal, "The photo \(photo.path) was not staged. Please report it.")
            }
            _ = try PhotoTable.insert(
                Photo(
                    id: photo.id, uuid: photo.uuid, path: path, categoryId: category, name: photo.name,
                    caption: photo.caption, isFromAssets: photo.isFromAssets, createdAt: photo.createdAt,
                    fileSize: photo.fileSize, width: photo.width, height: photo.height, isFavorite: photo.isFavorite,
                    takenAt: photo.takenAt, contentDigest: photo.contentDigest, mediaType: photo.mediaType),
                sourceDigest: photo.sourceDigest, sourceSize: photo.sourceSize, keepingID: mode == .replace,
                in: connection)
        }
        try addSessions(in: connection)
        if mode == .replace, let preferences = metadata.preferences {
            try SettingTable.store(preferences, in: connection)
        }
        try check(in: connection)
    }

    private func color(of category: BackupMetadata.Category) -> String {
        category.colorHex.flatMap(CategoryColor.normalized) ?? CategoryColor.fallback
    }

    private func addMissingCategories(in connection: Connection) throws -> [Int64: Int64] {
        var ids = plan.matchedCategories
        for category in plan.newCategories {
            ids[category.id] = try CategoryTable.add(
                displayName: CategoryName.validated(category.displayName, mayBeInvisible: true),
                colorHex: color(of: category),
                iconResource: category.iconResource, isDefault: category.isDefault,
                createdAt: category.createdAt ?? .now(), in: connection
            ).id
        }
        return ids
    }

    /// Photos that the backup does not have go to the trash, where they stay for 30 days: a replacement that was a
    /// mistake must not cost pictures that exist once.
    private func exchangeCategories(in connection: Connection) throws -> [Int64: Int64] {
        let now = Timestamp.now()
        for photo in plan.removed {
            _ = try TrashTable.moveIn(where: "p.id = ?", photo.id, at: now, in: connection)
        }
        // A condition, because SQLite's update hook does not see a DELETE without one.
        for table in ["photos", "categories", "swipe_actions"] {
            try connection.execute("DELETE FROM \(table) WHERE id <> 0")
        }
        try connection.execute("DELETE FROM swipe_sessions WHERE id <> ''")
        var ids: [Int64: Int64] = [:]
        for (position, category) in plan.newCategories.enumerated() {
            ids[category.id] = try CategoryTable.add(
                displayName: CategoryName.validated(category.displayName, mayBeInvisible: true),
                colorHex: color(of: category),
                iconResource: category.iconResource, isDefault: category.isDefault,
                createdAt: category.createdAt ?? .now(), id: category.id, position: position, in: connection
            ).id
        }
        try TrashTable.followCategories(in: connection)
        return ids
    }

    private func addSessions(in connection: Connection) throws {
        for session in plan.newSessions {
            try SwipeTable.insertSession(
                id: session.sessionID, startedAt: session.startTime, endedAt: session.endTime, in: connection)
            for action in session.actions {
                _ = try SwipeTable.insert(
                    session: session.sessionID, photo: action.photoIdentifier, digest: action.contentDigest,
                    action: action.action, at: action.timestamp, isProcessed: action.isProcessed, in: connection)
            }
        }
    }

    /// The new library's health, before it becomes the library.
    private func check(in connection: Connection) throws {
        let broken = try connection.query("PRAGMA foreign_key_check") { try $0[0] as String }
        let count = try connection.first("SELECT count(*) FROM photos") { try $0[0] as Int } ?? 0
        guard broken.isEmpty, mode == .merge || count == metadata.photos.count else {
            throw MeshError(
                .internal, "The restored library did not pass its check; nothing was changed. Please report it.")
        }
    }
}
