import ServiceMesh

/// The library at a glance.
public struct GetLibraryStatus: Message {
    public typealias Reply = LibraryStatus
    public static let method = "library.status"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let summary = "The library at a glance: where it is, what it holds, what it uses."
    public init() {}
}

public struct LibraryStatus: Codable, Sendable, Equatable {
    public let version: String
    public let pid: Int32
    /// The library's folder.
    public let path: String
    public let photos: Int
    public let favorites: Int
    public let categories: Int
    public let trashed: Int
    /// Sum of the stored photos' files, those in the trash not counted.
    public let photoBytes: Int64
    /// Photos of which the library does not have the file that they were made of. Importing that again completes them.
    public let photosWithoutOriginal: Int
    /// Free on the library's file system.
    public let freeBytes: Int64
    public let lastBackupDate: Timestamp?
    /// The newest backup of the whole library that was verified and is not known to be gone or changed; absent where there is
    /// none. On a stick that is not plugged in it counts.
    public let newestBackup: NewestBackup?
    /// Absent where no backups are made by themselves.
    public let backupSchedule: BackupSchedule?
    public let imageWorkers: ImageWorkerStatus
    /// The most memory that this process has had resident since its start, in bytes.
    public let peakMemoryBytes: Int64
    /// What is wrong with the catalogue, in sentences, the most urgent first; absent where nothing is. Its file is looked through after a
    /// stop that was not a shutdown.
    public let catalogueProblems: [String]?
    /// Lines of the daemon's log that could not be written since its start; absent where all could.
    public let lostLogLines: Int?
    /// That the clock has jumped, and what that would do; absent while the clock is believed.
    public let clockJump: ClockJump?
    /// What of the catalogue cannot be read and is passed over everywhere, as far as it was met; `storage.rescan` looks at all of it.
    /// Absent where there is nothing; 1,000 at most.
    public let unreadable: [UnreadableEntry]?

    public init(
        version: String, pid: Int32, path: String, photos: Int, favorites: Int, categories: Int, trashed: Int,
        photoBytes: Int64, photosWithoutOriginal: Int, freeBytes: Int64, lastBackupDate: Timestamp?,
        newestBackup: NewestBackup? = nil, backupSchedule: BackupSchedule? = nil, imageWorkers: ImageWorkerStatus,
        peakMemoryBytes: Int64, catalogueProblems: [String]? = nil, lostLogLines: Int? = nil,
        clockJump: ClockJump? = nil, unreadable: [UnreadableEntry]? = nil
    ) {
        self.unreadable = unreadable
        self.newestBackup = newestBackup
        self.backupSchedule = backupSchedule
        self.peakMemoryBytes = peakMemoryBytes
        self.catalogueProblems = catalogueProblems
        self.lostLogLines = lostLogLines
        self.clockJump = clockJump
        self.version = version
        self.pid = pid
        self.path = path
        self.photos = photos
        self.favorites = favorites
        self.categories = categories
        self.trashed = trashed
        self.photoBytes = photoBytes
        self.photosWithoutOriginal = photosWithoutOriginal
        self.freeBytes = freeBytes
        self.lastBackupDate = lastBackupDate
        self.imageWorkers = imageWorkers
    }
}

/// A jump of the machine's clock by more than half a day, of which nobody knows whether it was wrong before or is now. Until a
/// daemon has run for a day, nothing is removed because its time is over: no photo in the trash, no receipt, no upload, no old
/// backup. Commands that remove something do. A machine that was off for so long looks the same.
public struct ClockJump: Codable, Sendable, Equatable {
    /// What the clock would have said; absent where an earlier version did not note it.
    public let from: Timestamp?
    /// What it says now.
    public let to: Timestamp
    /// When the jump will be believed, by this clock, where the daemon runs until then.
    public let endsAt: Timestamp
    /// In the trash, which then go for good.
    public let photos: Int

    public init(from: Timestamp?, to: Timestamp, endsAt: Timestamp, photos: Int) {
        self.from = from
        self.to = to
        self.endsAt = endsAt
        self.photos = photos
    }
}

/// A verified backup of the whole library.
public struct NewestBackup: Codable, Sendable, Equatable {
    public let path: String
    /// The moment of which it holds the library.
    public let madeAt: Timestamp
    /// When all of it was last read back.
    public let verifiedAt: Timestamp
    /// How old it is at the moment of the reply, in seconds, 0 or more.
    public let ageSeconds: Int64

    public init(path: String, madeAt: Timestamp, verifiedAt: Timestamp, ageSeconds: Int64) {
        self.path = path
        self.madeAt = madeAt
        self.verifiedAt = verifiedAt
        self.ageSeconds = ageSeconds
    }
}

/// A row of the catalogue that holds what the program never writes: a damaged disk, or another program.
public struct UnreadableEntry: Codable, Sendable, Equatable {
    /// `photo`, `photo in the trash`, `category`, or a table of the catalogue.
    public let kind: String
    public let id: String
    public let problem: String

    public init(kind: String, id: String, problem: String) {
        self.kind = kind
        self.id = id
        self.problem = problem
    }

    /// `photo 12`
    public var name: String { "\(kind) \(id)" }

    /// What it is and what to do about it.
    public var sentence: String { "The \(name) cannot be read (\(problem)). \(advice)" }

    /// What to do about it.
    public var advice: String {
        switch kind {
        case "photo", "photo in the trash":
            "Restore it from a backup, or remove its row and leave its file: smilepile photos forget \(id)"
        case "category": "Give it another name: smilepile categories rename '#\(id)' NAME"
        default: "It is passed over. Restore a backup if it is needed."
        }
    }
}
