extension CatalogueSchema {
    /// Links for people without a device. What a link shows has rows of its own: its categories go from it with the category, so that a
    /// number that a restore gives to another category never shows that one's photos; its photos are named by their uuids, which stay
    /// the same while a photo is in the trash.
    static let links = """
        CREATE TABLE links (
            id TEXT PRIMARY KEY,
            token_digest TEXT NOT NULL UNIQUE,
            title TEXT,
            created_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            revoked_at INTEGER,
            gives_originals INTEGER NOT NULL CHECK (gives_originals IN (0, 1)),
            gives_details INTEGER NOT NULL CHECK (gives_details IN (0, 1)),
            password_hash TEXT,
            openings INTEGER NOT NULL DEFAULT 0,
            last_opened_at INTEGER,
            failures INTEGER NOT NULL DEFAULT 0,
            last_failure_boot TEXT,
            last_failure_time INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE link_categories (
            link_id TEXT NOT NULL REFERENCES links (id) ON DELETE CASCADE,
            place INTEGER NOT NULL,
            category_id INTEGER NOT NULL REFERENCES categories (id) ON DELETE CASCADE,
            PRIMARY KEY (link_id, place)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX link_categories_by_category ON link_categories (category_id);
        CREATE TABLE link_photos (
            link_id TEXT NOT NULL REFERENCES links (id) ON DELETE CASCADE,
            place INTEGER NOT NULL,
            photo_uuid TEXT NOT NULL,
            PRIMARY KEY (link_id, place),
            UNIQUE (link_id, photo_uuid)
        ) STRICT, WITHOUT ROWID;
        """
}
