extension CatalogueSchema {
    /// Whom devices are for. Devices that are there were a parent's. The categories of a child's device go with either; a name in the place of the number would
    /// have let another category of that name be seen.
    static let deviceRoles = """
        ALTER TABLE devices ADD COLUMN role TEXT NOT NULL DEFAULT 'parent';
        CREATE TABLE device_categories (
            device_id TEXT NOT NULL REFERENCES devices (id) ON DELETE CASCADE,
            category_id INTEGER NOT NULL REFERENCES categories (id) ON DELETE CASCADE,
            PRIMARY KEY (device_id, category_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX device_categories_by_category ON device_categories (category_id);
        """
}
