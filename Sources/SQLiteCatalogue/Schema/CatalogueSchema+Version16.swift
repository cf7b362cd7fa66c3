/// What version 16 brought: photos in the trash know the place of their category, and whether it is one of the first four.
extension CatalogueSchema {
    /// Of what was put into the trash before, it is known where the category is there still. One that is made again for the others goes to
    /// the end; it is a default one where it has the name of one.
    static let version16 = """
        ALTER TABLE trash ADD COLUMN category_position INTEGER;
        ALTER TABLE trash ADD COLUMN category_is_default INTEGER NOT NULL DEFAULT 0;
        UPDATE trash SET
            category_position = (SELECT position FROM categories c WHERE c.id = category_id),
            category_is_default = coalesce(
                (SELECT is_default FROM categories c WHERE c.id = category_id),
                category_name IN ('Family', 'Cars', 'Games', 'Sports'));
        """
}
