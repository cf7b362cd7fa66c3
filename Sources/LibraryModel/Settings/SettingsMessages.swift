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
    /// Imports keep the sources of photos that are not stored as they came.
    public var keepOriginals: Bool
    /// When the last backup was proven readable. Set by backups only.
    public let lastBackupDate: Timestamp?

    public init(
        swipeThreshold: Double = 0.3, enableHapticFeedback: Bool = true, autoProcessActions: Bool = false,
        storageCleanupEnabled: Bool = true, keepOriginals: Bool = true, lastBackupDate: Timestamp? = nil
    ) {
        self.swipeThreshold = swipeThreshold
        self.enableHapticFeedback = enableHapticFeedback
        self.autoProcessActions = autoProcessActions
        self.storageCleanupEnabled = storageCleanupEnabled
        self.keepOriginals = keepOriginals
        self.lastBackupDate = lastBackupDate
    }

    /// Backups from before there was a setting say nothing of it.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            swipeThreshold: try container.decode(Double.self, forKey: .swipeThreshold),
            enableHapticFeedback: try container.decode(Bool.self, forKey: .enableHapticFeedback),
            autoProcessActions: try container.decode(Bool.self, forKey: .autoProcessActions),
            storageCleanupEnabled: try container.decode(Bool.self, forKey: .storageCleanupEnabled),
            keepOriginals: try container.decodeIfPresent(Bool.self, forKey: .keepOriginals) ?? true,
            lastBackupDate: try container.decodeIfPresent(Timestamp.self, forKey: .lastBackupDate))
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
    public let keepOriginals: Bool?

    public init(
        swipeThreshold: Double? = nil, enableHapticFeedback: Bool? = nil, autoProcessActions: Bool? = nil,
        storageCleanupEnabled: Bool? = nil, keepOriginals: Bool? = nil
    ) {
        self.swipeThreshold = swipeThreshold
        self.enableHapticFeedback = enableHapticFeedback
        self.autoProcessActions = autoProcessActions
        self.storageCleanupEnabled = storageCleanupEnabled
        self.keepOriginals = keepOriginals
    }
}
