import Database
import Foundation
import LibraryModel
import LibraryStorage
import ServiceMesh

/// Groups in SQLite.
struct GroupTable: GroupRepository {
    let connection: Connection

    // MARK: Groups and members

    func groups(_ id: String?) throws -> [StoredGroup] {
        var members: [String: [GroupMember]] = [:]
        // Bounded for a catalogue that is not of our making.
        _ = try connection.readable(
            "group_members",
            """
            SELECT group_id, user_id, first_name, joined_at, is_self, user_id AS id FROM group_members
            WHERE ?1 IS NULL OR group_id = ?1 ORDER BY joined_at, user_id LIMIT 10000
            """, values: [id]
        ) { row in
            let group: String = try row[0]
            let member = GroupMember(
                userId: try row[1], firstName: try row[2], joinedAt: Timestamp(milliseconds: try row[3]),
                isSelf: try row[4])
            members[group, default: []].append(member)
        }
        return try connection.readable(
            "groups",
            """
            SELECT id, name, created_at, last_photo_at, hub_id FROM groups WHERE ?1 IS NULL OR id = ?1
            ORDER BY created_at, id LIMIT 1000
            """, values: [id]
        ) { row in
            let id: String = try row[0]
            let last: Int64? = try row[3]
            return StoredGroup(
                id: id, name: try row[1], createdAt: Timestamp(milliseconds: try row[2]),
                lastPhotoDate: last.map(Timestamp.init(milliseconds:)), members: members[id] ?? [], hub: try row[4])
        }
    }

    func count() throws -> Int { try connection.value("SELECT count(*) FROM groups") ?? 0 }

    func insert(_ group: StoredGroup) throws {
        try connection.execute(
            "INSERT INTO groups (id, name, created_at, last_photo_at, hub_id) VALUES (?, ?, ?, ?, ?)", group.id,
            group.name, group.createdAt.milliseconds, group.lastPhotoDate?.milliseconds, group.hub)
        try insert(group.members, into: group.id)
    }

    func rename(_ id: String, to name: String) throws {
        guard try connection.execute("UPDATE groups SET name = ? WHERE id = ?", name, id) > 0 else {
            throw CatalogueError.noGroup(id)
        }
    }

    func remove(_ ids: [String]) throws {
        for id in ids {
            guard try connection.execute("DELETE FROM groups WHERE id = ?", id) > 0 else {
                throw CatalogueError.noGroup(id)
            }
        }
    }

    func insert(_ members: [GroupMember], into group: String) throws {
        let there: Int =
            try connection.value("SELECT count(*) FROM group_members WHERE group_id = ?", group) ?? 0
        guard there + members.count <= Group.maximumMembers else { throw CatalogueError.tooManyMembers }
        for member in members {
            try connection.execute(
                """
                INSERT INTO group_members (group_id, user_id, first_name, joined_at, is_self) VALUES (?, ?, ?, ?, ?)
                """, group, member.userId, member.firstName, member.joinedAt.milliseconds, member.isSelf)
        }
    }

    func removeMember(_ userId: String, from group: String) throws -> Bool {
        try connection.execute("DELETE FROM group_members WHERE group_id = ? AND user_id = ?", group, userId) > 0
    }

    // MARK: Tokens

    func person(token digest: String) throws -> String? {
        try connection.value("SELECT user_id FROM group_tokens WHERE digest = ?", digest)
    }

    func hasToken(_ userId: String) throws -> Bool {
        try connection.value("SELECT 1 FROM group_tokens WHERE user_id = ?", userId) as Int? != nil
    }

    func setToken(_ digest: String, of userId: String, at moment: Timestamp) throws {
        try connection.execute(
            "INSERT OR REPLACE INTO group_tokens (user_id, digest, created_at) VALUES (?, ?, ?)", userId, digest,
            moment.milliseconds)
    }

    func removeUnusedTokens() throws {
        try connection.execute(
            """
            DELETE FROM group_tokens WHERE user_id NOT IN (
                SELECT m.user_id FROM group_members m JOIN groups g ON g.id = m.group_id WHERE g.hub_id IS NULL)
            """)
    }

    // MARK: Photos

    private static let selection = """
        SELECT id, group_id, sender_id, sender_name, day, width, height, file_size, has_file, created_at, expires_at,
            last_used_at, transfer, url, utc_offset
        FROM group_photos
        """

    private static func photo(_ row: borrowing Row) throws -> StoredGroupPhoto {
        StoredGroupPhoto(
            id: try row[0], groupId: try row[1], senderId: try row[2], senderName: try row[3], day: try row[4],
            width: try row[5], height: try row[6], fileSize: try row[7], hasFile: try row[8],
            createdAt: Timestamp(milliseconds: try row[9]), expiresAt: Timestamp(milliseconds: try row[10]),
            lastUsedAt: Timestamp(milliseconds: try row[11]), transfer: .init(rawValue: try row[12]) ?? .none,
            url: try row[13], utcOffset: try row[14])
    }

    func photos(of groups: [String]?) throws -> [StoredGroupPhoto] {
        // 100 groups of 12 have three days at once at most.
        try connection.readable(
            "group_photos",
            """
            \(Self.selection) WHERE ?1 IS NULL OR group_id IN (SELECT value FROM json_each(?1))
            ORDER BY created_at DESC, id LIMIT 10000
            """, values: [groups.map { try Self.json($0) }]
        ) { try Self.photo($0) }
    }

    private static func json(_ texts: [String]) throws -> String {
        String(decoding: try JSONEncoder().encode(texts), as: UTF8.self)
    }

    func photoIDs() throws -> Set<String> {
        Set(try connection.query("SELECT id FROM group_photos") { try $0[0] as String })
    }

    func photo(_ id: String) throws -> StoredGroupPhoto? {
        try connection.first("\(Self.selection) WHERE id = ?", id) { try Self.photo($0) }
    }

    func lastDay(of member: String, in group: String) throws -> Int64? {
        try connection.value(
            "SELECT day FROM group_photos WHERE group_id = ? AND sender_id = ? ORDER BY day DESC LIMIT 1", group, member
        )
    }

    func insert(_ new: StoredGroupPhoto) throws {
        // Asked by the key itself, so that whatever checked before has no say in it.
        let entered = try connection.execute(
            """
            INSERT INTO group_photos (id, group_id, sender_id, sender_name, day, width, height, file_size, has_file,
                created_at, expires_at, last_used_at, transfer, url, utc_offset)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (group_id, sender_id, day) DO NOTHING
            """,
            values: [
                new.id, new.groupId, new.senderId, new.senderName, new.day, new.width, new.height, new.fileSize,
                new.hasFile, new.createdAt.milliseconds, new.expiresAt.milliseconds, new.lastUsedAt.milliseconds,
                new.transfer.rawValue, new.url, new.utcOffset,
            ])
        guard entered > 0 else { throw CatalogueError.sentAlready() }
        try connection.execute(
            "UPDATE groups SET last_photo_at = max(coalesce(last_photo_at, ?1), ?1) WHERE id = ?2",
            new.createdAt.milliseconds, new.groupId)
    }

    func update(_ photo: StoredGroupPhoto) throws {
        try connection.execute("DELETE FROM group_photos WHERE id = ?", photo.id)
        try insert(photo)
    }

    func removePhotos(_ ids: [String]) throws {
        for id in ids { try connection.execute("DELETE FROM group_photos WHERE id = ?", id) }
    }

    func removeExpired(at moment: Timestamp) throws -> Int {
        try connection.execute("DELETE FROM group_photos WHERE expires_at <= ?", moment.milliseconds)
    }

    func setMissing(_ ids: [String]) throws {
        for id in ids {
            try connection.execute("UPDATE group_photos SET has_file = 0 WHERE id = ? AND has_file = 1", id)
        }
    }

    func setUsed(_ id: String, at moment: Timestamp) throws {
        try connection.execute("UPDATE group_photos SET last_used_at = ? WHERE id = ?", moment.milliseconds, id)
    }

    // MARK: Time

    func time() throws -> GroupTimeReading? {
        try connection.first("SELECT time, boot, boot_time FROM group_time") { row in
            GroupTimeReading(
                time: Timestamp(milliseconds: try row[0]),
                boot: BootTime(boot: try row[1], milliseconds: try row[2]))
        }
    }

    func setTime(_ reading: GroupTimeReading?) throws {
        guard let reading else {
            try connection.execute("DELETE FROM group_time")
            return
        }
        try connection.execute(
            "INSERT OR REPLACE INTO group_time (id, time, boot, boot_time) VALUES (1, ?, ?, ?)",
            reading.time.milliseconds, reading.boot.boot, reading.boot.milliseconds)
    }
}
