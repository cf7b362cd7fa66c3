import Foundation
import LibraryModel
import LibraryStorage
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// What a photo was made of is kept with it, byte for byte, for as long as the photo is.
@Suite struct OriginalsTests {
    /// So wide that the photo is made smaller, and no larger: drawing it takes long under the sanitizer.
    private static let album = SampleAlbum(width: 2400, height: 16)

    private func source(_ test: TestLibrary) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: test.folder.file("album/sample-0000.jpg")))
    }

    @Test func aReducedPhotoKeepsItsOriginal() async throws {
        let test = try await TestLibrary()
        let job = try await test.importSamples(1, album: Self.album)
        #expect(job.outcomes == ["imported": 1])
        let photo = try #require(try await test.allPhotos().first)
        let original = try #require(photo.originalPath)
        #expect(photo.width == 2048 && original.hasPrefix("originals/IMG_") && original.hasSuffix(".jpg"))
        #expect(try test.bytes(original) == source(test) && test.bytes(photo.path) != source(test))
        #expect(try test.files("staging").isEmpty)
        let usage = try await test.mesh.send(GetStorageUsage())
        #expect(try usage.originalCount == 1 && usage.originalBytes == Int64(source(test).count))
        #expect(
            usage.totalBytes
                == usage.photoBytes + usage.thumbnailBytes + usage.previewBytes + usage.originalBytes)
        #expect(try await test.mesh.send(CleanStorage(unknownPhotos: true)).unknownCount == 0)

        let again = try await test.importing(test.folder.file("album"))
        #expect(again.outcomes == ["duplicate": 1])
        #expect(try await test.lines(again.id).first?.detail?.contains("with its original") == true)
        await test.library.close()
    }

    /// Whoever reads it may delete the source.
    @Test func theReceiptSaysWhatOfAPhotoIsKept() async throws {
        let test = try await TestLibrary()
        let whole = SampleAlbum(width: 64, height: 48)
        func imported(_ files: [String: Data], originals: Bool) async throws -> [String?] {
            let folder = test.folder.file(UUID().uuidString)
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for (name, data) in files { try data.write(to: URL(fileURLWithPath: folder + "/" + name)) }
            let job = try await test.importing(folder, originals: originals)
            #expect(job.outcomes == ["imported": files.count])
            return try await test.lines(job.id).sorted { $0.item < $1.item }.map { line in
                // The photo's name, and what is said of it.
                line.detail?.split(separator: ";", maxSplits: 1).dropFirst().first.map(String.init)
            }
        }
        let (upright, turned, other) = try (Self.album.photo(0), Self.album.photo(5), Self.album.photo(1))
        let picture = try #require(Data(base64Encoded: Self.bitmap))
        #expect(
            try await imported(
                ["1.jpg": upright, "2.jpg": turned, "3.jpg": whole.photo(0), "4.bmp": picture], originals: true) == [
                    " 2400 x 16 kept, shown at 2048 x 14", " 2400 x 16 kept, shown at 2048 x 14", nil, nil,
                ])
        #expect(
            try await imported(["1.jpg": other, "2.jpg": whole.photo(1), "3.bmp": picture + [0]], originals: false) == [
                " 2400 x 16 reduced to 2048 x 14, and only that is kept", nil,
                " made a JPEG of it, and only that is kept",
            ])
        await test.library.close()
    }

    /// Of 2 x 2 pixels.
    private static let bitmap =
        "Qk1GAAAAAAAAADYAAAAoAAAAAgAAAAIAAAABABgAAAAAABAAAAATCwAAEwsAAAAAAAAAAAAAAAD/AP8AAAD/AAD///8AAA=="

    @Test func aPhotoStoredAsItCameIsItsOwnOriginal() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(1, album: SampleAlbum(width: 64, height: 48))
        let photo = try #require(try await test.allPhotos().first)
        #expect(photo.originalPath == photo.path)
        #expect(try test.files("originals").isEmpty)
        await test.library.close()
    }

    @Test func aPhotoWithoutItsOriginalGetsItByAnotherImport() async throws {
        let test = try await TestLibrary()
        _ = try await test.mesh.send(ChangeSettings(keepOriginals: false))
        _ = try await test.importSamples(1, album: Self.album)
        let before = try #require(try await test.allPhotos().first)
        #expect(try before.originalPath == nil && test.files("originals").isEmpty)
        let without = try await test.importing(test.folder.file("album"))
        #expect(without.outcomes == ["duplicate": 1])
        #expect(try await test.lines(without.id).first?.detail?.contains("without its original") == true)

        #expect(
            try await test.importing(test.folder.file("album"), originals: true, dryRun: true).outcomes == [
                "completed": 1
            ])
        #expect(try test.files("originals").isEmpty)
        let completed = try await test.importing(test.folder.file("album"), originals: true)
        #expect(completed.outcomes == ["completed": 1] && completed.receipt?["completed"] == 1)
        #expect(completed.needsAttention == false)
        var after = try #require(try await test.allPhotos().first)
        let original = try #require(after.originalPath)
        #expect(try test.bytes(original) == source(test))
        after.originalPath = nil
        #expect(after == before)
        #expect(try test.files("staging").isEmpty)
        await test.library.close()
    }

    @Test func anOriginalThatIsGoneOrBrokenIsFoundAndPutBack() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(1, album: Self.album)
        let original = try #require(try await test.allPhotos().first?.originalPath)
        let file = URL(fileURLWithPath: test.path + "/" + original)
        var bytes = try Data(contentsOf: file)
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: file)
        let damaged = try await test.run(RescanLibrary(digests: true))
        #expect(damaged.outcomes == ["damaged": 1])
        #expect(try await test.lines(damaged.id).first?.item == original)
        try FileManager.default.removeItem(at: file)
        #expect(try await test.run(RescanLibrary()).outcomes == ["missing": 1])

        #expect(try await test.importing(test.folder.file("album")).outcomes == ["completed": 1])
        #expect(try test.bytes(original) == source(test))
        #expect(try await test.run(RescanLibrary(digests: true)).outcomes.isEmpty)
        await test.library.close()
    }

    @Test func theOriginalGoesWhereItsPhotoGoes() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(2, album: Self.album)
        let photos = try await test.allPhotos()
        _ = try await test.mesh.send(DeletePhotos(ids: [photos[0].id]))
        #expect(try test.files("originals").count == 2)
        #expect(try await test.run(RescanLibrary(digests: true)).outcomes.isEmpty)
        _ = try await test.mesh.send(RestorePhotos(ids: [photos[0].id]))
        #expect(try await test.mesh.send(GetPhoto(id: photos[0].id)).originalPath == photos[0].originalPath)
        _ = try await test.mesh.send(DeletePhotos(ids: [photos[0].id]))
        _ = try await test.mesh.send(PurgeTrash(all: true))
        #expect(
            try test.files("originals")
                == [#require(photos[1].originalPath).dropFirst("originals/".count)].map(String.init))

        let forgotten = try await test.mesh.send(ForgetPhotos(ids: [photos[1].id]))
        #expect(try forgotten.paths == [photos[1].path, #require(photos[1].originalPath)])
        #expect(try await test.mesh.send(CleanStorage()).unknownPhotos.sorted() == forgotten.paths.sorted())
        await test.library.close()
    }

    /// As after a kill between the files and the row, and between the row and the staging names.
    @Test func whatAKillLeavesOfAnOriginalIsSettled() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(1, album: Self.album)
        let photo = try #require(try await test.allPhotos().first)
        let original = try #require(photo.originalPath)
        await test.library.close()
        let name = try #require(StoredName(path: original))
        try FileManager.default.linkItem(
            atPath: test.path + "/" + original, toPath: test.path + "/staging/" + name.stagedName)
        try Data("nobody's".utf8).write(to: URL(fileURLWithPath: test.path + "/originals/IMG_2.heic"))
        try FileManager.default.linkItem(
            atPath: test.path + "/originals/IMG_2.heic", toPath: test.path + "/staging/original_IMG_2.heic")
        try Data("begun".utf8).write(to: URL(fileURLWithPath: test.path + "/staging/original_IMG_3.heic"))
        let library = try await PhotoLibrary.open(at: test.path, options: .init(workers: 1))
        #expect(try test.files("staging").isEmpty && test.files("originals") == [name.fileName])
        #expect(try await library.mesh.send(GetPhoto(id: photo.id)).originalPath == original)
        await library.close()
    }
}
