import Database
import LibraryModel
import LibraryStorage
import ServiceMesh

/// Hubs in SQLite.
struct GroupHubTable: GroupHubRepository {
    let connection: Connection

    func all() throws -> [StoredGroupHub] {
        try connection.readable(
            "group_hubs",
            """
            SELECT id, address, token, added_at, synced_at, problem, sealed_token FROM group_hubs
            ORDER BY added_at, id LIMIT 1000
            """
        ) { row in
            let synced: Int64? = try row[4]
            return StoredGroupHub(
                id: try row[0], address: try row[1], token: StoredToken(try row[2], try row[6]),
                addedAt: Timestamp(milliseconds: try row[3]),
                syncedAt: synced.map(Timestamp.init(milliseconds:)), problem: try row[5])
        }
    }

    func put(_ hub: StoredGroupHub) throws {
        // No replacing, which would take its groups along.
        try connection.execute(
            """
            INSERT INTO group_hubs (id, address, token, sealed_token, added_at, synced_at, problem)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET address = excluded.address, token = excluded.token,
                sealed_token = excluded.sealed_token, added_at = excluded.added_at, synced_at = excluded.synced_at,
                problem = excluded.problem
            """, hub.id, hub.address, hub.token.text, hub.token.sealed, hub.addedAt.milliseconds,
            hub.syncedAt?.milliseconds, hub.problem)
    }

    func setToken(_ token: StoredToken, of hub: String) throws {
        try connection.execute(
            "UPDATE group_hubs SET token = ?, sealed_token = ? WHERE id = ?", token.text, token.sealed, hub)
    }

    func note(_ hub: String, syncedAt: Timestamp?, problem: String?) throws {
        try connection.execute(
            "UPDATE group_hubs SET synced_at = coalesce(?, synced_at), problem = ? WHERE id = ?",
            syncedAt?.milliseconds, problem, hub)
    }

    func remove(_ id: String) throws -> Bool {
        try connection.execute("DELETE FROM group_hubs WHERE id = ?", id) > 0
    }

    // MARK: Groups

    func put(_ groups: [StoredGroup]) throws -> Set<String> {
        guard !groups.isEmpty else { return [] }
        let table = GroupTable(connection: connection)
        var there = Dictionary(try table.groups(nil).map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        var leftAlone: Set<String> = []
        for group in groups {
            if let known = there[group.id] {
                guard let hub = group.hub, known.hub == hub else {
                    leftAlone.insert(group.id)
                    continue
                }
                guard known.name != group.name || known.createdAt != group.createdAt || known.members != group.members
                else { continue }
                try connection.execute(
                    "UPDATE groups SET name = ?, created_at = ? WHERE id = ?", group.name,
                    group.createdAt.milliseconds, group.id)
                try connection.execute("DELETE FROM group_members WHERE group_id = ?", group.id)
                try table.insert(group.members, into: group.id)
            } else {
                try table.insert(group)
            }
            there[group.id] = group
        }
        return leftAlone
    }

    func departures(from hub: String) throws -> [String] {
        try connection.query(
            "SELECT group_id FROM group_departures WHERE hub_id = ? ORDER BY group_id LIMIT 1000", hub
        ) { try $0[0] }
    }

    func addDeparture(_ group: String, from hub: String) throws {
        try connection.execute(
            "INSERT OR IGNORE INTO group_departures (hub_id, group_id) VALUES (?, ?)", hub, group)
    }

    func removeDepartures(_ groups: [String], from hub: String) throws {
        for group in groups {
            try connection.execute("DELETE FROM group_departures WHERE hub_id = ? AND group_id = ?", hub, group)
        }
    }

    func add(_ undelivered: [UndeliveredGroupPhoto]) throws {
        for photo in undelivered {
            try connection.execute(
                """
                INSERT OR REPLACE INTO group_undelivered
                    (photo_id, group_id, group_name, hub, sent_at, noticed_at, reason, detail)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """, photo.id, photo.groupId, photo.groupName, photo.hub, photo.sentAt.milliseconds,
                photo.noticedAt.milliseconds, photo.reason.rawValue, photo.detail)
        }
        try connection.execute(
            """
            DELETE FROM group_undelivered WHERE photo_id NOT IN (
                SELECT photo_id FROM group_undelivered ORDER BY noticed_at DESC, photo_id LIMIT ?)
            """, UndeliveredGroupPhoto.maximumCount)
    }

    func removeUndelivered(until moment: Timestamp) throws {
        try connection.execute("DELETE FROM group_undelivered WHERE noticed_at <= ?", moment.milliseconds)
    }

    func undelivered() throws -> [UndeliveredGroupPhoto] {
        try connection.query(
            """
            SELECT photo_id, group_id, group_name, hub, sent_at, noticed_at, reason, detail FROM group_undelivered
            ORDER BY noticed_at DESC, photo_id LIMIT ?
            """, UndeliveredGroupPhoto.maximumCount
        ) { row in
            UndeliveredGroupPhoto(
                id: try row[0], groupId: try row[1], groupName: try row[2], hub: try row[3],
                sentAt: Timestamp(milliseconds: try row[4]), noticedAt: Timestamp(milliseconds: try row[5]),
                // A later version may know others.
                reason: .init(rawValue: try row[6]) ?? .refused, detail: try row[7])
        }
    }

    func withOutgoing(at moment: Timestamp) throws -> Set<String> {
        try Set(
            connection.query(
                """
                SELECT g.hub_id FROM group_photos p JOIN groups g ON g.id = p.group_id
                WHERE p.transfer = 1 AND p.expires_at > ? AND g.hub_id IS NOT NULL
                UNION SELECT hub_id FROM group_departures
                """, moment.milliseconds
            ) { try $0[0] as String })
    }
}
