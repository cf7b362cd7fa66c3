import ServiceMesh

/// Makes a link to chosen photos or to categories. The token is told here and never again: the library keeps its digest. It lets
/// whoever has it see the photos, so it belongs into the address that is passed on and nowhere else.
///
/// A link to categories shows what comes into them later too; one to photos shows these, in their order. Neither shows what is in
/// the trash. Not for somebody of the house: that device is paired (``InviteDevice``).
///
/// Errors: `invalid_argument` (both kinds or none, too many, days, title, password), `not_found` (a photo or a category),
/// `resource_exhausted` (``Link/maximumCount``).
public struct CreateLink: Message {
    public typealias Reply = CreatedLink
    public static let method = "link.create"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "A link with which people without a device see some photos, for some days."
    /// 1 to 2,000, each once.
    public let photoIds: [Int64]?
    /// 1 to 16, each once.
    public let categoryIds: [Int64]?
    /// 1 to 100 characters, which visitors read.
    public let title: String?
    /// 1 to 366; 30 unless told.
    public let days: Int?
    public let password: LinkPassword?
    /// Whether visitors may have the files that were imported, with place and camera in them. No unless told.
    public let originals: Bool?
    /// Whether visitors get captions, films, and photos with what stands in their files. No unless told.
    public let details: Bool?

    public init(
        photoIds: [Int64]? = nil, categoryIds: [Int64]? = nil, title: String? = nil, days: Int? = nil,
        password: LinkPassword? = nil, originals: Bool? = nil, details: Bool? = nil
    ) {
        self.photoIds = photoIds
        self.categoryIds = categoryIds
        self.title = title
        self.days = days
        self.password = password
        self.originals = originals
        self.details = details
    }
}

public struct CreatedLink: Codable, Sendable, Equatable {
    public let link: Link
    /// 192 bits at random, in base64url: 32 characters. The address is `/s/` and this, at the page's.
    public let token: String

    public init(link: Link, token: String) {
        self.link = link
        self.token = token
    }
}

/// The links that there are, and those that have ended within 30 days. Never their tokens.
public struct ListLinks: Message {
    public typealias Reply = LinkList
    public static let method = "link.list"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    public static let summary = "The links that were made, with how often each was opened."
    public init() {}
}

public struct LinkList: Codable, Sendable, Equatable {
    /// The latest one last.
    public let links: [Link]
    public init(links: [Link]) { self.links = links }
}

/// Ends a link: nothing is told under it from then on, and who has observed links (``ObserveLinks``) ends what is on its way. One that
/// has ended stays as it is. Errors: `not_found`.
public struct RevokeLink: Message {
    public typealias Reply = Link
    public static let method = "link.revoke"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Ends a link at once, for everybody who has it."
    public let id: String
    public init(id: String) { self.id = id }
}

/// Opens a link for a visitor, by its token: what it is, and a visit, which stands for the password for a day. An opening with a visit
/// that is still good is not counted. For the web program, on behalf of a browser; in kids mode too, since the link is a parent's.
///
/// Errors, with their reason in the detail `link`: `not_found` (`unknown`), `failed_precondition` (`expired`, `revoked`),
/// `unauthenticated` (`password` is wanted, or was `wrong`), `resource_exhausted` (`wait`, for as long as `retryAfterMs` says: passwords
/// wait as PINs do).
public struct OpenLink: Message {
    public typealias Reply = OpenedLink
    public static let method = "link.open"
    public static let access = Role.nobody
    public static let kind = MessageKind.write
    public static let summary = "Opens a link for a visitor."
    public let token: String
    public let password: LinkPassword?
    /// Of an earlier ``OpenedLink``.
    public let visit: String?

    public init(token: String, password: LinkPassword? = nil, visit: String? = nil) {
        self.token = token
        self.password = password
        self.visit = visit
    }
}

public struct OpenedLink: Codable, Sendable, Equatable {
    /// ``Link/id``, for the program that asks; it says nothing to visitors.
    public let id: String
    public let title: String?
    public let expiresAt: Timestamp
    public let photoCount: Int
    public let givesOriginals: Bool
    public let givesDetails: Bool
    /// 128 bits at random, in base64url: 22 characters. Good for a day.
    public let visit: String

    public init(
        id: String, title: String?, expiresAt: Timestamp, photoCount: Int, givesOriginals: Bool, givesDetails: Bool,
        visit: String
    ) {
        self.id = id
        self.title = title
        self.expiresAt = expiresAt
        self.photoCount = photoCount
        self.givesOriginals = givesOriginals
        self.givesDetails = givesDetails
        self.visit = visit
    }
}

/// A page of a link's photos, for its token, and a visit where it has a password. Errors: as ``OpenLink``, and `invalid_argument` for a
/// place that is none.
public struct ListLinkPhotos: Message {
    public typealias Reply = LinkPhotoPage
    public static let method = "link.photos"
    public static let access = Role.nobody
    public static let kind = MessageKind.read
    public static let summary = "A page of a link's photos, as visitors see them."
    /// On a page.
    public static let limit = 200
    public let token: String
    public let visit: String?
    /// ``LinkPhotoPage/next`` of the page before.
    public let after: String?

    public init(token: String, visit: String? = nil, after: String? = nil) {
        self.token = token
        self.visit = visit
        self.after = after
    }
}

public struct LinkPhotoPage: Codable, Sendable, Equatable {
    /// ``Link/id``.
    public let id: String
    public let photos: [LinkPhoto]
    /// Nil on the last page.
    public let next: String?

    public init(id: String, photos: [LinkPhoto], next: String?) {
        self.id = id
        self.photos = photos
        self.next = next
    }
}

/// A photo as visitors see it: no path, place, camera, name or category.
public struct LinkPhoto: Codable, Sendable, Equatable {
    public let uuid: String
    /// Pixels.
    public let width: Int
    public let height: Int
    /// As far as the date is known: `2025-06-15`, `2025-06`, `2025`; no time. Nil without a date.
    public let date: String?
    /// Whether it is a film or moves, and may be played.
    public let plays: Bool
    /// Whether it is a film, of which a picture comes where it may not be played.
    public let isFilm: Bool
    /// By how much what plays is to be turned, of a photo that moves: its film comes as the camera held it. Pictures come turned.
    public let rotation: Rotation?
    /// Milliseconds, of a film.
    public let duration: Int64?
    /// Where the link gives details.
    public let caption: String?
    /// Whether the file that was imported may be had.
    public let hasOriginal: Bool

    public init(
        uuid: String, width: Int, height: Int, date: String?, plays: Bool, isFilm: Bool, rotation: Rotation?,
        duration: Int64?, caption: String?, hasOriginal: Bool
    ) {
        self.uuid = uuid
        self.width = width
        self.height = height
        self.date = date
        self.plays = plays
        self.isFilm = isFilm
        self.rotation = rotation
        self.duration = duration
        self.caption = caption
        self.hasOriginal = hasOriginal
    }
}

/// A file of a link's photo, open to be read (the descriptor comes as ``OpenPhoto``'s does). Thumbnail, preview and photo are made of
/// pixels alone, and hold nothing else of what the library or the camera knows, unless the link gives details. Originals come where
/// the link gives them, films where it gives either.
///
/// Errors: as ``OpenLink``; `not_found` (the link does not show this photo, or not any more), `permission_denied` (the link does
/// not give this file).
public struct OpenLinkPhoto: Message {
    public typealias Reply = OpenedLinkPhoto
    public static let method = "link.openPhoto"
    public static let access = Role.nobody
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let carriesFiles = true
    public static let summary = "A picture of a link's photo as an open file, for a visitor."
    public let token: String
    public let visit: String?
    public let uuid: String
    public let file: PhotoFileKind

    public init(token: String, visit: String? = nil, uuid: String, _ file: PhotoFileKind) {
        self.token = token
        self.visit = visit
        self.uuid = uuid
        self.file = file
    }
}

public struct OpenedLinkPhoto: Codable, Sendable, Equatable {
    /// ``Link/id``.
    public let id: String
    public let mediaType: String
    /// Bytes.
    public let size: Int64
    /// As ``OpenedPhoto/offset``.
    public let offset: Int64?
    /// A text that changes whenever the picture does.
    public let version: String
    /// What the original was called where it came from.
    public let name: String?
    /// Read-only. Nil over a socket where descriptors were not asked for.
    public let content: OwnedFile?

    public init(
        id: String, mediaType: String, size: Int64, offset: Int64?, version: String, name: String?,
        content: OwnedFile?
    ) {
        self.id = id
        self.mediaType = mediaType
        self.size = size
        self.offset = offset
        self.version = version
        self.name = name
        self.content = content
    }
}

/// Which links have not been revoked, at once and after each change, for a program that has let visitors in and has to put out those of
/// a link that is revoked. Ids alone, which say nothing of anybody: it has to work in kids mode too.
public struct ObserveLinks: Message {
    public typealias Reply = Done
    public static let method = "link.observe"
    public static let access = Role.nobody
    public static let kind = MessageKind.observation
    public static let replySize = ReplySize.single
    public static let summary = "The ids of the links that have not been revoked, as they change."
    public init() {}
}

public struct OpenLinkIDs: Codable, Sendable, Equatable {
    public let ids: [String]
    public init(ids: [String]) { self.ids = ids }
}
