import Database
import Foundation
import ServiceMesh

/// The file that a backup is written to until it has its name, as the catalogue has it: where it is, who made it, and
/// which file it is.
///
/// It may be anywhere, and a copy of a library has a copy of this. So nothing is done to a file outside the library
/// because of a path alone: the library folder has to be the one that it was made from, and the file the one that was
/// made. Rejected: a mark in the file itself, because its first bytes are the backup's manifest and its extended
/// attributes are not there on a stick; and a lock, which says nothing while its owner does not run.
struct UnfinishedBackup: Sendable {
    /// The library folder, as it was when the file was made.
    struct Library: Sendable {
        let path: String
        let origin: FileOrigin

        /// Whether this is the same folder, perhaps renamed. A snapshot of a file system has the same inodes and births
        /// on another device, and a device may have another number after a restart: it has to be the same device or the
        /// same place.
        func isSame(as other: Library) -> Bool {
            origin.inode == other.origin.inode
                && (origin.birth == nil || other.origin.birth == nil || origin.birth == other.origin.birth)
                && (origin.device == other.origin.device || path == other.path)
        }
    }

    /// Absolute, or within the library: then it belongs to whoever has the library.
    let path: String
    /// What writes it. The files of all photos stay as long as it is named here. Nil where the file is only to go.
    let job: JobID?
    /// Nil where a version wrote it that did not say.
    let library: Library?
    /// Nil until it is made; what is there then has no bytes, or is not this file.
    let file: FileOrigin?

    var isInLibrary: Bool { !path.hasPrefix("/") }

    /// Whether a version made it that did not say more than its path.
    var isFromBefore: Bool { library == nil && file == nil }
}

/// The SQL of unfinished backups. Every function works inside the caller's transaction.
enum UnfinishedBackupTable {
    /// Those that can be understood: a row may have been written by anybody.
    static func all(in connection: Connection) throws -> [UnfinishedBackup] {
        try connection.query("SELECT * FROM unfinished_backups ORDER BY path") { try? record($0) }.compactMap { $0 }
    }

    static func find(_ path: String, in connection: Connection) throws -> UnfinishedBackup? {
        try connection.first("SELECT * FROM unfinished_backups WHERE path = ?", path) { try record($0) }
    }

    /// Whether a backup goes on, now or later, that has read the catalogue and not all of its photos' files.
    static func needsPhotos(in connection: Connection) throws -> Bool {
        try connection.first(
            """
            SELECT EXISTS (SELECT 1 FROM unfinished_backups u JOIN jobs j ON j.id = u.job WHERE j.ended_at IS NULL)
            """
        ) { try $0[0] as Bool } ?? false
    }

    private static func record(_ row: borrowing Row) throws -> UnfinishedBackup {
        func origin(_ prefix: String) throws -> FileOrigin? {
            let device: Int64? = try row[prefix + "device"]
            let inode: Int64? = try row[prefix + "inode"]
            let birth: Int64? = try row[prefix + "birth"]
            guard let device, let inode else { return nil }
            return FileOrigin(device: device, inode: inode, birth: birth)
        }
        let place: String? = try row["library_path"]
        let library = try origin("library_")
        return UnfinishedBackup(
            path: try row["path"], job: try row["job"],
            library: place.flatMap { place in library.map { .init(path: place, origin: $0) } },
            file: try origin(""))
    }

    /// Enters it in the place of what is there for its path.
    static func put(_ backup: UnfinishedBackup, in connection: Connection) throws {
        try remove(backup.path, in: connection)
        try connection.execute(
            """
            INSERT INTO unfinished_backups (path, job, library_path, library_device, library_inode, library_birth,
                device, inode, birth)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            backup.path, backup.job, backup.library?.path, backup.library?.origin.device,
            backup.library?.origin.inode, backup.library?.origin.birth, backup.file?.device, backup.file?.inode,
            backup.file?.birth)
    }

    /// Nothing goes on with it any more.
    static func giveUp(_ path: String, in connection: Connection) throws {
        try connection.execute("UPDATE unfinished_backups SET job = NULL WHERE path = ?", path)
    }

    /// Takes it out where nothing goes on with it.
    static func removeGivenUp(_ path: String, in connection: Connection) throws {
        try connection.execute("DELETE FROM unfinished_backups WHERE path = ? AND job IS NULL", path)
    }

    static func remove(_ path: String, in connection: Connection) throws {
        try connection.execute("DELETE FROM unfinished_backups WHERE path = ?", path)
    }
}
