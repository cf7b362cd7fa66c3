import ServiceMesh

/// Turns what is shown of photos, all or none; their files stay byte for byte as they are. Thumbnails are made first, from the photos'
/// files, so a photo that cannot be opened changes nothing. Each turn says where the photo is to end and not how far it goes: the same
/// request twice is one turn, and of two devices that turn a photo to the right at once, the second finds it there. Undo is the
/// same request with `from` and `to` exchanged, for the photos that were turned by it (``RotatedPhotos/turned``). Not for films.
///
/// Errors: `invalid_argument` (none, more than ``maximumCount``, one photo twice, no multiple of 90 from 0 to 270), `not_found` (a photo, or
/// its file), `failed_precondition` (a photo is neither at `from` nor at `to`, because somebody else has turned it meanwhile: `details` has
/// its `photo` and its `rotation`; a film, or a photo that cannot be seen yet; the library can only be read), `data_loss` (a photo's file
/// cannot be opened), `resource_exhausted`, `unavailable`.
public struct RotatePhotos: Message {
    public typealias Reply = RotatedPhotos
    public static let method = "photo.rotate"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Turns what is shown of photos; their files stay as they are."
    /// Photos in one request. Each costs the decoding of a picture.
    public static let maximumCount = 100
    public let turns: [PhotoTurn]
    /// Photos that are not there any more, that are neither at `from` nor at `to`, films, and photos that cannot be seen yet are passed
    /// over, and not refused: a selection may be older than the last change, and have all of them.
    public let ignoreOthers: Bool?

    public init(turns: [PhotoTurn], ignoreOthers: Bool? = nil) {
        self.turns = turns
        self.ignoreOthers = ignoreOthers
    }
}

/// One photo's turn.
public struct PhotoTurn: Codable, Sendable, Equatable {
    public let id: Int64
    /// Degrees clockwise, beside what the file says of the camera's position: 0, 90, 180, 270.
    public let to: Int
    /// What whoever asks has seen; nil where it does not matter.
    public let from: Int?

    public init(id: Int64, to: Int, from: Int? = nil) {
        self.id = id
        self.to = to
        self.from = from
    }

    /// Of a photo as it was seen.
    /// - Parameter degrees: clockwise; negative to the left.
    public init(_ photo: Photo, by degrees: Int) {
        self.init(id: photo.id, to: Rotation(degrees: photo.turned + degrees)?.rawValue ?? 0, from: photo.turned)
    }
}

public struct RotatedPhotos: Codable, Sendable, Equatable {
    /// How many were turned by this request.
    public let count: Int
    /// As they are now, in the order in which they were named: those that are at `to`, and those that were passed over because somebody
    /// else has turned them elsewhere, so that who asks sees where they are. Without the others that were passed over.
    public let photos: [Photo]
    /// The ids of the photos that were turned by this request, in the same order: not of those that were at `to` before.
    public let turned: [Int64]

    public init(photos: [Photo], turned: [Int64]) {
        count = turned.count
        self.photos = photos
        self.turned = turned
    }
}
