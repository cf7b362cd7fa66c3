import ServiceMesh

/// Marks photos as favourites, or takes the mark away. All or none. Errors: `not_found`, naming the first id.
public struct SetFavorite: Message {
    public typealias Reply = PhotosChanged
    public static let method = "photo.favorite"
    public static let access = Role.looker
    public static let kind = MessageKind.write
    public static let summary = "Marks photos as favourites, or takes the mark away."
    public let ids: [Int64]
    public let isFavorite: Bool
    /// Ids that are no photo's are passed over, and not refused: a selection may be older than the last change.
    public let ignoreMissing: Bool?

    public init(ids: [Int64], isFavorite: Bool, ignoreMissing: Bool? = nil) {
        self.ids = ids
        self.isFavorite = isFavorite
        self.ignoreMissing = ignoreMissing
    }
}

/// How many photos a request changed; asking for what is so already changes none.
public struct PhotosChanged: Codable, Sendable, Equatable {
    public let count: Int
    public init(count: Int) { self.count = count }
}

/// Moves photos to another category. All or none. Errors: `not_found` for a photo or the category.
public struct MovePhotos: Message {
    public typealias Reply = PhotosChanged
    public static let method = "photo.move"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Moves photos to another category."
    public let ids: [Int64]
    public let categoryId: Int64
    /// Ids that are no photo's are passed over, and not refused: a selection may be older than the last change.
    public let ignoreMissing: Bool?

    public init(ids: [Int64], categoryId: Int64, ignoreMissing: Bool? = nil) {
        self.ids = ids
        self.categoryId = categoryId
        self.ignoreMissing = ignoreMissing
    }
}

/// Writes a photo's caption; without one, removes it. Not for anything about a child: captions are searched and
/// shown, the sensitive fields are sealed. Errors: `not_found`, `invalid_argument` (over 2,000 characters).
public struct SetCaption: Message {
    public typealias Reply = Photo
    public static let method = "photo.caption"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Writes a photo's caption, or removes it."
    /// Characters.
    public static let maximumLength = 2000
    public let id: Int64
    public let caption: String?

    public init(id: Int64, caption: String?) {
        self.id = id
        self.caption = caption
    }
}

/// Puts photos into the trash, from which they can be restored for 30 days. All or none. They are named in one way: by
/// ids, by uuids, by paths, or as all of a category; the category stays, also empty.
/// Errors: `not_found`, naming the first; `invalid_argument` unless they are named in one way.
public struct DeletePhotos: Message {
    public typealias Reply = PhotosChanged
    public static let method = "photo.delete"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Puts photos into the trash; they can be restored for 30 days."
    public let ids: [Int64]?
    public let uuids: [String]?
    /// Relative to the library folder, as in ``Photo/path``.
    public let paths: [String]?
    public let categoryId: Int64?
    /// What names no photo is passed over, and not refused: a selection may be older than the last change. Not for a category.
    public let ignoreMissing: Bool?

    public init(ids: [Int64], ignoreMissing: Bool? = nil) { self.init(ids, nil, nil, nil, ignoreMissing) }
    public init(uuids: [String]) { self.init(nil, uuids, nil, nil) }
    public init(paths: [String]) { self.init(nil, nil, paths, nil) }
    public init(categoryId: Int64) { self.init(nil, nil, nil, categoryId) }

    private init(
        _ ids: [Int64]?, _ uuids: [String]?, _ paths: [String]?, _ categoryId: Int64?,
        _ ignoreMissing: Bool? = nil
    ) {
        self.ids = ids
        self.uuids = uuids
        self.paths = paths
        self.categoryId = categoryId
        self.ignoreMissing = ignoreMissing
    }
}

/// Forgets photos and leaves their files where they are (`removeFromLibrary`). Errors: `not_found`.
public struct ForgetPhotos: Message {
    public typealias Reply = ForgottenPhotos
    public static let method = "photo.forget"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Forgets photos without touching their files."
    public let ids: [Int64]
    public init(ids: [Int64]) { self.ids = ids }
}

public struct ForgottenPhotos: Codable, Sendable, Equatable {
    /// Where the files still are, relative to the library folder.
    public let paths: [String]
    public init(paths: [String]) { self.paths = paths }
}
