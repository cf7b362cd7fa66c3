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
    private var clock: WallClock?

    /// - Parameter clock: the mesh's unless told.
    package init(catalogue: any Catalogue, clock: WallClock? = nil) {
        self.catalogue = catalogue
        self.clock = clock
    }

    public func start(on mesh: Mesh) {
        if clock == nil { clock = WallClock { [clock = mesh.clock] in clock.timestamp() } }
    }

    func settings() async throws -> Settings { try await catalogue.read { try $0.settings.settings() } }

    func change(_ request: ChangeSettings) async throws -> Settings {
        try request.swipeThreshold.map(SettingKey.swipeThreshold.validate)
        try request.groupPhotoMegabytes.map(SettingKey.groupPhotoMegabytes.validate)
        return try await catalogue.write { [clock] transaction in
            var settings = try transaction.settings.settings()
            let before = settings
            settings.swipeThreshold = request.swipeThreshold ?? settings.swipeThreshold
            settings.enableHapticFeedback = request.enableHapticFeedback ?? settings.enableHapticFeedback
            settings.autoProcessActions = request.autoProcessActions ?? settings.autoProcessActions
            settings.storageCleanupEnabled = request.storageCleanupEnabled ?? settings.storageCleanupEnabled
            settings.keepOriginals = request.keepOriginals ?? settings.keepOriginals
            settings.groupPhotoMegabytes = request.groupPhotoMegabytes ?? settings.groupPhotoMegabytes
            settings.biometricAuthEnabled = request.biometricAuthEnabled ?? settings.biometricAuthEnabled
            try transaction.settings.store(settings)
            if !settings.reviews(as: before) {
                try transaction.settings.setReviewPreferencesChanged(at: clock?.now() ?? .now())
            }
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
