import ServiceMesh

/// A few people who send each other one photo a day, which is gone two days later. A backup has the groups that the library
/// keeps, and none of their photos.
///
/// Of a person there is a first name and a number that means nothing elsewhere. Phone numbers, by which the phone app knows its
/// users, are not kept: nothing here needs one.
public struct Group: Codable, Sendable, Equatable, Identifiable {
    /// A UUID, lower case.
    public let id: String
    public let name: String
    public let createdAt: Timestamp
    /// When somebody sent the last photo, also where that has expired; nil before the first.
    public let lastPhotoDate: Timestamp?
    /// Whether this library's own person has had their photo of the day.
    public let hasSentToday: Bool
    /// Photos that have not expired.
    public let photoCount: Int
    /// In the order in which they joined.
    public let members: [GroupMember]
    /// The address of the machine that keeps it for all its members (``GroupHub``); nil where this one does.
    public let hub: String?

    /// Groups of a library.
    public static let maximumCount = 100
    public static let maximumMembers = 12

    public init(
        id: String, name: String, createdAt: Timestamp, lastPhotoDate: Timestamp?, hasSentToday: Bool, photoCount: Int,
        members: [GroupMember], hub: String? = nil
    ) {
        self.id = id
        self.name = name
        self.createdAt = createdAt
        self.lastPhotoDate = lastPhotoDate
        self.hasSentToday = hasSentToday
        self.photoCount = photoCount
        self.members = members
        self.hub = hub
    }

    /// Members for whom it ends where it is deleted here: others than this library's person, of one that is kept here.
    package var keptFor: Int { hub == nil ? members.count { !$0.isSelf } : 0 }
}

public struct GroupMember: Codable, Sendable, Equatable {
    /// A UUID, lower case; the same person has the same one in every group.
    public let userId: String
    public let firstName: String
    public let joinedAt: Timestamp
    /// Whether this is the person of this library, who sends from here.
    public let isSelf: Bool

    public init(userId: String, firstName: String, joinedAt: Timestamp, isSelf: Bool) {
        self.userId = userId
        self.firstName = firstName
        self.joinedAt = joinedAt
        self.isSelf = isSelf
    }
}

/// A photo that a member has sent, for two days. It is none of the library's photos: those list it nowhere, and it counts
/// with none of them.
public struct GroupPhoto: Codable, Sendable, Equatable, Identifiable {
    /// A UUID, lower case.
    public let id: String
    public let groupId: String
    public let senderId: String
    /// As the sender was called then.
    public let senderName: String
    /// Of its file, relative to the library's folder; nil where there is none: it is still to come (``isComing``), it could not be
    /// fetched (``width`` is 0), or others needed the room.
    public let localPath: String?
    /// Where its hub has it; nil where the group is kept here.
    public let remoteUrl: String?
    /// True where it was sent here and the group's hub does not have it yet.
    public let isWaiting: Bool?
    /// True where its picture is still to be fetched from the hub.
    public let isComing: Bool?
    /// Pixels: a JPEG of at most 2048 x 2048; 0 where its picture was never here.
    public let width: Int
    public let height: Int
    /// Bytes of its file.
    public let fileSize: Int64
    public let createdAt: Timestamp
    /// ``lifetimeHours`` after ``createdAt``; earlier where the clock was set back meanwhile, so that it has no longer to live.
    public let expiresAt: Timestamp

    public static let lifetimeHours = 48
    /// In the library's folder, with the files of all of them.
    package static let folder = "group-photos"
    /// Bytes of a file that is taken for one, from another machine.
    public static let maximumBytes: Int64 = 16 << 20

    public init(
        id: String, groupId: String, senderId: String, senderName: String, localPath: String?,
        remoteUrl: String? = nil, isWaiting: Bool? = nil, isComing: Bool? = nil, width: Int, height: Int,
        fileSize: Int64,
        createdAt: Timestamp, expiresAt: Timestamp
    ) {
        self.id = id
        self.groupId = groupId
        self.senderId = senderId
        self.senderName = senderName
        self.localPath = localPath
        self.remoteUrl = remoteUrl
        self.isWaiting = isWaiting
        self.isComing = isComing
        self.width = width
        self.height = height
        self.fileSize = fileSize
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }
}

/// The rules for what groups and their members are called.
public enum GroupName {
    /// Characters, after trimming.
    public static let maximumLength = 100

    /// The name as it is stored and shown.
    /// - Parameter whose: what has the name, as the sentence begins: "A group's name".
    /// - Throws: `invalid_argument` for one that cannot be seen, is longer than ``maximumLength``, or has characters that break a
    ///   line or turn its direction. Joiners stay: several scripts and emoji need them.
    public static func validated(_ name: String, _ whose: String = "A group's name") throws -> String {
        let trimmed = name.trimmingWhitespace
        guard !CategoryName.isBlank(trimmed) else {
            throw MeshError(.invalidArgument, "\(whose) is missing. Give one that can be seen.")
        }
        guard trimmed.count <= maximumLength, trimmed.utf8.count <= maximumLength * 16 else {
            throw MeshError(.invalidArgument, "\(whose) has \(maximumLength) characters at most. Shorten it.")
        }
        guard trimmed.unicodeScalars.allSatisfy(isShown) else {
            throw MeshError(
                .invalidArgument,
                "\(whose) must be one line, without control characters and without any that turn its direction.")
        }
        return trimmed
    }

    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
        default: !scalar.properties.isBidiControl
        }
    }
}
