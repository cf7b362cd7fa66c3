import Foundation
import LibraryModel
import LibraryTestSupport
@testable import BackupFormats
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

@Suite struct BackupTests {
    /// A library with everything that a backup has to carry.
    private func filledLibrary() async throws -> TestLibrary {
        let test = try await TestLibrary()
        _ = try await test.importSamples(12, album: SampleAlbum(width: 200, height: 150))
        let holidays = try await test.mesh.send(AddCategory(displayName: "Été à la mer", colorHex: "#123abc"))
        let photos = try await test.allPhotos()
        _ = try await test.mesh.send(MovePhotos(ids: photos.prefix(5).map(\.id), categoryId: holidays.id))
        _ = try await test.mesh.send(SetFavorite(ids: [photos[1].id, photos[7].id], isFavorite: true))
        _ = try await test.mesh.send(SetCaption(id: photos[2].id, caption: "Sand 🏖 \"und\" Meer"))
        let ids = try await test.mesh.send(ListCategories()).categories.map(\.id)
        _ = try await test.mesh.send(ReorderCategories(ids: ids.reversed()))
        try await test.review(photos[0])
        return test
    }

    @Test func replacingAnEmptyLibraryMakesItTheSame() async throws {
        let old = try await filledLibrary()
        let backup = try await old.backUp().path
        let new = try await TestLibrary("restored")
        let job = try await new.run(RestoreBackup(path: backup, mode: .replace))
        #expect(job.state == .finished, "\(String(describing: job.error))")
        #expect(try await new.allPhotos() == old.allPhotos())
        #expect(try await new.mesh.send(ListCategories()) == old.mesh.send(ListCategories()))
        #expect(try await new.mesh.send(ListSwipeSessions()) == old.mesh.send(ListSwipeSessions()))
        for photo in try await old.allPhotos() {
            #expect(try new.bytes(photo.path) == old.bytes(photo.path))
            #expect(try !new.bytes(photo.thumbnailPath).isEmpty)
        }
        #expect(try new.files("staging").isEmpty)
        await old.library.close()
        await new.library.close()
    }

    @Test func mergingTwiceChangesNothingMore() async throws {
        let old = try await filledLibrary()
        let backup = try await old.backUp().path
        let new = try await TestLibrary("merged")
        _ = try await new.importSamples(3, album: SampleAlbum(width: 100, height: 80, seed: 9))
        let first = try await new.run(RestoreBackup(path: backup))
        #expect(first.state == .finished, "\(String(describing: first.error))")
        let photos = try await new.allPhotos()
        #expect(photos.count == 15)
        let second = try await new.run(RestoreBackup(path: backup))
        #expect(second.receipt?["photosAdded"] == 0)
        #expect(try await new.allPhotos() == photos)
        #expect(try new.files("photos").count == 15)
        await old.library.close()
        await new.library.close()
    }

    @Test func mergingKeepsWhatTheLibrarySays() async throws {
        let test = try await filledLibrary()
        let backup = try await test.backUp().path
        let photo = try await test.allPhotos()[2]
        _ = try await test.mesh.send(SetCaption(id: photo.id, caption: "mine"))
        let job = try await test.run(RestoreBackup(path: backup))
        #expect(job.outcomes["conflict"] == 1)
        #expect(try await test.mesh.send(GetPhoto(id: photo.id)).caption == "mine")
        await test.library.close()
    }

    @Test func replacingPutsOtherPhotosIntoTheTrash() async throws {
        let old = try await filledLibrary()
        let backup = try await old.backUp().path
        let new = try await TestLibrary("replaced")
        _ = try await new.importSamples(3, album: SampleAlbum(width: 100, height: 80, seed: 9))
        _ = try await new.run(RestoreBackup(path: backup, mode: .replace))
        #expect(try await new.allPhotos() == old.allPhotos())
        let trash = try await new.mesh.send(ListTrash())
        #expect(trash.photos.count == 3)
        _ = try await new.mesh.send(RestorePhotos(ids: trash.photos.map(\.photo.id)))
        #expect(try await new.allPhotos().count == 15)
        await old.library.close()
        await new.library.close()
    }

    /// The replaced library has photo 1 again, and the trash still has the old one: the new id that it gets there must
    /// not be that of a photo that goes there with it.
    @Test func afterAReplacementAWholeCategoryGoesToTheTrash() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(3, album: SampleAlbum(width: 64, height: 48))
        let backup = try await test.backUp().path
        let photos = try await test.allPhotos()
        _ = try await test.mesh.send(DeletePhotos(ids: [1]))
        _ = try await test.run(RestoreBackup(path: backup, mode: .replace))
        let replaced = try await test.allPhotos()
        #expect(replaced.map(\.id) == photos.map(\.id))
        let deletion = try await test.mesh.send(DeleteCategory(id: photos[0].categoryId, deletePhotos: true))
        #expect(deletion.photosTrashed == 3)
        let trash = try await test.mesh.send(ListTrash()).photos.map(\.photo)
        #expect(trash.count == 4 && Set(trash.map(\.id)).count == 4)
        #expect(Set(replaced.map(\.path)).isSubset(of: trash.map(\.path)))
        // Those that could keep their ids did.
        #expect(Set(trash.map(\.id)).isSuperset(of: [1, 2, 3]))
        await test.library.close()
    }

    @Test func replacingWithItsOwnBackupKeepsTheFiles() async throws {
        let test = try await filledLibrary()
        let backup = try await test.backUp().path
        let photos = try await test.allPhotos()
        _ = try await test.mesh.send(SetFavorite(ids: photos.map(\.id), isFavorite: true))
        let job = try await test.run(RestoreBackup(path: backup, mode: .replace))
        #expect(job.receipt?["photosAdded"] == 0)
        #expect(try await test.allPhotos() == photos)
        #expect(try await test.mesh.send(ListTrash()).photos.isEmpty)
        await test.library.close()
    }

    @Test func photosOfTheSameContentKeepTheirOwnData() async throws {
        let test = try await TestLibrary()
        let album = test.folder.file("album")
        try SampleAlbum(width: 64, height: 48, texture: 0).write(count: 1, to: album)
        // Two PNGs with the same pixels and different bytes: both become the same JPEG.
        let pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
        let png = try #require(Data(base64Encoded: pixel))
        try png.write(to: URL(fileURLWithPath: album + "/one.png"))
        try (png + Data([0])).write(to: URL(fileURLWithPath: album + "/two.png"))
        #expect(try await test.importing(album).outcomes == ["imported": 3])
        let twins = try await test.allPhotos().filter { $0.width == 1 }
        #expect(twins.count == 2 && twins[0].contentDigest == twins[1].contentDigest)
        _ = try await test.mesh.send(SetFavorite(ids: [twins[0].id], isFavorite: true))
        let before = try await test.allPhotos()
        let backup = try await test.backUp().path

        let merged = try await test.run(RestoreBackup(path: backup))
        #expect(merged.outcomes.isEmpty && merged.needsAttention == false)
        let replaced = try await test.run(RestoreBackup(path: backup, mode: .replace))
        #expect(replaced.receipt?["photosAdded"] == 0 && replaced.receipt?["photosRemoved"] == 0)
        #expect(try await test.allPhotos() == before)
        await test.library.close()
    }

    @Test func aDamagedFileOfTheLibraryIsReplacedFromTheBackup() async throws {
        let test = try await filledLibrary()
        let backup = try await test.backUp().path
        let photo = try await test.allPhotos()[0]
        let good = try test.bytes(photo.path)
        var bad = good
        bad[bad.count / 2] ^= 1
        try bad.write(to: URL(fileURLWithPath: test.path + "/" + photo.path))
        let job = try await test.run(RestoreBackup(path: backup, mode: .replace))
        #expect(job.state == .finished, "\(String(describing: job.error))")
        let restored = try await test.mesh.send(GetPhoto(uuid: photo.uuid))
        #expect(try test.bytes(restored.path) == good)
        await test.library.close()
    }

    @Test func aPhotoThatChangedOnDiskIsSavedAsItIsAndReported() async throws {
        let test = try await filledLibrary()
        let photos = try await test.allPhotos()
        try Data("longer than before?".utf8).write(to: URL(fileURLWithPath: test.path + "/" + photos[0].path))
        var flipped = try test.bytes(photos[1].path)
        flipped[100] ^= 0xFF
        try flipped.write(to: URL(fileURLWithPath: test.path + "/" + photos[1].path))
        try FileManager.default.removeItem(atPath: test.path + "/" + photos[2].path)
        let path = test.folder.file("damaged.zip")
        let job = try await test.run(CreateBackup(path: path))
        #expect(job.state == .finished && job.needsAttention, "\(String(describing: job.error))")
        #expect(job.outcomes == ["damaged": 2, "missing": 1])
        let check = try await test.run(VerifyBackup(path: path))
        #expect(check.state == .finished && check.outcomes == ["damaged": 2])
        await test.library.close()
    }

    @Test func severalTogetherHaveTheLibraryOrTellWhatIsMissing() async throws {
        let test = try await filledLibrary()
        let kept = try await test.allPhotos()[3]
        _ = try await test.mesh.send(DeletePhotos(ids: [kept.id]))
        let whole = try await test.backUp("whole.zip").path
        let then = Timestamp.now()
        let more = test.folder.file("more")
        try SampleAlbum(width: 64, height: 48, seed: 5).write(count: 4, to: more)
        _ = try await test.run(ImportPhotos(paths: [more]))
        let part = test.folder.file("part.zip")
        let job = try await test.run(CreateBackup(path: part, since: then))
        #expect(job.receipt?["photos"] == 4 && job.receipt?["isPartial"] == true)

        let both = try await test.run(VerifyBackup(path: part, others: [whole]))
        #expect(both.state == .finished && !both.needsAttention && both.outcomes.isEmpty)
        #expect(both.receipt?["together"] == ["backups": 2, "photos": 15, "missing": 0])
        var entries: Int64 = 0
        for path in [whole, part] {
            entries += try await test.run(VerifyBackup(path: path)).receipt?["entries"]?.integerValue ?? 0
        }
        #expect(both.receipt?["entries"] == .integer(entries))

        // Added long ago, and yet in neither.
        _ = try await test.mesh.send(RestorePhotos(ids: [kept.id]))
        let without = try await test.run(VerifyBackup(path: part, others: [whole]))
        #expect(without.state == .finished && without.needsAttention)
        #expect(without.receipt?["together"] == ["backups": 2, "photos": 15, "missing": 1])
        #expect(try await test.lines(without.id).map(\.item) == ["photo \(kept.id)"])

        // One that is damaged is no part of anything.
        var bytes = try Data(contentsOf: URL(fileURLWithPath: whole))
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: URL(fileURLWithPath: whole))
        #expect(try await test.run(VerifyBackup(path: part, others: [whole])).error?.status == .dataLoss)
        #expect(
            await status { _ = try await test.run(VerifyBackup(path: part, others: ["x.zip"])) } == .invalidArgument)
        await test.library.close()
    }

    @Test func anyFlippedByteIsFound() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(2, album: SampleAlbum(width: 32, height: 24))
        let path = try await test.backUp().path
        let good = try Data(contentsOf: URL(fileURLWithPath: path))
        let before = try await test.allPhotos()
        // Every 97th byte, and what it hits: documents, photos, headers, directory; and every byte of what no entry has at the end.
        let directory = try #require(good.firstRange(of: Data([0x50, 0x4B, 1, 2]))).lowerBound
        let places = Array(stride(from: 0, to: directory, by: 97)) + Array(directory..<good.count)
        for (number, position) in places.enumerated() {
            var bad = good
            bad[position] ^= [0x01, 0x10, 0x80][number % 3]
            let name = test.folder.file("flipped.zip")
            try bad.write(to: URL(fileURLWithPath: name))
            let job = try await test.run(RestoreBackup(path: name, mode: .replace))
            #expect(job.error?.status == .dataLoss, "byte \(position): \(job)")
            guard number % 20 == 0 else { continue }
            #expect(try await test.allPhotos() == before)
        }
        #expect(try await test.allPhotos() == before)
        #expect(try test.files("staging").isEmpty)
        await test.library.close()
    }

    @Test func truncatedAndForeignFilesAreRefused() async throws {
        let test = try await filledLibrary()
        let path = try await test.backUp().path
        let good = try Data(contentsOf: URL(fileURLWithPath: path))
        for length in [0, 1, 100, good.count / 2, good.count - 1] {
            let name = test.folder.file("short.zip")
            try good.prefix(length).write(to: URL(fileURLWithPath: name))
            let job = try await test.run(RestoreBackup(path: name))
            #expect(job.state == .failed && job.error?.status == .dataLoss, "\(length) bytes")
        }
        #expect(await status { _ = try await test.mesh.send(InspectBackup(path: "/no/such.zip")) } == .notFound)
        #expect(await status { _ = try await test.mesh.send(InspectBackup(path: test.path)) } == .invalidArgument)
        #expect(await status { _ = try await test.run(RestoreBackup(path: "relative.zip")) } == .invalidArgument)
        await test.library.close()
    }

    @Test func aDryRunTellsAndChangesNothing() async throws {
        let old = try await filledLibrary()
        let backup = try await old.backUp().path
        let new = try await TestLibrary("preview")
        let job = try await new.run(RestoreBackup(path: backup, mode: .replace, dryRun: true))
        #expect(job.receipt?["photosAdded"] == 12)
        #expect(try await new.allPhotos().isEmpty)
        #expect(try new.files("staging").isEmpty)
        await old.library.close()
        await new.library.close()
    }

    @Test func partialBackupsSaySo() async throws {
        let test = try await filledLibrary()
        let category = try await test.mesh.send(GetCategory(displayName: "ÉTÉ À LA MER"))
        let path = test.folder.file("part.zip")
        let job = try await test.run(CreateBackup(path: path, categoryIds: [category.id]))
        #expect(job.state == .finished)
        let summary = try await test.mesh.send(InspectBackup(path: path))
        #expect(summary.isPartial && summary.photoCount == 5 && summary.categoryCount == 1)
        await test.library.close()
    }

    /// Within one second, and in the hour that comes twice in autumn: nobody has chosen that name.
    @Test(arguments: [false, true]) func aDateThatIsTakenGetsANumber(isForPhone: Bool) async throws {
        let test = try await filledLibrary()
        let folder = test.folder.file("stick")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        // Of each second in which this may run.
        let now = Timestamp.now().milliseconds
        for second in Int64(0)..<900 {
            let name = BackupFormat.fileName(at: Timestamp(milliseconds: now + second * 1000), forPhone: isForPhone)
            #expect(FileManager.default.createFile(atPath: folder + "/" + name, contents: nil))
            #expect(BackupFormat.isFileName(name) == !isForPhone)
        }
        let job = try await test.run(CreateBackup(path: folder, forPhone: isForPhone))
        let path = try #require(job.receipt?["path"]?.stringValue, "\(job)")
        #expect(path.hasSuffix("-2.zip") && BackupFormat.isFileName(path) == !isForPhone, "\(path)")
        #expect(try await test.run(VerifyBackup(path: path)).state == .finished)
        await test.library.close()
    }

    @Test func aSecondFileOfTheSameNameIsRefused() async throws {
        let test = try await filledLibrary()
        let path = try await test.backUp().path
        #expect(await status { _ = try await test.run(CreateBackup(path: path)) } == .alreadyExists)
        #expect(await status { _ = try await test.run(CreateBackup(path: "/no/such/folder/b.zip")) } == .notFound)
        #expect(try await test.mesh.send(GetSettings()).lastBackupDate != nil)
        await test.library.close()
    }
}
