import Database
import Foundation
import LibraryModel
import LibraryTestSupport
@testable import Backups
@testable import SQLiteCatalogue
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// Jobs that a library finds in its catalogue when it opens, and lines that come with photos.
@Suite struct FoundJobsTests {
    @Test func rowsThatAreNoJobsDoNotKeepTheLibraryShut() async throws {
        let test = try await TestLibrary()
        await test.library.close()
        let database = try await DatabasePool.open(
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
        let database = try await DatabasePool.open(
            at: test.path + "/catalogue.sqlite", schema: CatalogueSchema.schema)
        let journal = CatalogueJobJournal(database: database, reserve: nil)
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
                    AddPhoto(
                        SourcedPhoto(photo: copy, sourceDigest: digest, sourceSize: 1), job: job.id, line: line),
                    in: context)
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
