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
