import Executors
import Synchronization
import TestSupport
import Testing

@testable import Database

/// What tables need done besides, a little at a time. Here pictures without a title are removed, two in a step.
@Suite struct UpkeepTests {
    private static func schema(
        step: @escaping @Sendable (Connection) throws -> Bool = Self.removeTwo
    ) -> Schema {
        Schema(
            applicationID: Album.applicationID, migrations: [Album.first],
            upkeep: Upkeep(after: ["picture"], step: step))
    }

    private static let removeTwo: @Sendable (Connection) throws -> Bool = { connection in
        try connection.execute(
            "DELETE FROM picture WHERE id IN (SELECT id FROM picture WHERE title IS NULL ORDER BY id LIMIT 2)") == 2
    }

    private static func add(untitled count: Int, to connection: Connection) throws {
        let album = try Album.add("of \(count)", to: connection)
        for _ in 0..<count { try connection.execute("INSERT INTO picture (album) VALUES (?)", album) }
    }

    private static func pictures(_ database: DatabasePool) async throws -> Int {
        try await database.read { try $0.first("SELECT count(*) FROM picture") { row in try row[0] } } ?? 0
    }

    @Test func aCommitDoesOneStep() async throws {
        let open = try await OpenDatabase(schema: Self.schema(), limits: .withoutIdleCheckpoints)
        try await open.database.write { try Self.add(untitled: 5, to: $0) }
        #expect(try await Self.pictures(open.database) == 3)
        try await open.database.writeAlone { try Self.add(untitled: 1, to: $0) }
        #expect(try await Self.pictures(open.database) == 2)
        await open.database.close()
    }

    @Test func aCommitThatTouchesOtherTablesDoesNone() async throws {
        let open = try await OpenDatabase(schema: Self.schema(), limits: .withoutIdleCheckpoints)
        try await open.database.write { try Self.add(untitled: 5, to: $0) }
        try await open.database.write { try Album.add("empty", to: $0) }
        #expect(try await Self.pictures(open.database) == 3)
        await open.database.close()
    }

    @Test func theRestIsDoneWhileThereIsNothingElseToDo() async throws {
        var limits = DatabaseLimits()
        limits.idleCheckpoint = .milliseconds(1)
        let open = try await OpenDatabase(schema: Self.schema(), limits: limits)
        let idle = Event()
        let written = Mutex(false)
        open.database.commits.observeIdle { if written.withLock({ $0 }) { idle.happen() } }
        try await open.database.write { (connection) throws in
            try Self.add(untitled: 9, to: connection)
            written.withLock { $0 = true }
        }
        await idle.wait()
        #expect(try await Self.pictures(open.database) == 0)
        await open.database.close()
    }

    @Test func aStepThatFailsUndoesItselfAndNobodysWrite() async throws {
        struct Failure: Error {}
        let step: @Sendable (Connection) throws -> Bool = { connection in
            _ = try Self.removeTwo(connection)
            throw Failure()
        }
        let open = try await OpenDatabase(schema: Self.schema(step: step), limits: .withoutIdleCheckpoints)
        try await open.database.write { try Self.add(untitled: 5, to: $0) }
        #expect(try await Self.pictures(open.database) == 5)
        await open.database.close()
    }

    /// As SQLite does with a transaction in which the disk gets full.
    @Test func aStepThatEndsTheTransactionFailsTheWriteAndStopsNothing() async throws {
        struct Failure: Error {}
        let ends = Mutex(true)
        let step: @Sendable (Connection) throws -> Bool = { connection in
            guard ends.withLock({ $0 }) else { return false }
            try connection.execute("ROLLBACK")
            throw Failure()
        }
        let open = try await OpenDatabase(schema: Self.schema(step: step), limits: .withoutIdleCheckpoints)
        await #expect(throws: Failure.self) {
            try await open.database.write { try Self.add(untitled: 5, to: $0) }
        }
        await #expect(throws: Failure.self) {
            try await open.database.writeAlone { try Self.add(untitled: 5, to: $0) }
        }
        #expect(open.database.writingStopped == nil)
        ends.withLock { $0 = false }
        try await open.database.write { try Self.add(untitled: 2, to: $0) }
        #expect(try await Self.pictures(open.database) == 2)
        await open.database.close()
    }
}
