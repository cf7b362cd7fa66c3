import ServiceMeshTesting
import Database
import Files
import Foundation
import LibraryModel
import LibraryTestSupport
@testable import Importing
@testable import SQLiteCatalogue
import SampleAlbum
@testable import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// Jobs whose source, or target, is not there when the library is opened again: a stick that was pulled.
@Suite struct WaitingJobsTests {
    /// Closes the library once the job has come to `items` of `phase`, and opens it with `stick` away.
    private func reopened(
        _ test: TestLibrary, _ job: JobID, at phase: String, items: Int64 = 0, without stick: String
    ) async throws -> PhotoLibrary {
        try await test.mesh.firstValue(of: WatchJob(job: job)) {
            $0.progress.phase == phase && $0.progress.itemsDone >= items
        }
        await test.library.close()
        try FileManager.default.moveItem(atPath: stick, toPath: stick + ".away")
        let library = try await PhotoLibrary.open(at: test.path, options: .init(workers: 2))
        await library.mesh.jobs.resuming?.value
        return library
    }

    private func plugIn(_ stick: String) throws {
        try FileManager.default.moveItem(atPath: stick + ".away", toPath: stick)
    }

    /// Lets it look now, until it has found what it waits for.
    private func resumed(_ job: JobID, in library: PhotoLibrary) async throws -> JobSnapshot {
        while try await library.mesh.send(GetJob(job: job)).state == .waiting {
            _ = try? await library.mesh.send(ResumeJob(job: job))
        }
        return try await library.mesh.send(WaitForJob(job: job))
    }

    private func stick(_ test: TestLibrary) throws -> String {
        let stick = test.folder.file("stick")
        try FileManager.default.createDirectory(atPath: stick, withIntermediateDirectories: true)
        return stick
    }

    @Test func anImportWaitsForItsFolder() async throws {
        let test = try await TestLibrary()
        let stick = try stick(test)
        try SampleAlbum(width: 320, height: 240).write(count: 150, to: stick + "/album")
        let job = try await test.mesh.send(ImportPhotos(paths: [stick + "/album"])).job
        let library = try await reopened(test, job, at: "importing", items: 20, without: stick)
        let waiting = try await library.mesh.send(GetJob(job: job))
        #expect(waiting.state == .waiting && waiting.obstacle?.message == "\(stick)/album is not there.", "\(waiting)")
        #expect((20..<150).contains(waiting.outcomes["imported"] ?? 0))
        try plugIn(stick)
        let ended = try await resumed(job, in: library)
        #expect(ended.state == .finished && ended.receipt?["imported"] == 150, "\(ended)")
        #expect(try await library.mesh.send(GetJobReceipt(job: job)).lines.count == 150)
        await library.close()
    }

    @Test func anImportThatIsGivenUpWhileItWaitsHasItsReceipt() async throws {
        let test = try await TestLibrary()
        let stick = try stick(test)
        try SampleAlbum(width: 320, height: 240).write(count: 150, to: stick)
        let job = try await test.mesh.send(ImportPhotos(paths: [stick])).job
        let library = try await reopened(test, job, at: "importing", items: 20, without: stick)
        _ = try await library.mesh.send(CancelJob(job: job))
        let ended = try await library.mesh.send(WaitForJob(job: job))
        let photos = try await library.mesh.send(CountPhotos()).count
        #expect(ended.state == .cancelled && ended.receipt?["ending"] == "cancelled", "\(ended)")
        #expect(ended.receipt?["imported"] == .integer(Int64(photos)) && ended.outcomes["imported"] == photos)
        #expect(try await library.mesh.send(GetJobReceipt(job: job)).lines.count == photos)
        await library.close()
    }

    /// What was imported already may be tidied away.
    @Test func filesThatHaveTheirLineNeedNotBeThere() async throws {
        let test = try await TestLibrary()
        let album = test.folder.file("album")
        try SampleAlbum(width: 320, height: 240).write(count: 60, to: album)
        let paths = try FileManager.default.contentsOfDirectory(atPath: album).sorted().map { album + "/" + $0 }
        let job = try await test.mesh.send(ImportPhotos(paths: paths)).job
        try await test.mesh.firstValue(of: WatchJob(job: job)) { $0.progress.itemsDone >= 10 }
        await test.library.close()
        let database = try await DatabasePool.open(
            at: test.path + "/catalogue.sqlite", schema: CatalogueSchema.schema)
        let done = try await database.read { connection in
            try connection.query("SELECT item FROM job_lines") { try $0[0] as String }
        }
        await database.close()
        #expect(done.count >= 10)
        for path in done { try FileManager.default.removeItem(atPath: path) }
        let library = try await PhotoLibrary.open(at: test.path, options: .init(workers: 2))
        let ended = try await library.mesh.send(WaitForJob(job: job))
        #expect(ended.state == .finished && ended.outcomes == ["imported": 60], "\(ended)")
        await library.close()
    }

    /// What was removed meanwhile will not come again: it is told, and the others go on.
    @Test func aFileThatWasRemovedMeanwhileIsALineOfTheReceipt() async throws {
        let test = try await TestLibrary()
        let album = test.folder.file("album")
        try SampleAlbum(width: 320, height: 240).write(count: 150, to: album)
        let paths = try FileManager.default.contentsOfDirectory(atPath: album).sorted().map { album + "/" + $0 }
        let job = try await test.mesh.send(ImportPhotos(paths: paths)).job
        let removed = paths[149]
        let library = try await reopened(test, job, at: "importing", items: 10, without: removed)
        try #require(try await library.mesh.send(GetJob(job: job)).state != .waiting)
        let ended = try await library.mesh.send(WaitForJob(job: job))
        #expect(ended.state == .finished && ended.outcomes == ["imported": 149, "unreadable": 1], "\(ended)")
        let lines = try await library.mesh.send(GetJobReceipt(job: job)).lines
        #expect(lines.contains { $0.item == removed && $0.outcome == "unreadable" })
        await library.close()
    }

    @Test func aPathThatGoesWhileFoldersAreReadIsALineOfTheReceipt() throws {
        let folder = try TemporaryFolder("sources")
        try SampleAlbum(width: 32, height: 24).write(count: 2, to: folder.file("album"))
        let paths = [folder.file("gone.jpg"), folder.file("gone") + "/", folder.file("album") + "/"]
        let found = try SourceFiles(
            paths: paths.map(FilePath.init(text:)), selection: SourceSelection(),
            namedFiles: NamedFiles(library: folder.file("library"), files: [], folders: []), now: .now(),
            isCancelled: { false })
        #expect(found.files.count == 2)
        #expect(found.refused.map(\.item) == [folder.file("gone.jpg"), folder.file("gone")])
    }

    /// - Parameter isFixed: whether the folder in which the stick was mounted is still there, and empty.
    @Test(arguments: [true, false])
    func anImportOfAStickWaitsForIt(_ isFixed: Bool) async throws {
        let test = try await TestLibrary()
        let stick = try stick(test)
        try SampleAlbum(width: 320, height: 240).write(count: 150, to: stick)
        let job = try await test.mesh.send(ImportPhotos(paths: [stick])).job
        try await test.mesh.firstValue(of: WatchJob(job: job)) { $0.progress.itemsDone >= 20 }
        await test.library.close()
        try FileManager.default.moveItem(atPath: stick, toPath: stick + ".away")
        if isFixed { try FileManager.default.createDirectory(atPath: stick, withIntermediateDirectories: false) }
        let library = try await PhotoLibrary.open(at: test.path, options: .init(workers: 2))
        await library.mesh.jobs.resuming?.value
        let waiting = try await library.mesh.send(GetJob(job: job))
        let why = isFixed ? "\(stick) is empty now, and files in it were imported before." : "\(stick) is not there."
        #expect(waiting.state == .waiting && waiting.obstacle?.message == why, "\(waiting)")
        if isFixed { try FileManager.default.removeItem(atPath: stick) }
        try plugIn(stick)
        let ended = try await resumed(job, in: library)
        #expect(ended.state == .finished && ended.receipt?["imported"] == 150, "\(ended)")
        await library.close()
    }

    /// It cannot go on at all, and tells what it did.
    @Test func anImportWhoseCategoryHasGoneFailsWithItsReceipt() async throws {
        let test = try await TestLibrary()
        let album = test.folder.file("album")
        try SampleAlbum(width: 320, height: 240).write(count: 150, to: album)
        let category = try await test.mesh.send(AddCategory(displayName: "doomed")).id
        let job = try await test.mesh.send(ImportPhotos(paths: [album], categoryId: category)).job
        let library = try await reopened(test, job, at: "importing", items: 20, without: album)
        _ = try await library.mesh.send(DeleteCategory(id: category, deletePhotos: true))
        try plugIn(album)
        let ended = try await resumed(job, in: library)
        #expect(ended.state == .failed && ended.error?.status == .notFound, "\(ended)")
        #expect(ended.receipt?["ending"] == "failed")
        #expect(ended.receipt?["imported"] == ended.outcomes["imported"].map { .integer(Int64($0)) })
        await library.close()
    }

    /// - Parameter isFolder: whether the stick itself is named, and not a file on it.
    @Test(arguments: [true, false], ["reading the catalogue", "copying"])
    func aBackupWaitsForItsStick(_ isFolder: Bool, _ phase: String) async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(60, album: SampleAlbum(width: 320, height: 240))
        let stick = try stick(test)
        let job = try await test.mesh.send(CreateBackup(path: isFolder ? stick : stick + "/b.zip")).job
        let library = try await reopened(test, job, at: phase, without: stick)
        var ended = try await library.mesh.send(GetJob(job: job))
        // Whether it is closed before the end is a matter of luck.
        if !ended.state.hasEnded {
            #expect(ended.state == .waiting && ended.obstacle?.message == "\(stick) is not there.", "\(ended)")
            // No file of the stick's name is made in its place.
            #expect(!FileManager.default.fileExists(atPath: stick))
            try plugIn(stick)
            ended = try await resumed(job, in: library)
        } else {
            try plugIn(stick)
        }
        #expect(ended.state == .finished && ended.receipt?["photos"] == 60, "\(ended)")
        let names = try FileManager.default.contentsOfDirectory(atPath: stick)
        #expect(names.count == 1 && names[0].hasSuffix(".zip"), "\(names)")
        await library.close()
    }

    @Test func aBackupThatIsGivenUpWhileItWaitsKeepsNothing() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(60, album: SampleAlbum(width: 320, height: 240))
        let stick = try stick(test)
        let job = try await test.mesh.send(CreateBackup(path: stick + "/b.zip")).job
        let library = try await reopened(test, job, at: "copying", without: stick)
        let ids = try await library.mesh.send(SearchPhotos(limit: 5)).photos.map(\.id)
        _ = try await library.mesh.send(DeletePhotos(ids: ids))
        _ = try await library.mesh.send(PurgeTrash(ids: ids))
        if try await library.mesh.send(GetJob(job: job)).state == .waiting {
            #expect(try test.files("photos").count == 60)
            _ = try await library.mesh.send(CancelJob(job: job))
            #expect(try await library.mesh.send(WaitForJob(job: job)).state == .cancelled)
        }
        #expect(try test.files("photos").count == 55)
        await library.close()
        try plugIn(stick)
        try await PhotoLibrary.open(at: test.path, options: .init(workers: 1)).close()
        #expect(try !FileManager.default.contentsOfDirectory(atPath: stick).contains { $0.hasSuffix(".partial") })
    }

    @Test(arguments: [true, false]) func whatReadsABackupWaitsForIt(_ restores: Bool) async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(40, album: SampleAlbum(width: 320, height: 240))
        let stick = try stick(test)
        #expect(try await test.run(CreateBackup(path: stick + "/b.zip")).state == .finished)
        let job =
            restores
            ? try await test.mesh.send(RestoreBackup(path: stick + "/b.zip", mode: .replace)).job
            : try await test.mesh.send(VerifyBackup(path: stick + "/b.zip")).job
        let library = try await reopened(test, job, at: "verifying", without: stick)
        let waiting = try await library.mesh.send(GetJob(job: job))
        #expect(waiting.state.hasEnded || waiting.obstacle?.message == "\(stick)/b.zip is not there.", "\(waiting)")
        try plugIn(stick)
        #expect(try await resumed(job, in: library).state == .finished)
        #expect(try await library.mesh.send(CountPhotos()).count == 40)
        await library.close()
    }

    @Test func aMigrationWaitsForThePhone() async throws {
        let sql = (1...40).map { OldPhone.photo(OldPhone.uuid($0), "/x/sample-\($0).jpg", category: "1") }
        let phone = try await OldPhone(photos: 40, OldPhone.category("1", "'First'") + sql.joined())
        let job = try await phone.test.mesh.send(MigrateLibrary(database: phone.database, photos: phone.photos)).job
        let library = try await reopened(phone.test, job, at: "migrating", without: phone.folder)
        let waiting = try await library.mesh.send(GetJob(job: job))
        #expect(waiting.state.hasEnded || waiting.obstacle?.message == "\(phone.database) is not there.", "\(waiting)")
        try plugIn(phone.folder)
        #expect(try await resumed(job, in: library).state == .finished)
        await library.close()
    }

    /// Both were broken off: the second one waits for the end of the first.
    @Test func twoBackupsThatGoOnComeOneAfterTheOther() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(10, album: SampleAlbum(width: 64, height: 48))
        await test.library.close()
        let database = try await DatabasePool.open(
            at: test.path + "/catalogue.sqlite", schema: CatalogueSchema.schema)
        for number in 1...3 {
            var snapshot = JobSnapshot(id: "create-\(number)", method: CreateBackup.method)
            snapshot.state = .interrupted
            let params = try JSON.encode(CreateBackup(path: test.folder.file("\(number).zip")))
            let record = JobRecord(snapshot: snapshot, params: params)
            try await database.write { try JobTable.insert(record, in: $0) }
        }
        await database.close()
        let library = try await PhotoLibrary.open(at: test.path, options: .init(workers: 1))
        for number in 1...3 {
            let ended = try await resumed("create-\(number)", in: library)
            #expect(ended.state == .finished && ended.receipt?["photos"] == 10, "\(ended)")
        }
        await library.close()
    }
}
