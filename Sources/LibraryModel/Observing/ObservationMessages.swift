import ServiceMesh

// What can be observed: each message answers with the current value at once and then with the newest one after each
// change, until its caller cancels. Values that a slow caller missed are left out, and the next one says so. Equal
// values are not repeated.

/// Observes categories, with photo counts. Takes what ``ListCategories`` takes. Errors: `invalid_argument` (text).
public struct ObserveCategories: Message, Hashable {
    public typealias Reply = Done
    public typealias Update = CategoryList
    public static let method = "category.observe"
    public static let access = Role.kid
    public static let kind = MessageKind.observation
    public static let summary = "Categories with photo counts, now and after each change."
    /// Anywhere in the display name; case and diacritics ignored; `%`, `_`, quotes and emoji are literal.
    public let text: String?
    /// By position unless told.
    public let order: CategoryOrder?

    public init(text: String? = nil, order: CategoryOrder? = nil) {
        self.text = text
        self.order = order
    }
}

/// Observes one category by its id or by its name (case ignored). One that is not there is no error: it may come.
/// Errors: `invalid_argument` without either.
public struct ObserveCategory: Message, Hashable {
    public typealias Reply = Done
    public typealias Update = ObservedCategory
    public static let method = "category.observeOne"
    public static let access = Role.kid
    public static let kind = MessageKind.observation
    public static let replySize = ReplySize.single
    public static let summary = "One category, now and after each change; null while there is none."
    public let id: Int64?
    public let displayName: String?

    public init(id: Int64) {
        self.id = id
        displayName = nil
    }

    public init(displayName: String) {
        id = nil
        self.displayName = displayName
    }
}

public struct ObservedCategory: Codable, Sendable, Equatable {
    /// Nil while there is none.
    public let category: Category?

    public init(category: Category?) { self.category = category }

    /// As `null` and not left out, as in ``ObservedPhoto``.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(category, forKey: .category)
    }
}

/// Observes photos that meet every filter given: a page of them, newest first, and how many there are in all.
/// Takes what ``SearchPhotos`` takes. Without `after` it is the first page, which new photos enter.
/// Errors: `invalid_argument` (limit, cursor, dates the wrong way round).
public struct ObservePhotos: FilteredMessage, Hashable {
    public typealias Reply = Done
    public typealias Update = ObservedPhotos
    public static let method = "photo.observe"
    public static let access = Role.kid
    public static let kind = MessageKind.observation
    public static let summary = "A page of photos by filters, and how many there are, now and after each change."
    public let filter: PhotoFilter
    /// 1…1000; 100 unless told.
    public let limit: Int?
    /// The `next` of a page before, to observe the one that follows it.
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

    /// The request that answers once with the same page.
    public var search: SearchPhotos { SearchPhotos(filter, limit: limit, after: after) }
}

public struct ObservedPhotos: Codable, Sendable, Equatable {
    public let photos: [Photo]
    /// What to pass as `after` for the next page; absent after the last.
    public let next: String?
    /// Photos that meet the filters, on all pages.
    public let total: Int

    public init(photos: [Photo], next: String?, total: Int) {
        self.photos = photos
        self.next = next
        self.total = total
    }
}

/// Observes one photo by its id or its uuid. One that is not there is no error: it may come, and come back.
/// Errors: `invalid_argument` without either.
public struct ObservePhoto: Message, Hashable {
    public typealias Reply = Done
    public typealias Update = ObservedPhoto
    public static let method = "photo.observeOne"
    public static let access = Role.kid
    public static let kind = MessageKind.observation
    public static let replySize = ReplySize.single
    public static let summary = "One photo, now and after each change; null while it is not in the library."
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

public struct ObservedPhoto: Codable, Sendable, Equatable {
    /// Nil while the photo is not in the library.
    public let photo: Photo?

    public init(photo: Photo?) { self.photo = photo }

    /// As `null` and not left out where there is none: that it has gone is what the value says.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(photo, forKey: .photo)
    }
}

/// Observes all settings.
public struct ObserveSettings: Message, Hashable {
    public typealias Reply = Done
    public typealias Update = Settings
    public static let method = "settings.observe"
    public static let access = Role.parent
    public static let kind = MessageKind.observation
    public static let replySize = ReplySize.single
    public static let summary = "All settings, now and after each change."
    public init() {}
}

/// Observes the decisions that are not applied yet, the oldest first, as a batch: who applies or shows them gets the
/// next ones as the first ones go. Errors: `invalid_argument` (limit).
public struct ObservePendingSwipes: Message, Hashable {
    public typealias Reply = Done
    public typealias Update = PendingSwipes
    public static let method = "swipe.observePending"
    public static let access = Role.parent
    public static let kind = MessageKind.observation
    public static let summary = "The oldest decisions that are not applied yet, now and after each change."
    /// Of one session only. One that is not there has none.
    public let sessionID: String?
    /// 1…1000; 100 unless told.
    public let limit: Int?
    /// The last action's id of the batch before, to observe the one that follows it.
    public let after: Int64?

    public init(sessionID: String? = nil, limit: Int? = nil, after: Int64? = nil) {
        self.sessionID = sessionID
        self.limit = limit
        self.after = after
    }
}

/// Observes what is in the trash: its first page, the latest first, and how many there are. Errors:
/// `invalid_argument` (limit).
public struct ObserveTrash: Message, Hashable {
    public typealias Reply = Done
    public typealias Update = ObservedTrash
    public static let method = "trash.observe"
    public static let access = Role.parent
    public static let kind = MessageKind.observation
    public static let summary = "Photos in the trash, the latest first, and how many, now and after each change."
    /// 1…1000; 100 unless told.
    public let limit: Int?
    public init(limit: Int? = nil) { self.limit = limit }
}

public struct ObservedTrash: Codable, Sendable, Equatable {
    public let photos: [TrashedPhoto]
    /// What to pass to `trash.list` as `after` for the next page; absent after the last.
    public let next: String?
    public let total: Int

    public init(photos: [TrashedPhoto], next: String?, total: Int) {
        self.photos = photos
        self.next = next
        self.total = total
    }
}
