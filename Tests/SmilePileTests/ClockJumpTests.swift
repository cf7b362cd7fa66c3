import Executors
import Files
import Foundation
import LibraryModel
@testable import Importing
@testable import LibraryServices
import LibraryStorage
import LibraryTestSupport
import PhotoFolder
import SQLiteCatalogue
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// What a clock that is wrong deletes: nothing.
@Suite(.timeLimit(.minutes(3))) struct ClockJumpTests {
    private static let hour: Int64 = 3_600_000
    private static let day = 24 * hour
    private static let years: Int64 = 16 * 365 * day

    private static func reading(
        _ wall: Int64, _ boot: String = "first", at milliseconds: Int64 = 0, doubt: ClockReading.Doubt? = nil
    ) -> ClockReading {
        ClockReading(
            wall: Timestamp(milliseconds: wall), boot: BootTime(boot: boot, milliseconds: milliseconds), doubt: doubt)
    }

    private static func next(
        _ last: ClockReading, _ wall: Int64, _ boot: String = "first", at milliseconds: Int64, isRunning: Bool = true
    ) -> ClockReading {
        DueTime.next(
            last, wall: Timestamp(milliseconds: wall), boot: BootTime(boot: boot, milliseconds: milliseconds),
            isRunning: isRunning)
    }

    // MARK: Reckoning

    @Test func timeThatPassesIsNoJump() {
        let last = Self.reading(Self.years)
        #expect(Self.next(last, Self.years + 40 * Self.day, at: 40 * Self.day).doubt == nil)
        // A daemon that was stopped for as long, on a machine that ran.
        #expect(Self.next(last, Self.years + 40 * Self.day, at: 40 * Self.day, isRunning: false).doubt == nil)
        // A machine that was off for a night, and one that was off for two days.
        #expect(Self.next(last, Self.years + 11 * Self.hour, "second", at: 1000).doubt == nil)
        #expect(Self.next(last, Self.years + 48 * Self.hour, "second", at: 1000).doubt?.from == last.wall + 1000)
        #expect(Self.next(last, Self.years - 48 * Self.hour, "second", at: 1000).doubt != nil)
    }

    @Test func aJumpIsBelievedAfterADayOfRunning() {
        var reading = Self.next(Self.reading(0), Self.years, "second", at: 0, isRunning: false)
        for turn in 1...23 {
            let passed = Int64(turn) * Self.hour
            reading = Self.next(reading, Self.years + passed, "second", at: passed)
            #expect(reading.doubt?.ran == passed && reading.doubt?.reckoned.milliseconds == passed)
        }
        #expect(Self.next(reading, Self.years + Self.day, "second", at: Self.day).doubt == nil)
        // A night of sleep is not a day of running, nor is the time between two daemons.
        let asleep = Self.next(reading, Self.years + 4 * Self.day, "second", at: 4 * Self.day)
        #expect(asleep.doubt == nil, "23 hours and two more")
        let early = Self.next(Self.reading(0), Self.years, "second", at: 0, isRunning: false)
        #expect(Self.next(early, Self.years + 4 * Self.day, "second", at: 4 * Self.day).doubt?.ran == 2 * Self.hour)
        let stopped = Self.next(
            early, Self.years + 4 * Self.day, "second", at: 4 * Self.day, isRunning: false)
        #expect(stopped.doubt?.ran == 0)
    }

    @Test func aClockThatIsSetRightAgainIsBelievedAtOnce() {
        let wrong = Self.next(Self.reading(0), Self.years, "second", at: 60_000, isRunning: false)
        #expect(wrong.doubt != nil)
        #expect(Self.next(wrong, 3 * Self.hour, "second", at: 3 * Self.hour).doubt == nil)
        #expect(Self.next(wrong, Self.hour, "third", at: 1000, isRunning: false).doubt == nil)
    }

    /// Else the trash of a machine that is on in the evenings would never be emptied.
    @Test func aMachineThatIsOnInTheEveningsComesToAnEnd() {
        var (reading, wall) = (Self.next(Self.reading(0), Self.years, "0", at: 0, isRunning: false), Self.years)
        var evenings = 0
        while reading.doubt != nil, evenings < 20 {
            evenings += 1
            for hours in 1...4 as ClosedRange<Int64> {
                wall += Self.hour
                reading = Self.next(reading, wall, "\(evenings)", at: hours * Self.hour, isRunning: hours > 1)
            }
            wall += 20 * Self.hour
        }
        #expect((6...9).contains(evenings))
        // Another jump by years begins anew.
        var doubted = Self.next(Self.reading(0), Self.years, "second", at: 0, isRunning: false)
        doubted = Self.next(doubted, Self.years + Self.hour, "second", at: Self.hour)
        #expect(Self.next(doubted, 2 * Self.years, "second", at: Self.hour).doubt?.ran == 0)
    }

    @Test func whatIsNotedComesBackAndWhatIsNoReadingIsNone() {
        let doubt = ClockReading.Doubt(reckoned: Timestamp(milliseconds: 5), ran: 7, from: Timestamp(milliseconds: -9))
        let unknown = ClockReading.Doubt(reckoned: Timestamp(milliseconds: 0), ran: 0, from: nil)
        for reading in [
            Self.reading(1, at: 2), Self.reading(1, at: 2, doubt: doubt), Self.reading(1, at: 2, doubt: unknown),
        ] {
            #expect(ClockReading(text: reading.text) == reading)
        }
        for text in [
            "", "boot", "boot 1", "boot 1 2 3", "boot 1 x", "boot 1 -2", "boot \(Int64.max) 1", "boot 1 \(Int64.max)",
            "boot 1 2 \(Int64.min) 4", "boot 1 2 3 \(Int64.max)", "boot 1 2 3 4 5 6", "boot 1 2 3 4 \(Int64.max)",
        ] {
            #expect(ClockReading(text: text) == nil, "\(text)")
        }
    }

    // MARK: A library

    /// A library whose clocks a test sets, opened as often as it likes.
    private final class Machine: Sendable {
        let folder: TemporaryFolder
        let wall: SetWallClock
        let boot = SetBootClock()

        init(_ time: String) throws {
            folder = try TemporaryFolder("clock")
            wall = SetWallClock(time)
        }

        func pass(_ milliseconds: Int64) {
            wall.pass(milliseconds: milliseconds)
            boot.pass(milliseconds: milliseconds)
        }

        func open() async throws -> PhotoLibrary {
            var options = PhotoLibrary.Options.repeating(workers: 1)
            options.keyFile = folder.file("sealing.key")
            (options.bootClock, options.wallClock) = (boot.clock, wall.clock)
            return try await PhotoLibrary.open(at: folder.file("library"), options: options)
        }

        /// What the library's own timer does each hour.
        func withPhotoStore<T>(of library: PhotoLibrary, _ body: (PhotoStore) async throws -> T) async throws -> T {
            let pool = BlockingPool(name: "test", threads: 1)
            let photoFiles = LibraryFolder(path: library.path, catalogueFiles: SQLiteCatalogue.files(at:))
            let discards = DiscardedFiles(catalogue: library.catalogue, photoFiles: photoFiles, pool: pool)
            let due = try await DueTime.open(library.catalogue, boot: boot.clock, wall: wall.clock)
            let value = try await body(PhotoStore(catalogue: library.catalogue, discards: discards, due: due))
            await pool.shutDown()
            return value
        }

        /// Imports two photos and puts them into the trash.
        func trash(in library: PhotoLibrary) async throws {
            try SampleAlbum(width: 64, height: 48).write(count: 2, to: folder.file("album"))
            let job = try await library.mesh.send(ImportPhotos(paths: [folder.file("album")])).job
            _ = try await library.mesh.send(WaitForJob(job: job))
            let ids = try await library.mesh.send(SearchPhotos()).photos.map(\.id)
            #expect(try await library.mesh.send(DeletePhotos(ids: ids)).count == 2)
        }
    }

    private func trashed(_ library: PhotoLibrary) async throws -> [TrashedPhoto] {
        try await library.mesh.send(ListTrash()).photos
    }

    @Test func aClockThatIsAheadEmptiesNoTrash() async throws {
        let machine = try Machine("2026-03-01T00:00:00Z")
        var library = try await machine.open()
        try await machine.trash(in: library)
        #expect(try await library.mesh.send(GetLibraryStatus()).clockJump == nil)
        let end = try #require(try await trashed(library).first).purgeAfter
        #expect(end == Timestamp(rfc3339: "2026-03-31T00:00:00Z"))
        await library.close()

        machine.wall.pass(milliseconds: Self.years)
        machine.boot.restart(as: "second", milliseconds: 30_000)
        library = try await machine.open()
        try await machine.withPhotoStore(of: library) { await $0.purgeExpired() }
        let jump = try #require(try await library.mesh.send(GetLibraryStatus()).clockJump)
        #expect(jump.photos == 2 && jump.to == machine.wall.now && jump.endsAt == machine.wall.now + Self.day)
        #expect(jump.from == Timestamp(rfc3339: "2026-03-01T00:00:30Z"))
        #expect(try await trashed(library).map(\.purgeAfter) == [jump.endsAt, jump.endsAt])
        await library.close()

        // Right again, and all is as it was.
        machine.wall.pass(milliseconds: 600_000 - Self.years)
        machine.boot.restart(as: "third", milliseconds: 30_000)
        library = try await machine.open()
        try await machine.withPhotoStore(of: library) { await $0.purgeExpired() }
        #expect(try await library.mesh.send(GetLibraryStatus()).clockJump == nil)
        #expect(try await trashed(library).map(\.purgeAfter) == [end, end])
        // After 30 days they go.
        machine.pass(31 * Self.day)
        try await machine.withPhotoStore(of: library) { await $0.purgeExpired() }
        #expect(try await trashed(library).isEmpty)
        await library.close()
    }

    @Test func aMachineThatWasOffForMonthsWaitsForADay() async throws {
        let machine = try Machine("2026-03-01T00:00:00Z")
        var library = try await machine.open()
        try await machine.trash(in: library)
        await library.close()
        machine.wall.pass(milliseconds: 90 * Self.day)
        machine.boot.restart(as: "second", milliseconds: 0)
        library = try await machine.open()
        try await machine.withPhotoStore(of: library) { (store) async throws in
            for _ in 0..<23 {
                machine.pass(Self.hour)
                await store.purgeExpired()
            }
            #expect(try await trashed(library).count == 2)
            machine.pass(Self.hour)
            await store.purgeExpired()
            #expect(try await trashed(library).isEmpty)
        }
        await library.close()
    }

    @Test func whoeverEmptiesItByHandWaitsForNothing() async throws {
        let machine = try Machine("2026-03-01T00:00:00Z")
        var library = try await machine.open()
        try await machine.trash(in: library)
        await library.close()
        machine.wall.pass(milliseconds: 90 * Self.day)
        machine.boot.restart(as: "second", milliseconds: 0)
        library = try await machine.open()
        #expect(try await library.mesh.send(PurgeTrash()).count == 2)
        await library.close()
    }

    @Test func whatWasTrashedByAClockThatWasAheadCountsFromNow() async throws {
        let machine = try Machine("2042-03-01T00:00:00Z")
        var library = try await machine.open()
        try await machine.trash(in: library)
        await library.close()
        machine.wall.pass(milliseconds: -Self.years)
        machine.boot.restart(as: "second", milliseconds: 0)
        library = try await machine.open()
        let end = machine.wall.now + 30 * Self.day
        #expect(try await trashed(library).map(\.purgeAfter) == [end, end])
        try await machine.withPhotoStore(of: library) { (store) async throws in
            // Nobody knows yet whether it was wrong before or is now.
            await store.purgeExpired()
            #expect(try await trashed(library).allSatisfy { $0.deletedAt > machine.wall.now })
            for _ in 0..<24 {
                machine.pass(Self.hour)
                await store.purgeExpired()
            }
            #expect(try await trashed(library).allSatisfy { $0.deletedAt == machine.wall.now })
            machine.pass(29 * Self.day)
            await store.purgeExpired()
            #expect(try await trashed(library).count == 2)
            machine.pass(2 * Self.day)
            await store.purgeExpired()
            #expect(try await trashed(library).isEmpty)
        }
        await library.close()
    }

    /// An earlier version has not noted the time.
    @Test func aTrashOfAnEarlierVersionWaitsForADay() async throws {
        let machine = try Machine("2026-03-01T00:00:00Z")
        var library = try await machine.open()
        try await machine.trash(in: library)
        try await library.catalogue.database.write { connection in
            try connection.execute("DELETE FROM settings WHERE key = 'clockReading'")
            try connection.execute("UPDATE trash SET deleted_at = 0")
        }
        await library.close()
        library = try await machine.open()
        try await machine.withPhotoStore(of: library) { (store) async throws in
            await store.purgeExpired()
            #expect(try await trashed(library).count == 2)
            #expect(try await library.mesh.send(GetLibraryStatus()).clockJump?.from == nil)
            for _ in 0..<24 {
                machine.pass(Self.hour)
                await store.purgeExpired()
            }
            #expect(try await trashed(library).isEmpty)
        }
        await library.close()
    }

    // MARK: Uploads

    @Test func uploadsStayWhileTheClockIsDoubted() async throws {
        let machine = try Machine("2026-03-01T00:00:00Z")
        let library = try await machine.open()
        let pool = BlockingPool(name: "test", threads: 1)
        let named = NamedFiles(library: machine.folder.path, files: [], folders: [])
        /// A store as after a start, which has swept.
        func left(_ due: DueTime) async throws -> Int {
            let store = UploadStore(namedFiles: named, files: pool, due: due)
            try await store.start(on: library.mesh)
            let found = try await store.states([id]).uploads.count
            await store.stop()
            return found
        }
        let first = UploadStore(namedFiles: named, files: pool)
        let id = try await first.begin(BeginUpload(name: "a.jpg")).upload
        let real = Timestamp.now()
        func due(after milliseconds: Int64, doubted: Bool) async throws -> DueTime {
            let (boot, wall) = (machine.boot.clock, WallClock { real + milliseconds })
            let noted = ClockReading(
                wall: doubted ? real : real + milliseconds, boot: BootTime(boot: "earlier", milliseconds: 0))
            try await library.catalogue.write { try $0.settings.setClockReading(noted) }
            return try await DueTime.open(library.catalogue, boot: boot, wall: wall)
        }
        #expect(try await left(due(after: Self.years, doubted: true)) == 1)
        // One of a clock that was ahead counts from now, and would stay for years.
        let path = machine.folder.file("uploads")
        let part = try #require(try FileManager.default.contentsOfDirectory(atPath: path).first { $0.hasPrefix(id) })
        let ahead = Date(timeIntervalSince1970: Double((real + Self.years).milliseconds / 1000))
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            try FileManager.default.setAttributes([.modificationDate: ahead], ofItemAtPath: path + "/" + name)
        }
        #expect(try await left(due(after: 60_000, doubted: false)) == 1, "\(part)")
        let times = try FileManager.default.contentsOfDirectory(atPath: path).compactMap {
            try FileManager.default.attributesOfItem(atPath: path + "/" + $0)[.modificationDate] as? Date
        }
        #expect(times.contains { $0 < ahead - 1000 })
        #expect(try await left(due(after: 3 * Self.day, doubted: false)) == 0)
        await library.close()
        await pool.shutDown()
    }
}

private func + (moment: Timestamp, milliseconds: Int64) -> Timestamp {
    Timestamp(milliseconds: moment.milliseconds + milliseconds)
}
