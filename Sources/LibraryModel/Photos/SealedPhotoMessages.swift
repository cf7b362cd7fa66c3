import ServiceMesh

/// Photos that have sealed fields, newest first, a page at a time, and how many there are. Nothing is opened, and which
/// fields they are is not said. Errors: `invalid_argument` (limit, cursor).
public struct ListSealedPhotos: Message {
    public typealias Reply = SealedPhotos
    public static let method = "photo.listSealed"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    public static let summary = "Photos that have sealed fields, newest first, and how many there are."
    /// 1…1000; 100 unless told.
    public let limit: Int?
    /// The `next` of the page before.
    public let after: String?

    public init(limit: Int? = nil, after: String? = nil) {
        self.limit = limit
        self.after = after
    }
}

public struct SealedPhotos: Codable, Sendable, Equatable {
    public let photos: [Photo]
    /// What to pass as `after` for the next page; absent after the last.
    public let next: String?
    /// Photos with sealed fields, on all pages.
    public let total: Int

    public init(photos: [Photo], next: String?, total: Int) {
        self.photos = photos
        self.next = next
        self.total = total
    }
}

/// Observes photos that have sealed fields, as ``ListSealedPhotos`` lists them. Errors: `invalid_argument`.
public struct ObserveSealedPhotos: Message, Hashable {
    public typealias Reply = Done
    public typealias Update = SealedPhotos
    public static let method = "photo.observeSealed"
    public static let access = Role.parent
    public static let kind = MessageKind.observation
    public static let summary = "Photos that have sealed fields, and how many, now and after each change."
    /// 1…1000; 100 unless told.
    public let limit: Int?
    /// The `next` of a page before, to observe the one that follows it.
    public let after: String?

    public init(limit: Int? = nil, after: String? = nil) {
        self.limit = limit
        self.after = after
    }

    /// The request that answers once with the same page.
    public var list: ListSealedPhotos { ListSealedPhotos(limit: limit, after: after) }
}
