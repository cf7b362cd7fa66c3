import Database
import LibraryModel
import LibraryStorage
import ServiceMesh

/// The backups that were made, and their schedule, in SQLite.
struct MadeBackupTable: MadeBackupRepository {
    private static let limit = 1_000

    let connection: Connection

    func all() throws -> [MadeBackup] {
        try connection.readable(
            "backups",
            """
            SELECT path, mount, library_path, library_device, library_inode, library_birth, made_at, photos, bytes,
                damaged, is_whole, fingerprint, verified_at, number AS id
            FROM backups ORDER BY number DESC LIMIT ?
            """, values: [Self.limit]
        ) { row in
            let verified: Int64? = try row[12]
            return MadeBackup(
                path: try row[0], mount: try row[1],
                library: .init(
                    path: try row[2], origin: .init(device: try row[3], inode: try row[4], birth: try row[5])),
                madeAt: Timestamp(milliseconds: try row[6]), photos: try row[7], bytes: try row[8],
                damaged: try row[9], isWhole: try row[10], fingerprint: try row[11],
                verifiedAt: verified.map(Timestamp.init(milliseconds:)))
        }
    }

    func put(_ backup: MadeBackup) throws {
        try connection.execute("DELETE FROM backups WHERE path = ?", backup.path)
        let (library, origin) = (backup.library, backup.library.origin)
        try connection.execute(
            """
            INSERT INTO backups (path, mount, library_path, library_device, library_inode, library_birth, made_at, photos,
                bytes, damaged, is_whole, fingerprint, verified_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            values: [
                backup.path, backup.mount, library.path, origin.device, origin.inode, origin.birth,
                backup.madeAt.milliseconds, backup.photos, backup.bytes, backup.damaged, backup.isWhole,
                backup.fingerprint, backup.verifiedAt?.milliseconds,
            ])
        try connection.execute(
            "DELETE FROM backups WHERE number <= (SELECT number FROM backups ORDER BY number DESC LIMIT 1 OFFSET ?)",
            Self.limit)
    }

    func setVerified(_ time: Timestamp?, _ paths: [String]) throws {
        for path in paths {
            try connection.execute("UPDATE backups SET verified_at = ? WHERE path = ?", time?.milliseconds, path)
        }
    }

    func forget(_ backups: [MadeBackup]) throws {
        for backup in backups {
            try connection.execute(
                "DELETE FROM backups WHERE path = ? AND fingerprint = ?", backup.path, backup.fingerprint)
        }
    }

    func schedule() throws -> StoredBackupSchedule? {
        try connection.first(
            """
            SELECT folder, mount, every_hours, keep, key_export, key_sealed, scheduled_at, job, failed_at, problem, is_zip
            FROM backup_schedule
            """
        ) { row in
            let (export, sealed, failed): (String?, String?, Int64?) = (try row[4], try row[5], try row[8])
            return StoredBackupSchedule(
                folder: try row[0], mount: try row[1], everyHours: try row[2], keep: try row[3],
                isZip: try row[10],
                key: export.flatMap { export in sealed.map { BackupKey(export: export, sealed: $0) } },
                scheduledAt: Timestamp(milliseconds: try row[6]), job: try row[7],
                failedAt: failed.map(Timestamp.init(milliseconds:)), problem: try row[9])
        }
    }

    func setSchedule(_ schedule: StoredBackupSchedule?) throws {
        try connection.execute("DELETE FROM backup_schedule")
        guard let schedule else { return }
        try connection.execute(
            """
            INSERT INTO backup_schedule (id, folder, mount, every_hours, keep, key_export, key_sealed, scheduled_at, job,
                failed_at, problem, is_zip)
            VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            values: [
                schedule.folder, schedule.mount, schedule.everyHours, schedule.keep, schedule.key?.export,
                schedule.key?.sealed, schedule.scheduledAt.milliseconds, schedule.job,
                schedule.failedAt?.milliseconds, schedule.problem, schedule.isZip,
            ])
    }
}
