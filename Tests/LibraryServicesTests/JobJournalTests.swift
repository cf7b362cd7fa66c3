import Database
import Foundation
import LibraryModel
@testable import LibraryServices
@testable import SQLiteCatalogue
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

@Suite struct JobJournalTests {
    private func withJournal(_ body: (CatalogueJobJournal, Database) async throws -> Void) async throws {
        let folder = try TemporaryFolder("journal")
        let database = try await Database.open(at: folder.file("c.sqlite"), schema: CatalogueSchema.schema)
        try await body(CatalogueJobJournal(database: database), database)
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
            #expect(page.lines == [ReceiptLine(item: "y", outcome: "imported")] && page.total == 2)
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
            ended.endedAt = Timestamp(milliseconds: 5000)
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
            #expect(page.lines.map(\.item) == ["last"] && page.total == JobLimits.lines)
            #expect(try await journal.records().first?.snapshot.outcomes == ["new": 2])
            try await journal.forget(["a-1"])
            let left = try await database.read { try $0.first("SELECT count(*) FROM job_lines") { try $0[0] as Int } }
            #expect(left == 0)
        }
    }

    @Test func rowsThatAreNoJobsDoNotKeepTheLibraryShut() async throws {
        let test = try await TestLibrary()
        await test.library.close()
        let database = try await Database.open(
            at: test.path + "/catalogue.sqlite", schema: CatalogueSchema.schema)
        try await database.write { connection in
            let rows: [(String, String, String, String?, String)] = [
                ("a", "library.import", "running", nil, "run"), ("b", "no.such", "paused", "[", "pause"),
                ("c", "backup.create", "what", "{}", "why"), ("d", "category.list", "interrupted", "{}", "run"),
                ("e", "backup.restore", "running", #"{"path":"/no/such"}"#, "run"),
                ("f", "library.import", "running", #"{"paths":["/no/such"]}"#, "cancel"),
            ]
            for (id, method, state, params, request) in rows {
                try connection.execute(
                    """
                    INSERT INTO jobs (id, method, params, role, state, request, started_at, needs_attention, progress,
                        checkpoint)
                    VALUES (?, ?, ?, 7, ?, ?, ?, 0, 'no json', x'00ff')
                    """, id, method, params, state, request, Int64.min)
            }
            try connection.execute(
                """
                INSERT INTO jobs (id, method, role, state, request, started_at, ended_at, needs_attention)
                VALUES (CAST(x'ff' AS TEXT), 'x', 1, 'running', 'run', 0, NULL, 0),
                    ('g', 'library.import', 1, 'finished', 'run', 0, 9223372036854775807, 0)
                """)
        }
        await database.close()
        let library = try await PhotoLibrary.open(at: test.path, options: .init(workers: 1))
        let jobs = try await library.mesh.send(ListJobs()).jobs
        #expect(jobs.map(\.id) == ["a", "b", "c", "d", "e", "f", "g"])
        for id in ["a", "c", "d", "e", "f"] {
            #expect(try await library.mesh.send(WaitForJob(job: id)).state.hasEnded, "\(id)")
        }
        _ = try await library.mesh.send(CancelJob(job: "b"))
        #expect(try await library.mesh.send(WaitForJob(job: "b")).state.hasEnded)
        let now = Timestamp.now().milliseconds
        #expect(try await library.mesh.send(GetJob(job: "g")).endedAt.map { $0.milliseconds <= now } == true)
        await library.close()
    }

    @Test func aRestoreThatWasMadeIsNotMadeAgain() async throws {
        let test = try await TestLibrary()
        await test.library.close()
        let made = MadeRestore(
            receipt: RestoreReceipt(
                backup: BackupSummary(
                    dialect: "smilepile", backupVersion: "1.0", appVersion: "1", timestamp: .now(), photoCount: 3,
                    categoryCount: 1, isPartial: false, sealedWith: nil),
                mode: .merge, isDryRun: false, categoriesAdded: 0, photosAdded: 3, photosKept: 0, photosRemoved: 0,
                swipeSessionsAdded: 0, ending: .completeWithProblems),
            lines: [ReceiptLine(item: "photos/a.jpg", outcome: "no_thumbnail", detail: "why")])
        let database = try await Database.open(
            at: test.path + "/catalogue.sqlite", schema: CatalogueSchema.schema)
        let journal = CatalogueJobJournal(database: database)
        try await journal.begin(
            JobRecord(
                snapshot: JobSnapshot(id: "restore-1", method: RestoreBackup.method),
                params: Data(#"{"path":"/no/such.zip"}"#.utf8)))
        try await journal.append(JobLines(made.lines), to: "restore-1")
        try await journal.keep(checkpoint: JSONEncoder().encode(made), JobLines(), of: "restore-1")
        await database.close()
        let library = try await PhotoLibrary.open(at: test.path, options: .init(workers: 1))
        let job = try await library.mesh.send(WaitForJob(job: "restore-1"))
        #expect(job.state == .finished && job.needsAttention && job.receipt?["photosAdded"] == 3, "\(job)")
        #expect(try await library.mesh.send(GetJobReceipt(job: "restore-1")).lines == made.lines)
        await library.close()
    }

    @Test func aPhotoAndItsLineAreEnteredTogetherOrNotAtAll() async throws {
        let test = try await TestLibrary()
        let job = try await test.importSamples(1, album: SampleAlbum(width: 32, height: 24))
        let photo = try #require(try await test.allPhotos().first)
        let context = CallContext.root(mesh: test.mesh, role: .service)
        let line = ReceiptLine(item: "again", outcome: "imported")
        func add(category: Int64, digest: String) async -> MeshStatus? {
            let copy = Photo(
                id: 0, uuid: UUID().uuidString.lowercased(), path: "photos/\(digest).jpg", categoryId: category,
                name: "n", caption: nil, isFromAssets: false, createdAt: .now(), fileSize: 1, width: 1, height: 1,
                isFavorite: false, takenAt: nil, contentDigest: digest, mediaType: "image/jpeg")
            return await status {
                _ = try await test.mesh.send(
                    AddPhoto(photo: copy, sourceDigest: digest, sourceSize: 1, job: job.id, line: line), in: context)
            }
        }
        #expect(await add(category: 9999, digest: "d1") == .notFound)
        #expect(try await test.lines(job.id).count == 1)
        #expect(await add(category: photo.categoryId, digest: "d2") == nil)
        #expect(await add(category: photo.categoryId, digest: "d2") == .alreadyExists)
        let lines = try await test.lines(job.id)
        #expect(lines.count == 2 && lines.last == line)
        await test.library.close()
    }
}
