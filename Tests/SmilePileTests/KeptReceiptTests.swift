import Database
import Foundation
import LibraryModel
import LibraryTestSupport
import SQLiteCatalogue
import SampleAlbum
@testable import ServiceMesh
import SmilePile
import TestSupport
import Testing

extension JobStore {
    /// Returns when the ends of jobs are seen to that were told by now.
    fileprivate func untilTidy() async {
        for entry in entries.values where entry.job.snapshot.state.hasEnded { await entry.task?.value }
        await tidying?.value
    }
}

/// What a person finds of an import three weeks later: which files it did not take, and why.
@Suite struct KeptReceiptTests {
    /// Lets the library believe that its jobs ended so many days earlier, and opens it again.
    private func reopened(_ test: TestLibrary, days: Int64) async throws -> PhotoLibrary {
        await test.library.close()
        return try await reopened(test.path, days: days)
    }

    private func reopened(_ path: String, days: Int64) async throws -> PhotoLibrary {
        let catalogue = try await SQLiteCatalogue(at: path + "/catalogue.sqlite")
        try await catalogue.database.write { connection in
            try connection.execute(
                "UPDATE jobs SET started_at = started_at - ?1, ended_at = ended_at - ?1", days * 86_400_000)
        }
        await catalogue.close()
        return try await PhotoLibrary.open(at: path, options: .init(workers: 2))
    }

    @Test func theReceiptOfAnImportIsThereThreeWeeksLater() async throws {
        let test = try await TestLibrary()
        let album = test.folder.file("album")
        try SampleAlbum(width: 64, height: 48).write(count: 3, to: album)
        try Data("not a picture".utf8).write(to: URL(fileURLWithPath: album + "/notes.jpg"))
        let now = try await test.importing(album)
        let told = try await test.lines(now.id)
        let check = try await test.run(RescanLibrary())
        #expect(now.state == .finished && now.needsAttention && check.state == .finished)

        let library = try await reopened(test, days: 21)
        #expect(try await library.mesh.send(ListJobs()).jobs.isEmpty)
        let all = try await library.mesh.send(ListJobs(all: true)).jobs
        #expect(all.map(\.id) == [check.id, now.id])
        let then = try await library.mesh.send(GetJob(job: now.id))
        #expect(then.receipt == now.receipt && then.outcomes == now.outcomes && then.state == now.state)
        #expect(then.needsAttention && then.unlistedLines == nil && then.progress == now.progress)
        let lines = try await library.mesh.send(GetJobReceipt(job: now.id)).lines
        #expect(lines == told)
        #expect(lines.contains { $0.item == album + "/notes.jpg" && $0.outcome == "unsupported" && $0.detail != nil })
        await library.close()

        let later = try await reopened(test.path, days: 70)
        #expect(try await later.mesh.send(ListJobs(all: true)).jobs.isEmpty)
        #expect(await status { _ = try await later.mesh.send(GetJob(job: now.id)) } == .notFound)
        await later.close()
    }

    @Test func oldReceiptsGoByThemselvesAtTheStart() async throws {
        let test = try await TestLibrary()
        let job = try await test.importSamples(12, album: SampleAlbum(width: 64, height: 48))
        #expect(job.outcomes == ["imported": 12])
        #expect(try await rows(test.library) == [1, 12, 1])
        let library = try await reopened(test, days: 91)
        await library.mesh.jobs.untilTidy()
        #expect(try await rows(library) == [0, 0, 0])
        #expect(try await library.mesh.send(CountPhotos()).count == 12)
        await library.close()
    }

    /// A job of which the journal does not know that it has ended would be done again by some later start.
    @Test func anEndThatCouldNotBeWrittenDownIsWrittenDownLater() async throws {
        let test = try await TestLibrary()
        let database = test.library.catalogue.database
        try await database.write { connection in
            try connection.execute(
                "CREATE TRIGGER refuse BEFORE UPDATE OF ended_at ON jobs BEGIN SELECT RAISE(ABORT, 'refused'); END")
        }
        let ended = try await test.run(RescanLibrary())
        #expect(ended.state == .finished, "it is told all the same")
        await test.mesh.jobs.untilTidy()
        #expect(try await unfinished(database) == 1)
        try await database.write { try $0.execute("DROP TRIGGER refuse") }
        _ = try await test.run(RescanLibrary())
        await test.mesh.jobs.untilTidy()
        #expect(try await unfinished(database) == 0)
        #expect(try await test.mesh.send(GetJob(job: ended.id)) == ended)
        let library = try await reopened(test, days: 0)
        #expect(try await library.mesh.send(GetJob(job: ended.id)) == ended)
        await library.close()
    }

    private func unfinished(_ database: DatabasePool) async throws -> Int {
        try await database.read { try $0.value("SELECT count(*) FROM jobs WHERE ended_at IS NULL") ?? -1 }
    }

    private func rows(_ library: PhotoLibrary) async throws -> [Int] {
        try await library.catalogue.database.read { connection in
            try ["jobs", "job_lines", "job_outcomes"].map { try connection.value("SELECT count(*) FROM \($0)") ?? -1 }
        }
    }
}
