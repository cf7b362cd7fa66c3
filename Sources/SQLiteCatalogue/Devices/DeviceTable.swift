import Database
import LibraryModel
import LibraryStorage
import ServiceMesh

/// Paired devices in SQLite.
struct DeviceTable: DeviceRepository {
    let connection: Connection

    func all() throws -> [StoredDevice] {
        try connection.readable(
            "devices",
            """
            SELECT id, name, user_agent, created_at, last_seen_at, token_digest FROM devices
            ORDER BY created_at, id LIMIT 1000
            """
        ) { row in
            StoredDevice(
                Device(
                    id: try row[0], name: try row[1], userAgent: try row[2],
                    createdAt: Timestamp(milliseconds: try row[3]), lastSeenAt: Timestamp(milliseconds: try row[4])),
                tokenDigest: try row[5])
        }
    }

    func insert(_ new: StoredDevice) throws {
        let device = new.device
        try connection.execute(
            """
            INSERT INTO devices (id, name, user_agent, created_at, last_seen_at, token_digest)
            VALUES (?, ?, ?, ?, ?, ?)
            """,
            values: [
                device.id, device.name, device.userAgent, device.createdAt.milliseconds,
                device.lastSeenAt.milliseconds, new.tokenDigest,
            ])
    }

    func setLastSeen(_ time: Timestamp, of id: String) throws {
        try connection.execute("UPDATE devices SET last_seen_at = ? WHERE id = ?", time.milliseconds, id)
    }

    func remove(_ id: String) throws -> Bool { try connection.execute("DELETE FROM devices WHERE id = ?", id) > 0 }
}
