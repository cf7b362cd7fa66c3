import CatalogueTestSupport
import Database
import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import ServiceMeshTesting
import SmilePile
@testable import SQLiteCatalogue
import TestSupport
import Testing

/// Dates are found out again by what the library has of its photos.
@Suite(.timeLimit(.minutes(3))) struct RedateTests {
    private static let small = SampleAlbum(width: 32, height: 24)
    /// So wide that photos are made smaller and have an original.
    private static let wide = SampleAlbum(width: 2400, height: 16)

    /// As version 6 left dates whose cameras were two hours ahead of UTC, upgraded where clocks show UTC.
    private static let asUpgraded =
        "UPDATE photos SET taken_at = taken_at - 7200000, taken_offset = NULL, date_source = NULL"

    /// The library, closed, with its catalogue changed by `statements`, and open again.
    private func changed(_ test: TestLibrary, _ statements: [String]) async throws -> PhotoLibrary {
        await test.library.close()
        let database = try await DatabasePool.open(at: test.path + "/catalogue.sqlite", schema: CatalogueSchema.schema)
        try await database.write { connection in for statement in statements { try connection.execute(statement) } }
        await database.close()
        return try await PhotoLibrary.open(at: test.path, options: .init(workers: 2))
    }

    /// The same, closed after `body`.
    private func reopened(
        _ test: TestLibrary, _ statements: String..., body: (PhotoLibrary) async throws -> Void
    ) async throws {
        let library = try await changed(test, statements)
        try await body(library)
        await library.close()
        #expect(try await catalogueProblems(at: test.path + "/catalogue.sqlite").isEmpty)
    }

    private func run(_ request: RedatePhotos, _ library: PhotoLibrary) async throws -> (
        job: JobSnapshot, lines: [ReceiptLine]
    ) {
        let job = try await library.mesh.send(request).job
        let ended = try await library.mesh.send(WaitForJob(job: job))
        return (ended, try await library.mesh.send(GetJobReceipt(job: job)).lines)
    }

    private func photos(_ library: PhotoLibrary) async throws -> [Photo] {
        try await library.mesh.send(SearchPhotos(limit: 1000)).photos
    }

    private func overwrite(_ test: TestLibrary, _ path: String?, _ data: Data?) throws {
        let file = URL(fileURLWithPath: test.path + "/" + (try #require(path)))
        try FileManager.default.removeItem(at: file)
        try data?.write(to: file)
    }

    @Test func anUpgradedLibraryGetsTheCamerasDates() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(12, album: Self.small)
        let imported = try await test.allPhotos()
        try await reopened(test, Self.asUpgraded) { library in
            let before = try await photos(library)
            let preview = try await run(RedatePhotos(dryRun: true), library)
            #expect(preview.job.state == .finished && preview.job.outcomes == ["redated": 11])
            #expect(try await photos(library) == before)
            let first = try #require(imported.first { $0.name == "sample-0000" })
            #expect(
                preview.lines.contains(
                    ReceiptLine(
                        item: "\(first.id) sample-0000", outcome: "redated",
                        detail: "2024-06-01 10:00:00 (source unknown) → 2024-06-01 12:00:00 +02:00 (EXIF)")))

            let watched = Watched.follow(ObservePhoto(id: first.id), on: library.mesh)
            let events = Watched.follow(SubscribeToEvents(), on: library.mesh, mayRepeat: true)
            await watched.value { $0.photo?.dateSource == nil }
            await events.value { _ in true }
            let done = try await run(RedatePhotos(), library)
            #expect(done.job.outcomes == ["redated": 11] && done.job.needsAttention == false)
            #expect(done.job.receipt?["photos"] == 12 && done.job.receipt?["redated"] == 11)
            #expect(Set(done.lines.map(\.detail)) == Set(preview.lines.map(\.detail)))
            await watched.value { $0.photo?.dateSource == .exif }
            await events.value { $0.changed.contains(.photos) }
            for old in imported {
                let photo = try await library.mesh.send(GetPhoto(id: old.id))
                // The one without a date in its picture has kept what it had.
                #expect(old.name == "sample-0009" ? photo.dateSource == nil : photo == old, "\(photo.name)")
            }

            // Done once it is done.
            let again = try await run(RedatePhotos(), library)
            #expect(again.job.outcomes.isEmpty && again.lines.isEmpty && again.job.receipt?["photos"] == 12)
            await watched.end()
            await events.end()
        }
    }

    @Test func whatAPersonSaidStays() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(3, album: Self.small)
        let all = try await test.allPhotos()
        _ = try await test.mesh.send(EditPhoto(id: all[0].id, takenAt: LocalDateTime("1987-08-01T00:00")))
        _ = try await test.mesh.send(EditPhoto(id: all[1].id, takenOffset: -60))
        let edited = try await test.allPhotos()
        let now = try await test.run(RedatePhotos())
        #expect(now.outcomes.isEmpty && now.receipt?["photos"] == 3)
        #expect(try await test.allPhotos() == edited)
        // Of a date of before, nobody knows who said it.
        try await reopened(test, "UPDATE photos SET date_source = NULL") { library in
            let found = try await run(RedatePhotos(), library)
            #expect(found.job.outcomes == ["kept": 1, "redated": 2] && found.job.needsAttention == false)
            let kept = try #require(found.lines.first { $0.outcome == "kept" })
            #expect(kept.item == "\(all[0].id) \(all[0].name)")
            #expect(
                kept.detail?.hasPrefix(
                    "1987-08-01 00:00:00 +02:00 (source unknown) stays, because a person may have said so; the picture says 2024-06-01 1"
                ) == true, "\(kept)")
            let after = try await photos(library)
            #expect(after.first { $0.id == all[0].id }?.takenAt == LocalDateTime("1987-08-01T00:00"))
            #expect(after.first { $0.id == all[1].id }?.takenOffset == 120)
        }
    }

    /// What is kept beside a photo may say more to this version than to the one that kept it.
    @Test func keptSidecarsAreAskedWherePicturesSayNothing() async throws {
        let test = try await TestLibrary()
        let album = test.folder.file("album")
        try FileManager.default.createDirectory(atPath: album, withIntermediateDirectories: true)
        try Self.small.photo(9).write(to: URL(fileURLWithPath: album + "/x.jpg"))
        let packet = """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
            <rdf:Description xmlns:exif="http://ns.adobe.com/exif/1.0/" exif:DateTimeOriginal="1978-08"/></rdf:RDF></x:xmpmeta>
            """
        try Data(packet.utf8).write(to: URL(fileURLWithPath: album + "/x.jpg.xmp"))
        _ = try await test.importing(album)
        try await reopened(test, "UPDATE photos SET taken_at = 5, date_precision = NULL, date_source = 'file_time'") {
            library in
            let found = try await run(RedatePhotos(), library)
            #expect(found.lines.map(\.detail) == ["1970-01-01 00:00:00 (its file's time) → 1978-08 (a file beside it)"])
            let photo = try #require(try await photos(library).first)
            #expect(photo.takenAt == LocalDateTime("1978-08-01") && photo.datePrecision == .month)
            #expect(photo.dateSource == .sidecar)
            #expect(try await run(RedatePhotos(), library).lines.isEmpty)
        }
    }

    @Test func namesAreAskedWherePicturesSayNothing() async throws {
        let test = try await TestLibrary()
        try FileManager.default.createDirectory(atPath: test.folder.file("album"), withIntermediateDirectories: true)
        try Self.small.photo(9).write(to: URL(fileURLWithPath: test.folder.file("album/IMG-20190612-WA0007.jpg")))
        _ = try await test.importing(test.folder.file("album"))
        try await reopened(test, "UPDATE photos SET taken_at = NULL, date_source = NULL") { library in
            let found = try await run(RedatePhotos(), library)
            #expect(found.lines.map(\.detail) == ["no date → 2019-06-12 (its name)"])
            let photo = try #require(try await photos(library).first)
            #expect(photo.takenAt == LocalDateTime("2019-06-12") && photo.dateSource == .fileName)
        }
    }

    /// The original says it, and where that is gone the photo, which carries what the original did.
    @Test func theOriginalIsAskedFirst() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(4, album: Self.wide)
        let all = try await test.allPhotos()
        #expect(all.allSatisfy { $0.originalPath?.hasPrefix("originals/") == true })
        // An original that says more than its photo.
        try overwrite(test, all[0].path, try SampleAlbum(width: 32, height: 24).photo(9))
        try overwrite(test, all[1].originalPath, nil)
        try overwrite(test, all[2].originalPath, Data("no picture".utf8))
        try overwrite(test, all[3].originalPath, nil)
        try overwrite(test, all[3].path, nil)
        try await reopened(test, Self.asUpgraded) { library in
            let found = try await run(RedatePhotos(), library)
            #expect(found.job.outcomes == ["redated": 3, "unreadable": 1] && found.job.needsAttention)
            #expect(found.lines.first { $0.outcome == "unreadable" }?.item == "\(all[3].id) \(all[3].name)")
            let after = try await photos(library)
            for photo in all.prefix(3) { #expect(after.contains(photo)) }
        }
    }

    /// Whatever lies where a photo should be costs that photo's line, and is neither followed nor waited for.
    @Test func aHostilePictureCostsItsLine() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(8, album: Self.small)
        let all = try await test.allPhotos().sorted { $0.id < $1.id }
        let jpeg = try test.bytes(all[5].path)
        try overwrite(test, all[0].path, Data())
        try overwrite(test, all[1].path, Data("GIF89a".utf8) + Data(repeating: 0xFF, count: 20))
        try overwrite(test, all[2].path, nil)
        symlink(test.path + "/" + all[7].path, test.path + "/" + all[2].path)
        try overwrite(test, all[3].path, nil)
        mkfifo(test.path + "/" + all[3].path, 0o600)
        try overwrite(test, all[4].path, nil)
        try FileManager.default.createDirectory(
            atPath: test.path + "/" + all[4].path, withIntermediateDirectories: false)
        // One whose pixels are gone still says when it was taken.
        let pixels = try #require(jpeg.range(of: Data([0xFF, 0xDA]), options: .backwards))
        try overwrite(test, all[5].path, jpeg.prefix(pixels.lowerBound + 16))
        let elsewhere = "UPDATE photos SET path = '../../etc/passwd', original_path = NULL WHERE id = \(all[6].id)"
        try await reopened(test, Self.asUpgraded, elsewhere) { library in
            let found = try await run(RedatePhotos(), library)
            #expect(found.job.state == .finished && found.job.needsAttention)
            let ids = found.lines.filter { $0.outcome == "unreadable" }.map { $0.item.prefix { $0 != " " } }
            #expect(Set(ids) == Set((all[0...4] + [all[6]]).map { Substring(String($0.id)) }), "\(found.lines)")
            #expect(found.lines.allSatisfy { $0.detail?.isEmpty == false })
            let garbage = found.lines.first { $0.item.hasPrefix("\(all[0].id) ") }
            #expect(garbage?.detail == "its file is not the picture that it was; see: smilepile storage check")
            #expect(found.job.outcomes == ["redated": 2, "unreadable": 6] && found.job.receipt?["unreadable"] == 6)
            let redated = try await photos(library).filter { $0.dateSource == .exif }
            #expect(Set(redated.map(\.id)) == [all[5].id, all[7].id])
        }
    }

    @Test func onlyWhatTheFiltersNameIsLookedAt() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(6, album: Self.small)
        let all = try await test.allPhotos()
        _ = try await test.mesh.send(SetFavorite(ids: [all[0].id, all[1].id], isFavorite: true))
        _ = try await test.mesh.send(MovePhotos(ids: [all[1].id, all[2].id], categoryId: 2))
        try await reopened(test, Self.asUpgraded) { library in
            func looked(_ request: RedatePhotos) async throws -> JSONValue? {
                try await run(request, library).job.receipt?["photos"]
            }
            #expect(try await looked(RedatePhotos(PhotoFilter(favoritesOnly: true), dryRun: true)) == 2)
            #expect(try await looked(RedatePhotos(PhotoFilter(categoryId: 2), dryRun: true)) == 2)
            #expect(try await looked(RedatePhotos(PhotoFilter(categoryId: 2, favoritesOnly: true), dryRun: true)) == 1)
            #expect(try await looked(RedatePhotos(PhotoFilter(categoryId: 3), dryRun: true)) == 0)
            // By the dates of before, each once, though they move while it goes on.
            let last = try #require(all[0].takenAt?.milliseconds) - 7_200_000
            let range = RedatePhotos(
                PhotoFilter(from: LocalDateTime(milliseconds: last - 3_661_000), to: LocalDateTime(milliseconds: last)))
            #expect(try await looked(range) == 2)
            let redated = try await photos(library).filter { $0.dateSource == .exif }
            #expect(Set(redated.map(\.id)) == [all[0].id, all[1].id])
        }
    }

    @Test func wrongRequestsAreRefusedAtOnceAndKidsMayNot() async throws {
        let test = try await TestLibrary()
        let (early, late) = (LocalDateTime(milliseconds: 0), LocalDateTime(milliseconds: 1))
        #expect(
            await status { _ = try await test.mesh.send(RedatePhotos(PhotoFilter(from: late, to: early))) }
                == .invalidArgument)
        #expect(await status { _ = try await test.mesh.send(RedatePhotos(PhotoFilter(categoryId: 99))) } == .notFound)
        let kid = CallContext.root(mesh: test.mesh, role: .kid)
        #expect(await status { _ = try await test.mesh.send(RedatePhotos(dryRun: true), in: kid) } == .permissionDenied)
        #expect(try await test.mesh.send(ListJobs()).jobs.isEmpty)
        #expect(try await test.run(RedatePhotos()).receipt?["photos"] == 0)
        await test.library.close()
    }

    // MARK: Stops

    /// More than a page of photos.
    private func many() async throws -> TestLibrary {
        let test = try await TestLibrary()
        _ = try await test.importSamples(300, album: Self.small)
        return test
    }

    /// Within the first page, and within the second.
    @Test(arguments: [false, true], [130, 260])
    func aRedatingGoesOnAndItsReceiptCoversBothRuns(_ isDryRun: Bool, _ stop: Int) async throws {
        let test = try await many()
        let first = try await changed(test, [Self.asUpgraded])
        let job = try await first.mesh.send(RedatePhotos(dryRun: isDryRun)).job
        try await first.mesh.firstValue(of: WatchJob(job: job)) { $0.progress.itemsDone >= Int64(stop) }
        await first.close()
        let library = try await PhotoLibrary.open(at: test.path, options: .init(workers: 2))
        let ended = try await library.mesh.send(WaitForJob(job: job))
        // Every tenth has no date in its picture.
        #expect(ended.state == .finished && ended.outcomes == ["redated": 270], "\(ended)")
        #expect(ended.receipt?["photos"] == 300 && ended.receipt?["redated"] == 270)
        let lines = try await library.mesh.send(GetJobReceipt(job: job)).lines
        #expect(lines.count == 270 && Set(lines.map(\.item)).count == 270)
        #expect(try await photos(library).count { $0.dateSource == .exif } == (isDryRun ? 0 : 270))
        await library.close()
    }

    @Test func aCancelledRedatingSaysWhatItDidAndCanBeFinished() async throws {
        let test = try await many()
        try await reopened(test, Self.asUpgraded) { library in
            let job = try await library.mesh.send(RedatePhotos()).job
            _ = try await library.mesh.observe(WatchJob(job: job)) { change in
                if change.value.progress.itemsDone >= 5 { _ = try await library.mesh.send(CancelJob(job: job)) }
            }
            let ended = try await library.mesh.send(GetJob(job: job))
            let redated = try await photos(library).count { $0.dateSource == .exif }
            #expect(ended.outcomes["redated"] ?? 0 == redated)
            #expect(ended.receipt?["redated"] == .integer(Int64(redated)))
            let lines = try await library.mesh.send(GetJobReceipt(job: job)).lines
            #expect(lines.count == redated)
            if ended.state == .cancelled { #expect(redated < 270) }
            let rest = try await run(RedatePhotos(), library)
            #expect(rest.job.outcomes["redated"] ?? 0 == 270 - redated)
        }
    }

    @Test func aPausedRedatingStandsStillAndGoesOn() async throws {
        let test = try await many()
        try await reopened(test, Self.asUpgraded) { library in
            let job = try await library.mesh.send(RedatePhotos()).job
            _ = try? await library.mesh.send(PauseJob(job: job))
            _ = try? await library.mesh.send(ResumeJob(job: job))
            let ended = try await library.mesh.send(WaitForJob(job: job))
            #expect(ended.state == .finished && ended.outcomes == ["redated": 270])
        }
    }
}
