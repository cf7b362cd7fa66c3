import Database

/// What makes a catalogue of a million photos answer in milliseconds: the text index, the totals of each category, an
/// index for the favourites of one category, and one that tells date, category and mark of a photo by its id without
/// its row. Triggers keep all of it in step, because no statement on photos can forget a trigger.
///
/// The text index holds the trigrams of `search_text`, which is folded already (SQLite's own trigrams keep diacritics
/// apart before 3.45), without their positions: it is a sieve, a third of the size, and a search compares the
/// rows themselves. The two line breaks at the end let every one or two letters begin a trigram.
///
/// Its row ids are places (see ``SearchPlace``): a match with an id is found by the last bits of its place.
///
/// Statements that enter many photos keep the trigger out, by a row in `photo_search_paused`, and enter the texts of all
/// of them with one statement afterwards, in the order of their places (``SearchMarkSchema/enterRange``): the index
/// writes out what it holds in memory at each statement, and whenever a place is lower than the one before.
///
/// Version 5 adds to it: see ``SearchMarkSchema``.
///
/// A deleted photo's trigrams stay in the file until the index's segments are next merged; `optimize` merges all.
enum SearchIndexSchema {
    static let migration = Migration(version: 4, name: "text index and totals", script: script)

    private static let script = """
        CREATE INDEX photos_favorite_by_category ON photos (category_id, shown_at DESC, id DESC) WHERE is_favorite = 1;
        CREATE INDEX photos_by_id ON photos (id, shown_at, category_id, is_favorite);

        CREATE VIEW photo_search_source AS
            SELECT \(SearchPlace.sql(date: "shown_at", id: "id")) AS place, search_text || char(10, 10) AS text
            FROM photos;
        CREATE VIRTUAL TABLE photo_search USING fts5 (
            text, tokenize = 'trigram case_sensitive 1', detail = none, columnsize = 0,
            content = 'photo_search_source', content_rowid = 'place');
        CREATE VIRTUAL TABLE photo_search_terms USING fts5vocab (photo_search, row);
        \(enter);

        -- Has a row only inside a transaction that enters many photos.
        CREATE TABLE photo_search_paused (id INTEGER PRIMARY KEY CHECK (id = 1)) STRICT;

        CREATE TRIGGER photo_search_insert AFTER INSERT ON photos
        WHEN NOT EXISTS (SELECT 1 FROM photo_search_paused) BEGIN
            INSERT INTO photo_search (rowid, text) VALUES (\(entry("new")));
        END;
        CREATE TRIGGER photo_search_delete AFTER DELETE ON photos BEGIN
            INSERT INTO photo_search (photo_search, rowid, text) VALUES ('delete', \(entry("old")));
        END;
        CREATE TRIGGER photo_search_update AFTER UPDATE OF id, created_at, taken_at, search_text ON photos
        WHEN old.id <> new.id OR old.shown_at <> new.shown_at OR old.search_text <> new.search_text BEGIN
            INSERT INTO photo_search (photo_search, rowid, text) VALUES ('delete', \(entry("old")));
            INSERT INTO photo_search (rowid, text) VALUES (\(entry("new")));
        END;

        CREATE TABLE category_totals (
            category_id INTEGER PRIMARY KEY REFERENCES categories (id) ON DELETE CASCADE,
            photos INTEGER NOT NULL,
            favorites INTEGER NOT NULL,
            bytes INTEGER NOT NULL
        ) STRICT;
        INSERT INTO category_totals (category_id, photos, favorites, bytes)
            SELECT c.id, count(p.id), coalesce(sum(p.is_favorite), 0), coalesce(sum(p.file_size), 0)
            FROM categories c LEFT JOIN photos p ON p.category_id = c.id GROUP BY c.id;

        CREATE TRIGGER category_totals_begin AFTER INSERT ON categories BEGIN
            INSERT INTO category_totals (category_id, photos, favorites, bytes) VALUES (new.id, 0, 0, 0);
        END;
        CREATE TRIGGER category_totals_insert AFTER INSERT ON photos BEGIN
            \(total("new", "+"))
        END;
        CREATE TRIGGER category_totals_delete AFTER DELETE ON photos BEGIN
            \(total("old", "-"))
        END;
        CREATE TRIGGER category_totals_update AFTER UPDATE OF category_id, is_favorite, file_size ON photos
        WHEN old.category_id <> new.category_id OR old.is_favorite <> new.is_favorite OR old.file_size <> new.file_size
        BEGIN
            \(total("old", "-"))
            \(total("new", "+"))
        END;
        """

    private static func entry(_ row: String) -> String {
        "\(SearchPlace.sql(date: "\(row).shown_at", id: "\(row).id")), \(row).search_text || char(10, 10)"
    }

    /// Places are sorted alone and the texts come to them afterwards, so that the sorting takes no more memory than the
    /// places: some 30 bytes for each photo.
    private static let enter = """
        WITH places AS MATERIALIZED (
            SELECT \(SearchPlace.sql(date: "shown_at", id: "id")) AS place, id
            FROM photos INDEXED BY photos_by_id WHERE TRUE ORDER BY place)
        INSERT INTO photo_search (rowid, text)
            SELECT places.place, p.search_text || char(10, 10)
            FROM places CROSS JOIN photos AS p NOT INDEXED ON p.id = places.id
        """

    private static func total(_ row: String, _ sign: String) -> String {
        """
        UPDATE category_totals SET photos = photos \(sign) 1, favorites = favorites \(sign) \(row).is_favorite,
            bytes = bytes \(sign) \(row).file_size WHERE category_id = \(row).category_id;
        """
    }
}
