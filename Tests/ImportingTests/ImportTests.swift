import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import Testing

@Suite struct ImportTests {
    @Test func everyPhotoHasRowFileAndThumbnail() async throws {
        let test = try await TestLibrary()
        let job = try await test.importSamples(16)
        #expect(job.state == .finished)
        #expect(job.outcomes == ["imported": 16])
        let photos = try await test.allPhotos()
        #expect(photos.count == 16)
        #expect(try test.files("photos") == photos.map(\.fileName).sorted())
        #expect(try test.files("thumbnails") == photos.map { "thumb_" + $0.fileName }.sorted())
        #expect(try test.files("staging").isEmpty)
        await test.library.close()
    }

    @Test func datesComeFromExif() async throws {
        let test = try await TestLibrary()
        let album = SampleAlbum(width: 64, height: 48)
        _ = try await test.importSamples(10, album: album)
        for photo in try await test.allPhotos() {
            let index = try #require(Int(photo.name.dropFirst("sample-".count)))
            if let clock = album.expected(index).takenAt {
                #expect(photo.takenAt?.milliseconds == clock && photo.takenOffset == 120 && photo.dateSource == .exif)
            } else {
                #expect(photo.dateSource == .fileTime && photo.takenOffset == nil)
            }
            #expect(photo.width == 64 && photo.height == 48)
        }
        await test.library.close()
    }

    @Test func filesAreNamedByTheirDate() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(10, album: SampleAlbum(width: 64, height: 48))
        for photo in try await test.allPhotos() {
            let form = try #require(photo.fileName.wholeMatch(of: #/IMG_(\d{8})_(\d{6})_[0-9a-f]{8}\.jpg/#))
            let clock = try #require(photo.takenAt).description.filter(\.isNumber).prefix(14)
            #expect(form.1 + form.2 == clock, "\(photo.fileName)")
        }
        await test.library.close()
    }

    @Test func smallJPEGsAreKeptByteForByte() async throws {
        let test = try await TestLibrary()
        let album = SampleAlbum(width: 64, height: 48)
        _ = try await test.importSamples(3, album: album)
        for photo in try await test.allPhotos() {
            let index = try #require(Int(photo.name.dropFirst("sample-".count)))
            #expect(try test.bytes(photo.path) == album.photo(index))
        }
        await test.library.close()
    }

    @Test func theSameBytesTwiceAreADuplicate() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(4)
        try FileManager.default.copyItem(
            atPath: test.folder.file("album/sample-0000.jpg"), toPath: test.folder.file("album/copy.jpg"))
        let again = try await test.importing(test.folder.file("album"))
        #expect(again.outcomes == ["duplicate": 5])
        #expect(again.needsAttention == false)
        #expect(try test.files("photos").count == 4)
        #expect(try test.files("staging").isEmpty)
        await test.library.close()
    }

    @Test func oneBadFileCostsOneLine() async throws {
        let test = try await TestLibrary()
        let album = test.folder.file("album")
        try SampleAlbum(width: 64, height: 48).write(count: 3, to: album)
        try Data("not a picture".utf8).write(to: URL(fileURLWithPath: album + "/notes.jpg"))
        symlink("/etc/passwd", album + "/link.jpg")
        mkfifo(album + "/pipe.jpg", 0o600)
        let job = try await test.importing(album)
        #expect(job.state == .finished && job.needsAttention)
        #expect(job.outcomes == ["imported": 3, "unsupported": 1, "unreadable": 2])
        let lines = try await test.lines(job.id)
        #expect(lines.count == 6)
        #expect(lines.allSatisfy { $0.outcome == "imported" || $0.detail != nil })
        await test.library.close()
    }

    @Test func aDryRunStoresNothing() async throws {
        let test = try await TestLibrary()
        try SampleAlbum(width: 64, height: 48).write(count: 2, to: test.folder.file("album"))
        let job = try await test.importing(test.folder.file("album"), dryRun: true)
        #expect(job.outcomes == ["imported": 2])
        #expect(try await test.allPhotos().isEmpty)
        #expect(try test.files("photos").isEmpty && test.files("staging").isEmpty)
        await test.library.close()
    }

    @Test func wrongRequestsAreRefusedAtOnce() async throws {
        let test = try await TestLibrary()
        #expect(await status { _ = try await test.run(ImportPhotos(paths: [])) } == .invalidArgument)
        #expect(await status { _ = try await test.run(ImportPhotos(paths: ["relative"])) } == .invalidArgument)
        #expect(await status { _ = try await test.run(ImportPhotos(paths: ["/no/such/folder"])) } == .notFound)
        let path = test.folder.path
        #expect(await status { _ = try await test.run(ImportPhotos(paths: [path], categoryId: 99)) } == .notFound)
        await test.library.close()
    }

    @Test func theLibraryItselfIsNotImported() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(2)
        let job = try await test.importing(test.path)
        #expect(job.outcomes == ["unreadable": 1])
        // Nor a file in it, named directly: the catalogue's locks would go with its descriptor.
        let catalogue = try await test.importing(test.path + "/catalogue.sqlite")
        #expect(catalogue.outcomes == ["unreadable": 1])
        await test.library.close()
    }

    @Test func aCancelledImportLeavesNothingHalfDoneAndCanBeFinished() async throws {
        let test = try await TestLibrary()
        let album = test.folder.file("album")
        try SampleAlbum(width: 320, height: 240).write(count: 60, to: album)
        let started = try await test.mesh.send(ImportPhotos(paths: [album]))
        _ = try await test.mesh.observe(WatchJob(job: started.job)) { change in
            if change.value.progress.phase == "importing" && change.value.progress.itemsDone >= 5 {
                _ = try await test.mesh.send(CancelJob(job: started.job))
            }
        }
        let job = try await test.mesh.send(GetJob(job: started.job))
        #expect(job.outcomes.values.reduce(0, +) == 60)
        #expect(try await test.allPhotos().count == job.outcomes["imported"] ?? 0)
        #expect(try test.files("photos").count == job.outcomes["imported"] ?? 0)
        #expect(try test.files("staging").isEmpty)
        if job.state == .cancelled { #expect(job.outcomes["cancelled"] ?? 0 > 0) }
        _ = try await test.importing(album)
        #expect(try await test.allPhotos().count == 60)
        await test.library.close()
    }
}
