import ServiceMesh

/// Writes a backup as a job: `SmilePileBackup_yyyy-MM-dd_HHmmss.zip`, read back and verified before it has that
/// name. Photos whose bytes no longer match the catalogue are reported as `damaged` lines (<doc:BackupsAsFiles>).
/// It holds the library as it was when it began, whatever is deleted meanwhile. Once it has its name it is there: what
/// fails after that is a line, `unsynced` or `unnoted`.
/// Errors at once: `not_found` (folder, category), `already_exists` (file), `invalid_argument` (a place inside the library
/// other than its `backups`; a key that does not open, or for phones), `failed_precondition` (another one runs), `resource_exhausted` (space).
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
    /// Leaves out originals and sidecars: the backup then has photos as they are shown.
    public let withoutOriginals: Bool?
    /// Writes what the phone apps read and nothing else: their `metadata.json`, and photos as they are shown. What that cannot
    /// say has lines `left`, one for each kind: captions, reviews, sealed fields, … It is not counted as a backup of the library,
    /// and takes no ``key``.
    public let forPhone: Bool?
    /// Saves into a backup folder, which holds each file once: only what it has not is copied, and a snapshot says what the library
    /// is now (<doc:BackupsAsFiles>). `path` is the folder; one that is not there, or is empty, becomes one. Of the whole library.
    public let incremental: Bool?
    /// Of ``MakeBackupKey``: seals the sealed fields in the backup. Without it they are in there as this library has them, and
    /// nothing but its keys opens them.
    public let key: BackupKey?

    public init(
        path: String? = nil, categoryIds: [Int64]? = nil, since: Timestamp? = nil,
        withoutOriginals: Bool? = nil, forPhone: Bool? = nil, incremental: Bool? = nil, key: BackupKey? = nil
    ) {
        self.path = path
        self.categoryIds = categoryIds
        self.since = since
        self.withoutOriginals = withoutOriginals
        self.forPhone = forPhone
        self.incremental = incremental
        self.key = key
    }
}

public struct BackupReceipt: JobReceipt {
    public let path: String
    public let photos: Int
    public let categories: Int
    /// Of the file; of a snapshot in a backup folder, of all that it names.
    public let bytes: Int64
    /// Photos, originals and sidecars whose bytes did not match the catalogue, could not be read, or were not there.
    public let damaged: Int
    /// Photos whose originals or sidecars were left out, because the request says so.
    public let originalsLeftOut: Int
    public let isPartial: Bool
    /// Sealed values that are in it, sidecars that name a place among them; absent where there are none.
    public let sealedValues: Int?
    /// As ``BackupSummary/sealedWith``.
    public let sealedWith: String?
    /// Photos in the trash, which no backup holds.
    public let trashed: Int?
    /// Groups that other machines keep, which it does not hold either.
    public let hubGroups: Int?
    /// Set where it was written for the phone apps (``CreateBackup/forPhone``).
    public let isForPhone: Bool?
    /// Files that were copied into the backup folder, and their bytes; absent of a backup in one file.
    public let added: Int?
    public let addedBytes: Int64?
    /// Those among them that the folder had before, and were gone or damaged, each with a line `mended`; absent where none was.
    public let mended: Int?
    /// Set where it lies on the disk that the library lies on, and goes with it; nil too where that cannot be told.
    public let isOnLibraryDisk: Bool?
    public let ending: JobEnding

    public init(
        path: String, photos: Int, categories: Int, bytes: Int64, damaged: Int, originalsLeftOut: Int = 0,
        isPartial: Bool, sealedValues: Int? = nil, sealedWith: String? = nil, trashed: Int? = nil,
        hubGroups: Int? = nil, isForPhone: Bool? = nil, added: Int? = nil, addedBytes: Int64? = nil, mended: Int? = nil,
        isOnLibraryDisk: Bool? = nil, ending: JobEnding
    ) {
        self.path = path
        self.photos = photos
        self.categories = categories
        self.bytes = bytes
        self.damaged = damaged
        self.originalsLeftOut = originalsLeftOut
        self.isPartial = isPartial
        self.sealedValues = sealedValues
        self.sealedWith = sealedWith
        self.trashed = trashed
        self.hubGroups = hubGroups
        self.isForPhone = isForPhone
        self.added = added
        self.addedBytes = addedBytes
        self.mended = mended
        self.isOnLibraryDisk = isOnLibraryDisk
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
    /// Absolute: a backup, the folder that one was unpacked into, or a backup folder.
    public let path: String
    /// Of a backup folder the snapshot that is meant: its date, or the beginning of it, as `2026-11-28`. The newest unless told.
    public let snapshot: String?

    public init(path: String, snapshot: String? = nil) {
        self.path = path
        self.snapshot = snapshot
    }
}

public struct BackupSummary: Codable, Sendable, Equatable {
    /// `smilepile` is our own; `story` and `phone` are those of the phone apps: <doc:BackupsAsFiles>.
    public let dialect: String
    public let backupVersion: String
    public let appVersion: String
    public let timestamp: Timestamp
    public let photoCount: Int
    public let categoryCount: Int
    public let isPartial: Bool
    /// What the sealed fields need to be opened: `passphrase`, or the ids of the library's keys (32 hexadecimal digits
    /// each, with spaces between them); nil where none are inside.
    public let sealedWith: String?
    /// Sealed values inside; nil where there are none.
    public let sealedValues: Int?

    /// ``sealedWith`` of backups that were made with a passphrase.
    public static let sealedWithPassphrase = "passphrase"

    public init(
        dialect: String, backupVersion: String, appVersion: String, timestamp: Timestamp, photoCount: Int,
        categoryCount: Int, isPartial: Bool, sealedWith: String?, sealedValues: Int? = nil
    ) {
        self.dialect = dialect
        self.backupVersion = backupVersion
        self.appVersion = appVersion
        self.timestamp = timestamp
        self.photoCount = photoCount
        self.categoryCount = categoryCount
        self.isPartial = isPartial
        self.sealedWith = sealedWith
        self.sealedValues = sealedValues
    }
}

/// Reads a whole backup and compares every byte with what it promises, as a job. Sealed values are opened where a key for
/// them is here, and one that is damaged is a line `sealed`. Fails with `data_loss` or `invalid_argument`, naming the entry.
///
/// With ``others`` each of them is read as well, and then it is looked whether they are all together a backup of the library as
/// it is now: a photo whose bytes none of them has is a line `missing`.
public struct VerifyBackup: Message {
    public typealias Reply = JobStarted
    public static let method = "backup.verify"
    public static let access = Role.parent
    public static let kind = MessageKind.job
    public static let summary = "Reads a whole backup and checks every byte of it."
    /// Absolute.
    public let path: String
    /// Those that it goes on from, as one of the whole library and one of what was added since (``CreateBackup/since``). Absolute;
    /// ``maximumOthers`` at most.
    public let others: [String]?
    /// As ``InspectBackup/snapshot``, for `path`.
    public let snapshot: String?
    /// Of ``OpenBackupKey``, for `path`.
    public let key: BackupKey?
    public static let maximumOthers = 1_000

    public init(path: String, others: [String]? = nil, snapshot: String? = nil, key: BackupKey? = nil) {
        self.path = path
        self.others = others
        self.snapshot = snapshot
        self.key = key
    }
}

public struct VerificationReceipt: JobReceipt {
    /// Photos of the library, as several backups have them.
    public struct Together: Codable, Sendable, Equatable {
        public let backups: Int
        /// Whose bytes are in one of them.
        public let photos: Int
        /// Whose bytes are in none.
        public let missing: Int

        public init(backups: Int, photos: Int, missing: Int) {
            self.backups = backups
            self.photos = photos
            self.missing = missing
        }
    }

    public let backup: BackupSummary
    /// Of all that were read, as `bytes` and `sealedOpened` are.
    public let entries: Int
    public let bytes: Int64
    /// Sealed values that opened; absent where there are none, or no key for them is here.
    public let sealedOpened: Int?
    /// Absent where one was asked about.
    public let together: Together?
    public let ending: JobEnding

    public init(
        backup: BackupSummary, entries: Int, bytes: Int64, sealedOpened: Int? = nil, together: Together? = nil,
        ending: JobEnding
    ) {
        self.backup = backup
        self.entries = entries
        self.bytes = bytes
        self.sealedOpened = sealedOpened
        self.together = together
        self.ending = ending
    }
}

public enum RestoreMode: String, Codable, Sendable, CaseIterable {
    /// Adds what is missing; what is there keeps its data. A library that has not been used yet (no photo, its categories as
    /// they were made) becomes the backup, unless that is a part of one.
    case merge
    /// The library becomes the backup.
    case replace
}

/// Restores a backup as a job. It is checked whole before anything is written; then files are staged, and one
/// transaction makes the switch. `dryRun` stops before it and tells what would happen. Sealed values for which no key is here
/// are left out, each photo with a line `sealed`; everything else is restored.
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
    /// Where both say something of a photo, category or setting and it differs, a merge keeps the library's word, with a line
    /// `conflict` for each; with this it takes the backup's, with a line `updated` that says what was there, and
    /// ``UndoRestore`` puts that back. Pictures and decisions of reviews stay.
    public let prefersBackup: Bool?
    /// Of a damaged backup, takes every photo whose bytes are those that were saved, with a line `damaged` for each other one;
    /// not with `replace`. Without this a damaged backup is refused.
    public let salvage: Bool?
    /// As ``InspectBackup/snapshot``.
    public let snapshot: String?
    /// Of ``OpenBackupKey``. The library that made the backup needs none, nor one that has its keys.
    public let key: BackupKey?

    public init(
        path: String, mode: RestoreMode? = nil, dryRun: Bool? = nil, prefersBackup: Bool? = nil,
        salvage: Bool? = nil, snapshot: String? = nil, key: BackupKey? = nil
    ) {
        self.path = path
        self.snapshot = snapshot
        self.mode = mode
        self.dryRun = dryRun
        self.prefersBackup = prefersBackup
        self.salvage = salvage
        self.key = key
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
    /// Absent where the backup has none.
    public let groupsAdded: Int?
    /// Sealed values that were taken over; absent where the backup has none.
    public let sealedValuesAdded: Int?
    /// Set where a merge made a library that had not been used into the backup.
    public let becameBackup: Bool?
    /// Of the differences with a line `conflict`, those that ``RestoreBackup/prefersBackup`` would have taken over, or would
    /// take; absent where there are none, and where it was asked for.
    public let takeableDifferences: Int?
    public let ending: JobEnding

    public init(
        backup: BackupSummary, mode: RestoreMode, isDryRun: Bool, categoriesAdded: Int, photosAdded: Int,
        photosKept: Int, photosRemoved: Int, swipeSessionsAdded: Int, groupsAdded: Int? = nil,
        sealedValuesAdded: Int? = nil, becameBackup: Bool? = nil, takeableDifferences: Int? = nil, ending: JobEnding
    ) {
        self.backup = backup
        self.mode = mode
        self.isDryRun = isDryRun
        self.categoriesAdded = categoriesAdded
        self.photosAdded = photosAdded
        self.photosKept = photosKept
        self.photosRemoved = photosRemoved
        self.swipeSessionsAdded = swipeSessionsAdded
        self.groupsAdded = groupsAdded
        self.sealedValuesAdded = sealedValuesAdded
        self.becameBackup = becameBackup
        self.takeableDifferences = takeableDifferences
        self.ending = ending
    }
}

/// Puts back, as a job, what a merge with ``RestoreBackup/prefersBackup`` has overwritten: texts, dates, favourite marks, categories,
/// preferences, sealed fields. What somebody has changed since stays as it is, with a line `conflict`, and so does what the restore has
/// added. Once done, the same is not there to be put back again; it is kept for as long as the restore's receipt.
/// Fails with `not_found` where the job has overwritten nothing that is known.
public struct UndoRestore: Message {
    public typealias Reply = JobStarted
    public static let method = "backup.undo"
    public static let access = Role.parent
    public static let kind = MessageKind.job
    public static let summary = "Puts back what a restore has overwritten."
    /// The restore's.
    public let job: JobID

    public init(job: JobID) { self.job = job }
}

public struct UndoneRestore: JobReceipt {
    /// Things that have something of their own again: photos, categories, their order, the preferences.
    public let restored: Int
    public let ending: JobEnding

    public init(restored: Int, ending: JobEnding) {
        self.restored = restored
        self.ending = ending
    }
}
