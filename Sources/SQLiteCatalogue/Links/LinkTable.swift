import Database
import LibraryModel
import LibraryStorage
import ServiceMesh

/// Links in SQLite.
struct LinkTable: LinkRepository {
    let connection: Connection

    private static let columns = """
        id, token_digest, title, created_at, expires_at, revoked_at, gives_originals, gives_details, password_hash,
        openings, last_opened_at, failures, last_failure_boot, last_failure_time,
        (SELECT json_group_array(category_id) FROM (
            SELECT category_id FROM link_categories WHERE link_id = links.id ORDER BY place))
        """

    func all() throws -> [StoredLink] {
        try links("SELECT \(Self.columns) FROM links ORDER BY created_at, id LIMIT 2000")
    }

    func find(id: String) throws -> StoredLink? {
        try links("SELECT \(Self.columns) FROM links WHERE id = ?", values: [id]).first
    }

    func find(tokenDigest: String) throws -> StoredLink? {
        try links("SELECT \(Self.columns) FROM links WHERE token_digest = ?", values: [tokenDigest]).first
    }

    private func links(_ statement: String, values: [(any SQLBindable)?] = []) throws -> [StoredLink] {
        try connection.readable("links", statement, values: values) { row in
            var lastFailure: BootTime?
            if let boot: String = try row[12], let time: Int64 = try row[13] {
                lastFailure = BootTime(boot: boot, milliseconds: time)
            }
            let list: String = try row[14]
            let categories = list.dropFirst().dropLast().split(separator: ",").compactMap { Int64($0) }
            return StoredLink(
                id: try row[0], tokenDigest: try row[1], title: try row[2],
                createdAt: Timestamp(milliseconds: try row[3]), expiresAt: Timestamp(milliseconds: try row[4]),
                revokedAt: try (row[5] as Int64?).map(Timestamp.init(milliseconds:)), categories: categories,
                givesOriginals: try row[6], givesDetails: try row[7], passwordHash: try row[8], openings: try row[9],
                lastOpenedAt: try (row[10] as Int64?).map(Timestamp.init(milliseconds:)), failures: try row[11],
                lastFailure: lastFailure)
        }
    }

    func insert(_ link: StoredLink, photos: [String]) throws {
        try connection.execute(
            """
            INSERT INTO links (id, token_digest, title, created_at, expires_at, revoked_at, gives_originals,
                gives_details, password_hash, openings, last_opened_at, failures, last_failure_boot, last_failure_time)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            values: [
                link.id, link.tokenDigest, link.title, link.createdAt.milliseconds, link.expiresAt.milliseconds,
                link.revokedAt?.milliseconds, link.givesOriginals, link.givesDetails, link.passwordHash, link.openings,
                link.lastOpenedAt?.milliseconds, link.failures, link.lastFailure?.boot, link.lastFailure?.milliseconds,
            ])
        for (place, category) in link.categories.enumerated() {
            try connection.execute(
                "INSERT INTO link_categories (link_id, place, category_id) VALUES (?, ?, ?)", link.id, place, category)
        }
        for (place, uuid) in photos.enumerated() {
            try connection.execute(
                "INSERT INTO link_photos (link_id, place, photo_uuid) VALUES (?, ?, ?)", link.id, place, uuid)
        }
    }

    func update(_ link: StoredLink) throws {
        try connection.execute(
            """
            UPDATE links SET revoked_at = ?, openings = ?, last_opened_at = ?, failures = ?, last_failure_boot = ?,
                last_failure_time = ? WHERE id = ?
            """,
            values: [
                link.revokedAt?.milliseconds, link.openings, link.lastOpenedAt?.milliseconds, link.failures,
                link.lastFailure?.boot, link.lastFailure?.milliseconds, link.id,
            ])
    }

    func remove(_ ids: [String]) throws {
        for id in ids { try connection.execute("DELETE FROM links WHERE id = ?", id) }
    }

    func photos(of id: String, after place: Int, limit: Int) throws -> [(place: Int, uuid: String)] {
        try connection.query(
            """
            SELECT l.place, l.photo_uuid FROM link_photos l JOIN photos p ON p.uuid = l.photo_uuid
            WHERE l.link_id = ? AND l.place > ? ORDER BY l.place LIMIT ?
            """, id, place, limit
        ) { (try $0[0], try $0[1]) }
    }

    func contains(_ uuid: String, in id: String) throws -> Bool {
        try connection.first(
            "SELECT 1 FROM link_photos WHERE link_id = ? AND photo_uuid = ?", id, uuid
        ) { try $0[0] as Int } != nil
    }

    /// A look into each link: photos stand under their links alone, and links are few.
    func contains(_ uuid: String) throws -> Bool {
        try connection.first(
            "SELECT 1 FROM links l CROSS JOIN link_photos p ON p.link_id = l.id AND p.photo_uuid = ? LIMIT 1", uuid
        ) { try $0[0] as Int } != nil
    }

    func photoCounts(of id: String?) throws -> [String: Int] {
        let isOne = id == nil ? "" : "WHERE link_id = ?"
        let counts = try connection.query(
            """
            SELECT l.link_id, count(*) FROM link_photos l JOIN photos p ON p.uuid = l.photo_uuid \(isOne)
            GROUP BY l.link_id
            UNION ALL
            SELECT c.link_id, sum(t.photos) FROM link_categories c JOIN category_totals t
                ON t.category_id = c.category_id \(isOne) GROUP BY c.link_id
            """, values: id.map { [$0, $0] } ?? []
        ) { row -> (String, Int) in (try row[0], try row[1]) }
        return Dictionary(counts, uniquingKeysWith: +)
    }
}
