import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import Testing
import ZipArchive

/// What the story of backups names: libraries of each size, the documents word for word, the file's name and who may read it.
@Suite(.timeLimit(.minutes(3))) struct BackupStoryTests {
    private typealias Object = [String: Any]

    private func document(_ name: String, of path: String) throws -> Object {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        let reader = try ZipReader(descriptor: file.fileDescriptor)
        let entry = try #require(try reader.index(of: name))
        let bytes = try reader.read(entry, limit: 1 << 20)
        return try #require(try JSONSerialization.jsonObject(with: bytes) as? Object)
    }

    /// The photos differ, else they would be one.
    @Test(arguments: [0, 1, 50, 501]) func aLibraryOfAnySizeGoesThereAndBack(_ count: Int) async throws {
        let old = try await TestLibrary("old")
        if count > 0 {
            let job = try await old.importSamples(count, album: SampleAlbum(width: 32, height: 24))
            #expect(job.outcomes == ["imported": count])
        }
        let path = old.folder.file("b.zip")
        let saved = try await old.run(CreateBackup(path: path))
        #expect(saved.state == .finished && saved.receipt?["photos"] == .integer(Int64(count)), "\(saved)")
        #expect(try await old.run(VerifyBackup(path: path)).state == .finished)
        let new = try await TestLibrary("new")
        let restored = try await new.run(RestoreBackup(path: path))
        #expect(restored.state == .finished, "\(restored)")
        #expect(restored.receipt?["photosAdded"] == .integer(Int64(count)))
        #expect(try await new.mesh.send(CountPhotos()).count == count)
        #expect(try await new.allPhotos() == old.allPhotos())
        #expect(try await new.mesh.send(ListCategories()) == old.mesh.send(ListCategories()))
        await old.library.close()
        await new.library.close()
    }

    @Test func theDocumentsSayWhatTheStorySays() async throws {
        let test = try await TestLibrary("documents")
        _ = try await test.importSamples(2, album: SampleAlbum(width: 32, height: 24))
        let photo = try await test.allPhotos()[0]
        let sea = try await test.mesh.send(AddCategory(displayName: "Sea", colorHex: "#FF5722"))
        _ = try await test.mesh.send(ReorderCategories(ids: [sea.id, 1, 2, 3, 4]))
        _ = try await test.mesh.send(
            EditPhoto(id: photo.id, caption: "Summer vacation", categoryId: sea.id, isFavorite: true))
        _ = try await test.mesh.send(SetPIN(pin: PIN("2580")))
        let path = test.folder.file("b.zip")
        #expect(try await test.run(CreateBackup(path: path)).state == .finished)
        let time = try await test.mesh.send(InspectBackup(path: path)).timestamp

        let manifest = try document("manifest.json", of: path)
        #expect(manifest["backupVersion"] as? String == "1.0" && manifest["appVersion"] as? String == Release.version)
        #expect((manifest["platform"] as? String)?.isEmpty == false)
        #expect(manifest["photoCount"] as? Int == 2 && manifest["categoryCount"] as? Int == 5)
        #expect((manifest["timestamp"] as? String).flatMap(Timestamp.init(rfc3339:)) == time)

        let metadata = try document("backup_metadata.json", of: path)
        #expect(metadata["version"] as? String == "1.0")
        #expect((metadata["timestamp"] as? String).flatMap(Timestamp.init(rfc3339:)) == time)
        let categories = try #require(metadata["categories"] as? [Object])
        #expect(categories.count == 5)
        let category = try #require(categories.first { $0["displayName"] as? String == "Sea" })
        #expect(category["id"] as? Int64 == sea.id && category["colorHex"] as? String == "#FF5722")
        #expect(category["orderIndex"] as? Int == 0 && category["isDefault"] as? Bool == false)
        let photos = try #require(metadata["photos"] as? [Object])
        let said = try #require(photos.first { $0["caption"] as? String == "Summer vacation" })
        #expect(photos.count == 2 && said["id"] as? Int64 == photo.id && said["path"] as? String == photo.path)
        #expect(said["categoryId"] as? Int64 == sea.id && said["isFavorite"] as? Bool == true)
        #expect((said["timestamp"] as? String).flatMap(Timestamp.init(rfc3339:)) == photo.shownMoment)
        let settings = try #require(metadata["settings"] as? Object)
        #expect(settings["hasPIN"] as? Bool == true && settings["kidsModeEnabled"] as? Bool == false)
        await test.library.close()
    }

    /// Without a place it goes into the library's own folder for them.
    @Test func theFileIsNamedByTheMomentAndItsOwnersAlone() async throws {
        let test = try await TestLibrary("name")
        let job = try await test.run(CreateBackup())
        let path = try #require(job.receipt?["path"]?.stringValue)
        let name = try #require(path.split(separator: "/").last.map(String.init))
        #expect(path == test.path + "/backups/" + name)
        #expect(name.wholeMatch(of: #/SmilePileBackup_\d{4}-\d{2}-\d{2}_\d{6}\.zip/#) != nil, "\(name)")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        await test.library.close()
    }
}
