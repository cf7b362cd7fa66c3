import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import ServiceMeshTesting
import SmilePile
import TestSupport
import Testing

/// A library that is closed under its jobs and opened again.
@Suite struct InterruptedJobsTests {
    private func reopened(_ test: TestLibrary) async throws -> PhotoLibrary {
        try await PhotoLibrary.open(at: test.path, options: .init(workers: 2))
    }

    /// Closes the library once the job has come to `items` of `phase`.
    private func close(_ test: TestLibrary, _ job: JobID, at phase: String, items: Int64 = 0) async throws {
        try await test.mesh.firstValue(of: WatchJob(job: job)) {
            $0.progress.phase == phase && $0.progress.itemsDone >= items
        }
        await test.library.close()
    }

    @Test(arguments: [false, true])
    func anImportGoesOnAndItsReceiptCoversBothRuns(_ isDryRun: Bool) async throws {
        let test = try await TestLibrary()
        let album = test.folder.file("album")
        try SampleAlbum(width: 320, height: 240).write(count: 150, to: album)
        try Data("not a picture".utf8).write(to: URL(fileURLWithPath: album + "/a.jpg"))
        symlink("/etc/passwd", album + "/link.jpg")
        let job = try await test.mesh.send(ImportPhotos(paths: [album], dryRun: isDryRun)).job
        let watching = Task { [mesh = test.mesh] in try await mesh.observe(WatchJob(job: job)) { _ in } }
        try await close(test, job, at: isDryRun ? "checking" : "importing", items: 50)
        #expect(try await watching.value.state == .interrupted)
        #expect(try test.files("staging").isEmpty)

        let library = try await reopened(test)
        let ended = try await library.mesh.send(WaitForJob(job: job))
        #expect(ended.state == .finished && ended.outcomes == ["imported": 150, "unsupported": 1, "unreadable": 1])
        #expect(ended.receipt?["files"] == 152 && ended.receipt?["imported"] == 150 && ended.receipt?["problems"] == 2)
        let lines = try await library.mesh.send(GetJobReceipt(job: job)).lines
        #expect(lines.count == 152 && Set(lines.map(\.item)).count == 152)
        let photos = try await library.mesh.send(SearchPhotos(limit: 1000)).photos
        #expect(photos.count == (isDryRun ? 0 : 150))
        #expect(try test.files("photos") == photos.map(\.fileName).sorted())
        #expect(try test.files("thumbnails").count == photos.count && test.files("staging").isEmpty)
        await library.close()
    }

    @Test func theCategoryIsTheSameInBothRuns() async throws {
        let test = try await TestLibrary()
        let album = test.folder.file("album")
        try SampleAlbum(width: 320, height: 240).write(count: 60, to: album)
        let job = try await test.mesh.send(ImportPhotos(paths: [album])).job
        try await close(test, job, at: "importing", items: 10)
        // Paused by hand, because the job goes on as soon as the library is open.
        let library = try await reopened(test)
        _ = try? await library.mesh.send(PauseJob(job: job))
        let categories = try await library.mesh.send(ListCategories()).categories
        _ = try await library.mesh.send(ReorderCategories(ids: categories.map(\.id).reversed()))
        await library.close()
        let again = try await reopened(test)
        _ = try? await again.mesh.send(ResumeJob(job: job))
        #expect(try await again.mesh.send(WaitForJob(job: job)).outcomes == ["imported": 60])
        let photos = try await again.mesh.send(SearchPhotos(limit: 1000)).photos
        #expect(Set(photos.map(\.categoryId)) == [categories[0].id])
        await again.close()
    }

    @Test(arguments: ["reading the catalogue", "copying", "verifying"])
    func aBackupGoesOn(_ phase: String) async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(60, album: SampleAlbum(width: 320, height: 240))
        let target = test.folder.file("b.zip")
        let job = try await test.mesh.send(CreateBackup(path: target)).job
        try await close(test, job, at: phase)
        let library = try await reopened(test)
        let ended = try await library.mesh.send(WaitForJob(job: job))
        #expect(ended.state == .finished && !ended.needsAttention, "\(ended)")
        #expect(ended.receipt?["photos"] == 60 && ended.receipt?["path"] == .string(target))
        #expect(!FileManager.default.fileExists(atPath: target + ".partial"))
        let check = try await library.mesh.send(VerifyBackup(path: target)).job
        #expect(try await library.mesh.send(WaitForJob(job: check)).state == .finished)
        await library.close()
    }

    @Test func aPausedBackupKeepsItsFileOverARestart() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(200, album: SampleAlbum(width: 128, height: 96))
        var paused: (job: JobID, target: String)?
        // Whether the pause comes before the end is a matter of luck; that it comes once in twenty times is not.
        for round in 0..<20 where paused == nil {
            let target = test.folder.file("b\(round).zip")
            let job = try await test.mesh.send(CreateBackup(path: target)).job
            // A file that is only just made may be given up again.
            try await test.mesh.firstValue(of: WatchJob(job: job)) { $0.progress.phase == "copying" }
            if (try? await test.mesh.send(PauseJob(job: job)).state) == .paused {
                paused = (job, target)
            } else {
                _ = try await test.mesh.send(WaitForJob(job: job))
            }
        }
        let (job, target) = try #require(paused)
        await test.library.close()
        let library = try await reopened(test)
        let now = try await library.mesh.send(GetJob(job: job))
        if now.state == .paused {
            // It may have stood still when all was written, and the file had its name.
            let names = [target + ".partial", target].filter { FileManager.default.fileExists(atPath: $0) }
            #expect(names.count == 1, "\(names)")
            _ = try await library.mesh.send(ResumeJob(job: job))
        }
        let ended = try await library.mesh.send(WaitForJob(job: job))
        #expect(ended.state == .finished && ended.receipt?["photos"] == 200, "\(ended)")
        #expect(!FileManager.default.fileExists(atPath: target + ".partial"))
        await library.close()
    }

    @Test func aPausedBackupThatIsCancelledAfterARestartLeavesNoFile() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(20, album: SampleAlbum(width: 64, height: 48))
        let target = test.folder.file("b.zip")
        let job = try await test.mesh.send(CreateBackup(path: target)).job
        let isPaused = (try? await test.mesh.send(PauseJob(job: job)).state) == .paused
        await test.library.close()
        let library = try await reopened(test)
        _ = try await library.mesh.send(CancelJob(job: job))
        let ended = try await library.mesh.send(WaitForJob(job: job))
        #expect(ended.state == .cancelled || (!isPaused || ended.state == .finished), "\(ended)")
        #expect(!FileManager.default.fileExists(atPath: target + ".partial"))
        #expect(FileManager.default.fileExists(atPath: target) == (ended.state == .finished))
        await library.close()
    }

    @Test(arguments: [RestoreMode.merge, .replace], ["verifying", "restoring", "switching"])
    func aRestoreGoesOn(_ mode: RestoreMode, _ phase: String) async throws {
        let old = try await TestLibrary("old")
        _ = try await old.importSamples(30, album: SampleAlbum(width: 64, height: 48))
        let backup = old.folder.file("b.zip")
        #expect(try await old.run(CreateBackup(path: backup)).state == .finished)
        await old.library.close()
        let new = try await TestLibrary("new")
        let job = try await new.mesh.send(RestoreBackup(path: backup, mode: mode)).job
        try await close(new, job, at: phase)
        let library = try await reopened(new)
        let ended = try await library.mesh.send(WaitForJob(job: job))
        #expect(ended.state == .finished && ended.receipt?["photosAdded"] == 30, "\(ended)")
        #expect(try await library.mesh.send(SearchPhotos(limit: 1000)).photos.count == 30)
        #expect(try new.files("photos").count == 30 && new.files("thumbnails").count == 30)
        #expect(try new.files("staging").isEmpty)
        await library.close()
    }

    @Test func resultsAreThereAfterARestart() async throws {
        let test = try await TestLibrary()
        let job = try await test.importSamples(5, album: SampleAlbum(width: 64, height: 48))
        let lines = try await test.lines(job.id)
        await test.library.close()
        let library = try await reopened(test)
        #expect(try await library.mesh.send(GetJob(job: job.id)) == job)
        #expect(try await library.mesh.send(GetJobReceipt(job: job.id)).lines == lines)
        #expect(lines.count == 5)
        await library.close()
    }
}
