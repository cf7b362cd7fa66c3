import Database

/// What makes a catalogue of a million photos answer in milliseconds: the text index, the totals of each category,
/// and an index for the favourites of one category. Triggers keep all of it in step, because no statement on
/// photos can forget a trigger.
///
/// The text index holds the trigrams of `search_text`, which is folded already (SQLite's own trigrams keep diacritics
/// apart before 3.45), without their positions: it is a sieve, a third of the size, and whoever asks it compares the
/// rows themselves. Two more tokens say in which stretch of time a photo is shown (``SearchPeriod``), so that the
/// newest matches are found without sorting all of them. The two line breaks at the end let every one or two
/// letters begin a trigram.
///
/// A deleted photo's trigrams stay in the file until the index's segments are next merged; `optimize` merges all.
enum SearchIndexSchema {
    static let migration = Migration(version: 3, name: "text index and totals", script: script)

    private static let script = """
        CREATE INDEX photos_favorite_by_category ON photos (category_id, shown_at DESC, id DESC) WHERE is_favorite = 1;

        CREATE VIEW photo_search_source AS
            SELECT id, search_text || char(10, 10) AS text, \(SearchPeriod.sql("shown_at")) AS period FROM photos;
        CREATE VIRTUAL TABLE photo_search USING fts5 (
            text, period, tokenize = 'trigram case_sensitive 1', detail = none, columnsize = 0,
            content = 'photo_search_source', content_rowid = 'id');
        CREATE VIRTUAL TABLE photo_search_terms USING fts5vocab (photo_search, row);
        INSERT INTO photo_search (photo_search) VALUES ('rebuild');

        CREATE TRIGGER photo_search_insert AFTER INSERT ON photos BEGIN
            INSERT INTO photo_search (rowid, text, period) VALUES (\(entry("new")));
        END;
        CREATE TRIGGER photo_search_delete AFTER DELETE ON photos BEGIN
            INSERT INTO photo_search (photo_search, rowid, text, period) VALUES ('delete', \(entry("old")));
        END;
        CREATE TRIGGER photo_search_update AFTER UPDATE OF id, search_text, created_at, taken_at ON photos
        WHEN old.id <> new.id OR old.search_text <> new.search_text OR old.shown_at <> new.shown_at BEGIN
            INSERT INTO photo_search (photo_search, rowid, text, period) VALUES ('delete', \(entry("old")));
            INSERT INTO photo_search (rowid, text, period) VALUES (\(entry("new")));
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
        "\(row).id, \(row).search_text || char(10, 10), \(SearchPeriod.sql("\(row).shown_at"))"
    }

    private static func total(_ row: String, _ sign: String) -> String {
        """
        UPDATE category_totals SET photos = photos \(sign) 1, favorites = favorites \(sign) \(row).is_favorite,
            bytes = bytes \(sign) \(row).file_size WHERE category_id = \(row).category_id;
        """
    }
}
