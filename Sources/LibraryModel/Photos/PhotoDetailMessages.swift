import Foundation
import ServiceMesh

/// Opens the sealed fields of one photo of the library. A photo without any needs no key. Errors: `not_found`;
/// `failed_precondition` where the key file is missing or cannot be used, with what to do.
public struct GetPhotoDetail: Message {
    public typealias Reply = PhotoDetail
    public static let method = "photo.detail"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    /// Seven fields may be as long as a page of photos.
    public static let replySize = ReplySize.page
    public static let summary = "The sealed fields of a photo, opened."
    public let id: Int64
    public init(id: Int64) { self.id = id }
}

/// Writes sealed fields of one photo of the library, all at once or none, and answers with what all of them say now. Fields
/// that are not given stay as they are; an empty text, or no tags, clears one, as does naming it in `clear`. The first value
/// that is ever sealed makes the library's key, and the key file where there is none.
///
/// What does not open is never overwritten: clear it first. Errors: `not_found`; `invalid_argument` (nothing to change, a
/// field both given and cleared, too long, control characters); `failed_precondition` where the key file is missing or
/// cannot be used, or a field that is given has a value which does not open.
public struct SetPhotoDetail: Message {
    public typealias Reply = PhotoDetail
    public static let method = "photo.setDetail"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let replySize = ReplySize.page
    public static let summary = "Writes or clears sealed fields of a photo."
    public let id: Int64
    public let childName: String?
    public let childAge: String?
    public let notes: String?
    /// In their order; one that is there already but for its case is left out.
    public let tags: [String]?
    public let milestone: String?
    public let location: String?
    public let metadata: String?
    public let clear: [SealedField]?

    public init(
        id: Int64, childName: String? = nil, childAge: String? = nil, notes: String? = nil, tags: [String]? = nil,
        milestone: String? = nil, location: String? = nil, metadata: String? = nil, clear: [SealedField]? = nil
    ) {
        self.id = id
        self.childName = childName
        self.childAge = childAge
        self.notes = notes
        self.tags = tags
        self.milestone = milestone
        self.location = location
        self.metadata = metadata
        self.clear = clear
    }
}

/// Photos of the library whose sealed fields contain a text, newest first, a page at a time. No index knows the text: every
/// sealed value of the library is opened in memory, one after the other, for each page. Errors: `invalid_argument`
/// (no text, limit, cursor); `failed_precondition` as ``GetPhotoDetail``.
public struct SearchPhotoDetails: Message {
    public typealias Reply = DetailMatches
    public static let method = "photo.searchDetails"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    public static let summary = "Photos whose sealed fields contain a text, newest first, in pages."
    /// Anywhere in a field, or in one tag; case and diacritics ignored.
    public let text: String
    /// Where it is looked for; all fields unless told.
    public let fields: [SealedField]?
    /// 1…1000; 100 unless told.
    public let limit: Int?
    /// The `next` of the page before.
    public let after: String?

    public init(text: String, fields: [SealedField]? = nil, limit: Int? = nil, after: String? = nil) {
        self.text = text
        self.fields = fields
        self.limit = limit
        self.after = after
    }
}

public struct DetailMatches: Codable, Sendable, Equatable {
    public let photos: [Photo]
    /// What to pass as `after` for the next page; absent after the last.
    public let next: String?
    /// Photos on all pages.
    public let total: Int
    /// Values that could not be looked into, because they do not open.
    public let unreadable: Int

    public init(photos: [Photo], next: String?, total: Int, unreadable: Int) {
        self.photos = photos
        self.next = next
        self.total = total
        self.unreadable = unreadable
    }
}

/// Seals the place where a picture was taken for a photo that is about to be entered, for PhotoImporter; it makes the keys
/// where nothing was ever sealed. A photo is worth more than its place: that it cannot be sealed is no error.
public struct SealLocation: Message {
    public typealias Reply = SealedLocation
    public static let method = "photo.sealLocation"
    public static let access = Role.service
    public static let kind = MessageKind.write
    public static let summary = "Seals the place where a picture was taken."
    /// Of the photo.
    public let uuid: String
    public let position: GeoPosition

    public init(uuid: String, position: GeoPosition) {
        self.uuid = uuid
        self.position = position
    }
}

public struct SealedLocation: Codable, Sendable, Equatable {
    /// As it is stored; nil where it cannot be sealed.
    public let sealed: Data?
    /// Why not, in a sentence for people.
    public let problem: String?

    public init(sealed: Data?, problem: String?) {
        self.sealed = sealed
        self.problem = problem
    }
}
