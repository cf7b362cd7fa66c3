import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// Photos with a raw file beside them, into backups and out of them.
@Suite(.timeLimit(.minutes(3))) struct RawPairBackupTests {
    private func library() async throws -> TestLibrary {
        let test = try await TestLibrary("shots")
        let album = test.folder.file("album")
        try FileManager.default.createDirectory(atPath: album, withIntermediateDirectories: false)
        func write(_ bytes: Data, _ name: String) throws {
            try bytes.write(to: URL(fileURLWithPath: album + "/" + name))
        }
        try write(SampleShot().jpeg(SampleAlbum(width: 2_400, height: 1_800).photo(0)), "DSCF1.JPG")
        try write(SampleShot().raw(SampleAlbum(width: 1_600, height: 1_200).photo(1)), "DSCF1.RAF")
        return test
    }

    private func check(_ new: TestLibrary, _ old: TestLibrary, _ photo: Photo) async throws {
        let other = try #require(try await new.allPhotos().first)
        #expect(other.uuid == photo.uuid && other.kind == nil)
        let (raw, was) = (try #require(other.companionRaw), try #require(photo.companionRaw))
        #expect(raw.name == "DSCF1.RAF" && raw.contentDigest == was.contentDigest)
        #expect(try new.bytes(raw.path) == old.bytes(was.path))
        #expect(try new.bytes(#require(other.originalPath)) == old.bytes(#require(photo.originalPath)))
        #expect(try await new.mesh.send(OpenPhoto(uuid: photo.uuid, .raw)).size == raw.fileSize)
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
        for _ in 1...2 {
            // The second time nothing changes.
            let restored = try await new.run(RestoreBackup(path: place, mode: mode))
            #expect(restored.state == .finished && !restored.needsAttention, "\(restored)")
            try await check(new, old, photo)
        }
        await old.library.close()
        await new.library.close()
    }

    @Test func aPhotoGetsItsRawFileFromABackup() async throws {
        let old = try await library()
        _ = try await old.importing(old.folder.file("album"))
        let photo = try #require(try await old.allPhotos().first)
        let place = old.folder.file("b.zip")
        _ = try await old.run(CreateBackup(path: place))
        let new = try await TestLibrary("restored")
        _ = try await new.importing(old.folder.file("album/DSCF1.JPG"))
        let before = try #require(try await new.allPhotos().first)
        let restored = try await new.run(RestoreBackup(path: place))
        #expect(restored.outcomes["completed"] == 1, "\(restored)")
        let after = try #require(try await new.allPhotos().first)
        #expect(after.id == before.id)
        #expect(try new.bytes(#require(after.companionRaw).path) == old.bytes(#require(photo.companionRaw).path))
        await old.library.close()
        await new.library.close()
    }

    /// A backup from when they were two, into a library in which they are one, and the other way round.
    @Test func whatWasAPhotoOnceIsNotRestoredBesideIt() async throws {
        let old = try await library()
        _ = try await old.importing(old.folder.file("album/DSCF1.RAF"))
        let place = old.folder.file("b.zip")
        _ = try await old.run(CreateBackup(path: place))
        let new = try await TestLibrary("restored")
        _ = try await new.importing(old.folder.file("album"))
        let before = try await new.allPhotos()
        let restored = try await new.run(RestoreBackup(path: place))
        #expect(restored.state == .finished && !restored.needsAttention, "\(restored)")
        #expect(try await new.allPhotos() == before && before.count == 1)
        let both = old.folder.file("both.zip")
        _ = try await new.run(CreateBackup(path: both))
        #expect(try await old.run(RestoreBackup(path: both)).state == .finished)
        #expect(try await old.run(RescanLibrary(digests: true)).outcomes.isEmpty)
        await old.library.close()
        await new.library.close()
    }

    /// A backup from when they were two, of which somebody had said something of the raw file.
    @Test(arguments: [false, true]) func whatIsNotTakenOverHasALine(prefersBackup: Bool) async throws {
        let old = try await library()
        _ = try await old.importing(old.folder.file("album/DSCF1.RAF"))
        let raw = try #require(try await old.allPhotos().first)
        let other = try await old.mesh.send(AddCategory(displayName: "Raws"))
        _ = try await old.mesh.send(MovePhotos(ids: [raw.id], categoryId: other.id))
        _ = try await old.mesh.send(EditPhoto(id: raw.id, name: "First steps", caption: "At last", isFavorite: true))
        _ = try await old.mesh.send(EditPhoto(id: raw.id, takenAt: LocalDateTime("1999-12-31T23:59:00")))
        _ = try await old.mesh.send(RotatePhotos(turns: [PhotoTurn(id: raw.id, to: 90)]))
        let place = old.folder.file("b.zip")
        _ = try await old.run(CreateBackup(path: place))
        let new = try await TestLibrary("restored")
        _ = try await new.importing(old.folder.file("album"))
        let before = try await new.allPhotos()
        let restored = try await new.run(RestoreBackup(path: place, prefersBackup: prefersBackup))
        #expect(restored.state == .finished && restored.needsAttention, "\(restored)")
        let lines = try await new.lines(restored.id).filter { $0.outcome == "conflict" }
        #expect(lines.count == 1 && lines.first?.item == before.first?.path, "\(lines)")
        let lost = "not taken over: category, name, caption, favourite mark, date, rotation"
        #expect(
            lines.first?.detail
                == "its raw file is a photo of its own in the backup, \(raw.path), of which the following is \(lost)")
        #expect(try await new.allPhotos() == before && before.count == 1)
        await old.library.close()
        await new.library.close()
    }
}
