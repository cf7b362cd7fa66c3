extension CatalogueSchema {
    /// How far a person has turned a photo: 90, 180 or 270 degrees clockwise, and NULL for not at all. `width` and `height` are as it is
    /// shown, so that lists and the timeline need not know of it. What a row says besides is not checked here: another value is none.
    static let rotation = """
        ALTER TABLE photos ADD COLUMN rotation INTEGER;
        ALTER TABLE trash ADD COLUMN rotation INTEGER;

        """
}
