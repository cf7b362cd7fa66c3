import LibraryModel
import LibraryStorage
import ServiceMesh

/// What a person may set, kept in the catalogue.
public actor SettingsStore: MeshService {
    public static let serviceName = "SettingsStore"
    public static var messages: MessageList<SettingsStore> {
        GetSettings.self
        ChangeSettings.self
    }

    private let catalogue: any Catalogue

    package init(catalogue: any Catalogue) { self.catalogue = catalogue }

    func settings() async throws -> Settings { try await catalogue.read { try $0.settings.settings() } }

    func change(_ request: ChangeSettings) async throws -> Settings {
        try request.swipeThreshold.map(SettingKey.swipeThreshold.validate)
        try request.groupPhotoMegabytes.map(SettingKey.groupPhotoMegabytes.validate)
        return try await catalogue.write { transaction in
            var settings = try transaction.settings.settings()
            settings.swipeThreshold = request.swipeThreshold ?? settings.swipeThreshold
            settings.enableHapticFeedback = request.enableHapticFeedback ?? settings.enableHapticFeedback
            settings.autoProcessActions = request.autoProcessActions ?? settings.autoProcessActions
            settings.storageCleanupEnabled = request.storageCleanupEnabled ?? settings.storageCleanupEnabled
            settings.keepOriginals = request.keepOriginals ?? settings.keepOriginals
            settings.groupPhotoMegabytes = request.groupPhotoMegabytes ?? settings.groupPhotoMegabytes
            settings.biometricAuthEnabled = request.biometricAuthEnabled ?? settings.biometricAuthEnabled
            try transaction.settings.store(settings)
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
