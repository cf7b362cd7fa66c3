import Database

/// The text index of version 5: it holds each photo's category and mark as well (``SearchMark``), and beside it stands an
/// index with what a candidate is compared with, in the text index's own order.
///
/// `photos_by_place` holds place, date, category, mark and text of each photo. The candidates of a word lie side by
/// side in it, where their rows are all over the table: of 10,000 that are compared in vain each takes 1 µs and not 4. It
/// takes 11 % of the file. SQLite's mmap does as much without it and was rejected: a failing disk would then end the
/// daemon by a signal. A larger page cache does nothing until half of the table is in it.
///
/// The index writes out what it holds whenever a place is lower than the one before, and at each statement that a trigger
/// belongs to: a millisecond and more, the more the larger the index. So many photos are changed with the triggers paused, and
/// told to the index by one statement, in the order of their places.
enum SearchMarkSchema {
    /// What the text index is given of a photo.
    private static func entry(_ row: String) -> String {
        "\(place(row)), \(row).search_text || \(mark(row))"
    }

    private static func place(_ row: String) -> String {
        SearchPlace.sql(date: "\(row).shown_at", id: "\(row).id")
    }

    private static func mark(_ row: String) -> String {
        SearchMark.sql(category: "\(row).category_id", isFavorite: "\(row).is_favorite")
    }

    /// The index of version 4 ends each text with two line breaks, as the mark begins; so the marks are entered alone.
    static let script = """
        DROP TRIGGER photo_search_insert;
        DROP TRIGGER photo_search_delete;
        DROP TRIGGER photo_search_update;
        DROP VIEW photo_search_source;

        CREATE INDEX photos_by_place ON photos (
            \(SearchPlace.sql(date: "shown_at", id: "id")), shown_at, category_id, is_favorite, search_text);
        CREATE VIEW photo_search_source AS
            SELECT \(place("p")) AS place, p.search_text || \(mark("p")) AS text FROM photos AS p;
        INSERT INTO photo_search (rowid, text)
            SELECT \(place("p")), \(mark("p")) FROM photos AS p INDEXED BY photos_by_place ORDER BY \(place("p"));

        CREATE TRIGGER photo_search_insert AFTER INSERT ON photos
        WHEN NOT EXISTS (SELECT 1 FROM photo_search_paused) BEGIN
            INSERT INTO photo_search (rowid, text) VALUES (\(entry("new")));
        END;
        CREATE TRIGGER photo_search_delete AFTER DELETE ON photos BEGIN
            INSERT INTO photo_search (photo_search, rowid, text) VALUES ('delete', \(entry("old")));
        END;
        \(update)
        -- Where the text stays, its trigrams stay too.
        CREATE TRIGGER photo_search_mark AFTER UPDATE OF category_id, is_favorite ON photos
        WHEN (old.category_id <> new.category_id OR old.is_favorite <> new.is_favorite) AND NOT (\(isMovedOrRenamed))
            AND NOT EXISTS (SELECT 1 FROM photo_search_paused)
        BEGIN
            INSERT INTO photo_search (photo_search, rowid, text) VALUES ('delete', \(place("old")), \(mark("old")));
            INSERT INTO photo_search (rowid, text) VALUES (\(place("new")), \(mark("new")));
        END;
        """

    static let update = """
        CREATE TRIGGER photo_search_update AFTER UPDATE OF id, created_at, taken_at, search_text ON photos
        WHEN \(isMovedOrRenamed) BEGIN
            INSERT INTO photo_search (photo_search, rowid, text) VALUES ('delete', \(entry("old")));
            INSERT INTO photo_search (rowid, text) VALUES (\(entry("new")));
        END;
        """

    private static let isMovedOrRenamed =
        "old.id <> new.id OR old.shown_at <> new.shown_at OR old.search_text <> new.search_text"

    /// Enters photos without the help of the triggers: those with ids between two parameters.
    ///
    /// Places are sorted alone and the texts come to them afterwards, so that the sorting takes no more memory than the
    /// places: some 30 bytes for each photo.
    static let enterRange = """
        WITH places AS MATERIALIZED (
            SELECT \(place("p")) AS place, p.id FROM photos AS p NOT INDEXED WHERE p.id BETWEEN ? AND ? ORDER BY place)
        INSERT INTO photo_search (rowid, text)
            SELECT places.place, p.search_text || \(mark("p"))
            FROM places CROSS JOIN photos AS p NOT INDEXED ON p.id = places.id
        """

    /// Photos by a JSON list of their ids, the first parameter, each once; in the order of their places.
    private static let listed = """
        WITH places AS MATERIALIZED (
            SELECT \(place("p")) AS place, p.id FROM json_each(?1) AS l CROSS JOIN photos AS p NOT INDEXED ON p.id = l.value
            ORDER BY place)
        """
    private static let fromListed = "FROM places CROSS JOIN photos AS p NOT INDEXED ON p.id = places.id"

    /// Enters listed photos, and takes them out.
    static let enterListed = """
        \(listed) INSERT INTO photo_search (rowid, text) SELECT places.place, p.search_text || \(mark("p")) \(fromListed)
        """
    static let removeListed = """
        \(listed) INSERT INTO photo_search (photo_search, rowid, text)
            SELECT 'delete', places.place, p.search_text || \(mark("p")) \(fromListed)
        """

    /// The same with their marks alone.
    static let enterListedMarks = """
        \(listed) INSERT INTO photo_search (rowid, text) SELECT places.place, \(mark("p")) \(fromListed)
        """
    static let removeListedMarks = """
        \(listed) INSERT INTO photo_search (photo_search, rowid, text) SELECT 'delete', places.place, \(mark("p")) \(fromListed)
        """

    /// Of version 18: the trigger keeps out where many photos go, as the others do.
    static let pausedDeletion = """
        DROP TRIGGER photo_search_delete;
        CREATE TRIGGER photo_search_delete AFTER DELETE ON photos
        WHEN NOT EXISTS (SELECT 1 FROM photo_search_paused) BEGIN
            INSERT INTO photo_search (photo_search, rowid, text) VALUES ('delete', \(entry("old")));
        END;
        """

    /// Takes out the marks of a category's photos (the first parameter), in the order of their places.
    static let removeMarks = """
        INSERT INTO photo_search (photo_search, rowid, text)
            SELECT 'delete', \(place("p")), \(mark("p"))
            FROM photos AS p INDEXED BY photos_by_category WHERE p.category_id = ? ORDER BY \(place("p"))
        """

    /// Enters the marks that these photos have in another category: of the first parameter, for the second's photos.
    static let enterMarks = """
        INSERT INTO photo_search (rowid, text)
            SELECT \(place("p")), \(SearchMark.sql(category: "?1", isFavorite: "p.is_favorite"))
            FROM photos AS p INDEXED BY photos_by_category WHERE p.category_id = ?2 ORDER BY \(place("p"))
        """
}
