import ServiceMesh

// What members of groups ask that this machine keeps, from theirs. The web program hands it on; the token says who asks, so a kid's
// connection may carry it. An unknown token, one that was taken back, and one of somebody else's group are told apart by nobody.

/// The groups of whoever has a token. Errors: `unauthenticated`, `invalid_argument` (`utcOffset`).
public struct ListHubGroups: Message {
    public typealias Reply = HubGroupList
    public static let method = "hub.groups"
    public static let access = Role.nobody
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let summary = "The groups of the member whose token this is."
    public let token: String
    /// As ``ListGroups/utcOffset``.
    public let utcOffset: Int?

    public init(token: String, utcOffset: Int? = nil) {
        self.token = token
        self.utcOffset = utcOffset
    }
}

public struct HubGroupList: Codable, Sendable, Equatable {
    public let groups: [HubGroup]
    public init(groups: [HubGroup]) { self.groups = groups }
}

/// A group as its hub tells of it: dayly-data-layer.md's `GroupDTO`.
public struct HubGroup: Codable, Sendable, Equatable {
    public struct Member: Codable, Sendable, Equatable {
        public let id: String
        public let firstName: String?
        /// By the hub's clock; nil at hubs that do not say.
        public let joinedAt: Timestamp?

        public init(id: String, firstName: String?, joinedAt: Timestamp? = nil) {
            self.id = id
            self.firstName = firstName
            self.joinedAt = joinedAt
        }
    }

    public struct LastPhoto: Codable, Sendable, Equatable {
        public let timestamp: Timestamp
        public let senderId: String

        public init(timestamp: Timestamp, senderId: String) {
            self.timestamp = timestamp
            self.senderId = senderId
        }
    }

    public let id: String
    public let name: String
    public let memberCount: Int
    public let members: [Member]
    /// Of those that have not expired; nil where there is none.
    public let lastPhoto: LastPhoto?
    /// Whether whoever asks has.
    public let hasSentToday: Bool
    /// Whoever asks, by their id among the members; nil at hubs that do not say.
    public let memberId: String?
    /// By the hub's clock; nil at hubs that do not say.
    public let createdAt: Timestamp?

    public init(
        id: String, name: String, memberCount: Int, members: [Member], lastPhoto: LastPhoto?, hasSentToday: Bool,
        memberId: String?, createdAt: Timestamp? = nil
    ) {
        self.createdAt = createdAt
        self.id = id
        self.name = name
        self.memberCount = memberCount
        self.members = members
        self.lastPhoto = lastPhoto
        self.hasSentToday = hasSentToday
        self.memberId = memberId
    }
}

/// Photos of a group, for a member: those of today, or all that have not expired, the newest first. Errors: `unauthenticated`,
/// `not_found` (no such group of theirs), `invalid_argument` (`utcOffset`).
public struct ListHubPhotos: Message {
    public typealias Reply = HubPhotoList
    public static let method = "hub.photos"
    public static let access = Role.nobody
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let summary = "Photos of a group, for a member's token."
    public let token: String
    public let groupId: String
    /// As ``ListGroups/utcOffset``: whose midnight is meant.
    public let utcOffset: Int?
    /// Whether those from before midnight are wanted too.
    public let unexpired: Bool?

    public init(token: String, groupId: String, utcOffset: Int? = nil, unexpired: Bool? = nil) {
        self.token = token
        self.groupId = groupId
        self.utcOffset = utcOffset
        self.unexpired = unexpired
    }
}

public struct HubPhotoList: Codable, Sendable, Equatable {
    public let photos: [HubPhoto]
    public init(photos: [HubPhoto]) { self.photos = photos }
}

/// A group's photo as its hub tells of it, with dayly-data-layer.md's names.
public struct HubPhoto: Codable, Sendable, Equatable {
    public let id: String
    public let groupId: String
    public let senderId: String
    public let senderName: String
    /// Where its picture is; the web program writes it, which knows under which address it was asked.
    public let url: String?
    public let createdAt: Timestamp
    public let expiresAt: Timestamp
    /// Days since 1970-01-01 on the sender's calendar; nil at hubs that do not say.
    public let day: Int64?

    private enum CodingKeys: String, CodingKey {
        case id
        case groupId = "group_id"
        case senderId = "sender_id"
        case senderName = "sender_name"
        case url
        case createdAt = "created_at"
        case expiresAt = "expires_at"
        case day
    }

    public init(
        id: String, groupId: String, senderId: String, senderName: String, url: String? = nil, createdAt: Timestamp,
        expiresAt: Timestamp, day: Int64? = nil
    ) {
        self.id = id
        self.groupId = groupId
        self.senderId = senderId
        self.senderName = senderName
        self.url = url
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.day = day
    }
}

/// The picture of a group's photo, for a member. Errors: `unauthenticated`, `not_found`.
public struct OpenHubPhoto: Message {
    public typealias Reply = OpenedGroupPhoto
    public static let method = "hub.open"
    public static let access = Role.nobody
    /// That it was used is no change of the group.
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let carriesFiles = true
    public static let summary = "A group's photo as an open file, for a member's token."
    public let token: String
    public let photoId: String

    public init(token: String, photoId: String) {
        self.token = token
        self.photoId = photoId
    }
}

/// Opens a file (from afar a pipe, as ``BeginUpload`` has it) for the bytes of a picture that a member sends; ``SendHubPhoto`` takes it within ``validMinutes``. Where
/// ``maximumCount`` wait, or ``maximumCountOfOne`` of one member, the oldest of them is given up. Errors: `unauthenticated`, `not_found` (no such group of theirs),
/// `already_exists` (they have sent today), `resource_exhausted` (``GroupPhoto/maximumBytes``, no room).
public struct ReceiveHubPhoto: Message {
    public typealias Reply = OpenedHubUpload
    public static let method = "hub.receive"
    public static let access = Role.nobody
    public static let kind = MessageKind.write
    public static let carriesFiles = true
    public static let summary = "A file for the bytes of a picture that a member sends."
    /// Of all members, and of one.
    public static let maximumCount = 32
    public static let maximumCountOfOne = 4
    public static let validMinutes = 10
    public let token: String
    public let groupId: String
    /// Bytes that are to come.
    public let size: Int64

    public init(token: String, groupId: String, size: Int64) {
        self.token = token
        self.groupId = groupId
        self.size = size
    }
}

public struct OpenedHubUpload: Codable, Sendable, Equatable {
    public let upload: String
    /// To be written. Nil over a socket where descriptors were not asked for.
    public let content: OwnedFile?

    public init(upload: String, content: OwnedFile?) {
        self.upload = upload
        self.content = content
    }
}

/// Makes a received picture the member's photo of the day, with pixels of its own and nothing else of the file.
///
/// Who sends twice with one key has sent once: the second reply is the first one's. A photo that was made while this machine could
/// not be reached counts for the day of then, if that is still within ``GroupPhoto/lifetimeHours``. Of several that come at once
/// one is sent.
///
/// Errors: `unauthenticated`, `not_found` (no such group of theirs), `unavailable` (no such upload, or not any more), `already_exists` (they have sent on that
/// day), `invalid_argument` (no picture, a key or an age that is none, `utcOffset`), `resource_exhausted` (no room, no memory).
public struct SendHubPhoto: Message {
    public typealias Reply = HubPhoto
    public static let method = "hub.send"
    public static let access = Role.nobody
    public static let kind = MessageKind.write
    public static let summary = "Sends a received picture to a group, for a member's token."
    /// UTF-8 bytes of a key.
    public static let keyLength = 1...200
    public let token: String
    public let groupId: String
    /// Of ``ReceiveHubPhoto``.
    public let upload: String
    /// Of the sender's choice, the same for each try; a UUID becomes the photo's id.
    public let key: String?
    /// Minutes that the sender's clock is ahead of UTC; this machine's unless told.
    public let utcOffset: Int?
    /// Milliseconds since it was made; 0 unless told. An age and no time, since their clock need not be this one's.
    public let ageMs: Int64?

    public init(
        token: String, groupId: String, upload: String, key: String? = nil, utcOffset: Int? = nil, ageMs: Int64? = nil
    ) {
        self.token = token
        self.groupId = groupId
        self.upload = upload
        self.key = key
        self.utcOffset = utcOffset
        self.ageMs = ageMs
    }
}

/// Takes the member whose token this is out of a group. Errors: `unauthenticated`, `not_found` (no such group of theirs).
public struct LeaveHubGroup: Message {
    public typealias Reply = Done
    public static let method = "hub.leave"
    public static let access = Role.nobody
    public static let kind = MessageKind.write
    public static let summary = "Takes the member whose token this is out of a group."
    public let token: String
    public let groupId: String

    public init(token: String, groupId: String) {
        self.token = token
        self.groupId = groupId
    }
}
