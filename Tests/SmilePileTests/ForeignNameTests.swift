import CatalogueTestSupport
@testable import Database
import Foundation
import LibraryModel
import LibraryTestSupport
@testable import SQLiteCatalogue
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// A catalogue that comes from somebody else and names files outside of the library: none is read, none is removed.
@Suite struct ForeignNameTests {
    private static func names(_ target: String) -> [String] {
        [
            target, "photos/../../outside.jpg", "../outside.jpg", "photos//../../outside.jpg",
            "photos/sub/../../../outside.jpg",
            "catalogue.sqlite", "library.lock", "photos", "photos/", "photos/.", "photos/..", "/", "staging/x",
            "backups/b.zip", "./photos/../../outside.jpg",
        ]
    }

    @Test func discardedFilesElsewhereAreLeftAloneAndReported() async throws {
        let test = try await TestLibrary()
        let outside = test.folder.file("outside.jpg")
        try Data("theirs".utf8).write(to: URL(fileURLWithPath: outside))
        try Data("ours".utf8).write(to: URL(fileURLWithPath: test.path + "/photos/gone.jpg"))
        try await test.library.catalogue.database.write { connection in
            try DiscardedFileTable(connection: connection).add(Self.names(outside) + ["photos/gone.jpg"])
        }
        await test.library.close()
        let library = try await PhotoLibrary.open(at: test.path, options: .init(workers: 1))
        #expect(try Data(contentsOf: URL(fileURLWithPath: outside)) == Data("theirs".utf8))
        #expect(try test.files("photos").isEmpty)
        let problems = try #require(try await library.mesh.send(GetLibraryStatus()).catalogueProblems)
        #expect(problems.contains { $0.contains("'\(outside)'") }, "\(problems)")
        let left = try await library.catalogue.database.read { try DiscardedFileTable(connection: $0).all() }
        #expect(Set(left) == Set(Self.names(outside)))
        await library.close()
    }

    @Test func photosElsewhereAreNeitherReadNorRemoved() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(Self.names("").count, album: SampleAlbum(width: 32, height: 24))
        let outside = test.folder.file("outside.jpg")
        let photos = try await test.allPhotos()
        let theirs = try test.bytes(photos[0].path)
        try theirs.write(to: URL(fileURLWithPath: outside))
        try await test.library.catalogue.database.write { connection in
            for (photo, name) in zip(photos, Self.names(outside)) {
                try connection.execute("UPDATE photos SET path = ? WHERE id = ?", name, photo.id)
            }
        }
        let check = try await test.run(RescanLibrary(digests: true))
        #expect(check.state == .finished && check.outcomes["unreadable"] == photos.count, "\(check.outcomes)")
        let thumbnails = try await test.run(RebuildThumbnails(all: true))
        #expect(thumbnails.outcomes == ["no_thumbnail": photos.count], "\(thumbnails.outcomes)")
        for photo in photos {
            #expect(await status { _ = try await test.mesh.send(GetThumbnail(id: photo.id)) } == .dataLoss)
        }
        let backup = try await test.run(CreateBackup(path: test.folder.file("b.zip")))
        #expect(backup.state != .finished || backup.outcomes.values.reduce(0, +) > 0, "\(backup)")
        for name in Self.names(outside) {
            _ = try? await test.mesh.send(IdentifyPath(path: test.path + "/" + name))
        }
        _ = try await test.mesh.send(DeletePhotos(ids: photos.map(\.id)))
        #expect(try await test.mesh.send(PurgeTrash(all: true)).count == photos.count)
        #expect(try Data(contentsOf: URL(fileURLWithPath: outside)) == theirs)
        for name in ["catalogue.sqlite", "library.lock", "photos", "staging"] {
            #expect(FileManager.default.fileExists(atPath: test.path + "/" + name), "\(name)")
        }
        await test.library.close()
    }

    @Test func photosElsewhereDoNotKeepTheOthersFromBeingSaved() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(6, album: SampleAlbum(width: 32, height: 24))
        let photos = try await test.allPhotos()
        let own = test.path + "/" + photos[1].path
        try FileManager.default.removeItem(atPath: own)
        #expect(link(test.path + "/library.lock", own) == 0)
        try FileManager.default.removeItem(atPath: test.path + "/" + photos[2].path)
        let names = [photos[0].id: "photos/../../outside.jpg", photos[3].id: "photos/con\u{1}.jpg"]
        try await test.library.catalogue.database.write { connection in
            for (id, name) in names { try connection.execute("UPDATE photos SET path = ? WHERE id = ?", name, id) }
        }
        let backup = test.folder.file("b.zip")
        let made = try await test.run(CreateBackup(path: backup))
        #expect(made.state == .finished && made.needsAttention, "\(made)")
        #expect(made.outcomes == ["missing": 1, "unreadable": 3] && made.receipt?["photos"] == 2, "\(made)")
        let lines = try await test.lines(made.id)
        #expect(lines.contains { $0.item == photos[2].path && $0.outcome == "missing" })
        #expect(Set(lines.map(\.item)) == Set(names.values).union([photos[1].path, photos[2].path]))
        #expect(try await test.run(VerifyBackup(path: backup)).state == .finished)
        await test.library.close()
    }

    @Test(arguments: ["photos", "thumbnails", "staging", "catalogue.sqlite"])
    func aLinkInPlaceOfAFolderIsRefused(_ name: String) async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(1, album: SampleAlbum(width: 32, height: 24))
        await test.library.close()
        let elsewhere = test.folder.file("elsewhere")
        try FileManager.default.moveItem(atPath: test.path + "/" + name, toPath: elsewhere)
        symlink(elsewhere, test.path + "/" + name)
        let path = test.path
        #expect(await status { _ = try await PhotoLibrary.open(at: path) } == .failedPrecondition)
    }

    @Test func aFileThatIsGoneButMayComeBackStaysInTheList() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(2, album: SampleAlbum(width: 32, height: 24))
        let photos = try await test.allPhotos()
        _ = try await test.mesh.send(DeletePhotos(ids: photos.map(\.id)))
        // A folder that cannot be opened cannot be synced; its files can still be unlinked.
        let folder = test.path + "/photos"
        let moved = test.path + "/moved"
        try FileManager.default.moveItem(atPath: folder, toPath: moved)
        _ = try await test.mesh.send(PurgeTrash(all: true))
        let left = try await test.library.catalogue.database.read { try DiscardedFileTable(connection: $0).all() }
        #expect(left == photos.map(\.path).sorted())
        await test.library.close()
        try FileManager.default.moveItem(atPath: moved, toPath: folder)
        let library = try await PhotoLibrary.open(at: test.path, options: .init(workers: 1))
        #expect(try await library.catalogue.database.read { try DiscardedFileTable(connection: $0).all() }.isEmpty)
        #expect(try test.files("photos").isEmpty && test.files("thumbnails").isEmpty)
        await library.close()
    }
}
