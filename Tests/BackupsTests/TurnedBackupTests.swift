import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// Photos that a person has turned, into backups and out of them.
@Suite(.timeLimit(.minutes(3))) struct TurnedBackupTests {
    private func library() async throws -> (test: TestLibrary, photos: [Photo]) {
        let test = try await TestLibrary("turned")
        _ = try await test.importSamples(3, album: SampleAlbum(width: 640, height: 480))
        let photos = try await test.allPhotos()
        _ = try await test.mesh.send(
            RotatePhotos(turns: [PhotoTurn(photos[0], by: 90), PhotoTurn(photos[1], by: 180)]))
        return (test, try await test.allPhotos())
    }

    private func turns(_ photos: [Photo]) -> [String: [Int]] {
        Dictionary(uniqueKeysWithValues: photos.map { ($0.uuid, [$0.turned, $0.width, $0.height]) })
    }

    @Test(arguments: [false, true], [RestoreMode.merge, .replace])
    func theyComeBackTurned(isFolder: Bool, mode: RestoreMode) async throws {
        let (old, photos) = try await library()
        #expect(turns(photos).values.sorted { $0[0] < $1[0] } == [[0, 640, 480], [90, 480, 640], [180, 640, 480]])
        let place = old.folder.file(isFolder ? "backups" : "b.zip")
        let made = try await old.run(CreateBackup(path: place, incremental: isFolder ? true : nil))
        #expect(made.state == .finished && !made.needsAttention, "\(made)")
        let new = try await TestLibrary("restored")
        let restored = try await new.run(RestoreBackup(path: place, mode: mode))
        #expect(restored.state == .finished && !restored.needsAttention, "\(restored)")
        #expect(turns(try await new.allPhotos()) == turns(photos))
        for photo in photos {
            // The backup's own thumbnail was taken, which is turned already.
            #expect(try new.bytes(photo.thumbnailPath) == old.bytes(photo.thumbnailPath))
            #expect(try new.bytes(photo.path) == old.bytes(photo.path))
            let opened = try await new.mesh.send(OpenPhoto(uuid: photo.uuid, .photo))
            #expect(opened.rotation == photo.rotation)
        }
        #expect(try await new.run(RescanLibrary(digests: true)).outcomes.isEmpty)
        let again = try await new.run(RestoreBackup(path: place, mode: mode))
        #expect(again.state == .finished && !again.needsAttention, "\(again)")
        #expect(turns(try await new.allPhotos()) == turns(photos))
        await old.library.close()
        await new.library.close()
    }

    /// As any other thing that a person says of a photo.
    @Test func aMergeKeepsTheLibrarysTurnUnlessItIsToldOtherwise() async throws {
        let (test, photos) = try await library()
        let backup = try await test.backUp().path
        _ = try await test.mesh.send(
            RotatePhotos(turns: [PhotoTurn(id: photos[0].id, to: 0), PhotoTurn(id: photos[2].id, to: 270)]))
        let own = try await test.allPhotos()
        let kept = try await test.run(RestoreBackup(path: backup))
        #expect(try await test.details(kept, "conflict")[photos[0].path] == "the library's rotation stays")
        #expect(try await test.allPhotos() == own)
        let taken = try await test.run(RestoreBackup(path: backup, prefersBackup: true))
        let lines = try await test.details(taken, "updated")
        #expect(lines[photos[2].path] == "gets the backup's rotation (was: 270°)", "\(lines)")
        #expect(turns(try await test.allPhotos()) == turns(photos))
        let undone = try await test.run(UndoRestore(job: taken.id))
        #expect(undone.state == .finished && !undone.needsAttention, "\(undone)")
        #expect(try await test.allPhotos() == own)
        await test.library.close()
    }

    /// Programs from before read the sides of the file, and show that.
    @Test func theDocumentSaysTheSidesOfTheFile() async throws {
        let (test, photos) = try await library()
        let (path, _) = try await test.backUp()
        let bytes = try Tool.unzip.run(["-p", path, "backup_metadata.json"])
        let document = try JSONDecoder().decode(JSONValue.self, from: Data(bytes))
        for photo in photos {
            let said = try #require(document["photos"]?.arrayValue?.first { $0["uuid"]?.stringValue == photo.uuid })
            #expect(said["width"] == 640 && said["height"] == 480)
            #expect(said["rotation"] == (photo.rotation.map { .integer(Int64($0.rawValue)) }))
        }
        await test.library.close()
    }

    @Test func aPhonesBackupSaysThatItDoesNotTurnThem() async throws {
        let (test, _) = try await library()
        let path = test.folder.file("phone.zip")
        let made = try await test.run(CreateBackup(path: path, forPhone: true))
        let lines = try await test.lines(made.id).compactMap(\.detail)
        #expect(lines.contains("not in it: turns of photos (2)"), "\(lines)")
        await test.library.close()
    }
}
