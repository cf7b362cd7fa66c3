import ServiceMesh

/// Imports files and folders as a job. Its receipt has a line for every file, with one of ``ImportOutcome``.
/// Errors at once: `invalid_argument` (no paths, a relative path, both paths and a list), `not_found` (category, a path,
/// the list, an upload), `failed_precondition` (an upload whose bytes are not all there).
public struct ImportPhotos: Message {
    public typealias Reply = JobStarted
    public static let method = "library.import"
    public static let access = Role.parent
    public static let kind = MessageKind.job
    public static let summary = "Imports photos from files and folders."
    public var isForThisMachine: Bool { !paths.isEmpty || list != nil }
    /// Patterns that one import may have.
    public static let patterns = 100
    /// Absolute. Folders are read with everything below them; links inside them are not followed. None where there is a
    /// list. Linux lets names be any bytes: a byte that is not UTF-8 is written `\xE9`, and then a backslash is written twice,
    /// as the receipt writes it.
    public let paths: [String]
    /// In place of `paths`, where they are too many for one request: what ``CollectImportPaths`` answered. It is used up
    /// by this, whether or not the job starts.
    public let list: String?
    /// In place of both: uploads, by their ids (``BeginUpload``). They are used up by this once the job starts, and are removed
    /// when it has ended, whatever became of them. Not with `dryRun`.
    public let uploads: [String]?
    /// The first category unless told; but then a photo beside which a library's own sidecar lies (``GetPhotoSidecar``) goes to the
    /// category that this names, which is made where there is none.
    public let categoryId: Int64?
    /// Whether sources that are not stored as they are, are kept beside the photos made of them, and their sidecars; the
    /// setting `keepOriginals` unless told.
    public let originals: Bool?
    /// Globs of what is not looked at, as fnmatch(3) compares them, capitals or not: `*.gif` and `Drafts/` any file and any
    /// folder of that name, `2019/*/small` below a folder that was named. At most ``patterns``.
    public let exclude: [String]?
    /// Whether what systems and programs leave behind in folders is looked at too: dot files, `Thumbs.db`, `@eaDir` and such.
    public let includeHidden: Bool?
    /// Whether files that are known to be what photos were made from are read all the same.
    public let verifyKnown: Bool?
    /// Whether files are passed over that somebody else has open for writing; where that cannot be known, those that were written
    /// to within the last seconds.
    public let settled: Bool?
    /// Only looks: says of each file whether it would be imported, stores nothing.
    public let dryRun: Bool?

    public init(
        paths: [String], categoryId: Int64? = nil, originals: Bool? = nil, exclude: [String]? = nil,
        includeHidden: Bool? = nil, verifyKnown: Bool? = nil, settled: Bool? = nil, dryRun: Bool? = nil
    ) {
        self.paths = paths
        list = nil
        uploads = nil
        self.categoryId = categoryId
        self.originals = originals
        self.exclude = exclude
        self.includeHidden = includeHidden
        self.verifyKnown = verifyKnown
        self.settled = settled
        self.dryRun = dryRun
    }

    public init(list: String) { self.init(ImportPhotos(paths: []), paths: [], list: list) }

    public init(uploads: [String], categoryId: Int64? = nil, originals: Bool? = nil) {
        self.init(ImportPhotos(paths: [], categoryId: categoryId, originals: originals), paths: [], uploads: uploads)
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        paths = try container.decodeIfPresent([String].self, forKey: .paths) ?? []
        list = try container.decodeIfPresent(String.self, forKey: .list)
        uploads = try container.decodeIfPresent([String].self, forKey: .uploads)
        categoryId = try container.decodeIfPresent(Int64.self, forKey: .categoryId)
        originals = try container.decodeIfPresent(Bool.self, forKey: .originals)
        exclude = try container.decodeIfPresent([String].self, forKey: .exclude)
        includeHidden = try container.decodeIfPresent(Bool.self, forKey: .includeHidden)
        verifyKnown = try container.decodeIfPresent(Bool.self, forKey: .verifyKnown)
        settled = try container.decodeIfPresent(Bool.self, forKey: .settled)
        dryRun = try container.decodeIfPresent(Bool.self, forKey: .dryRun)
    }

    private init(_ other: ImportPhotos, paths: [String], list: String? = nil, uploads: [String]? = nil) {
        self.paths = paths
        self.list = list
        self.uploads = uploads
        categoryId = other.categoryId
        originals = other.originals
        exclude = other.exclude
        includeHidden = other.includeHidden
        verifyKnown = other.verifyKnown
        settled = other.settled
        dryRun = other.dryRun
    }

    /// The same import, of these paths.
    public func with(paths: [String]) -> ImportPhotos { ImportPhotos(self, paths: paths, list: nil) }

    /// The same import, of the paths on a list.
    public func with(list: String) -> ImportPhotos { ImportPhotos(self, paths: [], list: list) }
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
    public var isForThisMachine: Bool { true }
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
    /// The library had a photo made from the same bytes, and has got its original or sidecars now, or can show it.
    case completed
    /// The library has a photo made from the same bytes.
    case duplicate
    /// The library has a photo made from this file, or from one that was found to have its bytes, and it has not been written to since:
    /// it was not opened.
    case known
    /// Not a kind of picture that is taken.
    case unsupported
    /// A picture that cannot be decoded.
    case damaged
    /// A picture that this version cannot decode for want of memory: its original is kept, with a placeholder to show, and a
    /// newer version tries again.
    case keptUnseen = "kept_unseen"
    /// Past the limits on bytes, pixels or memory, and not kept.
    case tooLarge = "too_large"
    /// Opening it took longer than a picture may. Nothing is known to be wrong with it.
    case timedOut = "timed_out"
    /// The file could not be opened or read.
    case unreadable
    /// There was no room on the library's disk.
    case noSpace = "no_space"
    /// The file was written to or replaced while it was read; nothing of it was stored.
    case changed
    /// The helper that opened it was killed from outside, twice. Nothing is known of the photo.
    case workerLost = "worker_lost"
    /// The job was stopped before its turn.
    case cancelled
    /// Announced for a session of uploads, and not sent until it ended.
    case notSent = "not_sent"
    /// Of a session of uploads: no picture that is taken, as ``PassedOver`` has it; its detail says which.
    case passedOver = "passed_over"
    /// Of a session of uploads: read with the picture that it came with, and no file of its own.
    case beside

    /// Whether it follows from the bytes of the file and the version of the program, so that another try changes nothing.
    public var isLasting: Bool {
        switch self {
        case .unsupported, .damaged, .tooLarge: true
        case .imported, .completed, .duplicate, .known, .keptUnseen, .cancelled, .timedOut, .unreadable, .noSpace,
            .changed, .workerLost, .notSent, .passedOver, .beside:
            false
        }
    }

    /// Whether a person should look at it.
    public var needsAttention: Bool {
        switch self {
        case .imported, .completed, .duplicate, .known, .keptUnseen, .cancelled, .passedOver, .beside: false
        case .notSent, .unsupported, .damaged, .tooLarge, .timedOut, .unreadable, .noSpace, .changed, .workerLost: true
        }
    }
}

/// What an import found and did not take for a picture to import: counted, and without a line of its own.
public enum PassedOver: String, Codable, Sendable, CaseIterable {
    case video, audio, document, archive
    /// What programs write beside pictures: XMP of pictures that are not there, and such.
    case sidecar
    case other
    /// Left behind by systems and programs, and not entered: see ``ImportPhotos/includeHidden``.
    case system
    /// By ``ImportPhotos/exclude``; a folder counts once.
    case excluded
    /// By ``ImportPhotos/settled``.
    case unsettled
}

public struct ImportReceipt: JobReceipt {
    public let categoryId: Int64
    /// Pictures found; each has one line in the job's receipt.
    public let files: Int
    public let imported: Int
    /// Of those imported, the ones that are shown smaller than they came.
    public let reduced: Int
    /// Of those imported, the ones that went to other categories than ``categoryId``, because a library's own sidecars name these.
    public let elsewhere: Int
    /// Photos that lacked their original, sidecars, film or a picture to show, and have got them.
    public let completed: Int
    /// Of those completed, the ones that have got the film of theirs that is a file of its own.
    public let joined: Int
    /// Read, and of the same bytes as a photo's source.
    public let duplicates: Int
    /// Not opened, because photos were made from them, or were found to have the same bytes.
    public let known: Int
    /// What needs attention: see ``ImportOutcome/needsAttention``.
    public let problems: Int
    /// Not looked at, because the job was stopped.
    public let notDone: Int
    /// What was found besides, as far as the job came: how many, by ``PassedOver``.
    public let passedOver: [String: Int]
    public let isDryRun: Bool
    public let ending: JobEnding

    public init(
        categoryId: Int64, files: Int, imported: Int, reduced: Int, elsewhere: Int = 0, completed: Int,
        joined: Int = 0, duplicates: Int, known: Int = 0, problems: Int, notDone: Int, passedOver: [String: Int],
        isDryRun: Bool,
        ending: JobEnding
    ) {
        self.categoryId = categoryId
        self.files = files
        self.imported = imported
        self.reduced = reduced
        self.elsewhere = elsewhere
        self.completed = completed
        self.joined = joined
        self.duplicates = duplicates
        self.known = known
        self.problems = problems
        self.notDone = notDone
        self.passedOver = passedOver
        self.isDryRun = isDryRun
        self.ending = ending
    }

    /// Of an earlier version too, which counted less.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        categoryId = try container.decode(Int64.self, forKey: .categoryId)
        files = try container.decode(Int.self, forKey: .files)
        imported = try container.decode(Int.self, forKey: .imported)
        reduced = try container.decodeIfPresent(Int.self, forKey: .reduced) ?? 0
        elsewhere = try container.decodeIfPresent(Int.self, forKey: .elsewhere) ?? 0
        completed = try container.decodeIfPresent(Int.self, forKey: .completed) ?? 0
        joined = try container.decodeIfPresent(Int.self, forKey: .joined) ?? 0
        duplicates = try container.decode(Int.self, forKey: .duplicates)
        known = try container.decodeIfPresent(Int.self, forKey: .known) ?? 0
        problems = try container.decode(Int.self, forKey: .problems)
        notDone = try container.decode(Int.self, forKey: .notDone)
        passedOver = try container.decodeIfPresent([String: Int].self, forKey: .passedOver) ?? [:]
        isDryRun = try container.decode(Bool.self, forKey: .isDryRun)
        ending = try container.decode(JobEnding.self, forKey: .ending)
    }
}
