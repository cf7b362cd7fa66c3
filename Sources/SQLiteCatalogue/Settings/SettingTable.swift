import Database
import LibraryModel
import LibraryStorage
import ServiceMesh

/// Settings in SQLite: texts by key.
struct SettingTable: SettingRepository {
    private enum Key: String {
        case defaultCategoriesInitialized
        case lastBackupDate
        case swipeThreshold
        case enableHapticFeedback
        case autoProcessActions
        case storageCleanupEnabled
        case keepOriginals
    }

    let connection: Connection

    private func value(_ key: Key) throws -> String? {
        try connection.value("SELECT value FROM settings WHERE key = ?", key.rawValue)
    }

    private func set(_ key: Key, to value: String) throws {
        try connection.execute(
            "INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            key.rawValue, value)
    }

    func settings() throws -> Settings {
        let standard = Settings()
        func flag(_ key: Key, _ standard: Bool) throws -> Bool { try value(key).map { $0 == "true" } ?? standard }
        return Settings(
            swipeThreshold: try value(.swipeThreshold).flatMap(Double.init) ?? standard.swipeThreshold,
            enableHapticFeedback: try flag(.enableHapticFeedback, standard.enableHapticFeedback),
            autoProcessActions: try flag(.autoProcessActions, standard.autoProcessActions),
            storageCleanupEnabled: try flag(.storageCleanupEnabled, standard.storageCleanupEnabled),
            keepOriginals: try flag(.keepOriginals, standard.keepOriginals),
            lastBackupDate: try value(.lastBackupDate).flatMap(Int64.init).map(Timestamp.init(milliseconds:)))
    }

    func store(_ settings: Settings) throws {
        try set(.swipeThreshold, to: String(settings.swipeThreshold))
        try set(.enableHapticFeedback, to: String(settings.enableHapticFeedback))
        try set(.autoProcessActions, to: String(settings.autoProcessActions))
        try set(.storageCleanupEnabled, to: String(settings.storageCleanupEnabled))
        try set(.keepOriginals, to: String(settings.keepOriginals))
    }

    func setLastBackupDate(_ time: Timestamp) throws { try set(.lastBackupDate, to: String(time.milliseconds)) }

    func areDefaultCategoriesMade() throws -> Bool { try value(.defaultCategoriesInitialized) == "true" }

    func setDefaultCategoriesMade() throws { try set(.defaultCategoriesInitialized, to: "true") }
}
