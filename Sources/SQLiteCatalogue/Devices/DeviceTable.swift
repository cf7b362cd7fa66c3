import Database
import LibraryModel
import LibraryStorage
import ServiceMesh

/// Paired devices in SQLite.
struct DeviceTable: DeviceRepository {
    let connection: Connection

    func all() throws -> [StoredDevice] {
        let chosen = try connection.query("SELECT device_id, category_id FROM device_categories") {
            (device: try $0[0] as String, category: try $0[1] as Int64)
        }
        let categories = Dictionary(grouping: chosen, by: \.device)
        return try connection.readable(
            "devices",
            """
            SELECT id, name, user_agent, created_at, last_seen_at, token_digest, role FROM devices
            ORDER BY created_at, id LIMIT 1000
            """
        ) { row in
            let id: String = try row[0]
            let role: String = try row[6]
            // What this version does not know is as little as a device can be.
            let rights = DeviceRights(
                DeviceRole(rawValue: role) ?? .child, categoryIds: categories[id]?.map(\.category))
            return StoredDevice(
                Device(
                    id: id, name: try row[1], userAgent: try row[2],
                    createdAt: Timestamp(milliseconds: try row[3]), lastSeenAt: Timestamp(milliseconds: try row[4]),
                    rights: rights), tokenDigest: try row[5])
        }
    }

    func categories(of id: String) throws -> [Int64] {
        try connection.query(
            "SELECT category_id FROM device_categories WHERE device_id = ? ORDER BY category_id", id
        ) { try $0[0] as Int64 }
    }

    func insert(_ new: StoredDevice) throws {
        let device = new.device
        try connection.execute(
            """
            INSERT INTO devices (id, name, user_agent, created_at, last_seen_at, token_digest, role)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            values: [
                device.id, device.name, device.userAgent, device.createdAt.milliseconds,
                device.lastSeenAt.milliseconds, new.tokenDigest, device.role.rawValue,
            ])
        try choose(device.categoryIds, of: device.id)
    }

    func setRights(_ rights: DeviceRights, of id: String) throws -> Bool {
        let changed = try connection.execute("UPDATE devices SET role = ? WHERE id = ?", rights.role.rawValue, id)
        guard changed > 0 else { return false }
        try connection.execute("DELETE FROM device_categories WHERE device_id = ?", id)
        try choose(rights.categoryIds, of: id)
        return true
    }

    private func choose(_ categories: [Int64]?, of id: String) throws {
        for category in categories ?? [] {
            try CategoryTable(connection: connection).requireExists(category)
            try connection.execute(
                "INSERT INTO device_categories (device_id, category_id) VALUES (?, ?)", id, category)
        }
    }

    func setLastSeen(_ time: Timestamp, of id: String) throws {
        try connection.execute("UPDATE devices SET last_seen_at = ? WHERE id = ?", time.milliseconds, id)
    }

    func passwords() throws -> [String: String] {
        let all = try connection.query("SELECT device_id, digest FROM device_passwords") { row -> (String, String) in
            (try row[0], try row[1])
        }
        return Dictionary(all) { first, _ in first }
    }

    func setPassword(_ digest: String?, of id: String) throws -> Bool {
        let isThere = try connection.first("SELECT 1 FROM devices WHERE id = ?", id) { try $0[0] as Int } != nil
        guard isThere else { return false }
        try connection.execute("DELETE FROM device_passwords WHERE device_id = ?", id)
        if let digest {
            try connection.execute("INSERT INTO device_passwords (device_id, digest) VALUES (?, ?)", id, digest)
        }
        return true
    }

    func remove(_ id: String) throws -> Bool { try connection.execute("DELETE FROM devices WHERE id = ?", id) > 0 }
}
