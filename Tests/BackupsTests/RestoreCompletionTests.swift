import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// A merge gives photos of the library what they lack of their sources.
@Suite struct RestoreCompletionTests {
    /// Two libraries of the same pictures, which are too large to be kept as they are: the first with their originals, the
    /// second without.
    private func libraries() async throws -> (whole: TestLibrary, reduced: TestLibrary, backup: String) {
        let (whole, reduced) = (try await TestLibrary("whole"), try await TestLibrary("reduced"))
        let album = whole.folder.file("album")
        try SampleAlbum(width: 2400, height: 1600).write(count: 2, to: album)
        #expect(try await whole.importing(album).outcomes == ["imported": 2])
        #expect(try await reduced.importing(album, originals: false).outcomes == ["imported": 2])
        let backup = whole.folder.file("b.zip")
        #expect(try await whole.run(CreateBackup(path: backup)).state == .finished)
        return (whole, reduced, backup)
    }

    @Test func reducedPhotosGetTheirOriginalsOnce() async throws {
        let (whole, reduced, backup) = try await libraries()
        #expect(try await reduced.mesh.send(GetLibraryStatus()).photosWithoutOriginal == 2)
        let before = try await reduced.allPhotos()
        let preview = try await reduced.run(RestoreBackup(path: backup, dryRun: true))
        #expect(preview.outcomes["completed"] == 2)
        #expect(try reduced.files("originals").isEmpty)
        let job = try await reduced.run(RestoreBackup(path: backup))
        #expect(job.state == .finished && job.outcomes["completed"] == 2, "\(job)")
        #expect(try await reduced.mesh.send(GetLibraryStatus()).photosWithoutOriginal == 0)
        let after = try await reduced.allPhotos()
        #expect(after.map(\.id) == before.map(\.id) && after.map(\.path) == before.map(\.path))
        let sources = try await Set(whole.allPhotos().compactMap(\.originalPath).map(whole.bytes))
        #expect(try Set(after.compactMap(\.originalPath).map(reduced.bytes)) == sources && sources.count == 2)
        #expect(try reduced.files("staging").isEmpty)
        #expect(try await reduced.run(RestoreBackup(path: backup, dryRun: true)).outcomes["completed"] == nil)
        let again = try await reduced.run(RestoreBackup(path: backup))
        #expect(again.state == .finished && again.outcomes["completed"] == nil, "\(again)")
        #expect(try await reduced.allPhotos() == after)
        await whole.library.close()
        await reduced.library.close()
    }

    /// One original was damaged when it was saved: it completes nothing, and keeps nothing else from being restored.
    @Test func aDamagedOriginalCompletesNothing() async throws {
        let (whole, reduced, backup) = try await libraries()
        let damaged = try await whole.allPhotos()[0]
        let original = whole.path + "/" + (try #require(damaged.originalPath))
        var bytes = try Data(contentsOf: URL(fileURLWithPath: original))
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: URL(fileURLWithPath: original))
        try FileManager.default.removeItem(atPath: backup)
        #expect(try await whole.run(CreateBackup(path: backup)).outcomes == ["damaged": 1])
        for dryRun in [true, false] {
            let job = try await reduced.run(RestoreBackup(path: backup, dryRun: dryRun))
            #expect(job.state == .finished && job.needsAttention, "\(job)")
            #expect(job.outcomes["completed"] == 1 && job.outcomes["damaged"] == 1, "\(job)")
        }
        let after = try await reduced.allPhotos()
        #expect(after.first { $0.name == damaged.name }?.originalPath == nil)
        #expect(after.compactMap(\.originalPath).count == 1)
        #expect(try reduced.files("staging").isEmpty)
        await whole.library.close()
        await reduced.library.close()
    }

    /// A replacement gives back what a photo that stays has lost, or never had.
    @Test func aReplacementCompletesPhotosThatStay() async throws {
        let (whole, reduced, backup) = try await libraries()
        let before = try await whole.allPhotos()
        let originals = try before.map { try whole.bytes(#require($0.originalPath)) }
        try FileManager.default.removeItem(atPath: whole.path + "/" + (#require(before[0].originalPath)))
        for library in [whole, reduced] {
            let job = try await library.run(RestoreBackup(path: backup, mode: .replace))
            #expect(job.state == .finished, "\(job)")
            let after = try await library.allPhotos()
            #expect(after.map(\.uuid) == before.map(\.uuid))
            #expect(try after.map { try library.bytes(#require($0.originalPath)) } == originals)
            #expect(try library.files("staging").isEmpty)
        }
        // What was whole stayed where it was.
        #expect(try await whole.allPhotos()[1].path == before[1].path)
        await whole.library.close()
        await reduced.library.close()
    }

    @Test func aFileThatIsThereAlreadyIsNotTouched() async throws {
        let (whole, reduced, backup) = try await libraries()
        let photo = try await reduced.allPhotos()[0]
        let name = try #require(photo.path.split(separator: "/").last?.split(separator: ".").first)
        let theirs = reduced.path + "/originals/\(name).jpg"
        try Data("theirs".utf8).write(to: URL(fileURLWithPath: theirs))
        let job = try await reduced.run(RestoreBackup(path: backup))
        #expect(job.state == .finished && job.outcomes["completed"] == 1, "\(job)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: theirs)) == Data("theirs".utf8))
        #expect(try await reduced.mesh.send(GetPhoto(id: photo.id)).originalPath == nil)
        await whole.library.close()
        await reduced.library.close()
    }
}
