import ServiceMesh

/// Finds out again when photos were taken and with which cameras, as a job, by what the library has of each: what the original says, or where there
/// is none the photo, the sidecars that are kept with it, else the photo's name. For libraries from before the camera's clock was kept, and after this program
/// has learned to read more; with `hasCamera` false, only for those of which that was not kept. One photo's date is repaired with ``EditPhoto``.
///
/// What a person has said stays, and so does what is at least as trustworthy (``DateSource``). Of a date from before its
/// source was kept, nobody knows whether a person said it: it is replaced where the picture says the same time on another
/// zone's clock, and left, with a line, where it says another. Photos of which both stay have no other lines. The files stay as
/// they are.
///
/// The filters are those of ``SearchPhotos``. Errors at once: `invalid_argument` (dates the wrong way round), `not_found`
/// (category).
public struct RedatePhotos: FilteredMessage {
    public typealias Reply = JobStarted
    public static let method = "photo.redate"
    public static let access = Role.parent
    public static let kind = MessageKind.job
    public static let summary =
        "Finds out again when photos were taken and with what, from what is kept."
    public let filter: PhotoFilter
    /// Only says what would change.
    public let dryRun: Bool?

    public init(_ filter: PhotoFilter = PhotoFilter(), dryRun: Bool? = nil) {
        self.filter = filter
        self.dryRun = dryRun
    }

    private enum CodingKeys: CodingKey {
        case dryRun
    }

    public init(from decoder: any Decoder) throws {
        filter = try PhotoFilter(from: decoder)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        dryRun = try container.decodeIfPresent(Bool.self, forKey: .dryRun)
    }

    public func encode(to encoder: any Encoder) throws {
        try filter.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(dryRun, forKey: .dryRun)
    }
}

/// What became of one photo's date.
public enum RedateOutcome: String, Codable, Sendable, CaseIterable {
    /// It has another one now, or in a dry run would have.
    case redated
    /// Its date stays, and its camera is known now, or in a dry run would be.
    case cameraFound = "camera_found"
    /// The picture says another one, but a person may have said the one that it has.
    case kept
    /// Its files could not be read.
    case unreadable
}

public struct RedateReceipt: JobReceipt {
    /// Photos looked at.
    public let photos: Int
    /// How many there are of each ``RedateOutcome``.
    public let redated: Int
    /// Nil in receipts from before cameras were kept.
    public let camerasFound: Int?
    public let kept: Int
    public let unreadable: Int
    public let isDryRun: Bool
    public let ending: JobEnding

    public init(
        photos: Int, redated: Int, camerasFound: Int? = nil, kept: Int, unreadable: Int, isDryRun: Bool,
        ending: JobEnding
    ) {
        self.photos = photos
        self.redated = redated
        self.camerasFound = camerasFound
        self.kept = kept
        self.unreadable = unreadable
        self.isDryRun = isDryRun
        self.ending = ending
    }
}
