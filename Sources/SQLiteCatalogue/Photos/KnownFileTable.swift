import Database
import LibraryModel
import LibraryStorage

/// Which photos files became, in SQLite.
struct KnownFileTable: KnownFileRepository {
    let connection: Connection

    func find(_ files: [FileStamp]) throws -> [KnownPhoto] {
        try files.flatMap { file in
            try connection.query(
                """
                SELECT p.id, p.path, p.original_path, p.sidecars, p.unseen_by
                FROM known_files k JOIN photos p ON p.id = k.photo_id
                WHERE k.device = ? AND k.inode = ? AND k.size = ? AND k.modified = ? AND k.changed = ?
                """, file.device, file.inode, file.size, file.modified, file.changed
            ) { row -> KnownPhoto? in
                do {
                    return KnownPhoto(
                        file: file, id: try row[0], originalPath: try row[2],
                        sidecars: KeptSidecar.list(try row[3], ofPhoto: try row[1]), unseenBy: try row[4])
                } catch DatabaseError.unexpectedValue {
                    // A photo that cannot be read is compared with the file.
                    return nil
                }
            }.compactMap { $0 }
        }
    }

    func keep(_ files: [KnownFile]) throws {
        for known in files {
            let file = known.file
            try connection.execute(
                """
                INSERT OR REPLACE INTO known_files (device, inode, size, modified, changed, photo_id)
                SELECT ?, ?, ?, ?, ?, id FROM photos WHERE id = ?
                """, file.device, file.inode, file.size, file.modified, file.changed, known.photo)
        }
    }
}
