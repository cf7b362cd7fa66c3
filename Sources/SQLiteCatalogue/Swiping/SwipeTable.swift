import Database
import LibraryModel
import LibraryStorage
import ServiceMesh

/// Swipe sessions and their decisions in SQLite.
struct SwipeTable: SwipeRepository {
    let connection: Connection
    /// Tells whether a decision is indexed at once; nil: each is.
    var index: DecisionIndex?

    // MARK: Reading

    /// Photos of which a session `s` has no decision any more.
    private static let forgottenPhotos = """
        (s.forgotten_photos + (SELECT count(*) FROM swipe_session_forgotten f WHERE f.session_id = s.id AND NOT EXISTS (
            SELECT 1 FROM swipe_actions a WHERE a.session_id = s.id AND a.photo_uuid = f.photo_uuid)))
        """

    private static let sessionColumns = """
        SELECT s.id AS id, s.started_at AS started_at, s.ended_at AS ended_at,
            \(forgottenPhotos)
                + (SELECT count(DISTINCT a.photo_uuid) FROM swipe_actions a WHERE a.session_id = s.id) AS photos
        FROM swipe_sessions s
        """

    private static func session(_ row: borrowing Row) throws -> SwipeSession {
        let ended: Int64? = try row["ended_at"]
        return SwipeSession(
            sessionID: try row["id"], startTime: Timestamp(milliseconds: try row["started_at"]),
            endTime: ended.map(Timestamp.init(milliseconds:)), photosProcessed: try row["photos"])
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

    func find(beginningWith beginning: String, limit: Int) throws -> [SwipeSession] {
        try connection.readable(
            "swipe_sessions",
            "\(Self.sessionColumns) WHERE s.id >= ?1 AND s.id < ?1 || char(0x10FFFF) ORDER BY s.id LIMIT ?2",
            values: [beginning, limit]
        ) { try Self.session($0) }
    }

    func sessions(limit: Int) throws -> [SwipeSession] {
        try connection.filled(limit) { limit in
            try connection.readable(
                "swipe_sessions", "\(Self.sessionColumns) ORDER BY s.started_at DESC, s.id LIMIT ?", values: [limit]
            ) { try Self.session($0) }
        }
    }

    func pending(session: String?, after id: Int64, limit: Int) throws -> [PhotoAction] {
        let time =
            id > 0
            ? try connection.first("SELECT decided_at FROM swipe_actions WHERE id = ?", id) { try $0[0] as Int64 } : nil
        // One that has been taken back meanwhile says nothing of its time: of what came after it none is passed over.
        let (from, place) = time.map { ($0, id) } ?? (.min, .min)
        return try connection.filled(limit) { limit in
            try connection.readable(
                "swipe_actions",
                """
                SELECT * FROM swipe_actions
                WHERE is_processed = 0 AND (decided_at, id) > (?1, ?2) AND id > ?3 AND (?4 IS NULL OR session_id = ?4)
                ORDER BY decided_at, id LIMIT ?5
                """, values: [from, place, time == nil ? id : .min, session, limit]
            ) { try Self.action($0) }
        }
    }

    /// As ``pending(session:after:limit:)``: those that came from a machine, of sessions that have ended.
    func arrived(from source: String, limit: Int) throws -> [PhotoAction] {
        try connection.query(
            """
            SELECT * FROM swipe_actions
            WHERE is_processed = 0 AND source = ? AND \(Self.ofEndedSession) ORDER BY id LIMIT ?
            """, source, limit
        ) { try Self.action($0) }
    }

    func pendingCount() throws -> Int {
        try connection.value("SELECT count(*) FROM swipe_actions WHERE is_processed = 0") ?? 0
    }

    private static let byPhoto = "INDEXED BY swipe_actions_by_photo WHERE is_indexed = 1 AND photo_uuid"

    /// What of each session or photo there is lies together in an index; with both, a photo's are the fewer.
    func decisions(session: String?, photo: String?, before id: Int64, limit: Int) throws -> [PhotoAction] {
        let (source, values): (String, [any SQLBindable]) =
            switch (session, photo) {
            case (nil, nil): ("NOT INDEXED WHERE TRUE", [])
            case (let session?, nil): ("INDEXED BY swipe_actions_by_session WHERE session_id = ?", [session])
            case (nil, let photo?): ("\(Self.byPhoto) = ?", [photo])
            case (let session?, let photo?): ("\(Self.byPhoto) = ? AND session_id = ?", [photo, session])
            }
        return try connection.filled(limit) { limit in
            try connection.readable(
                "swipe_actions", "SELECT * FROM swipe_actions \(source) AND id < ? ORDER BY id DESC LIMIT ?",
                values: values + [id, limit]
            ) { try Self.action($0) }
        }
    }

    func processed(before time: Timestamp, session: String?, after id: Int64, limit: Int) throws -> [Int64] {
        try connection.query(
            """
            SELECT id FROM swipe_actions
            WHERE id > ?1 AND is_processed = 1 AND decided_at < ?2 AND (?3 IS NULL OR session_id = ?3)
                AND \(Self.isSettled)
            ORDER BY id LIMIT ?4
            """, id, time.milliseconds, session, limit
        ) { try $0[0] as Int64 }
    }

    func history() throws -> [SwipeRecord] {
        let forgotten = try Dictionary(
            uniqueKeysWithValues: connection.query(
                "SELECT id, \(Self.forgottenPhotos) AS forgotten FROM swipe_sessions s WHERE forgotten > 0"
            ) { (try $0[0] as String, try $0[1] as Int) })
        return try sessions(limit: Int(Int32.max)).map { session in
            let actions = try connection.readable(
                "swipe_actions", "SELECT * FROM swipe_actions WHERE session_id = ? ORDER BY id",
                values: [session.sessionID]
            ) { try Self.action($0) }
            return SwipeRecord(
                sessionID: session.sessionID, startTime: session.startTime, endTime: session.endTime,
                forgottenPhotos: forgotten[session.sessionID] ?? 0,
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
        try insertSession(id, startTime: time, endTime: nil, forgottenPhotos: 0)
        return SwipeSession(sessionID: id, startTime: time, endTime: nil, photosProcessed: 0)
    }

    /// One statement checks and writes: decisions come one for each swipe, and three statements took the commit thread
    /// half as long again.
    func record(_ decision: SwipeDecision, at time: Timestamp) throws -> PhotoAction? {
        let isIndexed = index?.takesNext ?? true
        // Else it has its time when it is indexed, in the same way.
        let latest = isIndexed ? try latestTime(of: decision.photo) : nil
        let time = Timestamp(milliseconds: Self.time(time.milliseconds, after: latest))
        let rows = try connection.execute(
            """
            INSERT INTO swipe_actions
                (session_id, photo_uuid, content_digest, action, decided_at, is_processed, is_indexed)
            SELECT s.id, p.uuid, p.content_digest, ?4, ?5, 0, ?6 FROM swipe_sessions s, photos p
            WHERE s.id = ?1 AND s.ended_at IS NULL AND p.uuid = ?2 AND p.content_digest = ?3
            """, decision.session, decision.photo, decision.contentDigest, decision.action.rawValue, time.milliseconds,
            isIndexed)
        guard rows == 1 else { return nil }
        let action = PhotoAction(
            id: connection.lastInsertRowID, sessionID: decision.session, photoIdentifier: decision.photo,
            contentDigest: decision.contentDigest, action: decision.action, timestamp: time, isProcessed: false)
        if isIndexed {
            try connection.execute(
                "UPDATE photos SET last_decision = ?2 WHERE uuid = ?1 AND last_decision IS NOT ?2", decision.photo,
                decision.action.rawValue)
        } else if let index, index.postpone() >= DecisionIndex.limit {
            _ = try indexDecisions(limit: DecisionIndex.batch)
        }
        return action
    }

    /// Indexes the oldest decisions that are not: their photos say them from then on, and they are found by these.
    ///
    /// By statements about all of them, in the order of their photos: one by one, with three statements for each decision, the
    /// callers who found the limit reached waited twice as long in a catalogue of 200,000 photos.
    /// - Returns: whether all are indexed now.
    func indexDecisions(limit: Int) throws -> Bool {
        let actions = try connection.query(
            """
            SELECT id, photo_uuid, decided_at, \(Self.latestTime(of: "a.photo_uuid")) AS latest
            FROM swipe_actions a INDEXED BY swipe_actions_not_indexed WHERE is_indexed = 0 ORDER BY id LIMIT ?
            """, limit
        ) {
            (id: try $0[0] as Int64, photo: try $0[1] as String, time: try $0[2] as Int64, latest: try $0[3] as Int64?)
        }
        guard let last = actions.last else { return true }
        var latest: [String: Int64] = [:]
        for action in actions {
            let time = Self.time(action.time, after: latest[action.photo] ?? action.latest)
            if time != action.time {
                try connection.execute("UPDATE swipe_actions SET decided_at = ? WHERE id = ?", time, action.id)
            }
            latest[action.photo] = time
        }
        // A photo may have gone to the trash since. Of several decisions about one the last that was entered counts.
        for table in ["photos", "trash"] {
            try connection.execute(Self.sayingDecisions(in: table), last.id)
        }
        try connection.execute("UPDATE swipe_actions SET is_indexed = 1 WHERE is_indexed = 0 AND id <= ?", last.id)
        return actions.count < limit
    }

    /// Has the rows of a table say what was decided last about their pictures, as far as it is not indexed and its id is not above
    /// the value.
    static func sayingDecisions(in table: String) -> String {
        """
        UPDATE \(table) SET last_decision = decided.action FROM (
            SELECT photo_uuid, content_digest, action, max(id) FROM swipe_actions INDEXED BY swipe_actions_not_indexed
            WHERE is_indexed = 0 AND id <= ? GROUP BY photo_uuid
        ) AS decided
        WHERE uuid = decided.photo_uuid AND \(table).content_digest = decided.content_digest
            AND last_decision IS NOT decided.action
        """
    }

    func undo(session: String, count: Int) throws -> [PhotoAction] {
        _ = try indexDecisions(limit: .max)
        let latest = try connection.query(
            "SELECT * FROM swipe_actions WHERE session_id = ? AND is_processed = 0 ORDER BY id DESC LIMIT ?", session,
            count
        ) { try Self.action($0) }
        for action in latest { try takeBack(action.id) }
        for photo in Set(latest.map(\.photoIdentifier)) { try recallLastDecision(photo) }
        return latest
    }

    func finish(_ id: String, at time: Timestamp) throws {
        let rows = try connection.execute(
            "UPDATE swipe_sessions SET ended_at = ? WHERE id = ? AND ended_at IS NULL", time.milliseconds, id)
        if rows > 0 { try noteChange(ofSession: id) }
    }

    func process(session: String?, limit: Int) throws -> (count: Int, effective: [PhotoAction]) {
        _ = try indexDecisions(limit: .max)
        let actions = try pending(session: session, after: 0, limit: limit)
        return (actions.count, try markProcessed(actions))
    }

    func markProcessed(_ ids: [Int64]) throws -> Int {
        try ids.reduce(0) {
            try $0
                + connection.execute("UPDATE swipe_actions SET is_processed = 1 WHERE id = ? AND is_processed = 0", $1)
        }
    }

    /// Whether nobody can take a decision back any more. While its session goes on, another machine may, where reviews are shared: it
    /// would stay here as the last one of its photo.
    private static let isSettled = """
        (\(ofEndedSession)
            OR NOT EXISTS (SELECT 1 FROM swipe_machines) AND NOT EXISTS (SELECT 1 FROM swipe_partners))
        """

    private static let ofEndedSession =
        "EXISTS (SELECT 1 FROM swipe_sessions s WHERE s.id = session_id AND s.ended_at IS NOT NULL)"

    func deleteProcessed(_ ids: [Int64]) throws -> Int {
        _ = try indexDecisions(limit: .max)
        var count = 0
        for id in ids {
            let key = try connection.first(
                "SELECT session_id, photo_uuid FROM swipe_actions WHERE id = ? AND is_processed = 1 AND \(Self.isSettled)",
                id
            ) { (session: try $0[0] as String, photo: try $0[1] as String) }
            guard let key else { continue }
            try noteForgotten(id)
            count += try connection.execute("DELETE FROM swipe_actions WHERE id = ?", id)
            let isLeft =
                try connection.value(
                    "SELECT EXISTS (SELECT 1 FROM swipe_actions \(Self.byPhoto) = ? AND session_id = ?)", key.photo,
                    key.session)
                ?? false
            guard !isLeft else { continue }
            let hasEnded = try connection.execute(
                """
                UPDATE swipe_sessions SET forgotten_photos = forgotten_photos + 1 WHERE id = ? AND ended_at IS NOT NULL
                """, key.session)
            guard hasEnded == 0 else { continue }
            try connection.execute(
                "INSERT OR IGNORE INTO swipe_session_forgotten (session_id, photo_uuid) VALUES (?, ?)", key.session,
                key.photo)
        }
        return count
    }

    // MARK: From elsewhere

    /// In the order in which they were made, whichever session they belong to, as a history shows them.
    func insert(_ records: [SwipeRecord]) throws {
        _ = try indexDecisions(limit: .max)
        for record in records {
            try insertSession(
                record.sessionID, startTime: record.startTime, endTime: record.endTime,
                forgottenPhotos: record.forgottenPhotos)
        }
        let actions = records.flatMap { record in record.actions.map { (record.sessionID, $0) } }
        let photos = Set(actions.map(\.1.decision.photo))
        let explained = try photos.map { photo in (photo, try Self.ofPhotos.filter { try isExplained(photo, in: $0) }) }
        // The places keep those of one moment as they were: sorting promises no order of equals.
        for (_, (session, action)) in actions.enumerated().sorted(by: {
            ($0.element.1.timestamp.milliseconds, $0.offset) < ($1.element.1.timestamp.milliseconds, $1.offset)
        }) {
            try connection.execute(
                """
                INSERT INTO swipe_actions (session_id, photo_uuid, content_digest, action, decided_at, is_processed)
                VALUES (?, ?, ?, ?, ?, ?)
                """, session, action.decision.photo, action.decision.contentDigest, action.decision.action.rawValue,
                action.timestamp.milliseconds, action.isProcessed)
        }
        for (photo, tables) in explained { try recallLastDecision(photo, in: tables) }
    }

    private func insertSession(_ id: String, startTime: Timestamp, endTime: Timestamp?, forgottenPhotos: Int) throws {
        try connection.execute(
            "INSERT INTO swipe_sessions (id, started_at, ended_at, forgotten_photos) VALUES (?, ?, ?, ?)", id,
            startTime.milliseconds, endTime?.milliseconds, forgottenPhotos)
        try noteChange(ofSession: id)
    }

    func removeAll() throws {
        try connection.execute("DELETE FROM swipe_actions WHERE id <> 0")
        try connection.execute("DELETE FROM swipe_sessions WHERE id <> ''")
        // What was taken back or deleted from these says nothing of those that come instead.
        try connection.execute("DELETE FROM swipe_undone WHERE id <> 0")
        try connection.execute("DELETE FROM swipe_forgotten WHERE photo_uuid <> ''")
    }
}
