import Database
import LibraryModel
import LibraryStorage
import ServiceMesh

/// Reviews in common with other machines, in SQLite.
struct ReviewTable: ReviewRepository {
    let connection: Connection

    private var swipes: SwipeTable { SwipeTable(connection: connection) }

    // MARK: Telling

    /// What no calendar has cannot be told.
    private static let times = 0...253_402_300_799_999 as ClosedRange<Int64>

    func changes(after cursor: ReviewCursor, except source: String?, limit: Int) throws -> ReviewChanges {
        let cursor = try isPossible(cursor) ? cursor : .start
        var next = cursor
        var sessions = try sessions(after: cursor.session, limit: limit + 1)
        var decisions = try connection.query(
            """
            SELECT id, session_id, coalesce(told_uuid, photo_uuid), content_digest, action, decided_at
            FROM swipe_actions NOT INDEXED
            WHERE id > ?1 AND is_indexed = 1 AND (?2 IS NULL OR source IS NOT ?2) AND decided_at BETWEEN ?3 AND ?4
            ORDER BY id LIMIT ?5
            """, cursor.decision, source, Self.times.lowerBound, Self.times.upperBound, limit + 1
        ) { try Self.decision($0) }
        var undone = try connection.query(
            """
            SELECT id, session_id, photo_uuid, content_digest, action, decided_at FROM swipe_undone
            WHERE id > ?1 AND (?2 IS NULL OR source IS NOT ?2) AND decided_at BETWEEN ?3 AND ?4 ORDER BY id LIMIT ?5
            """, cursor.undone, source, Self.times.lowerBound, Self.times.upperBound, limit + 1
        ) { try Self.decision($0) }
        let more = [sessions.count, decisions.count, undone.count].contains { $0 > limit }
        // Where all are told, those that are not for whom we tell, or cannot be told, are passed over once and for all.
        next.session = try Self.cut(&sessions, to: limit) ?? connection.value(Self.lastNumber) ?? 0
        next.decision = try Self.cut(&decisions, to: limit) ?? connection.value(Self.lastDecision) ?? 0
        next.undone = try Self.cut(&undone, to: limit) ?? connection.value(Self.lastUndone) ?? 0
        // Decisions that were deleted were told, or are not there to be told.
        next.session = max(next.session, cursor.session)
        next.decision = max(next.decision, cursor.decision)
        next.undone = max(next.undone, cursor.undone)
        return ReviewChanges(
            sessions: sessions.map(\.value), decisions: decisions.map(\.value), undone: undone.map(\.value),
            next: next.description, more: more)
    }

    /// - Returns: the number of the last one that stays, where some do not.
    private static func cut<Value>(_ rows: inout [(number: Int64, value: Value)], to limit: Int) -> Int64? {
        guard rows.count > limit else { return nil }
        rows.removeSubrange(limit...)
        return rows.last?.number
    }

    private static let lastNumber = "SELECT number FROM swipe_session_changes ORDER BY number DESC LIMIT 1"
    private static let lastUndone = "SELECT id FROM swipe_undone ORDER BY id DESC LIMIT 1"
    /// Along the table, whose last rows these are; an index of them would be read from its beginning.
    static let lastDecision = "SELECT id FROM swipe_actions NOT INDEXED WHERE is_indexed = 1 ORDER BY id DESC LIMIT 1"

    /// Numbers are given out once, so one that was not yet given out is of a file in whose place an older copy was put. What is
    /// decided from then on has numbers that such a cursor is past.
    private func isPossible(_ cursor: ReviewCursor) throws -> Bool {
        let given = try connection.query("SELECT name, seq FROM sqlite_sequence") {
            (try $0[0] as String, try $0[1] as Int64)
        }
        let last = Dictionary(given, uniquingKeysWith: max)
        return cursor.session <= last["swipe_session_changes"] ?? 0 && cursor.decision <= last["swipe_actions"] ?? 0
            && cursor.undone <= last["swipe_undone"] ?? 0
    }

    private func sessions(
        after number: Int64, limit: Int
    ) throws -> [(number: Int64, value: ReviewChanges.Session)] {
        try connection.query(
            """
            SELECT c.number, s.id, s.started_at, s.ended_at FROM swipe_session_changes c
            JOIN swipe_sessions s ON s.id = c.session_id
            WHERE c.number > ?1 AND s.started_at BETWEEN ?2 AND ?3 AND coalesce(s.ended_at, ?2) BETWEEN ?2 AND ?3
            ORDER BY c.number LIMIT ?4
            """, number, Self.times.lowerBound, Self.times.upperBound, limit
        ) { row in
            let ended: Int64? = try row[3]
            return (
                try row[0],
                ReviewChanges.Session(
                    id: try row[1], startedAt: Timestamp(milliseconds: try row[2]),
                    endedAt: ended.map(Timestamp.init(milliseconds:)))
            )
        }
    }

    private static func decision(_ row: borrowing Row) throws -> (number: Int64, value: ReviewChanges.Decision) {
        guard let action = SwipeAction(rawValue: try row[4]) else {
            throw DatabaseError.unexpectedValue(column: "action", problem: "an unknown decision")
        }
        return (
            try row[0],
            ReviewChanges.Decision(
                session: try row[1], photo: try row[2], digest: try row[3], action: action,
                decidedAt: Timestamp(milliseconds: try row[5]))
        )
    }

    func hasEndedSession(after cursor: ReviewCursor) throws -> Bool {
        try connection.value(
            """
            SELECT EXISTS (SELECT 1 FROM swipe_session_changes c JOIN swipe_sessions s ON s.id = c.session_id
                WHERE c.number > ? AND s.ended_at IS NOT NULL)
            """, cursor.session) ?? false
    }

    // MARK: Taking

    func merge(_ changes: ReviewChanges, from source: String) throws -> TakenReviews {
        // Decisions that are made here have their places, and times, before any that come.
        _ = try swipes.indexDecisions(limit: .max)
        var (sessions, rows) = (0, 0)
        for session in changes.sessions {
            let (isChanged, isNew) = try merge(session, from: source)
            if isChanged { sessions += 1 }
            if isNew { rows += 1 }
        }
        var touched: Set<String> = []
        var undone = 0
        for decision in changes.decisions + changes.undone {
            // What tells of a session may come later, or never: it began with this at the latest.
            let session = ReviewChanges.Session(id: decision.session, startedAt: decision.decidedAt, endedAt: nil)
            if try merge(session, from: source).isNew { rows += 1 }
        }
        for decision in changes.undone {
            guard let found = try takeBack(decision, from: source) else { continue }
            rows += 1
            undone += found.count
            touched.formUnion(found)
            touched.formUnion(try takeBackForgotten(decision))
        }
        let photos = try changes.decisions.compactMap { try enter($0, from: source) }
        touched.formUnion(photos)
        for photo in touched { try swipes.recallLastDecision(photo) }
        try count(rows + photos.count, from: source)
        return TakenReviews(sessions: sessions, decisions: photos.count, undone: undone)
    }

    /// The earliest beginning and the latest end that anybody knows.
    private func merge(
        _ session: ReviewChanges.Session, from source: String
    ) throws -> (isChanged: Bool, isNew: Bool) {
        let (start, end) = (session.startedAt.milliseconds, session.endedAt?.milliseconds)
        let new = try connection.execute(
            """
            INSERT INTO swipe_sessions (id, started_at, ended_at, source) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING
            """, session.id, start, end, source)
        let changed =
            try new > 0
            ? new
            : connection.execute(
                """
                UPDATE swipe_sessions SET started_at = min(started_at, ?2),
                    ended_at = max(coalesce(ended_at, ?3), coalesce(?3, ended_at))
                WHERE id = ?1 AND (?2 < started_at OR (?3 IS NOT NULL AND (ended_at IS NULL OR ended_at < ?3)))
                """, session.id, start, end)
        if changed > 0 { try swipes.noteChange(ofSession: session.id) }
        return (changed > 0, new > 0)
    }

    static let same = """
        swipe_actions INDEXED BY swipe_actions_by_time WHERE is_indexed = 1 AND decided_at = ?1 AND session_id = ?2
            AND content_digest = ?3 AND action = ?4 AND coalesce(told_uuid, photo_uuid) = ?5
        """

    static let known = """
        SELECT EXISTS (SELECT 1 FROM swipe_undone WHERE decided_at = ?1 AND session_id = ?2
                AND content_digest = ?3 AND action = ?4 AND photo_uuid = ?5)
            OR EXISTS (SELECT 1 FROM \(same))
        """

    private static func key(_ decision: ReviewChanges.Decision) -> [(any SQLBindable)?] {
        [
            decision.decidedAt.milliseconds, decision.session, decision.digest, decision.action.rawValue,
            decision.photo,
        ]
    }

    /// - Returns: the photos of the decisions that are gone; nil where it was taken back here already.
    private func takeBack(_ decision: ReviewChanges.Decision, from source: String) throws -> [String]? {
        let rows = try connection.execute(
            """
            INSERT OR IGNORE INTO swipe_undone
                (decided_at, session_id, content_digest, action, photo_uuid, source) VALUES (?, ?, ?, ?, ?, ?)
            """, values: Self.key(decision) + [source])
        guard rows > 0 else { return nil }
        let found = try connection.query("SELECT id, photo_uuid FROM \(Self.same)", values: Self.key(decision)) {
            (id: try $0[0] as Int64, photo: try $0[1] as String)
        }
        for row in found { try connection.execute("DELETE FROM swipe_actions WHERE id = ?", row.id) }
        return found.map(\.photo)
    }

    /// Of one that was deleted because it is old, what it says about its photo goes; the time stays, so that none from before
    /// comes back.
    /// - Returns: the photos about which it was the latest of those.
    private func takeBackForgotten(_ decision: ReviewChanges.Decision) throws -> Set<String> {
        try Set([decision.photo, photo(decision).uuid]).filter { photo in
            try connection.execute(
                """
                UPDATE swipe_forgotten SET action = '' WHERE photo_uuid = ? AND content_digest = ?
                    AND decided_at = ? AND session_id = ? AND action = ?
                """, photo, decision.digest, decision.decidedAt.milliseconds, decision.session,
                decision.action.rawValue) > 0
        }
    }

    /// - Returns: the photo's uuid here, where the decision is new.
    private func enter(_ decision: ReviewChanges.Decision, from source: String) throws -> String? {
        let isKnown: Bool? = try connection.first(Self.known, values: Self.key(decision)) { try $0[0] }
        guard isKnown != true else { return nil }
        let (photo, isHere) = try photo(decision)
        let isForgotten: Bool? = try connection.value(
            Self.forgotten, photo, decision.photo, decision.digest, decision.decidedAt.milliseconds, decision.session,
            decision.action.rawValue)
        guard isForgotten != true else { return nil }
        // About what is not here nothing is to be done: it is no more than history.
        try connection.execute(
            """
            INSERT INTO swipe_actions (decided_at, session_id, content_digest, action, told_uuid, photo_uuid,
                is_processed, is_indexed, source) VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?)
            """, values: Self.key(decision) + [photo, !isHere, source])
        return photo
    }

    static let forgotten = """
        SELECT EXISTS (SELECT 1 FROM swipe_forgotten WHERE photo_uuid IN (?1, ?2) AND content_digest = ?3
            AND (decided_at, session_id, action) >= (?4, ?5, ?6))
        """

    static let photoOf = "SELECT uuid FROM photos WHERE content_digest = ?1 ORDER BY uuid <> ?2, id LIMIT 1"

    /// The photo here that a decision is about.
    /// - Returns: the uuid that it names where there is none in the library.
    private func photo(_ decision: ReviewChanges.Decision) throws -> (uuid: String, isHere: Bool) {
        let found: String? = try connection.value(Self.photoOf, decision.digest, decision.photo)
        return (found ?? decision.photo, found != nil)
    }

    // MARK: Applying

    func processArrived(from source: String, limit: Int) throws -> (count: Int, effective: [PhotoAction]) {
        _ = try swipes.indexDecisions(limit: .max)
        let actions = try swipes.arrived(from: source, limit: limit)
        return (actions.count, try swipes.markProcessed(actions))
    }
}
