import Foundation
import Imaging
import LibraryModel
import LibraryStorage
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// Previews of photos that the library has: made with the photo, made again where they are missing, gone with it.
@Suite struct StoredPreviewTests {
    private static let large = SampleAlbum(width: 1600, height: 1200)

    private func library(_ count: Int) async throws -> (test: TestLibrary, photos: [Photo]) {
        let test = try await TestLibrary("previews")
        #expect(try await test.importSamples(count, album: Self.large).outcomes == ["imported": count])
        return (test, try await test.allPhotos())
    }

    private func write(_ bytes: some Sequence<UInt8>, to path: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    private func bytes(of opened: OpenedPhoto) throws -> Data {
        let content = try #require(opened.content)
        var bytes = [UInt8](repeating: 0, count: Int(opened.size) + 1)
        let count = content.withDescriptor { pread($0, &bytes, bytes.count, 0) }
        return Data(bytes.prefix(max(0, count)))
    }

    @Test func anImportMakesPreviewsOfWhatIsLargeEnough() async throws {
        let (test, photos) = try await library(2)
        #expect(try test.files("previews") == photos.map { "preview_\($0.fileName).webp" }.sorted())
        for photo in photos {
            let preview = Array(try test.bytes(photo.previewPath))
            #expect(PreviewMaker.version(ofPreview: preview.suffix(PreviewMaker.tailBytes)) == PreviewMaker.version)
        }
        let small = test.folder.file("small")
        try SampleAlbum(width: 1200, height: 900, seed: 4).write(count: 1, to: small)
        #expect(try await test.importing(small).outcomes == ["imported": 1])
        #expect(try test.files("previews").count == 2 && test.files("staging").isEmpty)
        await test.library.close()
    }

    @Test func aMissingOneIsMadeWhenItIsOpened() async throws {
        let (test, photos) = try await library(1)
        let photo = photos[0]
        let (path, whole) = (test.path + "/" + photo.previewPath, try test.bytes(photo.previewPath))
        let kid = CallContext.root(mesh: test.mesh, role: .kid)
        // Also in the place of what a power cut left of it.
        for left in [nil, Data(), whole.dropLast(1), whole.prefix(40), Data(count: whole.count)] as [Data?] {
            unlink(path)
            if let left { try write(left, to: path) }
            let opened = try await test.mesh.send(OpenPhoto(id: photo.id, .preview), in: kid)
            #expect(opened.mediaType == "image/webp" && opened.contentDigest == photo.contentDigest)
            #expect(try bytes(of: opened) == whole)
            #expect(try test.bytes(photo.previewPath) == whole)
        }
        #expect(try test.files("staging").isEmpty)
        await test.library.close()
    }

    /// As of a photo that is small, of one that cannot be decoded, and of a placeholder.
    @Test func thePhotoStandsInForAPreviewThatCannotBe() async throws {
        let (test, photos) = try await library(1)
        let photo = photos[0]
        unlink(test.path + "/" + photo.previewPath)
        try write("not a picture".utf8, to: test.path + "/" + photo.path)
        for _ in 0..<2 {
            let opened = try await test.mesh.send(OpenPhoto(id: photo.id, .preview))
            #expect(opened.mediaType == "image/jpeg")
            #expect(try bytes(of: opened) == Data("not a picture".utf8))
        }
        #expect(try test.files("previews").isEmpty && test.files("staging").isEmpty)
        // A row that says more than its file has.
        let small = test.folder.file("small")
        try SampleAlbum(width: 640, height: 480, seed: 4).write(count: 1, to: small)
        let picture = try Data(contentsOf: URL(fileURLWithPath: small + "/" + #require(try names(small).first)))
        try write(picture, to: test.path + "/" + photo.path)
        #expect(try bytes(of: await test.mesh.send(OpenPhoto(id: photo.id, .preview))) == picture)
        #expect(try test.files("previews").isEmpty && test.files("staging").isEmpty)
        unlink(test.path + "/" + photo.path)
        #expect(await status { _ = try await test.mesh.send(OpenPhoto(id: photo.id, .preview)) } == .notFound)
        await test.library.close()
    }

    private func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder)
    }

    @Test func onePreviewIsMadeForAllWhoAskForIt() async throws {
        let (test, photos) = try await library(2)
        let mesh = test.mesh
        for photo in photos { unlink(test.path + "/" + photo.previewPath) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                for photo in photos { group.addTask { _ = try await mesh.send(OpenPhoto(id: photo.id, .preview)) } }
            }
            try await group.waitForAll()
        }
        #expect(try test.files("staging").isEmpty && test.files("previews").count == 2)
        await test.library.close()
    }

    /// A library from before has none, and that is no fault of it.
    @Test func aJobMakesWhatIsMissing() async throws {
        let (test, photos) = try await library(4)
        for photo in photos { unlink(test.path + "/" + photo.previewPath) }
        _ = try await test.mesh.send(DeletePhotos(ids: [photos[3].id]))
        try write("half a preview".utf8, to: test.path + "/" + photos[0].previewPath)
        let check = try await test.run(RescanLibrary())
        #expect(check.outcomes.isEmpty && !check.needsAttention && check.receipt?["withoutPreview"] == 2)
        let job = try await test.run(RebuildThumbnails())
        #expect(job.outcomes.isEmpty && job.receipt?["made"] == 3 && job.receipt?["photos"] == 4, "\(job)")
        #expect(try test.files("previews").count == 3 && test.files("staging").isEmpty)
        #expect(try await test.run(RescanLibrary()).receipt?["withoutPreview"] == 0)
        #expect(try await test.run(RebuildThumbnails()).receipt?["made"] == 0)
        #expect(try await test.run(RebuildThumbnails(all: true)).receipt?["made"] == 7)
        await test.library.close()
    }

    @Test func aJobNamesThePhotoOfWhichNoneCanBeMade() async throws {
        let (test, photos) = try await library(2)
        unlink(test.path + "/" + photos[0].previewPath)
        try write("not a picture".utf8, to: test.path + "/" + photos[0].path)
        let job = try await test.run(RebuildThumbnails())
        #expect(job.outcomes == ["no_preview": 1] && job.needsAttention)
        #expect(try await test.lines(job.id).map(\.item) == [photos[0].path])
        await test.library.close()
    }

    @Test func itGoesWithItsPhoto() async throws {
        let (test, photos) = try await library(3)
        _ = try await test.mesh.send(DeletePhotos(ids: [photos[0].id, photos[1].id]))
        #expect(try test.files("previews").count == 3)
        let opened = try await test.mesh.send(OpenTrashedPhoto(uuid: photos[0].uuid, .preview))
        #expect(try bytes(of: opened) == test.bytes(photos[0].previewPath))
        // Of what is in the trash none is made.
        unlink(test.path + "/" + photos[1].previewPath)
        let other = try await test.mesh.send(OpenTrashedPhoto(uuid: photos[1].uuid, .preview))
        #expect(try bytes(of: other) == test.bytes(photos[1].path))
        _ = try await test.mesh.send(PurgeTrash(ids: [photos[0].id, photos[1].id]))
        #expect(try test.files("previews") == ["preview_\(photos[2].fileName).webp"])
        _ = try await test.mesh.send(ForgetPhotos(ids: [photos[2].id]))
        #expect(try test.files("previews").isEmpty && test.files("thumbnails").isEmpty)
        await test.library.close()
    }

    /// What a kill left between the file and the row goes at the next start; what has a row stays.
    @Test func whatAKillLeftIsSettled() async throws {
        let (test, photos) = try await library(1)
        await test.library.close()
        let preview = test.path + "/" + photos[0].previewPath
        link(preview, test.path + "/staging/preview_\(photos[0].fileName).webp")
        let stray = "preview_IMG_20200101_000000_00000000.jpg.webp"
        try write("x".utf8, to: test.path + "/previews/" + stray)
        link(test.path + "/previews/" + stray, test.path + "/staging/" + stray)
        let library = try await PhotoLibrary.open(at: test.path)
        #expect(try test.files("staging").isEmpty)
        #expect(try test.files("previews") == ["preview_\(photos[0].fileName).webp"])
        await library.close()
    }

    @Test func namesLeadToPhotosAndBack() throws {
        let photo = try #require(StoredName(.photos, "IMG_1.jpg"))
        #expect(photo.preview.path == "previews/preview_IMG_1.jpg.webp")
        #expect(photo.preview.photo == photo && photo.preview.preview == photo.preview && photo.preview.isPreview)
        #expect(photo.preview.thumbnail == photo.thumbnail && photo.thumbnail.preview == photo.preview)
        #expect(StoredName(staged: photo.preview.stagedName) == photo.preview)
        for other in ["preview_.webp", "preview_a", "a.webp", "thumb_a.jpg"] {
            let name = try #require(StoredName(.previews, other))
            #expect(!name.isPreview && name.photo == name, "\(other)")
            #expect(StoredName(staged: other)?.kind != .previews)
        }
    }
}
