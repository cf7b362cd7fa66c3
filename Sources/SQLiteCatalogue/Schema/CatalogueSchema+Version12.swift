/// What version 12 brought: reviews in common with other machines of the same person.
extension CatalogueSchema {
    /// A decision is the same everywhere by its session, the photo's uuid and digest, what was decided, and when. One from elsewhere
    /// has in `told_uuid` the uuid that it names and in `photo_uuid` that of the photo with this content here; `source` is the
    /// machine that it came from. Of one that was taken back, the row in `swipe_undone` keeps it from coming back.
    /// Of decisions that were deleted because they are old, `swipe_forgotten` has the latest about each picture: what is older
    /// neither comes back nor counts. Of one that is taken back elsewhere afterwards the time stays, without a decision.
    ///
    /// When those were decided that an earlier version deleted is not known: not later than the last end of a session that had some.
    /// That they were, a photo shows that says something else than the decisions that are left about it; but one of which some
    /// wait is about to say these.
    ///
    /// A session's row in `swipe_session_changes` has a new number after each change, which are given out once, as those of
    /// decisions are: so another machine can be told what is new since a number.
    ///
    /// `swipe_machines` are let in by the digest of their token; `swipe_partners` were joined, and have the token that is shown
    /// there, with how far they have told us (`heard`) and we have told them (`told`).
    static let version12 = """
        ALTER TABLE swipe_actions ADD COLUMN told_uuid TEXT;
        ALTER TABLE swipe_actions ADD COLUMN source TEXT;
        CREATE INDEX swipe_actions_by_time ON swipe_actions (decided_at, session_id) WHERE is_indexed = 1;
        CREATE TABLE swipe_undone (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            session_id TEXT NOT NULL,
            photo_uuid TEXT NOT NULL,
            content_digest TEXT NOT NULL,
            action TEXT NOT NULL,
            decided_at INTEGER NOT NULL,
            source TEXT
        ) STRICT;
        CREATE UNIQUE INDEX swipe_undone_by_photo
            ON swipe_undone (photo_uuid, decided_at, session_id, content_digest, action);
        CREATE TABLE swipe_forgotten (
            photo_uuid TEXT NOT NULL,
            content_digest TEXT NOT NULL,
            decided_at INTEGER NOT NULL,
            session_id TEXT NOT NULL,
            action TEXT NOT NULL,
            PRIMARY KEY (photo_uuid, content_digest)
        ) STRICT, WITHOUT ROWID;
        \(forgotten(in: "photos"))
        \(forgotten(in: "trash"))
        CREATE TABLE swipe_session_changes (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            session_id TEXT NOT NULL UNIQUE REFERENCES swipe_sessions (id) ON DELETE CASCADE
        ) STRICT;
        INSERT INTO swipe_session_changes (session_id) SELECT id FROM swipe_sessions ORDER BY started_at, id;
        CREATE TABLE swipe_machines (
            id TEXT PRIMARY KEY,
            name TEXT NOT NULL,
            name_key TEXT NOT NULL UNIQUE,
            token_digest TEXT NOT NULL UNIQUE,
            added_at INTEGER NOT NULL,
            seen_at INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE swipe_partners (
            id TEXT PRIMARY KEY,
            address TEXT NOT NULL,
            token TEXT NOT NULL,
            added_at INTEGER NOT NULL,
            synced_at INTEGER,
            problem TEXT,
            heard TEXT NOT NULL DEFAULT '',
            told TEXT NOT NULL DEFAULT ''
        ) STRICT, WITHOUT ROWID;
        """

    private static func forgotten(in table: String) -> String {
        """
        INSERT OR IGNORE INTO swipe_forgotten (photo_uuid, content_digest, decided_at, session_id, action)
            SELECT p.uuid, p.content_digest,
                coalesce((SELECT max(ended_at) FROM swipe_sessions WHERE forgotten_photos > 0), 0), '', p.last_decision
            FROM \(table) p WHERE p.last_decision IS NOT NULL AND p.last_decision IS NOT (
                SELECT a.action FROM swipe_actions a
                WHERE a.is_indexed = 1 AND a.photo_uuid = p.uuid AND a.content_digest = p.content_digest
                ORDER BY a.id DESC LIMIT 1
            ) AND NOT EXISTS (SELECT 1 FROM swipe_actions a WHERE a.photo_uuid = p.uuid AND a.is_processed = 0);
        """
    }
}
