extension CatalogueSchema {
    /// Photos that move and are two files, a picture and a film: what their camera wrote into both of them, by which the one is found
    /// when the other comes, and the film's digest and size, by which it is known when it comes again. Few photos have any of these,
    /// so that the indices hold those alone.
    static let filmPairs = """
        ALTER TABLE photos ADD COLUMN content_identifier TEXT;
        ALTER TABLE photos ADD COLUMN film_digest TEXT;
        ALTER TABLE photos ADD COLUMN film_size INTEGER;
        ALTER TABLE trash ADD COLUMN content_identifier TEXT;
        ALTER TABLE trash ADD COLUMN film_digest TEXT;
        ALTER TABLE trash ADD COLUMN film_size INTEGER;
        CREATE INDEX photos_content_identifiers ON photos (content_identifier) WHERE content_identifier IS NOT NULL;
        CREATE INDEX photos_film_digests ON photos (film_digest) WHERE film_digest IS NOT NULL;
        CREATE INDEX photos_film_sizes ON photos (film_size) WHERE film_size IS NOT NULL;
        """
}
