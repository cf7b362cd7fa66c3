import ServiceMesh

/// Begins an upload, for a program that has bytes and no file: a web page's. Its reply has a file, open to be written, in a
/// place of the library's own; when all bytes are there, ``ImportPhotos`` takes it by its id. What has not been imported a day
/// after its last byte is removed.
///
/// The descriptor comes as ``OpenPhoto``'s does, to be written from where it stands. At this machine it is the file's own; how
/// much that has become is looked at when its state is asked for, when it is imported, and now and then, and what is too large
/// by then is discarded. To a program that asks for somebody elsewhere it is a pipe's: one byte more than was announced is taken at
/// most, none after the disk's reserve is reached, after another ``ResumeUpload``, or after the import has begun, and the next
/// write fails with `EPIPE`. ``maximumPipes`` are open at once; the one that was opened first ends for another.
///
/// Errors: `invalid_argument` (no name, a size that is none, a number that the session has not), `resource_exhausted`
/// (``maximumCount``, no room on the disk, more than ``maximumBytes``), and of a session `not_found`, `permission_denied` (another
/// device's), `already_exists` (the file is there), `unavailable` (as many wait as may).
public struct BeginUpload: Message {
    public typealias Reply = OpenedUpload
    public static let method = "upload.begin"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let carriesFiles = true
    public static let summary = "Begins an upload: a file to write into, which an import then takes."
    /// Of uploads that are not imported yet.
    public static let maximumCount = 5_000
    public static let maximumPipes = 64
    /// Of one: ten hours of film. A picture of more than 512 MiB is refused by its import, which looks at what it is.
    public static let maximumBytes: Int64 = 64 << 30
    /// Bytes that stay free on the disk.
    public static let reservedBytes: Int64 = 256 << 20
    public static let keptHours = 24

    /// As the file is called where it comes from. Only the part behind the last `/` counts; what no file name has is replaced.
    public let name: String
    /// The folder that it is in where it comes from, as in `Holidays/Day 1`: files are imported with the sidecars of their own
    /// folder, and a receipt names it. What no folder is called is replaced.
    public let folder: String?
    /// Bytes that are to come, where that is known: an import of fewer or more is refused.
    public let size: Int64?
    /// When the file was last written to, where that is known: what an import without a better date goes by.
    public let modifiedAt: Timestamp?
    /// The session that it belongs to (``ImportUploads``): imported when all bytes are there. The file is then as it was announced,
    /// whatever stands above. One that was begun already is gone on with: the reply says what is there.
    public let session: String?
    /// Its number there (``UploadPlace/file``).
    public let file: Int?

    public init(
        name: String, folder: String? = nil, size: Int64? = nil, modifiedAt: Timestamp? = nil, session: String? = nil,
        file: Int? = nil
    ) {
        self.name = name
        self.folder = folder
        self.size = size
        self.modifiedAt = modifiedAt
        self.session = session
        self.file = file
    }
}

public struct OpenedUpload: Codable, Sendable, Equatable {
    public let upload: String
    /// Bytes that are there; what is written goes behind them.
    public let offset: Int64
    /// Bytes that may still come: of those that were announced, or of the most that one has.
    public let rest: Int64
    /// Bytes that the disk has room for now, without those that stay free (``BeginUpload/reservedBytes``).
    public let room: Int64
    /// To be written. Nil over a socket where descriptors were not asked for.
    public let content: OwnedFile?

    public init(upload: String, offset: Int64, rest: Int64, room: Int64, content: OwnedFile?) {
        self.upload = upload
        self.offset = offset
        self.rest = rest
        self.room = room
        self.content = content
    }
}

/// How much of uploads is there: after a cut connection, where to go on. An id that is not known, or not any more, is left out.
/// Errors: `invalid_argument` (more than ``maximumCount`` ids).
public struct GetUploads: Message {
    public typealias Reply = UploadList
    public static let method = "upload.state"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    public static let summary = "How many bytes of uploads are there."
    public static let maximumCount = 1_000
    public let ids: [String]
    public init(ids: [String]) { self.ids = ids }
}

public struct UploadList: Codable, Sendable, Equatable {
    public let uploads: [UploadState]
    public init(uploads: [UploadState]) { self.uploads = uploads }
}

public struct UploadState: Codable, Sendable, Equatable {
    public let upload: String
    /// The name that the photo will have been made of.
    public let name: String
    /// Bytes that were announced.
    public let size: Int64?
    /// Bytes that are there.
    public let received: Int64

    public init(upload: String, name: String, size: Int64?, received: Int64) {
        self.upload = upload
        self.name = name
        self.size = size
        self.received = received
    }
}

/// Opens an upload once more, where it ended. Errors: `not_found`.
public struct ResumeUpload: Message {
    public typealias Reply = OpenedUpload
    public static let method = "upload.resume"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let carriesFiles = true
    public static let summary = "Opens an upload to go on with it."
    public let upload: String
    public init(upload: String) { self.upload = upload }
}

/// Removes an upload that is not wanted. One that is not there any more is no error.
public struct DiscardUpload: Message {
    public typealias Reply = Done
    public static let method = "upload.discard"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Removes an upload that is not wanted."
    public let upload: String
    public init(upload: String) { self.upload = upload }
}

/// Makes files of uploads, under their names and in their folders, for PhotoImporter: they are no uploads from then on, and are its
/// to release. All or none. Errors: `not_found`, `failed_precondition` (bytes are missing, or are too many).
public struct ClaimUploads: Message {
    public typealias Reply = ClaimedUploads
    public static let method = "upload.claim"
    public static let access = Role.service
    public static let kind = MessageKind.write
    public static let summary = "Makes files of uploads, for an import."
    public let ids: [String]
    public init(ids: [String]) { self.ids = ids }
}

public struct ClaimedUploads: Codable, Sendable {
    /// The folder that has them, as ``ImportPhotos/paths`` are written.
    public let path: String
    public init(path: String) { self.path = path }
}

/// Removes the files of an import that has ended, for PhotoImporter: of its paths, folders that ``ClaimUploads`` made.
public struct ReleaseUploads: Message {
    public typealias Reply = Done
    public static let method = "upload.release"
    public static let access = Role.service
    public static let kind = MessageKind.write
    public static let summary = "Removes uploads that were imported."
    public let paths: [String]
    public init(paths: [String]) { self.paths = paths }
}
