import TestSupport
import Testing

@testable import Database

private struct Refused: Error, Equatable { let number: Int }

/// An error of a body's own.
private struct Odd: Error, Equatable {}

/// Group commit: what shares a transaction, and what stays apart although it does.
@Suite struct WritingTests {
    /// The first call that finds the queue full shows that all others are in it; then the gate opens.
    @Test func writesThatWaitTogetherAreCommittedTogetherAndOneTooManyIsRefused() async throws {
        var limits = DatabaseLimits.patient
        limits.queuedWrites = 50
        let open = try await OpenDatabase(limits: limits)
        let database = open.database
        let gate = Gate()
        let holder = await database.holdCommits(until: gate)

        let outcomes = await withTaskGroup(of: Result<Int64, any Error>.self) { group in
            for number in 0..<51 {
                group.addTask {
                    do {
                        return .success(try await database.write { try Album.add("album \(number)", to: $0) })
                    } catch {
                        gate.open()
                        return .failure(error)
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        try await holder.value

        let failures = outcomes.compactMap { outcome -> (any Error)? in
            if case .failure(let error) = outcome { error } else { nil }
        }
        #expect(failures.map { $0 as? DatabaseError } == [.busy])
        // The holder's group had begun before the others came, and took them all.
        #expect(database.statistics.writes == 51)
        #expect(database.statistics.commits == 1)
        #expect(database.statistics.largestGroup == 51)
        #expect(try await database.read { try Album.names($0) }.count == 50)
        await database.close()
    }

    @Test func aGroupIsNoLargerThanItsLimit() async throws {
        var limits = DatabaseLimits.patient
        limits.queuedWrites = 40
        limits.groupSize = 7
        let open = try await OpenDatabase(limits: limits)
        let database = open.database
        let gate = Gate()
        let holder = await database.holdCommits(until: gate)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<41 {
                group.addTask {
                    do { _ = try await database.write { try Album.add("\(number)", to: $0) } } catch { gate.open() }
                }
            }
        }
        try await holder.value
        #expect(database.statistics.largestGroup == 7)
        #expect(database.statistics.commits == 6)  // 41 writes, the holder's included
        await database.close()
    }

    @Test func aBodyThatThrowsIsUndoneAloneAndItsErrorPassesUnchanged() async throws {
        let open = try await OpenDatabase()
        let errors = try await open.database.writeTogether(
            (0..<10).map { number in
                { connection in
                    try Album.add("album \(number)", to: connection)
                    if number % 2 == 1 { throw Refused(number: number) }
                }
            })
        #expect(errors.map { ($0 as? Refused)?.number } == [nil, 1, nil, 3, nil, 5, nil, 7, nil, 9])
        let names = try await open.database.read { try Album.names($0) }
        #expect(names == ["album 0", "album 2", "album 4", "album 6", "album 8"])
        #expect(open.database.statistics.commits == 1)
        #expect(open.database.statistics.refusedWrites == 5)
        await open.database.close()
    }

    @Test func aWriteAloneSharesItsTransactionWithNobody() async throws {
        let open = try await OpenDatabase()
        let database = open.database
        let errors = try await database.writeTogether(
            [
                { try Album.add("a", to: $0) }, { try Album.add("b", to: $0) },
                { try Album.add("c", to: $0) },
                { connection in
                    try Album.add("d", to: connection)
                    throw Odd()
                },
                { try Album.add("e", to: $0) }, { try Album.add("f", to: $0) },
            ], as: [.shared, .shared, .alone, .alone, .shared, .alone])
        #expect(errors.map { $0 is Odd } == [false, false, false, true, false, false])
        #expect(errors.compactMap { $0 }.count == 1)
        #expect(try await database.read { try Album.names($0) } == ["a", "b", "c", "e", "f"])
        // The holder with a and b; c; e; f.
        #expect(database.statistics.commits == 4)
        #expect(database.statistics.refusedWrites == 1)
        await database.close()
    }

    @Test func aWriteAloneIsWholeOrNothingAndIsTold() async throws {
        let open = try await OpenDatabase()
        let database = open.database
        let notices = Record<CommitNotice>()
        database.onCommit { notices.add($0) }
        let id = try await database.writeAlone { try Album.add("kept", to: $0) }
        await #expect(throws: Odd()) {
            try await database.writeAlone { connection in
                for number in 0..<100 { try Album.add("\(number)", to: connection) }
                throw Odd()
            }
        }
        // A body that ends its transaction, or hides that a statement did, is refused too.
        for end in ["COMMIT", "ROLLBACK"] {
            await #expect(throws: (any Error).self) {
                try await database.writeAlone { connection in
                    try Album.add("hidden", to: connection)
                    try connection.execute(end)
                }
            }
        }
        await #expect(throws: DatabaseError.self) {
            try await database.writeAlone { connection in
                try Album.add("gone", to: connection)
                _ = try? connection.execute("INSERT OR ROLLBACK INTO album (id, name) VALUES (?, 'twice')", id)
            }
        }
        #expect(try await database.read { try Album.names($0) } == ["kept"])
        #expect(notices.all.map(\.tables) == [["album"]])
        // What comes next has a transaction again.
        try await database.write { try Album.add("after", to: $0) }
        #expect(try await database.read { try Album.names($0) } == ["kept", "after"])
        await database.close()
    }

    @Test func aGroupInWhichEveryBodyThrowsCommitsNothing() async throws {
        let open = try await OpenDatabase()
        for _ in 0..<2 {
            await #expect(throws: Refused(number: 1)) {
                try await open.database.write { connection in
                    try Album.add("undone", to: connection)
                    throw Refused(number: 1)
                }
            }
        }
        #expect(open.database.statistics.commits == 0)
        #expect(try await open.database.read { try Album.names($0) }.isEmpty)
        await open.database.close()
    }

    @Test func aDeferredForeignKeyFailsItsOwnWriteOnly() async throws {
        let schema = Schema(
            applicationID: 1,
            migrations: [
                Migration(
                    version: 1, name: "deferred",
                    script: """
                        CREATE TABLE parent (id INTEGER PRIMARY KEY);
                        CREATE TABLE child (parent INTEGER REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED);
                        """)
            ])
        let open = try await OpenDatabase(schema: schema)
        let database = open.database
        let errors = try await database.writeTogether([
            { try $0.execute("INSERT INTO child VALUES (7)") },
            { connection in
                try connection.execute("INSERT INTO child VALUES (8)")
                try connection.execute("INSERT INTO parent VALUES (8)")
            },
        ])
        #expect(
            errors.map { $0 as? DatabaseError } == [.constraint(.foreignKey, detail: "deferred foreign key"), nil])
        let children = try await database.read { try $0.query("SELECT parent FROM child") { row in try row[0] as Int } }
        #expect(children == [8])
        await database.close()
    }

    /// `ON CONFLICT ROLLBACK` takes the part of the group before it with it; nobody is told otherwise, and those
    /// after it get a transaction of their own.
    @Test func aStatementThatEndsTheTransactionLeavesNobodyWithAFalseReply() async throws {
        let open = try await OpenDatabase()
        let database = open.database
        try await database.write { try Album.add("there", to: $0) }
        let errors = try await database.writeTogether([
            { try Album.add("neighbour", to: $0) },
            { try $0.execute("INSERT OR ROLLBACK INTO album (name) VALUES ('there')") },
            { try Album.add("later", to: $0) },
        ])
        guard case .notCommitted = errors[0] as? DatabaseError else {
            Issue.record("the neighbour was told \(String(describing: errors[0]))")
            return
        }
        #expect(errors[1] as? DatabaseError == .constraint(.unique, detail: "album.name"))
        #expect(errors[2] == nil)
        #expect(try await database.read { try Album.names($0) } == ["there", "later"])
        await database.close()
    }

    /// A body that hides such a failure is not told that it was stored.
    @Test func aBodyThatSwallowsTheEndOfTheTransactionIsNotStored() async throws {
        let open = try await OpenDatabase()
        let database = open.database
        try await database.write { try Album.add("there", to: $0) }
        let errors = try await database.writeTogether([
            { connection in
                try Album.add("lost", to: connection)
                _ = try? connection.execute("INSERT OR ROLLBACK INTO album (name) VALUES ('there')")
                _ = try? Album.add("outside of any transaction", to: connection)
            }
        ])
        guard case .notCommitted = errors[0] as? DatabaseError else {
            Issue.record("it was told \(String(describing: errors[0]))")
            return
        }
        #expect(try await database.read { try Album.names($0) } == ["there"])
        await database.close()
    }

    @Test func aWriteCancelledBeforeItsTurnIsNotRun() async throws {
        let open = try await OpenDatabase()
        let database = open.database
        let gate = Gate()
        let holder = await database.holdCommits(until: gate)
        let task = Task { try await database.write { try Album.add("cancelled", to: $0) } }
        task.cancel()
        // Answered while the commit thread still stands at the gate: cancelling overtakes the queue.
        await #expect(throws: CancellationError.self) { try await task.value }
        gate.open()
        try await holder.value
        #expect(try await database.read { try Album.names($0) }.isEmpty)
        await database.close()
    }

    @Test func aWriteThatRunsIsFinishedAlthoughCancelled() async throws {
        let open = try await OpenDatabase()
        let database = open.database
        let gate = Gate()
        let held = Event()
        let task = Task {
            try await database.write { connection in
                held.happen()
                gate.pass()
                return try Album.add("kept", to: connection)
            }
        }
        await held.wait()
        task.cancel()
        gate.open()
        #expect(try await task.value == 1)
        #expect(try await database.read { try Album.names($0) } == ["kept"])
        await database.close()
    }

    @Test func bodiesMayNotEndTheTransactionNorAttachFiles() async throws {
        let open = try await OpenDatabase()
        let database = open.database
        for statement in ["COMMIT", "ROLLBACK", "BEGIN", "SAVEPOINT x", "RELEASE body", "ATTACH ':memory:' AS other"] {
            await #expect {
                try await database.write { try $0.execute(statement) }
            } throws: { error in
                if case .invalidStatement = error as? DatabaseError { true } else { false }
            }
        }
        try await database.write { try Album.add("still works", to: $0) }
        await database.close()
    }

    @Test func aSavepointUndoesOnlyItsOwnPart() async throws {
        let open = try await OpenDatabase()
        let names = try await open.database.write { connection in
            try Album.add("before", to: connection)
            try? connection.inSavepoint {
                try Album.add("outer", to: connection)
                try connection.inSavepoint { try Album.add("inner", to: connection) }
                throw Refused(number: 1)
            }
            try connection.inSavepoint { try Album.add("after", to: connection) }
            return try Album.names(connection)
        }
        #expect(names == ["before", "after"])
        await open.database.close()
    }

    @Test func closingDoesWhatIsQueuedFirst() async throws {
        let open = try await OpenDatabase()
        let database = open.database
        let gate = Gate()
        let holder = await database.holdCommits(until: gate)
        async let closed: Void = database.close()
        gate.open()
        try await holder.value
        await closed
        await database.close()
        await #expect(throws: DatabaseError.closed) { try await database.write { _ in } }
        await #expect(throws: DatabaseError.closed) { _ = try await database.integrityCheck() }
    }
}
