import Foundation
import LibraryModel
import LibraryTestSupport
import ServiceMesh
import SmilePile
import TestSupport
import Testing

@testable import Importing

/// Films are photos of the library: kept byte for byte, shown by a poster, found, thrown away and taken back as others are.
@Suite(.timeLimit(.minutes(4)), .enabled(if: Tool.ffmpeg.isPresent, "ffmpeg makes the films")) struct FilmImportTests {
    private func library(_ films: [String: SampleFilm], photos: Int = 0) async throws -> TestLibrary {
        let test = try await TestLibrary("films")
        let album = test.folder.file("album")
        try FileManager.default.createDirectory(atPath: album, withIntermediateDirectories: false)
        for (name, film) in films { try film.write(to: album + "/" + name) }
        if photos > 0 { _ = try await test.importSamples(photos) }
        return test
    }

    private func album(_ test: TestLibrary, _ name: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: test.folder.file("album/" + name)))
    }

    @Test func aFilmIsKeptAsItIs() async throws {
        let test = try await library(["lake.mp4": SampleFilm { $0.tags = ["creation_time": "2023-06-12T12:05:33Z"] }])
        #expect(try await test.importing(test.folder.file("album"), dryRun: true).outcomes == ["imported": 1])
        #expect(try await test.allPhotos().isEmpty && test.files("staging").isEmpty)
        let ended = try await test.importing(test.folder.file("album"))
        #expect(ended.outcomes == ["imported": 1] && !ended.needsAttention)
        let photo = try #require(try await test.allPhotos().first)
        #expect(photo.kind == .film && photo.isFilm && photo.codecs == "h264 aac")
        #expect((1900...2100).contains(photo.duration ?? 0))
        #expect(photo.name == "lake" && photo.mediaType == "image/jpeg" && photo.width == 320 && photo.height == 240)
        let original = try #require(photo.originalPath)
        #expect(original.hasSuffix(".mp4"))
        #expect(try test.bytes(original) == album(test, "lake.mp4"))
        // What a clock here showed at that moment.
        #expect(photo.takenAt == LocalDateTime(here: Timestamp(milliseconds: 1_686_571_533_000)))
        #expect(try photo.dateSource == .film && test.files("staging") == [])

        #expect(try await test.importing(test.folder.file("album")).outcomes == ["duplicate": 1])
        #expect(try await test.run(RescanLibrary(digests: true)).outcomes.isEmpty)
        _ = try await test.mesh.send(DeletePhotos(ids: [photo.id]))
        #expect(try await test.mesh.send(ListTrash()).photos.map(\.photo.kind) == [.film])
        _ = try await test.mesh.send(RestorePhotos(ids: [photo.id]))
        #expect(try await test.mesh.send(GetPhoto(id: photo.id)) == photo)
        await test.library.close()
    }

    @Test func itIsThereWhereSourcesAreNotKept() async throws {
        let test = try await library(["a.mov": SampleFilm()])
        let ended = try await test.importing(test.folder.file("album"), originals: false)
        #expect(ended.outcomes == ["imported": 1])
        let photo = try #require(try await test.allPhotos().first)
        #expect(try test.bytes(try #require(photo.originalPath)) == album(test, "a.mov"))
        await test.library.close()
    }

    /// By content, whatever it is called; and a film's name says what it is.
    @Test(arguments: [("a.jpg", ".mp4"), ("a", ".mp4"), ("a.m4v", ".m4v")])
    func itsNameDecidesNothing(_ name: String, _ ending: String) async throws {
        let test = try await library(["film.mp4": SampleFilm()])
        let album = test.folder.file("album")
        try FileManager.default.moveItem(atPath: album + "/film.mp4", toPath: album + "/" + name)
        #expect(try await test.importing(album).outcomes == ["imported": 1])
        let photo = try #require(try await test.allPhotos().first)
        #expect(photo.isFilm && photo.originalPath?.hasSuffix(ending) == true)
        await test.library.close()
    }

    @Test func filmsAndPicturesAreToldApart() async throws {
        let test = try await library(["a.mp4": SampleFilm(), "b.mov": SampleFilm()], photos: 3)
        _ = try await test.importing(test.folder.file("album"))
        func names(_ filter: PhotoFilter) async throws -> Set<String> {
            Set(try await test.mesh.send(SearchPhotos(filter, limit: 100)).photos.map(\.name))
        }
        #expect(try await names(PhotoFilter(kind: .film)) == ["a", "b"])
        #expect(try await names(PhotoFilter(kind: .picture)).count == 3)
        #expect(try await names(PhotoFilter(text: "b.mov", kind: .film)) == ["b"])
        let films = try await test.mesh.send(SearchPhotos(PhotoFilter(kind: .film), limit: 100)).photos
        _ = try await test.mesh.send(SetFavorite(ids: [films[0].id], isFavorite: true))
        #expect(try await names(PhotoFilter(favoritesOnly: true, kind: .film)) == [films[0].name])
        #expect(try await names(PhotoFilter(categoryId: films[0].categoryId, reviewed: false, kind: .film)).count == 2)
        #expect(try await names(PhotoFilter(reviewed: true, kind: .film)).isEmpty)
        await test.library.close()
    }

    @Test func theFilmIsOpenedToBePlayed() async throws {
        let test = try await library(["a.mp4": SampleFilm()], photos: 1)
        _ = try await test.importing(test.folder.file("album"))
        let all = try await test.allPhotos()
        let film = try #require(all.first { $0.isFilm })
        let picture = try #require(all.first { !$0.isFilm })
        let opened = try await test.mesh.send(OpenPhoto(uuid: film.uuid, .film))
        #expect(try opened.mediaType == "video/mp4" && opened.size == Int64(album(test, "a.mp4").count))
        #expect(try await test.mesh.send(OpenPhoto(uuid: film.uuid, .photo)).mediaType == "image/jpeg")
        #expect(await status { _ = try await test.mesh.send(OpenPhoto(uuid: picture.uuid, .film)) } == .notFound)
        await test.library.close()
    }

    @Test func soundIsLeftAndDamageIsTold() async throws {
        let test = try await library(["a.mp4": SampleFilm()])
        let album = test.folder.file("album")
        try Tool.ffmpeg.run(["-loglevel", "error", "-i", album + "/a.mp4", "-vn", "-c", "copy", album + "/sound.mp4"])
        try self.album(test, "a.mp4").prefix(20_000).write(to: URL(fileURLWithPath: album + "/cut.mp4"))
        let job = try await test.mesh.send(ImportPhotos(paths: [album])).job
        let ended = try await test.mesh.send(WaitForJob(job: job))
        #expect(ended.outcomes == ["imported": 1, "damaged": 1])
        let receipt = try await test.mesh.send(GetJobReceipt(job: job))
        #expect(receipt.lines.contains { $0.item.hasSuffix("cut.mp4") && $0.outcome == "damaged" })
        #expect(!receipt.lines.contains { $0.item.hasSuffix("sound.mp4") })
        #expect(try test.files("originals").count == 1 && test.files("staging").isEmpty)
        await test.library.close()
    }

    /// What Google's export says beside a film.
    @Test func itsSidecarCounts() async throws {
        let test = try await library(["lake.mp4": SampleFilm()])
        let said =
            #"{"title": "lake.mp4", "description": "At the lake", "photoTakenTime": {"timestamp": "1560340800"}}"#
        try Data(said.utf8).write(to: URL(fileURLWithPath: test.folder.file("album/lake.mp4.json")))
        _ = try await test.importing(test.folder.file("album"))
        let photo = try #require(try await test.allPhotos().first)
        #expect(photo.isFilm && photo.caption == "At the lake" && photo.dateSource == .sidecar)
        #expect(photo.sidecars.map(\.name) == ["lake.mp4.json"])
        await test.library.close()
    }

    @Test func whatCannotBeShownIsKept() async throws {
        let test = try await library(["a.mp4": SampleFilm()])
        var bytes = try album(test, "a.mp4")
        let place = try #require(bytes.range(of: Data("avc1".utf8), in: 32..<bytes.count))
        bytes.replaceSubrange(place, with: Data("zzz9".utf8))
        try bytes.write(to: URL(fileURLWithPath: test.folder.file("album/a.mp4")))
        #expect(try await test.importing(test.folder.file("album")).outcomes == ["kept_unseen": 1])
        let photo = try #require(try await test.allPhotos().first)
        #expect(photo.isFilm && photo.unseenBy == Release.version)
        #expect(try test.bytes(try #require(photo.originalPath)) == bytes)
        await test.library.close()
    }
}
