import Foundation
import LibraryModel
import LibraryServices
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// Photos that move and are two files, as Apple's phones write them: one photo, in whichever order the files come.
@Suite(.timeLimit(.minutes(4)), .enabled(if: Tool.ffmpeg.isPresent, "ffmpeg makes the films")) struct FilmPairTests {
    private func library(sourceClock: WallClock = TestLibrary.beforeAllFiles) async throws -> TestLibrary {
        let test = try await TestLibrary("pairs", sourceClock: sourceClock)
        try FileManager.default.createDirectory(
            atPath: test.folder.file("album"), withIntermediateDirectories: false)
        return test
    }

    /// - Parameter seed: of each picture another.
    private func write(_ pair: SamplePair, picture name: String, _ test: TestLibrary, width: Int = 640) throws {
        let picture = try SampleAlbum(width: width, height: width * 3 / 4).photo(pair.seed)
        try pair.picture(picture).write(to: URL(fileURLWithPath: test.folder.file("album/" + name)))
    }

    private func write(_ pair: SamplePair, film name: String, _ test: TestLibrary) throws {
        try pair.writeFilm(to: test.folder.file("album/" + name))
    }

    private func source(_ name: String, _ test: TestLibrary) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: test.folder.file("album/" + name)))
    }

    /// That the one photo moves, and nothing else is there.
    private func checkPair(_ test: TestLibrary, picture: String = "IMG_1.JPG", film: String = "IMG_1.MOV") async throws
        -> Photo
    {
        let photos = try await test.allPhotos()
        let photo = try #require(photos.first)
        #expect(photos.count == 1 && photo.kind == .moving && photo.filmOffset == nil, "\(photos)")
        let kept = try #require(photo.companionFilm)
        #expect(kept.name == film && kept.path == "originals/\(photo.fileName).1.mov")
        #expect(try test.bytes(kept.path) == source(film, test))
        #expect(try test.bytes(#require(photo.originalPath)) == source(picture, test))
        #expect(try test.files("staging").isEmpty)
        let stored = try ["photos", "originals"].flatMap { try test.files($0) }
        #expect(stored.count == Set([photo.path, photo.originalPath, kept.path]).count, "\(stored)")
        #expect(try test.files("thumbnails").count == 1)
        #expect(try await test.run(RescanLibrary(digests: true)).outcomes.isEmpty)
        #expect(try await test.mesh.send(CleanStorage(unknownPhotos: true)).unknownCount == 0)
        #expect(try await test.mesh.send(IdentifyPath(path: test.path + "/" + kept.path)).photoId == photo.id)
        return photo
    }

    /// Shown as it came, and reduced; named by what the camera wrote, and without it by name and time.
    @Test(arguments: [400, 2400], [SamplePair().identifier, nil])
    func bothTogetherAreOnePhoto(_ width: Int, _ identifier: String?) async throws {
        let test = try await library()
        let pair = SamplePair { $0.identifier = identifier }
        try write(pair, picture: "IMG_1.JPG", test, width: width)
        try write(pair, film: "IMG_1.MOV", test)
        let ended = try await test.importing(test.folder.file("album"))
        #expect(ended.outcomes == ["imported": 1, "completed": 1] && !ended.needsAttention, "\(ended)")
        let photo = try await checkPair(test)
        #expect(photo.contentIdentifier == identifier && photo.duration == nil)
        let opened = try await test.mesh.send(OpenPhoto(uuid: photo.uuid, .film))
        let film = try source("IMG_1.MOV", test)
        #expect(opened.mediaType == "video/quicktime" && opened.size == Int64(film.count) && opened.offset == nil)
        #expect(try await test.mesh.send(SearchPhotos(PhotoFilter(kind: .moving))).photos == [photo])
        #expect(try await test.mesh.send(SearchPhotos(PhotoFilter(kind: .film))).photos.isEmpty)
        // Nothing is new the second time, of either file.
        #expect(try await test.importing(test.folder.file("album")).outcomes == ["duplicate": 2])
        #expect(try await test.allPhotos() == [photo])
        await test.library.close()
    }

    @Test func whatIsKnownIsNotOpenedAgain() async throws {
        let test = try await library(sourceClock: WallClock { Timestamp(milliseconds: .max / 2) })
        try write(SamplePair(), picture: "IMG_1.JPG", test)
        try write(SamplePair(), film: "IMG_1.MOV", test)
        _ = try await test.importing(test.folder.file("album"))
        #expect(try await test.importing(test.folder.file("album")).outcomes == ["known": 2])
        // One that is lost is put back by its own file.
        let film = try #require(try await test.allPhotos().first?.companionFilm)
        try FileManager.default.removeItem(atPath: test.path + "/" + film.path)
        #expect(try await test.run(RescanLibrary()).outcomes == ["missing": 1])
        let again = try await test.importing(test.folder.file("album"))
        #expect(again.outcomes == ["duplicate": 1, "completed": 1])
        _ = try await checkPair(test)
        await test.library.close()
    }

    @Test func aFilmThatComesLaterJoinsItsPicture() async throws {
        let test = try await library()
        try write(SamplePair(), picture: "IMG_1.JPG", test)
        #expect(try await test.importing(test.folder.file("album")).outcomes == ["imported": 1])
        let before = try #require(try await test.allPhotos().first)
        #expect(before.kind == nil)
        try write(SamplePair(), film: "IMG_1.MOV", test)
        // Where sources are not kept too: a film is what is imported.
        let job = try await test.importing(test.folder.file("album/IMG_1.MOV"), originals: false)
        #expect(job.outcomes == ["completed": 1])
        let photo = try await checkPair(test)
        #expect(photo.id == before.id && photo.uuid == before.uuid)
        #expect(
            try await test.lines(job.id)[0].detail
                == "photo \(photo.id) moves now, by its film \(photo.companionFilm?.path ?? "")")
        await test.library.close()
    }

    @Test func aPictureThatComesLaterTakesItsFilmIn() async throws {
        let test = try await library()
        try write(SamplePair(), film: "IMG_1.MOV", test)
        #expect(try await test.importing(test.folder.file("album")).outcomes == ["imported": 1])
        let film = try #require(try await test.allPhotos().first)
        #expect(film.isFilm && film.contentIdentifier == SamplePair().identifier)
        try write(SamplePair(), picture: "IMG_1.JPG", test)
        let job = try await test.importing(test.folder.file("album/IMG_1.JPG"))
        #expect(job.outcomes == ["imported": 1])
        #expect(
            try await test.lines(job.id)[0].detail?.contains("it moves by the film that was photo \(film.id)") == true)
        let photo = try await checkPair(test)
        #expect(photo.uuid != film.uuid)
        #expect(try await test.mesh.send(ListTrash()).photos.isEmpty)
        #expect(try await test.importing(test.folder.file("album")).outcomes == ["duplicate": 2])
        await test.library.close()
    }

    /// What a person has said of a film would go with it.
    @Test(arguments: ["favourite", "name", "caption", "category"])
    func aFilmThatSomebodyMeansStays(_ what: String) async throws {
        let test = try await library()
        try write(SamplePair(), film: "IMG_1.MOV", test)
        _ = try await test.importing(test.folder.file("album"))
        let film = try #require(try await test.allPhotos().first)
        switch what {
        case "favourite": _ = try await test.mesh.send(SetFavorite(ids: [film.id], isFavorite: true))
        case "name": _ = try await test.mesh.send(EditPhoto(id: film.id, name: "First steps"))
        case "caption": _ = try await test.mesh.send(SetCaption(id: film.id, caption: "First steps"))
        default:
            let other = try await test.mesh.send(AddCategory(displayName: "Films"))
            _ = try await test.mesh.send(MovePhotos(ids: [film.id], categoryId: other.id))
        }
        try write(SamplePair(), picture: "IMG_1.JPG", test)
        #expect(try await test.importing(test.folder.file("album/IMG_1.JPG")).outcomes == ["imported": 1])
        #expect(Set(try await test.allPhotos().map(\.kind)) == [.film, nil])
        await test.library.close()
    }

    // MARK: Pairs that lie

    /// A film of minutes; two pictures that claim one film, neither called like it; one of another second, of another name, of another
    /// shot.
    @Test(arguments: ["long", "claimed", "later", "other name", "other identifier"])
    func whatLiesStaysTwo(_ what: String) async throws {
        let test = try await library()
        var (picture, film, name) = (SamplePair(), SamplePair(), "IMG_1.MOV")
        switch what {
        case "long": film.duration = 12
        case "claimed":
            name = "IMG_7.MOV"
            try write(SamplePair { $0.seed = 1 }, picture: "IMG_2.JPG", test)
        case "later":
            (picture.identifier, film.identifier, film.taken) = (nil, nil, "2023-06-12T14:05:37")
        case "other name": (picture.identifier, film.identifier, name) = (nil, nil, "IMG_2.MOV")
        default: film.identifier = "2745E022-9712-43C7-B024-F308EC6413CB"
        }
        try write(picture, picture: "IMG_1.JPG", test)
        try write(film, film: name, test)
        let ended = try await test.importing(test.folder.file("album"))
        let count = what == "claimed" ? 3 : 2
        #expect(ended.outcomes == ["imported": count], "\(ended)")
        let kinds = try await test.allPhotos().map(\.kind)
        #expect(kinds.count { $0 == .film } == 1 && kinds.count { $0 == nil } == count - 1, "\(kinds)")
        #expect(try await test.importing(test.folder.file("album")).outcomes == ["duplicate": count])
        await test.library.close()
    }

    @Test func ofTwoThatClaimAFilmTheOneCalledLikeItHasIt() async throws {
        let test = try await library()
        try write(SamplePair(), picture: "IMG_1.JPG", test)
        try write(SamplePair { $0.seed = 1 }, picture: "IMG_E1.JPG", test)
        _ = try await test.importing(test.folder.file("album"))
        try write(SamplePair(), film: "IMG_1.MOV", test)
        #expect(try await test.importing(test.folder.file("album/IMG_1.MOV")).outcomes == ["completed": 1])
        let moving = try await test.mesh.send(SearchPhotos(PhotoFilter(kind: .moving))).photos
        #expect(moving.map(\.sourceName) == ["IMG_1.JPG"])
        await test.library.close()
    }

    /// Two films that say the same: one is its film, the other a film.
    @Test func aPictureHasOneFilm() async throws {
        let test = try await library()
        try write(SamplePair(), picture: "IMG_1.JPG", test)
        try write(SamplePair(), film: "IMG_1.MOV", test)
        try write(SamplePair { $0.seed = 1 }, film: "IMG_2.MOV", test)
        let ended = try await test.importing(test.folder.file("album"))
        #expect(ended.outcomes == ["imported": 2, "completed": 1], "\(ended)")
        #expect(Set(try await test.allPhotos().map(\.kind)) == [.film, .moving])
        // A copy of the one that it has is no other.
        try FileManager.default.copyItem(
            atPath: test.folder.file("album/IMG_1.MOV"), toPath: test.folder.file("album/copy.MOV"))
        #expect(try await test.importing(test.folder.file("album")).outcomes == ["duplicate": 4])
        await test.library.close()
    }

    /// Many at once, with the films first where that is how they are called, and again in another order.
    @Test func whoeverIsFasterTheyAreOne() async throws {
        let test = try await library()
        for number in 0..<12 {
            let pair = SamplePair {
                $0.seed = number
                $0.identifier = "PAIR-\(number)"
                $0.taken = "2023-06-12T14:05:\(10 + number / 4)"
            }
            try write(pair, picture: number % 2 == 0 ? "IMG_\(number).JPG" : "IMG_\(number).jpg", test)
            try write(pair, film: "IMG_\(number).MOV", test)
        }
        let album = test.folder.file("album")
        async let first = test.importing(album)
        async let second = test.importing(album)
        let ended = try await [first, second]
        #expect(ended.allSatisfy { $0.state == .finished && !$0.needsAttention }, "\(ended)")
        let photos = try await test.allPhotos()
        #expect(photos.count == 12 && photos.allSatisfy { $0.kind == .moving }, "\(photos.map(\.sourceName))")
        for photo in photos {
            let kept = try #require(photo.companionFilm)
            #expect(kept.name.dropLast(4) == photo.name)
            #expect(try test.bytes(kept.path) == source(kept.name, test))
        }
        #expect(try await test.run(RescanLibrary(digests: true)).outcomes.isEmpty)
        #expect(try await test.mesh.send(CleanStorage(unknownPhotos: true)).unknownCount == 0)
        await test.library.close()
    }

    // MARK: What becomes of it

    @Test func theFilmGoesIntoTheTrashAndOutOfItWithItsPicture() async throws {
        let test = try await library()
        try write(SamplePair(), picture: "IMG_1.JPG", test)
        try write(SamplePair(), film: "IMG_1.MOV", test)
        _ = try await test.importing(test.folder.file("album"))
        let photo = try await checkPair(test)
        _ = try await test.mesh.send(DeletePhotos(ids: [photo.id]))
        #expect(try await test.mesh.send(ListTrash()).photos.map(\.photo) == [photo])
        _ = try await test.mesh.send(RestorePhotos(ids: [photo.id]))
        #expect(try await checkPair(test) == photo)
        _ = try await test.mesh.send(DeletePhotos(ids: [photo.id]))
        _ = try await test.mesh.send(PurgeTrash(all: true))
        #expect(try test.files("originals").isEmpty && test.files("photos").isEmpty)
        // Both are new again.
        #expect(try await test.importing(test.folder.file("album")).outcomes == ["imported": 1, "completed": 1])
        await test.library.close()
    }

    @Test func aFileThatIsGoneWithItsDetailsMovesNoMore() async throws {
        let test = try await library()
        try write(SamplePair(), picture: "IMG_1.JPG", test)
        try write(SamplePair(), film: "IMG_1.MOV", test)
        _ = try await test.importing(test.folder.file("album"))
        let photo = try await checkPair(test)
        _ = try await test.run(ErasePhotoDetails(ids: [photo.id], files: true))
        let erased = try #require(try await test.allPhotos().first)
        #expect(erased.kind == nil && erased.sidecars.isEmpty)
        #expect(try test.files("originals").isEmpty)
        #expect(await status { _ = try await test.mesh.send(OpenPhoto(uuid: photo.uuid, .film)) } == .notFound)
        await test.library.close()
    }
}
