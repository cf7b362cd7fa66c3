import CatalogueTestSupport
import Database
import Foundation
import LibraryModel
import LibraryStorage
@testable import SQLiteCatalogue
import ServiceMesh
import TestSupport
import Testing

/// Photos that change together: the text index is told of them by statements of their own, and has to have what the triggers
/// would have put there.
@Suite struct ManyPhotosTests {
    private static let count = 11_000

    private struct Filled {
        let folder: TemporaryFolder
        let database: DatabasePool
        var path: String { folder.file("c.sqlite") }

        init() async throws {
            folder = try TemporaryFolder()
            database = try await DatabasePool.open(at: folder.file("c.sqlite"), schema: CatalogueSchema.schema)
            try await database.write { connection in
                for id in 1...3 as ClosedRange<Int64> {
                    try connection.execute(
                        "INSERT INTO categories VALUES (?, ?, ?, ?, NULL, '#4CAF50', 0, 0)", id, "c\(id)", "c\(id)", id)
                }
                var sample = SampleCatalogue(seed: 5)
                try PhotoTable(connection: connection).insert(sample.photos(count, categories: [1, 2]))
            }
        }

        func check(_ what: String) async throws {
            do {
                try await database.write {
                    try $0.execute("INSERT INTO photo_search (photo_search, rank) VALUES ('integrity-check', 1)")
                }
            } catch {
                Issue.record("the text index after \(what): \(error)")
            }
        }

        func number(_ sql: String) async throws -> Int { try await database.read { try $0.value(sql) ?? -1 } }

        func end() async throws {
            await database.close()
            #expect(try await catalogueProblems(at: path).isEmpty)
        }
    }

    /// As somebody may name them: in any order, some twice.
    private static func some(_ connection: Connection, _ part: Int64) throws -> [Photo] {
        let ids = (1...Int64(count)).filter { ($0 &* 2_654_435_761) % 5 < part }.reversed()
        let photos = try PhotoTable(connection: connection).require(ids.map { .id($0) })
        return photos + photos.prefix(100)
    }

    @Test func marksChangeTogether() async throws {
        let filled = try await Filled()
        let named = try await filled.database.read { try Set(Self.some($0, 3).map(\.id)) }
        let others = try await filled.number("SELECT count(*) FROM photos WHERE category_id = 1")
        let moved = try await filled.database.write { connection in
            try PhotoTable(connection: connection).move(Self.some(connection, 3), to: 2)
        }
        try await filled.check("a move")
        #expect(try await filled.number("SELECT count(*) FROM photos WHERE category_id = 1") == others - moved)
        #expect((1_000..<named.count).contains(moved))
        let marked = try await filled.database.write { connection in
            try PhotoTable(connection: connection).setFavorite(true, of: Self.some(connection, 3))
        }
        try await filled.check("favourites")
        #expect((1_000...named.count).contains(marked))
        let again = try await filled.database.write { connection in
            try PhotoTable(connection: connection).setFavorite(true, of: Self.some(connection, 3))
        }
        #expect(again == 0)
        try await filled.check("the same favourites")
        try await filled.end()
    }

    @Test func photosGoToTheTrashAndComeBackTogether() async throws {
        let filled = try await Filled()
        let time = Timestamp(milliseconds: 1_790_000_000_000)
        let named = try await filled.database.read { try Set(Self.some($0, 2).map(\.id)) }
        let gone = try await filled.database.write { connection in
            try TrashTable(connection: connection).add(Self.some(connection, 2), at: time)
        }
        #expect(gone == named.count)
        try await filled.check("the trash")
        #expect(try await filled.number("SELECT count(*) FROM trash") == gone)
        #expect(try await filled.number("SELECT count(*) FROM photos") == Self.count - gone)
        // A category with all that is in it, and one of whose photos another has the place by now.
        let category = try await filled.database.write { connection in
            try TrashTable(connection: connection).add(category: 2, at: time)
        }
        try await filled.check("a category in the trash")
        #expect(try await filled.number("SELECT count(*) FROM photos WHERE category_id = 2") == 0)
        let ids = try await filled.database.read {
            try $0.query("SELECT id FROM trash ORDER BY random()") { try $0[0] as Int64 }
        }
        #expect(ids.count == gone + category)
        let staying = try await filled.database.write { try TrashTable(connection: $0).restore(ids) }
        #expect(staying.isEmpty)
        try await filled.check("the way back")
        #expect(try await filled.number("SELECT count(*) FROM photos") == Self.count)
        #expect(try await filled.number("SELECT count(*) FROM trash") == 0)
        try await filled.end()
    }

    /// All or none, and the triggers are there again afterwards.
    @Test func whatFailsInTheMiddleLeavesEverythingAsItWas() async throws {
        let filled = try await Filled()
        _ = try await filled.database.write { connection in
            try TrashTable(connection: connection).add(Self.some(connection, 2), at: Timestamp(milliseconds: 0))
        }
        let trashed = try await filled.number("SELECT count(*) FROM trash")
        let ids = try await filled.database.read { try $0.query("SELECT id FROM trash") { try $0[0] as Int64 } }
        await #expect(throws: CatalogueError.self) {
            try await filled.database.write { connection in
                _ = try connection.inSavepoint { try TrashTable(connection: connection).restore(ids + [999_999]) }
            }
        }
        #expect(try await filled.number("SELECT count(*) FROM trash") == trashed)
        #expect(try await filled.number("SELECT count(*) FROM photo_search_paused") == 0)
        try await filled.check("a failed way back")
        try await filled.database.write { try $0.execute("DELETE FROM photos WHERE id % 11 = 0") }
        try await filled.check("a deletion by the trigger")
        try await filled.end()
    }

    /// Those of which something has to be decided are among the others: a picture that the library has by now, one that is in the
    /// trash twice, a category that is gone, an id that is another photo's.
    @Test func whatNeedsADecisionComesBackAsItWouldAlone() async throws {
        func outcome(together: Bool) async throws -> [String] {
            let filled = try await Filled()
            let (staying, purged) = try await filled.database.write { connection -> (Int, Int) in
                let trash = TrashTable(connection: connection)
                _ = try trash.add(
                    PhotoTable(connection: connection).require((1...600).map { .id($0) }),
                    at: Timestamp(milliseconds: 1))
                // By ids that leave none of them the first or the last of its part.
                try connection.execute(
                    "UPDATE photos SET source_digest = (SELECT source_digest FROM trash WHERE id = 50) WHERE id = 700")
                try connection.execute("UPDATE photos SET uuid = (SELECT uuid FROM trash WHERE id = 51) WHERE id = 701")
                try connection.execute(
                    "UPDATE trash SET source_digest = (SELECT source_digest FROM trash WHERE id = 60) WHERE id IN (61, 62)"
                )
                try connection.execute("UPDATE trash SET uuid = (SELECT uuid FROM trash WHERE id = 70) WHERE id = 71")
                try connection.execute(
                    "UPDATE trash SET category_id = 99, category_name = 'gone', category_position = 1 WHERE id IN (80, 81)"
                )
                try connection.execute("UPDATE trash SET category_id = 98, category_name = 'c3' WHERE id = 82")
                try connection.execute("UPDATE photos SET id = 90 WHERE id = 790")
                let ids = [Int64](1...500)
                let staying =
                    try together ? trash.restore(ids) : ids.flatMap { try trash.restore([$0]) }
                let rest = [Int64](501...600)
                let files = try together ? trash.purge(rest) : rest.flatMap { try trash.purge([$0]) }
                #expect(staying.map(\.id) == [50, 51, 61, 62, 71])
                return (staying.count, files.count)
            }
            try await filled.check("restoring some")
            let lines = try await filled.database.read { connection in
                try [
                    "SELECT uuid || path || source_digest || search_text || created_at AS c FROM photos ORDER BY uuid",
                    "SELECT p.uuid || c.display_name || c.position AS c FROM photos p JOIN categories c ON c.id = p.category_id ORDER BY 1",
                    "SELECT id AS c FROM trash ORDER BY id", "SELECT path AS c FROM discarded_files ORDER BY path",
                    "SELECT category_id || ' ' || photos AS c FROM category_totals ORDER BY 1",
                ].flatMap { try connection.query("SELECT CAST(t.c AS TEXT) FROM (\($0)) AS t") { try $0[0] as String } }
            }
            try await filled.end()
            return lines + ["\(staying) \(purged)"]
        }
        let (one, other) = (try await outcome(together: true), try await outcome(together: false))
        #expect(one == other, "\(Set(one).symmetricDifference(other).prefix(10))")
    }
}
