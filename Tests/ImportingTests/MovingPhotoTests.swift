import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// Photos with a film behind them, as Google's and Samsung's phones write them: one photo that moves.
@Suite(.timeLimit(.minutes(4)), .enabled(if: Tool.ffmpeg.isPresent, "ffmpeg makes the films")) struct MovingPhotoTests {
    private static func film() throws -> Data {
        let folder = try TemporaryFolder("movement")
        try SampleFilm { ($0.width, $0.height, $0.duration) = (160, 120, 1) }.write(to: folder.file("a.mp4"))
        return try Data(contentsOf: URL(fileURLWithPath: folder.file("a.mp4")))
    }

    private func imported(_ bytes: Data, originals: Bool? = nil) async throws -> (test: TestLibrary, photo: Photo) {
        let test = try await TestLibrary("moving")
        try bytes.write(to: URL(fileURLWithPath: test.folder.file("a.jpg")))
        _ = try await test.importing(test.folder.file("a.jpg"), originals: originals)
        return (test, try #require(try await test.allPhotos().first))
    }

    /// Reduced, and as it came; with what Samsung puts behind the film.
    @Test(arguments: [2400, 400], ["", "SEFH and what else Samsung writes SEFT"])
    func theFilmInsideIsFound(_ width: Int, _ trailer: String) async throws {
        let picture = try SampleAlbum(width: width, height: width * 3 / 4).photo(0)
        let film = try Self.film()
        let (test, photo) = try await imported(picture + film + Data(trailer.utf8))
        #expect(photo.kind == .moving && !photo.isFilm && photo.duration == nil)
        #expect(photo.filmOffset == Int64(picture.count) && photo.filmLength == Int64(film.count))
        let opened = try await test.mesh.send(OpenPhoto(uuid: photo.uuid, .film))
        #expect(opened.mediaType == "video/mp4" && opened.size == Int64(film.count))
        let content = try #require(opened.content)
        let offset = try #require(opened.offset)
        var bytes = Data(count: film.count)
        let count = bytes.withUnsafeMutableBytes { room in
            content.withDescriptor { pread($0, room.baseAddress, room.count, off_t(offset)) }
        }
        #expect(count == film.count && bytes == film)
        #expect(try await test.mesh.send(SearchPhotos(PhotoFilter(kind: .moving))).photos == [photo])
        #expect(try await test.mesh.send(SearchPhotos(PhotoFilter(kind: .picture))).photos == [photo])
        #expect(try await test.mesh.send(SearchPhotos(PhotoFilter(kind: .film))).photos.isEmpty)
        await test.library.close()
    }

    /// Where only the reduced photo is kept, there is no film any more.
    @Test func itNeedsItsOriginal() async throws {
        let picture = try SampleAlbum(width: 2400, height: 1800).photo(0)
        let (test, photo) = try await imported(picture + Self.film(), originals: false)
        #expect(photo.kind == nil && photo.filmOffset == nil)
        #expect(await status { _ = try await test.mesh.send(OpenPhoto(uuid: photo.uuid, .film)) } == .notFound)
        await test.library.close()
    }

    /// What begins like a film and is none: cut, or nothing but its name, however often.
    @Test func whatOnlyBeginsLikeAFilmIsNone() async throws {
        let picture = try SampleAlbum(width: 400, height: 300).photo(0)
        let film = try Self.film()
        let names = Data(repeatElement(Array("\0\0\0\u{18}ftypmp42".utf8), count: 5_000).joined())
        for tail in [film.prefix(film.count / 2), names, film.prefix(40)] {
            let (test, photo) = try await imported(picture + tail)
            #expect(photo.kind == nil && photo.originalPath == photo.path)
            await test.library.close()
        }
    }
}
