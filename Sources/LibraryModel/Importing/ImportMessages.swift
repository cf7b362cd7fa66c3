import ServiceMesh

/// Imports files and folders as a job. Its receipt has a line for every file, with one of ``ImportOutcome``.
/// Errors at once: `invalid_argument` (no paths, a relative path, both paths and a list), `not_found` (category, a path,
/// the list).
public struct ImportPhotos: Message {
    public typealias Reply = JobStarted
    public static let method = "library.import"
    public static let access = Role.parent
    public static let kind = MessageKind.job
    public static let summary = "Imports photos from files and folders."
    /// Absolute. Folders are read with everything below them; links inside them are not followed. None where there is a
    /// list.
    public let paths: [String]
    /// In place of `paths`, where they are too many for one request: what ``CollectImportPaths`` answered. It is used up
    /// by this, whether or not the job starts.
    public let list: String?
    /// The first category unless told.
    public let categoryId: Int64?
    /// Whether sources that are not stored as they are, are kept beside the photos made of them; the setting `keepOriginals`
    /// unless told.
    public let originals: Bool?
    /// Only looks: says of each file whether it would be imported, stores nothing.
    public let dryRun: Bool?

    public init(paths: [String], categoryId: Int64? = nil, originals: Bool? = nil, dryRun: Bool? = nil) {
        self.init(paths: paths, list: nil, categoryId: categoryId, originals: originals, dryRun: dryRun)
    }

    public init(list: String, categoryId: Int64? = nil, originals: Bool? = nil, dryRun: Bool? = nil) {
        self.init(paths: [], list: list, categoryId: categoryId, originals: originals, dryRun: dryRun)
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        paths = try container.decodeIfPresent([String].self, forKey: .paths) ?? []
        list = try container.decodeIfPresent(String.self, forKey: .list)
        categoryId = try container.decodeIfPresent(Int64.self, forKey: .categoryId)
        originals = try container.decodeIfPresent(Bool.self, forKey: .originals)
        dryRun = try container.decodeIfPresent(Bool.self, forKey: .dryRun)
    }

    private init(paths: [String], list: String?, categoryId: Int64?, originals: Bool?, dryRun: Bool?) {
        self.paths = paths
        self.list = list
        self.categoryId = categoryId
        self.originals = originals
        self.dryRun = dryRun
    }

    /// The same import, of these paths.
    public func with(paths: [String]) -> ImportPhotos {
        ImportPhotos(paths: paths, list: nil, categoryId: categoryId, originals: originals, dryRun: dryRun)
    }

    /// The same import, of the paths on a list.
    public func with(list: String) -> ImportPhotos {
        ImportPhotos(paths: [], list: list, categoryId: categoryId, originals: originals, dryRun: dryRun)
    }
}

/// Puts paths on a list for one import: of more of them than a request can carry, or of what is only known bit by bit,
/// one job with one receipt is made all the same. Nothing is imported before ``ImportPhotos`` names the list, so one that
/// is left half done, because its sender has gone, comes to nothing.
///
/// Lists are kept in memory: for ten minutes after the last path, and not over a restart. Errors: `invalid_argument` (no
/// paths, a relative one), `not_found` (the list), `resource_exhausted` (``bytes``, ``lists``).
public struct CollectImportPaths: Message {
    public typealias Reply = ImportPathList
    public static let method = "library.collectPaths"
    public static let access = Role.parent
    /// The library stays as it is, and a path that stands on a list twice is imported once.
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let summary = "Puts paths on a list that library.import takes: for more than one request can carry."
    /// Bytes of the paths on one list, each with the 32 that it takes beside its text: about 150,000 of them.
    public static let bytes = 16 << 20
    /// Lists that are kept at once.
    public static let lists = 4
    /// Absolute; at least one.
    public let paths: [String]
    /// Where they go; a new list unless told.
    public let list: String?

    public init(paths: [String], list: String? = nil) {
        self.paths = paths
        self.list = list
    }
}

public struct ImportPathList: Codable, Sendable, Equatable {
    public let list: String
    /// Paths on it by now.
    public let count: Int

    public init(list: String, count: Int) {
        self.list = list
        self.count = count
    }
}

/// What became of one file.
public enum ImportOutcome: String, Codable, Sendable, CaseIterable {
    case imported
    /// The library had a photo made from the same bytes, and has got its original now.
    case completed
    /// The library has a photo made from the same bytes.
    case duplicate
    /// Not a kind of picture that is taken.
    case unsupported
    /// A picture that cannot be decoded.
    case damaged
    /// Past the limits on pixels or memory.
    case tooLarge = "too_large"
    /// The file could not be opened or read.
    case unreadable
    /// The file was written to or replaced while it was read; nothing of it was stored.
    case changed
    /// The helper that opened it was killed from outside, twice. Nothing is known of the photo.
    case workerLost = "worker_lost"
    /// The job was stopped before its turn.
    case cancelled

    /// Whether a person should look at it.
    public var needsAttention: Bool {
        switch self {
        case .imported, .completed, .duplicate, .cancelled: false
        case .unsupported, .damaged, .tooLarge, .unreadable, .changed, .workerLost: true
        }
    }
}

public struct ImportReceipt: JobReceipt {
    public let categoryId: Int64
    /// Files found; each has one line in the job's receipt.
    public let files: Int
    public let imported: Int
    /// Photos that had no original and have got one.
    public let completed: Int
    public let duplicates: Int
    /// What needs attention: see ``ImportOutcome/needsAttention``.
    public let problems: Int
    /// Not looked at, because the job was stopped.
    public let notDone: Int
    public let isDryRun: Bool
    public let ending: JobEnding

    public init(
        categoryId: Int64, files: Int, imported: Int, completed: Int, duplicates: Int, problems: Int, notDone: Int,
        isDryRun: Bool,
        ending: JobEnding
    ) {
        self.categoryId = categoryId
        self.files = files
        self.imported = imported
        self.completed = completed
        self.duplicates = duplicates
        self.problems = problems
        self.notDone = notDone
        self.isDryRun = isDryRun
        self.ending = ending
    }
}

/// Makes a stored photo and its thumbnail from a source, and a copy of the source, in the staging folder. For PhotoImporter
/// only.
/// Errors: `unimplemented` (unsupported media), `data_loss` (damaged), `resource_exhausted` (too large),
/// `not_found` (unreadable), `unavailable` (it changed meanwhile, or its helper was killed), `cancelled`.
public struct PreparePhoto: Message {
    public typealias Reply = PreparedPhoto
    public static let method = "thumbnail.prepare"
    public static let access = Role.service
    public static let kind = MessageKind.write
    public static let summary = "Makes a photo and its thumbnail from a source, in the staging folder."
    public let source: String
    /// Whether a source that the photo is not byte for byte is copied too.
    public let keepsOriginal: Bool

    public init(source: String, keepsOriginal: Bool) {
        self.source = source
        self.keepsOriginal = keepsOriginal
    }
}

public struct PreparedPhoto: Codable, Sendable {
    /// Names in the staging folder; whoever asked owns the files.
    public let stagedPhoto: String
    public let stagedThumbnail: String
    /// Nil where the photo is its own original, or none was wanted.
    public let stagedOriginal: String?
    public let sourceDigest: String
    /// Bytes.
    public let sourceSize: Int64
    public let contentDigest: String
    public let mediaType: String
    /// With the dot: `.jpg`.
    public let fileExtension: String
    public let fileSize: Int64
    public let width: Int
    public let height: Int
    /// What the picture itself says.
    public let taken: PhotoDate?
    public let caption: String?
    /// 0…5.
    public let rating: Int?

    public init(
        stagedPhoto: String, stagedThumbnail: String, stagedOriginal: String?, sourceDigest: String,
        sourceSize: Int64, contentDigest: String, mediaType: String, fileExtension: String, fileSize: Int64, width: Int,
        height: Int,
        taken: PhotoDate?, caption: String?, rating: Int?
    ) {
        self.stagedPhoto = stagedPhoto
        self.stagedThumbnail = stagedThumbnail
        self.stagedOriginal = stagedOriginal
        self.sourceDigest = sourceDigest
        self.sourceSize = sourceSize
        self.contentDigest = contentDigest
        self.mediaType = mediaType
        self.fileExtension = fileExtension
        self.fileSize = fileSize
        self.width = width
        self.height = height
        self.taken = taken
        self.caption = caption
        self.rating = rating
    }
}

/// Makes the thumbnail of a staged photo, for restores. Errors as ``PreparePhoto``.
public struct MakeThumbnail: Message {
    public typealias Reply = StagedThumbnail
    public static let method = "thumbnail.make"
    public static let access = Role.service
    public static let kind = MessageKind.write
    public static let summary = "Makes the thumbnail of a staged photo."
    /// A name in the staging folder.
    public let stagedPhoto: String

    public init(stagedPhoto: String) { self.stagedPhoto = stagedPhoto }
}

public struct StagedThumbnail: Codable, Sendable {
    /// A name in the staging folder; whoever asked owns the file.
    public let stagedThumbnail: String

    public init(stagedThumbnail: String) { self.stagedThumbnail = stagedThumbnail }
}
