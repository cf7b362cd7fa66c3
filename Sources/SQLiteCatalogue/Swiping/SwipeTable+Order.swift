import Database
import LibraryModel
import LibraryStorage
import ServiceMesh

/// Which of several decisions about one photo counts: the latest, on every machine the same one. Of two of one moment that is the
/// one of the session with the greater uuid. Not by their ids here, which tell in which order they came.
///
/// A decision that is made here comes after all about its photo that are known here: the person who made it has seen what they said. So
/// its time is that of the clock, or a millisecond after the latest of those, where a clock is behind another machine's or was
/// set back. A time that no other has about this photo also tells it from one that was taken back.
extension SwipeTable {
    /// The latest moment at which something about a photo was decided, that which was taken back or deleted included.
    /// - Parameter photo: its uuid, in SQL.
    static func latestTime(of photo: String) -> String {
        """
        (SELECT max(decided_at) FROM (
            SELECT max(decided_at) AS decided_at FROM swipe_actions WHERE is_indexed = 1 AND photo_uuid = \(photo)
            UNION ALL SELECT max(decided_at) FROM swipe_undone WHERE photo_uuid = \(photo)
            UNION ALL SELECT max(decided_at) FROM swipe_forgotten WHERE photo_uuid = \(photo)))
        """
    }

    func latestTime(of photo: String) throws -> Int64? {
        try connection.first("SELECT \(Self.latestTime(of: "?1"))", photo) { try $0[0] as Int64? } ?? nil
    }

    /// When a decision counts as made, given when the latest of before was.
    static func time(_ clock: Int64, after latest: Int64?) -> Int64 {
        guard let latest, latest >= clock, latest < .max else { return clock }
        return latest + 1
    }

    /// What the decisions that there are, and those that were deleted, say of a row's picture.
    /// - Parameter table: photos or trash.
    static func lastDecision(of table: String) -> String {
        let ofPicture = "photo_uuid = \(table).uuid AND content_digest = \(table).content_digest"
        return """
            (SELECT action FROM (
                SELECT action, decided_at, session_id FROM swipe_actions WHERE is_indexed = 1 AND \(ofPicture)
                UNION ALL SELECT action, decided_at, session_id FROM swipe_forgotten
                    WHERE \(ofPicture) AND action <> '')
            ORDER BY decided_at DESC, session_id DESC, action DESC LIMIT 1)
            """
    }

    /// A photo may have gone to the trash.
    static let ofPhotos = ["photos", "trash"]

    func recallLastDecision(_ photo: String, in tables: [String] = ofPhotos) throws {
        for table in tables {
            let last = Self.lastDecision(of: table)
            try connection.execute(
                "UPDATE \(table) SET last_decision = \(last) WHERE uuid = ? AND last_decision IS NOT \(last)", photo)
        }
    }

    /// Whether a photo says no decision, or one of those here. One that it came with was deleted where it is from: when that was
    /// made nobody knows, so nothing that comes from elsewhere overrules it.
    func isExplained(_ photo: String, in table: String) throws -> Bool {
        try connection.value(
            """
            SELECT NOT EXISTS (SELECT 1 FROM \(table) WHERE uuid = ?1 AND last_decision IS NOT NULL
                AND last_decision IS NOT \(Self.lastDecision(of: table)))
            """, photo) ?? true
    }

    /// Of the same content: what was decided about another picture is no decision about this one.
    static let laterDecision = """
        SELECT EXISTS (SELECT 1 FROM swipe_actions INDEXED BY swipe_actions_by_photo WHERE is_indexed = 1
                AND photo_uuid = ?1 AND content_digest = ?2 AND (decided_at, session_id, action) > (?3, ?4, ?5))
            OR EXISTS (SELECT 1 FROM swipe_forgotten WHERE photo_uuid = ?1 AND content_digest = ?2
                AND action <> '' AND (decided_at, session_id, action) > (?3, ?4, ?5))
        """

    /// Whether another decision counts, be it applied or not.
    private func isOverruled(_ action: PhotoAction) throws -> Bool {
        try connection.value(
            Self.laterDecision, action.photoIdentifier, action.contentDigest, action.timestamp.milliseconds,
            action.sessionID, action.action.rawValue) ?? false
    }

    /// Marks decisions as processed.
    /// - Returns: the decisions that count.
    func markProcessed(_ actions: [PhotoAction]) throws -> [PhotoAction] {
        for action in actions {
            try connection.execute("UPDATE swipe_actions SET is_processed = 1 WHERE id = ?", action.id)
        }
        return try actions.filter { try !isOverruled($0) }
    }

    // MARK: What stays of decisions that go

    /// Deletes a decision that is taken back, and keeps it from coming back.
    func takeBack(_ id: Int64) throws {
        try connection.execute(
            """
            INSERT OR IGNORE INTO swipe_undone (session_id, photo_uuid, content_digest, action, decided_at)
                SELECT session_id, coalesce(told_uuid, photo_uuid), content_digest, action, decided_at
                FROM swipe_actions WHERE id = ?
            """, id)
        try connection.execute("DELETE FROM swipe_actions WHERE id = ?", id)
    }

    /// Notes a decision that is deleted because it is old, by the photo's uuid here and by the one that it came with.
    func noteForgotten(_ id: Int64) throws {
        for photo in ["photo_uuid", "told_uuid"] {
            try connection.execute(
                """
                INSERT INTO swipe_forgotten (photo_uuid, content_digest, decided_at, session_id, action)
                    SELECT \(photo), content_digest, decided_at, session_id, action FROM swipe_actions
                    WHERE id = ? AND \(photo) IS NOT NULL
                ON CONFLICT (photo_uuid, content_digest) DO UPDATE SET
                    decided_at = max(decided_at, excluded.decided_at), session_id = excluded.session_id,
                    action = excluded.action
                WHERE action = '' OR (excluded.decided_at, excluded.session_id, excluded.action)
                    > (decided_at, session_id, action)
                """, id)
        }
    }

    /// What a clock that was ahead has left besides decisions: no other machine takes it, nor what comes with it.
    func setBack(later limit: Timestamp, to now: Timestamp, session: String?) throws {
        let (limit, now) = (limit.milliseconds, now.milliseconds)
        let isMeant = "decided_at > ?1 AND (?2 IS NULL OR session_id = ?2)"
        try connection.execute("DELETE FROM swipe_undone WHERE \(isMeant)", limit, session)
        try connection.execute("UPDATE swipe_forgotten SET decided_at = ?3 WHERE \(isMeant)", limit, session, now)
        let sessions = try connection.query(
            """
            SELECT id FROM swipe_sessions s
            WHERE (started_at > ?1 OR ended_at > ?1) AND (?2 IS NULL OR id = ?2)
                AND NOT EXISTS (SELECT 1 FROM swipe_actions a WHERE a.session_id = s.id AND a.decided_at > ?1)
            """, limit, session
        ) { try $0[0] as String }
        for id in sessions {
            try connection.execute(
                "UPDATE swipe_sessions SET started_at = min(started_at, ?2), ended_at = min(ended_at, ?2) WHERE id = ?1",
                id, now)
            try noteChange(ofSession: id)
        }
    }

    /// Notes that a session began or changed, for machines that are told of it.
    func noteChange(ofSession id: String) throws {
        try connection.execute("INSERT OR REPLACE INTO swipe_session_changes (session_id) VALUES (?)", id)
    }
}
