extension CatalogueSchema {
    /// Whether scheduled backups are files that hold everything. The schedules that are there go on as they were made.
    static let version22 = """
        ALTER TABLE backup_schedule ADD COLUMN is_zip INTEGER NOT NULL DEFAULT 1 CHECK (is_zip IN (0, 1));
        """
}
