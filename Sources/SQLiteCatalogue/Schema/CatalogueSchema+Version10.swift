/// What version 10 brought, part by part.
extension CatalogueSchema {
    static let version10 = decisions + devices + backups + groups + cameras + PhotoDaySchema.script

    /// Of decisions that come many at a time, only the row is written at once; see ``DecisionIndex``.
    private static let decisions = """
        ALTER TABLE swipe_actions ADD COLUMN is_indexed INTEGER NOT NULL DEFAULT 1 CHECK (is_indexed IN (0, 1));
        DROP INDEX swipe_actions_by_photo;
        CREATE INDEX swipe_actions_by_photo ON swipe_actions (photo_uuid, id) WHERE is_indexed = 1;
        CREATE INDEX swipe_actions_not_indexed ON swipe_actions (id) WHERE is_indexed = 0;
        """

    /// Browsers that may come in. Of a token there is its digest, with which a program that reads the file can do nothing.
    private static let devices = """

        CREATE TABLE devices (
            id TEXT PRIMARY KEY,
            name TEXT NOT NULL,
            user_agent TEXT,
            created_at INTEGER NOT NULL,
            last_seen_at INTEGER NOT NULL,
            token_digest TEXT NOT NULL UNIQUE
        ) STRICT, WITHOUT ROWID;
        """

    /// Backups were forgotten once they had their name, so that nobody could tell which of them may go. The schedule has one
    /// row at most.
    private static let backups = """

        CREATE TABLE backups (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            path TEXT NOT NULL UNIQUE,
            mount TEXT NOT NULL,
            library_path TEXT NOT NULL,
            library_device INTEGER NOT NULL,
            library_inode INTEGER NOT NULL,
            library_birth INTEGER,
            made_at INTEGER NOT NULL,
            photos INTEGER NOT NULL,
            bytes INTEGER NOT NULL,
            damaged INTEGER NOT NULL,
            is_whole INTEGER NOT NULL CHECK (is_whole IN (0, 1)),
            fingerprint TEXT NOT NULL,
            verified_at INTEGER
        ) STRICT;
        CREATE TABLE backup_schedule (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            folder TEXT NOT NULL,
            mount TEXT NOT NULL,
            every_hours INTEGER NOT NULL CHECK (every_hours > 0),
            keep INTEGER NOT NULL CHECK (keep > 0),
            key_export TEXT,
            key_sealed TEXT,
            scheduled_at INTEGER NOT NULL,
            job TEXT,
            failed_at INTEGER,
            problem TEXT
        ) STRICT;
        """

    /// That a member sends one photo a day is a key, so that no two who race can both have sent. Names are not unique: a library
    /// that syncs with others cannot choose them. The time has one row at most.
    private static let groups = """

        CREATE TABLE groups (
            id TEXT PRIMARY KEY,
            name TEXT NOT NULL CHECK (name <> ''),
            created_at INTEGER NOT NULL,
            last_photo_at INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE group_members (
            group_id TEXT NOT NULL REFERENCES groups (id) ON DELETE CASCADE,
            user_id TEXT NOT NULL,
            first_name TEXT NOT NULL,
            joined_at INTEGER NOT NULL,
            is_self INTEGER NOT NULL CHECK (is_self IN (0, 1)),
            PRIMARY KEY (group_id, user_id)
        ) STRICT, WITHOUT ROWID;
        CREATE UNIQUE INDEX group_members_self ON group_members (group_id) WHERE is_self = 1;
        CREATE TABLE group_photos (
            id TEXT PRIMARY KEY,
            group_id TEXT NOT NULL REFERENCES groups (id) ON DELETE CASCADE,
            sender_id TEXT NOT NULL,
            sender_name TEXT NOT NULL,
            day INTEGER NOT NULL,
            width INTEGER NOT NULL,
            height INTEGER NOT NULL,
            file_size INTEGER NOT NULL,
            has_file INTEGER NOT NULL CHECK (has_file IN (0, 1)),
            created_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            last_used_at INTEGER NOT NULL,
            UNIQUE (group_id, sender_id, day)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE group_time (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            time INTEGER NOT NULL,
            boot TEXT NOT NULL,
            boot_time INTEGER NOT NULL
        ) STRICT;
        """

    /// Make and model, in the row: as numbers of another table they would take 5 % less of the file, and every reader, the trash
    /// and each insert a look at that table. `cameras` has each name once, with how many photos the library has of it: words
    /// are compared with these few. A name that is found in the indices has its photos together and in order.
    private static let cameras = """

        ALTER TABLE photos ADD COLUMN camera TEXT;
        ALTER TABLE trash ADD COLUMN camera TEXT;
        CREATE INDEX photos_by_camera ON photos (camera, shown_at DESC, id DESC);
        CREATE INDEX photos_by_category_and_camera ON photos (category_id, camera, shown_at DESC, id DESC);
        CREATE INDEX photos_favorite_by_camera ON photos (camera, shown_at DESC, id DESC, category_id, is_favorite)
            WHERE is_favorite = 1;

        CREATE TABLE cameras (
            name TEXT PRIMARY KEY,
            photos INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TRIGGER cameras_insert AFTER INSERT ON photos WHEN new.camera IS NOT NULL BEGIN
            \(enterCamera)
        END;
        CREATE TRIGGER cameras_delete AFTER DELETE ON photos WHEN old.camera IS NOT NULL BEGIN
            \(leaveCamera)
        END;
        CREATE TRIGGER cameras_update AFTER UPDATE OF camera ON photos WHEN old.camera IS NOT new.camera BEGIN
            \(leaveCamera)
            \(enterCamera)
        END;
        """

    private static let enterCamera = """
        INSERT INTO cameras (name, photos) SELECT new.camera, 1 WHERE new.camera IS NOT NULL
                ON CONFLICT (name) DO UPDATE SET photos = photos + 1;
        """

    private static let leaveCamera = """
        UPDATE cameras SET photos = photos - 1 WHERE name = old.camera;
            DELETE FROM cameras WHERE name = old.camera AND photos = 0;
        """
}
