import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

@testable import Imaging

/// Photos that a person has turned: what is shown is turned, whatever happens meanwhile, and their files are as they were.
@Suite(.timeLimit(.minutes(4))) struct TurnedPhotoTests {
    private static let large = SampleAlbum(width: 1600, height: 1200)

    private func library(_ count: Int) async throws -> (test: TestLibrary, photos: [Photo]) {
        let test = try await TestLibrary("turned")
        #expect(try await test.importSamples(count, album: Self.large).outcomes == ["imported": count])
        return (test, try await test.allPhotos())
    }

    private func bytes(_ test: TestLibrary, _ photo: Photo, _ kind: PhotoFileKind) async throws -> Data {
        try bytes(of: await test.mesh.send(OpenPhoto(id: photo.id, kind)))
    }

    private func bytes(of opened: OpenedPhoto) throws -> Data {
        let content = try #require(opened.content)
        var bytes = [UInt8](repeating: 0, count: Int(opened.size) + 1)
        let count = content.withDescriptor { pread($0, &bytes, bytes.count, 0) }
        #expect(Int64(count) == opened.size)
        return Data(bytes.prefix(max(0, count)))
    }

    /// Width and height of a JPEG or a preview, and the turn that it says.
    private func look(_ test: TestLibrary, _ photo: Photo, _ kind: PhotoFileKind) async throws -> [Int] {
        let bytes = [UInt8](try await bytes(test, photo, kind))
        if kind == .preview {
            func number(_ start: Int) -> Int {
                Int(bytes[start]) | Int(bytes[start + 1]) << 8 | Int(bytes[start + 2]) << 16
            }
            let made = PreviewMaker.made(ofPreview: bytes.suffix(PreviewMaker.tailBytes))
            return [number(24) + 1, number(27) + 1, made?.turned ?? -1]
        }
        let file = test.folder.file("looked")
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        let descriptor = open(file, O_RDONLY)
        defer { close(descriptor) }
        let frame = try #require(JPEGFrame(of: descriptor, size: Int64(bytes.count)))
        let made = ThumbnailMaker.made(ofThumbnail: Array(bytes.prefix(ThumbnailMaker.headBytes)))
        return [frame.width, frame.height, kind == .thumbnail ? made?.turned ?? -1 : 0]
    }

    /// Everything of it is shown as the catalogue says.
    private func expectShown(_ test: TestLibrary, _ photo: Photo, _ turned: Int) async throws {
        let isOnItsSide = turned % 180 != 0
        let now = try await test.mesh.send(GetPhoto(id: photo.id))
        #expect(now.turned == turned)
        #expect((now.width, now.height) == (isOnItsSide ? (1200, 1600) : (1600, 1200)))
        #expect(try await look(test, photo, .thumbnail) == (isOnItsSide ? [225, 300, turned] : [300, 225, turned]))
        #expect(try await look(test, photo, .preview) == (isOnItsSide ? [768, 1024, turned] : [1024, 768, turned]))
        #expect(try await look(test, photo, .photo) == (isOnItsSide ? [1200, 1600, 0] : [1600, 1200, 0]))
        for kind in [PhotoFileKind.thumbnail, .preview, .photo, .original] {
            let opened = try await test.mesh.send(OpenPhoto(id: photo.id, kind))
            #expect(opened.rotation?.rawValue ?? 0 == turned && opened.contentDigest == photo.contentDigest)
            // Not to be written through.
            var byte: UInt8 = 0
            #expect(opened.content?.withDescriptor { write($0, &byte, 1) } == -1)
        }
        #expect(try test.files("staging").isEmpty)
    }

    private func turn(_ test: TestLibrary, _ turns: PhotoTurn...) async throws -> RotatedPhotos {
        try await test.mesh.send(RotatePhotos(turns: turns))
    }

    @Test func whatIsShownIsTurnedAndTheFileStaysAsItIs() async throws {
        let (test, photos) = try await library(2)
        let (photo, other) = (photos[0], photos[1])
        let (file, original) = (try test.bytes(photo.path), try test.bytes(#require(photo.originalPath)))
        let (thumbnail, preview) = (try test.bytes(photo.thumbnailPath), try test.bytes(photo.previewPath))
        let pixels = try await test.mesh.send(GetPhotoPixels(id: photo.id, width: 64, height: 64))
        #expect((pixels.width, pixels.height) == (64, 48))
        for degrees in [90, 180, 270] {
            let turned = try await turn(test, PhotoTurn(id: photo.id, to: degrees))
            #expect(turned.count == 1 && turned.photos.map(\.turned) == [degrees])
            try await expectShown(test, photo, degrees)
            let now = try await test.mesh.send(GetPhotoPixels(id: photo.id, width: 64, height: 64))
            #expect(try Self.difference(pixels, now, degrees) <= 2, "\(degrees)")
        }
        // Four quarters are the picture again, byte for byte as it was made first.
        #expect(try await turn(test, PhotoTurn(id: photo.id, to: 0, from: 270)).count == 1)
        #expect(try await test.mesh.send(GetPhoto(id: photo.id)) == photo)
        #expect(try await bytes(test, photo, .photo) == file)
        _ = try await (bytes(test, photo, .thumbnail), bytes(test, photo, .preview))
        let again = try await test.mesh.send(GetPhotoPixels(id: photo.id, width: 64, height: 64))
        #expect(again.rgb == pixels.rgb)
        #expect(try test.bytes(photo.path) == file && test.bytes(#require(photo.originalPath)) == original)
        _ = try await test.run(RebuildThumbnails(all: true))
        let (rebuilt, small) = (try test.bytes(photo.previewPath), try test.bytes(photo.thumbnailPath))
        _ = try await turn(test, PhotoTurn(id: photo.id, to: 90))
        _ = try await turn(test, PhotoTurn(id: photo.id, to: 0))
        #expect(try await bytes(test, photo, .preview) == rebuilt)
        #expect(try await bytes(test, photo, .thumbnail) == small)
        #expect(thumbnail.count > 0 && preview.count > 0)
        #expect(try await test.mesh.send(GetPhoto(id: other.id)) == other)
        #expect(try await test.run(RescanLibrary(digests: true)).outcomes.isEmpty)
        await test.library.close()
    }

    /// The largest difference of any channel between a picture and another one that was turned.
    private static func difference(_ first: PhotoPixels, _ turned: PhotoPixels, _ degrees: Int) throws -> Int {
        let (from, to) = (try #require(Data(base64Encoded: first.rgb)), try #require(Data(base64Encoded: turned.rgb)))
        let (w, h) = (first.width, first.height)
        guard (turned.width, turned.height) == (degrees == 180 ? (w, h) : (h, w)) else { return .max }
        var difference = 0
        for y in 0..<h {
            for x in 0..<w {
                let (column, line) =
                    switch degrees {
                    case 90: (h - 1 - y, x)
                    case 180: (w - 1 - x, h - 1 - y)
                    default: (y, w - 1 - x)
                    }
                for ink in 0..<3 {
                    let (a, b) = (from[(y * w + x) * 3 + ink], to[(line * turned.width + column) * 3 + ink])
                    difference = max(difference, abs(Int(a) - Int(b)))
                }
            }
        }
        return difference
    }

    @Test func theSameRequestTwiceIsOneTurnAndAnotherDevicesTurnIsNotOverwritten() async throws {
        let (test, photos) = try await library(2)
        let (a, b) = (photos[0], photos[1])
        // Two devices turn it to the right at once, from what both have seen.
        let right = PhotoTurn(a, by: 90)
        #expect(right == PhotoTurn(id: a.id, to: 90, from: 0))
        let mesh = test.mesh
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<2 { group.addTask { try await mesh.send(RotatePhotos(turns: [right])).count } }
            return try await group.reduce(into: []) { $0.append($1) }.sorted()
        }
        #expect(counts == [0, 1])
        try await expectShown(test, a, 90)
        // One that has seen something older is told, and of the others in its request none is turned.
        let refused = await refusal {
            _ = try await turn(test, PhotoTurn(b, by: 90), PhotoTurn(id: a.id, to: 270, from: 0))
        }
        #expect(
            refused?.status == .failedPrecondition && refused?.details["rotation"] == 90,
            "\(String(describing: refused))")
        try await expectShown(test, b, 0)
        // Where it does not matter from where.
        #expect(try await turn(test, PhotoTurn(id: a.id, to: 180)).count == 1)
        #expect(
            PhotoTurn(try await test.mesh.send(GetPhoto(id: a.id)), by: -90) == PhotoTurn(id: a.id, to: 90, from: 180))
        for (turns, expected) in [
            ([], .invalidArgument), ([PhotoTurn(id: a.id, to: 45)], .invalidArgument),
            ([PhotoTurn(id: a.id, to: 90, from: 360)], .invalidArgument),
            ([PhotoTurn(id: a.id, to: -90)], .invalidArgument),
            ([PhotoTurn(id: a.id, to: 0), PhotoTurn(id: a.id, to: 90)], .invalidArgument),
            ((1...101).map { PhotoTurn(id: $0, to: 90) }, .invalidArgument),
            ([PhotoTurn(id: b.id, to: 90), PhotoTurn(id: 99, to: 90)], .notFound),
        ] as [([PhotoTurn], MeshStatus)] {
            #expect(
                await status { _ = try await test.mesh.send(RotatePhotos(turns: turns)) } == expected, "\(turns.count)")
        }
        try await expectShown(test, b, 0)
        let some = try await test.mesh.send(
            RotatePhotos(turns: [PhotoTurn(id: 99, to: 90), PhotoTurn(id: b.id, to: 90)], ignoreOthers: true))
        #expect(some.count == 1 && some.photos.map(\.id) == [b.id])
        await test.library.close()
    }

    /// A selection from before another device turned some of it.
    @Test func whereOthersArePassedOverTheRestIsTurnedAndTurnedBackAlone() async throws {
        let (test, photos) = try await library(3)
        let turns = photos.map { PhotoTurn($0, by: 90) }
        // The first one to the same end, and the second one elsewhere.
        _ = try await turn(test, PhotoTurn(id: photos[0].id, to: 90), PhotoTurn(id: photos[1].id, to: 180))
        let reply = try await test.mesh.send(RotatePhotos(turns: turns, ignoreOthers: true))
        #expect(reply.count == 1 && reply.turned == [photos[2].id])
        #expect(reply.photos.map(\.id) == photos.map(\.id) && reply.photos.map(\.turned) == [90, 180, 90])
        for (photo, turned) in zip(photos, [90, 180, 90]) { try await expectShown(test, photo, turned) }
        // Undone after the other device has turned that one too, there is nothing to turn back.
        let undo = RotatePhotos(
            turns: reply.turned.map { PhotoTurn(id: $0, to: 0, from: 90) }, ignoreOthers: true)
        _ = try await turn(test, PhotoTurn(id: photos[2].id, to: 270))
        let left = try await test.mesh.send(undo)
        #expect(left.count == 0 && left.turned.isEmpty && left.photos.map(\.turned) == [270])
        _ = try await turn(test, PhotoTurn(id: photos[2].id, to: 90))
        #expect(try await test.mesh.send(undo).turned == [photos[2].id])
        for (photo, turned) in zip(photos, [90, 180, 0]) { try await expectShown(test, photo, turned) }
        await test.library.close()
    }

    /// Nothing has changed, of the others in the request neither.
    @Test func aPhotoThatCannotBeOpenedIsNotTurned() async throws {
        let (test, photos) = try await library(3)
        let file = test.path + "/" + photos[1].path
        let whole = try test.bytes(photos[1].path)
        let turns = photos.map { PhotoTurn($0, by: 90) }
        for left in [Data("not a picture".utf8), Data(whole.prefix(700)), nil] as [Data?] {
            unlink(file)
            if let left { try left.write(to: URL(fileURLWithPath: file)) }
            let error = await refusal { _ = try await test.mesh.send(RotatePhotos(turns: turns)) }
            #expect(error?.status == (left == nil ? .notFound : .dataLoss), "\(String(describing: error))")
            #expect(error?.message.contains("backup") == true)
            #expect(try await test.allPhotos() == photos)
            #expect(try test.files("staging").isEmpty)
        }
        try whole.write(to: URL(fileURLWithPath: file))
        #expect(try await test.mesh.send(RotatePhotos(turns: turns)).count == 3)
        for photo in photos { try await expectShown(test, photo, 90) }
        await test.library.close()
    }

    /// Killed behind the transaction and before the thumbnails were put in place, which is all that a kill can leave.
    @Test func whatAKillLeftIsMadeAgainWhenSomebodyLooks() async throws {
        let (test, photos) = try await library(3)
        let before = try photos.map { (try test.bytes($0.thumbnailPath), try test.bytes($0.previewPath)) }
        for photo in photos { _ = try await turn(test, PhotoTurn(photo, by: 90)) }
        await test.library.close()
        for (photo, (thumbnail, preview)) in zip(photos, before) {
            try thumbnail.write(to: URL(fileURLWithPath: test.path + "/" + photo.thumbnailPath))
            try preview.write(to: URL(fileURLWithPath: test.path + "/" + photo.previewPath))
        }
        try Data("half".utf8).write(to: URL(fileURLWithPath: test.path + "/staging/0123456789abcdef"))
        let library = try await test.reopened()
        let mesh = library.mesh
        func look(_ photo: Photo, _ kind: PhotoFileKind) async throws -> Int? {
            let bytes = [UInt8](try bytes(of: await mesh.send(OpenPhoto(id: photo.id, kind))))
            return kind == .preview
                ? PreviewMaker.made(ofPreview: bytes.suffix(PreviewMaker.tailBytes))?.turned
                : ThumbnailMaker.made(ofThumbnail: Array(bytes.prefix(ThumbnailMaker.headBytes)))?.turned
        }
        #expect(try await look(photos[0], .preview) == 90)
        #expect(try await look(photos[0], .thumbnail) == 90)
        #expect(try await mesh.send(GetThumbnail(id: photos[1].id)).path == photos[1].thumbnailPath)
        #expect(
            ThumbnailMaker.made(ofThumbnail: Array(try test.bytes(photos[1].thumbnailPath).prefix(64)))?.turned == 90)
        // The job knows them too, and those that are as they should be are left alone.
        let started = try await mesh.send(RebuildThumbnails())
        let job = try await mesh.send(WaitForJob(job: started.job))
        #expect(job.receipt?["made"] == 3 && job.outcomes.isEmpty, "\(job)")
        #expect(try await look(photos[2], .preview) == 90)
        #expect(try await look(photos[2], .thumbnail) == 90)
        #expect(try test.files("staging").isEmpty)
        await library.close()
    }

    @Test func manyTurnAndLookAtOnce() async throws {
        let (test, photos) = try await library(2)
        let mesh = test.mesh
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<24 {
                let photo = photos[number % 2]
                group.addTask {
                    if number % 3 == 0 {
                        _ = try await mesh.send(RotatePhotos(turns: [PhotoTurn(id: photo.id, to: number / 3 % 4 * 90)]))
                    } else {
                        _ = try await mesh.send(OpenPhoto(id: photo.id, number % 3 == 1 ? .thumbnail : .preview))
                    }
                }
            }
            try await group.waitForAll()
        }
        for photo in photos {
            try await expectShown(test, photo, try await mesh.send(GetPhoto(id: photo.id)).turned)
        }
        #expect(try await test.run(RescanLibrary(digests: true)).outcomes.isEmpty)
        await test.library.close()
    }

    @Test func itIsTurnedInTheTrashAndOutOfIt() async throws {
        let (test, photos) = try await library(1)
        let turned = try await turn(test, PhotoTurn(photos[0], by: -90)).photos[0]
        let photo = try await bytes(test, turned, .photo)
        _ = try await test.mesh.send(DeletePhotos(ids: [turned.id]))
        #expect(try await test.mesh.send(ListTrash()).photos.map(\.photo) == [turned])
        #expect(try bytes(of: await test.mesh.send(OpenTrashedPhoto(uuid: turned.uuid, .photo))) == photo)
        let thumbnail = try bytes(of: await test.mesh.send(OpenTrashedPhoto(uuid: turned.uuid, .thumbnail)))
        #expect(ThumbnailMaker.made(ofThumbnail: Array(thumbnail.prefix(64)))?.turned == 270)
        _ = try await test.mesh.send(RestorePhotos(ids: [turned.id]))
        try await expectShown(test, turned, 270)
        await test.library.close()
    }

    /// A kill left the old thumbnail, and in the trash none is made: caches would show it for as long as the photo is turned so.
    @Test func aThumbnailFromBeforeIsNotShownInTheTrash() async throws {
        let (test, photos) = try await library(1)
        let before = try test.bytes(photos[0].thumbnailPath)
        let turned = try await turn(test, PhotoTurn(photos[0], by: 90)).photos[0]
        try before.write(to: URL(fileURLWithPath: test.path + "/" + turned.thumbnailPath))
        _ = try await test.mesh.send(DeletePhotos(ids: [turned.id]))
        let opened = try await test.mesh.send(OpenTrashedPhoto(uuid: turned.uuid, .thumbnail))
        #expect(opened.rotation == .quarter && opened.mediaType == "image/jpeg")
        let whole = try bytes(of: await test.mesh.send(OpenTrashedPhoto(uuid: turned.uuid, .photo)))
        #expect(try bytes(of: opened) == whole && whole != before)
        #expect(try test.bytes(turned.thumbnailPath) == before)
        await test.library.close()
    }

    /// For lookers and children it is refused before anything is looked at.
    @Test(arguments: [Role.looker, .kid]) func itIsAParents(_ role: Role) async throws {
        let (test, photos) = try await library(1)
        let caller = CallContext.root(mesh: test.mesh, role: role)
        let request = RotatePhotos(turns: [PhotoTurn(photos[0], by: 90)])
        #expect(await status { _ = try await test.mesh.send(request, in: caller) } == .permissionDenied)
        #expect(try await test.allPhotos() == photos)
        await test.library.close()
    }

    @Test(.enabled(if: Tool.ffmpeg.isPresent, "ffmpeg makes the film")) func filmsAreNotTurned() async throws {
        let (test, photos) = try await library(1)
        let film = test.folder.file("film.mp4")
        try SampleFilm().write(to: film)
        #expect(try await test.importing(film).outcomes == ["imported": 1])
        let all = try await test.allPhotos()
        let id = try #require(all.first { $0.isFilm }).id
        let turns = [PhotoTurn(photos[0], by: 90), PhotoTurn(id: id, to: 90)]
        let error = await refusal { _ = try await test.mesh.send(RotatePhotos(turns: turns)) }
        #expect(error?.status == .failedPrecondition && error?.message.contains("film") == true)
        #expect(try await test.allPhotos() == all)
        let some = try await test.mesh.send(RotatePhotos(turns: turns, ignoreOthers: true))
        #expect(some.photos.map(\.id) == [photos[0].id])
        await test.library.close()
    }
}
