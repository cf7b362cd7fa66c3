import CatalogueTestSupport
import Database
import LibraryModel
import LibraryStorage
@testable import SQLiteCatalogue
import ServiceMesh
import TestSupport
import Testing

/// What is left of deleted decisions, of wrong clocks and of older copies of a file, and how far machines have told each other.
@Suite struct ReviewRepairTests {
    private func opened(_ folder: TemporaryFolder) async throws -> DatabasePool {
        let database = try await DatabasePool.open(at: folder.file("c"), schema: CatalogueSchema.schema)
        try await database.write { connection in
            try connection.execute("INSERT INTO categories VALUES (3, 'a', 'a', 0, NULL, '#4CAF50', 0, 0)")
            let sample = SampleCatalogue()
            try PhotoTable(connection: connection).insert(
                (0..<2).map { sample.photo($0, category: 3, takenAt: 5) })
        }
        return database
    }

    private static func decision(
        _ photo: Photo, _ action: SwipeAction, at time: Int64, uuid: String? = nil
    ) -> ReviewChanges.Decision {
        ReviewChanges.Decision(
            session: "s", photo: uuid ?? photo.uuid, digest: photo.contentDigest, action: action,
            decidedAt: Timestamp(milliseconds: time))
    }

    private static func changes(
        _ decisions: [ReviewChanges.Decision] = [], undone: [ReviewChanges.Decision] = []
    ) -> ReviewChanges {
        let session = ReviewChanges.Session(
            id: "s", startedAt: Timestamp(milliseconds: 1), endedAt: Timestamp(milliseconds: 90))
        return ReviewChanges(sessions: [session], decisions: decisions, undone: undone, next: "", more: false)
    }

    /// Deleted here because it is old, and then taken back elsewhere: no photo says it, and nothing from before comes back.
    @Test func whatIsTakenBackAfterItWasDeletedCountsNoMore() async throws {
        let folder = try TemporaryFolder()
        let database = try await opened(folder)
        try await database.write { connection in
            let (photos, swipes) = (PhotoTable(connection: connection), SwipeTable(connection: connection))
            let reviews = ReviewTable(connection: connection)
            let photo = try photos.require(.id(1))
            let (first, second) = (
                Self.decision(photo, .keep, at: 10), Self.decision(photo, .trash, at: 20, uuid: "elsewhere")
            )
            _ = try reviews.merge(Self.changes([first, second]), from: "m")
            _ = try swipes.process(session: nil, limit: 9)
            let ids = try swipes.decisions(session: "s", photo: nil, before: .max, limit: 9).map(\.id)
            // The later one first, as of one session; the earlier one stays.
            #expect(try swipes.deleteProcessed([ids[0]]) == 1)
            #expect(try photos.require(.id(1)).lastDecision == .trash)
            _ = try reviews.merge(Self.changes(undone: [second]), from: "m")
            #expect(try photos.require(.id(1)).lastDecision == .keep)
            // The earlier one counts, and is neither overruled nor lost when it is deleted as well.
            #expect(try swipes.deleteProcessed([ids[1]]) == 1)
            try swipes.recallLastDecision(photo.uuid)
            #expect(try photos.require(.id(1)).lastDecision == .keep)
            for old in [first, second, Self.decision(photo, .favorite, at: 15)] {
                #expect(try reviews.merge(Self.changes([old]), from: "n").decisions == 0)
            }
            let later = Self.decision(photo, .favorite, at: 30)
            #expect(try reviews.merge(Self.changes([later]), from: "m").decisions == 1)
            #expect(try swipes.process(session: nil, limit: 9).effective.map(\.action) == [.favorite])
            #expect(try photos.require(.id(1)).lastDecision == .favorite)
        }
        await database.close()
    }

    @Test func whatOneMachineToldIsNotAppliedWithTheLastPartOfAnother() async throws {
        let folder = try TemporaryFolder()
        let database = try await opened(folder)
        try await database.write { connection in
            let reviews = ReviewTable(connection: connection)
            let photo = try PhotoTable(connection: connection).require(.id(1))
            _ = try reviews.merge(Self.changes([Self.decision(photo, .trash, at: 10)]), from: "slow")
            #expect(try reviews.processArrived(from: "other", limit: 9).count == 0)
            _ = try reviews.merge(Self.changes([Self.decision(photo, .keep, at: 20)]), from: "slow")
            let (count, effective) = try reviews.processArrived(from: "slow", limit: 9)
            #expect(count == 2 && effective.map(\.action) == [.keep])
        }
        await database.close()
    }

    /// A later decision that was marked as processed and not applied overrules as any other does.
    @Test func aDismissedDecisionOverrulesEarlierOnes() async throws {
        let folder = try TemporaryFolder()
        let database = try await opened(folder)
        try await database.write { connection in
            let (swipes, reviews) = (SwipeTable(connection: connection), ReviewTable(connection: connection))
            let photo = try PhotoTable(connection: connection).require(.id(1))
            _ = try reviews.merge(Self.changes([Self.decision(photo, .keep, at: 20)]), from: "m")
            let ids = try swipes.pending(session: nil, after: 0, limit: 9).map(\.id)
            #expect(try swipes.markProcessed(ids) == 1)
            _ = try reviews.merge(Self.changes([Self.decision(photo, .trash, at: 10)]), from: "m")
            let (count, effective) = try swipes.process(session: nil, limit: 9)
            #expect(count == 1 && effective.isEmpty)
            #expect(try PhotoTable(connection: connection).require(.id(1)).lastDecision == .keep)
        }
        await database.close()
    }

    /// What cannot be told is passed over, and is no news for ever.
    @Test func aSessionThatNoCalendarHasIsPassedOver() async throws {
        let folder = try TemporaryFolder()
        let database = try await opened(folder)
        try await database.write { connection in
            let (swipes, reviews) = (SwipeTable(connection: connection), ReviewTable(connection: connection))
            _ = try swipes.start("before all clocks", at: Timestamp(milliseconds: -5))
            try swipes.finish("before all clocks", at: Timestamp(milliseconds: .max))
            let told = try reviews.changes(after: .start, except: nil, limit: 9)
            #expect(told.isEmpty && !told.more)
            #expect(try !reviews.hasEndedSession(after: ReviewCursor(told.next)))
        }
        await database.close()
    }

    /// An older copy of the file was put in its place: the numbers of what is new are those of what was told once.
    @Test func aCursorOfWhatIsNotThereBeginsAnew() async throws {
        let folder = try TemporaryFolder()
        let database = try await opened(folder)
        try await database.write { connection in
            let reviews = ReviewTable(connection: connection)
            let photo = try PhotoTable(connection: connection).require(.id(1))
            _ = try reviews.merge(Self.changes([Self.decision(photo, .keep, at: 10)]), from: "m")
            let all = try reviews.changes(after: .start, except: nil, limit: 9)
            #expect(all.decisions.count == 1 && all.sessions.count == 1)
            for cursor in [
                ReviewCursor(session: 0, decision: 2, undone: 0), ReviewCursor(session: 99, decision: 0, undone: 0),
                ReviewCursor(session: 0, decision: 1, undone: .max),
            ] {
                #expect(try reviews.changes(after: cursor, except: nil, limit: 9) == all)
            }
            let none = try reviews.changes(after: ReviewCursor(all.next), except: nil, limit: 9)
            #expect(none.isEmpty && none.next == all.next)
        }
        await database.close()
    }

    /// A turn that is under way when the machine is joined anew says nothing about the new one.
    @Test func whoeverIsJoinedAnewIsToldAllAnew() async throws {
        let folder = try TemporaryFolder()
        let database = try await opened(folder)
        try await database.write { connection in
            let machines = ReviewMachineTable(connection: connection)
            func partner(_ joins: Int) -> StoredReviewPartner {
                StoredReviewPartner(
                    id: "p", address: "http://localhost", token: .plain("t"), joins: joins,
                    addedAt: Timestamp(milliseconds: 1))
            }
            let (old, new) = (partner(1), partner(2))
            try machines.put(old)
            #expect(try machines.advance(old, .told, from: "", to: "1.1.1"))
            #expect(try machines.advance(old, .heard, from: "", to: "x"))
            try machines.put(old)
            #expect(try !machines.advance(old, .told, from: "1.1.1", to: "2.2.2"))
            #expect(try !machines.advance(old, .heard, from: "x", to: "y"))
            try machines.put(new)
            #expect(try !machines.advance(old, .told, from: "", to: "1.1.1"))
            #expect(try !machines.advance(old, .heard, from: "", to: "x"))
            try machines.note(old, syncedAt: Timestamp(milliseconds: 2), problem: "The token is worth nothing.")
            #expect(try machines.partners() == [new])
            try machines.note(new, syncedAt: Timestamp(milliseconds: 2), problem: nil)
            #expect(try machines.partners().map(\.syncedAt) == [Timestamp(milliseconds: 2)])
        }
        await database.close()
    }

    /// Each decision that is recorded, and each that comes, asks all of these: none may walk along a table.
    @Test func everyLookUsesAnIndexWhateverTheStatistics() async throws {
        let folder = try TemporaryFolder()
        let database = try await opened(folder)
        @Sendable func check(_ connection: Connection) throws {
            let last = SwipeTable.lastDecision(of: "photos")
            for (statement, values) in [
                ("SELECT \(SwipeTable.latestTime(of: "?1"))", ["a"]),
                (SwipeTable.sayingDecisions(in: "photos"), [1]), (SwipeTable.sayingDecisions(in: "trash"), [1]),
                (SwipeTable.laterDecision, ["a", "b", 1, "c", "keep"]),
                ("UPDATE photos SET last_decision = \(last) WHERE uuid = ?", ["a"]),
                (ReviewTable.known, [1, "a", "b", "keep", "c"]),
                ("SELECT id FROM \(ReviewTable.same)", [1, "a", "b", "keep", "c"]),
                (ReviewTable.forgotten, ["a", "b", "c", 1, "d", "keep"]), (ReviewTable.photoOf, ["a", "b"]),
            ] as [(String, [(any SQLBindable)?])] {
                let plan = try connection.query("EXPLAIN QUERY PLAN " + statement, values: values) {
                    try $0["detail"] as String
                }
                // Of what a statement has gathered itself it may look at each row.
                let gathered = ["CONSTANT", "(subquery", "decided"]
                let walks = plan.filter { step in
                    step.hasPrefix("SCAN ") && !gathered.contains { step.dropFirst(5).hasPrefix($0) }
                }
                #expect(walks.isEmpty, "\(statement): \(plan)")
            }
            // From the end of the table, to the first that is there.
            let plan = try connection.query("EXPLAIN QUERY PLAN " + ReviewTable.lastDecision) {
                try $0["detail"] as String
            }
            #expect(plan == ["SCAN swipe_actions"])
        }
        try await database.write { connection in
            try check(connection)
            let reviews = ReviewTable(connection: connection)
            let photo = try PhotoTable(connection: connection).require(.id(1))
            _ = try reviews.merge(
                Self.changes((1...150).map { Self.decision(photo, .keep, at: Int64($0)) }), from: "m")
            try connection.execute("ANALYZE")
            try check(connection)
        }
        await database.close()
    }
}
