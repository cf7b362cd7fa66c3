import Executors
import Files
import Foundation
import LibraryModel
@testable import Backups
@testable import LibraryServices
import LibraryStorage
import LibraryTestSupport
import PhotoFolder
@testable import SQLiteCatalogue
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Synchronization
import Testing

/// Which backups are known, which go, and what never does.
@Suite(.timeLimit(.minutes(3))) struct BackupKeepingTests {
    private let week = 7 * 24

    /// A library with three photos, and a folder for backups with names that the library gives.
    private func library(_ album: SampleAlbum = SampleAlbum(width: 64, height: 48)) async throws -> (
        TestLibrary, String
    ) {
        let test = try await TestLibrary()
        _ = try await test.importSamples(3, album: album)
        let folder = test.folder.file("stick")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return (test, folder)
    }

    private func name(_ day: Int) -> String { "SmilePileBackup_2026-01-0\(day)_100000.zip" }

    private func backUp(_ test: TestLibrary, _ path: String) async throws {
        let job = try await test.run(CreateBackup(path: path))
        #expect(job.state == .finished, "\(String(describing: job.error))")
    }

    private func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    private func damage(_ path: String, at place: Int) throws {
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes[place] ^= 1
        try bytes.write(to: URL(fileURLWithPath: path))
    }

    @Test func theOldestGoAndWhatIsNotOursStays() async throws {
        let (test, folder) = try await library()
        for day in 1...5 { try await backUp(test, folder + "/" + name(day)) }
        try await backUp(test, folder + "/wedding.zip")
        let family = try await test.mesh.send(ListCategories()).categories[0].id
        _ = try await test.run(CreateBackup(path: folder + "/" + name(6), categoryIds: [family]))
        try Data("others".utf8).write(to: URL(fileURLWithPath: folder + "/" + name(7)))
        // What stands under the name is another file by now.
        try Data("others".utf8).write(to: URL(fileURLWithPath: folder + "/" + name(2)))
        let preview = try await test.mesh.send(PruneBackups(folder: folder + "/", keep: 2, dryRun: true))
        let oldest = [folder + "/" + name(1), folder + "/" + name(3)]
        #expect(preview.removed.map(\.path) == oldest && preview.kept == 2)
        #expect(try names(folder).count == 8)
        let pruned = try await test.mesh.send(PruneBackups(folder: folder, keep: 2))
        #expect(pruned.removed.map(\.path) == preview.removed.map(\.path) && pruned.kept == 2)
        let left = [2, 4, 5, 6, 7].map(name) + ["wedding.zip"]
        #expect(try names(folder) == left)
        #expect(try await test.mesh.send(PruneBackups(folder: folder, keep: 2)).removed.isEmpty)
        let known = try await test.mesh.send(ListBackups()).backups
        let newestFirst = [name(6), "wedding.zip", name(5), name(4), name(2)].map { folder + "/" + $0 }
        #expect(known.map(\.path) == newestFirst)
        #expect(known.map(\.isWhole) == [false, true, true, true, true])
        #expect(known.map(\.presence) == [.there, .there, .there, .there, .changed])
        await test.library.close()
    }

    @Test func whoeverSubscribesHearsOfBackupsAndOfTheirSchedule() async throws {
        let (test, folder) = try await library()
        let told = Watched.follow(SubscribeToEvents(), on: test.mesh, mayRepeat: true)
        // A change before its first value would be part of that.
        await told.value(since: 0) { $0.changed.isEmpty }
        /// Returns when all that was committed is told, and how many events that were: a backup's own last commit may be told
        /// together with what comes next.
        func allTold() async throws -> Int {
            let before = told.changes
            _ = try await test.mesh.send(AddCategory(displayName: "After \(before) events"))
            let categories = try await test.mesh.send(ListCategories()).categories.count
            await told.value(since: before) { $0.totals.categories == categories }
            return told.changes
        }
        for day in 1...3 {
            let before = try await allTold()
            try await backUp(test, folder + "/" + name(day))
            await told.value(since: before) { $0.changed.contains(.backups) }
        }
        var before = try await allTold()
        _ = try await test.mesh.send(PruneBackups(folder: folder, keep: 1))
        await told.value(since: before) { $0.changed == [.backups] }
        before = try await allTold()
        _ = try await test.mesh.send(ScheduleBackups(folder: folder, everyHours: week, keep: 1, zip: true))
        await told.value(since: before) { $0.changed.contains(.backups) }
        await test.library.close()
    }

    @Test func whatIsDamagedOrGoneDoesNotCount() async throws {
        let (test, folder) = try await library(SampleAlbum(width: 1600, height: 1200))
        for day in 1...4 { try await backUp(test, folder + "/" + name(day)) }
        // In the middle, where nothing but a check finds it.
        let size = try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name(4))).count
        #expect(size > 140_000, "the middle is part of no fingerprint")
        try damage(folder + "/" + name(4), at: size / 2)
        try FileManager.default.removeItem(atPath: folder + "/" + name(3))
        #expect(try await test.run(VerifyBackup(path: folder + "/" + name(4))).state == .failed)
        #expect(try await test.mesh.send(PruneBackups(folder: folder, keep: 2)).removed.isEmpty)
        #expect(try names(folder) == [1, 2, 4].map(name))
        let pruned = try await test.mesh.send(PruneBackups(folder: folder, keep: 1))
        #expect(pruned.removed.map(\.path) == [folder + "/" + name(1)])
        // Whole again: it counts, and the older one goes.
        try damage(folder + "/" + name(4), at: size / 2)
        #expect(try await test.run(VerifyBackup(path: folder + "/" + name(4))).state == .finished)
        _ = try await test.mesh.send(PruneBackups(folder: folder, keep: 1))
        #expect(try names(folder) == [name(4)])
        await test.library.close()
    }

    @Test func whatIsFoundByAnotherPathIsFoundAllTheSame() async throws {
        let (test, folder) = try await library(SampleAlbum(width: 1600, height: 1200))
        let link = test.folder.file("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder)
        for day in 1...2 { try await backUp(test, folder + "/" + name(day)) }
        try FileManager.default.createSymbolicLink(
            atPath: test.folder.file("alias.zip"), withDestinationPath: folder + "/" + name(2))
        let size = try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name(2))).count
        for path in [link + "/" + name(2), folder + "/./" + name(2), test.folder.file("alias.zip")] {
            try damage(folder + "/" + name(2), at: size / 2)
            #expect(try await test.run(VerifyBackup(path: path)).state == .failed)
            let known = try await test.mesh.send(ListBackups()).backups
            #expect(known.map { $0.verifiedAt == nil } == [true, false] && known[0].presence == .there, "\(path)")
            #expect(try await test.mesh.send(GetLibraryStatus()).newestBackup?.path == folder + "/" + name(1))
            try damage(folder + "/" + name(2), at: size / 2)
            #expect(try await test.run(VerifyBackup(path: path)).state == .finished)
            #expect(try await test.mesh.send(GetLibraryStatus()).newestBackup?.path == folder + "/" + name(2))
        }
        await test.library.close()
    }

    @Test func aCopyOfTheLibraryRemovesNothingOfTheFirstOnes() async throws {
        let (test, folder) = try await library()
        for day in 1...3 { try await backUp(test, folder + "/" + name(day)) }
        await test.library.close()
        let copy = test.folder.file("copy")
        try FileManager.default.copyItem(atPath: test.path, toPath: copy)
        let second = try await PhotoLibrary.open(at: copy, options: .init(workers: 1))
        #expect(try await second.mesh.send(ListBackups()).backups.count == 3)
        #expect(try await second.mesh.send(PruneBackups(folder: folder, keep: 1)).removed.isEmpty)
        #expect(try names(folder).count == 3)
        await second.close()
    }

    @Test func theNewestWithoutADamagedPhotoStays() {
        func made(_ damaged: Int, _ isVerified: Bool = true) -> (MadeBackup, KnownBackup.Presence) {
            let backup = MadeBackup(
                path: "/b", mount: "/", library: .init(path: "/l", origin: .init(device: 1, inode: 1, birth: nil)),
                madeAt: Timestamp(milliseconds: 0), photos: damaged, bytes: 1, damaged: damaged, isWhole: true,
                fingerprint: "", verifiedAt: isVerified ? Timestamp(milliseconds: 0) : nil)
            return (backup, .there)
        }
        func plan(_ keep: Int, _ made: (MadeBackup, KnownBackup.Presence)...) -> ([Int], Int) {
            let plan = MadeBackups.plan(made.map { ($0.0, $0.1) }, keep: keep)
            return (plan.going.map(\.photos), plan.kept)
        }
        #expect(plan(1, made(4), made(3), made(0), made(2), made(0)) == ([0, 2, 3], 2))
        #expect(plan(2, made(4), made(3), made(1)) == ([1], 2))
        #expect(plan(2, made(4), made(3, false), made(1)) == ([], 2))
        #expect(plan(0, made(4), made(3)) == ([], 2))
    }

    @Test func theStatusTellsOfTheNewestWholeOne() async throws {
        let (test, folder) = try await library()
        #expect(try await test.mesh.send(GetLibraryStatus()).newestBackup == nil)
        let family = try await test.mesh.send(ListCategories()).categories[0].id
        _ = try await test.run(CreateBackup(path: folder + "/part.zip", categoryIds: [family]))
        #expect(try await test.mesh.send(GetLibraryStatus()).newestBackup == nil)
        try await backUp(test, folder + "/whole.zip")
        _ = try await test.run(CreateBackup(path: folder + "/part2.zip", categoryIds: [family]))
        let newest = try #require(try await test.mesh.send(GetLibraryStatus()).newestBackup)
        #expect(newest.path == folder + "/whole.zip" && (0...600).contains(newest.ageSeconds))
        await test.library.close()
        let again = try await test.reopened()
        #expect(try await again.mesh.send(GetLibraryStatus()).newestBackup?.path == folder + "/whole.zip")
        await again.close()
    }

    private func cut(_ path: String) throws {
        try Data(contentsOf: URL(fileURLWithPath: path)).prefix(1000).write(to: URL(fileURLWithPath: path))
    }

    @Test func whatWasChangedOrRemovedIsNotTheNewestAndTheNextIsDue() async throws {
        let (test, folder) = try await library()
        for day in 1...3 { try await backUp(test, folder + "/" + name(day)) }
        _ = try await test.mesh.send(ScheduleBackups(folder: folder, everyHours: week, keep: 4, zip: true))
        func newest() async throws -> (path: String?, nextAt: Timestamp?) {
            let status = try await test.mesh.send(GetLibraryStatus())
            let listed = try await test.mesh.send(ListBackups()).schedule
            #expect(status.backupSchedule == listed)
            return (status.newestBackup?.path, listed?.nextAt)
        }
        func next(after day: Int) async throws -> Timestamp? {
            let known = try await test.mesh.send(ListBackups()).backups.first { $0.path == folder + "/" + name(day) }
            return known.map { Timestamp(milliseconds: $0.madeAt.milliseconds + Int64(week) * 3_600_000) }
        }
        #expect(try await newest() == (folder + "/" + name(3), next(after: 3)))
        try cut(folder + "/" + name(3))
        #expect(try await newest() == (folder + "/" + name(2), next(after: 2)))
        try FileManager.default.removeItem(atPath: folder + "/" + name(2))
        #expect(try await newest() == (folder + "/" + name(1), next(after: 1)))
        // A stick that is not plugged in has what was on it, as far as anybody knows.
        try FileManager.default.moveItem(atPath: folder, toPath: folder + ".away")
        #expect(try await newest() == (folder + "/" + name(3), next(after: 3)))
        try FileManager.default.moveItem(atPath: folder + ".away", toPath: folder)
        try cut(folder + "/" + name(1))
        let none = try await newest()
        let ofTheOldest = try await next(after: 1)
        #expect(try none.path == nil && #require(none.nextAt) < #require(ofTheOldest))
        await test.library.close()
    }

    @Test func whyItWasLateIsForgottenOnceNothingIsDue() async throws {
        let (test, folder) = try await library()
        let mount = try #require(FileSystem.mountPoint(of: folder))
        let late = StoredBackupSchedule(
            folder: folder, mount: mount, everyHours: week, keep: 4, isZip: true, key: nil,
            scheduledAt: Timestamp(milliseconds: 0),
            failedAt: Timestamp(milliseconds: 1), problem: "It waits.")
        try await test.library.catalogue.write { try $0.madeBackups.setSchedule(late) }
        #expect(try await test.mesh.send(GetLibraryStatus()).backupSchedule?.problem == "It waits.")
        try await backUp(test, folder + "/" + name(1))
        #expect(try await test.mesh.send(GetLibraryStatus()).backupSchedule?.problem == nil)
        #expect(try await test.mesh.send(ListBackups()).schedule?.problem == nil)
        let told = Watched.follow(SubscribeToEvents(), on: test.mesh, mayRepeat: true)
        await told.value(since: 0) { $0.changed.isEmpty }
        _ = try await test.mesh.send(AddCategory(displayName: "Told"))
        await told.value { $0.changed.contains(.categories) }
        let before = told.changes
        let pool = BlockingPool(name: "test", threads: 1)
        let fields = SealedFields(
            catalogue: test.library.catalogue, keyFile: nil,
            namedFiles: LibraryFolder(path: test.path, catalogueFiles: SQLiteCatalogue.files(at:)).namedFiles,
            pool: pool)
        let scheduler: any MeshService = BackupScheduler(
            catalogue: test.library.catalogue, places: BackupPlaces(library: test.path),
            namedFiles: LibraryFolder(path: test.path, catalogueFiles: SQLiteCatalogue.files(at:)).namedFiles,
            fields: fields, pool: pool)
        try await scheduler.start(on: test.mesh)
        await told.value(since: before) { $0.changed.contains(.backups) }
        let stored = try #require(try await test.library.catalogue.read { try $0.madeBackups.schedule() })
        #expect(stored.problem == nil && stored.failedAt == nil)
        await scheduler.stop()
        await test.library.close()
        await pool.shutDown()
    }

    /// A clock whose timers have always run out.
    private struct NoPatience: SimulatedTime {
        func now() -> UInt64 { 0 }
        func sleep(until nanoseconds: UInt64) async throws {}
    }

    @Test func aFileSystemThatDoesNotAnswerKeepsNobodyWaiting() async throws {
        let (test, folder) = try await library()
        for day in 1...2 { try await backUp(test, folder + "/" + name(day)) }
        let all = try await test.library.catalogue.read { try $0.madeBackups.all() }
        let gate = DispatchSemaphore(value: 0)
        let looked = Atomic(0)
        let pool = BlockingPool(name: "test", threads: 1)
        let presences = BackupAvailability(
            MadeBackups(catalogue: test.library.catalogue, places: BackupPlaces(library: test.path), pool: pool)
        ) { _ in
            looked.add(1, ordering: .relaxed)
            gate.wait()
            return .gone
        }
        for _ in 0..<3 {
            let found = await presences.newest(of: all, in: folder, on: MeshClock(simulating: NoPatience()))
            #expect(found.anywhere?.path == folder + "/" + name(2) && found.inFolder?.path == found.anywhere?.path)
        }
        gate.signal()
        await pool.shutDown()
        #expect(looked.load(ordering: .relaxed) <= 1)
        await test.library.close()
    }

    @Test func aScheduleIsCheckedAndKept() async throws {
        let (test, folder) = try await library()
        for place in ["", "/photos", "/staging"] {
            #expect(
                await status { _ = try await test.mesh.send(ScheduleBackups(folder: test.path + place)) }
                    == .invalidArgument)
        }
        #expect(await status { _ = try await test.mesh.send(ScheduleBackups(folder: folder + "/no")) } == .notFound)
        #expect(await status { _ = try await test.mesh.send(ScheduleBackups(folder: "stick")) } == .invalidArgument)
        for every in [0, 8785] {
            let request = ScheduleBackups(folder: folder, everyHours: every)
            #expect(await status { _ = try await test.mesh.send(request) } == .invalidArgument)
        }
        let many = ScheduleBackups(folder: folder, keep: 1001)
        #expect(await status { _ = try await test.mesh.send(many) } == .invalidArgument)
        #expect(await status { _ = try await test.mesh.send(PruneBackups()) } == .failedPrecondition)
        #expect(try await test.mesh.send(ListBackups()).schedule == nil)
        try await backUp(test, folder + "/" + name(1))
        let schedule = try #require(
            try await test.mesh.send(ScheduleBackups(folder: folder + "/", everyHours: week, keep: 2, zip: true))
                .schedule)
        let made = try #require(try await test.mesh.send(ListBackups()).backups.first)
        #expect(schedule.folder == folder && schedule.keep == 2)
        #expect(schedule.nextAt.milliseconds == made.madeAt.milliseconds + Int64(week) * 3_600_000)
        await test.library.close()
        let again = try await test.reopened()
        #expect(try await again.mesh.send(GetLibraryStatus()).backupSchedule == schedule)
        #expect(try await again.mesh.send(ScheduleBackups(off: true)).schedule == nil)
        #expect(try await again.mesh.send(GetLibraryStatus()).backupSchedule == nil)
        await again.close()
    }

    @Test(.enabled(if: SmallDisk.isPossible)) func whereAStickIsMountedIsNotTheStick() throws {
        let disk = try SmallDisk()
        let folder = disk.folder.path + "/backups"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        #expect(FileSystem.mountPoint(of: folder) == disk.folder.path)
        disk.unmount()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        #expect(FileSystem.mountPoint(of: folder) != disk.folder.path)
        #expect(FileSystem.mountPoint(of: folder + "/no") == nil)
        #expect(FileSystem.mountPoint(of: "/") == "/")
    }
}
