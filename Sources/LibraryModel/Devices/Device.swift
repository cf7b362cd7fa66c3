import ServiceMesh

/// A browser that was paired with the library: whoever has its token is let in by the web program. What it may do there is
/// decided by its connection's role, as everywhere (<doc:Roles>). In no backup.
public struct Device: Codable, Sendable, Equatable, Identifiable {
    /// A UUID, lower case.
    public let id: String
    /// As a person called it.
    public let name: String
    /// What the browser called itself when it was paired; nil where it did not.
    public let userAgent: String?
    public let createdAt: Timestamp
    /// The last use, to the hour.
    public let lastSeenAt: Timestamp
    /// Whom it is for, and with that the most that it may.
    public let role: DeviceRole
    /// Of a child's device: the categories that it shows, ascending. Nil for others.
    public let categoryIds: [Int64]?
    /// Whether programs on it have a password (``MakeDevicePassword``). Told by ``ListDevices`` alone; absent for no.
    public var hasPassword: Bool?

    /// Unicode scalars.
    public static let nameLength = 1...100
    public static let userAgentLength = 300
    /// Paired at the same time.
    public static let maximumCount = 100

    public init(
        id: String, name: String, userAgent: String?, createdAt: Timestamp, lastSeenAt: Timestamp,
        rights: DeviceRights = .parent
    ) {
        self.id = id
        self.name = name
        self.userAgent = userAgent
        self.createdAt = createdAt
        self.lastSeenAt = lastSeenAt
        role = rights.role
        categoryIds = rights.categoryIds
    }

    public var rights: DeviceRights { DeviceRights(role, categoryIds: categoryIds) }

    /// The same, seen at another time.
    public func seen(at time: Timestamp) -> Device {
        Device(
            id: id, name: name, userAgent: userAgent, createdAt: createdAt, lastSeenAt: time, rights: rights)
    }

    /// The same with other rights.
    public func with(_ rights: DeviceRights) -> Device {
        Device(
            id: id, name: name, userAgent: userAgent, createdAt: createdAt, lastSeenAt: lastSeenAt, rights: rights)
    }
}

public struct DeviceList: Codable, Sendable, Equatable {
    /// The latest one last.
    public let devices: [Device]
    public init(devices: [Device]) { self.devices = devices }
}
