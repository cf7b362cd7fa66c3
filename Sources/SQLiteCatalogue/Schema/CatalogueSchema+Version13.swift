/// What version 13 brought: group photos that were sent in vain.
extension CatalogueSchema {
    /// The rows of such photos go at once, their group and its hub perhaps with them: what is to be said of them stands here, and belongs
    /// to none of these.
    static let version13 = """
        CREATE TABLE group_undelivered (
            photo_id TEXT PRIMARY KEY,
            group_id TEXT NOT NULL,
            group_name TEXT NOT NULL,
            hub TEXT NOT NULL,
            sent_at INTEGER NOT NULL,
            noticed_at INTEGER NOT NULL,
            reason TEXT NOT NULL,
            detail TEXT
        ) STRICT, WITHOUT ROWID;
        """
}
