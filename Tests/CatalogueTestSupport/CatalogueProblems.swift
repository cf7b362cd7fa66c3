import Database
import SQLiteCatalogue

/// What is wrong with a catalogue that nobody has open: SQLite's own check, that the text index says of every photo
/// what the photo says, and that the totals are right, those of cameras too. Empty where all is well.
public func catalogueProblems(at path: String) async throws -> [String] {
    let database = try await DatabasePool.open(at: path, schema: CatalogueSchema.schema)
    var problems = try await database.integrityCheck()
    do {
        try await database.write {
            try $0.execute("INSERT INTO photo_search (photo_search, rank) VALUES ('integrity-check', 1)")
        }
    } catch {
        problems.append("text index: \(error)")
    }
    problems += try await database.read { connection in
        try connection.query(
            """
            SELECT category_id, photos, favorites, bytes FROM category_totals EXCEPT
            SELECT c.id, count(p.id), coalesce(sum(p.is_favorite), 0), coalesce(sum(p.file_size), 0)
            FROM categories c LEFT JOIN photos p ON p.category_id = c.id GROUP BY c.id
            """
        ) { "totals of \(try $0[0] as Int64) are wrong" }
            + connection.query(
                """
                WITH counted (day, category_id, photos, favorites) AS (
                    SELECT floor(shown_at / 86400000.0), category_id, count(*), sum(is_favorite) FROM photos GROUP BY 1, 2)
                SELECT day FROM (SELECT * FROM photo_days EXCEPT SELECT * FROM counted)
                UNION SELECT day FROM (SELECT * FROM counted EXCEPT SELECT * FROM photo_days)
                """
            ) { "photos of day \(try $0[0] as Int64) are counted wrong" }
    }
    problems += try await database.read { connection in
        let counted = "SELECT camera, count(*) FROM photos WHERE camera IS NOT NULL GROUP BY camera"
        return try connection.query(
            """
            SELECT * FROM (SELECT name, photos FROM cameras EXCEPT \(counted)) UNION ALL
            SELECT * FROM (\(counted) EXCEPT SELECT name, photos FROM cameras)
            """
        ) { "the count of the camera '\(try $0[0] as String)' is wrong" }
    }
    await database.close()
    return problems
}
