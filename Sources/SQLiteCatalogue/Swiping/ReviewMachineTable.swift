import Database
import LibraryModel
import LibraryStorage
import ServiceMesh

/// Machines of the same person in SQLite.
struct ReviewMachineTable: ReviewMachineRepository {
    let connection: Connection

    // MARK: Let in

    private static let columns = "SELECT id, name, added_at, seen_at FROM swipe_machines"

    private static func machine(_ row: borrowing Row) throws -> ReviewMachine {
        let seen: Int64? = try row[3]
        return ReviewMachine(
            id: try row[0], name: try row[1], isJoined: false, addedAt: Timestamp(milliseconds: try row[2]),
            seenAt: seen.map(Timestamp.init(milliseconds:)))
    }

    func machines() throws -> [ReviewMachine] {
        try connection.readable("swipe_machines", "\(Self.columns) ORDER BY added_at, id LIMIT 1000") {
            try Self.machine($0)
        }
    }

    func machine(token digest: String) throws -> ReviewMachine? {
        try connection.first("\(Self.columns) WHERE token_digest = ?", digest) { try Self.machine($0) }
    }

    func add(_ machine: ReviewMachine, key: String, token digest: String) throws {
        try connection.execute(
            "INSERT INTO swipe_machines (id, name, name_key, token_digest, added_at) VALUES (?, ?, ?, ?, ?)",
            machine.id, machine.name, key, digest, machine.addedAt.milliseconds)
    }

    func noteUse(of id: String, at time: Timestamp) throws {
        try connection.execute("UPDATE swipe_machines SET seen_at = ? WHERE id = ?", time.milliseconds, id)
    }

    /// Nobody's token has a UUID for its digest.
    func revoke(machine id: String) throws {
        try connection.execute("UPDATE swipe_machines SET token_digest = id WHERE id = ?", id)
    }

    func remove(machine id: String) throws -> Bool {
        try connection.execute("DELETE FROM swipe_machines WHERE id = ?", id) > 0
    }

    // MARK: Joined

    func partners() throws -> [StoredReviewPartner] {
        try connection.readable(
            "swipe_partners",
            """
            SELECT id, address, token, added_at, synced_at, problem, heard, told, sealed_token, joins FROM swipe_partners
            ORDER BY added_at, id LIMIT 1000
            """
        ) { row in
            let synced: Int64? = try row[4]
            return StoredReviewPartner(
                id: try row[0], address: try row[1], token: StoredToken(try row[2], try row[8]), joins: try row[9],
                addedAt: Timestamp(milliseconds: try row[3]),
                syncedAt: synced.map(Timestamp.init(milliseconds:)), problem: try row[5], heard: try row[6],
                told: try row[7])
        }
    }

    func put(_ partner: StoredReviewPartner) throws {
        try connection.execute(
            """
            INSERT OR REPLACE INTO swipe_partners
                (id, address, token, sealed_token, joins, added_at, synced_at, problem, heard, told)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, partner.id, partner.address, partner.token.text, partner.token.sealed, partner.joins,
            partner.addedAt.milliseconds, partner.syncedAt?.milliseconds, partner.problem, partner.heard, partner.told)
    }

    func setToken(_ token: StoredToken, of partner: String) throws {
        try connection.execute(
            "UPDATE swipe_partners SET token = ?, sealed_token = ? WHERE id = ?", token.text, token.sealed, partner)
    }

    func note(_ partner: StoredReviewPartner, syncedAt: Timestamp?, problem: String?) throws {
        try connection.execute(
            """
            UPDATE swipe_partners SET synced_at = coalesce(?, synced_at), problem = ? WHERE id = ? AND joins = ?
            """, syncedAt?.milliseconds, problem, partner.id, partner.joins)
    }

    func advance(
        _ partner: StoredReviewPartner, _ way: ReviewWay, from before: String, to after: String
    ) throws -> Bool {
        let column =
            switch way {
            case .heard: "heard"
            case .told: "told"
            }
        return try connection.execute(
            "UPDATE swipe_partners SET \(column) = ?1 WHERE id = ?2 AND joins = ?3 AND \(column) = ?4", after,
            partner.id, partner.joins, before) > 0
    }

    func remove(partner id: String) throws -> Bool {
        try connection.execute("DELETE FROM swipe_partners WHERE id = ?", id) > 0
    }
}
