import Executors
import Foundation
import TestSupport
import Testing

@testable import Database
import Synchronization

/// What the database does for itself, and what it tells about its last stop.
@Suite struct CareTests {
    @Test func anUncleanStopIsToldFromAClose() async throws {
        let open = try await OpenDatabase()
        #expect(!open.database.wasStoppedUncleanly)
        try await open.database.write { try Album.add("first", to: $0) }
        // What a kill leaves: the files as they are at this moment.
        let copy = open.folder.file("copy.db")
        for ending in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: open.path + ending, toPath: copy + ending)
        }
        await open.database.close()

        let killed = try await DatabasePool.open(at: copy, schema: Album.schema)
        #expect(killed.wasStoppedUncleanly)
        #expect(try await killed.read { try Album.names($0) } == ["first"])
        #expect(try await killed.integrityCheck(quick: true).isEmpty)
        await killed.close()
        for path in [open.path, copy] {
            let closed = try await DatabasePool.open(at: path, schema: Album.schema)
            #expect(!closed.wasStoppedUncleanly)
            await closed.close()
        }
    }

    @Test func theLogIsWrittenBackWhenThereIsNothingToDo() async throws {
        var limits = DatabaseLimits()
        limits.idleCheckpoint = .milliseconds(1)
        // Larger than anything here: only idleness writes the log back.
        limits.logPages = 1_000_000
        let open = try await OpenDatabase(limits: limits)
        let idle = Event()
        let written = Mutex(false)
        open.database.commits.observeIdle { if written.withLock({ $0 }) { idle.happen() } }
        // Set on the commit thread itself, so that what is idle from then on is so after this write.
        try await open.database.write { (connection) throws in
            try Album.add("in the file itself", to: connection)
            written.withLock { $0 = true }
        }
        await idle.wait()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: open.path))
        #expect(bytes.range(of: Data("in the file itself".utf8)) != nil)
        #expect(open.database.statistics.checkpoints > 0)
        await open.database.close()
    }

    @Test func closingLeavesThePlannerItsStatistics() async throws {
        let open = try await OpenDatabase()
        try await open.database.write { (connection) throws in
            try connection.execute("CREATE INDEX picture_by_album ON picture (album)")
            let album = try Album.add("one", to: connection)
            for _ in 0..<500 { try connection.execute("INSERT INTO picture (album) VALUES (?)", album) }
            // Tables are looked at where this connection's queries would have gained from it.
            let found =
                try connection.value(
                    "SELECT count(*) FROM picture WHERE album = ? AND title IS NULL", album) as Int?
            #expect(found == 500)
        }
        await open.database.close()
        let tables = try await DatabasePool.inspect(at: open.path) { (connection) throws in
            try connection.query("SELECT name FROM sqlite_schema WHERE name = 'sqlite_stat1'") { row in
                try row[0] as String
            }
        }
        #expect(tables == ["sqlite_stat1"])
    }
}
