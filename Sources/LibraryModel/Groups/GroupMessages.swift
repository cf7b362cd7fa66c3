import ServiceMesh

/// How far a person's clock is ahead of UTC, which decides on which day they are.
public enum UTCOffset {
    /// Minutes; from Baker Island to Kiribati.
    public static let range = -720...840
}

/// Makes a group with this library's person as its first member. Errors: `invalid_argument` (a name),
/// `resource_exhausted` (``Group/maximumCount`` groups).
public struct CreateGroup: Message {
    public typealias Reply = Group
    public static let method = "group.create"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Makes a group, with oneself in it."
    /// 1 to ``GroupName/maximumLength`` characters, like `firstName`. Several groups may have one name.
    public let name: String
    /// How the others see the person of this library.
    public let firstName: String

    public init(name: String, firstName: String) {
        self.name = name
        self.firstName = firstName
    }
}

/// Gives a group another name. Errors: `not_found`, `invalid_argument` (the name), `failed_precondition` (another machine keeps
/// it).
public struct RenameGroup: Message {
    public typealias Reply = Group
    public static let method = "group.rename"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Gives a group another name."
    public let id: String
    public let name: String

    public init(id: String, name: String) {
        self.id = id
        self.name = name
    }
}

/// Deletes a group with its members and photos, for all of them; there is no way back. Not for going out of a group that another
/// machine keeps: ``LeaveGroup``. Replies with what it was. Errors: `not_found`, `failed_precondition` (another machine keeps it).
public struct DeleteGroup: Message {
    public typealias Reply = Group
    public static let method = "group.delete"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Deletes a group with its photos."
    public let id: String
    public init(id: String) { self.id = id }
}

/// Takes this library's person out of a group. Nothing of it stays here: neither the group nor anybody's photos. Replies with what
/// it was. A machine that keeps it for others is told as soon as it answers. Errors: `not_found`; `failed_precondition` where one
/// is not in it, or where this machine keeps it for others: for them it would end, which ``DeleteGroup`` says.
public struct LeaveGroup: Message {
    public typealias Reply = Group
    public static let method = "group.leave"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Takes oneself out of a group; its photos go."
    public let id: String
    public init(id: String) { self.id = id }

    /// Why the person whose machine keeps a group for so many others does not leave it.
    package static func refusal(keptFor others: Int) -> MeshError {
        MeshError(
            .failedPrecondition,
            "You keep this group for \(others) \(others == 1 ? "other" : "others"); it would end for all of them: smilepile groups delete"
        )
    }
}

/// All groups, the oldest first. Errors: `invalid_argument` (`utcOffset`).
public struct ListGroups: Message {
    public typealias Reply = GroupList
    public static let method = "group.list"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    public static let summary = "All groups, with their members."
    /// Minutes that the person's clock is ahead of UTC; this machine's unless told. It decides what `hasSentToday` means.
    public let utcOffset: Int?
    public init(utcOffset: Int? = nil) { self.utcOffset = utcOffset }
}

public struct GroupList: Codable, Sendable, Equatable {
    public let groups: [Group]
    public init(groups: [Group]) { self.groups = groups }
}

/// One group. Errors: `not_found`, `invalid_argument` (`utcOffset`).
public struct GetGroup: Message {
    public typealias Reply = Group
    public static let method = "group.get"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let summary = "One group, with its members."
    public let id: String
    /// As ``ListGroups/utcOffset``.
    public let utcOffset: Int?

    public init(id: String, utcOffset: Int? = nil) {
        self.id = id
        self.utcOffset = utcOffset
    }
}

/// Who is in a group, in the order in which they joined. Errors: `not_found`.
public struct ListGroupMembers: Message {
    public typealias Reply = GroupMemberList
    public static let method = "group.members"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    public static let summary = "Who is in a group."
    public let id: String
    public init(id: String) { self.id = id }
}

public struct GroupMemberList: Codable, Sendable, Equatable {
    public let members: [GroupMember]
    public init(members: [GroupMember]) { self.members = members }
}

/// Observes all groups, now and after each change; what has changed only because time has passed is told when it has.
public struct ObserveGroups: Message, Hashable {
    public typealias Reply = Done
    public typealias Update = GroupList
    public static let method = "group.observe"
    public static let access = Role.parent
    public static let kind = MessageKind.observation
    public static let summary = "All groups, now and after each change."
    public init() {}
}
