import ServiceMesh

/// Sends one of the library's photos to a group, as the photo of the day. What is sent is a picture made for it: 2048 pixels at
/// most, and nothing in it but what can be seen. No place, no date, no camera, no caption. It is gone after
/// ``GroupPhoto/lifetimeHours``.
///
/// One a day for each member and group, by the sender's own calendar. Of several that come at once one is sent.
///
/// Errors: `not_found` (the group; the photo, also where it is in the trash), `already_exists` (one was sent today),
/// `failed_precondition` (one is not in the group; the photo is a placeholder), `invalid_argument` (both keys or none,
/// `utcOffset`), `data_loss` (the photo's file cannot be opened as a picture), `resource_exhausted` (no room, or no memory).
public struct SendGroupPhoto: Message {
    public typealias Reply = GroupPhoto
    public static let method = "group.send"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Sends a photo to a group: one a day."
    public let groupId: String
    /// Of the library's photo.
    public let id: Int64?
    public let uuid: String?
    /// Minutes that the sender's clock is ahead of UTC; this machine's unless told. It decides on which day this is.
    public let utcOffset: Int?

    public init(groupId: String, id: Int64, utcOffset: Int? = nil) {
        self.groupId = groupId
        self.id = id
        uuid = nil
        self.utcOffset = utcOffset
    }

    public init(groupId: String, uuid: String, utcOffset: Int? = nil) {
        self.groupId = groupId
        id = nil
        self.uuid = uuid
        self.utcOffset = utcOffset
    }
}

/// The photos of a group, or of all, that have not expired, the newest first. Errors: `not_found`.
public struct ListGroupPhotos: Message {
    public typealias Reply = GroupPhotoList
    public static let method = "group.photos"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    public static let summary = "Photos of one group or of all that have not expired."
    /// All groups unless told.
    public let groupId: String?
    public init(groupId: String? = nil) { self.groupId = groupId }
}

/// Photos that were sent since midnight, of one group or of all, the newest first. Errors: `not_found`, `invalid_argument`
/// (`utcOffset`).
public struct ListTodaysGroupPhotos: Message {
    public typealias Reply = GroupPhotoList
    public static let method = "group.today"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    public static let summary = "Photos that were sent today, to one group or to all."
    /// All groups unless told.
    public let groupId: String?
    /// Minutes that the clock is ahead of UTC whose midnight is meant; this machine's unless told.
    public let utcOffset: Int?

    public init(groupId: String? = nil, utcOffset: Int? = nil) {
        self.groupId = groupId
        self.utcOffset = utcOffset
    }
}

public struct GroupPhotoList: Codable, Sendable, Equatable {
    public let photos: [GroupPhoto]
    public init(photos: [GroupPhoto]) { self.photos = photos }
}

/// A group's photo, open to be read; the descriptor comes as ``OpenPhoto``'s does. Whoever opens one has used it: the files of
/// others go first when there are too many. Errors: `not_found` (the photo, also one that has expired; its file).
public struct OpenGroupPhoto: Message {
    public typealias Reply = OpenedGroupPhoto
    public static let method = "group.open"
    public static let access = Role.parent
    /// That it was used is no change of the group.
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let carriesFiles = true
    public static let summary = "A group's photo as an open file."
    public let photoId: String
    public init(photoId: String) { self.photoId = photoId }
}

public struct OpenedGroupPhoto: Codable, Sendable, Equatable {
    /// A JPEG.
    public let photo: GroupPhoto
    /// Read-only. Nil over a socket where descriptors were not asked for.
    public let content: OwnedFile?

    public init(photo: GroupPhoto, content: OwnedFile?) {
        self.photo = photo
        self.content = content
    }
}

/// Imports a group's photo into the library, where it stays: an import like any other (``ImportPhotos``), with a job. Its date is
/// when it was sent, since it says nothing itself. Errors: those of ``OpenGroupPhoto``, and `not_found` (the category).
public struct KeepGroupPhoto: Message {
    public typealias Reply = JobStarted
    public static let method = "group.keep"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Imports a group's photo into the library."
    public let photoId: String
    /// Where it goes; the first category unless told.
    public let categoryId: Int64?

    public init(photoId: String, categoryId: Int64? = nil) {
        self.photoId = photoId
        self.categoryId = categoryId
    }
}
