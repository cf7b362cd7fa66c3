import ServiceMesh

/// A place below `/dav/`, as the names on the way there; none for the top.
///
/// The first name is a category's; further folders are names of what was sent, and nothing else. For ``SentFile/maximumDepth`` and
/// ``SentFile/maximumNameBytes`` see there; `.`, `..`, slashes and control characters are refused with `invalid_argument`.
public typealias SentPath = [String]

/// A file that a device's program has sent, or a folder: as the program knows it, and not as the library keeps it.
public struct SentFile: Codable, Sendable, Equatable {
    /// Folders on the way to a file, and the file.
    public static let maximumDepth = 12
    public static let maximumNameBytes = 255
    /// Files and folders of one device.
    public static let maximumCount = 200_000
    /// Files of one device that are being sent at the same time; the one that was begun first ends for another.
    public static let maximumBegun = 16

    public let name: String
    public let isFolder: Bool
    /// Bytes; absent for a folder.
    public let size: Int64?
    /// When the file was last written to, as the program said; where it did not, when it was sent.
    public let modifiedAt: Timestamp
    public let sentAt: Timestamp

    public init(name: String, isFolder: Bool, size: Int64?, modifiedAt: Timestamp, sentAt: Timestamp) {
        self.name = name
        self.isFolder = isFolder
        self.size = size
        self.modifiedAt = modifiedAt
        self.sentAt = sentAt
    }
}

/// What a device's program finds at a place, and in the folder that is there, a page at a time by name. At the top are the
/// categories too. A photo that was deleted since is there still: the program would send it once more.
///
/// Asked with the password of ``MakeDevicePassword`` each time, as all that follows; nothing here reads what another device sent.
/// Errors: `unauthenticated`, `not_found`, `invalid_argument`.
public struct ListSentFiles: Message {
    public typealias Reply = SentFilePage
    public static let method = "dav.list"
    public static let access = Role.nobody
    public static let kind = MessageKind.read
    public static let summary = "What a device's program has sent: a file, or a folder and what is in it."
    public static let maximumCount = 1_000
    public let password: String
    public let path: SentPath
    /// Whether what is in the folder is told too. Yes unless told.
    public let withContents: Bool?
    /// The last page's `next`.
    public let after: String?

    public init(password: String, path: SentPath, withContents: Bool? = nil, after: String? = nil) {
        self.password = password
        self.path = path
        self.withContents = withContents
        self.after = after
    }
}

public struct SentFilePage: Codable, Sendable, Equatable {
    /// What is at the place itself.
    public let file: SentFile
    public let contents: [SentFile]
    /// What to pass as `after` for the next page; absent after the last.
    public let next: String?

    public init(file: SentFile, contents: [SentFile], next: String?) {
        self.file = file
        self.contents = contents
        self.next = next
    }
}

/// Begins a file of a device's program. Its reply has a pipe to write into, as ``BeginUpload``'s has; ``FinishSentFile`` makes a photo of
/// it. What is not finished a day later is removed.
///
/// Errors: `unauthenticated`, `invalid_argument`, `not_found` (the folder is not there), `failed_precondition` (a folder is there,
/// or a file where a folder would have to be), `resource_exhausted` (no room, too large, ``SentFile/maximumCount``).
public struct BeginSentFile: Message {
    public typealias Reply = OpenedUpload
    public static let method = "dav.begin"
    public static let access = Role.nobody
    public static let kind = MessageKind.write
    public static let carriesFiles = true
    public static let summary = "Begins a file that a device's program sends."
    public let password: String
    public let path: SentPath
    /// Bytes that are to come.
    public let size: Int64
    public let modifiedAt: Timestamp?
    /// Whether only a file that is not there yet is wanted; else `already_exists`.
    public let onlyNew: Bool?

    public init(
        password: String, path: SentPath, size: Int64, modifiedAt: Timestamp? = nil, onlyNew: Bool? = nil
    ) {
        self.password = password
        self.path = path
        self.size = size
        self.modifiedAt = modifiedAt
        self.onlyNew = onlyNew
    }
}

/// Has a file imported whose bytes are all there, and notes that it was sent. The reply comes when it is a photo of the library, also
/// where it was one before. The imports of one device that follow each other closely are one job, whose receipt names each file.
///
/// Errors: `unauthenticated`; `not_found` (no such file was begun); `failed_precondition` (bytes are missing); `invalid_argument` (no
/// photo and no film, or a damaged one: nothing of it is kept); `resource_exhausted` (no room); `unavailable` (send it once more: also
/// where its turn has not come after ``patienceMs``, and then it is imported meanwhile).
public struct FinishSentFile: Message {
    public typealias Reply = FinishedSentFile
    public static let method = "dav.finish"
    public static let access = Role.nobody
    public static let kind = MessageKind.write
    public static let summary = "Has a file imported that a device's program has sent."
    /// Milliseconds.
    public static let patienceMs = 30_000
    public let password: String
    /// ``OpenedUpload/upload``.
    public let upload: String
    /// Milliseconds for which the import is waited for: ``patienceMs`` at most, and unless told.
    public let waitMs: Int?

    public init(password: String, upload: String, waitMs: Int? = nil) {
        self.password = password
        self.upload = upload
        self.waitMs = waitMs
    }
}

public struct FinishedSentFile: Codable, Sendable, Equatable {
    public let file: SentFile
    /// Whether nothing was at its place before.
    public let isNew: Bool

    public init(file: SentFile, isNew: Bool) {
        self.file = file
        self.isNew = isNew
    }
}

/// Gives up a file that was begun. One that is not there any more is no error. Errors: `unauthenticated`.
public struct DiscardSentFile: Message {
    public typealias Reply = Done
    public static let method = "dav.discard"
    public static let access = Role.nobody
    public static let kind = MessageKind.write
    public static let summary = "Gives up a file that a device's program has begun."
    public let password: String
    /// ``OpenedUpload/upload``.
    public let upload: String

    public init(password: String, upload: String) {
        self.password = password
        self.upload = upload
    }
}

/// Makes a folder: at the top a category, where none is called so; below it a name of what is sent. Errors: `unauthenticated`,
/// `invalid_argument` (also a name that no category may have), `already_exists`, `not_found` (the folder that it would be in),
/// `failed_precondition` (that is a file), `resource_exhausted`.
public struct MakeSentFolder: Message {
    public typealias Reply = Done
    public static let method = "dav.makeFolder"
    public static let access = Role.nobody
    public static let kind = MessageKind.write
    public static let summary = "Makes a folder for what a device's program sends: at the top, a category."
    public let password: String
    public let path: SentPath

    public init(password: String, path: SentPath) {
        self.password = password
        self.path = path
    }
}

/// Calls a file otherwise, for programs that send it under another name first. The photo stays where it is. Errors:
/// `unauthenticated`, `invalid_argument`, `not_found`, `already_exists` (something is there, and is not to be replaced),
/// `failed_precondition` (a folder).
public struct MoveSentFile: Message {
    public typealias Reply = MovedSentFile
    public static let method = "dav.move"
    public static let access = Role.nobody
    public static let kind = MessageKind.write
    public static let summary = "Calls a file otherwise that a device's program has sent."
    public let password: String
    public let from: SentPath
    public let to: SentPath
    /// Whether a file that is called so is forgotten; its photo stays.
    public let replaces: Bool

    public init(password: String, from: SentPath, to: SentPath, replaces: Bool) {
        self.password = password
        self.from = from
        self.to = to
        self.replaces = replaces
    }
}

public struct MovedSentFile: Codable, Sendable, Equatable {
    public let isNew: Bool
    public init(isNew: Bool) { self.isNew = isNew }
}

/// A file that the device has sent, open to be read: byte for byte what came. Errors: `unauthenticated`, `not_found` (also where the
/// photo is in the trash or gone, or its original was not kept), `failed_precondition` (a folder).
public struct OpenSentFile: Message {
    public typealias Reply = OpenedSentFile
    public static let method = "dav.open"
    public static let access = Role.nobody
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let carriesFiles = true
    public static let summary = "A file that a device's program has sent, open to be read."
    public let password: String
    public let path: SentPath

    public init(password: String, path: SentPath) {
        self.password = password
        self.path = path
    }
}

public struct OpenedSentFile: Codable, Sendable, Equatable {
    public let file: SentFile
    public let mediaType: String
    /// As ``OpenedPhoto/offset``.
    public let offset: Int64?
    /// Read-only. Nil over a socket where descriptors were not asked for.
    public let content: OwnedFile?

    public init(file: SentFile, mediaType: String, offset: Int64?, content: OwnedFile?) {
        self.file = file
        self.mediaType = mediaType
        self.offset = offset
        self.content = content
    }
}
