import ServiceMesh

/// What a person may set.
public struct Settings: Codable, Sendable, Equatable {
    /// How far a swipe has to go before it counts, as a fraction of the screen's width: 0…1.
    public var swipeThreshold: Double
    public var enableHapticFeedback: Bool
    /// Finishing a swipe session applies its decisions at once.
    public var autoProcessActions: Bool
    /// Photos leave the trash by themselves when their time is over.
    public var storageCleanupEnabled: Bool
    /// When the last backup was proven readable. Set by backups only.
    public let lastBackupDate: Timestamp?

    public init(
        swipeThreshold: Double = 0.3, enableHapticFeedback: Bool = true, autoProcessActions: Bool = false,
        storageCleanupEnabled: Bool = true, lastBackupDate: Timestamp? = nil
    ) {
        self.swipeThreshold = swipeThreshold
        self.enableHapticFeedback = enableHapticFeedback
        self.autoProcessActions = autoProcessActions
        self.storageCleanupEnabled = storageCleanupEnabled
        self.lastBackupDate = lastBackupDate
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

/// Changes what is given and keeps the rest. Errors: `invalid_argument` for a threshold outside 0…1.
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

    public init(
        swipeThreshold: Double? = nil, enableHapticFeedback: Bool? = nil, autoProcessActions: Bool? = nil,
        storageCleanupEnabled: Bool? = nil
    ) {
        self.swipeThreshold = swipeThreshold
        self.enableHapticFeedback = enableHapticFeedback
        self.autoProcessActions = autoProcessActions
        self.storageCleanupEnabled = storageCleanupEnabled
    }
}
