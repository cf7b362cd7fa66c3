import Database
import LibraryModel
import ServiceMesh

/// What a person may set, kept in the catalogue.
public actor SettingsStore: MeshService {
    public static let serviceName = "SettingsStore"
    public static var messages: MessageList<SettingsStore> {
        GetSettings.self
        ChangeSettings.self
    }

    private let database: Database

    init(database: Database) { self.database = database }

    func settings() async throws -> Settings { try await database.read { try SettingTable.settings(in: $0) } }

    func change(_ request: ChangeSettings) async throws -> Settings {
        if let threshold = request.swipeThreshold, !(0...1).contains(threshold) {
            throw MeshError(.invalidArgument, "The swipe threshold is a fraction between 0 and 1.")
        }
        return try await database.write { connection in
            var settings = try SettingTable.settings(in: connection)
            settings.swipeThreshold = request.swipeThreshold ?? settings.swipeThreshold
            settings.enableHapticFeedback = request.enableHapticFeedback ?? settings.enableHapticFeedback
            settings.autoProcessActions = request.autoProcessActions ?? settings.autoProcessActions
            settings.storageCleanupEnabled = request.storageCleanupEnabled ?? settings.storageCleanupEnabled
            try SettingTable.store(settings, in: connection)
            return settings
        }
    }
}

extension GetSettings: HandledMessage {
    public func perform(on service: SettingsStore) async throws -> Settings { try await service.settings() }
}

extension ChangeSettings: HandledMessage {
    public func perform(on service: SettingsStore) async throws -> Settings { try await service.change(self) }
}
