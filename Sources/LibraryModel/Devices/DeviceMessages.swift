import ServiceMesh

/// Makes a code with which one device can be paired: once, and for ten minutes. It is kept in memory alone, so a restart
/// forgets it. It lets whoever has it in, so it belongs where no log has it: in the fragment of an address, in a QR code.
/// Where ``maximumCount`` wait already, the oldest of them ends: whoever has lost a code needs the new one.
///
/// The code also says whom the device will be for; ``SetDeviceRole`` changes that later. Errors: `invalid_argument` for a child's
/// device without categories, and for categories of another one; `not_found` for a category that is not there.
public struct InviteDevice: Message {
    public typealias Reply = Invitation
    public static let method = "device.invite"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary =
        "A code with which one device can be paired, once, as a parent's, a looker's or a child's."
    /// Codes that wait at the same time.
    public static let maximumCount = 16
    public static let validMinutes = 10
    /// A parent's unless told.
    public let role: DeviceRole?
    /// Of a child's device, 1 to ``DeviceRights/maximumCategories``: the categories that it shows.
    public let categoryIds: [Int64]?

    public init(role: DeviceRole? = nil, categoryIds: [Int64]? = nil) {
        self.role = role
        self.categoryIds = categoryIds
    }
}

public struct Invitation: Codable, Sendable, Equatable {
    /// 128 bits at random, in base64url: 22 characters.
    public let code: String
    public let expiresAt: Timestamp

    public init(code: String, expiresAt: Timestamp) {
        self.code = code
        self.expiresAt = expiresAt
    }
}

/// Pairs a device by a code of ``InviteDevice``, which is used up by it. The token is told here and never again: the library
/// keeps its digest. For the web program, on behalf of a browser; in kids mode too, since the code was a parent's.
///
/// Errors: `unauthenticated` (no such code, or one that is used or too old), `invalid_argument` (the name), and
/// `resource_exhausted`: after ten wrong codes within a minute the next is taken when that is over
/// (`retryAfterMs`), and where ``Device/maximumCount`` are paired.
public struct PairDevice: Message {
    public typealias Reply = PairedDevice
    public static let method = "device.pair"
    public static let access = Role.nobody
    public static let kind = MessageKind.write
    public static let summary = "Pairs a device by a one-time code, and tells its token."
    public let code: String
    /// 1 to 100 characters; spaces at either end are left out.
    public let name: String
    /// What the browser calls itself; shortened to 300 characters.
    public let userAgent: String?

    public init(code: String, name: String, userAgent: String? = nil) {
        self.code = code
        self.name = name
        self.userAgent = userAgent
    }
}

public struct PairedDevice: Codable, Sendable, Equatable {
    public let device: Device
    /// 256 bits at random, in base64url: 43 characters.
    public let token: String

    public init(device: Device, token: String) {
        self.device = device
        self.token = token
    }
}

/// The device that a token belongs to, from memory and without a look at the disk; its use is noted once an hour. In kids mode
/// too. Errors: `unauthenticated`, whatever is wrong with the token.
public struct AuthenticateDevice: Message {
    public typealias Reply = Device
    public static let method = "device.authenticate"
    public static let access = Role.nobody
    /// That it was used is no change of the library.
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let summary = "The device that a token belongs to."
    public let token: String
    public init(token: String) { self.token = token }
}

/// The devices that are paired. Never their tokens.
public struct ListDevices: Message {
    public typealias Reply = DeviceList
    public static let method = "device.list"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let summary = "The devices that are paired."
    public init() {}
}

/// Changes whom a device is for, at once: what it has open ends, and it begins anew as what it is then. A device may change
/// itself, and needs another one, or this machine's command line, to become a parent's again.
/// Errors: `not_found` for the device and for a category; `invalid_argument` as ``InviteDevice``.
public struct SetDeviceRole: Message {
    public typealias Reply = Device
    public static let method = "device.setRole"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary =
        "Makes a device a parent's, a looker's or a child's, which sees chosen categories alone."
    public let id: String
    public let role: DeviceRole
    /// Of a child's device, 1 to ``DeviceRights/maximumCategories``: the categories that it shows.
    public let categoryIds: [Int64]?

    public init(id: String, role: DeviceRole, categoryIds: [Int64]? = nil) {
        self.id = id
        self.role = role
        self.categoryIds = categoryIds
    }
}

/// Forgets a device: its token is worth nothing from then on, and whoever observes devices (``ObserveDevices``) ends what it has
/// open. Errors: `not_found`.
public struct ForgetDevice: Message {
    public typealias Reply = Device
    public static let method = "device.forget"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Forgets a device, so that it has to be paired again."
    public let id: String
    public init(id: String) { self.id = id }
}

/// Which devices are paired, at once and after each change, for a program that has let devices in and has to put out those that
/// are forgotten. Ids and numbers alone, which say nothing of anybody: it has to work in kids mode too.
public struct ObserveDevices: Message {
    public typealias Reply = Done
    public static let method = "device.observe"
    public static let access = Role.nobody
    public static let kind = MessageKind.observation
    public static let replySize = ReplySize.single
    public static let summary = "The ids of the devices that are paired, and how often each has changed."
    public init() {}
}

public struct PairedDeviceIDs: Codable, Sendable, Equatable {
    public let ids: [String]
    /// How often since the library was opened it was changed what the device with this id may do; those that were not are left out. After
    /// each change its connections end, and what was handed over for it before is not to be handed over again.
    public let changes: [String: Int]

    public init(ids: [String], changes: [String: Int] = [:]) {
        self.ids = ids
        self.changes = changes
    }
}
