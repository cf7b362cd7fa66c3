import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// Films and photos that move, into backups and out of them.
@Suite(.timeLimit(.minutes(3)), .enabled(if: Tool.ffmpeg.isPresent, "ffmpeg makes the films")) struct FilmBackupTests {
    /// A library of a film, a photo that moves, and a photo.
    private func library() async throws -> TestLibrary {
        let test = try await TestLibrary("films")
        let album = test.folder.file("album")
        let samples = SampleAlbum(width: 2400, height: 1800)
        try samples.write(count: 1, to: album)
        try SampleFilm { $0.tags = ["creation_time": "2023-06-12T12:05:33Z"] }.write(to: album + "/film.mp4")
        let film = try Data(contentsOf: URL(fileURLWithPath: album + "/film.mp4"))
        try (samples.photo(7) + film).write(to: URL(fileURLWithPath: album + "/moving.jpg"))
        let ended = try await test.importing(album)
        #expect(ended.outcomes == ["imported": 3])
        return test
    }

    /// What a photo is, without the numbers and names that a library gives it.
    private func told(_ test: TestLibrary) async throws -> [String: Photo] {
        Dictionary(uniqueKeysWithValues: try await test.allPhotos().map { ($0.uuid, $0) })
    }

    @Test(arguments: [false, true]) func filmsComeBackAsTheyWere(isFolder: Bool) async throws {
        let old = try await library()
        let place = old.folder.file(isFolder ? "backups" : "b.zip")
        let made = try await old.run(CreateBackup(path: place, incremental: isFolder ? true : nil))
        #expect(made.state == .finished && !made.needsAttention, "\(made)")
        let new = try await TestLibrary("restored")
        let restored = try await new.run(RestoreBackup(path: place))
        #expect(restored.state == .finished && !restored.needsAttention, "\(restored)")
        let (before, after) = (try await told(old), try await told(new))
        #expect(before.count == 3 && Set(before.keys) == Set(after.keys))
        for (uuid, photo) in before {
            let other = try #require(after[uuid])
            #expect((other.kind, other.duration, other.codecs) == (photo.kind, photo.duration, photo.codecs))
            #expect((other.filmOffset, other.filmLength) == (photo.filmOffset, photo.filmLength))
            #expect(other.hasDate(of: photo))
            let (original, was) = (try #require(other.originalPath), try #require(photo.originalPath))
            #expect(try new.bytes(original) == old.bytes(was))
        }
        #expect(Set(before.values.map(\.kind)) == [.film, .moving, nil])
        await old.library.close()
        await new.library.close()
    }

    /// A film is what is backed up, and no original of something else.
    @Test func filmsAreInBackupsWithoutOriginals() async throws {
        let old = try await library()
        let path = old.folder.file("small.zip")
        let made = try await old.run(CreateBackup(path: path, withoutOriginals: true))
        #expect(made.receipt?["originalsLeftOut"] == 2, "\(made)")
        let new = try await TestLibrary("restored")
        let restored = try await new.run(RestoreBackup(path: path))
        #expect(restored.state == .finished, "\(restored)")
        let film = try #require(try await new.allPhotos().first { $0.isFilm })
        #expect(try await new.mesh.send(OpenPhoto(id: film.id, .film)).size > 0)
        #expect(try new.files("originals").count == 1)
        #expect(try await new.allPhotos().allSatisfy { $0.kind != .moving && $0.filmOffset == nil })
        await old.library.close()
        await new.library.close()
    }

    @Test func phonesGetNoPostersForPhotos() async throws {
        let old = try await library()
        let path = old.folder.file("phone.zip")
        let job = try await old.mesh.send(CreateBackup(path: path, forPhone: true)).job
        let made = try await old.mesh.send(WaitForJob(job: job))
        #expect(made.receipt?["photos"] == 2, "\(made)")
        let lines = try await old.mesh.send(GetJobReceipt(job: job)).lines
        #expect(lines.contains { $0.detail == "not in it: films (1)" }, "\(lines)")
        await old.library.close()
    }
}
