import Database
import Foundation
import LibraryModel
import LibraryStorage
import ServiceMesh

/// The rows of the table `settings`: texts by key.
struct SettingRows {
    enum Key: String {
        case defaultCategoriesInitialized
        case currentAppMode
        case lastBackupDate
        case lastSyncDate
        case swipeThreshold
        case enableHapticFeedback
        case autoProcessActions
        case storageCleanupEnabled
        case keepOriginals
        case groupPhotoMegabytes
        case biometricAuthEnabled
        case reviewPreferencesChangedAt
        // Not settings: AccessTable's, what the clocks said, and folders that are watched
        case pinHash
        case pinFailures
        case pinLastFailureBoot
        case pinLastFailureTime
        case pinTries
        case clockReading
        case libraryID
        case watchedFolders
    }

    let connection: Connection

    func value(_ key: Key) throws -> String? {
        try connection.value("SELECT value FROM settings WHERE key = ?", key.rawValue)
    }

    func flag(_ key: Key, _ standard: Bool) throws -> Bool { try value(key).map { $0 == "true" } ?? standard }

    func number(_ key: Key) throws -> Int64? { try value(key).flatMap { Int64($0) } }

    func set(_ key: Key, to value: String) throws {
        try connection.execute(
            "INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            key.rawValue, value)
    }

    func remove(_ key: Key) throws { try connection.execute("DELETE FROM settings WHERE key = ?", key.rawValue) }
}

/// Settings in SQLite.
struct SettingTable: SettingRepository {
    private let rows: SettingRows

    init(connection: Connection) { rows = SettingRows(connection: connection) }

    func settings() throws -> Settings {
        let standard = Settings()
        func date(_ key: SettingRows.Key) throws -> Timestamp? {
            try rows.number(key).map(Timestamp.init(milliseconds:))
        }
        return Settings(
            // Older versions had 0 and more.
            swipeThreshold: max(
                Settings.leastSwipeThreshold,
                try rows.value(.swipeThreshold).flatMap(Double.init) ?? standard.swipeThreshold),
            enableHapticFeedback: try rows.flag(.enableHapticFeedback, standard.enableHapticFeedback),
            autoProcessActions: try rows.flag(.autoProcessActions, standard.autoProcessActions),
            storageCleanupEnabled: try rows.flag(.storageCleanupEnabled, standard.storageCleanupEnabled),
            keepOriginals: try rows.flag(.keepOriginals, standard.keepOriginals),
            groupPhotoMegabytes: try rows.value(.groupPhotoMegabytes).flatMap(Double.init)
                ?? standard.groupPhotoMegabytes,
            biometricAuthEnabled: try rows.flag(.biometricAuthEnabled, standard.biometricAuthEnabled),
            currentAppMode: try rows.value(.currentAppMode).flatMap(AppMode.init) ?? standard.currentAppMode,
            parentalLockEnabled: try rows.value(.pinHash) != nil,
            defaultCategoriesInitialized: try areDefaultCategoriesMade(),
            lastBackupDate: try date(.lastBackupDate), lastSyncDate: try date(.lastSyncDate))
    }

    func store(_ settings: Settings) throws {
        try rows.set(.swipeThreshold, to: String(settings.swipeThreshold))
        try rows.set(.enableHapticFeedback, to: String(settings.enableHapticFeedback))
        try rows.set(.autoProcessActions, to: String(settings.autoProcessActions))
        try rows.set(.storageCleanupEnabled, to: String(settings.storageCleanupEnabled))
        try rows.set(.keepOriginals, to: String(settings.keepOriginals))
        try rows.set(.groupPhotoMegabytes, to: String(settings.groupPhotoMegabytes))
        try rows.set(.biometricAuthEnabled, to: String(settings.biometricAuthEnabled))
    }

    func reviewPreferencesChangedAt() throws -> Timestamp? {
        try rows.number(.reviewPreferencesChangedAt).map(Timestamp.init(milliseconds:))
    }

    func setReviewPreferencesChanged(at time: Timestamp) throws {
        try rows.set(.reviewPreferencesChangedAt, to: String(time.milliseconds))
    }

    func setLastBackupDate(_ time: Timestamp) throws { try rows.set(.lastBackupDate, to: String(time.milliseconds)) }

    func setLastSyncDate(_ time: Timestamp) throws { try rows.set(.lastSyncDate, to: String(time.milliseconds)) }

    func libraryID() throws -> String? { try rows.value(.libraryID) }

    func setLibraryID(_ id: String) throws { try rows.set(.libraryID, to: id) }

    func clockReading() throws -> ClockReading? { try rows.value(.clockReading).flatMap(ClockReading.init) }

    func setClockReading(_ reading: ClockReading) throws { try rows.set(.clockReading, to: reading.text) }

    /// As one text: they are few, and always wanted all.
    func watchedFolders() throws -> [StoredWatchedFolder] {
        let text = try rows.value(.watchedFolders) ?? "[]"
        return (try? JSONDecoder().decode([StoredWatchedFolder].self, from: Data(text.utf8))) ?? []
    }

    func setWatchedFolders(_ folders: [StoredWatchedFolder]) throws {
        try rows.set(.watchedFolders, to: String(decoding: try JSONEncoder().encode(folders), as: UTF8.self))
    }

    func areDefaultCategoriesMade() throws -> Bool { try rows.flag(.defaultCategoriesInitialized, false) }

    func setDefaultCategoriesMade() throws { try rows.set(.defaultCategoriesInitialized, to: "true") }
}
