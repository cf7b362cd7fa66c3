import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// What a restore has overwritten can be put back, and a picture that only the backup has is never left out.
@Suite struct RestoreUndoTests {
    /// A library whose backup says other things than it says now, with what it says.
    private func changed() async throws -> (test: TestLibrary, backup: String) {
        let test = try await TestLibrary.livedIn()
        let photos = try await test.allPhotos()
        _ = try await test.mesh.send(SetPhotoDetail(id: photos[3].id, location: "at home"))
        let (path, _) = try await test.backUp()
        let wheels = try await test.mesh.send(GetCategory(displayName: "Wheels"))
        _ = try await test.mesh.send(EditCategory(id: wheels.id, displayName: "WHEELS", colorHex: "#999999"))
        let ids = try await test.mesh.send(ListCategories()).categories.map(\.id)
        _ = try await test.mesh.send(ReorderCategories(ids: Array(ids.dropFirst()) + [ids[0]]))
        _ = try await test.mesh.send(MovePhotos(ids: [photos[0].id], categoryId: wheels.id))
        _ = try await test.mesh.send(SetCaption(id: photos[1].id, caption: "my own words"))
        _ = try await test.mesh.send(EditPhoto(id: photos[2].id, name: "another"))
        _ = try await test.mesh.send(EditPhoto(id: photos[3].id, takenAt: LocalDateTime("2001-02-03T04:05:06")))
        _ = try await test.mesh.send(SetPhotoDetail(id: photos[3].id, location: "elsewhere"))
        _ = try await test.mesh.send(ChangeSettings(swipeThreshold: 0.1, enableHapticFeedback: true))
        return (test, path)
    }

    private func state(_ test: TestLibrary) async throws -> [String] {
        let settings = try await test.mesh.send(GetSettings())
        var locations: [String] = []
        for photo in try await test.allPhotos() {
            locations.append(try await test.mesh.send(GetPhotoDetail(id: photo.id)).location ?? "-")
        }
        return try await test.allPhotos().map { "\($0)" } + test.mesh.send(ListCategories()).categories.map { "\($0)" }
            + ["\(settings.swipeThreshold) \(settings.enableHapticFeedback) \(locations)"]
    }

    @Test func allThatWasOverwrittenIsPutBack() async throws {
        let (test, backup) = try await changed()
        let own = try await state(test)
        let restore = try await test.run(RestoreBackup(path: backup, prefersBackup: true))
        #expect(try await state(test) != own)
        let captions = try await test.details(restore, "updated").values.joined()
        #expect(captions.contains("caption (was: 'my own words')"), "\(captions)")
        let undone = try await test.run(UndoRestore(job: restore.id))
        #expect(undone.state == .finished && undone.needsAttention == false, "\(undone)")
        #expect(try await state(test) == own)
        await #expect(throws: MeshError.self) { try await test.mesh.send(UndoRestore(job: restore.id)) }
        await test.library.close()
    }

    @Test func whatSomebodyHasChangedSinceStays() async throws {
        let (test, backup) = try await changed()
        let photo = try await test.allPhotos()[1]
        let restore = try await test.run(RestoreBackup(path: backup, prefersBackup: true))
        _ = try await test.mesh.send(SetCaption(id: photo.id, caption: "newer words"))
        _ = try await test.mesh.send(ChangeSettings(swipeThreshold: 0.9))
        let undone = try await test.run(UndoRestore(job: restore.id))
        #expect(undone.state == .finished && undone.needsAttention == true)
        let lines = try await test.details(undone, "conflict")
        #expect(lines[photo.path] == "caption: changed since, and stays", "\(lines)")
        #expect(lines["settings"]?.hasPrefix("swipeThreshold: changed") == true)
        #expect(try await test.mesh.send(GetPhoto(id: photo.id)).caption == "newer words")
        let settings = try await test.mesh.send(GetSettings())
        #expect(settings.swipeThreshold == 0.9 && settings.enableHapticFeedback)
        await test.library.close()
    }

    @Test func whatIsErasedCannotBePutBack() async throws {
        let (test, backup) = try await changed()
        let photo = try await test.allPhotos()[3]
        let restore = try await test.run(RestoreBackup(path: backup, prefersBackup: true))
        _ = try await test.run(ErasePhotoDetails(ids: [photo.id]))
        await #expect(throws: MeshError.self) { try await test.mesh.send(UndoRestore(job: restore.id)) }
        #expect(try await test.mesh.send(GetPhotoDetail(id: photo.id)).location == nil)
        await test.library.close()
    }

    @Test func aMergeThatOverwritesNothingHasNothingToPutBack() async throws {
        let (test, backup) = try await changed()
        let restore = try await test.run(RestoreBackup(path: backup))
        await #expect(throws: MeshError.self) { try await test.mesh.send(UndoRestore(job: restore.id)) }
        await test.library.close()
    }

    @Test func anotherPictureUnderAKnownUuidComesAsAPhotoOfItsOwn() async throws {
        let test = try await TestLibrary.livedIn()
        let (path, _) = try await test.backUp()
        let before = try await test.allPhotos()
        let (own, count) = (before[2], before.count)
        // As a library has it in which another picture got this uuid.
        try await test.library.catalogue.database.write { connection in
            try connection.execute(
                "UPDATE photos SET content_digest = ?, source_digest = ? WHERE id = ?",
                String(repeating: "a", count: 64), String(repeating: "b", count: 64), own.id)
        }
        let dry = try await test.run(RestoreBackup(path: path, dryRun: true))
        #expect(dry.outcomes["added"] == 1 && dry.receipt?["photosAdded"] == 1, "\(dry)")
        let job = try await test.run(RestoreBackup(path: path))
        #expect(try await test.details(job, "added")[own.path]?.hasPrefix("added beside \(own.id)") == true, "\(job)")
        let after = try await test.allPhotos()
        let added = try #require(after.first { !Set(before.map(\.id)).contains($0.id) })
        #expect(after.count == count + 1 && added.uuid != own.uuid && added.contentDigest == own.contentDigest)
        #expect(try !test.bytes(added.path).isEmpty)
        // Once more changes nothing.
        let again = try await test.run(RestoreBackup(path: path))
        #expect(again.receipt?["photosAdded"] == 0 && again.outcomes["added"] == nil, "\(again)")
        await test.library.close()
    }
}
