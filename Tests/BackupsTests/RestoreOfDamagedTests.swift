import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// What was damaged when it was saved is told where it is restored, and takes the place of nothing that is whole.
@Suite(.timeLimit(.minutes(3))) struct RestoreOfDamagedTests {
    private static let path = "b.zip"

    private func flip(_ relative: String, of test: TestLibrary) throws {
        var bytes = try test.bytes(relative)
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: URL(fileURLWithPath: test.path + "/" + relative))
    }

    /// A library of three photos, a backup of it in which the first is damaged, and what that was before.
    private func library(
        _ album: SampleAlbum = SampleAlbum(width: 64, height: 48)
    ) async throws -> (test: TestLibrary, backup: String, photo: Photo, whole: Data) {
        let test = try await TestLibrary()
        _ = try await test.importSamples(3, album: album)
        let photo = try await test.allPhotos()[0]
        let whole = try test.bytes(photo.path)
        try flip(photo.path, of: test)
        let backup = test.folder.file(Self.path)
        #expect(try await test.run(CreateBackup(path: backup)).outcomes == ["damaged": 1])
        return (test, backup, photo, whole)
    }

    private func damaged(_ test: TestLibrary, _ job: JobSnapshot) async throws -> [String: String] {
        #expect(job.state == .finished && job.needsAttention, "\(job)")
        let lines = try await test.lines(job.id).filter { $0.outcome == "damaged" }
        return Dictionary(uniqueKeysWithValues: lines.map { ($0.item, $0.detail ?? "") })
    }

    @Test func aNewLibraryIsToldWhatToLookAt() async throws {
        let (old, backup, photo, _) = try await library()
        for mode in [RestoreMode.merge, .replace] {
            let new = try await TestLibrary()
            for dryRun in [true, false] {
                let job = try await new.run(RestoreBackup(path: backup, mode: mode, dryRun: dryRun))
                #expect(
                    try await damaged(new, job) == [photo.path: "it was damaged when it was saved; look at it"])
                #expect(job.receipt?["photosAdded"] == 3 && job.receipt?["ending"] == "completeWithProblems")
            }
            #expect(try new.bytes(photo.path) == old.bytes(photo.path))
            await new.library.close()
        }
        await old.library.close()
    }

    @Test(arguments: [RestoreMode.merge, .replace]) func whatTheLibraryHasWholeStays(_ mode: RestoreMode) async throws {
        let (test, backup, photo, whole) = try await library()
        try whole.write(to: URL(fileURLWithPath: test.path + "/" + photo.path))
        let before = try await test.allPhotos()
        for dryRun in [true, false] {
            let job = try await test.run(RestoreBackup(path: backup, mode: mode, dryRun: dryRun))
            #expect(try await damaged(test, job)[photo.path]?.contains("the library's own picture stays") == true)
            #expect(job.outcomes == ["damaged": 1] && job.receipt?["photosKept"] == 3)
        }
        #expect(try await test.allPhotos() == before)
        #expect(try test.bytes(photo.path) == whole)
        #expect(try await test.mesh.send(ListTrash()).photos.isEmpty)
        #expect(try await test.run(RescanLibrary(digests: true)).outcomes.isEmpty)
        // The same picture, imported by another library.
        let other = try await TestLibrary()
        _ = try await other.importing(test.folder.file("album"))
        let own = try #require(try await other.allPhotos().first { $0.contentDigest == photo.contentDigest })
        #expect(own.uuid != photo.uuid)
        let job = try await other.run(RestoreBackup(path: backup, mode: mode))
        #expect(try await damaged(other, job)[photo.path]?.contains("the library's own picture stays") == true)
        let kept = try #require(try await other.allPhotos().first { $0.contentDigest == photo.contentDigest })
        #expect(try kept.originalPath == kept.path && other.bytes(kept.path) == whole)
        #expect(try await other.run(RescanLibrary(digests: true)).outcomes.isEmpty)
        await other.library.close()
        await test.library.close()
    }

    /// The library's own is as damaged as the backup's: that comes in, and is to be looked at.
    @Test func whatIsWholeNowhereIsTakenFromTheBackup() async throws {
        let (test, backup, photo, _) = try await library()
        let dry = try await test.run(RestoreBackup(path: backup, mode: .replace, dryRun: true))
        let job = try await test.run(RestoreBackup(path: backup, mode: .replace))
        #expect(job.receipt?["photosAdded"] == 1 && job.receipt?["photosKept"] == 2)
        for job in [dry, job] {
            #expect(try await damaged(test, job) == [photo.path: "it was damaged when it was saved; look at it"])
        }
        #expect(try await test.mesh.send(ListTrash()).photos.count == 1)
        await test.library.close()
    }

    @Test func damagedOriginalsAndSidecarsAreToldAndKeepNothingElseBack() async throws {
        let test = try await TestLibrary()
        let album = test.folder.file("album")
        try SampleAlbum(width: 2400, height: 1600).write(count: 2, to: album)
        try Data("beside it".utf8).write(to: URL(fileURLWithPath: album + "/sample-0000.jpg.xmp"))
        #expect(try await test.importing(album).outcomes == ["imported": 2])
        let photo = try #require(try await test.allPhotos().first { !$0.sidecars.isEmpty })
        let beside = [try #require(photo.originalPath), photo.sidecars[0].path]
        for path in beside { try flip(path, of: test) }
        let backup = test.folder.file(Self.path)
        // A sidecar that cannot be read may name a place, and is sealed.
        let key = try await test.mesh.send(MakeBackupKey(passphrase: "correct horse"))
        #expect(try await test.run(CreateBackup(path: backup, key: key)).outcomes == ["damaged": 2])
        let new = try await TestLibrary()
        let opened = try await new.mesh.send(OpenBackupKey(path: backup, passphrase: "correct horse"))
        for dryRun in [true, false] {
            let job = try await new.run(RestoreBackup(path: backup, dryRun: dryRun, key: opened))
            #expect(try await damaged(new, job).keys.sorted() == beside.sorted(), "\(job)")
        }
        #expect(try await new.allPhotos().count == 2)
        #expect(try await new.run(RescanLibrary(digests: true)).outcomes == ["damaged": 2])
        // Those that have them are asked to look at nothing.
        for path in beside { try flip(path, of: test) }
        for mode in [RestoreMode.merge, .replace] {
            let job = try await test.run(RestoreBackup(path: backup, mode: mode))
            #expect(job.outcomes["damaged"] == nil, "\(mode): \(job)")
        }
        #expect(try await test.run(RescanLibrary(digests: true)).outcomes.isEmpty)
        await new.library.close()
        await test.library.close()
    }
}
