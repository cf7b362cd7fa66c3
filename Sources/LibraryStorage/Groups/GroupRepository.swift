import LibraryModel
import ServiceMesh

/// Groups, their members and their photos, inside one transaction. Ids are lower-case UUIDs where they were entered here; a
/// catalogue from elsewhere may have anything.
package protocol GroupRepository {
    /// All groups, the oldest first, or the one of an id, with their members.
    func groups(_ id: String?) throws -> [StoredGroup]
    func count() throws -> Int
    /// - Throws: `tooManyMembers`.
    func insert(_ group: StoredGroup) throws
    /// - Throws: `noGroup`, as all that name one.
    func rename(_ id: String, to name: String) throws
    /// Removes groups with their members and photos.
    func remove(_ ids: [String]) throws
    /// - Throws: `tooManyMembers`; the catalogue's own error for one who is in it, and for a second person of this library.
    func insert(_ members: [GroupMember], into group: String) throws
    /// - Returns: whether they were in it.
    func removeMember(_ userId: String, from group: String) throws -> Bool

    /// The person who has a token, by the token's digest.
    func person(token digest: String) throws -> String?
    func hasToken(_ userId: String) throws -> Bool
    /// Enters a person's token in the place of the one before.
    func setToken(_ digest: String, of userId: String, at moment: Timestamp) throws
    /// Removes the tokens of persons who are in no group that is kept here.
    func removeUnusedTokens() throws

    /// Photos of some groups or of all, the newest first, of one moment by id.
    func photos(of groups: [String]?) throws -> [StoredGroupPhoto]
    func photo(_ id: String) throws -> StoredGroupPhoto?
    /// Ids of all photos, however many there are.
    func photoIDs() throws -> Set<String>
    /// The latest day for which a member has sent; nil where nothing is left of what they sent.
    func lastDay(of member: String, in group: String) throws -> Int64?
    /// Enters a photo. Its group's ``StoredGroup/lastPhotoDate`` is not before it from then on, also when the photo is gone.
    /// - Throws: `sentAlready`.
    func insert(_ photo: StoredGroupPhoto) throws
    /// Puts it in the place of the one with its id.
    /// - Throws: `sentAlready` where another one is of that day.
    func update(_ photo: StoredGroupPhoto) throws
    func removePhotos(_ ids: [String]) throws
    /// Removes those that expire at `moment` or before.
    /// - Returns: how many.
    func removeExpired(at moment: Timestamp) throws -> Int
    /// Notes that photos have no file any more.
    func setMissing(_ ids: [String]) throws
    func setUsed(_ id: String, at moment: Timestamp) throws
    /// What ``setTime(_:)`` stored last.
    func time() throws -> GroupTimeReading?
    /// Nil forgets it.
    func setTime(_ reading: GroupTimeReading?) throws
}

extension GroupRepository {
    package func photos(of group: String) throws -> [StoredGroupPhoto] { try photos(of: [group]) }

    /// - Throws: `noGroup`.
    package func require(_ id: String) throws -> StoredGroup {
        guard let group = try groups(id).first else { throw CatalogueError.noGroup(id) }
        return group
    }
}

/// A group as it is kept.
package struct StoredGroup: Sendable, Equatable {
    /// Photos at once: of twelve members three days at most, and some more, since calendars differ.
    package static let maximumPhotos = Group.maximumMembers * 4

    package let id: String
    package var name: String
    package let createdAt: Timestamp
    package var lastPhotoDate: Timestamp?
    package var members: [GroupMember]
    /// The id of the hub that keeps it; nil where this library does.
    package var hub: String?

    package init(
        id: String, name: String, createdAt: Timestamp, lastPhotoDate: Timestamp? = nil, members: [GroupMember],
        hub: String? = nil
    ) {
        self.id = id
        self.name = name
        self.createdAt = createdAt
        self.lastPhotoDate = lastPhotoDate
        self.members = members
        self.hub = hub
    }

    /// The person of this library; nil where they are not in it.
    package var ownMember: GroupMember? { members.first(where: \.isSelf) }
}

/// A group's photo as it is kept.
package struct StoredGroupPhoto: Sendable, Equatable {
    package let id: String
    package let groupId: String
    package let senderId: String
    package let senderName: String
    /// Days since 1970-01-01 on the sender's calendar; with group and sender it is unique.
    package var day: Int64
    package var width: Int
    package var height: Int
    /// Bytes.
    package var fileSize: Int64
    /// Whether its file is here, as far as is known.
    package var hasFile: Bool
    package var createdAt: Timestamp
    /// On the clock of ``GroupTimeReading``, which is never set back.
    package var expiresAt: Timestamp
    /// On the same clock.
    package var lastUsedAt: Timestamp
    package var transfer: Transfer
    /// Where its hub has it.
    package var url: String?
    /// Minutes that the sender's clock was ahead of UTC; of one that waits to go out.
    package var utcOffset: Int?

    /// What is left to be done with it, where a hub keeps its group.
    package enum Transfer: Int64, Sendable {
        case none = 0
        case outgoing = 1
        case incoming = 2
    }

    package init(
        id: String, groupId: String, senderId: String, senderName: String, day: Int64, width: Int, height: Int,
        fileSize: Int64, hasFile: Bool = true, createdAt: Timestamp, expiresAt: Timestamp, lastUsedAt: Timestamp,
        transfer: Transfer = .none, url: String? = nil, utcOffset: Int? = nil
    ) {
        self.id = id
        self.groupId = groupId
        self.senderId = senderId
        self.senderName = senderName
        self.day = day
        self.width = width
        self.height = height
        self.fileSize = fileSize
        self.hasFile = hasFile
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.lastUsedAt = lastUsedAt
        self.transfer = transfer
        self.url = url
        self.utcOffset = utcOffset
    }
}

/// What time it was when that was last noted, by the clock that photos expire by, and by that of the machine's start.
package struct GroupTimeReading: Sendable, Equatable {
    package let time: Timestamp
    package let boot: BootTime

    package init(time: Timestamp, boot: BootTime) {
        self.time = time
        self.boot = boot
    }
}
