import Database
import Foundation
import LibraryModel
@testable import SQLiteCatalogue
import ServiceMesh
import TestSupport
import Testing

extension JobJournal {
    /// What the next start would find now.
    func records() async throws -> [JobRecord] { try await records(JobRetention(at: .now())) }
}

@Suite struct JobJournalTests {
    private func withJournal(_ body: (CatalogueJobJournal, DatabasePool) async throws -> Void) async throws {
        let folder = try TemporaryFolder("journal")
        let database = try await DatabasePool.open(at: folder.file("c.sqlite"), schema: CatalogueSchema.schema)
        try await body(CatalogueJobJournal(database: database, reserve: nil), database)
        await database.close()
    }

    private func record(_ id: JobID, _ method: String = "library.import") -> JobRecord {
        JobRecord(snapshot: JobSnapshot(id: id, method: method), params: Data(#"{"paths":["/a"]}"#.utf8))
    }

    @Test func aJobComesBackAsItWasLeft() async throws {
        try await withJournal { journal, _ in
            try await journal.begin(record("a-1"))
            try await journal.append(
                JobLines([ReceiptLine(item: "x", outcome: "imported", detail: "d")], counted: ["duplicate": 2]),
                to: "a-1")
            try await journal.keep(
                checkpoint: Data([1, 2, 0]), JobLines([ReceiptLine(item: "y", outcome: "imported")]), of: "a-1")
            try await journal.note(.pause, of: "a-1")
            let found = try #require(try await journal.records().first)
            #expect(found.snapshot.state == .paused && found.request == .pause)
            #expect(found.snapshot.outcomes == ["imported": 2, "duplicate": 2])
            #expect(
                found.checkpoint == Data([1, 2, 0]) && found.params == record("a-1").params && found.role == .parent)
            #expect(try await journal.items(of: "a-1") == ["x", "y"])
            let page = try await journal.lines(of: "a-1", after: 1, limit: 10)
            #expect(page.lines == [ReceiptLine(item: "y", outcome: "imported")] && page.next == nil)
            #expect(try await journal.lines(of: "a-1", after: 0, limit: 1).next == 1)
            try await journal.resume("a-1", attempts: JobAttempts(count: 2, mark: 5), droppingLines: true)
            let resumed = try #require(try await journal.records().first)
            #expect(resumed.attempts == JobAttempts(count: 2, mark: 5) && resumed.snapshot.outcomes.isEmpty)
            #expect(resumed.snapshot.state == .running && resumed.checkpoint != nil)
        }
    }

    @Test func theEndKeepsTheResultAndNothingElse() async throws {
        try await withJournal { journal, _ in
            try await journal.begin(record("a-1"))
            try await journal.keep(checkpoint: Data([1]), JobLines(), of: "a-1")
            var ended = JobSnapshot(id: "a-1", method: "library.import", state: .failed)
            ended.endedAt = Timestamp.now()
            ended.error = MeshError(.dataLoss, "It broke.")
            ended.receipt = ["files": 3]
            try await journal.end(ended)
            let found = try #require(try await journal.records().first)
            #expect(found.snapshot.error == ended.error && found.snapshot.receipt == ended.receipt)
            #expect(found.snapshot.endedAt == ended.endedAt && found.params == nil && found.checkpoint == nil)
            // What comes too late changes nothing.
            try await journal.note(.pause, of: "a-1")
            #expect(try await journal.records().first?.snapshot.state == .failed)
            try await journal.forget(["a-1"])
            #expect(try await journal.records().isEmpty)
        }
    }

    @Test func whyAJobWasHeldIsKeptUntilItGoesOn() async throws {
        try await withJournal { journal, _ in
            try await journal.begin(record("a-1"))
            try await journal.note(.pause, of: "a-1")
            var held = JobSnapshot(id: "a-1", method: "library.import", state: .paused)
            held.obstacle = MeshError(.failedPrecondition, "It was broken off 5 times.")
            try await journal.suspend(held)
            let found = try #require(try await journal.records().first?.snapshot)
            #expect(found.state == .paused && found.obstacle == held.obstacle && found.error == nil)
            try await journal.resume("a-1", attempts: JobAttempts(), droppingLines: false)
            #expect(try await journal.records().first?.snapshot.obstacle == nil)
        }
    }

    @Test func linesPastTheBoundAreCountedAndRemovedWithTheirJob() async throws {
        try await withJournal { journal, database in
            try await journal.begin(record("a-1"))
            try await database.write { connection in
                try connection.execute(
                    """
                    WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < \(JobLimits.lines - 2))
                    INSERT INTO job_lines (job, number, item, outcome) SELECT 1, i, 'x', 'imported' FROM n
                    """)
            }
            try await journal.append(
                JobLines([ReceiptLine(item: "last", outcome: "new"), ReceiptLine(item: "past", outcome: "new")]),
                to: "a-1")
            let page = try await journal.lines(of: "a-1", after: JobLimits.lines - 1, limit: 10)
            #expect(page.lines.map(\.item) == ["last"] && page.next == nil)
            #expect(try await journal.records().first?.snapshot.outcomes == ["new": 2])
            try await journal.forget(["a-1"])
            let left = try await database.read { try $0.first("SELECT count(*) FROM job_lines") { try $0[0] as Int } }
            #expect(left == 0)
        }
    }
}
