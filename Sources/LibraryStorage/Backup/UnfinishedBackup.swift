import Files
import ServiceMesh

/// The file that a backup is written to until it has its name, as the catalogue has it: where it is, who made it, and
/// which file it is.
///
/// It may be anywhere, and a copy of a library has a copy of this. So nothing is done to a file outside the library
/// because of a path alone: the library folder has to be the one that it was made from, and the file the one that was
/// made. Rejected: a mark in the file itself, because its first bytes are the backup's manifest and its extended
/// attributes are not there on a stick; and a lock, which says nothing while its owner does not run.
package struct UnfinishedBackup: Sendable {
    /// The library folder, as it was when the file was made.
    package struct Library: Sendable {
        package let path: String
        package let origin: FileOrigin

        package init(path: String, origin: FileOrigin) {
            self.path = path
            self.origin = origin
        }

        /// Whether this is the same folder, perhaps renamed. A snapshot of a file system has the same inodes and births
        /// on another device, and a device may have another number after a restart: it has to be the same device or the
        /// same place.
        package func isSame(as other: Library) -> Bool {
            origin.inode == other.origin.inode
                && (origin.birth == nil || other.origin.birth == nil || origin.birth == other.origin.birth)
                && (origin.device == other.origin.device || path == other.path)
        }
    }

    /// Absolute, or within the library: then the file goes where the library goes.
    package let path: String
    /// The job that writes it. The files of all photos stay as long as the job is named here. Nil where the file is only to be removed.
    package let job: JobID?
    /// Nil where a version wrote it that did not say.
    package let library: Library?
    /// Nil until it is made; what is there then has no bytes, or is not this file.
    package let file: FileOrigin?

    package var isInLibrary: Bool { !path.hasPrefix("/") }

    /// Whether a version made it that did not say more than its path.
    package var isFromBefore: Bool { library == nil && file == nil }

    package init(path: String, job: JobID?, library: Library?, file: FileOrigin?) {
        self.path = path
        self.job = job
        self.library = library
        self.file = file
    }
}

/// The unfinished backups that a catalogue knows, inside one transaction.
package protocol UnfinishedBackupRepository {
    /// By path, without rows that make no sense: a catalogue may have been written by any program.
    func all() throws -> [UnfinishedBackup]
    func find(_ path: String) throws -> UnfinishedBackup?
    /// Whether a backup goes on, now or later, that has read the catalogue and not all of its photos' files: one whose job is kept and
    /// has not ended.
    func needsPhotos() throws -> Bool

    /// Enters it in the place of what is there for its path.
    func put(_ backup: UnfinishedBackup) throws
    /// Notes that no job goes on with it.
    func giveUp(_ path: String) throws
    /// Takes it out where no job goes on with it.
    func removeGivenUp(_ path: String) throws
    func remove(_ path: String) throws
}
