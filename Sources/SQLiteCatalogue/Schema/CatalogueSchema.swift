import Database
import LibraryModel
import ServiceMesh

/// The catalogue's tables, version by version.
///
/// Sealed values have their own table, by the photo's uuid: a photo's row, its indices and its events never hold them, and
/// they stay what they are while the row moves between library and trash. The trash is a
/// table too and not a mark on the photo: a query can then not forget to leave it out, and a category can go
/// while the photos that were in it stay restorable.
package enum CatalogueSchema {
    /// "SmlP"
    static let applicationID: Int32 = 0x536D_6C50

    /// With those of single columns, which stand beside what the column is for: ``PhotoColumns/migrations``.
    package static let schema = Schema(
        applicationID: applicationID,
        migrations: (own + PhotoColumns.migrations).sorted { $0.version < $1.version },
        upkeep: SearchMergeSchema.upkeep)

    private static let own =
        [
            Migration(version: 1, name: "first form", script: version1),
            Migration(version: 2, name: "decisions by photo", script: version2),
            Migration(version: 3, name: "jobs", script: version3),
            SearchIndexSchema.migration,
            Migration(
                version: 5, name: "marks in the text index; decisions checked quickly",
                script: SearchMarkSchema.script + version5),
            Migration(version: 6, name: "unfinished backups", script: version6),
            Migration(version: 7, name: "originals, and dates on the camera's clock", script: version7),
            Migration(version: 8, name: "receipts that are kept, sidecars, sources that failed", script: version8),
            Migration(
                version: 9, name: "sealed fields by uuid, and their keys; reviews that are remembered",
                script: version9Sealing + version9Reviews),
            Migration(
                version: 10,
                name: "decisions indexed later; paired devices; backups that were made; groups; cameras; "
                    + "photos counted by day",
                script: version10),
            Migration(version: 11, name: "groups that another machine keeps", script: version11),
            Migration(version: 12, name: "reviews in common with other machines", script: version12),
            Migration(version: 13, name: "group photos that were sent in vain", script: version13),
            Migration(version: 14, name: "a bound on what other machines tell; sealed tokens", script: version14),
            Migration(version: 15, name: "names and words folded as Unicode says", apply: foldAnew),
            Migration(version: 16, name: "the place of categories that photos in the trash were in", script: version16),
            Migration(version: 17, name: "decisions by their time, and what restores overwrite", script: version17),
            Migration(
                version: 18, name: "many photos leave the text index together", script: SearchMarkSchema.pausedDeletion),
            Migration(version: 19, name: "files that became photos", script: version19),
            Migration(
                version: 21, name: "names of sources, texts of searches, a photo's decisions by their time",
                apply: nameSources),
            Migration(version: 22, name: "scheduled backups into folders", script: version22),
            Migration(version: 23, name: "films, and photos that move", script: version23),
            Migration(
                version: 24,
                name: "roles of devices; links for people without a device; photos that move and are two files; "
                    + "the text index is merged in steps",
                script: deviceRoles + links + filmPairs + SearchMergeSchema.script),
            Migration(
                version: 25,
                name: "photos that are turned; passwords of devices' programs, and what these have sent",
                script: rotation + sentFiles),
        ]

    /// Sealed fields belonged to the row of a photo in the library, and went with it into nothing when that went to the trash.
    /// Now they belong to its uuid, which is also what they are sealed for, and go when neither library nor trash has it;
    /// `sealed_fields_held` has a row only inside a transaction that takes photos out and enters them again. What a field may
    /// be called is not checked here: what a later version adds must not keep this one from reading the rest.
    ///
    /// `sealing_keys` has the data keys, each wrapped with the key of a key file, whose id is `key_file`.
    private static let version9Sealing = """
        CREATE TABLE sealed_fields_next (
            photo_uuid TEXT NOT NULL,
            field TEXT NOT NULL,
            sealed BLOB NOT NULL,
            PRIMARY KEY (photo_uuid, field)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO sealed_fields_next
            SELECT p.uuid, s.field, s.sealed FROM sealed_fields s JOIN photos p ON p.id = s.photo_id;
        DROP TABLE sealed_fields;
        ALTER TABLE sealed_fields_next RENAME TO sealed_fields;
        CREATE INDEX trash_by_uuid ON trash (uuid);

        CREATE TABLE sealed_fields_held (id INTEGER PRIMARY KEY CHECK (id = 1)) STRICT;
        CREATE TRIGGER sealed_fields_of_photo AFTER DELETE ON photos
        WHEN NOT EXISTS (SELECT 1 FROM sealed_fields_held) BEGIN
            DELETE FROM sealed_fields WHERE photo_uuid = old.uuid
                AND NOT EXISTS (SELECT 1 FROM trash WHERE uuid = old.uuid);
        END;
        CREATE TRIGGER sealed_fields_of_trash AFTER DELETE ON trash BEGIN
            DELETE FROM sealed_fields WHERE photo_uuid = old.uuid
                AND NOT EXISTS (SELECT 1 FROM trash WHERE uuid = old.uuid)
                AND NOT EXISTS (SELECT 1 FROM photos WHERE uuid = old.uuid);
        END;

        CREATE TABLE sealing_keys (
            id TEXT PRIMARY KEY,
            wrapped BLOB NOT NULL,
            key_file TEXT NOT NULL,
            is_active INTEGER NOT NULL CHECK (is_active = 0 OR is_active = 1),
            created_at INTEGER NOT NULL,
            exported_at INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE UNIQUE INDEX sealing_keys_active ON sealing_keys (is_active) WHERE is_active = 1;
        """

    /// Each photo says what the latest review decided about its picture, with indices that have those of one decision, or of
    /// none, together and in order: "not reviewed" is what the next review asks for, when nearly all are. It is a column
    /// and not a question to the decisions, because old ones of these can be deleted. Another picture was not reviewed.
    ///
    /// Processed decisions are asked for too, so the index by photo has all of them; and that by session has the photo, to
    /// count how many it had. `forgotten_photos` are those of which no decision is left.
    private static let version9Reviews = """

        ALTER TABLE photos ADD COLUMN last_decision TEXT;
        ALTER TABLE trash ADD COLUMN last_decision TEXT;
        ALTER TABLE swipe_sessions ADD COLUMN forgotten_photos INTEGER NOT NULL DEFAULT 0;
        DROP INDEX swipe_actions_by_photo;
        CREATE INDEX swipe_actions_by_photo ON swipe_actions (photo_uuid, id);
        DROP INDEX swipe_actions_by_session;
        CREATE INDEX swipe_actions_by_session ON swipe_actions (session_id, id, photo_uuid);
        UPDATE photos SET last_decision = (
                SELECT a.action FROM swipe_actions a
                WHERE a.photo_uuid = photos.uuid AND a.content_digest = photos.content_digest
                ORDER BY a.id DESC LIMIT 1)
            WHERE uuid IN (SELECT photo_uuid FROM swipe_actions);
        UPDATE trash SET last_decision = (
                SELECT a.action FROM swipe_actions a
                WHERE a.photo_uuid = trash.uuid AND a.content_digest = trash.content_digest
                ORDER BY a.id DESC LIMIT 1)
            WHERE uuid IN (SELECT photo_uuid FROM swipe_actions);
        CREATE INDEX photos_by_decision ON photos (last_decision, shown_at DESC, id DESC);
        CREATE INDEX photos_by_category_and_decision ON photos (category_id, last_decision, shown_at DESC, id DESC);
        CREATE TRIGGER photos_other_picture AFTER UPDATE OF content_digest ON photos
        WHEN old.content_digest <> new.content_digest AND new.last_decision IS NOT NULL BEGIN
            UPDATE photos SET last_decision = NULL WHERE id = new.id;
        END;
        """

    /// Jobs that have ended stay for 90 days, where they went after an hour. `kept_bytes` is what a receipt takes, once it
    /// is cut down to the lines that are kept; until then nil. The index has all that is asked to find what is to be cut
    /// down or removed. That of photos without original makes counting them a matter of the few that there are.
    /// `sidecars` is what stood beside a picture and was kept with it, as JSON; see `KeptSidecar`. `unseen_by` is the
    /// version that could not decode a picture and kept its original. Of photos from before there is neither.
    private static let version8 = """
        ALTER TABLE jobs ADD COLUMN unlisted_lines INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE jobs ADD COLUMN kept_bytes INTEGER;
        CREATE INDEX jobs_by_end ON jobs (ended_at, kept_bytes);
        ALTER TABLE photos ADD COLUMN sidecars TEXT;
        ALTER TABLE trash ADD COLUMN sidecars TEXT;
        ALTER TABLE photos ADD COLUMN unseen_by TEXT;
        ALTER TABLE trash ADD COLUMN unseen_by TEXT;
        CREATE TABLE failed_sources (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            digest TEXT NOT NULL UNIQUE,
            size INTEGER NOT NULL,
            outcome TEXT NOT NULL,
            detail TEXT,
            version TEXT NOT NULL
        ) STRICT;
        CREATE INDEX failed_sources_by_size ON failed_sources (size);
        CREATE INDEX photos_without_original ON photos (id) WHERE original_path IS NULL;
        """

    /// Which file is byte for byte what was imported. What was stored as it came is its own original; of what was made
    /// smaller before this version, nothing else was kept.
    ///
    /// Until now `taken_at` was a moment. Of a photo whose camera did not say how far it was from UTC, as most do not, it had
    /// been computed in this machine's zone; what a clock here shows at that moment is what the camera's showed.
    private static let version7 = """
        ALTER TABLE photos ADD COLUMN original_path TEXT;
        ALTER TABLE photos ADD COLUMN taken_offset INTEGER;
        ALTER TABLE photos ADD COLUMN date_source TEXT;
        ALTER TABLE trash ADD COLUMN original_path TEXT;
        ALTER TABLE trash ADD COLUMN taken_offset INTEGER;
        ALTER TABLE trash ADD COLUMN date_source TEXT;
        UPDATE photos SET original_path = path WHERE content_digest = source_digest;
        UPDATE trash SET original_path = path WHERE content_digest = source_digest;
        UPDATE photos SET taken_at = \(clockHere) WHERE taken_at <> \(clockHere);
        UPDATE trash SET taken_at = \(clockHere) WHERE taken_at <> \(clockHere);
        """

    /// The same where SQLite knows no calendar, before the year -4713 and after 9999.
    private static let clockHere = """
        coalesce(CAST(strftime('%s', taken_at / 1000, 'unixepoch', 'localtime') AS INTEGER) * 1000 + taken_at % 1000,
            taken_at)
        """

    /// Files that backups are being written to stood among the discarded files, by their absolute paths: a library with
    /// a copy of the catalogue removed what the original was writing. Now they have a table of their own, which says
    /// which library made which file; see ``UnfinishedBackup``. Of those from before only the place is known.
    private static let version6 = """
        CREATE TABLE unfinished_backups (
            path TEXT PRIMARY KEY,
            job TEXT,
            library_path TEXT,
            library_device INTEGER,
            library_inode INTEGER,
            library_birth INTEGER,
            device INTEGER,
            inode INTEGER,
            birth INTEGER
        ) STRICT, WITHOUT ROWID;
        INSERT INTO unfinished_backups (path) SELECT path FROM discarded_files WHERE path LIKE '/%.partial';
        DELETE FROM discarded_files WHERE path LIKE '/%';
        """

    /// Decisions in a table with another CHECK. One that names a list of three makes SQLite build a table of the list
    /// for every row that is written, which was a fifth of what a decision took.
    private static let version5 = """

        CREATE TABLE swipe_actions_next (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            session_id TEXT NOT NULL REFERENCES swipe_sessions (id) ON DELETE CASCADE,
            photo_uuid TEXT NOT NULL,
            content_digest TEXT NOT NULL,
            action TEXT NOT NULL CHECK (action = 'favorite' OR action = 'trash' OR action = 'keep'),
            decided_at INTEGER NOT NULL,
            is_processed INTEGER NOT NULL DEFAULT 0 CHECK (is_processed = 0 OR is_processed = 1)
        ) STRICT;
        INSERT INTO swipe_actions_next SELECT * FROM swipe_actions ORDER BY id;
        -- Ids that were given out and deleted again are not given out twice.
        DELETE FROM sqlite_sequence WHERE name = 'swipe_actions_next';
        INSERT INTO sqlite_sequence (name, seq)
            SELECT 'swipe_actions_next', seq FROM sqlite_sequence WHERE name = 'swipe_actions';
        DROP TABLE swipe_actions;
        ALTER TABLE swipe_actions_next RENAME TO swipe_actions;
        CREATE INDEX swipe_actions_by_session ON swipe_actions (session_id, id);
        CREATE INDEX swipe_actions_pending ON swipe_actions (id) WHERE is_processed = 0;
        CREATE INDEX swipe_actions_by_photo ON swipe_actions (photo_uuid, id) WHERE is_processed = 0;
        """

    /// Jobs and their receipts. A job's message is kept as JSON while it has not ended, and only where it can go on
    /// after a restart; such messages carry nothing that is sealed. No state is checked here: what a later version
    /// writes must not keep this one from reading the rest.
    private static let version3 = """
        CREATE TABLE jobs (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            method TEXT NOT NULL,
            params TEXT,
            role INTEGER NOT NULL,
            state TEXT NOT NULL,
            request TEXT NOT NULL,
            started_at INTEGER NOT NULL,
            ended_at INTEGER,
            needs_attention INTEGER NOT NULL CHECK (needs_attention IN (0, 1)),
            progress TEXT,
            receipt TEXT,
            error TEXT,
            checkpoint BLOB,
            checkpoints INTEGER NOT NULL DEFAULT 0,
            attempts INTEGER NOT NULL DEFAULT 0,
            attempts_mark INTEGER NOT NULL DEFAULT 0
        ) STRICT;

        CREATE TABLE job_lines (
            job INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
            number INTEGER NOT NULL CHECK (number >= 0),
            item TEXT NOT NULL,
            outcome TEXT NOT NULL,
            detail TEXT,
            PRIMARY KEY (job, number)
        ) STRICT, WITHOUT ROWID;

        -- How many lines a job has of each outcome, those counted, but not kept, included.
        CREATE TABLE job_outcomes (
            job INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
            outcome TEXT NOT NULL,
            count INTEGER NOT NULL,
            PRIMARY KEY (job, outcome)
        ) STRICT, WITHOUT ROWID;
        """

    /// Whether a decision has a later one about the same photo is asked for each that is applied. Without this index
    /// the answer was a walk over all that wait: seconds for each transaction once there are 100,000.
    private static let version2 = """
        CREATE INDEX swipe_actions_by_photo ON swipe_actions (photo_uuid, id) WHERE is_processed = 0;
        """

    private static let version1 = """
        CREATE TABLE categories (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            display_name TEXT NOT NULL CHECK (display_name <> ''),
            name_key TEXT NOT NULL UNIQUE,
            position INTEGER NOT NULL,
            icon_resource TEXT,
            color_hex TEXT NOT NULL CHECK (length(color_hex) = 7),
            is_default INTEGER NOT NULL CHECK (is_default IN (0, 1)),
            created_at INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE photos (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            uuid TEXT NOT NULL UNIQUE,
            path TEXT NOT NULL UNIQUE CHECK (path <> ''),
            category_id INTEGER NOT NULL REFERENCES categories (id) ON DELETE CASCADE,
            name TEXT NOT NULL,
            caption TEXT,
            is_from_assets INTEGER NOT NULL CHECK (is_from_assets IN (0, 1)),
            created_at INTEGER NOT NULL,
            taken_at INTEGER,
            shown_at INTEGER NOT NULL GENERATED ALWAYS AS (coalesce(taken_at, created_at)) STORED,
            file_size INTEGER NOT NULL CHECK (file_size >= 0),
            width INTEGER NOT NULL CHECK (width >= 0),
            height INTEGER NOT NULL CHECK (height >= 0),
            is_favorite INTEGER NOT NULL CHECK (is_favorite IN (0, 1)),
            media_type TEXT NOT NULL,
            content_digest TEXT NOT NULL,
            source_digest TEXT NOT NULL UNIQUE,
            source_size INTEGER NOT NULL,
            search_text TEXT NOT NULL
        ) STRICT;
        CREATE INDEX photos_by_date ON photos (shown_at DESC, id DESC);
        CREATE INDEX photos_by_category ON photos (category_id, shown_at DESC, id DESC);
        CREATE INDEX photos_favorite ON photos (shown_at DESC, id DESC) WHERE is_favorite = 1;
        CREATE INDEX photos_by_content ON photos (content_digest);
        CREATE INDEX photos_by_source_size ON photos (source_size);

        CREATE TABLE sealed_fields (
            photo_id INTEGER NOT NULL REFERENCES photos (id) ON DELETE CASCADE,
            field TEXT NOT NULL CHECK (field IN
                ('childName', 'childAge', 'notes', 'tags', 'milestone', 'location', 'metadata')),
            sealed BLOB NOT NULL,
            PRIMARY KEY (photo_id, field)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE trash (
            id INTEGER PRIMARY KEY,
            uuid TEXT NOT NULL,
            path TEXT NOT NULL UNIQUE,
            category_id INTEGER NOT NULL,
            name TEXT NOT NULL,
            caption TEXT,
            is_from_assets INTEGER NOT NULL,
            created_at INTEGER NOT NULL,
            taken_at INTEGER,
            file_size INTEGER NOT NULL,
            width INTEGER NOT NULL,
            height INTEGER NOT NULL,
            is_favorite INTEGER NOT NULL,
            media_type TEXT NOT NULL,
            content_digest TEXT NOT NULL,
            source_digest TEXT NOT NULL,
            source_size INTEGER NOT NULL,
            category_name TEXT NOT NULL,
            category_color TEXT NOT NULL,
            category_icon TEXT,
            deleted_at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX trash_by_date ON trash (deleted_at DESC, id DESC);

        CREATE TABLE swipe_sessions (
            id TEXT PRIMARY KEY,
            started_at INTEGER NOT NULL,
            ended_at INTEGER
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE swipe_actions (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            session_id TEXT NOT NULL REFERENCES swipe_sessions (id) ON DELETE CASCADE,
            photo_uuid TEXT NOT NULL,
            content_digest TEXT NOT NULL,
            action TEXT NOT NULL CHECK (action IN ('favorite', 'trash', 'keep')),
            decided_at INTEGER NOT NULL,
            is_processed INTEGER NOT NULL DEFAULT 0 CHECK (is_processed IN (0, 1))
        ) STRICT;
        CREATE INDEX swipe_actions_by_session ON swipe_actions (session_id, id);
        CREATE INDEX swipe_actions_pending ON swipe_actions (id) WHERE is_processed = 0;

        CREATE TABLE settings (
            key TEXT PRIMARY KEY,
            value TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;

        -- Files that are to go: written in the transaction after which nothing refers to them, emptied when they
        -- are gone. Relative to the library folder, or absolute (an unfinished backup somewhere else).
        CREATE TABLE discarded_files (
            path TEXT PRIMARY KEY
        ) STRICT, WITHOUT ROWID;
        """
}
