import ServiceMesh

/// Takes somebody into a group that this machine keeps: another SmilePile, or an app that speaks the same
/// (<doc:GroupsBetweenMachines>). Their token is told here and never again: the library keeps its digest.
///
/// Who is in another group already is named by `userId` and keeps their token, unless a new one is asked for; then the one
/// before is worth nothing any more.
///
/// Errors: `not_found` (the group; no such person), `already_exists` (in it already, and no new token is asked for),
/// `invalid_argument` (the name; neither or both of name and id), `failed_precondition` (another machine keeps the group; this
/// library's own person), `resource_exhausted` (``Group/maximumMembers``).
public struct InviteGroupMember: Message {
    public typealias Reply = GroupInvitation
    public static let method = "group.invite"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Takes somebody into a group, and tells their token."
    public let groupId: String
    /// Of somebody new.
    public let firstName: String?
    /// Of somebody who is in a group.
    public let userId: String?
    /// Whether somebody who has a token gets another one.
    public let newToken: Bool?

    public init(groupId: String, firstName: String) {
        self.groupId = groupId
        self.firstName = firstName
        userId = nil
        newToken = nil
    }

    public init(groupId: String, userId: String, newToken: Bool? = nil) {
        self.groupId = groupId
        firstName = nil
        self.userId = userId
        self.newToken = newToken
    }
}

public struct GroupInvitation: Codable, Sendable, Equatable {
    public let member: GroupMember
    /// 256 bits at random, in base64url: 43 characters. Nil where they have one.
    public let token: String?

    public init(member: GroupMember, token: String?) {
        self.member = member
        self.token = token
    }
}

/// Takes somebody out of a group that this machine keeps. What they have sent expires as it would have; the token of one who
/// is in no group any more is worth nothing from then on. Errors: `not_found`, `failed_precondition` (another machine keeps
/// the group; this library's own person, who leaves: ``LeaveGroup``).
public struct RemoveGroupMember: Message {
    public typealias Reply = Group
    public static let method = "group.remove"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Takes somebody out of a group."
    public let groupId: String
    public let userId: String

    public init(groupId: String, userId: String) {
        self.groupId = groupId
        self.userId = userId
    }
}
