import Files
import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

@testable import Importing

/// What an import says of everything that it has found.
@Suite struct ImportReceiptTests {
    private let album = SampleAlbum(width: 64, height: 48)

    private func write(_ bytes: [UInt8], _ path: String) throws {
        let folder = (path as NSString).deletingLastPathComponent
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    private func receipt(_ job: JobSnapshot) throws -> ImportReceipt {
        try JSONDecoder().decode(ImportReceipt.self, from: JSONEncoder().encode(#require(job.receipt)))
    }

    @Test func whatIsNoPictureIsCountedByKind() async throws {
        let test = try await TestLibrary()
        let folder = test.folder.file("phone")
        try album.write(count: 2, to: folder)
        // Of a kind of film that is not taken.
        let film = Array("FLV\u{1}".utf8)
        for number in 0..<30 { try write(film, folder + "/VID_\(number).mp4") }
        try write(film, folder + "/renamed.bin")
        try write(Array("%PDF-1.7".utf8), folder + "/letter.pdf")
        try write(Array("PK\u{3}\u{4}".utf8), folder + "/sheet.xlsx")
        try write(Array("PK\u{3}\u{4}".utf8), folder + "/old.zip")
        try write(Array("ID3".utf8), folder + "/song.mp3")
        try write([1, 2, 3], folder + "/state.dat")
        try write(Array("{}".utf8), folder + "/albums.json")
        try write(Array("<x/>".utf8), folder + "/gone.jpg.xmp")
        let job = try await test.importing(folder)
        #expect(job.outcomes == ["imported": 2] && !job.needsAttention)
        let found = try receipt(job)
        #expect(
            found.passedOver == [
                "video": 31, "document": 3, "archive": 1, "audio": 1, "other": 1, "sidecar": 1,
            ])
        #expect(found.files == 2 && found.ending == .complete && found.reduced == 0)
        #expect(try await test.lines(job.id).count == 2)
        #expect(job.progress.itemsDone == job.progress.itemsTotal)
        await test.library.close()
    }

    /// The first takes longer than all others together.
    @Test func photosOfOneSecondStandInTheOrderOfTheirNames() async throws {
        let test = try await TestLibrary()
        let names = (1...12).map { "IMG_\($0).jpg" }
        let sizes = [2400] + (1...11).map { 64 + 8 * $0 }
        for (name, width) in zip(names, sizes) {
            try write(
                SampleAlbum(width: width, height: 48 * width / 64).photo(0).map { $0 },
                test.folder.file("burst/" + name))
        }
        // Named from behind, as a page does that lists the newest first.
        let job = try await test.run(ImportPhotos(paths: names.reversed().map { test.folder.file("burst/" + $0) }))
        #expect(job.outcomes == ["imported": 12])
        let photos = try await test.allPhotos()
        #expect(Set(photos.map(\.shownAt)).count == 1)
        // Newest first, so the last of the burst is the first.
        #expect(photos.map { $0.name + ".jpg" } == names.reversed())
        await test.library.close()
    }

    /// Whatever its name promises, somebody will look for it.
    @Test func whatIsNamedLikeAPictureHasALine() async throws {
        let test = try await TestLibrary()
        let folder = test.folder.file("album")
        try write([0, 0, 0, 24] + Array("ftypisom".utf8) + [0, 0, 2, 0], folder + "/live.JPG")
        try write(Array("<svg/>".utf8), folder + "/drawing.svg")
        try write(Array("8BPS".utf8), folder + "/layers.bin")
        let job = try await test.importing(folder)
        #expect(job.outcomes == ["unsupported": 2, "damaged": 1] && job.needsAttention)
        #expect(try receipt(job).passedOver.isEmpty)
        await test.library.close()
    }

    @Test func whatSystemsLeaveBehindIsNotEntered() async throws {
        let test = try await TestLibrary()
        let folder = test.folder.file("disk")
        try album.write(count: 1, to: folder)
        for name in [
            ".thumbnails/a.jpg", ".thumbnails/b.jpg", "@eaDir/c.jpg/d.jpg", "lost+found/e.jpg", "Thumbs.db",
            "desktop.ini",
            "._sample-0000.jpg", "$RECYCLE.BIN/f.jpg",
        ] { try write(album.photo(3).map { $0 }, folder + "/" + name) }
        let job = try await test.importing(folder)
        #expect(job.outcomes == ["imported": 1])
        #expect(try receipt(job).passedOver == ["system": 7])
        let all = try await test.run(ImportPhotos(paths: [folder], includeHidden: true))
        #expect(all.outcomes == ["imported": 1, "duplicate": 8])
        // What a person names is meant, whatever it is called.
        try write(album.photo(4).map { $0 }, folder + "/.hidden/g.jpg")
        let named = try await test.importing(folder + "/.hidden")
        #expect(named.outcomes == ["imported": 1])
        await test.library.close()
    }

    @Test(arguments: [
        (["*.GIF"], ["a.jpg", "b/c.jpg", "b/small/d.jpg", "e/small/f.jpg"]),
        (["small/"], ["a.jpg", "b/c.jpg", "g.gif"]),
        (["b/small"], ["a.jpg", "b/c.jpg", "e/small/f.jpg", "g.gif"]),
        (["/*/small", "?.gif"], ["a.jpg", "b/c.jpg"]),
        (["a.jpg/"], ["a.jpg", "b/c.jpg", "b/small/d.jpg", "e/small/f.jpg", "g.gif"]),
        (["album"], []),
    ])
    func patternsLeaveOut(_ patterns: [String], _ left: [String]) async throws {
        let folder = try TemporaryFolder()
        let root = folder.file("album")
        for name in ["a.jpg", "b/c.jpg", "b/small/d.jpg", "e/small/f.jpg", "g.gif"] {
            try write([1], root + "/" + name)
        }
        let found = try SourceFiles(
            paths: [FilePath(text: root)], selection: SourceSelection(excluding: patterns),
            namedFiles: NamedFiles(library: folder.file("library"), files: [], folders: []), now: .now(),
            isCancelled: { false })
        #expect(try found.files.compactMap { String($0.path.text.dropFirst(root.count + 1)) } == left)
        let excluded = found.passedOver[.excluded] ?? 0
        #expect(excluded > 0 || left.count == 5)
    }

    @Test func patternsHaveLimits() async throws {
        let test = try await TestLibrary()
        for patterns in [[""], [String(repeating: "*a", count: 9)], [String](repeating: "x", count: 101), ["a\0"]] {
            let request = ImportPhotos(paths: [test.folder.path], exclude: patterns)
            #expect(await status { _ = try await test.run(request) } == .invalidArgument)
        }
        await test.library.close()
    }

    @Test func namesThatAreNotUTF8AreImported() async throws {
        let test = try await TestLibrary()
        let folder = test.folder.file("old disk")
        try album.write(count: 1, to: folder)
        let bytes = Array((folder + "/caf").utf8) + [0xE9] + Array(".jpg".utf8)
        let path = FilePath(bytes: bytes)
        try FileManager.default.moveItem(atPath: folder + "/sample-0000.jpg", toPath: folder + "/x")
        #expect((folder + "/x").withCString { old in path.withCString { rename(old, $0) } } == 0)
        let job = try await test.importing(folder)
        #expect(job.outcomes == ["imported": 1])
        #expect(try await test.lines(job.id).map(\.item) == [folder + #"/caf\xE9.jpg"#])
        #expect(try await test.allPhotos().map(\.name) == [#"caf\xE9"#])
        // Named as the receipt names it.
        let again = try await test.importing(folder + #"/caf\xE9.jpg"#)
        #expect(again.outcomes == ["duplicate": 1])
        await test.library.close()
    }

    @Test func reducedPhotosAreCounted() async throws {
        let test = try await TestLibrary()
        let folder = test.folder.file("album")
        try SampleAlbum(width: 2400, height: 16).write(count: 2, to: folder)
        try album.write(count: 1, to: folder + "/small")
        let job = try await test.importing(folder)
        #expect(try receipt(job).reduced == 2 && job.outcomes == ["imported": 3])
        let details = try await test.lines(job.id).compactMap(\.detail)
        #expect(details.count { $0.contains("2400 x 16 kept, shown at 2048 x 14") } == 2, "\(details)")
        await test.library.close()
    }

    @Test func reducedPhotosAreCountedAlsoOfAnImportThatIsStopped() async throws {
        let test = try await TestLibrary()
        let folder = test.folder.file("album")
        try SampleAlbum(width: 2400, height: 16).write(count: 60, to: folder)
        let started = try await test.mesh.send(ImportPhotos(paths: [folder]))
        _ = try await test.mesh.observe(WatchJob(job: started.job)) { change in
            if change.value.progress.phase == "importing" && change.value.progress.itemsDone >= 5 {
                _ = try await test.mesh.send(CancelJob(job: started.job))
            }
        }
        let job = try await test.mesh.send(GetJob(job: started.job))
        let found = try receipt(job)
        #expect(job.state == .cancelled && found.notDone > 0)
        #expect(found.reduced == found.imported && found.imported >= 5)
        await test.library.close()
    }

    @Test func whatIsNamedHasItsSidecarsToo() async throws {
        let test = try await TestLibrary()
        let folder = test.folder.file("takeout")
        try album.write(count: 1, to: folder)
        try write(
            Array(
                #"{"title": "sample-0000.jpg", "description": "The lake", "favorited": true, "photoTakenTime": {"timestamp": "1560000000"}}"#
                    .utf8),
            folder + "/sample-0000.jpg.json")
        // As a shell hands over `takeout/*`.
        let names = ["sample-0000.jpg", "sample-0000.jpg.json"].map { folder + "/" + $0 }
        let job = try await test.run(ImportPhotos(paths: names))
        #expect(job.outcomes == ["imported": 1])
        #expect(try receipt(job).passedOver == ["document": 1])
        let photo = try #require(try await test.allPhotos().first)
        #expect(photo.caption == "The lake" && photo.isFavorite)
        await test.library.close()
    }

    /// Sparse files: to read one, or to hash it, would take seconds and show in what the process has read.
    @Test func ofWhatIsTooLargeForAPictureNothingIsReadButTheFirstBytes() async throws {
        let test = try await TestLibrary()
        let folder = test.folder.file("album")
        let film: [UInt8] = [0, 0, 0, 0x18] + Array("ftypmp42".utf8)
        let heads: [(String, [UInt8], off_t)] = [
            ("film.mp4", film, 3 << 30), ("film.jpg", film, 3 << 30),
            ("takeout.zip", Array("PK\u{3}\u{4}".utf8), 2 << 30),
            ("backup.img.gz", [0x1F, 0x8B], 2 << 30), ("blank.mov", [], 1 << 30),
            ("x.jpg", [0xFF, 0xD8, 0xFF, 0xE0], 300 << 30), ("short.mkv", [0x1A, 0x45, 0xDF, 0xA3], 100 << 20),
        ]
        for (name, head, size) in heads {
            try write(head, folder + "/" + name)
            try #require(truncate(folder + "/" + name, size) == 0)
        }
        func bytesRead() throws -> Int64 {
            let lines = try String(contentsOfFile: "/proc/self/io", encoding: .utf8).split(separator: "\n")
            return try #require(lines.first.flatMap { Int64($0.split(separator: " ").last ?? "") })
        }
        let before = try bytesRead()
        for _ in 1...2 {
            let job = try await test.importing(folder)
            // What begins like a film may be as large as it is, and these are none.
            #expect(job.outcomes == ["too_large": 1, "damaged": 3])
            #expect(try receipt(job).passedOver == ["video": 1, "archive": 2])
        }
        #expect(try bytesRead() - before < 16 << 20)
        // Nothing was hashed to be remembered.
        for size in Set(heads.map(\.2)) {
            let kept = try await test.library.catalogue.read {
                try $0.failedSources.all(size: Int64(size), version: Release.version)
            }
            #expect(kept.isEmpty)
        }
        await test.library.close()
    }

    @Test func whatFailedIsNotTriedAgain() async throws {
        let test = try await TestLibrary()
        let folder = test.folder.file("album")
        try write(Array(album.photo(0).prefix(200)), folder + "/cut.jpg")
        try write(Array("hello".utf8), folder + "/text.jpg")
        // A dry run stores nothing.
        let dry = try await test.importing(folder, dryRun: true)
        #expect(try await failures(test).isEmpty)
        let first = try await test.importing(folder)
        #expect(first.outcomes == dry.outcomes && first.outcomes.values.reduce(0, +) == 2)
        let kept = try await failures(test)
        #expect(kept.count == 2)
        let lines = try await test.lines(first.id)
        let second = try await test.importing(folder)
        #expect(try await test.lines(second.id).sorted { $0.item < $1.item } == lines.sorted { $0.item < $1.item })
        // It did not come to the workers: what is known of the bytes is what is told.
        try await test.library.catalogue.write { transaction in
            for (digest, size) in kept {
                try transaction.failedSources.add(
                    SourceFailure(outcome: .tooLarge, detail: "as known"), digest: digest, size: size,
                    version: Release.version)
            }
        }
        let third = try await test.importing(folder)
        #expect(third.outcomes == ["too_large": 2])
        // Another version looks for itself.
        try await test.library.catalogue.write { transaction in
            for (digest, size) in kept {
                try transaction.failedSources.add(
                    SourceFailure(outcome: .tooLarge, detail: "as known"), digest: digest, size: size, version: "0.0.1")
            }
        }
        let fourth = try await test.importing(folder)
        #expect(fourth.outcomes == first.outcomes)
        await test.library.close()
    }

    /// Digests and sizes of the files of the album that are kept as failed.
    private func failures(_ test: TestLibrary) async throws -> [String: Int64] {
        let folder = test.folder.file("album")
        var found: [String: Int64] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            let size = try Int64(Data(contentsOf: URL(fileURLWithPath: folder + "/" + name)).count)
            let known = try await test.library.catalogue.read {
                try $0.failedSources.all(size: size, version: Release.version)
            }
            for digest in known.keys { found[digest] = size }
        }
        return found
    }
}
