import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// Photos that move and are two files, into backups and out of them.
@Suite(.timeLimit(.minutes(3)), .enabled(if: Tool.ffmpeg.isPresent, "ffmpeg makes the films"))
struct FilmPairBackupTests {
    private func library() async throws -> TestLibrary {
        let test = try await TestLibrary("pairs")
        let album = test.folder.file("album")
        try FileManager.default.createDirectory(atPath: album, withIntermediateDirectories: false)
        let picture = try SampleAlbum(width: 2400, height: 1800).photo(0)
        try SamplePair().picture(picture).write(to: URL(fileURLWithPath: album + "/IMG_1.JPG"))
        try SamplePair().writeFilm(to: album + "/IMG_1.MOV")
        return test
    }

    private func check(_ new: TestLibrary, _ old: TestLibrary, _ photo: Photo) async throws {
        let other = try #require(try await new.allPhotos().first)
        #expect(other.uuid == photo.uuid && other.kind == .moving && other.contentIdentifier == photo.contentIdentifier)
        let (film, was) = (try #require(other.companionFilm), try #require(photo.companionFilm))
        #expect(film.name == "IMG_1.MOV" && film.contentDigest == was.contentDigest)
        #expect(try new.bytes(film.path) == old.bytes(was.path))
        #expect(try new.bytes(#require(other.originalPath)) == old.bytes(#require(photo.originalPath)))
        let opened = try await new.mesh.send(OpenPhoto(uuid: photo.uuid, .film))
        #expect(opened.mediaType == "video/quicktime" && opened.size == film.fileSize)
        #expect(try await new.run(RescanLibrary(digests: true)).outcomes.isEmpty)
        #expect(try await new.importing(old.folder.file("album")).outcomes == ["duplicate": 2])
        #expect(try await new.allPhotos().count == 1)
    }

    @Test(arguments: [false, true], [RestoreMode.merge, .replace])
    func bothFilesComeBack(isFolder: Bool, mode: RestoreMode) async throws {
        let old = try await library()
        _ = try await old.importing(old.folder.file("album"))
        let photo = try #require(try await old.allPhotos().first)
        let place = old.folder.file(isFolder ? "backups" : "b.zip")
        let made = try await old.run(CreateBackup(path: place, incremental: isFolder ? true : nil))
        #expect(made.state == .finished && !made.needsAttention, "\(made)")
        #expect(try await old.run(VerifyBackup(path: place)).needsAttention == false)
        let new = try await TestLibrary("restored")
        let restored = try await new.run(RestoreBackup(path: place, mode: mode))
        #expect(restored.state == .finished && !restored.needsAttention, "\(restored)")
        try await check(new, old, photo)
        // Again, nothing changes.
        let again = try await new.run(RestoreBackup(path: place, mode: mode))
        #expect(again.state == .finished && !again.needsAttention, "\(again)")
        try await check(new, old, photo)
        await old.library.close()
        await new.library.close()
    }

    /// Older programs read the documents: they are not told of a film in a file that has none.
    @Test func withoutOriginalsItIsAPicture() async throws {
        let old = try await library()
        _ = try await old.importing(old.folder.file("album"))
        let path = old.folder.file("small.zip")
        let made = try await old.run(CreateBackup(path: path, withoutOriginals: true))
        #expect(made.receipt?["originalsLeftOut"] == 1, "\(made)")
        let new = try await TestLibrary("restored")
        #expect(try await new.run(RestoreBackup(path: path)).state == .finished)
        let photo = try #require(try await new.allPhotos().first)
        #expect(photo.kind == nil && photo.sidecars.isEmpty)
        // Its films comes back by its own file, as its original does, and by a backup that has it.
        #expect(try await new.importing(old.folder.file("album")).outcomes == ["completed": 2])
        await old.library.close()
        await new.library.close()
    }

    @Test func aPhotoGetsItsFilmFromABackup() async throws {
        let old = try await library()
        _ = try await old.importing(old.folder.file("album"))
        let photo = try #require(try await old.allPhotos().first)
        let place = old.folder.file("b.zip")
        _ = try await old.run(CreateBackup(path: place))
        let new = try await TestLibrary("restored")
        _ = try await new.importing(old.folder.file("album/IMG_1.JPG"))
        let before = try #require(try await new.allPhotos().first)
        #expect(before.kind == nil)
        let restored = try await new.run(RestoreBackup(path: place))
        #expect(restored.outcomes["completed"] == 1, "\(restored)")
        let after = try #require(try await new.allPhotos().first)
        #expect(after.id == before.id && after.kind == .moving)
        #expect(try new.bytes(#require(after.companionFilm).path) == old.bytes(#require(photo.companionFilm).path))
        await old.library.close()
        await new.library.close()
    }

    /// A backup from when they were two, into a library in which they are one.
    @Test func whatWasAFilmOnceIsNotRestoredBesideIt() async throws {
        let old = try await library()
        _ = try await old.importing(old.folder.file("album/IMG_1.MOV"))
        let place = old.folder.file("b.zip")
        _ = try await old.run(CreateBackup(path: place))
        let new = try await TestLibrary("restored")
        _ = try await new.importing(old.folder.file("album"))
        let before = try await new.allPhotos()
        let restored = try await new.run(RestoreBackup(path: place))
        #expect(restored.state == .finished && !restored.needsAttention, "\(restored)")
        #expect(try await new.allPhotos() == before && before.count == 1)
        // And the other way round: a film that stands by itself is not there twice.
        let both = old.folder.file("both.zip")
        _ = try await new.run(CreateBackup(path: both))
        #expect(try await old.run(RestoreBackup(path: both)).state == .finished)
        #expect(try await old.run(RescanLibrary(digests: true)).outcomes.isEmpty)
        await old.library.close()
        await new.library.close()
    }
}
