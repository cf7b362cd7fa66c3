import ServiceMesh

/// Marks photos as favourites, or takes the mark away. All or none. Errors: `not_found`, naming the first id.
public struct SetFavorite: Message {
    public typealias Reply = PhotosChanged
    public static let method = "photo.favorite"
    public static let access = Role.parent
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

/// Changes what is given of one photo and keeps the rest, all at once. What describes its file (path, size, digest,
/// pixels) is not for a person to change. Errors: `not_found` for the photo or the category; `invalid_argument` for
/// nothing to change, a date and a shift at once, an offset past 16 hours, a name over ``maximumNameLength`` or with control characters, a caption over
/// ``SetCaption/maximumLength``.
public struct EditPhoto: Message {
    public typealias Reply = Photo
    public static let method = "photo.edit"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Changes a photo's name, caption, category, mark or date."
    /// Characters, after trimming.
    public static let maximumNameLength = 500
    public let id: Int64
    /// An empty text removes it: the photo is shown under its file's name then.
    public let name: String?
    /// An empty text removes it.
    public let caption: String?
    public let categoryId: Int64?
    public let isFavorite: Bool?
    /// By which lists sort and filter from then on; the file's own EXIF stays as it is.
    public let takenAt: LocalDateTime?
    /// How far `takenAt` is known, the second unless told; alone, how far the date that the photo has is. What is less is
    /// dropped: of 1978-08-12 known to the month, lists and the page say August 1978.
    public let datePrecision: DatePrecision?
    /// Minutes that the camera's clock was ahead of UTC, -960…960. Of a date that is no guess, it makes one that a person said.
    public let takenOffset: Int?
    /// Milliseconds by which the date is moved, as where a camera's clock was wrong; not together with `takenAt`.
    public let shift: Int64?

    public init(
        id: Int64, name: String? = nil, caption: String? = nil, categoryId: Int64? = nil, isFavorite: Bool? = nil,
        takenAt: LocalDateTime? = nil, datePrecision: DatePrecision? = nil, takenOffset: Int? = nil,
        shift: Int64? = nil
    ) {
        self.id = id
        self.name = name
        self.caption = caption
        self.categoryId = categoryId
        self.isFavorite = isFavorite
        self.takenAt = takenAt
        self.datePrecision = datePrecision
        self.takenOffset = takenOffset
        self.shift = shift
    }
}

/// Changes what is given of several photos alike, as ``EditPhoto`` does of one: all or none. Other writes wait meanwhile, some 0.1 ms for
/// each photo, which is why there are few in one request.
/// Errors: those of ``EditPhoto``, naming the first photo that is not there; `invalid_argument` for none or more than ``maximumCount``.
public struct EditPhotos: Message {
    public typealias Reply = EditedPhotos
    public static let method = "photo.editAll"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Changes the caption or the date of several photos alike."
    /// Photos in one request.
    public static let maximumCount = 100
    public let ids: [Int64]
    /// An empty text removes it.
    public let caption: String?
    /// See ``EditPhoto``; so too the next three.
    public let takenAt: LocalDateTime?
    public let datePrecision: DatePrecision?
    public let takenOffset: Int?
    public let shift: Int64?
    /// What names no photo is passed over, and not refused: a selection may be older than the last change.
    public let ignoreMissing: Bool?

    public init(
        ids: [Int64], caption: String? = nil, takenAt: LocalDateTime? = nil, datePrecision: DatePrecision? = nil,
        takenOffset: Int? = nil, shift: Int64? = nil, ignoreMissing: Bool? = nil
    ) {
        self.ids = ids
        self.caption = caption
        self.takenAt = takenAt
        self.datePrecision = datePrecision
        self.takenOffset = takenOffset
        self.shift = shift
        self.ignoreMissing = ignoreMissing
    }
}

public struct EditedPhotos: Codable, Sendable, Equatable {
    /// As they are now, in the order in which they were named, each once.
    public let photos: [Photo]
    public init(photos: [Photo]) { self.photos = photos }
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
