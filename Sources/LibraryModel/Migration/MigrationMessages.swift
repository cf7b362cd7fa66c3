import ServiceMesh

/// Takes over the library of the Android app from its Room database, versions 4 to 8, as a job; the database and its
/// folder stay exactly as they are (<doc:OldLibraries>). Doing it again, or again after a stop, changes nothing that is there.
///
/// The receipt has a line for every category and every photo, with one of ``MigrationOutcome``, and further lines for
/// what was changed or left on the way. Not for backups of the apps: those are restored.
/// Errors at once: `invalid_argument` (a relative path), `not_found` (database, folder). The job fails, before anything
/// is changed, with `failed_precondition` (not such a database, another version, encrypted, in use), `data_loss`
/// (damaged) or `resource_exhausted` (no room for a copy to read, too many rows).
public struct MigrateLibrary: Message {
    public typealias Reply = JobStarted
    public static let method = "library.migrate"
    public static let access = Role.parent
    public static let kind = MessageKind.job
    public static let summary = "Takes over the library of the Android app from its database."
    public var isForThisMachine: Bool { true }
    /// Absolute: the database file. A `-wal` or `-journal` beside it belongs to it.
    public let database: String
    /// Absolute: the folder in or below which the photo files are now; links in it are not followed. Without it,
    /// files are looked for where the database says.
    public let photos: String?
    /// Takes photos over whose files are not found: rows without a picture, 0 x 0 pixels.
    public let keepMissing: Bool?
    /// Only looks: says what would be done, changes nothing.
    public let dryRun: Bool?

    public init(database: String, photos: String? = nil, keepMissing: Bool? = nil, dryRun: Bool? = nil) {
        self.database = database
        self.photos = photos
        self.keepMissing = keepMissing
        self.dryRun = dryRun
    }
}

/// What became of one category, photo or value of the old library.
public enum MigrationOutcome: String, Codable, Sendable, CaseIterable {
    /// A category that is new here.
    case added
    /// A category whose name, case ignored, is here already: its photos go there.
    case merged
    /// A category whose name could not stay as it was.
    case renamed
    /// A value that could not stay as it was and became a standard one.
    case defaulted
    /// Not taken over: encrypted values, a photo's further categories, what a limit keeps out.
    case left
    /// A photo that is here now, with its file.
    case imported
    /// A photo that is here already, and whose original came with it now.
    case completed
    /// A photo that is here already, or in the trash.
    case duplicate
    /// A photo whose file was not found; not taken over.
    case missing
    /// A photo whose file was not found; taken over without it.
    case kept
    /// A photo that is here now, with its original and a placeholder, because there is not enough memory to decode it.
    case keptUnseen = "kept_unseen"
    /// A photo whose file is no picture, is damaged, past the limits, took too long, cannot be read, finds no room, changed meanwhile, or
    /// lost its helpers; not taken over. As ``ImportOutcome`` has them.
    case unsupported
    case damaged
    case tooLarge = "too_large"
    case timedOut = "timed_out"
    case unreadable
    case noSpace = "no_space"
    case changed
    case workerLost = "worker_lost"
    /// The job was stopped before its turn.
    case cancelled

    /// Whether a person should look at it.
    public var needsAttention: Bool {
        switch self {
        case .added, .merged, .imported, .completed, .duplicate, .keptUnseen, .cancelled: false
        default: true
        }
    }
}

public struct MigrationReceipt: JobReceipt {
    /// Of the old database.
    public let database: String
    public let version: Int
    public let isDryRun: Bool
    /// How many categories of the old library, and how many of its photos, came to each ``MigrationOutcome``.
    public let categories: [String: Int]
    public let photos: [String: Int]
    /// Values that were replaced, of categories and photos.
    public let defaulted: Int
    /// Categories that have another name here.
    public let renamed: Int
    /// Places of photos in second and further categories, which were not taken over.
    public let furtherCategories: Int
    /// Encrypted values by column: only the phone that wrote them can read them, so they were not taken over.
    public let encryptedValues: [String: Int]
    public let ending: JobEnding
    /// The database keeps a log beside it, `-wal`, and none was there. True also where the app had written it back;
    /// else the latest changes were left on the phone.
    public let isWithoutLog: Bool?

    public init(
        database: String, version: Int, isDryRun: Bool, categories: [String: Int], photos: [String: Int],
        defaulted: Int, renamed: Int, furtherCategories: Int, encryptedValues: [String: Int], ending: JobEnding,
        isWithoutLog: Bool? = nil
    ) {
        self.database = database
        self.version = version
        self.isDryRun = isDryRun
        self.categories = categories
        self.photos = photos
        self.defaulted = defaulted
        self.renamed = renamed
        self.furtherCategories = furtherCategories
        self.encryptedValues = encryptedValues
        self.ending = ending
        self.isWithoutLog = isWithoutLog
    }
}
