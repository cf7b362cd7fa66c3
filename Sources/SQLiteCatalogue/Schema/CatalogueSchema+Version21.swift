import Database

/// What version 21 brought: what the files were called that photos came from, texts without the library's own file names, and the
/// decisions about a photo in the order of their times. Each new one asks for the latest of them: with their ids in between, that
/// was a look at all, the slower the more often a photo was decided about.
extension CatalogueSchema {
    static func nameSources(_ connection: Connection) throws {
        try connection.executeScript(
            """
            ALTER TABLE photos ADD COLUMN source_name TEXT;
            ALTER TABLE trash ADD COLUMN source_name TEXT;
            DROP TRIGGER photo_search_update;
            DROP INDEX swipe_actions_by_photo;
            CREATE INDEX swipe_actions_by_photo ON swipe_actions (photo_uuid, decided_at, id) WHERE is_indexed = 1;
            """)
        try writeSearchTexts(connection)
        // All entries lose a part, so the index is made anew: to take each out and enter it again takes twice as long.
        try connection.execute("INSERT INTO photo_search (photo_search) VALUES ('delete-all')")
        try connection.execute(SearchMarkSchema.enterRange, Int64.min, Int64.max)
        try connection.execute(SearchMarkSchema.update)
    }

    /// SQLite's `lower` is folding where all is ASCII, as most is.
    private static func writeSearchTexts(_ connection: Connection) throws {
        try connection.execute(
            """
            UPDATE photos SET search_text = lower(name) || char(10) || lower(coalesce(caption, ''))
            WHERE length(CAST(name AS BLOB)) = length(name) AND length(CAST(caption AS BLOB)) IS length(caption)
            """)
        var last = Int64.min
        while true {
            var texts: [(id: Int64, text: String)] = []
            let after = last
            try connection.forEach(
                """
                SELECT id, name, caption FROM photos WHERE id > ?
                    AND NOT (length(CAST(name AS BLOB)) = length(name) AND length(CAST(caption AS BLOB)) IS length(caption))
                ORDER BY id LIMIT 1000
                """, after
            ) { row in
                last = try row[0]
                // What cannot be read keeps its text.
                guard let name = row.rawBytes(1).flatMap({ String(validating: $0, as: UTF8.self) }),
                    let caption = String(validating: row.rawBytes(2) ?? [], as: UTF8.self)
                else { return }
                texts.append((try row[0], PhotoTable.searchText(name: name, sourceName: nil, caption: caption)))
            }
            for (id, text) in texts {
                try connection.execute("UPDATE photos SET search_text = ? WHERE id = ?", text, id)
            }
            if last == after { return }
        }
    }
}
