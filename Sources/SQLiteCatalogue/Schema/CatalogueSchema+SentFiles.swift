extension CatalogueSchema {
    /// What programs of devices have sent, and the passwords that let these in. Both go with the device. A file is remembered by its
    /// place and the digest of its bytes, and not by its photo: that one may be deleted, and the program is not to send it once more.
    /// A folder of the top has the number of its category, so that it stays that one when the category is called otherwise.
    static let sentFiles = """
        CREATE TABLE device_passwords (
            device_id TEXT PRIMARY KEY REFERENCES devices (id) ON DELETE CASCADE,
            digest TEXT NOT NULL UNIQUE
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE sent_files (
            device_id TEXT NOT NULL REFERENCES devices (id) ON DELETE CASCADE,
            folder TEXT NOT NULL,
            name TEXT NOT NULL,
            size INTEGER,
            modified_at INTEGER NOT NULL,
            sent_at INTEGER NOT NULL,
            digest TEXT,
            category_id INTEGER REFERENCES categories (id) ON DELETE SET NULL,
            PRIMARY KEY (device_id, folder, name)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX sent_files_by_category ON sent_files (category_id) WHERE category_id IS NOT NULL;
        """
}
