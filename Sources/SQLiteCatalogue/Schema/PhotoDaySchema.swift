/// Photos counted by day, category by category, so that nobody who shows a long list has to count it.
///
/// A day is a number: days since 1970-01-01 on the clock by which photos are listed, which may be negative. Only days with
/// photos have rows. Triggers keep the counts: one more small write for each photo that comes, goes, or changes its day,
/// category or mark, in a table that is in memory while many do.
enum PhotoDaySchema {
    static let script = """

        CREATE TABLE photo_days (
            day INTEGER NOT NULL,
            category_id INTEGER NOT NULL,
            photos INTEGER NOT NULL,
            favorites INTEGER NOT NULL,
            PRIMARY KEY (day, category_id)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO photo_days (day, category_id, photos, favorites)
            SELECT \(day("photos")), category_id, count(*), sum(is_favorite) FROM photos GROUP BY 1, 2;

        CREATE TRIGGER photo_days_insert AFTER INSERT ON photos BEGIN
            \(enter)
        END;
        CREATE TRIGGER photo_days_delete AFTER DELETE ON photos BEGIN
            \(leave)
        END;
        CREATE TRIGGER photo_days_update AFTER UPDATE OF category_id, is_favorite, created_at, taken_at ON photos
        WHEN old.category_id <> new.category_id OR old.is_favorite <> new.is_favorite OR old.shown_at <> new.shown_at
        BEGIN
            \(leave)
            \(enter)
        END;
        """

    /// SQLite rounds a quotient towards zero, and days before 1970 begin before their first second as well.
    private static func day(_ row: String) -> String {
        "\(row).shown_at / 86400000 - (\(row).shown_at % 86400000 < 0)"
    }

    private static let enter = """
        INSERT INTO photo_days (day, category_id, photos, favorites)
            VALUES (\(day("new")), new.category_id, 1, new.is_favorite)
            ON CONFLICT (day, category_id) DO UPDATE SET photos = photos + 1, favorites = favorites + new.is_favorite;
        """

    private static let leave = """
        UPDATE photo_days SET photos = photos - 1, favorites = favorites - old.is_favorite
            WHERE day = \(day("old")) AND category_id = old.category_id;
        DELETE FROM photo_days WHERE day = \(day("old")) AND category_id = old.category_id AND photos = 0;
        """
}
