import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import Synchronization
import Testing

/// What stays behind when something is called off, fails, or meets files of others: nothing of ours, all of theirs.
@Suite struct CleaningUpTests {
    /// Runs a job and cancels it as soon as it begins `phase`.
    private func run<M: HandledJob>(
        _ message: M, in test: TestLibrary, cancellingAt phase: String
    ) async throws -> JobSnapshot {
        let started = try await test.mesh.send(message)
        let mesh = test.mesh
        return try await mesh.observe(WatchJob(job: started.job)) { change in
            if change.value.progress.phase == phase { _ = try await mesh.send(CancelJob(job: started.job)) }
        }
    }

    @Test(arguments: ["reading the catalogue", "copying", "verifying"])
    func aCancelledBackupLeavesNoFile(_ phase: String) async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(40, album: SampleAlbum(width: 320, height: 240))
        for round in 0..<4 {
            let target = test.folder.file("b\(round).zip")
            let job = try await run(CreateBackup(path: target), in: test, cancellingAt: phase)
            #expect(job.state == .cancelled || job.state == .finished, "\(String(describing: job.error))")
            #expect(!FileManager.default.fileExists(atPath: target + ".partial"))
            #expect(FileManager.default.fileExists(atPath: target) == (job.state == .finished))
        }
        await test.library.close()
    }

    @Test(arguments: [RestoreMode.merge, .replace], ["verifying", "restoring", "switching"])
    func aCancelledRestoreIsAllOrNothingAndSaysWhich(_ mode: RestoreMode, _ phase: String) async throws {
        let old = try await TestLibrary("old")
        _ = try await old.importSamples(20, album: SampleAlbum(width: 64, height: 48))
        let backup = old.folder.file("b.zip")
        #expect(try await old.run(CreateBackup(path: backup)).state == .finished)
        for _ in 0..<3 {
            let new = try await TestLibrary("new")
            let job = try await run(RestoreBackup(path: backup, mode: mode), in: new, cancellingAt: phase)
            #expect(job.state == .cancelled || job.state == .finished)
            #expect(try await new.allPhotos().count == (job.state == .finished ? 20 : 0))
            #expect(try new.files("photos").count == (job.state == .finished ? 20 : 0))
            #expect(try new.files("thumbnails").count == (job.state == .finished ? 20 : 0))
            #expect(try new.files("staging").isEmpty)
            await new.library.close()
        }
        await old.library.close()
    }

    @Test func aRestoreWithoutWorkersEndsAndLeavesNothing() async throws {
        let old = try await TestLibrary("old")
        _ = try await old.importSamples(3, album: SampleAlbum(width: 64, height: 48))
        // Nothing has to be made of a backup that has thumbnails; of this one something has.
        for thumbnail in try old.files("thumbnails").prefix(1) {
            try FileManager.default.removeItem(atPath: old.path + "/thumbnails/" + thumbnail)
        }
        let backup = old.folder.file("b.zip")
        #expect(try await old.run(CreateBackup(path: backup)).state == .finished)
        let path = old.folder.file("new")
        let new = try await PhotoLibrary.open(at: path, options: .init(imageWorker: "/bin/false", workers: 1))
        let started = try await new.mesh.send(RestoreBackup(path: backup))
        let job = try await new.mesh.send(WaitForJob(job: started.job))
        #expect(job.state == .failed && job.error?.status == .unavailable, "\(job)")
        #expect(try await new.mesh.send(CountPhotos()).count == 0)
        for folder in ["photos", "thumbnails", "staging"] {
            #expect(try FileManager.default.contentsOfDirectory(atPath: path + "/" + folder).isEmpty, "\(folder)")
        }
        await new.close()
        await old.library.close()
    }

    @Test func anothersPartialFileIsNotTouched() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(1, album: SampleAlbum(width: 32, height: 24))
        let target = test.folder.file("b.zip")
        let theirs = Data("a download that is not ours".utf8)
        try theirs.write(to: URL(fileURLWithPath: target + ".partial"))
        #expect(await status { _ = try await test.mesh.send(CreateBackup(path: target)) } == .alreadyExists)
        #expect(try Data(contentsOf: URL(fileURLWithPath: target + ".partial")) == theirs)
        await test.library.close()
        let again = try await PhotoLibrary.open(at: test.path, options: .init(workers: 1))
        #expect(try Data(contentsOf: URL(fileURLWithPath: target + ".partial")) == theirs)
        await again.close()
    }

    @Test func aReplacedPhotoKeepsItsThumbnailWhenItsLostTwinIsPurged() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(2, album: SampleAlbum(width: 32, height: 24))
        let backup = test.folder.file("b.zip")
        #expect(try await test.run(CreateBackup(path: backup)).state == .finished)
        let lost = try await test.allPhotos()[0]
        try FileManager.default.removeItem(atPath: test.path + "/" + lost.path)
        let job = try await test.run(RestoreBackup(path: backup, mode: .replace))
        #expect(job.state == .finished, "\(String(describing: job.error))")
        // The row of the file that was lost is in the trash; its purge must not take what is the new one's.
        #expect(try await test.mesh.send(PurgeTrash(all: true)).count == 1)
        for photo in try await test.allPhotos() {
            #expect(FileManager.default.fileExists(atPath: test.path + "/" + photo.path))
            #expect(FileManager.default.fileExists(atPath: test.path + "/" + photo.thumbnailPath))
        }
        _ = try await test.mesh.send(DeletePhotos(ids: test.allPhotos().map(\.id)))
        await test.library.close()
    }

    @Test func anOrphanedThumbnailDoesNotEndRestoring() async throws {
        let old = try await TestLibrary("old")
        _ = try await old.importSamples(2, album: SampleAlbum(width: 32, height: 24))
        let backup = old.folder.file("b.zip")
        #expect(try await old.run(CreateBackup(path: backup)).state == .finished)
        let new = try await TestLibrary("new")
        let orphan = try await new.path + "/" + old.allPhotos()[0].thumbnailPath
        try Data("orphan".utf8).write(to: URL(fileURLWithPath: orphan))
        let job = try await new.run(RestoreBackup(path: backup))
        #expect(job.state == .finished, "\(String(describing: job.error))")
        #expect(try new.files("staging").isEmpty)
        #expect(try Data(contentsOf: URL(fileURLWithPath: orphan)) == Data("orphan".utf8))
        await new.library.close()
        await old.library.close()
    }

    @Test func photosOfTheTrashComeBackIntoTheirCategoryAfterAReplacement() async throws {
        let old = try await TestLibrary("old")
        let ids = try await old.mesh.send(ListCategories()).categories.map(\.id)
        // The same numbers as in any new library, for other categories.
        for (id, name) in zip(ids, ["Wedding", "Garden", "Cats", "Family"]) {
            _ = try await old.mesh.send(EditCategory(id: id, displayName: name))
        }
        let backup = old.folder.file("b.zip")
        #expect(try await old.run(CreateBackup(path: backup)).state == .finished)
        let new = try await TestLibrary("new")
        _ = try await new.importSamples(1, album: SampleAlbum(width: 32, height: 24))
        _ = try await new.mesh.send(DeletePhotos(ids: new.allPhotos().map(\.id)))
        #expect(try await new.run(RestoreBackup(path: backup, mode: .replace)).state == .finished)
        let trashed = try await new.mesh.send(ListTrash()).photos
        _ = try await new.mesh.send(RestorePhotos(ids: trashed.map(\.photo.id)))
        let photo = try #require(try await new.allPhotos().first)
        #expect(try await new.mesh.send(GetCategory(id: photo.categoryId)).displayName == "Family")
        await new.library.close()
        await old.library.close()
    }

    @Test func purgesThatMeetTakeEachPhotoOnce() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(30, album: SampleAlbum(width: 16, height: 16))
        for _ in 0..<8 {
            _ = try await test.mesh.send(DeletePhotos(ids: test.allPhotos().map(\.id)))
            let mesh = test.mesh
            let counts = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<6 { group.addTask { try await mesh.send(PurgeTrash(all: true)).count } }
                return try await group.reduce(0, +)
            }
            #expect(counts == 30)
            #expect(try test.files("photos").isEmpty && test.files("thumbnails").isEmpty)
            _ = try await test.importing(test.folder.file("album"))
        }
        await test.library.close()
    }

    @Test func foldersOfOthersInStagingDoNotKeepTheLibraryShut() async throws {
        let test = try await TestLibrary()
        await test.library.close()
        try FileManager.default.createDirectory(
            atPath: test.path + "/staging/@eaDir", withIntermediateDirectories: false)
        try Data().write(to: URL(fileURLWithPath: test.path + "/staging/thumb_"))
        let again = try await PhotoLibrary.open(at: test.path, options: .init(workers: 1))
        #expect(try test.files("staging") == ["@eaDir"])
        await again.close()
    }

    @Test func theLibraryIsNotImportedThroughALinkToIt() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(2, album: SampleAlbum(width: 32, height: 24))
        await test.library.close()
        let link = test.folder.file("link")
        symlink(test.path, link)
        let linked = try await PhotoLibrary.open(at: link, options: .init(workers: 1))
        let started = try await linked.mesh.send(ImportPhotos(paths: [test.folder.path]))
        let job = try await linked.mesh.send(WaitForJob(job: started.job))
        // The album again, and one line for the library itself; its thumbnails are no photos.
        #expect(job.outcomes["imported"] == nil && job.outcomes["duplicate"] == 2, "\(job.outcomes)")
        await linked.close()
    }

    @Test func anIconHasABound() async throws {
        let test = try await TestLibrary()
        let icon = String(repeating: "i", count: 1 << 20)
        #expect(
            await status { _ = try await test.mesh.send(AddCategory(displayName: "x", iconResource: icon)) }
                == .invalidArgument)
        let id = try await test.mesh.send(ListCategories()).categories[0].id
        #expect(
            await status { _ = try await test.mesh.send(EditCategory(id: id, iconResource: icon)) } == .invalidArgument)
        await test.library.close()
    }

    @Test func categoriesHaveABound() async throws {
        let test = try await TestLibrary()
        for number in 4..<1000 { _ = try await test.mesh.send(AddCategory(displayName: "n\(number)")) }
        #expect(
            await status { _ = try await test.mesh.send(AddCategory(displayName: "one more")) } == .resourceExhausted)
        await test.library.close()
    }

    @Test func aBackupOfNothingIsRefusedAtOnce() async throws {
        let test = try await TestLibrary()
        let path = test.folder.file("b.zip")
        #expect(
            await status { _ = try await test.mesh.send(CreateBackup(path: path, categoryIds: [])) } == .invalidArgument
        )
        await test.library.close()
    }
}
