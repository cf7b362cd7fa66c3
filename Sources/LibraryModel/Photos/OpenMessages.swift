import ServiceMesh

/// One of a photo's files, open to be read: for who sends or shows its bytes and should need no path into the library.
/// A thumbnail or preview that is missing, or from before the photo was turned, is made first. Photos in the trash are not found: ``OpenTrashedPhoto``.
///
/// Over the socket the file comes as a descriptor beside the reply, for clients that ask for descriptors (see the protocol of
/// `ControlSocket`); others get the facts alone. The descriptor is theirs: what becomes of the photo meanwhile does not change
/// what it reads. Not for copying many photos to a folder: `smilepile photos export`.
///
/// Errors: `invalid_argument` (both keys or none), `not_found` (the photo, its file, or an original that the library does not
/// have), and for a thumbnail those of ``GetThumbnail``.
public struct OpenPhoto: Message {
    public typealias Reply = OpenedPhoto
    public static let method = "photo.open"
    public static let access = Role.kid
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let carriesFiles = true
    public static let summary =
        "A photo's thumbnail, its preview, the photo as it is shown, its original, film or raw file, as an open file."
    public let id: Int64?
    public let uuid: String?
    /// Which of its files.
    public let file: PhotoFileKind

    public init(id: Int64, _ file: PhotoFileKind) {
        self.id = id
        uuid = nil
        self.file = file
    }

    public init(uuid: String, _ file: PhotoFileKind) {
        id = nil
        self.uuid = uuid
        self.file = file
    }
}

/// The same of a photo in the trash, for whoever decides whether it is to come out again; a message of its own, because no child
/// is to see what was thrown away. In the place of a thumbnail or preview that is missing, or from before the photo was turned, the photo
/// comes: in the trash none is made.
///
/// Errors: `not_found` (the photo is not in the trash, its file is gone, or there is no original).
public struct OpenTrashedPhoto: Message {
    public typealias Reply = OpenedPhoto
    public static let method = "trash.open"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let carriesFiles = true
    public static let summary =
        "The thumbnail of a photo in the trash, its preview, the photo, or its original, as an open file."
    public let uuid: String
    /// Which of its files.
    public let file: PhotoFileKind

    public init(uuid: String, _ file: PhotoFileKind) {
        self.uuid = uuid
        self.file = file
    }
}

/// The files of a photo.
public enum PhotoFileKind: String, Codable, Sendable, CaseIterable {
    /// A JPEG of at most 300 x 300 pixels.
    case thumbnail
    /// A WebP of at most 1,024 pixels on its long side, or of a panorama, 512 on its short one. The photo itself where that is hardly
    /// larger, and where no preview can be made of it.
    case preview
    /// As it is shown: a JPEG of at most 2048 x 2048 pixels. Of a photo that is turned, made from its file when it is asked for.
    case photo
    /// Byte for byte what was imported, of any type that is.
    case original
    /// What plays: a film itself, and of a photo that moves the film inside of its original. Other pictures have none.
    case film
    /// The raw file of the same shot that is kept beside the picture. Of a photo that was made of a raw file alone, its original.
    case raw
}

public struct OpenedPhoto: Codable, Sendable, Equatable {
    public let id: Int64
    public let uuid: String
    /// Of the file: one of those that are imported, and `application/octet-stream` where its name does not tell.
    public let mediaType: String
    /// Bytes.
    public let size: Int64
    /// Where in the content they begin; nil for its beginning, where they are all of it.
    public let offset: Int64?
    /// SHA-256 of the photo's file, lower-case hex: it changes whenever one of the files does, but for a thumbnail or preview that a
    /// newer version of the program makes better, and for ``rotation``.
    public let contentDigest: String
    /// How far the photo is turned: with the digest it tells what is shown. Nil where it is not.
    public let rotation: Rotation?
    /// Read-only. Nil over a socket where descriptors were not asked for.
    public let content: OwnedFile?

    public init(
        id: Int64, uuid: String, mediaType: String, size: Int64, offset: Int64? = nil, contentDigest: String,
        rotation: Rotation? = nil, content: OwnedFile?
    ) {
        self.id = id
        self.uuid = uuid
        self.mediaType = mediaType
        self.size = size
        self.offset = offset
        self.contentDigest = contentDigest
        self.rotation = rotation
        self.content = content
    }
}
