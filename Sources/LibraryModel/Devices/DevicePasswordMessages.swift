import ServiceMesh

/// Makes a password for programs on a device that upload by themselves over WebDAV: PhotoSync, FolderSync,
/// rclone. It is told here and never again, since the library keeps its digest, and takes the place of the one before. With it a program
/// puts files in and sees what this device has sent, and nothing else (``ListSentFiles``).
///
/// It ends with ``EndDevicePassword``, and when the device is forgotten or made another's than a parent's. Errors: `not_found`;
/// `failed_precondition` (a looker's or a child's device, which adds no photos).
public struct MakeDevicePassword: Message {
    public typealias Reply = DevicePassword
    public static let method = "device.makePassword"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "A password for programs on a parent's device that upload by themselves."
    /// ``Device/id``.
    public let id: String
    public init(id: String) { self.id = id }
}

public struct DevicePassword: Codable, Sendable, Equatable {
    /// What programs that insist on a user's name are given. It is not looked at.
    public static let userName = "smilepile"

    public let device: Device
    public let user: String
    /// 140 bits at random: seven groups of four letters and digits, as `7k3m-…`, without those that are taken for others.
    public let password: String

    public init(device: Device, user: String = userName, password: String) {
        self.device = device
        self.user = user
        self.password = password
    }
}

/// Ends the password of a device's programs: they are refused from their next request on. What they have sent stays. One that is
/// not there is no error. Errors: `not_found`.
public struct EndDevicePassword: Message {
    public typealias Reply = Device
    public static let method = "device.endPassword"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Ends the password of a device's programs."
    /// ``Device/id``.
    public let id: String
    public init(id: String) { self.id = id }
}

/// The device whose program shows a password, for the store of what programs have sent. Errors: `unauthenticated`, whatever is wrong.
public struct FindDeviceOfPassword: Message {
    public typealias Reply = Device
    public static let method = "device.ofPassword"
    public static let access = Role.service
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let summary = "The device whose program shows a password."
    public let password: String
    public init(password: String) { self.password = password }
}
