import Foundation
import LibraryModel
import LibraryTestSupport
import ServiceMesh
import SmilePile
import TestSupport
import Testing

@testable import Importing

/// Pictures that cannot be decoded within the memory there is: their originals are kept, and a later version tries again.
@Suite(.timeLimit(.minutes(4))) struct KeptUnseenTests {
    private static let (width, height) = (4200, 3400)

    /// A run-length coded BMP, of which decoding asks for 5 bytes a pixel: 71 MB.
    private static func picture(tone: UInt8 = 40) -> Data {
        func little(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: $0 < 8 ? value >> (8 * $0) : 0) }
        }
        var row: [UInt8] = []
        for start in stride(from: 0, to: width, by: 255) { row += [UInt8(min(255, width - start)), tone] }
        let pixels = Array(repeatElement(row + [0, 0], count: height).joined()) + [0, 1]
        var palette: [UInt8] = []
        for tone in UInt8.min...UInt8.max { palette += [tone, tone, tone, 0] }
        let offset = 54 + palette.count
        var bytes = Array("BM".utf8) + little(offset + pixels.count, 4) + little(0, 4) + little(offset, 4)
        bytes += little(40, 4) + little(width, 4) + little(height, 4) + little(1, 2) + little(8, 2) + little(1, 4)
        bytes += little(pixels.count, 4) + little(0, 16)
        return Data(bytes + palette + pixels)
    }

    /// A header that says 16,001 x 16,000, which is more than is decoded, in a file of so many bytes.
    private static func claim(bytes: Int) -> Data {
        let header: [UInt8] =
            [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
            + [0, 0, 0x3E, 0x81, 0, 0, 0x3E, 0x80, 8, 2, 0, 0, 0, 0, 0, 0, 0]
        return Data(header + [UInt8](repeating: 0, count: bytes - header.count))
    }

    private static let sidecar = Data(
        #"{"title": "big.bmp", "description": "The whole harbour", "photoTakenTime": {"timestamp": "1560340800"}}"#.utf8
    )

    private func library(_ files: [String: Data], imageMemory: UInt64? = 1 << 20) async throws -> TestLibrary {
        let test = try await TestLibrary("unseen", imageMemory: imageMemory)
        let album = test.folder.file("album")
        try FileManager.default.createDirectory(atPath: album, withIntermediateDirectories: false)
        for (name, bytes) in files { try bytes.write(to: URL(fileURLWithPath: album + "/" + name)) }
        return test
    }

    private func importing(
        _ test: TestLibrary, into library: PhotoLibrary, dryRun: Bool? = nil
    ) async throws -> (outcomes: [String: Int], lines: [String]) {
        let job = try await library.mesh.send(ImportPhotos(paths: [test.folder.file("album")], dryRun: dryRun)).job
        let ended = try await library.mesh.send(WaitForJob(job: job))
        #expect(ended.state == .finished && !ended.needsAttention)
        return (ended.outcomes, try await library.mesh.send(GetJobReceipt(job: job)).lines.map { $0.detail ?? "" })
    }

    /// As if the version before had failed.
    private func pretendToBeNewer(_ library: PhotoLibrary) async throws {
        try await library.catalogue.database.write { try $0.execute("UPDATE photos SET unseen_by = '0.0.0'") }
    }

    @Test func theOriginalIsKeptWithAPlaceholder() async throws {
        let test = try await library(["big.bmp": Self.picture(), "big.bmp.json": Self.sidecar])
        #expect(try await importing(test, into: test.library, dryRun: true).outcomes == ["kept_unseen": 1])
        #expect(try await test.allPhotos().isEmpty && test.files("staging").isEmpty)

        let (outcomes, lines) = try await importing(test, into: test.library)
        #expect(outcomes == ["kept_unseen": 1])
        let photo = try #require(try await test.allPhotos().first)
        let original = try #require(photo.originalPath)
        #expect(lines[0].contains("4200 x 3400 pixels need more memory") && lines[0].contains(original))
        #expect(photo.unseenBy == Release.version && photo.name == "big" && photo.caption == "The whole harbour")
        #expect(photo.width == Self.width && photo.height == Self.height && photo.mediaType == "image/jpeg")
        #expect(try test.bytes(original) == Self.picture() && test.bytes(photo.sidecars[0].path) == Self.sidecar)
        #expect(try test.bytes(photo.path) == test.bytes(photo.thumbnailPath))
        #expect(try test.files("staging").isEmpty)
        #expect(try await test.run(RescanLibrary(digests: true)).outcomes.isEmpty)
        #expect(try await test.mesh.send(CleanStorage(unknownPhotos: true)).unknownCount == 0)

        let again = try await importing(test, into: test.library)
        #expect(again.outcomes == ["duplicate": 1] && again.lines[0].contains("cannot be shown yet"))
        _ = try await test.mesh.send(DeletePhotos(ids: [photo.id]))
        #expect(try await test.mesh.send(ListTrash()).photos.map(\.photo.unseenBy) == [Release.version])
        _ = try await test.mesh.send(RestorePhotos(ids: [photo.id]))
        #expect(try await test.mesh.send(GetPhoto(id: photo.id)) == photo)
        _ = try await test.mesh.send(DeletePhotos(ids: [photo.id]))
        _ = try await test.mesh.send(PurgeTrash(all: true))
        for folder in ["photos", "thumbnails", "originals"] { #expect(try test.files(folder).isEmpty) }
        await test.library.close()
    }

    @Test func anotherVersionTriesAgainAndPutsThePhotoInThePlaceOfThePlaceholder() async throws {
        let test = try await library(["big.bmp": Self.picture(), "big.bmp.json": Self.sidecar])
        _ = try await importing(test, into: test.library)
        let before = try #require(try await test.allPhotos().first)
        _ = try await test.mesh.send(EditPhoto(id: before.id, caption: "The harbour", isFavorite: true))
        _ = try await test.mesh.send(EditPhoto(id: before.id, takenAt: LocalDateTime("1999-12-31T23:59:00")))
        let edited = try await test.mesh.send(GetPhoto(id: before.id))
        await test.library.close()

        let library = try await PhotoLibrary.open(at: test.path, options: .init(workers: 1))
        #expect(try await importing(test, into: library).outcomes == ["duplicate": 1], "this version has tried")
        try await pretendToBeNewer(library)
        let preview = try await importing(test, into: library, dryRun: true)
        #expect(preview.outcomes == ["completed": 1] && preview.lines[0].contains("could be shown now"))
        #expect(try await library.mesh.send(GetPhoto(id: before.id)).path == before.path)
        // What stands beside the source now is not what it has.
        try Data("{}".utf8).write(to: URL(fileURLWithPath: test.folder.file("album/big.bmp.json")))
        let shown = try await importing(test, into: library)
        #expect(shown.outcomes == ["completed": 1] && shown.lines[0].contains("can be shown now"))

        let after = try await library.mesh.send(GetPhoto(id: before.id))
        #expect(after.unseenBy == nil && after.width == 2048 && after.height == 1658 && after.path != before.path)
        #expect(after.uuid == edited.uuid && after.caption == edited.caption && after.takenAt == edited.takenAt)
        #expect(after.isFavorite && after.dateSource == .person && after.categoryId == edited.categoryId)
        #expect(try test.bytes(#require(after.originalPath)) == Self.picture())
        #expect(try after.sidecars.map { try test.bytes($0.path) } == [Self.sidecar])
        for (folder, count) in [("photos", 1), ("thumbnails", 1), ("originals", 2), ("staging", 0)] {
            #expect(try test.files(folder).count == count, "\(folder)")
        }
        let job = try await library.mesh.send(RescanLibrary(digests: true)).job
        #expect(try await library.mesh.send(WaitForJob(job: job)).outcomes.isEmpty)
        #expect(try await library.mesh.send(SearchPhotos(PhotoFilter(text: "harbour"))).photos == [after])
        #expect(try await importing(test, into: library).outcomes == ["duplicate": 1])
        await library.close()
    }

    @Test func aVersionThatFailsTooDoesNotTryAThirdTime() async throws {
        let test = try await library(["big.bmp": Self.picture()])
        _ = try await importing(test, into: test.library)
        let photo = try #require(try await test.allPhotos().first)
        try await pretendToBeNewer(test.library)
        #expect(try await importing(test, into: test.library).outcomes == ["duplicate": 1])
        #expect(try await test.allPhotos() == [photo])
        #expect(try test.files("staging").isEmpty && test.files("originals").count == 1)
        await test.library.close()
    }

    @Test func whatClaimsMoreThanItsBytesCanHoldIsRefused() async throws {
        let test = try await library(["bomb.png": Self.claim(bytes: 256_015)])
        let album = test.folder.file("album")
        let refused = try await test.importing(album)
        #expect(refused.outcomes == ["too_large": 1] && refused.needsAttention)
        #expect(try await test.lines(refused.id)[0].detail?.contains("in 256015 bytes") == true)
        try Self.claim(bytes: 256_016).write(to: URL(fileURLWithPath: album + "/bomb.png"))
        #expect(try await test.importing(album, originals: false).outcomes == ["too_large": 1])
        for folder in ["photos", "thumbnails", "originals", "staging"] { #expect(try test.files(folder).isEmpty) }
        #expect(try await test.importing(album).outcomes == ["kept_unseen": 1])
        let photo = try #require(try await test.allPhotos().first)
        #expect(photo.width == 16_001 && photo.height == 16_000)
        await test.library.close()
    }

    /// Each is its own photo in a backup, though all placeholders look alike.
    @Test func backupsAndRestoresKeepWhatIsKnown() async throws {
        let test = try await library(["a.bmp": Self.picture(), "b.bmp": Self.picture(tone: 41)])
        _ = try await importing(test, into: test.library)
        let photos = try await test.allPhotos()
        #expect(Set(photos.map(\.contentDigest)).count == 2)
        let backup = test.folder.file("b.zip")
        #expect(try await test.run(CreateBackup(path: backup)).receipt?["originalsLeftOut"] == 0)
        let replaced = try await test.run(RestoreBackup(path: backup, mode: .replace))
        #expect(replaced.state == .finished)
        #expect(try await test.allPhotos() == photos)
        await test.library.close()

        let other = try await TestLibrary("restored", imageMemory: 1 << 20)
        let restored = try await other.run(RestoreBackup(path: backup))
        #expect(restored.state == .finished && !restored.needsAttention && restored.receipt?["photosAdded"] == 2)
        let found = try await other.allPhotos()
        #expect(found.map(\.unseenBy) == [Release.version, Release.version])
        #expect(found.map(\.originalPath) == photos.map(\.originalPath) && found.allSatisfy { $0.width == Self.width })
        #expect(try other.files("thumbnails").count == 2 && other.files("originals").count == 2)
        #expect(try await other.importing(test.folder.file("album")).outcomes == ["duplicate": 2])
        #expect(try await other.run(RescanLibrary(digests: true)).outcomes.isEmpty)
        await other.library.close()
    }

    /// The cards are JPEGs that the workers read, in the shapes of their pictures.
    @Test func placeholdersArePictures() async throws {
        let shapes = [(20_000, 14_000, 256, 176), (3, 4, 192, 256), (65_535, 1, 256, 8), (1, 65_535, 8, 256)]
        let mark = String(repeating: "f", count: 64)
        var cards: [String: Data] = [:]
        for (width, height, _, _) in shapes {
            let card = PlaceholderCard(width: width, height: height, mark: mark).jpeg
            #expect(card == PlaceholderCard(width: width, height: height, mark: mark).jpeg)
            #expect(card != PlaceholderCard(width: width, height: height, mark: "0" + mark.dropFirst()).jpeg)
            cards["\(width).jpg"] = card
        }
        let test = try await library(cards, imageMemory: nil)
        #expect(try await importing(test, into: test.library).outcomes == ["imported": 4])
        let found = try await test.allPhotos()
        for (width, _, shownWidth, shownHeight) in shapes {
            let photo = try #require(found.first { $0.name == String(width) })
            #expect(photo.width == shownWidth && photo.height == shownHeight && photo.originalPath == photo.path)
        }
        await test.library.close()
    }
}
