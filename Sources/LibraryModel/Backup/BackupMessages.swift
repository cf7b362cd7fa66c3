import ServiceMesh

/// Writes a backup as a job: `SmilePileBackup_yyyy-MM-dd_HHmmss.zip`, read back and verified before it has that
/// name. Photos whose bytes no longer match the catalogue are reported as `damaged` lines (<doc:BackupsAsFiles>).
/// It holds the library as it was when it began, whatever is deleted meanwhile. Once it has its name it is there: what
/// fails after that is a line, `unsynced` or `unnoted`.
/// Errors at once: `not_found` (folder, category), `already_exists` (file), `invalid_argument` (a place inside the library
/// other than its `backups`), `failed_precondition` (another one runs), `resource_exhausted` (space).
public struct CreateBackup: Message {
    public typealias Reply = JobStarted
    public static let method = "backup.create"
    public static let access = Role.parent
    public static let kind = MessageKind.job
    public static let summary = "Writes a backup and proves it readable."
    /// Absolute: the file to write, or a folder to write one with the standard name into. Without it the folder
    /// `backups` of the library.
    public let path: String?
    /// Only these categories.
    public let categoryIds: [Int64]?
    /// Only photos added since.
    public let since: Timestamp?

    public init(path: String? = nil, categoryIds: [Int64]? = nil, since: Timestamp? = nil) {
        self.path = path
        self.categoryIds = categoryIds
        self.since = since
    }
}

public struct BackupReceipt: JobReceipt {
    public let path: String
    public let photos: Int
    public let categories: Int
    /// Of the file.
    public let bytes: Int64
    /// Photos whose bytes did not match the catalogue, could not be read, or were not there.
    public let damaged: Int
    /// Photos whose original is a file of its own, or that have sidecars: backups do not hold these yet.
    public let originalsLeftOut: Int
    public let isPartial: Bool
    public let ending: JobEnding

    public init(
        path: String, photos: Int, categories: Int, bytes: Int64, damaged: Int, originalsLeftOut: Int = 0,
        isPartial: Bool, ending: JobEnding
    ) {
        self.path = path
        self.photos = photos
        self.categories = categories
        self.bytes = bytes
        self.damaged = damaged
        self.originalsLeftOut = originalsLeftOut
        self.isPartial = isPartial
        self.ending = ending
    }
}

/// What a backup says about itself, without reading its photos. Not a check: that is ``VerifyBackup``.
/// Errors: `not_found`, `data_loss` (damaged), `invalid_argument` (not a backup).
public struct InspectBackup: Message {
    public typealias Reply = BackupSummary
    public static let method = "backup.inspect"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let summary = "What a backup says about itself: date, counts, dialect."
    /// Absolute.
    public let path: String
    public init(path: String) { self.path = path }
}

public struct BackupSummary: Codable, Sendable, Equatable {
    /// `smilepile` is our own; others come with later versions.
    public let dialect: String
    public let backupVersion: String
    public let appVersion: String
    public let timestamp: Timestamp
    public let photoCount: Int
    public let categoryCount: Int
    public let isPartial: Bool
    /// The key that sealed fields need, or nil where none are inside.
    public let sealedWith: String?

    public init(
        dialect: String, backupVersion: String, appVersion: String, timestamp: Timestamp, photoCount: Int,
        categoryCount: Int, isPartial: Bool, sealedWith: String?
    ) {
        self.dialect = dialect
        self.backupVersion = backupVersion
        self.appVersion = appVersion
        self.timestamp = timestamp
        self.photoCount = photoCount
        self.categoryCount = categoryCount
        self.isPartial = isPartial
        self.sealedWith = sealedWith
    }
}

/// Reads a whole backup and compares every byte with what it promises, as a job. Fails with `data_loss` or
/// `invalid_argument`, naming the entry.
public struct VerifyBackup: Message {
    public typealias Reply = JobStarted
    public static let method = "backup.verify"
    public static let access = Role.parent
    public static let kind = MessageKind.job
    public static let summary = "Reads a whole backup and checks every byte of it."
    /// Absolute.
    public let path: String
    public init(path: String) { self.path = path }
}

public struct VerificationReceipt: JobReceipt {
    public let backup: BackupSummary
    public let entries: Int
    public let bytes: Int64
    public let ending: JobEnding

    public init(backup: BackupSummary, entries: Int, bytes: Int64, ending: JobEnding) {
        self.backup = backup
        self.entries = entries
        self.bytes = bytes
        self.ending = ending
    }
}

public enum RestoreMode: String, Codable, Sendable, CaseIterable {
    /// Adds what is missing; what is there keeps its data.
    case merge
    /// The library becomes the backup.
    case replace
}

/// Restores a backup as a job. It is checked whole before anything is written; then files are staged, and one
/// transaction makes the switch. `dryRun` stops before it and tells what would happen.
/// Fails with `data_loss` or `invalid_argument` naming the entry; `resource_exhausted` (space).
public struct RestoreBackup: Message {
    public typealias Reply = JobStarted
    public static let method = "backup.restore"
    public static let access = Role.parent
    public static let kind = MessageKind.job
    public static let summary = "Restores a backup into the library, merging or replacing."
    /// Absolute.
    public let path: String
    /// `merge` unless told.
    public let mode: RestoreMode?
    public let dryRun: Bool?

    public init(path: String, mode: RestoreMode? = nil, dryRun: Bool? = nil) {
        self.path = path
        self.mode = mode
        self.dryRun = dryRun
    }
}

public struct RestoreReceipt: JobReceipt {
    public let backup: BackupSummary
    public let mode: RestoreMode
    public let isDryRun: Bool
    public let categoriesAdded: Int
    public let photosAdded: Int
    /// Photos that were there already and kept their data.
    public let photosKept: Int
    /// Photos of the old library that a replacement removed.
    public let photosRemoved: Int
    public let swipeSessionsAdded: Int
    public let ending: JobEnding

    public init(
        backup: BackupSummary, mode: RestoreMode, isDryRun: Bool, categoriesAdded: Int, photosAdded: Int,
        photosKept: Int, photosRemoved: Int, swipeSessionsAdded: Int, ending: JobEnding
    ) {
        self.backup = backup
        self.mode = mode
        self.isDryRun = isDryRun
        self.categoriesAdded = categoriesAdded
        self.photosAdded = photosAdded
        self.photosKept = photosKept
        self.photosRemoved = photosRemoved
        self.swipeSessionsAdded = swipeSessionsAdded
        self.ending = ending
    }
}
