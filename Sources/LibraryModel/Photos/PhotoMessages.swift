import Foundation
import ServiceMesh

/// Photos that meet every filter given, newest first, a page at a time. Without filters: the whole library.
/// Errors: `invalid_argument` (limit, cursor, dates the wrong way round, long or many words, a decision of
/// photos that are not reviewed, words of a camera that is not known).
public struct SearchPhotos: FilteredMessage {
    public typealias Reply = PhotoPage
    public static let method = "photo.search"
    public static let access = Role.kid
    public static let kind = MessageKind.read
    public static let summary = "Photos by text, category, dates, favourite, review and camera, newest first, in pages."
    public let filter: PhotoFilter
    /// 1…1000; 100 unless told.
    public let limit: Int?
    /// The `next` of the page before.
    public let after: String?

    public init(_ filter: PhotoFilter = PhotoFilter(), limit: Int? = nil, after: String? = nil) {
        self.filter = filter
        self.limit = limit
        self.after = after
    }

    private enum CodingKeys: CodingKey {
        case limit, after
    }

    public init(from decoder: any Decoder) throws {
        filter = try PhotoFilter(from: decoder)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        limit = try container.decodeIfPresent(Int.self, forKey: .limit)
        after = try container.decodeIfPresent(String.self, forKey: .after)
    }

    public func encode(to encoder: any Encoder) throws {
        try filter.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(limit, forKey: .limit)
        try container.encodeIfPresent(after, forKey: .after)
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
/// Errors: `invalid_argument` (dates the wrong way round, a long text, a decision of photos that are not reviewed,
/// words of a camera that is not known).
public struct CountPhotos: FilteredMessage {
    public typealias Reply = PhotoCount
    public static let method = "photo.count"
    public static let access = Role.kid
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let summary = "How many photos meet the filters."
    public let filter: PhotoFilter

    public init(_ filter: PhotoFilter = PhotoFilter()) {
        self.filter = filter
    }

    public init(from decoder: any Decoder) throws {
        filter = try PhotoFilter(from: decoder)
    }

    public func encode(to encoder: any Encoder) throws {
        try filter.encode(to: encoder)
    }
}

public struct PhotoCount: Codable, Sendable, Equatable {
    public let count: Int
    public init(count: Int) { self.count = count }
}

/// The ids of the photos that meet every filter given, by id, in large pages: for whoever goes on to change or copy all of
/// them. What becomes of their dates meanwhile moves none to another page. Takes what ``SearchPhotos`` takes, but for its
/// pages, and a range of ids. Not for showing photos: they come in no order that means anything to a person.
/// Errors: `invalid_argument` (limit, ranges and dates the wrong way round, long or many words, a decision of photos that are
/// not reviewed, words of a camera that is not known).
public struct SelectPhotos: FilteredMessage {
    public typealias Reply = SelectedPhotos
    public static let method = "photo.select"
    public static let access = Role.kid
    public static let kind = MessageKind.read
    public static let summary = "The ids of the photos that meet the filters, in large pages."
    /// Ids on a page, at most, and unless told.
    public static let maximumLimit = 10_000
    public let filter: PhotoFilter
    /// Inclusive; ids between them that are no photo's are passed over.
    public let firstId: Int64?
    public let lastId: Int64?
    /// 1…``maximumLimit``.
    public let limit: Int?
    /// The `next` of the page before.
    public let after: Int64?

    public init(
        _ filter: PhotoFilter = PhotoFilter(), firstId: Int64? = nil, lastId: Int64? = nil, limit: Int? = nil,
        after: Int64? = nil
    ) {
        self.filter = filter
        self.firstId = firstId
        self.lastId = lastId
        self.limit = limit
        self.after = after
    }

    private enum CodingKeys: CodingKey {
        case firstId, lastId, limit, after
    }

    public init(from decoder: any Decoder) throws {
        filter = try PhotoFilter(from: decoder)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        firstId = try container.decodeIfPresent(Int64.self, forKey: .firstId)
        lastId = try container.decodeIfPresent(Int64.self, forKey: .lastId)
        limit = try container.decodeIfPresent(Int.self, forKey: .limit)
        after = try container.decodeIfPresent(Int64.self, forKey: .after)
    }

    public func encode(to encoder: any Encoder) throws {
        try filter.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(firstId, forKey: .firstId)
        try container.encodeIfPresent(lastId, forKey: .lastId)
        try container.encodeIfPresent(limit, forKey: .limit)
        try container.encodeIfPresent(after, forKey: .after)
    }
}

public struct SelectedPhotos: Codable, Sendable, Equatable {
    /// Ascending.
    public let ids: [Int64]
    /// What to pass as `after` for the next page; absent after the last.
    public let next: Int64?

    public init(ids: [Int64], next: Int64?) {
        self.ids = ids
        self.next = next
    }
}

/// The cameras with which the library's photos were taken, that of most photos first: what `camera` of ``SearchPhotos`` finds.
/// Errors: `invalid_argument` (limit).
public struct ListCameras: Message {
    public typealias Reply = CameraList
    public static let method = "photo.cameras"
    public static let access = Role.kid
    public static let kind = MessageKind.read
    public static let summary = "The cameras of the library's photos, with how many each has taken."
    /// 1…1000; 100 unless told.
    public let limit: Int?

    public init(limit: Int? = nil) { self.limit = limit }
}

public struct CameraList: Codable, Sendable, Equatable {
    public let cameras: [CameraCount]
    /// How many there are, listed or not.
    public let count: Int
    /// Photos of which no camera is known.
    public let withoutCamera: Int

    public init(cameras: [CameraCount], count: Int, withoutCamera: Int) {
        self.cameras = cameras
        self.count = count
        self.withoutCamera = withoutCamera
    }
}

public struct CameraCount: Codable, Sendable, Equatable {
    /// As ``Photo/camera``.
    public let name: String
    public let photoCount: Int

    public init(name: String, photoCount: Int) {
        self.name = name
        self.photoCount = photoCount
    }
}

/// One photo by its id, its uuid or its path. Errors: `not_found`, `invalid_argument` unless it is named in one way.
public struct GetPhoto: Message {
    public typealias Reply = Photo
    public static let method = "photo.get"
    public static let access = Role.kid
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
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
