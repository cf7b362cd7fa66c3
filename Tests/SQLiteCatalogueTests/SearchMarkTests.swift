import CatalogueTestSupport
import Database
import LibraryModel
import LibraryStorage
@testable import SQLiteCatalogue
import ServiceMesh
import TestSupport
import Testing
import TextFolding

/// Categories and marks in the text index: the same in SQL and Swift, in step with every change, and a sieve only.
@Suite struct SearchMarkTests {
    private static let categories: [Int64] = [1, 5, 63, 64, 4095, 4096, 4101, 1 << 40, .max, 0, -1, .min]

    @Test func marksAreTheSameInSQLAndSwift() async throws {
        let folder = try TemporaryFolder()
        let database = try await DatabasePool.open(at: folder.file("c.sqlite"), schema: CatalogueSchema.schema)
        try await database.read { connection in
            for category in Self.categories {
                for isFavorite in [false, true] {
                    let mark =
                        try connection.value(
                            "SELECT " + SearchMark.sql(category: "?1", isFavorite: "?2"), category, isFavorite)
                        as String?
                    let scalars = Array(try #require(mark).unicodeScalars)
                    let trigrams = Set(
                        (0..<scalars.count - 2).map { String(String.UnicodeScalarView(scalars[$0..<$0 + 3])) })
                    #expect(trigrams.count == (isFavorite ? 5 : 2))
                    for (asked, favoritesOnly) in [(category, false), (category, true), (nil, true)] {
                        let trigram = try #require(
                            SearchMark.trigram(category: asked, favoritesOnly: favoritesOnly))
                        #expect(trigrams.contains(trigram) == (isFavorite || !favoritesOnly))
                    }
                    // What folding leaves of it is not in it.
                    #expect(trigrams.isDisjoint(with: [try #require(mark).searchFolded]))
                    #expect(
                        try #require(mark).searchFolded.unicodeScalars.allSatisfy { "\nf".unicodeScalars.contains($0) })
                }
            }
        }
        #expect(SearchMark.trigram(category: nil, favoritesOnly: false) == nil)
        #expect(
            SearchMark.trigram(category: 1, favoritesOnly: false)
                != SearchMark.trigram(category: 64, favoritesOnly: false))
        await database.close()
    }

    /// Two categories with one mark, and a text that is in one of them.
    @Test func categoriesOfOneMarkAreKeptApart() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("c.sqlite")
        let database = try await DatabasePool.open(at: path, schema: CatalogueSchema.schema)
        try await database.write { connection in
            for id in [5, 4101] as [Int64] {
                try connection.execute(
                    "INSERT INTO categories VALUES (?, ?, ?, 0, NULL, '#4CAF50', 0, 0)", id, "c\(id)", "c\(id)")
            }
            let sample = SampleCatalogue()
            try PhotoTable(connection: connection).insert(
                (0..<900).map { sample.photo($0, category: 5, caption: "beach", takenAt: Int64($0) << 25) }
                    + (900..<1800).map { sample.photo($0, category: 4101, takenAt: Int64($0) << 25) })
        }
        #expect(
            SearchMark.trigram(category: 5, favoritesOnly: false)
                == SearchMark.trigram(category: 4101, favoritesOnly: false))
        try await database.read { connection in
            for (category, count) in [(5, 900), (4101, 0)] as [(Int64, Int)] {
                let query = try PhotoQuery(SearchPhotos(PhotoFilter(text: "each", categoryId: category), limit: 1000))
                #expect(try PhotoSearch(query, in: connection).page().photos.count == count)
                #expect(try PhotoSearch(query, in: connection).total() == count)
            }
        }
        await database.close()
    }

    @Test func marksFollowEveryChange() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("c.sqlite")
        let database = try await DatabasePool.open(at: path, schema: CatalogueSchema.schema)
        try await database.write { connection in
            for id in 1...3 as ClosedRange<Int64> {
                try connection.execute(
                    "INSERT INTO categories VALUES (?, ?, ?, 0, NULL, '#4CAF50', 0, 0)", id, "c\(id)", "c\(id)")
            }
            var sample = SampleCatalogue(seed: 11)
            try PhotoTable(connection: connection).insert(sample.photos(1200, categories: [1, 2]))
        }
        let changes: [(least: Int, change: @Sendable (Connection) throws -> Int)] = [
            (1, { try $0.execute("UPDATE photos SET is_favorite = 1 - is_favorite WHERE id = 7") }),
            (
                1,
                { connection in
                    let photos = PhotoTable(connection: connection)
                    return try photos.move([photos.require(.id(8))], to: 3)
                }
            ),
            (400, { try PhotoTable(connection: $0).moveAll(from: 1, to: 3) }),
            (0, { try PhotoTable(connection: $0).moveAll(from: 1, to: 3) }),
            (400, { try PhotoTable(connection: $0).moveAll(from: 3, to: 3) }),
            (
                400,
                { try $0.execute("UPDATE photos SET is_favorite = 1 - is_favorite, category_id = 1 WHERE id % 3 = 0") }
            ),
            // Everything at once: the text's trigger sees to the mark as well.
            (
                240,
                {
                    try $0.execute(
                        """
                        UPDATE photos SET is_favorite = 1, category_id = 2, taken_at = id, search_text = 'new words'
                        WHERE id % 5 = 0
                        """)
                }
            ),
            (100, { try $0.execute("UPDATE photos SET id = id + 10000, category_id = 3 WHERE id % 7 = 0") }),
            (1, { try $0.execute("DELETE FROM categories WHERE id = 2") }),
        ]
        for (index, (least, change)) in changes.enumerated() {
            let count = try await database.write { try change($0) }
            #expect(count >= least && (least > 0 || count == 0))
            do {
                try await database.write {
                    try $0.execute("INSERT INTO photo_search (photo_search, rank) VALUES ('integrity-check', 1)")
                }
            } catch {
                Issue.record("after change \(index): \(error)")
            }
        }
        await database.close()
        #expect(try await catalogueProblems(at: path).isEmpty)
    }

    /// Words that many photos have, but none of a category, of the favourites or of a time; before and after they change.
    @Test func whatIsApartIsFoundOnceItIsTogether() async throws {
        let folder = try TemporaryFolder()
        let database = try await DatabasePool.open(at: folder.file("c.sqlite"), schema: CatalogueSchema.schema)
        try await database.write { connection in
            for id in 1...2 as ClosedRange<Int64> {
                try connection.execute(
                    "INSERT INTO categories VALUES (?, ?, ?, 0, NULL, '#4CAF50', 0, 0)", id, "c\(id)", "c\(id)")
            }
            let sample = SampleCatalogue()
            try PhotoTable(connection: connection).insert(
                (0..<12_000).map {
                    let isBeach = $0.isMultiple(of: 2)
                    return sample.photo(
                        $0, category: isBeach ? 1 : 2, caption: isBeach ? "mowing" : nil, takenAt: Int64($0) << 25,
                        isFavorite: !isBeach)
                })
        }
        @Sendable func found(_ request: SearchPhotos, _ connection: Connection) throws -> [Int64] {
            let query = try PhotoQuery(request)
            let ids = try PhotoSearch(query, in: connection).page().photos.map(\.id)
            #expect(try PhotoSearch(query, in: connection).total() == ids.count)
            return ids
        }
        let requests = ["mowing", "owi", "mo", "w"].flatMap { text in
            [
                SearchPhotos(PhotoFilter(text: text, categoryId: 2)),
                SearchPhotos(PhotoFilter(text: text, favoritesOnly: true)),
                SearchPhotos(
                    PhotoFilter(text: text, categoryId: 2, from: LocalDateTime(milliseconds: 5), favoritesOnly: true)),
                SearchPhotos(PhotoFilter(text: text, from: LocalDateTime(milliseconds: 12_001 << 25))),
            ]
        }
        try await database.read { connection in
            for request in requests {
                let ids = try found(request, connection)
                #expect(ids.isEmpty, "\(request)")
            }
        }
        try await database.write { connection in
            let photos = PhotoTable(connection: connection)
            #expect(try photos.move([photos.require(.id(41))], to: 2) == 1)
            #expect(try photos.setFavorite(true, of: [photos.require(.id(41))]) == 1)
            try connection.execute("UPDATE photos SET taken_at = ? WHERE id = 41", 12_002 << 25 as Int64)
        }
        try await database.read { connection in
            for request in requests {
                let ids = try found(request, connection)
                #expect(ids == [41], "\(request)")
            }
        }
        await database.close()
    }
}
