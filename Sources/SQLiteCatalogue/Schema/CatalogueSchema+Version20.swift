extension CatalogueSchema {
    /// How far a photo's date is known. Of those that are there nothing is said: until then a date was complete, or it was a day
    /// out of a file's name, which looks like midnight.
    static let version20 = """
        ALTER TABLE photos ADD COLUMN date_precision TEXT;
        ALTER TABLE trash ADD COLUMN date_precision TEXT;
        """
}
