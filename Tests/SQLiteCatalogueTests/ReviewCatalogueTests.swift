import CatalogueTestSupport
import Database
import Foundation
import LibraryModel
import LibraryStorage
@testable import SQLiteCatalogue
import ServiceMesh
import TestSupport
import Testing

/// What the catalogue keeps of reviews: how it is found, and when it is no longer true.
@Suite struct ReviewCatalogueTests {
    private func filled(_ folder: TemporaryFolder, photos: Int) async throws -> DatabasePool {
        let database = try await DatabasePool.open(at: folder.file("c.sqlite"), schema: CatalogueSchema.schema)
        try await database.write { connection in
            try connection.execute("INSERT INTO categories VALUES (3, 'a', 'a', 0, NULL, '#4CAF50', 0, 0)")
            let sample = SampleCatalogue()
            try PhotoTable(connection: connection).insert(
                (0..<photos).map { sample.photo($0, category: 3, takenAt: 5) })
        }
        return database
    }

    private func decision(_ photo: Photo, _ action: SwipeAction, session: String = "a") -> SwipeDecision {
        SwipeDecision(session: session, photo: photo.uuid, contentDigest: photo.contentDigest, action: action)
    }

    /// In the index alone, in its order, and no photo more than the page has.
    @Test func pagesOfAReviewAreFoundWithoutPassingOtherPhotos() async throws {
        let folder = try TemporaryFolder()
        let database = try await filled(folder, photos: 300)
        try await database.write { try $0.execute("ANALYZE") }
        try await database.read { connection in
            for (category, index, term) in [
                (nil, "photos_by_decision", "last_decision=?"),
                (3, "photos_by_category_and_decision", "category_id=? AND last_decision=?"),
            ] as [(Int64?, String, String)] {
                for (reviewed, decision, arms) in [
                    (false, nil, 1), (nil, .trash, 1), (true, nil, 3),
                ] as [(Bool?, SwipeAction?, Int)] {
                    let filter = try SQLFilter(
                        IndexFilter(
                            PhotoFilter(categoryId: category, reviewed: reviewed, decision: decision),
                            after: "1400000000000.5"), in: connection)
                    for range in filter.ranges {
                        for statement in [
                            PhotoStatement.walk(filter, range, containing: nil, limit: 101),
                            .walk(
                                filter, range,
                                containing: FoundWords(try #require(try SearchWords(text: "be", words: nil))),
                                limit: 101),
                            .date(after: 1000, filter, range),
                        ] {
                            let plan = try connection.query(
                                "EXPLAIN QUERY PLAN \(statement.sql)", values: statement.values
                            ) { try $0["detail"] as String }
                            let searches = plan.filter { $0.hasPrefix("SEARCH p USING ") }
                            #expect(searches.count == arms, "\(plan)")
                            #expect(searches.allSatisfy { $0.contains("\(index) (\(term) AND shown_at") }, "\(plan)")
                            #expect(!plan.contains { $0.contains("TEMP B-TREE") || $0.hasPrefix("SCAN") }, "\(plan)")
                        }
                    }
                    let total = PhotoStatement.total(filter.ofAllPages)
                    let plan = try connection.query("EXPLAIN QUERY PLAN \(total.sql)", values: total.values) {
                        try $0["detail"] as String
                    }
                    #expect(plan.allSatisfy { $0.contains("COVERING INDEX \(index)") }, "\(plan)")
                }
            }
            // Decisions of a photo or a session are a few in an index, and the history is read from its end.
            let swipes = SwipeTable(connection: connection)
            #expect(try swipes.decisions(session: "a", photo: "b", before: .max, limit: 9).isEmpty)
        }
        await database.close()
    }

    @Test func anotherPictureWasNotReviewed() async throws {
        let folder = try TemporaryFolder()
        let database = try await filled(folder, photos: 2)
        try await database.write { connection in
            let (photos, swipes) = (PhotoTable(connection: connection), SwipeTable(connection: connection))
            _ = try swipes.start("a", at: Timestamp(milliseconds: 1))
            var photo = try photos.require(.id(1))
            #expect(try swipes.record(self.decision(photo, .trash), at: Timestamp(milliseconds: 2)) != nil)
            photo = try photos.require(.id(1))
            #expect(photo.lastDecision == .trash)
            // Another caption is the same picture.
            photo.caption = "Meer"
            try photos.update(photo)
            #expect(try photos.require(.id(1)).lastDecision == .trash)
            photo.contentDigest = String(repeating: "0", count: 64)
            _ = try photos.setFiles(of: photo, line: nil, of: nil)
            #expect(try photos.require(.id(1)).lastDecision == nil)
            // The decision about the old one is no decision about this one, also when a later one is taken back.
            #expect(try swipes.record(self.decision(photo, .keep), at: Timestamp(milliseconds: 3)) != nil)
            #expect(try photos.require(.id(1)).lastDecision == .keep)
            #expect(try swipes.undo(session: "a", count: 1).count == 1)
            #expect(try photos.require(.id(1)).lastDecision == nil)
        }
        await database.close()
    }

    /// Of sessions from elsewhere that overlap, the order of their moments counts, as it does beside a decision from here.
    @Test func decisionsFromElsewhereAreTakenInTheirOrder() async throws {
        let folder = try TemporaryFolder()
        let database = try await filled(folder, photos: 2)
        try await database.write { connection in
            let (photos, swipes) = (PhotoTable(connection: connection), SwipeTable(connection: connection))
            let (first, second) = (try photos.require(.id(1)), try photos.require(.id(2)))
            _ = try swipes.start("a", at: Timestamp(milliseconds: 1))
            _ = try swipes.record(self.decision(second, .keep), at: Timestamp(milliseconds: 1))
            func record(_ session: String, _ actions: [(Photo, SwipeAction, Int64)]) -> SwipeRecord {
                SwipeRecord(
                    sessionID: session, startTime: Timestamp(milliseconds: 1), endTime: nil, forgottenPhotos: 7,
                    actions: actions.map { photo, action, time in
                        .init(
                            decision: self.decision(photo, action, session: session),
                            timestamp: Timestamp(milliseconds: time), isProcessed: false)
                    })
            }
            try swipes.insert([
                record("c", [(first, .favorite, 30), (first, .trash, 50)]),
                record("b", [(first, .keep, 40), (second, .trash, 60)]),
            ])
            #expect(
                try swipes.decisions(session: nil, photo: first.uuid, before: .max, limit: 9).map(\.action) == [
                    .trash, .keep, .favorite,
                ])
            #expect(try photos.require([.id(1), .id(2)]).map(\.lastDecision) == [.trash, .trash])
            #expect(try swipes.require("c").photosProcessed == 8)
            let effective = try swipes.process(session: nil, limit: 9).effective
            #expect(effective.map(\.action) == [.trash, .trash])
        }
        await database.close()
    }

    @Test func anOldCataloguesReviewsAreRemembered() async throws {
        let folder = try TemporaryFolder()
        let text = try Fixture.text("catalogue-v8.sql")
        let schema = Schema(
            applicationID: CatalogueSchema.applicationID,
            migrations: [Migration(version: 8, name: "as it was", script: text)])
        let old = try await DatabasePool.open(at: folder.file("c.sqlite"), schema: schema)
        await old.close()
        let database = try await DatabasePool.open(at: folder.file("c.sqlite"), schema: CatalogueSchema.schema)
        try await database.read { connection in
            let photos = PhotoTable(connection: connection)
            let found = try photos.require([1, 2, 3, 5, 6, 7].map(PhotoKey.id)).map(\.lastDecision)
            #expect(found == [.favorite, nil, .trash, .keep, .keep, nil])
            let sessions = try SwipeTable(connection: connection).sessions(limit: 9)
            // Two decisions about one photo in one of them.
            #expect(sessions.map(\.photosProcessed) == [2, 1, 2])
        }
        await database.close()
    }
}

private enum Fixture {
    static func text(_ name: String) throws -> String {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        return try String(contentsOf: tests.appendingPathComponent("Fixtures/\(name)"), encoding: .utf8)
    }
}
