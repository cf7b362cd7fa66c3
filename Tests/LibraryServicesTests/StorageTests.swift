import Foundation
import LibraryModel
@testable import LibraryServices
import LibraryStorage
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

@Suite struct StorageTests {
    private func flipByte(_ path: String) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        defer { try? file.close() }
        try file.seek(toOffset: 200)
        let byte = try #require(try file.read(upToCount: 1)?.first)
        try file.seek(toOffset: 200)
        try file.write(contentsOf: Data([byte ^ 1]))
    }

    @Test func aSoundLibraryHasNoFindings() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(8)
        _ = try await test.mesh.send(DeletePhotos(ids: [try await test.allPhotos()[0].id]))
        let job = try await test.run(RescanLibrary(digests: true))
        #expect(job.state == .finished && !job.needsAttention && job.outcomes.isEmpty)
        #expect(job.receipt?["photos"] == 8)
        await test.library.close()
    }

    @Test func everyKindOfFindingIsNamed() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(6)
        let photos = try await test.allPhotos()
        _ = try await test.mesh.send(DeletePhotos(ids: [photos[5].id]))
        try flipByte(test.path + "/" + photos[0].path)
        try flipByte(test.path + "/" + photos[5].path)
        truncate(test.path + "/" + photos[1].path, 100)
        unlink(test.path + "/" + photos[2].path)
        unlink(test.path + "/" + photos[3].thumbnailPath)
        for name in ["photos/mine.jpg", "thumbnails/thumb_old.jpg", "previews/preview_old.jpg.webp"] {
            try Data("x".utf8).write(to: URL(fileURLWithPath: test.path + "/" + name))
        }
        let quick = try await test.run(RescanLibrary())
        #expect(quick.outcomes == ["damaged": 1, "missing": 1, "no_thumbnail": 1, "unknown": 3], "\(quick.outcomes)")
        let whole = try await test.run(RescanLibrary(digests: true))
        #expect(whole.needsAttention)
        #expect(whole.outcomes == ["damaged": 3, "missing": 1, "no_thumbnail": 1, "unknown": 3], "\(whole.outcomes)")
        let damaged = try await test.lines(whole.id).filter { $0.outcome == "damaged" }.map(\.item)
        #expect(Set(damaged) == [photos[0].path, photos[1].path, photos[5].path])
        await test.library.close()
    }

    /// What is in the trash cannot be forgotten.
    @Test func aMissingFileIsNamedWithACommandThatHelps() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(2)
        let photos = try await test.allPhotos()
        _ = try await test.mesh.send(DeletePhotos(ids: [photos[0].id]))
        for photo in photos { unlink(test.path + "/" + photo.path) }
        let lines = try await test.lines(try await test.run(RescanLibrary()).id)
        let advice = Dictionary(uniqueKeysWithValues: lines.map { ($0.item, $0.detail ?? "") })
        #expect(advice[photos[0].path]?.hasSuffix("smilepile trash purge \(photos[0].id)") == true)
        #expect(advice[photos[1].path]?.hasSuffix("smilepile photos forget \(photos[1].id)") == true)
        await test.library.close()
    }

    @Test func onlyOrphanedThumbnailsAreRemoved() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(3)
        _ = try await test.mesh.send(DeletePhotos(ids: [try await test.allPhotos()[0].id]))
        let before = try test.files("thumbnails")
        for name in [
            "photos/mine.jpg", "thumbnails/notes.txt", "thumbnails/thumb_old.jpg", "thumbnails/thumb_busy.jpg",
            "previews/preview_old.jpg.webp", "previews/preview_busy.jpg.webp", "previews/old.webp",
        ] {
            try Data("four".utf8).write(to: URL(fileURLWithPath: test.path + "/" + name))
        }
        // Somebody is bringing this one in.
        link(test.path + "/thumbnails/thumb_busy.jpg", test.path + "/staging/thumb_busy.jpg")
        link(test.path + "/previews/preview_busy.jpg.webp", test.path + "/staging/preview_busy.jpg.webp")
        let orphan = StorageCleaning(
            thumbnails: 1, previews: 1, bytes: 8, unknownPhotos: ["photos/mine.jpg"], unknownBytes: 4)
        #expect(try await test.mesh.send(CleanStorage(dryRun: true)) == orphan)
        #expect(try test.files("thumbnails").contains("thumb_old.jpg"))
        #expect(try await test.mesh.send(CleanStorage()) == orphan)
        #expect(try test.files("thumbnails") == (before + ["notes.txt", "thumb_busy.jpg"]).sorted())
        #expect(try test.files("previews") == ["old.webp", "preview_busy.jpg.webp"])
        #expect(try test.files("photos").contains("mine.jpg"))
        let unknown = StorageCleaning(thumbnails: 0, bytes: 0, unknownPhotos: ["photos/mine.jpg"], unknownBytes: 4)
        #expect(try await test.mesh.send(CleanStorage()) == unknown)
        #expect(try await test.mesh.send(CleanStorage(dryRun: true, unknownPhotos: true)) == unknown)
        #expect(try test.files("photos").contains("mine.jpg"))
        #expect(try await test.mesh.send(CleanStorage(unknownPhotos: true)) == unknown)
        #expect(try test.files("photos").count == 3 && !test.files("photos").contains("mine.jpg"))
        #expect(try await test.mesh.send(CleanStorage()) == StorageCleaning(thumbnails: 0, bytes: 0))
        await test.library.close()
    }

    @Test func unknownPhotosThatAreNotNamedAreCounted() async throws {
        let test = try await TestLibrary()
        for number in 0..<1_003 {
            try Data("x".utf8).write(to: URL(fileURLWithPath: test.path + "/photos/\(number).jpg"))
        }
        let cleaning = try await test.mesh.send(CleanStorage(unknownPhotos: true))
        #expect(cleaning.unknownPhotos.count == 1_000 && cleaning.unknownCount == 1_003)
        #expect(cleaning.unknownBytes == 1_003)
        #expect(try test.files("photos").isEmpty)
        await test.library.close()
    }

    @Test func usageAddsUpWhatIsThere() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(3, album: SampleAlbum(width: 1600, height: 1200))
        let usage = try await test.mesh.send(GetStorageUsage())
        let photos = try await test.allPhotos()
        #expect(usage.photoCount == 3 && usage.thumbnailCount == 3)
        #expect(usage.photoBytes == photos.reduce(0) { $0 + $1.fileSize })
        #expect(usage.thumbnailBytes == (try photos.reduce(0) { $0 + Int64(try test.bytes($1.thumbnailPath).count) }))
        #expect(usage.previewCount == 3)
        #expect(usage.previewBytes == (try photos.reduce(0) { $0 + Int64(try test.bytes($1.previewPath).count) }))
        #expect(usage.totalBytes == usage.photoBytes + usage.thumbnailBytes + usage.previewBytes + usage.originalBytes)
        #expect(usage.hasEnoughSpace == (usage.freeBytes >= 10_000_000))
        #expect(try await test.mesh.send(GetStorageUsage(needed: .max)).hasEnoughSpace == false)
        #expect(await status { _ = try await test.mesh.send(GetStorageUsage(needed: -1)) } == .invalidArgument)
        await test.library.close()
    }

    /// Two sparse files, on file systems that allow such, and nothing may trap.
    @Test func sizesPastWhatANumberHoldsAreTheGreatest() throws {
        let name = try #require(StoredName(.photos, "a.jpg"))
        func sum(_ sizes: Int64...) -> Int64 { StoredFile.bytes(of: sizes.map { StoredFile(name: name, size: $0) }) }
        #expect(sum(6 << 60, 1, 6 << 60) == .max)
        #expect(sum(3, 4) == 7)
        let usage = StorageUsage(
            photoBytes: .max, photoCount: 2, thumbnailBytes: 1, thumbnailCount: 1, freeBytes: 0, hasEnoughSpace: false)
        #expect(usage.totalBytes == .max)
    }

    @Test func storedFilesAreListedByName() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(4)
        _ = try await test.mesh.send(DeletePhotos(ids: [1]))
        try Data("x".utf8).write(to: URL(fileURLWithPath: test.path + "/photos/mine.jpg"))
        let expected = try test.files("photos").map { "photos/" + $0 }
        #expect(expected.count == 5)
        #expect(try await test.mesh.send(ListStoredFiles()) == StoredFilePage(paths: expected, next: nil))
        let first = try await test.mesh.send(ListStoredFiles(limit: 3))
        #expect(first == StoredFilePage(paths: Array(expected.prefix(3)), next: expected[2]))
        let second = try await test.mesh.send(ListStoredFiles(limit: 3, after: first.next))
        #expect(second == StoredFilePage(paths: Array(expected.dropFirst(3)), next: nil))
        #expect(await status { _ = try await test.mesh.send(ListStoredFiles(limit: 0)) } == .invalidArgument)
        await test.library.close()
    }

    @Test func pathsAreIdentified() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(1)
        let photo = try await test.allPhotos()[0]
        for path in [photo.path, photo.thumbnailPath, "backups/../" + photo.path] {
            let identity = try await test.mesh.send(IdentifyPath(path: test.path + "/" + path))
            #expect(identity.isOurs && identity.photoId == photo.id, "\(path)")
            #expect(identity.thumbnailPath == test.path + "/" + photo.thumbnailPath)
        }
        for path in ["photos/none.jpg", "thumbnails/" + photo.fileName, "photos/sub/" + photo.fileName] {
            let identity = try await test.mesh.send(IdentifyPath(path: test.path + "/" + path))
            #expect(identity.isOurs && identity.photoId == nil, "\(path)")
        }
        for path in [
            "/etc/passwd", test.path + "/catalogue.sqlite", test.path + "/photos/../../x", test.path + "/photosX/a",
        ] {
            #expect(try await test.mesh.send(IdentifyPath(path: path)).isOurs == false, "\(path)")
        }
        #expect(await status { _ = try await test.mesh.send(IdentifyPath(path: "photos/a.jpg")) } == .invalidArgument)
        await test.library.close()
    }
}
