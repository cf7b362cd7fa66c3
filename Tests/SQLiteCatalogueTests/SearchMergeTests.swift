import CatalogueTestSupport
import Database
import LibraryStorage
@testable import SQLiteCatalogue
import TestSupport
import Testing

/// Segments of the text index are merged a few pages at a time, and never many in one write.
@Suite struct SearchMergeTests {
    @Test func segmentsStayFewWhereEachWriteAddsOne() async throws {
        let folder = try TemporaryFolder()
        let database = try await DatabasePool.open(at: folder.file("c.sqlite"), schema: CatalogueSchema.schema)
        try await database.write { connection in
            try connection.execute("INSERT INTO categories VALUES (1, 'c', 'c', 0, NULL, '#4CAF50', 0, 0)")
        }
        var most = 0
        for portion in 0..<150 {
            try await database.write { connection in
                let sample = SampleCatalogue()
                let photos = (portion * 20..<(portion + 1) * 20).map {
                    sample.photo($0, category: 1, caption: "words of \($0 &* 7919)", takenAt: Int64($0) << 25)
                }
                try PhotoTable(connection: connection).insert(photos)
            }
            most = max(most, try await Self.segments(in: database))
        }
        // As many as FTS5's own merging leaves: four to a level, and what a step has not come to.
        #expect(most < 24)
        #expect(most > 1)
        await database.close()
    }

    @Test func theIndexDoesNotMergeByItself() async throws {
        let folder = try TemporaryFolder()
        let database = try await DatabasePool.open(at: folder.file("c.sqlite"), schema: CatalogueSchema.schema)
        let settings = try await database.read { connection in
            try connection.query("SELECT k || ' ' || v FROM photo_search_config ORDER BY k") { row in
                try row[0] as String
            }
        }
        #expect(settings.contains("automerge 0"))
        await database.close()
    }

    private static func segments(in database: DatabasePool) async throws -> Int {
        try await database.read {
            try $0.first("SELECT count(DISTINCT segid) FROM photo_search_idx") { row in try row[0] }
        } ?? 0
    }
}
