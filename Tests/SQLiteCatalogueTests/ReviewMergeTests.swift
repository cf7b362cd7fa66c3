import CatalogueTestSupport
import Database
import LibraryModel
import LibraryStorage
import Randomness
@testable import SQLiteCatalogue
import ServiceMesh
import TestSupport
import Testing

/// Reviews of several machines in one catalogue: the same, in whichever order they come.
@Suite struct ReviewMergeTests {
    private func opened(_ folder: TemporaryFolder, _ name: String = "c", photos: Int = 3) async throws -> DatabasePool {
        let database = try await DatabasePool.open(at: folder.file(name), schema: CatalogueSchema.schema)
        try await database.write { connection in
            try connection.execute("INSERT INTO categories VALUES (3, 'a', 'a', 0, NULL, '#4CAF50', 0, 0)")
            let sample = SampleCatalogue()
            try PhotoTable(connection: connection).insert(
                (0..<photos).map { sample.photo($0, category: 3, takenAt: 5) })
        }
        return database
    }

    private static func decision(
        _ photo: Photo, _ action: SwipeAction, _ session: String, at time: Int64, uuid: String? = nil
    ) -> ReviewChanges.Decision {
        ReviewChanges.Decision(
            session: session, photo: uuid ?? photo.uuid, digest: photo.contentDigest, action: action,
            decidedAt: Timestamp(milliseconds: time))
    }

    private static func changes(
        _ decisions: [ReviewChanges.Decision] = [], undone: [ReviewChanges.Decision] = [],
        sessions: [ReviewChanges.Session] = []
    ) -> ReviewChanges {
        ReviewChanges(sessions: sessions, decisions: decisions, undone: undone, next: "", more: false)
    }

    private static func session(_ id: String, _ start: Int64, _ end: Int64?) -> ReviewChanges.Session {
        ReviewChanges.Session(
            id: id, startedAt: Timestamp(milliseconds: start), endedAt: end.map(Timestamp.init(milliseconds:)))
    }

    /// All that machines should have the same of.
    private static func state(_ connection: Connection) throws -> [String] {
        let changes = try ReviewTable(connection: connection).changes(after: .start, except: nil, limit: 1000)
        let last = try connection.query("SELECT uuid || ' ' || coalesce(last_decision, '-') FROM photos ORDER BY id") {
            try $0[0] as String
        }
        return last + changes.sessions.map { "\($0)" }.sorted() + changes.decisions.map { "\($0)" }.sorted()
            + changes.undone.map { "\($0)" }.sorted()
    }

    @Test func everyOrderAndRepetitionEndsTheSame() async throws {
        let folder = try TemporaryFolder()
        let database = try await opened(folder)
        let photos = try await database.read { try PhotoTable(connection: $0).require([1, 2, 3].map(PhotoKey.id)) }
        await database.close()
        let (first, second, third) = (photos[0], photos[1], photos[2])
        let taken = Self.decision(first, .trash, "s1", at: 50)
        let parts = [
            Self.changes([Self.decision(first, .keep, "s1", at: 40), taken], sessions: [Self.session("s1", 30, nil)]),
            Self.changes(undone: [taken]),
            Self.changes([Self.decision(first, .favorite, "s2", at: 45), Self.decision(second, .keep, "s2", at: 46)]),
            // The same moment: the greater session counts. By another uuid, and about the same content.
            Self.changes([Self.decision(second, .trash, "s3", at: 46, uuid: "elsewhere")]),
            Self.changes(sessions: [Self.session("s1", 35, 60), Self.session("s2", 41, 70)]),
            Self.changes(sessions: [Self.session("s1", 30, 55)]),
            Self.changes([Self.decision(third, .keep, "s3", at: 47, uuid: "elsewhere"), taken]),
        ]
        var random = SplitMix64(seed: 15)
        var expected: [String]?
        for round in 0..<40 {
            // Every part at least once, some again.
            let order = (parts + parts.prefix(round % 5)).shuffled(using: &random)
            let database = try await opened(folder, "c\(round)")
            let state = try await database.write { connection in
                for part in order { _ = try ReviewTable(connection: connection).merge(part, from: "other") }
                return try Self.state(connection)
            }
            #expect(expected == nil || expected == state, "round \(round)")
            expected = state
            let said = try await database.read { connection in
                try PhotoTable(connection: connection).require([1, 2, 3].map(PhotoKey.id)).map(\.lastDecision)
            }
            #expect(said == [.favorite, .trash, .keep])
            await database.close()
        }
        #expect(expected?.contains { $0.contains("s1") && $0.contains("1970-01-01T00:00:00.060Z") } == true)
    }

    @Test func theLatestCountsWhicheverCameFirst() async throws {
        let folder = try TemporaryFolder()
        let database = try await opened(folder)
        try await database.write { connection in
            let (photos, swipes) = (PhotoTable(connection: connection), SwipeTable(connection: connection))
            let reviews = ReviewTable(connection: connection)
            let photo = try photos.require(.id(1))
            _ = try swipes.start("here", at: Timestamp(milliseconds: 1))
            let own = SwipeDecision(
                session: "here", photo: photo.uuid, contentDigest: photo.contentDigest, action: .favorite)
            _ = try swipes.record(own, at: Timestamp(milliseconds: 100))
            let earlier = Self.decision(photo, .trash, "there", at: 90)
            #expect(try reviews.merge(Self.changes([earlier]), from: "m").decisions == 1)
            #expect(try photos.require(.id(1)).lastDecision == .favorite)
            #expect(try swipes.process(session: nil, limit: 9).effective.map(\.action) == [.favorite])
            // One that is earlier than what is processed is not applied any more.
            let between = Self.decision(photo, .trash, "there", at: 95)
            _ = try reviews.merge(Self.changes([between]), from: "m")
            let (count, effective) = try swipes.process(session: nil, limit: 9)
            #expect(count == 1 && effective.isEmpty)
            // Who decides here has seen what came, whatever the clock says.
            _ = try reviews.merge(Self.changes([Self.decision(photo, .trash, "there", at: 500)]), from: "m")
            #expect(try photos.require(.id(1)).lastDecision == .trash)
            let again = try swipes.record(own, at: Timestamp(milliseconds: 200))
            #expect(again?.timestamp.milliseconds == 501)
            #expect(try photos.require(.id(1)).lastDecision == .favorite)
            // Those that come many at a time have their times when they are indexed.
            let busy = SwipeTable(connection: connection, index: DecisionIndex())
            _ = try busy.record(
                SwipeDecision(session: "here", photo: photo.uuid, contentDigest: photo.contentDigest, action: .keep),
                at: Timestamp(milliseconds: 200))
            _ = try busy.indexDecisions(limit: 9)
            let latest = try swipes.decisions(session: nil, photo: photo.uuid, before: .max, limit: 1)
            #expect(latest.map(\.timestamp.milliseconds) == [502] && latest.map(\.action) == [.keep])
            #expect(try photos.require(.id(1)).lastDecision == .keep)
            #expect(try swipes.undo(session: "here", count: 2).count == 2)
            #expect(try photos.require(.id(1)).lastDecision == .trash)
        }
        await database.close()
    }

    @Test func whatWasTakenBackOrDeletedDoesNotComeBack() async throws {
        let folder = try TemporaryFolder()
        let database = try await opened(folder)
        try await database.write { connection in
            let (photos, swipes) = (PhotoTable(connection: connection), SwipeTable(connection: connection))
            let reviews = ReviewTable(connection: connection)
            let photo = try photos.require(.id(1))
            let decisions = [
                Self.decision(photo, .keep, "s", at: 10), Self.decision(photo, .trash, "s", at: 20, uuid: "elsewhere"),
            ]
            let all = Self.changes(decisions, sessions: [Self.session("s", 1, 30)])
            _ = try reviews.merge(all, from: "m")
            let told = try reviews.changes(after: .start, except: nil, limit: 9)
            #expect(Set(told.decisions) == Set(decisions))
            #expect(try reviews.changes(after: .start, except: "m", limit: 9).decisions.isEmpty)
            _ = try swipes.process(session: nil, limit: 9)
            let ids = try swipes.decisions(session: "s", photo: nil, before: .max, limit: 9).map(\.id)
            #expect(try swipes.deleteProcessed(ids) == 2)
            #expect(try reviews.merge(all, from: "m") == .none)
            #expect(try photos.require(.id(1)).lastDecision == .trash)
            #expect(try swipes.require("s").photosProcessed == 1)
            // A later one counts, and what was deleted counts again when that is taken back.
            _ = try swipes.start("here", at: Timestamp(milliseconds: 40))
            _ = try swipes.record(
                SwipeDecision(session: "here", photo: photo.uuid, contentDigest: photo.contentDigest, action: .keep),
                at: Timestamp(milliseconds: 5))
            #expect(try photos.require(.id(1)).lastDecision == .keep)
            let undone = try swipes.undo(session: "here", count: 1)
            #expect(undone.map(\.timestamp.milliseconds) == [21])
            #expect(try photos.require(.id(1)).lastDecision == .trash)
            let back = Self.decision(photo, .keep, "here", at: 21)
            #expect(try reviews.merge(Self.changes([back]), from: "m") == .none)
            #expect(try reviews.changes(after: .start, except: nil, limit: 9).undone == [back])
            // The same once more, within the same millisecond, is another one.
            let other = try swipes.record(
                SwipeDecision(session: "here", photo: photo.uuid, contentDigest: photo.contentDigest, action: .keep),
                at: Timestamp(milliseconds: 21))
            #expect(other?.timestamp.milliseconds == 22)
        }
        await database.close()
    }

    @Test func aDecisionAboutWhatIsNotHereIsHistory() async throws {
        let folder = try TemporaryFolder()
        let database = try await opened(folder)
        try await database.write { connection in
            let (swipes, reviews) = (SwipeTable(connection: connection), ReviewTable(connection: connection))
            let photo = try PhotoTable(connection: connection).require(.id(1))
            let other = ReviewChanges.Decision(
                session: "s", photo: photo.uuid, digest: String(repeating: "0", count: 64), action: .trash,
                decidedAt: Timestamp(milliseconds: 10))
            let taken = try reviews.merge(
                Self.changes([other], sessions: [Self.session("s", 1, 30)]), from: "m")
            #expect(taken.decisions == 1)
            #expect(try swipes.pendingCount() == 0)
            #expect(try swipes.decisions(session: "s", photo: nil, before: .max, limit: 9).count == 1)
            #expect(try PhotoTable(connection: connection).require(.id(1)).lastDecision == nil)
            #expect(try reviews.processArrived(from: "m", limit: 9).count == 0)
        }
        await database.close()
    }

    /// Each part is bounded, tells what comes next, and all together are all.
    @Test func partsFollowEachOtherToTheEnd() async throws {
        let folder = try TemporaryFolder()
        let database = try await opened(folder)
        let told = try await database.write { connection in
            let (swipes, reviews) = (SwipeTable(connection: connection), ReviewTable(connection: connection))
            let photo = try PhotoTable(connection: connection).require(.id(1))
            for session in 0..<5 {
                _ = try swipes.start("s\(session)", at: Timestamp(milliseconds: 1))
                for time in 0..<4 {
                    _ = try swipes.record(
                        SwipeDecision(
                            session: "s\(session)", photo: photo.uuid, contentDigest: photo.contentDigest, action: .keep
                        ),
                        at: Timestamp(milliseconds: Int64(session * 10 + time + 1)))
                }
                _ = try swipes.undo(session: "s\(session)", count: 1)
            }
            var (cursor, parts) = (ReviewCursor.start, [ReviewChanges]())
            repeat {
                let part = try reviews.changes(after: cursor, except: nil, limit: 2)
                #expect(max(part.sessions.count, part.decisions.count, part.undone.count) <= 2)
                cursor = try ReviewCursor(part.next)
                parts.append(part)
            } while parts.last?.more == true
            let rest = try reviews.changes(after: cursor, except: nil, limit: 2)
            #expect(rest.isEmpty && rest.next == cursor.description && !rest.more)
            try swipes.finish("s1", at: Timestamp(milliseconds: 99))
            #expect(try reviews.hasEndedSession(after: cursor))
            #expect(try reviews.changes(after: cursor, except: nil, limit: 2).sessions.map(\.id) == ["s1"])
            return parts
        }
        #expect(told.count == 8)
        #expect(Set(told.flatMap(\.sessions)).count == 5)
        #expect(Set(told.flatMap(\.decisions)).count == 15)
        #expect(Set(told.flatMap(\.undone)).count == 5)
        await database.close()
    }
}
