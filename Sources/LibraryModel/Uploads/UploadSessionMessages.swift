import ServiceMesh

/// Imports the files of one session of uploads while they arrive, as one job with one receipt that names every file: a phone that
/// locks after 60 of 200 photos has 60 photos in the library. The session is made by this; its files are announced
/// (``AnnounceUploads``), then sent (``BeginUpload``). The job waits (`waiting`) while nothing is there to import, goes on by itself, also
/// after a restart, and ends when every announced file is settled and no more are to come.
///
/// The session is the device's that began it; a person at this machine may use it too. It ends by itself ``keptDays`` after the last thing
/// that happened in it, with a line for each file that did not come.
///
/// Errors: `invalid_argument` (`session` is no UUID), `already_exists` (the session has a job), `permission_denied` (it is
/// another device's), `not_found` (category), `resource_exhausted` (``maximumSessions``).
///
/// Rejected: a job for each file or batch, which fills the list of jobs and leaves nobody a receipt of the whole; to import
/// at the end, which loses what came where a phone locks.
public struct ImportUploads: Message {
    public typealias Reply = JobStarted
    public static let method = "library.importUploads"
    public static let access = Role.parent
    public static let kind = MessageKind.job
    public static let summary = "Imports a session of uploads, each file when it is there."
    /// That have not ended, of all devices.
    public static let maximumSessions = 16
    public static let keptDays = 7

    /// A UUID, made by the client: a request whose reply was lost is sent again without harm.
    public let session: String
    /// The first category unless told, as with ``ImportPhotos/categoryId``.
    public let categoryId: Int64?
    /// As ``ImportPhotos/originals``.
    public let originals: Bool?
    /// Whether the session has all of its files when none has come for some seconds, for programs that never say that they are done.
    /// Its files are added whole (``AddUpload``), and none is announced. No unless told.
    public let endsWhenIdle: Bool?

    public init(
        session: String, categoryId: Int64? = nil, originals: Bool? = nil, endsWhenIdle: Bool? = nil
    ) {
        self.session = session
        self.categoryId = categoryId
        self.originals = originals
        self.endsWhenIdle = endsWhenIdle
    }
}

/// Tells which files a session is to get. A file that the session knows already, by folder, name, size and time, is not added once more:
/// a page that was reloaded announces what a person has chosen again, and sends what is missing.
///
/// Errors: `not_found`, `permission_denied` (another device's), `invalid_argument` (more than ``maximumCount`` files),
/// `failed_precondition` (no more are to come), `resource_exhausted` (``maximumFiles``, ``maximumFilesOfAll``).
public struct AnnounceUploads: Message {
    public typealias Reply = AnnouncedUploads
    public static let method = "upload.announce"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Tells which files a session of uploads is to get, and which of them are missing."
    /// Of one request.
    public static let maximumCount = 500
    /// Of one session. Each takes about 300 bytes of memory.
    public static let maximumFiles = 20_000
    /// Of all sessions that have not ended.
    public static let maximumFilesOfAll = 60_000

    public let session: String
    public let files: [AnnouncedFile]
    /// Whether the job goes on waiting for further files when all of these are settled. False unless told.
    public let more: Bool?
    /// Whether only files that the session knows already are meant, as those that a person chooses again: others are not added, and
    /// nothing is said of whether more come. False unless told.
    public let onlyKnown: Bool?

    public init(session: String, files: [AnnouncedFile], more: Bool? = nil, onlyKnown: Bool? = nil) {
        self.session = session
        self.files = files
        self.more = more
        self.onlyKnown = onlyKnown
    }
}

/// A file as its device knows it: see ``BeginUpload``.
public struct AnnouncedFile: Codable, Sendable, Equatable {
    public let name: String
    public let folder: String?
    public let size: Int64
    public let modifiedAt: Timestamp?

    public init(name: String, folder: String? = nil, size: Int64, modifiedAt: Timestamp? = nil) {
        self.name = name
        self.folder = folder
        self.size = size
        self.modifiedAt = modifiedAt
    }
}

public struct AnnouncedUploads: Codable, Sendable, Equatable {
    /// In the order of the request.
    public let files: [UploadPlace]
    public init(files: [UploadPlace]) { self.files = files }
}

/// Where a file of a session stands.
public struct UploadPlace: Codable, Sendable, Equatable {
    /// Its number, for ``BeginUpload/file``. Absent for one that the session does not know.
    public let file: Int?
    /// Whether bytes of it are to come. False for one that has arrived, was imported, or is refused.
    public let isMissing: Bool

    public init(file: Int?, isMissing: Bool) {
        self.file = file
        self.isMissing = isMissing
    }
}

/// The sessions that have not ended, of the device that asks; at this machine, those of all. Those that end when they are idle are not
/// told: nobody has to choose anything for them.
public struct ListUploadSessions: Message {
    public typealias Reply = UploadSessionList
    public static let method = "upload.sessions"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    public static let summary = "The sessions of uploads that have not ended, and how many files they miss."
    public init() {}
}

public struct UploadSessionList: Codable, Sendable, Equatable {
    public let sessions: [UploadSessionState]
    public init(sessions: [UploadSessionState]) { self.sessions = sessions }
}

public struct UploadSessionState: Codable, Sendable, Equatable {
    public let session: String
    /// Whose receipt names its files. Absent for a moment at the beginning.
    public let job: JobID?
    public let categoryId: Int64?
    /// Files that were announced, and the bytes of all.
    public let files: Int
    public let bytes: Int64
    /// Of these, the ones of which bytes are to come.
    public let missing: Int
    public let missingBytes: Int64

    public init(
        session: String, job: JobID?, categoryId: Int64?, files: Int, bytes: Int64, missing: Int, missingBytes: Int64
    ) {
        self.session = session
        self.job = job
        self.categoryId = categoryId
        self.files = files
        self.bytes = bytes
        self.missing = missing
        self.missingBytes = missingBytes
    }
}

/// The names of files that a session misses, a page at a time, for a person who has to choose them again. Errors: `not_found`,
/// `permission_denied`, `invalid_argument`.
public struct ListMissingUploads: Message {
    public typealias Reply = MissingUploads
    public static let method = "upload.missing"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    public static let summary = "The names of the files that a session of uploads misses, a page at a time."
    public let session: String
    /// The last page's `next`.
    public let after: Int?
    /// 1…1000; 100 unless told.
    public let limit: Int?

    public init(session: String, after: Int? = nil, limit: Int? = nil) {
        self.session = session
        self.after = after
        self.limit = limit
    }
}

public struct MissingUploads: Codable, Sendable, Equatable {
    /// As the receipt will name them: with their folders.
    public let names: [String]
    /// What to pass as `after` for the next page; absent after the last.
    public let next: Int?

    public init(names: [String], next: Int?) {
        self.names = names
        self.next = next
    }
}

/// Ends a session for which no more is to be sent: what has arrived is imported, and each file that is missing has a line that says
/// so. Asking again changes nothing. Errors: `not_found`, `permission_denied`.
public struct EndUploadSession: Message {
    public typealias Reply = Done
    public static let method = "upload.endSession"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Ends a session of uploads without the files that it misses."
    public let session: String
    public init(session: String) { self.session = session }
}

// MARK: Between the importer and the uploads

/// Makes a session, or finds the same one once more, for PhotoImporter. Errors: as ``ImportUploads``.
public struct OpenUploadSession: Message {
    public typealias Reply = Done
    public static let method = "upload.openSession"
    public static let access = Role.service
    public static let kind = MessageKind.write
    public static let summary = "Makes a session of uploads, for an import."
    public let session: String
    public let categoryId: Int64?
    /// As ``ImportUploads/endsWhenIdle``.
    public let endsWhenIdle: Bool?

    public init(session: String, categoryId: Int64?, endsWhenIdle: Bool? = nil) {
        self.session = session
        self.categoryId = categoryId
        self.endsWhenIdle = endsWhenIdle
    }
}

/// Adds a whole file to a session that ends when it is idle, for the store of what programs have sent, and waits until it is imported. It
/// is durable when the reply comes. It is a file of its own, also where the session has one of the same name, size and time.
///
/// Errors: `not_found` (the upload; with `session` among the details, the session), `failed_precondition` (bytes are missing; with
/// `session`, it takes no more files), `invalid_argument` (what no photo and no film is), `resource_exhausted` (as ``AnnounceUploads``).
public struct AddUpload: Message {
    public typealias Reply = AddedUpload
    public static let method = "upload.add"
    public static let access = Role.service
    public static let kind = MessageKind.write
    public static let summary = "Adds a whole file to a session of uploads, and waits until it is imported."
    public let session: String
    public let upload: String
    /// Of this file; the session's unless told.
    public let categoryId: Int64?
    /// Milliseconds.
    public let waitMs: Int

    public init(session: String, upload: String, categoryId: Int64?, waitMs: Int) {
        self.session = session
        self.upload = upload
        self.categoryId = categoryId
        self.waitMs = waitMs
    }
}

public struct AddedUpload: Codable, Sendable {
    /// SHA-256, lower-case hex.
    public let digest: String
    /// What became of it; absent where its turn has not come yet.
    public let line: ReceiptLine?

    public init(digest: String, line: ReceiptLine?) {
        self.digest = digest
        self.line = line
    }
}

/// Files of a session that are to be imported next, for PhotoImporter: put under their names into a folder that is the import's to
/// settle (``SettleUploads``). The same ones again, until they are settled. Waits for a while where there are none.
///
/// Errors: `not_found`; `failed_precondition` (the session is another job's).
public struct TakeUploads: Message {
    public typealias Reply = TakenUploads
    public static let method = "upload.take"
    public static let access = Role.service
    public static let kind = MessageKind.write
    public static let summary = "Files of a session of uploads that an import takes next."
    /// Files of one batch, and more only where more belong together.
    public static let maximumCount = 64
    public let session: String
    public let job: JobID
    /// Milliseconds.
    public let waitMs: Int

    public init(session: String, job: JobID, waitMs: Int) {
        self.session = session
        self.job = job
        self.waitMs = waitMs
    }
}

public struct TakenUploads: Codable, Sendable {
    /// The folder that has them, as ``ImportPhotos/paths`` are written; absent where there are none.
    public let path: String?
    /// What is in it, as receipts name it.
    public let items: [String]
    /// Of files that will not come.
    public let lines: [ReceiptLine]
    /// Whether every file is settled and none is to come.
    public let isEnded: Bool
    /// Files that were announced, those of them that are settled, and those of which bytes are to come.
    public let files, settled, missing: Int
    /// The same of bytes.
    public let bytes, settledBytes: Int64
    /// The category of the files in the folder, where they have one of their own.
    public let categoryId: Int64?

    public init(
        path: String?, items: [String], lines: [ReceiptLine], isEnded: Bool, files: Int, settled: Int, missing: Int,
        bytes: Int64, settledBytes: Int64, categoryId: Int64? = nil
    ) {
        self.categoryId = categoryId
        self.path = path
        self.items = items
        self.lines = lines
        self.isEnded = isEnded
        self.files = files
        self.settled = settled
        self.missing = missing
        self.bytes = bytes
        self.settledBytes = settledBytes
    }
}

/// Removes what ``TakeUploads`` has handed out, whose lines are written down, for PhotoImporter.
public struct SettleUploads: Message {
    public typealias Reply = Done
    public static let method = "upload.settle"
    public static let access = Role.service
    public static let kind = MessageKind.write
    public static let summary = "Removes uploads of a session that were imported."
    public let session: String
    public let path: String
    /// What became of the files in it, for those who wait for that.
    public let lines: [ReceiptLine]

    public init(session: String, path: String, lines: [ReceiptLine]) {
        self.session = session
        self.path = path
        self.lines = lines
    }
}

/// Whether ``TakeUploads`` would have something, for PhotoImporter. Errors: `not_found`.
public struct LookAtUploads: Message {
    public typealias Reply = WaitingUploads
    public static let method = "upload.look"
    public static let access = Role.service
    public static let kind = MessageKind.read
    public static let summary = "Whether files of a session of uploads wait to be imported."
    public let session: String
    public init(session: String) { self.session = session }
}

public struct WaitingUploads: Codable, Sendable {
    public let isWaiting: Bool
    public let files, missing: Int

    public init(isWaiting: Bool, files: Int, missing: Int) {
        self.isWaiting = isWaiting
        self.files = files
        self.missing = missing
    }
}

/// Removes a session and what is left of its files, for PhotoImporter. One that is not there, or is another job's, is no error and stays as it
/// is.
public struct CloseUploadSession: Message {
    public typealias Reply = ClosedUploadSession
    public static let method = "upload.closeSession"
    public static let access = Role.service
    public static let kind = MessageKind.write
    public static let summary = "Removes a session of uploads."
    public let session: String
    public let job: JobID

    public init(session: String, job: JobID) {
        self.session = session
        self.job = job
    }
}

public struct ClosedUploadSession: Codable, Sendable {
    /// Files that were not settled, as receipts name them.
    public let left: [String]
    public init(left: [String]) { self.left = left }
}
