import Database
import LibraryModel
import LibraryStorage
import ServiceMesh

/// Sealed fields and wrapped keys in SQLite. That values go with their photos is the triggers' business: see
/// ``CatalogueSchema``.
struct SealedFieldTable: SealedFieldRepository {
    let connection: Connection

    // MARK: Values

    func values(of uuids: [String]) throws -> [String: [SealedRow]] {
        try uuids.reduce(into: [:]) { values, uuid in
            let found = try connection.query(
                "SELECT photo_uuid, field, sealed FROM sealed_fields WHERE photo_uuid = ? ORDER BY field", uuid
            ) { try Self.row($0) }
            values[uuid] = found.isEmpty ? nil : found
        }
    }

    func page(after name: SealedRow.Name?, limit: Int) throws -> [SealedRow] {
        try connection.query(
            """
            SELECT photo_uuid, field, sealed FROM sealed_fields WHERE (photo_uuid, field) > (?, ?)
            ORDER BY photo_uuid, field LIMIT ?
            """, name?.uuid ?? "", name?.field ?? "", limit
        ) { try Self.row($0) }
    }

    private static func row(_ row: borrowing Row) throws -> SealedRow {
        SealedRow(name: .init(uuid: try row[0], field: try row[1]), sealed: try row[2])
    }

    func places(of uuids: [String]) throws -> [PhotoPlace?] {
        try uuids.map { uuid in
            try connection.first("SELECT shown_at, id FROM photos WHERE uuid = ?", uuid) {
                PhotoPlace(date: try $0[0], id: try $0[1])
            }
        }
    }

    func totals() throws -> SealedTotals {
        let found = try connection.first("SELECT count(*), count(DISTINCT photo_uuid) FROM sealed_fields") {
            SealedTotals(values: try $0[0], photos: try $0[1])
        }
        return found ?? SealedTotals(values: 0, photos: 0)
    }

    /// The id stands behind the version, see `SealedValue`.
    func counts() throws -> [String: Int] {
        let found = try connection.query(
            "SELECT lower(hex(substr(sealed, 2, 16))) AS key, count(*) FROM sealed_fields GROUP BY key"
        ) { (try $0[0] as String, try $0[1] as Int) }
        return Dictionary(uniqueKeysWithValues: found)
    }

    func set(_ values: [String: [SealedField: [UInt8]]]) throws {
        for (uuid, fields) in values {
            for (field, sealed) in fields {
                try connection.execute(
                    """
                    INSERT INTO sealed_fields (photo_uuid, field, sealed) VALUES (?, ?, ?)
                    ON CONFLICT (photo_uuid, field) DO UPDATE SET sealed = excluded.sealed
                    """, uuid, field.rawValue, sealed)
            }
        }
    }

    func remove(_ fields: [SealedField], of uuid: String) throws -> Int {
        try fields.reduce(0) { count, field in
            try count
                + connection.execute(
                    "DELETE FROM sealed_fields WHERE photo_uuid = ? AND field = ?", uuid, field.rawValue)
        }
    }

    func removeAll(of uuids: [String]) throws -> SealedTotals {
        try uuids.reduce(into: SealedTotals(values: 0, photos: 0)) { removed, uuid in
            let count = try connection.execute("DELETE FROM sealed_fields WHERE photo_uuid = ?", uuid)
            removed.values += count
            removed.photos += count > 0 ? 1 : 0
        }
    }

    func reseal(_ rows: [(row: SealedRow, sealed: [UInt8])]) throws -> Int {
        try rows.reduce(0) { count, change in
            try count
                + connection.execute(
                    "UPDATE sealed_fields SET sealed = ? WHERE photo_uuid = ? AND field = ? AND sealed = ?",
                    change.sealed, change.row.name.uuid, change.row.name.field, change.row.sealed)
        }
    }

    func keepingValues<Value>(_ body: () throws -> Value) throws -> Value {
        try connection.execute("INSERT INTO sealed_fields_held (id) VALUES (1)")
        let value = try body()
        try connection.execute("DELETE FROM sealed_fields_held")
        try connection.execute(
            """
            DELETE FROM sealed_fields WHERE NOT EXISTS (SELECT 1 FROM photos WHERE uuid = photo_uuid)
                AND NOT EXISTS (SELECT 1 FROM trash WHERE uuid = photo_uuid)
            """)
        return value
    }

    // MARK: Keys

    func keys() throws -> [StoredDataKey] {
        try connection.query(
            """
            SELECT id, wrapped, key_file, is_active, created_at, exported_at FROM sealing_keys
            ORDER BY is_active DESC, created_at DESC, id
            """
        ) { row in
            let exportedAt: Int64? = try row[5]
            return StoredDataKey(
                id: try row[0], wrapped: try row[1], keyFile: try row[2], isActive: try row[3],
                createdAt: Timestamp(milliseconds: try row[4]),
                exportedAt: exportedAt.map(Timestamp.init(milliseconds:)))
        }
    }

    func store(_ key: StoredDataKey) throws {
        if key.isActive { try connection.execute("UPDATE sealing_keys SET is_active = 0 WHERE id <> ?", key.id) }
        try connection.execute(
            """
            INSERT INTO sealing_keys (id, wrapped, key_file, is_active, created_at, exported_at)
            VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET wrapped = excluded.wrapped, key_file = excluded.key_file,
                is_active = excluded.is_active, exported_at = excluded.exported_at
            """, key.id, key.wrapped, key.keyFile, key.isActive, key.createdAt.milliseconds,
            key.exportedAt?.milliseconds)
    }

    private func keysOfTokens() throws -> [String] {
        try connection.query(
            """
            SELECT lower(hex(substr(sealed_token, 2, 16))) FROM group_hubs WHERE sealed_token IS NOT NULL
            UNION SELECT lower(hex(substr(sealed_token, 2, 16))) FROM swipe_partners WHERE sealed_token IS NOT NULL
            """
        ) { try $0[0] as String }
    }

    func removeUnusedKeys() throws -> Int {
        let used = try Set(counts().keys).union(keysOfTokens())
        return try keys().filter { !$0.isActive && !used.contains($0.id) }.reduce(0) { count, key in
            try count + connection.execute("DELETE FROM sealing_keys WHERE id = ?", key.id)
        }
    }
}
