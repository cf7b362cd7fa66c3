import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// Somebody has unpacked a backup: the folder is one too, by the same checks.
@Suite(.enabled(if: Tool.unzip.isPresent, "unzip is not installed")) struct UnpackedBackupTests {
    /// A library's photos, and the folder that its backup was unpacked into.
    private func unpacked(
        _ body: (_ folder: String, _ photos: [Photo], _ new: TestLibrary) async throws -> Void
    ) async throws {
        let old = try await TestLibrary()
        _ = try await old.importSamples(5, album: SampleAlbum(width: 120, height: 90))
        let photos = try await old.allPhotos()
        let backup = try await old.backUp().path
        await old.library.close()
        let place = try TemporaryFolder("unpacked")
        try Tool.unzip.run(["-q", backup, "-d", place.file("SmilePileBackup")])
        let new = try await TestLibrary("from-a-folder")
        try await body(place.file("SmilePileBackup"), photos, new)
        await new.library.close()
    }

    @Test func itIsInspectedVerifiedAndRestored() async throws {
        try await unpacked { folder, photos, new in
            // As a Mac leaves it.
            try Data([0]).write(to: URL(fileURLWithPath: folder + "/.DS_Store"))
            #expect(try await new.mesh.send(InspectBackup(path: folder)).photoCount == photos.count)
            let verified = try await new.run(VerifyBackup(path: folder))
            #expect(verified.state == .finished && verified.outcomes == ["ignored": 1], "\(verified)")
            // Also by the folder that it was unpacked in.
            let parent = (folder as NSString).deletingLastPathComponent
            let restored = try await new.run(RestoreBackup(path: parent))
            #expect(restored.state == .finished, "\(String(describing: restored.error))")
            #expect(try await new.allPhotos() == photos)
            for photo in photos {
                #expect(try new.bytes(photo.path) == Data(contentsOf: URL(fileURLWithPath: folder + "/" + photo.path)))
            }
        }
    }

    @Test func whatIsDamagedOrMissingIsNamedAndTheRestSalvaged() async throws {
        try await unpacked { folder, photos, new in
            let path = folder + "/" + photos[1].path
            var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            bytes[bytes.count / 2] ^= 1
            try bytes.write(to: URL(fileURLWithPath: path))
            for message in [photos[1].path, photos[2].path] {
                let refused = try await new.run(RestoreBackup(path: folder))
                #expect(refused.error?.status == .dataLoss && refused.error?.message.contains(message) == true)
                #expect(try await new.allPhotos().isEmpty)
                unlink(folder + "/" + photos[2].path)
            }
            let salvaged = try await new.run(RestoreBackup(path: folder, salvage: true))
            #expect(salvaged.receipt?["photosAdded"] == .integer(Int64(photos.count - 2)), "\(salvaged)")
        }
    }

    @Test func linksAndPipesAreRefusedAndFoldersWithoutABackup() async throws {
        try await unpacked { folder, photos, new in
            let path = folder + "/" + photos[0].path
            try FileManager.default.moveItem(atPath: path, toPath: folder + "/../moved.jpg")
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: folder + "/../moved.jpg")
            let linked = try await new.run(RestoreBackup(path: folder))
            #expect(linked.error?.message.contains("a symbolic link") == true, "\(linked)")
            unlink(path)
            #expect(mkfifo(path, 0o600) == 0)
            #expect(try await new.run(VerifyBackup(path: folder)).error?.message.contains("a pipe") == true)
            unlink(path)
            // A file that the library itself works with, under another name.
            #expect(link(new.path + "/catalogue.sqlite", path) == 0)
            #expect(try await new.run(VerifyBackup(path: folder)).state == .failed)
            for other in [folder + "/photos", new.path, "/"] {
                await #expect(throws: MeshError.self) { try await new.mesh.send(InspectBackup(path: other)) }
            }
        }
    }
}
