import ServiceMesh

public struct ModeStatus: Codable, Sendable, Equatable {
    public let mode: AppMode
    public init(mode: AppMode) { self.mode = mode }
}

/// Tells whom the library is open to without a PIN.
public struct GetMode: Message {
    public typealias Reply = ModeStatus
    public static let method = "mode.get"
    public static let access = Role.kid
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let summary = "Parent mode or kids mode."
    public init() {}
}

/// Sets whom the library is open to without a PIN; kept over restarts (<doc:Roles>).
///
/// With kids mode every connection that is open has the role of a kid, also the one that sets it: whoever sets it hands the
/// machine over. What a parent observes or waits for on them ends. With parent mode no open connection gets a higher role.
/// Errors: `failed_precondition` for kids mode without a PIN, which nobody could leave.
public struct SetMode: Message {
    public typealias Reply = ModeStatus
    public static let method = "mode.set"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Sets parent mode or kids mode; kids mode makes every connection a kid's."
    public let mode: AppMode
    public init(mode: AppMode) { self.mode = mode }
}
