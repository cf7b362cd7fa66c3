import Database
import LibraryModel
import LibraryStorage

/// What came from each machine: how much it is in all, and what of it can go again.
extension ReviewTable {
    // MARK: How much

    private static let machines = ["swipe_machines", "swipe_partners"]

    /// What goes again is not counted back: a machine that takes back what it tells could else tell without end.
    func count(_ rows: Int, from source: String) throws {
        guard rows > 0 else { return }
        for table in Self.machines {
            try connection.execute("UPDATE \(table) SET taken = taken + ? WHERE id = ?", rows, source)
        }
    }

    func countTaken(from source: String) throws -> Int {
        try Self.machines.reduce(0) { count, table in
            try count + (connection.value("SELECT taken FROM \(table) WHERE id = ?", source) ?? 0)
        }
    }

    // MARK: Going again

    func arrived(_ kind: ArrivedKind, from source: String, after number: Int64, limit: Int) throws -> [Int64] {
        let numbers =
            switch kind {
            case .waiting: "SELECT id AS number FROM swipe_actions WHERE is_processed = 0"
            case .processed: "SELECT id AS number FROM swipe_actions NOT INDEXED WHERE is_processed = 1"
            case .undone: "SELECT id AS number FROM swipe_undone WHERE TRUE"
            case .sessions:
                "SELECT number FROM swipe_session_changes c JOIN swipe_sessions s ON s.id = c.session_id WHERE TRUE"
            }
        return try connection.query(
            "\(numbers) AND source = ? AND number > ? ORDER BY number LIMIT ?", source, number, limit
        ) { try $0[0] }
    }

    func forget(_ kind: ArrivedKind, _ numbers: [Int64], from source: String) throws {
        switch kind {
        case .waiting, .processed: try forgetDecisions(numbers, kind, from: source)
        case .undone:
            for number in numbers {
                try connection.execute("DELETE FROM swipe_undone WHERE id = ? AND source = ?", number, source)
            }
        case .sessions:
            for number in numbers {
                try connection.execute(
                    """
                    DELETE FROM swipe_sessions
                    WHERE id = (SELECT session_id FROM swipe_session_changes WHERE number = ?) AND source = ?
                        AND NOT EXISTS (SELECT 1 FROM swipe_actions WHERE session_id = swipe_sessions.id)
                    """, number, source)
            }
        }
    }

    /// Of a photo that is here, the latest decision that was processed is why it is as it is. Those before it say nothing about it.
    private static let isOnlyHistory = """
        NOT EXISTS (SELECT 1 FROM photos p WHERE p.uuid = a.photo_uuid AND p.content_digest = a.content_digest)
            AND NOT EXISTS (SELECT 1 FROM trash t WHERE t.uuid = a.photo_uuid AND t.content_digest = a.content_digest)
        OR EXISTS (SELECT 1 FROM swipe_actions l INDEXED BY swipe_actions_by_photo WHERE l.is_indexed = 1
            AND l.photo_uuid = a.photo_uuid AND l.content_digest = a.content_digest
            AND (l.decided_at, l.session_id, l.action) > (a.decided_at, a.session_id, a.action))
        """

    private func forgetDecisions(_ numbers: [Int64], _ kind: ArrivedKind, from source: String) throws {
        _ = try SwipeTable(connection: connection).indexDecisions(limit: .max)
        let condition = kind == .waiting ? "is_processed = 0" : "is_processed = 1 AND (\(Self.isOnlyHistory))"
        var touched: Set<String> = []
        for number in numbers {
            let photo: String? = try connection.value(
                "SELECT photo_uuid FROM swipe_actions a WHERE id = ? AND source = ? AND \(condition)", number, source)
            guard let photo else { continue }
            try connection.execute("DELETE FROM swipe_actions WHERE id = ?", number)
            touched.insert(photo)
        }
        for photo in touched { try SwipeTable(connection: connection).recallLastDecision(photo) }
    }
}
