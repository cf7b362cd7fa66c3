import ServiceMesh

/// Photos that meet every filter given, newest first, a page at a time. Without filters: the whole library.
/// Errors: `invalid_argument` (limit, cursor, dates the wrong way round).
public struct SearchPhotos: Message {
    public typealias Reply = PhotoPage
    public static let method = "photo.search"
    public static let access = Role.kid
    public static let kind = MessageKind.read
    public static let summary = "Photos by text, category, dates and favourite, newest first, in pages."
    /// Anywhere in name, caption or path; case and diacritics ignored; `%`, `_`, quotes and emoji are literal.
    public let text: String?
    public let categoryId: Int64?
    /// Inclusive, by the date taken, else the date added.
    public let from: Timestamp?
    public let to: Timestamp?
    public let favoritesOnly: Bool?
    /// 1…1000; 100 unless told.
    public let limit: Int?
    /// The `next` of the page before.
    public let after: String?

    public init(
        text: String? = nil, categoryId: Int64? = nil, from: Timestamp? = nil, to: Timestamp? = nil,
        favoritesOnly: Bool? = nil, limit: Int? = nil, after: String? = nil
    ) {
        self.text = text
        self.categoryId = categoryId
        self.from = from
        self.to = to
        self.favoritesOnly = favoritesOnly
        self.limit = limit
        self.after = after
    }
}

public struct PhotoPage: Codable, Sendable, Equatable {
    public let photos: [Photo]
    /// What to pass as `after` for the next page; absent after the last.
    public let next: String?

    public init(photos: [Photo], next: String?) {
        self.photos = photos
        self.next = next
    }
}

/// How many photos meet every filter given; without filters, how many there are. Takes what ``SearchPhotos`` takes, but
/// for pages. Not for following a number: ``ObservePhotos`` and ``ObserveCategory`` bring it after each change.
/// Errors: `invalid_argument` (dates the wrong way round, a long text).
public struct CountPhotos: Message {
    public typealias Reply = PhotoCount
    public static let method = "photo.count"
    public static let access = Role.kid
    public static let kind = MessageKind.read
    public static let summary = "How many photos meet the filters."
    /// Anywhere in name, caption or path; case and diacritics ignored; `%`, `_`, quotes and emoji are literal.
    public let text: String?
    /// One that is not there has none.
    public let categoryId: Int64?
    /// Inclusive, by the date taken, else the date added.
    public let from: Timestamp?
    public let to: Timestamp?
    public let favoritesOnly: Bool?

    public init(
        text: String? = nil, categoryId: Int64? = nil, from: Timestamp? = nil, to: Timestamp? = nil,
        favoritesOnly: Bool? = nil
    ) {
        self.text = text
        self.categoryId = categoryId
        self.from = from
        self.to = to
        self.favoritesOnly = favoritesOnly
    }

    /// The search that finds those that are counted.
    public var search: SearchPhotos {
        SearchPhotos(text: text, categoryId: categoryId, from: from, to: to, favoritesOnly: favoritesOnly)
    }
}

public struct PhotoCount: Codable, Sendable, Equatable {
    public let count: Int
    public init(count: Int) { self.count = count }
}

/// One photo by its id, its uuid or its path. Errors: `not_found`, `invalid_argument` unless it is named in one way.
public struct GetPhoto: Message {
    public typealias Reply = Photo
    public static let method = "photo.get"
    public static let access = Role.kid
    public static let kind = MessageKind.read
    public static let summary = "One photo, by id, by uuid or by path."
    public let id: Int64?
    public let uuid: String?
    /// Relative to the library folder, as in ``Photo/path``. For an absolute one: ``IdentifyPath``.
    public let path: String?

    public init(id: Int64) {
        self.id = id
        uuid = nil
        path = nil
    }

    public init(uuid: String) {
        id = nil
        self.uuid = uuid
        path = nil
    }

    public init(path: String) {
        id = nil
        uuid = nil
        self.path = path
    }
}

/// Puts a photo into the catalogue whose files are in place. For PhotoImporter only: everything else about the
/// file must have been done, and be durable, before. Errors: `already_exists` where the same source is there
/// (`id`), `not_found` for the category.
public struct AddPhoto: Message {
    public typealias Reply = Photo
    public static let method = "photo.add"
    public static let access = Role.service
    public static let kind = MessageKind.write
    public static let summary = "Enters a stored photo into the catalogue."
    /// Its id is ignored; the catalogue gives one.
    public let photo: Photo
    /// SHA-256 of the file it was made from, lower-case hex.
    public let sourceDigest: String
    /// Bytes of that file.
    public let sourceSize: Int64
    /// The job whose receipt gets a line for it, in the same transaction: after a kill there are both or neither.
    public let job: JobID?
    /// That line.
    public let line: ReceiptLine?

    public init(
        photo: Photo, sourceDigest: String, sourceSize: Int64, job: JobID? = nil, line: ReceiptLine? = nil
    ) {
        self.photo = photo
        self.sourceDigest = sourceDigest
        self.sourceSize = sourceSize
        self.job = job
        self.line = line
    }
}

/// Puts many photos into the catalogue, in one transaction: all or none. For programs that take over a catalogue; what
/// holds for ``AddPhoto`` holds for each. Other writes wait meanwhile, some 30 µs for each photo.
/// Errors: `already_exists` where the same source or path is there, or twice among these; `not_found` for a
/// category; `invalid_argument` for none or more than ``maximumCount``.
public struct AddPhotos: Message {
    public typealias Reply = PhotosChanged
    public static let method = "photo.addAll"
    public static let access = Role.service
    public static let kind = MessageKind.write
    public static let summary = "Enters many stored photos into the catalogue, all or none."
    /// Photos in one request.
    public static let maximumCount = 100_000
    public let photos: [NewPhoto]
    public init(photos: [NewPhoto]) { self.photos = photos }
}

/// A photo that is to be entered; see ``AddPhoto``.
public struct NewPhoto: Codable, Sendable {
    /// Its id is ignored; the catalogue gives one.
    public let photo: Photo
    /// SHA-256 of the file it was made from, lower-case hex.
    public let sourceDigest: String
    /// Bytes of that file.
    public let sourceSize: Int64

    public init(photo: Photo, sourceDigest: String, sourceSize: Int64) {
        self.photo = photo
        self.sourceDigest = sourceDigest
        self.sourceSize = sourceSize
    }
}

/// The digests of sources of one size, for PhotoImporter: a file whose size no source had cannot be a duplicate, so
/// most files need not be read twice.
public struct FindSourceDigests: Message {
    public typealias Reply = SourceDigests
    public static let method = "photo.sourceDigests"
    public static let access = Role.service
    public static let kind = MessageKind.read
    public static let summary = "The digests of imported sources of one size."
    /// Bytes.
    public let sourceSize: Int64
    public init(sourceSize: Int64) { self.sourceSize = sourceSize }
}

public struct SourceDigests: Codable, Sendable {
    /// SHA-256, lower-case hex.
    public let digests: [String]
    public init(digests: [String]) { self.digests = digests }
}

/// Marks photos as favourites, or takes the mark away. All or none. Errors: `not_found`, naming the first id.
public struct SetFavorite: Message {
    public typealias Reply = PhotosChanged
    public static let method = "photo.favorite"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Marks photos as favourites, or takes the mark away."
    public let ids: [Int64]
    public let isFavorite: Bool

    public init(ids: [Int64], isFavorite: Bool) {
        self.ids = ids
        self.isFavorite = isFavorite
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

    public init(ids: [Int64], categoryId: Int64) {
        self.ids = ids
        self.categoryId = categoryId
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
/// nothing to change, a name over ``maximumNameLength`` or with control characters, a caption over
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
    public let takenAt: Timestamp?

    public init(
        id: Int64, name: String? = nil, caption: String? = nil, categoryId: Int64? = nil, isFavorite: Bool? = nil,
        takenAt: Timestamp? = nil
    ) {
        self.id = id
        self.name = name
        self.caption = caption
        self.categoryId = categoryId
        self.isFavorite = isFavorite
        self.takenAt = takenAt
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

    public init(ids: [Int64]) { self.init(ids, nil, nil, nil) }
    public init(uuids: [String]) { self.init(nil, uuids, nil, nil) }
    public init(paths: [String]) { self.init(nil, nil, paths, nil) }
    public init(categoryId: Int64) { self.init(nil, nil, nil, categoryId) }

    private init(_ ids: [Int64]?, _ uuids: [String]?, _ paths: [String]?, _ categoryId: Int64?) {
        self.ids = ids
        self.uuids = uuids
        self.paths = paths
        self.categoryId = categoryId
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
