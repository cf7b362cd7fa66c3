import Database
import LibraryModel
import LibraryStorage
import ServiceMesh

/// Swipe sessions and their decisions in SQLite.
struct SwipeTable: SwipeRepository {
    let connection: Connection

    // MARK: Reading

    private static let sessionColumns = """
        SELECT s.id AS id, s.started_at AS started_at, s.ended_at AS ended_at,
            (SELECT count(*) FROM swipe_actions a WHERE a.session_id = s.id) AS decisions
        FROM swipe_sessions s
        """

    private static func session(_ row: borrowing Row) throws -> SwipeSession {
        let ended: Int64? = try row["ended_at"]
        return SwipeSession(
            sessionID: try row["id"], startTime: Timestamp(milliseconds: try row["started_at"]),
            endTime: ended.map(Timestamp.init(milliseconds:)), photosProcessed: try row["decisions"])
    }

    private static func action(_ row: borrowing Row) throws -> PhotoAction {
        let name: String = try row["action"]
        guard let action = SwipeAction(rawValue: name) else {
            throw DatabaseError.unexpectedValue(column: "action", problem: "an unknown decision")
        }
        return PhotoAction(
            id: try row["id"], sessionID: try row["session_id"], photoIdentifier: try row["photo_uuid"],
            contentDigest: try row["content_digest"], action: action,
            timestamp: Timestamp(milliseconds: try row["decided_at"]), isProcessed: try row["is_processed"])
    }

    func find(_ id: String) throws -> SwipeSession? {
        try connection.first("\(Self.sessionColumns) WHERE s.id = ?", id) { try Self.session($0) }
    }

    func sessions(limit: Int) throws -> [SwipeSession] {
        try connection.query("\(Self.sessionColumns) ORDER BY s.started_at DESC, s.id LIMIT ?", limit) {
            try Self.session($0)
        }
    }

    func pending(session: String?, after id: Int64, limit: Int) throws -> [PhotoAction] {
        try connection.query(
            """
            SELECT * FROM swipe_actions WHERE is_processed = 0 AND id > ?1 AND (?2 IS NULL OR session_id = ?2)
            ORDER BY id LIMIT ?3
            """, id, session, limit
        ) { try Self.action($0) }
    }

    func pendingCount() throws -> Int {
        try connection.value("SELECT count(*) FROM swipe_actions WHERE is_processed = 0") ?? 0
    }

    func history() throws -> [SwipeRecord] {
        try sessions(limit: Int(Int32.max)).map { session in
            let actions = try connection.query(
                "SELECT * FROM swipe_actions WHERE session_id = ? ORDER BY id", session.sessionID
            ) { try Self.action($0) }
            return SwipeRecord(
                sessionID: session.sessionID, startTime: session.startTime, endTime: session.endTime,
                actions: actions.map { action in
                    .init(
                        decision: SwipeDecision(
                            session: action.sessionID, photo: action.photoIdentifier,
                            contentDigest: action.contentDigest, action: action.action),
                        timestamp: action.timestamp, isProcessed: action.isProcessed)
                })
        }
    }

    func known(_ ids: [String]) throws -> Set<String> {
        try Set(
            ids.filter {
                try connection.value("SELECT EXISTS (SELECT 1 FROM swipe_sessions WHERE id = ?)", $0) as Bool? ?? false
            })
    }

    // MARK: Deciding

    func start(_ id: String, at time: Timestamp) throws -> SwipeSession {
        try insertSession(id, startTime: time, endTime: nil)
        return try require(id)
    }

    /// One statement checks and writes: decisions come one for each swipe, and three statements took the commit thread
    /// half as long again.
    func record(_ decision: SwipeDecision, at time: Timestamp) throws -> PhotoAction? {
        let rows = try connection.execute(
            """
            INSERT INTO swipe_actions (session_id, photo_uuid, content_digest, action, decided_at, is_processed)
            SELECT s.id, p.uuid, p.content_digest, ?4, ?5, 0 FROM swipe_sessions s, photos p
            WHERE s.id = ?1 AND s.ended_at IS NULL AND p.uuid = ?2 AND p.content_digest = ?3
            """, decision.session, decision.photo, decision.contentDigest, decision.action.rawValue, time.milliseconds)
        guard rows == 1 else { return nil }
        return PhotoAction(
            id: connection.lastInsertRowID, sessionID: decision.session, photoIdentifier: decision.photo,
            contentDigest: decision.contentDigest, action: decision.action, timestamp: time, isProcessed: false)
    }

    func undo(session: String, count: Int) throws -> [PhotoAction] {
        let latest = try connection.query(
            "SELECT * FROM swipe_actions WHERE session_id = ? AND is_processed = 0 ORDER BY id DESC LIMIT ?", session,
            count
        ) { try Self.action($0) }
        for action in latest { try connection.execute("DELETE FROM swipe_actions WHERE id = ?", action.id) }
        return latest
    }

    func finish(_ id: String, at time: Timestamp) throws {
        try connection.execute(
            "UPDATE swipe_sessions SET ended_at = ? WHERE id = ? AND ended_at IS NULL", time.milliseconds, id)
    }

    static let laterDecision = """
        SELECT EXISTS (SELECT 1 FROM swipe_actions WHERE is_processed = 0 AND photo_uuid = ?1 AND id > ?2
            AND (?3 IS NULL OR session_id = ?3))
        """

    func process(session: String?, limit: Int) throws -> (count: Int, effective: [PhotoAction]) {
        let actions = try pending(session: session, after: 0, limit: limit)
        let effective = try actions.filter { action in
            try connection.execute("UPDATE swipe_actions SET is_processed = 1 WHERE id = ?", action.id)
            let isOverruled: Bool? = try connection.value(
                Self.laterDecision, action.photoIdentifier, action.id, session)
            return isOverruled != true
        }
        return (actions.count, effective)
    }

    // MARK: From elsewhere

    func insert(_ records: [SwipeRecord]) throws {
        for record in records {
            try insertSession(record.sessionID, startTime: record.startTime, endTime: record.endTime)
            for action in record.actions {
                try connection.execute(
                    """
                    INSERT INTO swipe_actions (session_id, photo_uuid, content_digest, action, decided_at, is_processed)
                    VALUES (?, ?, ?, ?, ?, ?)
                    """, record.sessionID, action.decision.photo, action.decision.contentDigest,
                    action.decision.action.rawValue, action.timestamp.milliseconds, action.isProcessed)
            }
        }
    }

    private func insertSession(_ id: String, startTime: Timestamp, endTime: Timestamp?) throws {
        try connection.execute(
            "INSERT INTO swipe_sessions (id, started_at, ended_at) VALUES (?, ?, ?)", id, startTime.milliseconds,
            endTime?.milliseconds)
    }

    func removeAll() throws {
        try connection.execute("DELETE FROM swipe_actions WHERE id <> 0")
        try connection.execute("DELETE FROM swipe_sessions WHERE id <> ''")
    }
}
