extension CatalogueSchema {
    /// Films among the photos, and photos that move. Films are a part of most libraries and often a small one, so that all of them are found by an index of
    /// their own; what is asked of them besides stands in it, and their rows need not be looked at.
    static let version23 = """
        ALTER TABLE photos ADD COLUMN kind TEXT;
        ALTER TABLE photos ADD COLUMN duration INTEGER;
        ALTER TABLE photos ADD COLUMN codecs TEXT;
        ALTER TABLE photos ADD COLUMN film_offset INTEGER;
        ALTER TABLE photos ADD COLUMN film_length INTEGER;
        ALTER TABLE trash ADD COLUMN kind TEXT;
        ALTER TABLE trash ADD COLUMN duration INTEGER;
        ALTER TABLE trash ADD COLUMN codecs TEXT;
        ALTER TABLE trash ADD COLUMN film_offset INTEGER;
        ALTER TABLE trash ADD COLUMN film_length INTEGER;
        CREATE INDEX photos_films ON photos (shown_at DESC, id DESC, category_id, is_favorite) WHERE kind = 'film';
        """
}
