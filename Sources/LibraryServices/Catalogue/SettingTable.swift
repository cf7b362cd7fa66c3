import Database
import LibraryModel
import ServiceMesh

/// The settings table: texts by key.
enum SettingTable {
    enum Key: String {
        case defaultCategoriesInitialized
        case lastBackupDate
        case swipeThreshold
        case enableHapticFeedback
        case autoProcessActions
        case storageCleanupEnabled
    }

    static func value(_ key: Key, in connection: Connection) throws -> String? {
        try connection.first("SELECT value FROM settings WHERE key = ?", key.rawValue) { try $0[0] as String }
    }

    static func set(_ key: Key, to value: String, in connection: Connection) throws {
        try connection.execute(
            "INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            key.rawValue, value)
    }

    static func settings(in connection: Connection) throws -> Settings {
        let standard = Settings()
        func flag(_ key: Key, _ standard: Bool) throws -> Bool {
            try value(key, in: connection).map { $0 == "true" } ?? standard
        }
        return Settings(
            swipeThreshold: try value(.swipeThreshold, in: connection).flatMap(Double.init) ?? standard.swipeThreshold,
            enableHapticFeedback: try flag(.enableHapticFeedback, standard.enableHapticFeedback),
            autoProcessActions: try flag(.autoProcessActions, standard.autoProcessActions),
            storageCleanupEnabled: try flag(.storageCleanupEnabled, standard.storageCleanupEnabled),
            lastBackupDate: try value(.lastBackupDate, in: connection).flatMap(Int64.init).map(
                Timestamp.init(milliseconds:)))
    }

    /// Everything but the date of the last backup, which only a backup sets.
    static func store(_ settings: Settings, in connection: Connection) throws {
        try set(.swipeThreshold, to: String(settings.swipeThreshold), in: connection)
        try set(.enableHapticFeedback, to: String(settings.enableHapticFeedback), in: connection)
        try set(.autoProcessActions, to: String(settings.autoProcessActions), in: connection)
        try set(.storageCleanupEnabled, to: String(settings.storageCleanupEnabled), in: connection)
    }
}
