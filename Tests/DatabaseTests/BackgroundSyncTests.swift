import Foundation
import TestSupport
import Testing

@testable import Database

/// The log is written back while writes go on, and starts over only once that is on disk.
@Suite struct BackgroundSyncTests {
    private static var growing: DatabaseLimits {
        var limits = DatabaseLimits.withoutIdleCheckpoints
        limits.logPages = 20
        return limits
    }

    private func add(_ numbers: Range<Int>, to database: DatabasePool) async throws {
        for number in numbers { try await database.write { try Album.add("\(number)", to: $0) } }
    }

    private func logSize(_ open: OpenDatabase) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: open.path + "-wal")[.size] as? Int)
    }

    /// A power cut takes what was not synced: all of it is still in the log then.
    @Test func writesGoOnWhileTheFileIsSyncedAndTheLogHasEverything() async throws {
        let open = try await OpenDatabase(limits: Self.growing)
        let database = open.database
        try await add(0..<1, to: database)
        #expect(try await database.checkpoint())
        let copy = open.folder.file("after-power-cut.db")
        let before = try await run("/bin/cp", [open.path, copy])
        try #require(before.status == 0)
        let (gate, reached) = (Gate(), Event())
        try await database.write { connection in
            SyncHook.install(on: connection.handle, file: .database) {
                reached.happen()
                gate.pass()
                return nil
            }
        }
        try await add(1..<60, to: database)
        // None of these waits for the sync, and none of them overwrites the beginning of the log.
        await reached.wait()
        try await add(60..<200, to: database)
        let log = try await run("/bin/cp", [open.path + "-wal", copy + "-wal"])
        try #require(log.status == 0)
        let rest = try await DatabasePool.open(at: copy, schema: Album.schema)
        #expect(try await rest.read { try Album.names($0) } == (0..<200).map(String.init))
        #expect(try await rest.integrityCheck().isEmpty)
        await rest.close()

        gate.open()
        // However long the sync takes that was let through: the log is emptied after it.
        #expect(try await database.checkpoint())
        #expect(try logSize(open) == 0)
        await database.close()
    }

    @Test func theLogStartsOverAgainAndAgain() async throws {
        let open = try await OpenDatabase(limits: Self.growing)
        try await add(0..<2_000, to: open.database)
        // Some 4,000 pages were written; a log that never started over would have them all.
        #expect(try logSize(open) < 4_096 * 20 * 12)
        await open.database.close()
        let again = try await DatabasePool.open(at: open.path, schema: Album.schema)
        #expect(try await again.read { try Album.names($0) }.count == 2_000)
        await again.close()
    }

    /// SQLite believes that the log was written back. What says that it may not have been is the sync that failed, so the log
    /// must still be there at the next start.
    @Test func aSyncThatFailsStopsWritingAndLosesNothing() async throws {
        let open = try await OpenDatabase(limits: Self.growing)
        let database = open.database
        try await add(0..<1, to: database)
        #expect(try await database.checkpoint())
        let copy = open.folder.file("after-power-cut.db")
        let before = try await run("/bin/cp", [open.path, copy])
        try #require(before.status == 0)
        try await database.write { connection in
            SyncHook.install(on: connection.handle, file: .database) { FailingLog.failure }
        }
        var stored = 1
        await #expect(throws: DatabaseError.self) {
            // Some commits later, when the sync was looked at.
            while stored < 100_000 {
                let name = "\(stored)"
                try await database.write { try Album.add(name, to: $0) }
                stored += 1
            }
        }
        #expect(stored > 1)
        #expect(database.writingStopped != nil)
        await database.close()
        let log = try await run("/bin/cp", [open.path + "-wal", copy + "-wal"])
        try #require(log.status == 0)
        let names = (0..<stored).map(String.init)
        for path in [copy, open.path] {
            let again = try await DatabasePool.open(at: path, schema: Album.schema)
            #expect(try await again.read { try Album.names($0) } == names)
            #expect(try await again.integrityCheck().isEmpty)
            await again.close()
        }
    }
}
