import ServiceMesh

/// All settings (<doc:LibrarySettings>). Those with a `var` are a person's to change; the others follow from what else
/// happens.
public struct Settings: Codable, Sendable, Equatable {
    /// How far a swipe has to go before it counts, as a fraction of the screen's width: 0…1.
    public var swipeThreshold: Double
    public static let leastSwipeThreshold = 0.05
    public var enableHapticFeedback: Bool
    /// Finishing a swipe session applies its decisions at once.
    public var autoProcessActions: Bool
    /// Photos leave the trash by themselves when their time is over.
    public var storageCleanupEnabled: Bool
    /// Imports keep the sources of photos that are not stored as they came.
    public var keepOriginals: Bool
    /// What the photos of all groups may take on the disk, in millions of bytes: 10…100,000. Past it, those at which nobody has
    /// looked for longest lose their files.
    public var groupPhotoMegabytes: Double
    /// The phone apps' own; kept for their sake, without effect here.
    public var biometricAuthEnabled: Bool
    /// Set by ``SetMode`` only.
    public let currentAppMode: AppMode
    /// Whether there is a PIN; the PIN itself is nowhere in here.
    public let parentalLockEnabled: Bool
    /// Whether the categories of the first start were made once.
    public let defaultCategoriesInitialized: Bool
    /// When the last backup was proven readable. Set by backups only.
    public let lastBackupDate: Timestamp?
    /// When groups were last brought up to date. Set by their sync only.
    public let lastSyncDate: Timestamp?

    public init(
        swipeThreshold: Double = 0.3, enableHapticFeedback: Bool = true, autoProcessActions: Bool = false,
        storageCleanupEnabled: Bool = true, keepOriginals: Bool = true, groupPhotoMegabytes: Double = 500,
        biometricAuthEnabled: Bool = false, currentAppMode: AppMode = .parent, parentalLockEnabled: Bool = false,
        defaultCategoriesInitialized: Bool = false, lastBackupDate: Timestamp? = nil, lastSyncDate: Timestamp? = nil
    ) {
        self.swipeThreshold = swipeThreshold
        self.enableHapticFeedback = enableHapticFeedback
        self.autoProcessActions = autoProcessActions
        self.storageCleanupEnabled = storageCleanupEnabled
        self.keepOriginals = keepOriginals
        self.groupPhotoMegabytes = groupPhotoMegabytes
        self.biometricAuthEnabled = biometricAuthEnabled
        self.currentAppMode = currentAppMode
        self.parentalLockEnabled = parentalLockEnabled
        self.defaultCategoriesInitialized = defaultCategoriesInitialized
        self.lastBackupDate = lastBackupDate
        self.lastSyncDate = lastSyncDate
    }

    /// Backups from before there was a setting say nothing of it.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let standard = Settings()
        func flag(_ key: CodingKeys, _ standard: Bool) throws -> Bool {
            try container.decodeIfPresent(Bool.self, forKey: key) ?? standard
        }
        self.init(
            swipeThreshold: try container.decode(Double.self, forKey: .swipeThreshold),
            enableHapticFeedback: try container.decode(Bool.self, forKey: .enableHapticFeedback),
            autoProcessActions: try container.decode(Bool.self, forKey: .autoProcessActions),
            storageCleanupEnabled: try container.decode(Bool.self, forKey: .storageCleanupEnabled),
            keepOriginals: try flag(.keepOriginals, standard.keepOriginals),
            groupPhotoMegabytes: try container.decodeIfPresent(Double.self, forKey: .groupPhotoMegabytes)
                ?? standard.groupPhotoMegabytes,
            biometricAuthEnabled: try flag(.biometricAuthEnabled, standard.biometricAuthEnabled),
            currentAppMode: try container.decodeIfPresent(AppMode.self, forKey: .currentAppMode)
                ?? standard.currentAppMode,
            parentalLockEnabled: try flag(.parentalLockEnabled, standard.parentalLockEnabled),
            defaultCategoriesInitialized: try flag(
                .defaultCategoriesInitialized, standard.defaultCategoriesInitialized),
            lastBackupDate: try container.decodeIfPresent(Timestamp.self, forKey: .lastBackupDate),
            lastSyncDate: try container.decodeIfPresent(Timestamp.self, forKey: .lastSyncDate))
    }
}

/// All settings.
public struct GetSettings: Message {
    public typealias Reply = Settings
    public static let method = "settings.get"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let summary = "All settings."
    public init() {}
}

/// Changes what is given and keeps the rest (``SettingKey/settable``). Not for the mode, which is ``SetMode``'s, nor for
/// the PIN. Errors: `invalid_argument` for a value out of its range.
public struct ChangeSettings: Message {
    public typealias Reply = Settings
    public static let method = "settings.set"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Changes settings; what is not named stays."
    public let swipeThreshold: Double?
    public let enableHapticFeedback: Bool?
    public let autoProcessActions: Bool?
    public let storageCleanupEnabled: Bool?
    public let keepOriginals: Bool?
    public let groupPhotoMegabytes: Double?
    public let biometricAuthEnabled: Bool?

    public init(
        swipeThreshold: Double? = nil, enableHapticFeedback: Bool? = nil, autoProcessActions: Bool? = nil,
        storageCleanupEnabled: Bool? = nil, keepOriginals: Bool? = nil, groupPhotoMegabytes: Double? = nil,
        biometricAuthEnabled: Bool? = nil
    ) {
        self.swipeThreshold = swipeThreshold
        self.enableHapticFeedback = enableHapticFeedback
        self.autoProcessActions = autoProcessActions
        self.storageCleanupEnabled = storageCleanupEnabled
        self.keepOriginals = keepOriginals
        self.groupPhotoMegabytes = groupPhotoMegabytes
        self.biometricAuthEnabled = biometricAuthEnabled
    }
}
