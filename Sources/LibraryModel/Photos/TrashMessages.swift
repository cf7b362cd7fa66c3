import ServiceMesh

/// What is in the trash, the latest first, a page at a time. Errors: `invalid_argument` (limit, cursor).
public struct ListTrash: Message {
    public typealias Reply = TrashPage
    public static let method = "trash.list"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    public static let summary = "Photos in the trash, the latest first, in pages."
    /// 1…1000; 100 unless told.
    public let limit: Int?
    /// The `next` of the page before.
    public let after: String?

    public init(limit: Int? = nil, after: String? = nil) {
        self.limit = limit
        self.after = after
    }
}

public struct TrashPage: Codable, Sendable, Equatable {
    public let photos: [TrashedPhoto]
    public let next: String?

    public init(photos: [TrashedPhoto], next: String?) {
        self.photos = photos
        self.next = next
    }
}

/// Takes photos out of the trash, back into their category; one that is gone is made again. Photos that were imported again
/// meanwhile stay there, and the reply names them. Errors: `not_found` for one that is not in the trash, and then none is
/// restored.
public struct RestorePhotos: Message {
    public typealias Reply = RestoredPhotos
    public static let method = "trash.restore"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Takes photos out of the trash, back into their category."
    public let ids: [Int64]
    public init(ids: [Int64]) { self.ids = ids }
}

public struct RestoredPhotos: Codable, Sendable, Equatable {
    /// Those that are in the library now.
    public let count: Int
    /// Those that stayed in the trash, since the library has the same picture; absent where there are none.
    public let staying: [StayingPhoto]?

    public init(count: Int, staying: [StayingPhoto]?) {
        self.count = count
        self.staying = staying
    }
}

public struct StayingPhoto: Codable, Sendable, Equatable {
    /// In the trash.
    public let id: Int64
    /// Of the photo in the library that is the same.
    public let sameAs: Int64

    public init(id: Int64, sameAs: Int64) {
        self.id = id
        self.sameAs = sameAs
    }
}

/// Removes photos in the trash for good, files and all: those named, or every one whose time is over, or all. While a
/// backup is unfinished it may need their files; these go when it has ended, and so does the room they take.
/// Errors: `not_found`, `invalid_argument` where both ids and `all` are given.
public struct PurgeTrash: Message {
    public typealias Reply = PhotosChanged
    public static let method = "trash.purge"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Removes photos in the trash for good; without ids, those over 30 days old."
    public let ids: [Int64]?
    public let all: Bool?

    public init(ids: [Int64]? = nil, all: Bool? = nil) {
        self.ids = ids
        self.all = all
    }
}
