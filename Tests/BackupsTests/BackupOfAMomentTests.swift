import Database
import Foundation
import LibraryModel
import LibraryTestSupport
@testable import SQLiteCatalogue
import SampleAlbum
@testable import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// A backup holds the library as it was at one moment, whatever is deleted while it is made.
@Suite struct BackupOfAMomentTests {
    /// A library of 30 photos with a backup that stands still once it has read the catalogue.
    private func begun(_ target: (TestLibrary) -> String = { $0.folder.file("b.zip") }) async throws -> (
        SteppedLibrary, JobID, String
    ) {
        let test = try await TestLibrary("moment")
        _ = try await test.importSamples(30, album: SampleAlbum(width: 64, height: 48))
        await test.library.close()
        let library = try await SteppedLibrary(test)
        let target = target(test)
        library.steps.hold { FileManager.default.fileExists(atPath: target + ".partial") }
        let job = try await library.mesh.send(CreateBackup(path: target)).job
        await library.steps.arrived()
        return (library, job, target)
    }

    /// Closes the library while its backup stands still, which then goes on as far as its checkpoint.
    private func interrupt(_ library: SteppedLibrary, andThen update: String, _ job: JobID) async throws {
        await library.mesh.jobs.suspendAll()
        library.steps.letGo()
        await library.mesh.stop()
        try await library.database.write { try $0.execute(update + " WHERE id = ?", job) }
        await library.close()
    }

    @Test func photosThatArePurgedMeanwhileAreInItAndGoAfterwards() async throws {
        let (library, job, target) = try await begun()
        let purged = try await library.photos().prefix(20)
        for photo in purged { try await library.purge([photo]) }
        #expect(purged.allSatisfy { library.isThere($0.path) && !library.isThere($0.thumbnailPath) })
        library.steps.letGo()
        let made = try await library.mesh.send(WaitForJob(job: job))
        #expect(made.state == .finished && !made.needsAttention && made.outcomes.isEmpty, "\(made)")
        #expect(made.receipt?["photos"] == 30)
        #expect(purged.allSatisfy { !library.isThere($0.path) })
        #expect(try await library.database.read { try DiscardedFileTable(connection: $0).all() }.isEmpty)
        let check = try await library.run(VerifyBackup(path: target))
        #expect(check.state == .finished && check.receipt?["backup"]?["photoCount"] == 30, "\(check)")
        await library.close()
    }

    @Test func whatABackupKeptGoesWhenItIsCancelled() async throws {
        let (library, job, target) = try await begun()
        let purged = try await library.photos().prefix(3)
        try await library.purge(purged)
        _ = try await library.mesh.send(CancelJob(job: job))
        library.steps.letGo()
        #expect(try await library.mesh.send(WaitForJob(job: job)).state == .cancelled)
        #expect(purged.allSatisfy { !library.isThere($0.path) })
        #expect(!FileManager.default.fileExists(atPath: target + ".partial"))
        await library.close()
    }

    @Test func filesAreKeptOverARestartForABackupThatGoesOn() async throws {
        let (library, job, _) = try await begun()
        let test = library.test
        try await interrupt(library, andThen: "UPDATE jobs SET request = 'pause', state = 'paused'", job)
        let second = try await PhotoLibrary.open(at: test.path, options: .init(workers: 1))
        let photos = try await second.mesh.send(SearchPhotos(limit: 1000)).photos
        let ids = photos.prefix(10).map(\.id)
        _ = try await second.mesh.send(DeletePhotos(ids: ids))
        _ = try await second.mesh.send(PurgeTrash(ids: ids))
        await second.close()

        let third = try await PhotoLibrary.open(at: test.path, options: .init(workers: 1))
        #expect(try test.files("photos").count == 30)
        _ = try await third.mesh.send(ResumeJob(job: job))
        let made = try await third.mesh.send(WaitForJob(job: job))
        #expect(made.state == .finished && !made.needsAttention && made.receipt?["photos"] == 30, "\(made)")
        await third.close()
        #expect(try test.files("photos").count == 20 && test.files("thumbnails").count == 20)
    }

    @Test func nothingIsKeptForABackupThatHasEndedWithoutSayingSo() async throws {
        let (library, job, target) = try await begun()
        let test = library.test
        let purged = try await library.photos().prefix(3)
        try await library.purge(purged)
        try await interrupt(library, andThen: "UPDATE jobs SET state = 'failed', ended_at = 1", job)
        try await PhotoLibrary.open(at: test.path, options: .init(workers: 1)).close()
        #expect(try test.files("photos").count == 27)
        #expect(!FileManager.default.fileExists(atPath: target + ".partial"))
    }

    /// Other programs are not asked to wait.
    @Test func whatIsRemovedByHandMeanwhileIsLeftOutAndTold() async throws {
        let (library, job, target) = try await begun()
        let photos = try await library.photos()
        try FileManager.default.removeItem(atPath: library.folder.path + "/" + photos[4].path)
        library.steps.letGo()
        let made = try await library.mesh.send(WaitForJob(job: job))
        #expect(made.state == .finished && made.outcomes == ["unreadable": 1], "\(made)")
        #expect(made.receipt?["photos"] == 29)
        #expect(try await library.run(VerifyBackup(path: target)).state == .finished)
        await library.close()
    }
}
