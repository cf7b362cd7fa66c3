import Foundation
import TestSupport
import Testing

@testable import Database

/// A commit whose fsync fails is not taken for none: what it wrote may be there at the next start.
@Suite struct FailedCommitTests {
    @Test func nothingIsWrittenAfterItAndTheNextStartDecides() async throws {
        let open = try await OpenDatabase(limits: .withoutIdleCheckpoints)
        let database = open.database
        try await database.write { try Album.add("before", to: $0) }
        try await database.write { FailingLog.install(on: $0.handle, afterSyncs: 1) }
        try await database.write { try Album.add("last", to: $0) }
        await #expect(throws: DatabaseError.self) { try await database.write { try Album.add("unknown", to: $0) } }
        let reason = try #require(database.writingStopped)
        for _ in 0..<2 {
            await #expect(throws: DatabaseError.writingStopped(detail: reason)) {
                try await database.write { try Album.add("after", to: $0) }
            }
            await #expect(throws: DatabaseError.writingStopped(detail: reason)) {
                try await database.writeAlone { try Album.add("after", to: $0) }
            }
        }
        await #expect(throws: DatabaseError.writingStopped(detail: reason)) { try await database.checkpoint() }
        #expect(try await database.read { try Album.names($0) } == ["before", "last"])
        await database.close()

        // Its frames were written, so it is there; had SQLite closed the file as usual, it would not be.
        let again = try await DatabasePool.open(at: open.path, schema: Album.schema)
        #expect(try await again.read { try Album.names($0) } == ["before", "last", "unknown"])
        #expect(again.writingStopped == nil)
        try await again.write { try Album.add("after", to: $0) }
        #expect(try await again.integrityCheck().isEmpty)
        await again.close()
    }

    @Test func theWholeGroupIsTold() async throws {
        let open = try await OpenDatabase(limits: .withoutIdleCheckpoints)
        let database = open.database
        try await database.write { try Album.add("before", to: $0) }
        try await database.write { FailingLog.install(on: $0.handle, afterSyncs: 0) }
        struct Refusal: Error {}
        let errors = try await database.writeTogether([
            { try Album.add("one", to: $0) }, { _ in throw Refusal() }, { try Album.add("two", to: $0) },
        ])
        #expect(errors.count == 3)
        for error in errors {
            guard case .outcomeUnknown = error as? DatabaseError else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        await database.close()
    }

    @Test func aLogThatWasFoundIsWrittenBackBeforeAnybodyReadsIt() async throws {
        let open = try await OpenDatabase(limits: .withoutIdleCheckpoints)
        try await open.database.write { try Album.add("a", to: $0) }
        try await open.database.write { FailingLog.install(on: $0.handle, afterSyncs: 0) }
        _ = try? await open.database.write { try Album.add("b", to: $0) }
        await open.database.close()
        #expect(try FileManager.default.attributesOfItem(atPath: open.path + "-wal")[.size] as? Int ?? 0 > 0)
        let again = try await DatabasePool.open(at: open.path, schema: Album.schema)
        #expect(try FileManager.default.attributesOfItem(atPath: open.path + "-wal")[.size] as? Int == 0)
        await again.close()
    }
}
