import ServiceMesh

/// Where a photo's thumbnail is; one that is missing is made first, from the photo as it is shown. For whoever is about to
/// show it. Not for many photos at once: ``RebuildThumbnails``.
///
/// Errors: `invalid_argument` (both keys or none), `not_found` (the photo, or its file), `data_loss` (its file cannot be
/// opened as a picture), `resource_exhausted` (no room, or the picture needs more memory or time than there is),
/// `failed_precondition` (the library cannot be written to), `unavailable` (no helper could be started).
public struct GetThumbnail: Message {
    public typealias Reply = PhotoThumbnail
    public static let method = "photo.thumbnail"
    public static let access = Role.kid
    /// What photos the library has, and how they look, stays as it is.
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let summary = "Where a photo's thumbnail is; a missing one is made."
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

public struct PhotoThumbnail: Codable, Sendable, Equatable {
    /// Relative to the library folder. The file is a JPEG of at most 300 x 300 pixels.
    public let path: String

    public init(path: String) { self.path = path }
}

/// Makes thumbnails and previews again as a job, from the photos as they are shown: those that are missing, and those that an
/// earlier version of the program has made less well. Photos in the trash get thumbnails only. Only what could not be made has a
/// line, with one of ``ThumbnailOutcome``. A full disk, or helpers that cannot be started, end the job; what it has made
/// stays, and another one goes on from there.
public struct RebuildThumbnails: Message {
    public typealias Reply = JobStarted
    public static let method = "thumbnail.rebuild"
    public static let access = Role.parent
    public static let kind = MessageKind.job
    public static let summary = "Makes the thumbnails and previews that are missing, or that this version makes better."
    /// Also those that are there and need not be made again.
    public let all: Bool?
    public init(all: Bool? = nil) { self.all = all }
}

/// Why a photo has a line.
public enum ThumbnailOutcome: String, Codable, Sendable, CaseIterable {
    /// There is none, and none could be made.
    case noThumbnail = "no_thumbnail"
    /// No other could be made, and the one that was there stays.
    case oldThumbnail = "old_thumbnail"
    /// There is a thumbnail, and no preview could be made: ``OpenPhoto`` opens the photo itself in its place.
    case noPreview = "no_preview"
}

public struct ThumbnailReceipt: JobReceipt {
    /// Photos looked at, those in the trash included.
    public let photos: Int
    /// Thumbnails and previews made.
    public let made: Int
    /// Photos whose thumbnail or preview could not be made; each has a line.
    public let problems: Int
    public let ending: JobEnding

    public init(photos: Int, made: Int, problems: Int, ending: JobEnding) {
        self.photos = photos
        self.made = made
        self.problems = problems
        self.ending = ending
    }
}
