/// What version 19 brought: files that became photos, so that they need not be read again.
extension CatalogueSchema {
    /// By inode, and not by path: a folder that was renamed is known still. Not by the digest of the source either: of a photo that is
    /// purged no trace is to stay, so a row goes with its photo, and one that is out of the trash again is compared once.
    static let version19 = """
        CREATE TABLE known_files (
            device INTEGER NOT NULL,
            inode INTEGER NOT NULL,
            size INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            changed INTEGER NOT NULL,
            photo_id INTEGER NOT NULL REFERENCES photos (id) ON DELETE CASCADE,
            PRIMARY KEY (device, inode)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX known_files_by_photo ON known_files (photo_id);
        CREATE TRIGGER known_files_of_another_source AFTER UPDATE OF source_digest ON photos
        WHEN old.source_digest <> new.source_digest
        BEGIN
            DELETE FROM known_files WHERE photo_id = old.id;
        END;
        """
}
