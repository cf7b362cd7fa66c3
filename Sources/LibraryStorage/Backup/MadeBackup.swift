import LibraryModel
import ServiceMesh

/// A backup that this catalogue's library has made, and the file that it is in.
package struct MadeBackup: Sendable {
    /// Absolute, or within the library, as ``UnfinishedBackup/path``.
    package let path: String
    /// Where the file system of its folder was mounted. A folder of the same name that is there while a stick is not, because
    /// it is what the stick is mounted on, is another one.
    package let mount: String
    /// What made it. A copy of the library knows this backup as well, and must not remove it.
    package let library: UnfinishedBackup.Library
    package let madeAt: Timestamp
    package let photos: Int
    package let bytes: Int64
    package let damaged: Int
    package let isWhole: Bool
    /// Of the file's size, beginning and end: the manifest, which has every digest, and the directory.
    package let fingerprint: String
    package let verifiedAt: Timestamp?

    package init(
        path: String, mount: String, library: UnfinishedBackup.Library, madeAt: Timestamp, photos: Int, bytes: Int64,
        damaged: Int, isWhole: Bool, fingerprint: String, verifiedAt: Timestamp?
    ) {
        self.path = path
        self.mount = mount
        self.library = library
        self.madeAt = madeAt
        self.photos = photos
        self.bytes = bytes
        self.damaged = damaged
        self.isWhole = isWhole
        self.fingerprint = fingerprint
        self.verifiedAt = verifiedAt
    }
}

/// When and where the library backs itself up, and how the last try went.
package struct StoredBackupSchedule: Sendable {
    package let folder: String
    /// As ``MadeBackup/mount``.
    package let mount: String
    package let everyHours: Int
    package let keep: Int
    /// Whether each is one file that holds everything; else they go into a backup folder.
    package let isZip: Bool
    package var key: BackupKey?
    package let scheduledAt: Timestamp
    /// The job that it has started last and whose end it has not seen.
    package var job: JobID?
    /// When the last try failed.
    package var failedAt: Timestamp?
    /// Why the next one is late.
    package var problem: String?

    package init(
        folder: String, mount: String, everyHours: Int, keep: Int, isZip: Bool, key: BackupKey?, scheduledAt: Timestamp,
        job: JobID? = nil, failedAt: Timestamp? = nil, problem: String? = nil
    ) {
        self.folder = folder
        self.mount = mount
        self.everyHours = everyHours
        self.keep = keep
        self.isZip = isZip
        self.key = key
        self.scheduledAt = scheduledAt
        self.job = job
        self.failedAt = failedAt
        self.problem = problem
    }

    package var interval: Int64 { Int64(everyHours) * 3_600_000 }
}

/// The backups that a catalogue remembers, and their schedule, inside one transaction.
package protocol MadeBackupRepository {
    /// The one that was entered last first.
    func all() throws -> [MadeBackup]
    /// Enters it in the place of what is there for its path. Of more than 1,000 the oldest are forgotten.
    func put(_ backup: MadeBackup) throws
    /// Notes of the backups at these paths when all of them was read back and found right, or, with nil, that they were found damaged.
    /// Those that are not known are passed over.
    func setVerified(_ time: Timestamp?, _ paths: [String]) throws
    /// Forgets those that have the path and the fingerprint of one of these.
    func forget(_ backups: [MadeBackup]) throws

    func schedule() throws -> StoredBackupSchedule?
    func setSchedule(_ schedule: StoredBackupSchedule?) throws
}
