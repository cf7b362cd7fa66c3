import CatalogueTestSupport
import Database
import LibraryModel
import LibraryStorage
@testable import SQLiteCatalogue
import ServiceMesh
import TestSupport
import Testing

/// The plan of every statement that a search can run: on a catalogue of millions a wrong one costs seconds.
@Suite struct SearchPlanTests {
    private func plan(_ statement: PhotoStatement, in connection: Connection) throws -> String {
        try connection.query("EXPLAIN QUERY PLAN \(statement.sql)", values: statement.values) {
            try $0["detail"] as String
        }.joined(separator: "; ")
    }

    private func check(_ connection: Connection) throws {
        let place = "1400000000000.5"
        let (from, to) = (LocalDateTime(milliseconds: 1), LocalDateTime(milliseconds: 1_500_000_000_000))
        let beach = FoundWords(try #require(try SearchWords(text: "beach", words: nil)))
        let sieve = try #require(beach.sieve)
        for (category, isFavorite, index, equal) in [
            (nil, false, "photos_by_date", []), (3, false, "photos_by_category", ["category_id=?"]),
            (nil, true, "photos_favorite", []), (3, true, "photos_favorite_by_category", ["category_id=?"]),
        ] as [(Int64?, Bool, String, [String])] {
            for (from, to, after) in [(nil, nil, nil), (from, to, nil), (nil, nil, place), (from, to, place)]
                as [(LocalDateTime?, LocalDateTime?, String?)]
            {
                let filter = try SQLFilter(
                    IndexFilter(
                        PhotoFilter(categoryId: category, from: from, to: to, favoritesOnly: isFavorite), after: after),
                    in: connection)
                let lower = from == nil ? [] : ["shown_at>?"]
                let upper = to == nil && after == nil ? [] : ["shown_at<?"]
                var terms = [equal + lower + upper]
                // Among photos of one date, the index finds the cursor's place by the id.
                if after != nil { terms.insert(equal + ["shown_at=?", "id<?"], at: 0) }
                #expect(filter.ranges.count == terms.count)
                for (range, terms) in zip(filter.ranges, terms) {
                    let search =
                        terms.isEmpty
                        ? "SCAN p USING INDEX \(index)"
                        : "SEARCH p USING INDEX \(index) (\(terms.joined(separator: " AND ")))"
                    for words in [[], ["be"], ["be", "ach"]] {
                        let found = try SearchWords(text: nil, words: words).map { FoundWords($0) }
                        #expect(
                            try plan(.walk(filter, range, containing: found, limit: 101), in: connection) == search)
                    }
                    #expect(try plan(.date(after: 1000, filter, range), in: connection) == search)
                    for arm in filter.arms {
                        let counted = try plan(.count(filter, arm, range), in: connection)
                        #expect(counted.replacing("COVERING ", with: "") == search)
                    }
                }
                let selection = try PhotoIDQuery(
                    SelectPhotos(
                        PhotoFilter(words: ["be"], categoryId: category, from: from, to: to, favoritesOnly: isFavorite),
                        firstId: 3, lastId: 9))
                let ofSelection = try SQLFilter(selection.filter, in: connection)
                let ids = try plan(.ids(selection, ofSelection, containing: beach, limit: 256), in: connection)
                #expect(ids.hasPrefix("SEARCH p USING INTEGER PRIMARY KEY (rowid>? AND rowid<?") && !ids.contains(";"))
                let places = filter.searchPlaces
                let matches = try plan(
                    .matches(sieve, filter, containing: beach, places: places.first...places.last, limit: 101),
                    in: connection)
                // In the order of places, from the first to the last.
                #expect(matches.hasPrefix("SCAN s VIRTUAL TABLE INDEX 64:M"))
                #expect(matches.contains("><"))
                #expect(!matches.contains("TEMP B-TREE"))
                #expect(matches.contains("SEARCH p USING INDEX photos_by_place (<expr>=?"))
                let match = try plan(.match(at: 1, filter, containing: beach), in: connection)
                #expect(match.hasPrefix("SEARCH p USING INDEX photos_by_place (<expr>=?"))
                let total = try plan(.total(sieve, filter, containing: beach), in: connection)
                #expect(total.contains("SEARCH p USING INDEX photos_by_place (<expr>=?"))
                #expect(try plan(.allMatches(sieve, filter, containing: beach), in: connection) == total)
            }
        }
        #expect(try plan(.photo(1), in: connection) == "SEARCH p USING INTEGER PRIMARY KEY (rowid=?)")
        #expect(
            try plan(.photo(1, SQLFilter(IndexFilter(PhotoFilter()), in: connection)), in: connection)
                == "SEARCH p USING INTEGER PRIMARY KEY (rowid=?)")
        #expect(
            try plan(.frequencies(["bea", "ach"], newest: 64), in: connection).contains(
                "SCAN photos USING INDEX photos_by_date"))
        #expect(try plan(.count(sieve), in: connection).contains("photo_search VIRTUAL TABLE INDEX 0:M"))
        let named = try plan(.places(sieve, in: 1...5, limit: 501), in: connection)
        #expect(named.hasPrefix("SCAN s VIRTUAL TABLE INDEX 64:M") && named.contains("><"))
        #expect(!named.contains("TEMP B-TREE"))
    }

    /// Of a child's device, which sees some categories: each is walked in its own index, and SQLite merges them.
    private func checkScope(_ connection: Connection) throws {
        let scope = CategoryScope([3, 5])
        let (from, place) = (LocalDateTime(milliseconds: 1), "1400000000000.5")
        let wanted: [(PhotoFilter, String)] = [
            (PhotoFilter(), "photos_by_category"), (PhotoFilter(reviewed: true), "photos_by_category"),
            (PhotoFilter(hasCamera: false), "photos_by_category"), (PhotoFilter(kind: .film), "photos_by_category"),
            (PhotoFilter(from: from, favoritesOnly: true), "photos_favorite_by_category"),
        ]
        for (wanted, index) in wanted {
            for after in [nil, place] {
                let filter = try SQLFilter(IndexFilter(wanted, after: after).within(scope), in: connection)
                #expect(filter.index == index && filter.arms.count == 2)
                for range in filter.ranges {
                    let walk = try plan(.walk(filter, range, limit: 101), in: connection)
                    #expect(walk.hasPrefix("MERGE (UNION ALL)"), "\(walk)")
                    #expect(walk.components(separatedBy: "SEARCH p USING INDEX \(index) (category_id=?").count == 3)
                    #expect(!walk.contains("TEMP B-TREE") && !walk.contains("SCAN"))
                    for arm in filter.arms {
                        let counted = try plan(.count(filter, arm, range), in: connection)
                        #expect(counted.contains("INDEX \(index) (category_id=?"), "\(counted)")
                    }
                }
                let total = try plan(.total(filter), in: connection)
                #expect(filter.canUseTotals || total.contains("INDEX \(index) (category_id=?"), "\(total)")
            }
        }
        let all = try SQLFilter(IndexFilter(PhotoFilter()).within(scope), in: connection)
        for statement in [PhotoStatement.total(all), .days(all)] {
            #expect(try !plan(statement, in: connection).contains("photos"))
        }
    }

    @Test func everyStatementUsesItsIndexWhateverTheStatistics() async throws {
        let folder = try TemporaryFolder()
        let database = try await DatabasePool.open(at: folder.file("c.sqlite"), schema: CatalogueSchema.schema)
        try await database.read { try check($0) }
        try await database.read { try checkScope($0) }
        // Statistics that would tempt a planner: one category, one date, nothing in order.
        try await database.write { connection in
            try connection.execute("INSERT INTO categories VALUES (3, 'a', 'a', 0, NULL, '#4CAF50', 0, 0)")
            let sample = SampleCatalogue()
            try PhotoTable(connection: connection).insert((0..<300).map { sample.photo($0, category: 3, takenAt: 5) })
            try connection.execute("ANALYZE")
        }
        try await database.read { try check($0) }
        try await database.read { try checkScope($0) }
        await database.close()
    }

    /// Lists of categories, the status and a health check do not count photos.
    @Test func countingTakesNoWalkOverThePhotos() async throws {
        let folder = try TemporaryFolder()
        let database = try await DatabasePool.open(at: folder.file("c.sqlite"), schema: CatalogueSchema.schema)
        let plans = try await database.read { connection in
            try [CategoryTable.all, PhotoTable.totals].flatMap { sql in
                try connection.query("EXPLAIN QUERY PLAN \(sql)") { try $0["detail"] as String }
            }
        }
        #expect(!plans.isEmpty && plans.allSatisfy { !$0.contains("photos") && !$0.contains(" p ") }, "\(plans)")
        await database.close()
    }
}
