import CatalogueTestSupport
import Foundation
import Imaging
import LibraryModel
import LibraryStorage
import LibraryTestSupport
import PhotoFolder
import SampleAlbum
import ServiceMesh
import ServiceMeshTesting
import SmilePile
import TestSupport
import Testing

/// Thumbnails of stored photos: made where they are missing, replaced where this version makes better ones.
@Suite struct ThumbnailTests {
    private func library(_ count: Int) async throws -> (test: TestLibrary, photos: [Photo]) {
        let test = try await TestLibrary("thumbnails")
        #expect(try await test.importSamples(count).outcomes == ["imported": count])
        return (test, try await test.allPhotos())
    }

    private func write(_ bytes: some Sequence<UInt8>, to path: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    /// As an earlier version made it: without a word of who did.
    private func old(_ thumbnail: Data) throws -> Data {
        let comment = try #require(thumbnail.firstRange(of: Data("SmilePile thumbnail \(ThumbnailMaker.version)".utf8)))
        return thumbnail[..<(comment.lowerBound - 4)] + thumbnail[comment.upperBound...]
    }

    // MARK: One

    @Test func aMissingThumbnailIsMadeWhenItIsAskedFor() async throws {
        let (test, photos) = try await library(2)
        let photo = photos[0]
        let before = try test.bytes(photo.thumbnailPath)
        #expect(ThumbnailMaker.version(ofThumbnail: Array(before.prefix(64))) == ThumbnailMaker.version)
        unlink(test.path + "/" + photo.thumbnailPath)
        for request in [GetThumbnail(id: photo.id), GetThumbnail(uuid: photo.uuid)] {
            #expect(try await test.mesh.send(request) == PhotoThumbnail(path: photo.thumbnailPath))
            #expect(try test.bytes(photo.thumbnailPath) == before)
        }
        #expect(try test.files("staging").isEmpty && test.files("thumbnails").count == 2)
        let kid = CallContext.root(mesh: test.mesh, role: .kid)
        #expect(try await test.mesh.send(GetThumbnail(id: photos[1].id), in: kid).path == photos[1].thumbnailPath)
        #expect(await status { _ = try await test.mesh.send(GetThumbnail(id: 99)) } == .notFound)
        await test.library.close()
    }

    /// Whoever put it there, nothing else is written to.
    @Test func whatIsNoThumbnailIsReplaced() async throws {
        let (test, photos) = try await library(1)
        let path = test.path + "/" + photos[0].thumbnailPath
        let before = try test.bytes(photos[0].thumbnailPath)
        let theirs = test.folder.file("theirs")
        try write("theirs".utf8, to: theirs)
        let others: [() throws -> Void] = [
            { try self.write([], to: path) }, { try self.write("<svg/>".utf8, to: path) },
            { try #require(symlink(theirs, path) == 0) }, { try #require(mkfifo(path, 0o600) == 0) },
        ]
        for other in others {
            unlink(path)
            try other()
            _ = try await test.mesh.send(GetThumbnail(id: photos[0].id))
            #expect(try test.bytes(photos[0].thumbnailPath) == before)
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: theirs)) == Data("theirs".utf8))
        unlink(path)
        try #require(mkdir(path, 0o700) == 0)
        await #expect(throws: MeshError.self) { try await test.mesh.send(GetThumbnail(id: photos[0].id)) }
        #expect(try test.files("staging").isEmpty)
        await test.library.close()
    }

    @Test func aThumbnailIsMadeOnceForAllWhoAskForIt() async throws {
        let (test, photos) = try await library(3)
        let mesh = test.mesh
        for photo in photos { unlink(test.path + "/" + photo.thumbnailPath) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<10 {
                for photo in photos { group.addTask { _ = try await mesh.send(GetThumbnail(id: photo.id)) } }
            }
            try await group.waitForAll()
        }
        #expect(try test.files("staging").isEmpty && test.files("thumbnails").count == 3)
        await test.library.close()
    }

    @Test func whoGivesUpWaitsForNoHelper() async throws {
        let (test, photos) = try await library(1)
        await test.library.close()
        let script = test.folder.file("worker.sh")
        try write(
            "#!/bin/sh\necho '{\"outcome\":{\"ready\":{}}}' >&0\nexec sleep 1000\n".utf8,
            to: script)
        try #require(chmod(script, 0o700) == 0)
        unlink(test.path + "/" + photos[0].thumbnailPath)
        let library = try await PhotoLibrary.open(at: test.path, options: .init(imageWorker: script, workers: 1))
        for _ in 0..<2 {
            let asking = Task { try await library.mesh.send(GetThumbnail(id: photos[0].id)) }
            asking.cancel()
            #expect(await status { _ = try await asking.value } == .cancelled)
        }
        await library.close()
        #expect(try test.files("staging").isEmpty)
    }

    // MARK: Photos that cannot be opened

    @Test func aPhotoOfWhichNoneCanBeMadeIsNotTriedEachTime() async throws {
        let (test, photos) = try await library(2)
        let photo = test.path + "/" + photos[0].path
        let good = try test.bytes(photos[0].path)
        try write("not a picture".utf8, to: photo)
        unlink(test.path + "/" + photos[0].thumbnailPath)
        func refusal() async -> MeshStatus? {
            await status { _ = try await test.mesh.send(GetThumbnail(id: photos[0].id)) }
        }
        #expect(await refusal() == .dataLoss)
        let job = try await test.run(RebuildThumbnails())
        #expect(job.outcomes == ["no_thumbnail": 1] && job.needsAttention && job.state == .finished)
        let line = try #require(try await test.lines(job.id).first)
        #expect(line.item == photos[0].path && line.detail?.hasSuffix("Restore it from a backup.") == true, "\(line)")
        try write(good, to: photo)
        #expect(await refusal() == .dataLoss, "it is remembered")
        #expect(try await test.run(RebuildThumbnails()).receipt?["made"] == 1)
        #expect(await refusal() == nil)
        #expect(try test.files("staging").isEmpty)
        await test.library.close()
    }

    @Test func aPhotoWithoutItsFileKeepsTheThumbnailThatItHas() async throws {
        let (test, photos) = try await library(2)
        for photo in photos { unlink(test.path + "/" + photo.path) }
        unlink(test.path + "/" + photos[0].thumbnailPath)
        do {
            _ = try await test.mesh.send(GetThumbnail(id: photos[0].id))
            Issue.record("a thumbnail of nothing")
        } catch {
            let error = MeshError(describing: error)
            #expect(error.status == .notFound && error.message.hasSuffix("Restore it from a backup."), "\(error)")
        }
        let kept = try test.bytes(photos[1].thumbnailPath)
        #expect(try await test.mesh.send(GetThumbnail(id: photos[1].id)).path == photos[1].thumbnailPath)
        let job = try await test.run(RebuildThumbnails(all: true))
        #expect(job.outcomes == ["no_thumbnail": 1, "old_thumbnail": 1], "\(job.outcomes)")
        #expect(try test.bytes(photos[1].thumbnailPath) == kept)
        await test.library.close()
    }

    /// Of a catalogue that comes from elsewhere, a photo's file may be any.
    @Test(arguments: ["thumbnails/mine.jpg", "originals/mine.heic", "thumbnails/thumb_mine.jpg"])
    func aRowThatNamesNoPhotoHasNoThumbnail(_ path: String) async throws {
        let (test, photos) = try await library(1)
        var photo = SampleCatalogue().photo(7, takenAt: 5)
        photo.photo.path = path
        photo.photo.categoryId = photos[0].categoryId
        try await test.add([photo])
        try write(test.bytes(photos[0].path), to: test.path + "/" + path)
        let id = try #require(try await test.allPhotos().first { $0.path == path }?.id)
        #expect(await status { _ = try await test.mesh.send(GetThumbnail(id: id)) } == .dataLoss)
        #expect(try await test.run(RebuildThumbnails(all: true)).outcomes == ["no_thumbnail": 1])
        #expect(try test.bytes(path) == test.bytes(photos[0].path))
        await test.library.close()
    }

    // MARK: All of them

    @Test func missingAndOldOnesAreMadeAndOthersStay() async throws {
        let (test, photos) = try await library(6)
        let made = try photos.map { try test.bytes($0.thumbnailPath) }
        func path(_ index: Int) -> String { test.path + "/" + photos[index].thumbnailPath }
        unlink(path(0))
        try write(old(made[1]), to: path(1))
        unlink(path(2))
        _ = try await test.mesh.send(DeletePhotos(ids: [photos[2].id, photos[3].id]))
        // A later version's, which this one would make worse.
        let newer = try #require(made[4].firstRange(of: Data("thumbnail 1".utf8)))
        var later = made[4]
        later[newer.upperBound - 1] = UInt8(ascii: "9")
        try write(later, to: path(4))
        // Asked for, an old one is good enough.
        #expect(try await test.mesh.send(GetThumbnail(id: photos[1].id)).path == photos[1].thumbnailPath)
        #expect(try test.bytes(photos[1].thumbnailPath) == old(made[1]))

        let job = try await test.run(RebuildThumbnails())
        #expect(job.state == .finished && !job.needsAttention && job.outcomes.isEmpty, "\(job)")
        #expect(job.receipt?["photos"] == 6 && job.receipt?["made"] == 3 && job.receipt?["problems"] == 0)
        for index in [0, 1, 2, 3, 5] { #expect(try test.bytes(photos[index].thumbnailPath) == made[index]) }
        #expect(try test.bytes(photos[4].thumbnailPath) == later)
        #expect(try await test.run(RebuildThumbnails()).receipt?["made"] == 0)

        #expect(try await test.run(RebuildThumbnails(all: true)).receipt?["made"] == 6)
        #expect(try test.bytes(photos[4].thumbnailPath) == made[4])
        #expect(try test.files("staging").isEmpty && test.files("thumbnails").count == 6)
        await test.library.close()
    }

    @Test func aCancelledJobSaysHowManyItHasMade() async throws {
        let (test, photos) = try await library(300)
        for photo in photos { unlink(test.path + "/" + photo.thumbnailPath) }
        let started = try await test.mesh.send(RebuildThumbnails())
        let job = try await test.mesh.observe(WatchJob(job: started.job)) { [mesh = test.mesh] change in
            if change.value.progress.itemsDone > 0 { _ = try await mesh.send(CancelJob(job: started.job)) }
        }
        let made = try test.files("thumbnails").count
        #expect(job.state == .cancelled || made == 300, "\(job)")
        #expect(job.receipt?["made"] == .integer(Int64(made)), "\(job)")
        #expect(try test.files("staging").isEmpty)
        #expect(try await test.run(RebuildThumbnails()).receipt?["made"] == .integer(Int64(300 - made)))
        await test.library.close()
    }

    @Test func aJobGoesOnWhereItWasWhenTheLibraryIsOpenedAgain() async throws {
        let (test, photos) = try await library(400)
        try write("not a picture".utf8, to: test.path + "/" + photos[399].path)
        let job = try await test.mesh.send(RebuildThumbnails(all: true)).job
        try await test.mesh.firstValue(of: WatchJob(job: job)) { $0.progress.itemsDone >= 300 }
        await test.library.close()
        #expect(try test.files("staging").isEmpty)
        let library = try await PhotoLibrary.open(at: test.path, options: .init(workers: 2))
        let ended = try await library.mesh.send(WaitForJob(job: job))
        #expect(ended.state == .finished && ended.outcomes == ["old_thumbnail": 1], "\(ended)")
        #expect(ended.receipt?["photos"] == 400 && ended.receipt?["made"] == 399, "\(ended)")
        #expect(try await library.mesh.send(GetJobReceipt(job: job)).lines.count == 1)
        await library.close()
    }

    // MARK: Kills and disks

    /// Between the file and the look whether its photo is there.
    @Test func whatAKillLeavesOfAThumbnailIsSettled() async throws {
        let (test, photos) = try await library(2)
        let name = try #require(StoredName(path: photos[0].thumbnailPath))
        let gone = try #require(StoredName(.photos, "IMG_20200101_000000_00000000.jpg")).thumbnail
        let made = try test.bytes(photos[1].thumbnailPath)
        await test.library.close()
        let folder = LibraryFolder(path: test.path)
        for name in [name, gone] {
            let staged = try folder.stage()
            defer { close(staged.descriptor) }
            let written = made.withUnsafeBytes { Foundation.write(staged.descriptor, $0.baseAddress, $0.count) }
            #expect(written == made.count)
            try folder.replace(StagedFile(staged.name, as: name))
        }
        // And before it had a name.
        close(try folder.stage().descriptor)
        #expect(try test.files("staging").count == 3)

        let library = try await PhotoLibrary.open(at: test.path, options: .init(workers: 1))
        #expect(try test.files("staging").isEmpty)
        #expect(try test.bytes(name.path) == made)
        #expect(try test.files("thumbnails") == photos.map { "thumb_" + $0.fileName }.sorted())
        await library.close()
    }

    @Test(.enabled(if: SmallDisk.isPossible, "mounting a small tmpfs takes root"))
    func onAFullDiskAndOneThatCannotBeWritten() async throws {
        let disk = try SmallDisk(megabytes: 6)
        defer { disk.unmount() }
        let folder = try TemporaryFolder()
        var options = PhotoLibrary.Options(workers: 1)
        options.checkpointsWhenIdle = false
        let library = try await PhotoLibrary.open(at: disk.folder.file("library"), options: options)
        let mesh = library.mesh
        try SampleAlbum(width: 64, height: 48).write(count: 2, to: folder.file("album"))
        let started = try await mesh.send(ImportPhotos(paths: [folder.file("album")]))
        #expect(try await mesh.send(WaitForJob(job: started.job)).outcomes == ["imported": 2])
        let photos = try await mesh.send(SearchPhotos()).photos
        let missing = library.path + "/" + photos[0].thumbnailPath
        unlink(missing)
        func refusal() async -> MeshError? {
            do {
                _ = try await mesh.send(GetThumbnail(id: photos[0].id))
                return nil
            } catch {
                return MeshError(describing: error)
            }
        }

        try disk.fill()
        #expect(await refusal()?.shortage == .space)
        #expect(try await mesh.send(GetThumbnail(id: photos[1].id)).path == photos[1].thumbnailPath)
        disk.relieve()
        // The files that the catalogue has open keep the rest from it.
        let staging = library.path + "/staging"
        try #require(mount(staging, staging, nil, UInt(MS_BIND), nil) == 0)
        try #require(mount(nil, staging, nil, UInt(MS_BIND | MS_REMOUNT | MS_RDONLY), nil) == 0)
        #expect(await refusal()?.status == .failedPrecondition)
        #expect(try await mesh.send(GetThumbnail(id: photos[1].id)).path == photos[1].thumbnailPath)
        try #require(umount(staging) == 0)
        #expect(await refusal() == nil)
        #expect(FileManager.default.fileExists(atPath: missing))
        await library.close()
    }

    @Test(.enabled(if: SmallDisk.isPossible, "mounting a small tmpfs takes root"))
    func aFullDiskEndsTheJob() async throws {
        let (test, photos) = try await library(3)
        await test.library.close()
        let disk = try SmallDisk()
        defer { disk.unmount() }
        // The rest of the library has room.
        let staging = test.path + "/staging"
        try #require(mount(disk.folder.path, staging, nil, UInt(MS_BIND), nil) == 0)
        defer { umount2(staging, Int32(MNT_DETACH)) }
        let library = try await PhotoLibrary.open(at: test.path, options: .init(workers: 1))
        try disk.fill()
        let failed = try await library.mesh.send(RebuildThumbnails(all: true)).job
        let job = try await library.mesh.send(WaitForJob(job: failed))
        #expect(job.state == .failed && job.error?.shortage == .space && job.outcomes.isEmpty, "\(job)")
        umount2(staging, Int32(MNT_DETACH))
        let again = try await library.mesh.send(RebuildThumbnails(all: true)).job
        #expect(try await library.mesh.send(WaitForJob(job: again)).receipt?["made"] == .integer(Int64(photos.count)))
        await library.close()
    }
}
