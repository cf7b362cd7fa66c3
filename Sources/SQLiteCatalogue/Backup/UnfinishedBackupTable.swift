import Database
import Files
import LibraryStorage
import ServiceMesh

/// Unfinished backups in SQLite.
struct UnfinishedBackupTable: UnfinishedBackupRepository {
    let connection: Connection

    func all() throws -> [UnfinishedBackup] {
        try connection.query("SELECT * FROM unfinished_backups ORDER BY path") { try? Self.record($0) }.compactMap {
            $0
        }
    }

    func find(_ path: String) throws -> UnfinishedBackup? {
        try connection.first("SELECT * FROM unfinished_backups WHERE path = ?", path) { try Self.record($0) }
    }

    func needsPhotos() throws -> Bool {
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

    func put(_ backup: UnfinishedBackup) throws {
        try remove(backup.path)
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

    func giveUp(_ path: String) throws {
        try connection.execute("UPDATE unfinished_backups SET job = NULL WHERE path = ?", path)
    }

    func removeGivenUp(_ path: String) throws {
        try connection.execute("DELETE FROM unfinished_backups WHERE path = ? AND job IS NULL", path)
    }

    func remove(_ path: String) throws {
        try connection.execute("DELETE FROM unfinished_backups WHERE path = ?", path)
    }
}
