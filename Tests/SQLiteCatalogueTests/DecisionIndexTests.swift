import CatalogueTestSupport
import Database
import LibraryModel
import LibraryStorage
@testable import SQLiteCatalogue
import ServiceMesh
import Synchronization
import TestSupport
import Testing

/// Decisions that come many at a time: written at once, and indexed before anybody can see that they were not.
@Suite struct DecisionIndexTests {
    private func filled(_ folder: TemporaryFolder, photos: Int = 4) async throws -> SQLiteCatalogue {
        let catalogue = try await SQLiteCatalogue(at: folder.file("c.sqlite"))
        try await catalogue.database.write { connection in
            try connection.execute("INSERT INTO categories VALUES (3, 'a', 'a', 0, NULL, '#4CAF50', 0, 0)")
            let sample = SampleCatalogue()
            try PhotoTable(connection: connection).insert(
                (0..<photos).map { sample.photo($0, category: 3, takenAt: 5) })
            _ = try SwipeTable(connection: connection).start("a", at: Timestamp(milliseconds: 1))
        }
        return catalogue
    }

    private static func decision(_ photo: Photo, _ action: SwipeAction) -> SwipeDecision {
        SwipeDecision(session: "a", photo: photo.uuid, contentDigest: photo.contentDigest, action: action)
    }

    /// As while others write: none of these is indexed.
    private static func record(
        _ decisions: [(photo: Int64, action: SwipeAction)], in connection: Connection
    ) throws {
        let swipes = SwipeTable(connection: connection, index: DecisionIndex())
        for (number, decision) in decisions.enumerated() {
            let photo = try PhotoTable(connection: connection).require(.id(decision.photo))
            let action = try swipes.record(
                Self.decision(photo, decision.action), at: Timestamp(milliseconds: Int64(number)))
            #expect(action?.photoIdentifier == photo.uuid)
        }
    }

    private static func waiting(_ connection: Connection) throws -> Int {
        try connection.value("SELECT count(*) FROM swipe_actions WHERE is_indexed = 0") ?? 0
    }

    private static func said(_ connection: Connection) throws -> [SwipeAction?] {
        try PhotoTable(connection: connection).require([1, 2, 3, 4].map(PhotoKey.id)).map(\.lastDecision)
    }

    /// Each decision asks for the latest before it: however many there are, the index says it without a look at the others.
    @Test func theLatestDecisionIsFoundInTheIndex() async throws {
        let folder = try TemporaryFolder()
        let catalogue = try await filled(folder)
        let steps = try await catalogue.database.read { connection in
            try connection.query("EXPLAIN SELECT " + SwipeTable.latestTime(of: "?1"), "a") {
                try $0["opcode"] as String
            }
        }
        // From the end of the photo's, of which the first is the one.
        #expect(steps.first { $0.hasPrefix("Seek") } == "SeekLE", "\(steps)")
        await catalogue.close()
    }

    /// Also those that a daemon which was killed had left.
    @Test func whoReadsSeesEveryDecision() async throws {
        let folder = try TemporaryFolder()
        var catalogue = try await filled(folder)
        try await catalogue.database.write { connection in
            try Self.record([(1, .keep), (2, .trash), (1, .favorite)], in: connection)
            #expect(try Self.said(connection) == [nil, nil, nil, nil] && Self.waiting(connection) == 3)
        }
        await catalogue.close()
        catalogue = try await SQLiteCatalogue(at: folder.file("c.sqlite"))
        let found = try await catalogue.read { transaction in
            try transaction.photos.require([1, 2, 3, 4].map(PhotoKey.id)).map(\.lastDecision)
        }
        #expect(found == [.favorite, .trash, nil, nil])
        #expect(try await catalogue.database.read { try Self.waiting($0) } == 0)
        await catalogue.close()
    }

    @Test func whoeverAsksAfterAReplySeesTheDecision() async throws {
        let folder = try TemporaryFolder()
        let catalogue = try await filled(folder, photos: 300)
        let photos = try await catalogue.read { try $0.photos.require((1...300).map(PhotoKey.id)) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for photo in photos {
                group.addTask {
                    for action in [SwipeAction.trash, .keep] {
                        let made = try await catalogue.write {
                            try $0.swipes.record(Self.decision(photo, action), at: Timestamp(milliseconds: 1))
                        }
                        #expect(made?.action == action)
                        let found = try await catalogue.read { try $0.photos.require(.id(photo.id)) }
                        #expect(found.lastDecision == action)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await catalogue.database.read { try Self.waiting($0) } == 0)
        await catalogue.close()
    }

    @Test func writersAloneIndexAtOnce() async throws {
        let folder = try TemporaryFolder()
        let catalogue = try await filled(folder)
        let photos = try await catalogue.read { try $0.photos.require([1, 2].map(PhotoKey.id)) }
        for photo in photos {
            _ = try await catalogue.write {
                try $0.swipes.record(Self.decision(photo, .keep), at: Timestamp(milliseconds: 1))
            }
            #expect(try await catalogue.database.read { try Self.waiting($0) } == 0)
        }
        await catalogue.close()
    }

    /// A change answers with photos as they are, in the middle of many decisions too.
    @Test func whoChangesPhotosSeesEveryDecision() async throws {
        let folder = try TemporaryFolder()
        let catalogue = try await filled(folder)
        try await catalogue.database.write { connection in
            try Self.record([(1, .keep), (2, .trash)], in: connection)
        }
        let said = try await catalogue.write { try $0.photos.require([1, 2].map(PhotoKey.id)).map(\.lastDecision) }
        #expect(said == [.keep, .trash])
        await catalogue.close()
    }

    /// So that what they show is asked for again, which indexes it.
    @Test func observersOfPhotosHearOfEachDecision() async throws {
        let folder = try TemporaryFolder()
        let catalogue = try await filled(folder)
        let heard = Mutex<[Set<CataloguePart>]>([])
        catalogue.onCommit { parts in heard.withLock { $0.append(parts) } }
        try await catalogue.database.write { try Self.record([(1, .keep)], in: $0) }
        #expect(heard.withLock { $0 } == [[.swipeActions, .photos]])
        await catalogue.close()
    }

    @Test func whatTakesDecisionsBackOrAppliesThemKnowsAllOfThem() async throws {
        let folder = try TemporaryFolder()
        let catalogue = try await filled(folder)
        try await catalogue.database.write { connection in
            let swipes = SwipeTable(connection: connection)
            try Self.record([(1, .keep), (2, .trash), (1, .favorite)], in: connection)
            #expect(try swipes.undo(session: "a", count: 1).map(\.action) == [.favorite])
            #expect(try Self.said(connection) == [.keep, .trash, nil, nil])

            try Self.record([(2, .keep), (3, .trash)], in: connection)
            let effective = try swipes.process(session: nil, limit: 9).effective
            #expect(effective.map(\.action) == [.keep, .trash, .keep])
            #expect(try Self.said(connection) == [.keep, .keep, .trash, nil])

            try Self.record([(4, .favorite)], in: connection)
            try swipes.finish("a", at: Timestamp(milliseconds: 9))
            #expect(try swipes.deleteProcessed([1, 2, 3, 4, 5]) == 4)
            #expect(try Self.said(connection) == [.keep, .keep, .trash, .favorite])
            #expect(try swipes.require("a").photosProcessed == 4)
        }
        await catalogue.close()
    }

    /// Of a photo that went to the trash, or has another picture, since it was decided about.
    @Test func aDecisionIsAboutThePictureThatWasShown() async throws {
        let folder = try TemporaryFolder()
        let catalogue = try await filled(folder)
        try await catalogue.database.write { connection in
            let (photos, trash) = (PhotoTable(connection: connection), TrashTable(connection: connection))
            try Self.record([(1, .trash), (2, .trash), (3, .keep)], in: connection)
            #expect(try trash.add([try photos.require(.id(1))], at: .now()) == 1)
            var other = try photos.require(.id(2))
            other.contentDigest = String(repeating: "0", count: 64)
            _ = try photos.setFiles(of: other, line: nil, of: nil)
            #expect(try SwipeTable(connection: connection).indexDecisions(limit: 2) == false)
            #expect(try Self.waiting(connection) == 1)
            #expect(try SwipeTable(connection: connection).indexDecisions(limit: 2))
            #expect(try photos.require([.id(2), .id(3)]).map(\.lastDecision) == [nil, .keep])
            let trashed: String? = try connection.value("SELECT last_decision FROM trash WHERE id = 1")
            #expect(trashed == "trash")
        }
        await catalogue.close()
    }

    @Test func noMoreWaitThanTheLimit() async throws {
        let folder = try TemporaryFolder()
        let catalogue = try await filled(folder)
        try await catalogue.database.write { connection in
            let swipes = SwipeTable(connection: connection, index: DecisionIndex())
            let photo = try PhotoTable(connection: connection).require(.id(1))
            for _ in 0..<DecisionIndex.limit + 10 {
                _ = try swipes.record(Self.decision(photo, .keep), at: Timestamp(milliseconds: 1))
            }
            #expect(try Self.waiting(connection) < DecisionIndex.limit)
        }
        await catalogue.close()
    }
}
