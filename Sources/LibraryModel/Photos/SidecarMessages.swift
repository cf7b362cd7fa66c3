import ServiceMesh

/// What a library knows of a photo, as a file of XMP to lay beside a copy of it: `x.jpg.xmp`. Imported again with that, it is the
/// same photo, in the same category (<doc:Rules>). Not the sidecars that came with it: those are ``Photo/sidecars``, kept byte for
/// byte.
///
/// Errors: `not_found`; with `withDetails` those of ``GetPhotoDetail``.
public struct GetPhotoSidecar: Message {
    public typealias Reply = PhotoSidecar
    public static let method = "photo.sidecar"
    public static let access = Role.looker
    public static let kind = MessageKind.read
    /// Seven fields may be as long as a page of photos.
    public static let replySize = ReplySize.page
    public static let summary = "What a library knows of a photo, as a file of XMP."
    public let id: Int64
    /// Whether it says the sealed fields too, for a parent; not unless told.
    public let withDetails: Bool?
    /// Whether it is for a copy of the photo as it is shown, whose pixels are turned already; for its file unless told. Then it says no
    /// rotation: an import of the two would turn the photo once more.
    public let asShown: Bool?

    public var contentAccess: Role { withDetails == true ? .parent : Self.access }

    public init(id: Int64, withDetails: Bool? = nil, asShown: Bool? = nil) {
        self.id = id
        self.withDetails = withDetails
        self.asShown = asShown
    }
}

public struct PhotoSidecar: Codable, Sendable, Equatable {
    public let photoId: Int64
    /// The file's contents. The same as long as the photo is.
    public let text: String
    /// Whether it says more than the picture's own bytes and an import into a new library by itself: a caption, the mark of a
    /// favourite, a rotation, a sealed field, a date that is not the picture's own, its clock's offset from UTC, another category than the
    /// first of new libraries. That a caption or an offset stands in the picture as well is not known.
    public let saysMore: Bool
    /// Sealed fields that were to be said and do not open.
    public let unreadable: [SealedField]

    public init(photoId: Int64, text: String, saysMore: Bool, unreadable: [SealedField] = []) {
        self.photoId = photoId
        self.text = text
        self.saysMore = saysMore
        self.unreadable = unreadable
    }
}
