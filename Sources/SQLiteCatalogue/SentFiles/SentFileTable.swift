import Database
import LibraryModel
import LibraryStorage
import ServiceMesh

/// What programs of devices have sent, in SQLite.
struct SentFileTable: SentFileRepository {
    let connection: Connection

    private static let columns = "name, size, modified_at, sent_at, digest, category_id"

    func count(of device: String) throws -> Int {
        try connection.first("SELECT count(*) FROM sent_files WHERE device_id = ?", device) { try $0[0] as Int } ?? 0
    }

    func find(_ name: String, in folder: String, of device: String) throws -> StoredSentFile? {
        try connection.first(
            "SELECT \(Self.columns) FROM sent_files WHERE device_id = ? AND folder = ? AND name = ?", device, folder,
            name, transform: Self.file)
    }

    func contents(
        of folder: String, of device: String, after name: String?, limit: Int
    ) throws -> [StoredSentFile] {
        try connection.query(
            """
            SELECT \(Self.columns) FROM sent_files WHERE device_id = ? AND folder = ? AND name > ?
            ORDER BY name LIMIT ?
            """, device, folder, name ?? "", limit, transform: Self.file)
    }

    func store(_ file: StoredSentFile, in folder: String, of device: String) throws {
        try connection.execute(
            """
            INSERT OR REPLACE INTO sent_files (device_id, folder, name, size, modified_at, sent_at, digest, category_id)
            VALUES (?, ?, ?, ?, ?, ?, ?, (SELECT id FROM categories WHERE id = ?))
            """,
            values: [
                device, folder, file.name, file.size, file.modifiedAt.milliseconds, file.sentAt.milliseconds,
                file.digest, file.categoryId,
            ])
    }

    func remove(_ name: String, in folder: String, of device: String) throws {
        try connection.execute(
            "DELETE FROM sent_files WHERE device_id = ? AND folder = ? AND name = ?", device, folder, name)
    }

    private static func file(_ row: borrowing Row) throws -> StoredSentFile {
        StoredSentFile(
            name: try row[0], size: try row[1], modifiedAt: Timestamp(milliseconds: try row[2]),
            sentAt: Timestamp(milliseconds: try row[3]), digest: try row[4], categoryId: try row[5])
    }
}
