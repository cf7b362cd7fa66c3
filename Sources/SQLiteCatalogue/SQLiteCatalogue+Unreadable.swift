import Database
import LibraryModel

extension SQLiteCatalogue {
    /// Tables whose rows have an id that is a number; those of a library's size are walked in parts, so that no read is long.
    private static let walked = ["photos", "trash", "categories", "swipe_actions"]

    /// Of a library's size or less than that: looked at together. With what their ids are called where it is not `id`.
    private static let short = [
        "swipe_sessions": "id", "swipe_machines": "id", "swipe_partners": "id", "groups": "id",
        "group_members": "user_id", "group_photos": "id", "group_hubs": "id", "devices": "id", "links": "id",
        "backups": "number",
    ]

    /// So many photos are looked at in less than a second, once. Of more, those that reads have met are told.
    private static let fewPhotos = 50_000

    package func unreadableRows() async throws -> [UnreadableEntry] {
        if unreadable.isFirstLook {
            let photos = try await database.read { try PhotoTable(connection: $0).totals().photos }
            if photos <= Self.fewPhotos { try await lookAtAll() }
        }
        let noted = unreadable.all
        guard !noted.isEmpty else { return [] }
        let unreadable = unreadable
        return try await database.read { connection in
            // What was mended or removed meanwhile is left out.
            let fresh = UnreadableRows()
            connection.unreadable = fresh
            defer { connection.unreadable = unreadable }
            for row in noted {
                let id: any SQLBindable = Int64(row.id) ?? row.id
                let column = Self.short[row.table] ?? "id"
                _ = try connection.noteUnreadable(
                    row.table, "SELECT \(column) AS id, * FROM \(row.table) WHERE \(column) = ?", values: [id])
            }
            let still = fresh.all
            unreadable.remove(noted.filter { row in !still.contains { $0.table == row.table && $0.id == row.id } })
            return unreadable.all.map(UnreadableEntry.init)
        }
    }

    package func findUnreadableRows() async throws -> [UnreadableEntry] {
        try await lookAtAll()
        return try await unreadableRows()
    }

    private func lookAtAll() async throws {
        let unreadable = unreadable
        unreadable.isFirstLook = false
        try await database.read { connection in
            connection.unreadable = unreadable
            for (table, column) in Self.short.sorted(by: { $0.key < $1.key }) {
                _ = try connection.noteUnreadable(table, "SELECT \(column) AS id, * FROM \(table) LIMIT 100000")
            }
        }
        for table in Self.walked {
            var last: Int64? = .min
            while let after = last {
                let id = try await database.read { connection in
                    connection.unreadable = unreadable
                    return try connection.noteUnreadable(
                        table, "SELECT * FROM \(table) WHERE id > ? ORDER BY id LIMIT 1000", values: [after])
                }
                last = id.flatMap { Int64($0) }
            }
        }
    }
}

extension UnreadableEntry {
    init(_ row: UnreadableRow) {
        let kind =
            switch row.table {
            case "photos": "photo"
            case "trash": "photo in the trash"
            case "categories": "category"
            case "swipe_actions": "decision"
            case "swipe_sessions": "review"
            case "groups": "group"
            case "group_members": "member of a group"
            case "group_photos": "photo of a group"
            case "group_hubs", "swipe_machines", "swipe_partners": "other machine"
            case "devices": "device"
            case "links": "link"
            case "backups": "backup"
            default: row.table
            }
        self.init(kind: kind, id: row.id, problem: row.problem)
    }
}
