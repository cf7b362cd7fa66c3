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

/// One photo by its id or its uuid. Errors: `not_found`, `invalid_argument` without either.
public struct GetPhoto: Message {
    public typealias Reply = Photo
    public static let method = "photo.get"
    public static let access = Role.kid
    public static let kind = MessageKind.read
    public static let summary = "One photo, by id or by uuid."
    public let id: Int64?
    public let uuid: String?

    public init(id: Int64) {
        self.id = id
        uuid = nil
    }

    public init(uuid: String) {
        id = nil
        self.uuid = uuid
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

/// Puts photos into the trash, from which they can be restored for 30 days. All or none. Errors: `not_found`.
public struct DeletePhotos: Message {
    public typealias Reply = PhotosChanged
    public static let method = "photo.delete"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Puts photos into the trash; they can be restored for 30 days."
    public let ids: [Int64]
    public init(ids: [Int64]) { self.ids = ids }
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
