import ServiceMesh

/// Another machine that keeps groups which this library's person is in.
public struct GroupHub: Codable, Sendable, Equatable, Identifiable {
    /// A UUID, lower case.
    public let id: String
    /// As in `https://photos.example:8468`: scheme, host and port, and a path where it has one.
    public let address: String
    public let addedAt: Timestamp
    /// When all of its groups that are here were last as they are there; nil before the first time.
    public let syncedAt: Timestamp?
    /// Why the last try was none, or which groups cannot be here, in a sentence; nil where all is as it is there.
    public let problem: String?

    /// Of a library.
    public static let maximumCount = 20

    public init(id: String, address: String, addedAt: Timestamp, syncedAt: Timestamp?, problem: String?) {
        self.id = id
        self.address = address
        self.addedAt = addedAt
        self.syncedAt = syncedAt
        self.problem = problem
    }
}

/// Joins the groups that another machine keeps, with the token of an invitation (``InviteGroupMember``). Replies when that machine
/// has answered; its groups are here then. Where it is joined already, the token takes the place of the one before.
///
/// Errors: `invalid_argument` (the address, the token), `failed_precondition` (an address without TLS that is not this machine's, unless
/// `allowsPlainHTTP`; a token of somebody who is not in the groups that are here from that machine), `unauthenticated` (the token is worth nothing there), `unavailable` (it
/// does not answer), `resource_exhausted` (``GroupHub/maximumCount``).
public struct JoinGroups: Message {
    public typealias Reply = GroupHub
    public static let method = "group.join"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Joins the groups that another machine keeps."
    public let address: String
    public let token: String
    /// Whether the token and the photos may go where others on the way can read them.
    public let allowsPlainHTTP: Bool?

    public init(address: String, token: String, allowsPlainHTTP: Bool? = nil) {
        self.address = address
        self.token = token
        self.allowsPlainHTTP = allowsPlainHTTP
    }
}

/// Machines that keep groups for this library's person, in the order in which they were joined, and photos that they did not take.
public struct ListGroupHubs: Message {
    public typealias Reply = GroupHubList
    public static let method = "group.hubs"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let summary = "Other machines that keep groups."
    public init() {}
}

/// Observes what ``ListGroupHubs`` lists, now and after each change: also what this machine finds out by itself.
public struct ObserveGroupHubs: Message, Hashable {
    public typealias Reply = Done
    public typealias Update = GroupHubList
    public static let method = "group.observeHubs"
    public static let access = Role.parent
    public static let kind = MessageKind.observation
    public static let replySize = ReplySize.single
    public static let summary = "Other machines that keep groups, now and after each change."
    public init() {}
}

public struct GroupHubList: Codable, Sendable, Equatable {
    public let hubs: [GroupHub]
    /// What was sent here in vain, the latest first.
    public let undelivered: [UndeliveredGroupPhoto]

    public init(hubs: [GroupHub], undelivered: [UndeliveredGroupPhoto]) {
        self.hubs = hubs
        self.undelivered = undelivered
    }
}

/// A photo that was sent here to a group that another machine keeps, and that nobody else gets. The photo in the library is what it
/// was. Told for ``keptDays``, of the last ``maximumCount``.
public struct UndeliveredGroupPhoto: Codable, Sendable, Equatable, Identifiable {
    /// That of the group's photo, which is not there any more.
    public let id: String
    public let groupId: String
    /// As the group was called then.
    public let groupName: String
    /// The address of the machine that keeps the group.
    public let hub: String
    public let sentAt: Timestamp
    /// When this machine knew that nobody gets it.
    public let noticedAt: Timestamp
    public let reason: Reason
    /// In a sentence, where the reason alone does not say it.
    public let detail: String?

    public enum Reason: String, Codable, Sendable, CaseIterable {
        /// The same person's other machine was faster that day.
        case anotherPhoto
        /// The group is gone, or one is not in it any more.
        case groupGone
        /// The machine could not be reached before it expired.
        case expired
        /// Its sender has left the group, or forgotten the machine, before it went out.
        case left
        /// The machine does not take it, or it could not be read here any more.
        case refused
    }

    public static let keptDays = 7
    public static let maximumCount = 100

    public init(
        id: String, groupId: String, groupName: String, hub: String, sentAt: Timestamp, noticedAt: Timestamp,
        reason: Reason, detail: String? = nil
    ) {
        self.id = id
        self.groupId = groupId
        self.groupName = groupName
        self.hub = hub
        self.sentAt = sentAt
        self.noticedAt = noticedAt
        self.reason = reason
        self.detail = detail
    }
}

/// Forgets a hub with its groups and their photos, without telling it: for one that does not answer any more. Who wants out of a
/// group leaves it (``LeaveGroup``). Errors: `not_found`.
public struct ForgetGroupHub: Message {
    public typealias Reply = GroupHub
    public static let method = "group.forget"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Forgets another machine, with the groups that it keeps."
    public let id: String
    public init(id: String) { self.id = id }
}

/// Brings groups that other machines keep up to date: sends what waits, fetches what is new. It happens by itself as well: when the
/// library is opened, every quarter of an hour, and when something was sent here. Lines tell of photos that came, went out, or
/// lost against another one of the same day, and of hubs that did not answer.
public struct SyncGroups: Message {
    public typealias Reply = JobStarted
    public static let method = "group.sync"
    public static let access = Role.parent
    public static let kind = MessageKind.job
    public static let summary = "Sends and fetches photos of groups that other machines keep."
    /// All hubs unless told.
    public let hubId: String?
    public init(hubId: String? = nil) { self.hubId = hubId }
}

public struct SyncReceipt: JobReceipt, Codable, Sendable, Equatable {
    public let ending: JobEnding
    /// Hubs that were asked, and those of them that did not answer as they should.
    public let hubs: Int
    public let failed: Int
    /// Photos.
    public let sent: Int
    public let fetched: Int
    /// Photos that were sent here and not taken there: somebody was faster, or the group is gone.
    public let lost: Int

    public init(ending: JobEnding, hubs: Int, failed: Int, sent: Int, fetched: Int, lost: Int) {
        self.ending = ending
        self.hubs = hubs
        self.failed = failed
        self.sent = sent
        self.fetched = fetched
        self.lost = lost
    }
}

/// Tells GroupStore that SyncCoordinator has changed groups or their photos.
public struct RefreshGroups: Message {
    public typealias Reply = Done
    public static let method = "group.refresh"
    public static let access = Role.service
    public static let kind = MessageKind.write
    public static let summary = "Looks at groups anew, after they were synced."
    public init() {}
}
