import ServiceMesh

/// Has the library back itself up into a folder, again and again, or no more. One schedule at a time; a new one takes the
/// place of the last. A backup is due when the newest whole one in the folder is older than `everyHours`, or has been changed
/// or removed since, and is made once
/// the machine is idle and the folder is there. After it the oldest go, as ``PruneBackups`` has it.
/// Not for one backup now: that is ``CreateBackup``.
/// Errors: `not_found` (folder), `invalid_argument` (a place inside the library other than its `backups`; a number out of its
/// range; a key that does not open).
public struct ScheduleBackups: Message {
    public typealias Reply = ScheduledBackups
    public static let method = "backup.schedule"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Has the library back itself up again and again, or no more."
    /// Absolute. It has to be there now, so that it is known where it is mounted.
    public let folder: String?
    /// Hours between two backups, 1…8,784 (a year); a week unless told.
    public let everyHours: Int?
    /// Verified backups that stay, 1…1,000; 4 unless told.
    public let keep: Int?
    /// Makes each of them one file that holds everything. Unless told the folder is a backup folder, as of
    /// ``CreateBackup/incremental``, which gets only what is new.
    public let zip: Bool?
    /// As ``CreateBackup/key``, for each of them.
    public let key: BackupKey?
    /// Ends it; the backups stay.
    public let off: Bool?

    public init(
        folder: String? = nil, everyHours: Int? = nil, keep: Int? = nil, zip: Bool? = nil, key: BackupKey? = nil,
        off: Bool? = nil
    ) {
        self.zip = zip
        self.folder = folder
        self.everyHours = everyHours
        self.keep = keep
        self.key = key
        self.off = off
    }

    public static let everyHoursRange = 1...8_784
    public static let keepRange = 1...1_000
    public static let standardEveryHours = 168
    public static let standardKeep = 4
}

public struct ScheduledBackups: Codable, Sendable, Equatable {
    /// Absent where none are made by themselves.
    public let schedule: BackupSchedule?
    public init(schedule: BackupSchedule?) { self.schedule = schedule }
}

public struct BackupSchedule: Codable, Sendable, Equatable {
    public let folder: String
    public let everyHours: Int
    /// Verified backups that stay.
    public let keep: Int
    /// Whether each is one file that holds everything (``ScheduleBackups/zip``); else they go into a backup folder.
    public let isZip: Bool
    /// Whether their sealed fields are under a passphrase.
    public let hasPassphrase: Bool
    /// When the next one is due; in the past where it is late.
    public let nextAt: Timestamp
    /// Why it is late, in a sentence: the folder is not there, the machine is busy, the last try failed. Absent while all is
    /// well.
    public let problem: String?

    public init(
        folder: String, everyHours: Int, keep: Int, isZip: Bool = false, hasPassphrase: Bool, nextAt: Timestamp,
        problem: String? = nil
    ) {
        self.isZip = isZip
        self.folder = folder
        self.everyHours = everyHours
        self.keep = keep
        self.hasPassphrase = hasPassphrase
        self.nextAt = nextAt
        self.problem = problem
    }
}

/// The backups that this library has made and knows of, the newest first, each looked at; and its schedule. Their photos are
/// not read: that is ``VerifyBackup``.
public struct ListBackups: Message {
    public typealias Reply = BackupList
    public static let method = "backup.list"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let summary = "The backups that the library has made, and its schedule."
    public init() {}
}

public struct BackupList: Codable, Sendable, Equatable {
    /// The last 1,000.
    public let backups: [KnownBackup]
    public let schedule: BackupSchedule?

    public init(backups: [KnownBackup], schedule: BackupSchedule? = nil) {
        self.backups = backups
        self.schedule = schedule
    }
}

/// A backup as the library remembers it, and what has become of its file.
public struct KnownBackup: Codable, Sendable, Equatable {
    public enum Presence: String, Codable, Sendable, CaseIterable {
        /// The file that was written is there.
        case there
        /// Its folder is there, and it is not.
        case gone
        /// Another file has its name, or it was changed.
        case changed
        /// Its folder is not there, as that of a stick that is not plugged in.
        case outOfReach
    }

    public let path: String
    /// The moment of which it holds the library.
    public let madeAt: Timestamp
    /// When all of it was last read back and found right; absent where the last check found it damaged.
    public let verifiedAt: Timestamp?
    public let photos: Int
    /// Of the file.
    public let bytes: Int64
    /// As ``BackupReceipt/damaged``.
    public let damaged: Int
    /// Whether it holds the whole library, originals included.
    public let isWhole: Bool
    public let presence: Presence

    public init(
        path: String, madeAt: Timestamp, verifiedAt: Timestamp?, photos: Int, bytes: Int64, damaged: Int,
        isWhole: Bool, presence: Presence
    ) {
        self.path = path
        self.madeAt = madeAt
        self.verifiedAt = verifiedAt
        self.photos = photos
        self.bytes = bytes
        self.damaged = damaged
        self.isWhole = isWhole
        self.presence = presence
    }
}

/// Removes the oldest backups of a folder, so that `keep` verified ones stay; for good.
///
/// Only files that this library made, with the name that it gives, and that are unchanged since. It counts what is whole, was
/// verified and is there; partial backups neither count nor go. The newest one without a damaged photo stays in any case. Those
/// that somebody has removed are forgotten.
/// Errors: `failed_precondition` (no folder and no schedule), `not_found` (folder), `invalid_argument`.
public struct PruneBackups: Message {
    public typealias Reply = PrunedBackups
    public static let method = "backup.prune"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Removes the oldest backups of a folder, and keeps the newest verified ones."
    /// Absolute; the schedule's unless told.
    public let folder: String?
    /// 1…1,000; the schedule's unless told.
    public let keep: Int?
    /// Only says what would go.
    public let dryRun: Bool?

    public init(folder: String? = nil, keep: Int? = nil, dryRun: Bool? = nil) {
        self.folder = folder
        self.keep = keep
        self.dryRun = dryRun
    }
}

public struct PrunedBackups: Codable, Sendable, Equatable {
    public let folder: String
    /// What went, or would go, the oldest first.
    public let removed: [KnownBackup]
    /// Whole, verified backups that are there now.
    public let kept: Int
    /// Files that no snapshot of a backup folder names any more, and that went with them; absent where there are none.
    public let files: Int?

    public init(folder: String, removed: [KnownBackup], kept: Int, files: Int? = nil) {
        self.folder = folder
        self.removed = removed
        self.kept = kept
        self.files = files
    }
}
