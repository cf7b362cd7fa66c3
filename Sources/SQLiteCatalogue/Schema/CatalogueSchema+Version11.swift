/// What version 11 brought: groups between machines.
extension CatalogueSchema {
    /// A hub is a machine that keeps groups for others; a group without one is kept here. Of the tokens that this library has
    /// given out there is the digest. Of those that it was given there is the token itself, which it has to show: a program that
    /// reads this file has all photos already.
    ///
    /// `transfer` says what is left to be done with a photo of a group that a hub keeps: 1 to be sent there, with
    /// the sender's offset from UTC, 2 to be fetched. A group that was left while its hub was away has its row in `group_departures` until the hub knows.
    static let version11 = """
        CREATE TABLE group_hubs (
            id TEXT PRIMARY KEY,
            address TEXT NOT NULL,
            token TEXT NOT NULL,
            added_at INTEGER NOT NULL,
            synced_at INTEGER,
            problem TEXT
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE group_departures (
            hub_id TEXT NOT NULL REFERENCES group_hubs (id) ON DELETE CASCADE,
            group_id TEXT NOT NULL,
            PRIMARY KEY (hub_id, group_id)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE group_tokens (
            user_id TEXT PRIMARY KEY,
            digest TEXT NOT NULL UNIQUE,
            created_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        ALTER TABLE groups ADD COLUMN hub_id TEXT REFERENCES group_hubs (id) ON DELETE CASCADE;
        ALTER TABLE group_photos ADD COLUMN transfer INTEGER NOT NULL DEFAULT 0 CHECK (transfer IN (0, 1, 2));
        ALTER TABLE group_photos ADD COLUMN url TEXT;
        ALTER TABLE group_photos ADD COLUMN utc_offset INTEGER;
        """
}
