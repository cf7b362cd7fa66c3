import TestSupport
import Testing

@testable import Database

@Suite struct ReadingTests {
    /// Counts without end.
    static let endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

    @Test func aReadSeesOneSnapshot() async throws {
        let open = try await OpenDatabase()
        let database = open.database
        try await database.write { try Album.add("first", to: $0) }
        let gate = Gate()
        let looked = Event()
        let reading = Task {
            try await database.read { connection in
                let before = try Album.names(connection)
                looked.happen()
                gate.pass()
                return [before, try Album.names(connection)]
            }
        }
        await looked.wait()
        try await database.write { try Album.add("second", to: $0) }
        // Another reader sees it at once, the snapshot does not.
        #expect(try await database.read { try Album.names($0) } == ["first", "second"])
        gate.open()
        #expect(try await reading.value == [["first"], ["first"]])
        await database.close()
    }

    @Test func readBodiesCannotWrite() async throws {
        let open = try await OpenDatabase()
        for statement in ["INSERT INTO album (name) VALUES ('x')", "CREATE TEMP TABLE t (a)", "DROP TABLE picture"] {
            await #expect(throws: DatabaseError.readOnly) { try await open.database.read { try $0.execute(statement) } }
        }
        await open.database.close()
    }

    @Test func cancellingEndsAQueryThatWouldNeverEnd() async throws {
        let open = try await OpenDatabase()
        let started = Event()
        let task = Task {
            try await open.database.read { connection in
                started.happen()
                return try connection.first(Self.endless) { row in try row[0] as Int }
            }
        }
        await started.wait()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await open.database.close()
    }

    /// SQLite forgets an interrupt that falls between two statements; the body must still not go on.
    @Test func aCancellationBetweenTwoStatementsIsNotLost() async throws {
        let open = try await OpenDatabase()
        let gate = Gate()
        let between = Event()
        let task = Task {
            try await open.database.read { connection in
                _ = try Album.names(connection)
                between.happen()
                gate.pass()
                return try connection.first(Self.endless) { row in try row[0] as Int }
            }
        }
        await between.wait()
        task.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        await open.database.close()
    }

    @Test func cancellingDoesNotTouchTheNeighboursOrTheNextRead() async throws {
        let open = try await OpenDatabase()
        let database = open.database
        try await database.write { try Album.add("there", to: $0) }
        for _ in 0..<100 {
            let started = Event()
            let endless = Task {
                try await database.read { connection in
                    started.happen()
                    return try connection.first(Self.endless) { row in try row[0] as Int }
                }
            }
            await started.wait()
            let neighbours = (0..<4).map { _ in
                Task {
                    try await database.read { connection in
                        try connection.first(
                            """
                            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
                            SELECT count(*) FROM n
                            """
                        ) { row in try row[0] as Int }
                    }
                }
            }
            endless.cancel()
            await #expect(throws: CancellationError.self) { try await endless.value }
            for neighbour in neighbours { #expect(try await neighbour.value == 2_000) }
        }
        await database.close()
    }

    @Test func aReadCancelledInTheQueueIsAnsweredAtOnceAndNotRun() async throws {
        let open = try await OpenDatabase(readers: 1)
        let gate = Gate()
        let held = Event()
        let holder = Task {
            try await open.database.read { _ in
                held.happen()
                gate.pass()
            }
        }
        await held.wait()
        let ran = Record<Int>()
        let task = Task { try await open.database.read { _ in ran.add(1) } }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        gate.open()
        try await holder.value
        await open.database.close()
        #expect(ran.all.isEmpty)
    }

    @Test func aDeadlineEndsAQueryWhileItRuns() async throws {
        let open = try await OpenDatabase()
        await #expect(throws: DatabaseError.deadlineExceeded) {
            try await open.database.read(deadline: .now + .milliseconds(20)) { connection in
                try connection.first(Self.endless) { row in try row[0] as Int }
            }
        }
        #expect(try await open.database.read(deadline: .now + .seconds(600)) { try Album.names($0) }.isEmpty)
        await open.database.close()
    }

    @Test func aDeadlineThatHasPassedStartsNothing() async throws {
        let open = try await OpenDatabase()
        let ran = Record<Int>()
        await #expect(throws: DatabaseError.deadlineExceeded) {
            try await open.database.read(deadline: .now) { _ in ran.add(1) }
        }
        await open.database.close()
        #expect(ran.all.isEmpty)
    }

    /// All readers are taken for good until the gate opens: only the alarm can answer.
    @Test func aDeadlineEndsTheWaitInTheQueue() async throws {
        let open = try await OpenDatabase(readers: 1)
        let gate = Gate()
        let held = Event()
        let holder = Task {
            try await open.database.read { _ in
                held.happen()
                gate.pass()
            }
        }
        await held.wait()
        await #expect(throws: DatabaseError.deadlineExceeded) {
            try await open.database.read(deadline: .now + .milliseconds(20)) { try Album.names($0) }
        }
        gate.open()
        try await holder.value
        await open.database.close()
    }

    @Test func readsPastTheLimitAreRefused() async throws {
        var limits = DatabaseLimits.patient
        limits.queuedReads = 10
        let open = try await OpenDatabase(readers: 1, limits: limits)
        let gate = Gate()
        let held = Event()
        let holder = Task {
            try await open.database.read { _ in
                held.happen()
                gate.pass()
            }
        }
        await held.wait()
        let errors = Record<DatabaseError?>()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<11 {
                group.addTask {
                    do { _ = try await open.database.read { try Album.names($0) } } catch {
                        errors.add(error as? DatabaseError)
                        gate.open()
                    }
                }
            }
        }
        try await holder.value
        #expect(errors.all == [.busy])
        await open.database.close()
    }

    @Test func anErrorOfTheBodyPassesUnchangedAndTheReaderGoesOn() async throws {
        struct Odd: Error, Equatable {}
        let open = try await OpenDatabase(readers: 1)
        await #expect(throws: Odd()) { try await open.database.read { _ in throw Odd() } }
        #expect(try await open.database.read { try Album.names($0) }.isEmpty)
        await open.database.close()
    }

    /// SQLite forgets an interruption when nothing runs; here a query does, so that it is met by the next statement.
    @Test func aReadStoppedWhileItsTransactionBeginsSaysWhy() async throws {
        let open = try await OpenDatabase()
        let connection = try Connection(path: open.path, readOnly: true, statements: 1, functions: [])
        let interruption = Interruption(deadline: nil)
        connection.interruption = interruption
        #expect(throws: CancellationError.self) {
            try connection.forEach("SELECT 1") { _ in
                interruption.begin(on: connection)
                interruption.stop(.cancelled)
                do { try connection.control(.nestedSavepoint) } catch { throw connection.explained(error) }
            }
        }
        // Another failure stays what it is.
        #expect(connection.explained(DatabaseError.busy) as? DatabaseError == .busy)
        interruption.end()
        connection.interruption = nil
        #expect(try connection.value("SELECT 2") as Int? == 2)
        await open.database.close()
    }

    /// A connection's first statement reads the schema before it runs, and can be stopped there already.
    @Test func aReadStoppedWhileItsStatementIsPreparedSaysWhy() async throws {
        let open = try await OpenDatabase()
        try await open.database.write { connection in
            for number in 0..<1_000 { try connection.execute("CREATE TABLE t\(number) (a)") }
        }
        let connection = try Connection(path: open.path, readOnly: true, statements: 1, functions: [])
        for reason in [Interruption.Reason.deadline, .cancelled] {
            let interruption = Interruption(deadline: nil)
            interruption.stop(reason)
            connection.interruption = interruption
            #expect {
                try connection.query("SELECT a FROM t0") { _ in }
            } throws: { error in
                reason == .deadline ? error as? DatabaseError == .deadlineExceeded : error is CancellationError
            }
        }
        connection.interruption = nil
        #expect(try connection.value("SELECT count(*) FROM t0") as Int? == 0)
        await open.database.close()
    }
}
