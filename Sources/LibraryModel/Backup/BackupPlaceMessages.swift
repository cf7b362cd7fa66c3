import ServiceMesh

/// The places of this machine that backups go to or come from, for whoever chooses among places and writes no paths: a person
/// at a page. Who asks from another machine than this one can name no others.
///
/// They are the library's own `backups/`, the folder of the schedule, those in which backups of this library are known to be,
/// drives that are mounted below `/media`, `/run/media` and `/mnt`, and, to read from, `Downloads` of the user whose daemon this is.
public struct ListBackupPlaces: Message {
    public typealias Reply = BackupPlaceList
    public static let method = "backup.places"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let summary = "Folders that backups can go to, and the backups that lie in them."
    public static let maximumFolders = 100
    public static let maximumFiles = 1_000
    public init() {}
}

public struct BackupPlaceList: Codable, Sendable, Equatable {
    /// Those that are there, each once; ``ListBackupPlaces/maximumFolders`` at most.
    public let folders: [BackupFolder]
    /// Their ZIP files, the newest first; ``ListBackupPlaces/maximumFiles`` at most. They have not been looked into: that is
    /// ``InspectBackup``.
    public let files: [BackupFileInFolder]

    public init(folders: [BackupFolder], files: [BackupFileInFolder]) {
        self.folders = folders
        self.files = files
    }
}

public struct BackupFolder: Codable, Sendable, Equatable {
    public enum Kind: String, Codable, Sendable, CaseIterable {
        /// Of the library itself.
        case library
        /// Where the schedule's go.
        case schedule
        /// Where others of this library are.
        case earlier
        case drive
        /// Only to read from.
        case downloads
    }

    public let path: String
    public let kind: Kind
    public let isWritable: Bool
    public let freeBytes: Int64?
    /// Whether it goes with the disk that the library is on.
    public let isOnLibraryDisk: Bool?

    public init(path: String, kind: Kind, isWritable: Bool, freeBytes: Int64?, isOnLibraryDisk: Bool?) {
        self.path = path
        self.kind = kind
        self.isWritable = isWritable
        self.freeBytes = freeBytes
        self.isOnLibraryDisk = isOnLibraryDisk
    }
}

public struct BackupFileInFolder: Codable, Sendable, Equatable {
    public let path: String
    public let bytes: Int64
    public let modifiedAt: Timestamp

    public init(path: String, bytes: Int64, modifiedAt: Timestamp) {
        self.path = path
        self.bytes = bytes
        self.modifiedAt = modifiedAt
    }
}
