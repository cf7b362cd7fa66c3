/// What version 17 brought: decisions that wait, by their own time; photos of which a review that goes on has no decision any more; and
/// what a restore has put its own in the place of.
extension CatalogueSchema {
    /// A review counts photos. Those of which the decisions were deleted are a number once it has ended; until then it may decide about
    /// them again, so they are rows.
    static let version17 = """
        DROP INDEX swipe_actions_pending;
        CREATE INDEX swipe_actions_pending ON swipe_actions (decided_at, id) WHERE is_processed = 0;

        CREATE TABLE swipe_session_forgotten (
            session_id TEXT NOT NULL REFERENCES swipe_sessions (id) ON DELETE CASCADE,
            photo_uuid TEXT NOT NULL,
            PRIMARY KEY (session_id, photo_uuid)
        ) STRICT, WITHOUT ROWID;
        CREATE TRIGGER swipe_session_ended AFTER UPDATE OF ended_at ON swipe_sessions
        WHEN new.ended_at IS NOT NULL AND EXISTS (SELECT 1 FROM swipe_session_forgotten WHERE session_id = new.id)
        BEGIN
            UPDATE swipe_sessions SET forgotten_photos = forgotten_photos + (
                SELECT count(*) FROM swipe_session_forgotten f WHERE f.session_id = new.id AND NOT EXISTS (
                    SELECT 1 FROM swipe_actions a WHERE a.session_id = new.id AND a.photo_uuid = f.photo_uuid))
            WHERE id = new.id;
            DELETE FROM swipe_session_forgotten WHERE session_id = new.id;
        END;

        -- A change by JSON, in the order in which they were made.
        CREATE TABLE overwritten (
            job TEXT NOT NULL,
            number INTEGER NOT NULL,
            change TEXT NOT NULL,
            PRIMARY KEY (job, number)
        ) STRICT, WITHOUT ROWID;
        CREATE TRIGGER overwritten_goes_with_its_job AFTER DELETE ON jobs
        BEGIN
            DELETE FROM overwritten WHERE job = old.id;
        END;
        """
}
