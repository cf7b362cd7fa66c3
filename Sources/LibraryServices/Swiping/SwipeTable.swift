import Database
import LibraryModel
import ServiceMesh

/// The SQL of swipe sessions and their decisions. Every function works inside the caller's transaction.
enum SwipeTable {
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

    static func action(_ row: borrowing Row) throws -> PhotoAction {
        let name: String = try row["action"]
        guard let action = SwipeAction(rawValue: name) else {
            throw DatabaseError.unexpectedValue(column: "action", problem: "an unknown decision")
        }
        return PhotoAction(
            id: try row["id"], sessionID: try row["session_id"], photoIdentifier: try row["photo_uuid"],
            contentDigest: try row["content_digest"], action: action,
            timestamp: Timestamp(milliseconds: try row["decided_at"]), isProcessed: try row["is_processed"])
    }

    static func insertSession(
        id: String, startedAt: Timestamp, endedAt: Timestamp? = nil, in connection: Connection
    ) throws {
        try connection.execute(
            "INSERT INTO swipe_sessions (id, started_at, ended_at) VALUES (?, ?, ?)", id, startedAt.milliseconds,
            endedAt?.milliseconds)
    }

    static func require(_ id: String, in connection: Connection) throws -> SwipeSession {
        let found = try connection.first("\(sessionColumns) WHERE s.id = ?", id.lowercased()) { try session($0) }
        guard let found else { throw unknown(id) }
        return found
    }

    static func isFinished(_ id: String, in connection: Connection) throws -> Bool {
        let found = try connection.first("SELECT ended_at IS NOT NULL FROM swipe_sessions WHERE id = ?", id) {
            try $0[0] as Bool
        }
        guard let found else { throw unknown(id) }
        return found
    }

    private static func unknown(_ id: String) -> MeshError {
        MeshError(.notFound, "There is no swipe session \(id.prefix(80)). 'smilepile swipe sessions' lists them.")
    }

    static func sessions(limit: Int, in connection: Connection) throws -> [SwipeSession] {
        try connection.query("\(sessionColumns) ORDER BY s.started_at DESC, s.id LIMIT ?", limit) { try session($0) }
    }

    /// Sets the end; a session that has one keeps it.
    static func finish(_ id: String, at time: Timestamp, in connection: Connection) throws {
        try connection.execute(
            "UPDATE swipe_sessions SET ended_at = ? WHERE id = ? AND ended_at IS NULL", time.milliseconds, id)
    }

    static func insert(
        session: String, photo: String, digest: String, action: SwipeAction, at time: Timestamp,
        isProcessed: Bool = false, in connection: Connection
    ) throws -> PhotoAction {
        try connection.execute(
            """
            INSERT INTO swipe_actions (session_id, photo_uuid, content_digest, action, decided_at, is_processed)
            VALUES (?, ?, ?, ?, ?, ?)
            """, session, photo, digest, action.rawValue, time.milliseconds, isProcessed)
        return PhotoAction(
            id: connection.lastInsertRowID, sessionID: session, photoIdentifier: photo, contentDigest: digest,
            action: action, timestamp: time, isProcessed: isProcessed)
    }

    /// Writes down a decision, provided that its session is open and the photo still has the content that was shown;
    /// nil where not.
    ///
    /// One statement checks and writes: decisions come one for each swipe, and three statements took the commit thread
    /// half as long again.
    static func insert(
        session: String, photo: String, shown digest: String, action: SwipeAction, at time: Timestamp,
        in connection: Connection
    ) throws -> PhotoAction? {
        let rows = try connection.execute(
            """
            INSERT INTO swipe_actions (session_id, photo_uuid, content_digest, action, decided_at, is_processed)
            SELECT s.id, p.uuid, p.content_digest, ?4, ?5, 0 FROM swipe_sessions s, photos p
            WHERE s.id = ?1 AND s.ended_at IS NULL AND p.uuid = ?2 AND p.content_digest = ?3
            """, session, photo, digest, action.rawValue, time.milliseconds)
        guard rows == 1 else { return nil }
        return PhotoAction(
            id: connection.lastInsertRowID, sessionID: session, photoIdentifier: photo, contentDigest: digest,
            action: action, timestamp: time, isProcessed: false)
    }

    /// Decisions not processed yet, the oldest first; of one session or of all.
    static func pending(
        session: String?, after: Int64, limit: Int, in connection: Connection
    ) throws -> [PhotoAction] {
        try connection.query(
            """
            SELECT * FROM swipe_actions WHERE is_processed = 0 AND id > ?1 AND (?2 IS NULL OR session_id = ?2)
            ORDER BY id LIMIT ?3
            """, after, session, limit
        ) { try action($0) }
    }

    static func pendingCount(in connection: Connection) throws -> Int {
        try connection.first("SELECT count(*) FROM swipe_actions WHERE is_processed = 0") { try $0[0] as Int } ?? 0
    }

    static let laterDecision = """
        SELECT EXISTS (SELECT 1 FROM swipe_actions WHERE is_processed = 0 AND photo_uuid = ?1 AND id > ?2
            AND (?3 IS NULL OR session_id = ?3))
        """

    /// Whether a later decision about the same photo waits; of the same session where one is given.
    static func hasLater(_ action: PhotoAction, session: String?, in connection: Connection) throws -> Bool {
        try connection.first(laterDecision, action.photoIdentifier, action.id, session) { try $0[0] as Bool } ?? false
    }

    static func latest(session: String, count: Int, in connection: Connection) throws -> [PhotoAction] {
        try connection.query(
            "SELECT * FROM swipe_actions WHERE session_id = ? AND is_processed = 0 ORDER BY id DESC LIMIT ?", session,
            count
        ) { try action($0) }
    }

    static func all(session: String, in connection: Connection) throws -> [PhotoAction] {
        try connection.query("SELECT * FROM swipe_actions WHERE session_id = ? ORDER BY id", session) {
            try action($0)
        }
    }

    static func delete(id: Int64, in connection: Connection) throws {
        try connection.execute("DELETE FROM swipe_actions WHERE id = ?", id)
    }

    static func markProcessed(id: Int64, in connection: Connection) throws {
        try connection.execute("UPDATE swipe_actions SET is_processed = 1 WHERE id = ?", id)
    }
}
