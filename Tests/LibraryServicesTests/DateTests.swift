import CatalogueTestSupport
import Foundation
import LibraryModel
import LibraryTestSupport
@testable import BackupFormats
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// Dates on a camera's clock: what a person changes of them, and how they become moments and come out of old backups.
@Suite struct DateTests {
    private func library() async throws -> (test: TestLibrary, photo: Photo) {
        let test = try await TestLibrary()
        var new = SampleCatalogue().photo(1, category: 1, takenAt: 5000)
        (new.photo.takenOffset, new.photo.dateSource) = (60, .exif)
        new.photo.createdAt = Timestamp(milliseconds: 1_000_000)
        try await test.add([new])
        return (test, try await test.mesh.send(GetPhoto(id: 1)))
    }

    private func date(_ photo: Photo) -> [String?] {
        [
            photo.takenAt.map { String($0.milliseconds) }, photo.takenOffset.map { String($0) },
            photo.dateSource?.rawValue,
        ]
    }

    // MARK: Editing

    @Test func aPersonsDateIsOneAndKeepsTheCamerasOffset() async throws {
        let (test, _) = try await library()
        let dated = try await test.mesh.send(EditPhoto(id: 1, takenAt: LocalDateTime(milliseconds: 7000)))
        #expect(date(dated) == ["7000", "60", "person"])
        let both = try await test.mesh.send(
            EditPhoto(id: 1, takenAt: LocalDateTime(milliseconds: 8000), takenOffset: -30))
        #expect(date(both) == ["8000", "-30", "person"])
        #expect(try await test.mesh.send(GetPhoto(id: 1)) == both)
        await test.library.close()
    }

    @Test func aDateIsKnownAsFarAsItWasSaid() async throws {
        let (test, _) = try await library()
        func edit(_ text: String?, _ precision: DatePrecision?, shift: Int64? = nil) async throws -> [String?] {
            let photo = try await test.mesh.send(
                EditPhoto(id: 1, takenAt: text.flatMap(LocalDateTime.init), datePrecision: precision, shift: shift))
            return [photo.takenAt?.description, photo.datePrecision?.rawValue]
        }
        #expect(try await edit("1978-08-12T14:05:09.250", .month) == ["1978-08-01T00:00:00", "month"])
        // Moved by a day it is still known to the month.
        #expect(try await edit(nil, nil, shift: 31 * 86_400_000) == ["1978-09-01T00:00:00", "month"])
        #expect(try await edit(nil, .year) == ["1978-01-01T00:00:00", "year"])
        #expect(try await edit("1978-08-12T14:05:09.250", .day) == ["1978-08-12T00:00:00", "day"])
        #expect(try await edit("1978-08-12T14:05:09.250", .minute) == ["1978-08-12T14:05:00", "minute"])
        #expect(try await edit("1978-08-12T14:05:09.250", nil) == ["1978-08-12T14:05:09.250", "second"])
        let many = try await test.mesh.send(
            EditPhotos(ids: [1], takenAt: LocalDateTime("1979-05-06"), datePrecision: .year))
        #expect(many.photos.map(\.datePrecision) == [.year])
        #expect(try await test.mesh.send(GetPhoto(id: 1)) == many.photos.first)
        await test.library.close()
    }

    @Test func aShiftMovesTheClockAndAnOffsetDoesNot() async throws {
        let (test, _) = try await library()
        #expect(try await date(test.mesh.send(EditPhoto(id: 1, takenOffset: 120))) == ["5000", "120", "person"])
        #expect(try await date(test.mesh.send(EditPhoto(id: 1, shift: -6000))) == ["-1000", "120", "person"])
        // A camera that was an hour slow, and in another zone than it said: both at once, and neither twice.
        #expect(
            try await date(test.mesh.send(EditPhoto(id: 1, takenOffset: 0, shift: 3_600_000)))
                == ["3599000", "0", "person"])
        #expect(try await date(test.mesh.send(EditPhoto(id: 1, shift: 0))) == ["3599000", "0", "person"])
        await test.library.close()
    }

    @Test func aPhotoWithoutADateIsShiftedFromWhereListsShowIt() async throws {
        let (test, first) = try await library()
        var new = SampleCatalogue().photo(2, category: 1, takenAt: nil)
        new.photo.createdAt = Timestamp(milliseconds: 2_000_000)
        try await test.add([new])
        let shifted = try await test.mesh.send(EditPhoto(id: 2, shift: 1000))
        #expect(date(shifted) == ["2001000", nil, "person"])
        #expect(try await test.mesh.send(GetPhoto(id: 1)) == first)
        await test.library.close()
    }

    @Test func whatContradictsItselfIsRefusedAndChangesNothing() async throws {
        let (test, photo) = try await library()
        for request in [
            EditPhoto(id: 1, takenAt: LocalDateTime(milliseconds: 0), shift: 0), EditPhoto(id: 1, takenOffset: 961),
            EditPhoto(id: 1, takenOffset: -961), EditPhoto(id: 1, takenOffset: .min), EditPhoto(id: 1),
            EditPhoto(id: 1, shift: .max), EditPhoto(id: 1, shift: .min),
            EditPhoto(id: 1, shift: LocalDateTime.years.upperBound),
            EditPhoto(id: 1, takenAt: LocalDateTime(milliseconds: LocalDateTime.years.lowerBound - 1)),
        ] {
            #expect(await status { _ = try await test.mesh.send(request) } == .invalidArgument)
        }
        #expect(try await test.mesh.send(GetPhoto(id: 1)) == photo)
        await test.library.close()
    }

    @Test func noShiftLeadsPastTheYears1And9999() async throws {
        let (test, _) = try await library()
        let years = LocalDateTime.years
        for (end, step) in [(years.lowerBound, Int64(-1)), (years.upperBound, 1)] {
            _ = try await test.mesh.send(EditPhoto(id: 1, takenAt: LocalDateTime(milliseconds: end - step)))
            #expect(try await test.mesh.send(EditPhoto(id: 1, shift: step)).takenAt?.milliseconds == end)
            #expect(await status { _ = try await test.mesh.send(EditPhoto(id: 1, shift: step)) } == .invalidArgument)
            #expect(try await test.mesh.send(GetPhoto(id: 1)).takenAt?.milliseconds == end)
        }
        await test.library.close()
    }

    // MARK: Moments

    /// In a process of its own, because a process reads its zone once.
    @Test func clocksAndMomentsLeadToEachOther() async {
        await #expect(processExitsWith: .success) {
            setenv("TZ", "America/New_York", 1)
            tzset()
            func moment(_ text: String) throws -> Timestamp { try #require(Timestamp(rfc3339: text)) }
            // Winter, summer, before 1970, with milliseconds, and the last moment before a change.
            for (utc, here) in [
                ("2024-01-15T17:00:00Z", "2024-01-15T12:00:00"),
                ("2024-06-15T16:00:00.25Z", "2024-06-15T12:00:00.250"),
                ("1965-07-04T16:00:00.75Z", "1965-07-04T12:00:00.750"),
                ("2024-03-10T06:59:59.999Z", "2024-03-10T01:59:59.999"),
                ("2024-03-10T07:00:00Z", "2024-03-10T03:00:00"),
                ("2024-11-03T04:59:59Z", "2024-11-03T00:59:59"), ("2024-11-03T07:00:00Z", "2024-11-03T02:00:00"),
            ] {
                let clock = LocalDateTime(here: try moment(utc))
                #expect(clock.description == here)
                #expect(clock.moment(offset: nil) == (try moment(utc)), "\(utc)")
            }
            // The hour that clocks show twice: both moments are one clock's, which leads back to one of the two.
            let twice = [try moment("2024-11-03T05:30:00Z"), try moment("2024-11-03T06:30:00Z")]
            for moment in twice { #expect(LocalDateTime(here: moment).description == "2024-11-03T01:30:00") }
            let overlap = try #require(LocalDateTime("2024-11-03T01:30:00"))
            #expect(twice.contains(overlap.moment(offset: nil)))
            // With an offset it is certain which.
            #expect(overlap.moment(offset: -240) == twice[0] && overlap.moment(offset: -300) == twice[1])
            // The hour that no clock shows is not more than that hour away.
            let gap = try #require(LocalDateTime("2024-03-10T02:30:00"))
            let near = [try moment("2024-03-10T06:30:00Z"), try moment("2024-03-10T07:30:00Z")]
            #expect(near.contains(gap.moment(offset: nil)))
            // Past the years of a calendar nothing is known of zones.
            for milliseconds in [Int64.min, .max] {
                let clock = LocalDateTime(milliseconds: milliseconds)
                #expect(clock.moment(offset: nil).milliseconds == milliseconds)
                #expect(clock.moment(offset: 60).milliseconds == milliseconds)
            }
        }
    }

    // MARK: Old backups

    /// Until version 7 of the catalogue, backups said moments in UTC, and nothing of offsets and sources.
    private static func asBefore(_ photo: EditedBackup.Object, _ moment: String?) -> EditedBackup.Object {
        var photo = photo
        for key in ["takenOffset", "dateSource", "takenAt"] { photo[key] = nil }
        photo["takenAt"] = moment
        return photo
    }

    @Test func aBackupOfBeforeSaysTheClockOfThisPlace() async throws {
        let old = try await TestLibrary("old")
        _ = try await old.importSamples(3, album: SampleAlbum(width: 32, height: 24))
        let (new, edited) = (old.folder.file("new.zip"), old.folder.file("old.zip"))
        #expect(try await old.run(CreateBackup(path: new)).state == .finished)
        let moments: [String?] = ["2024-06-01T22:30:00.250Z", "1965-01-01T00:00:00Z", nil]
        try EditedBackup.write(new, to: edited) { metadata in
            let photos = metadata["photos"] as? [EditedBackup.Object] ?? []
            metadata["photos"] = zip(photos, moments).map { Self.asBefore($0, $1) }
        }
        await old.library.close()

        let test = try await TestLibrary("restored")
        let job = try await test.run(RestoreBackup(path: edited, mode: .replace))
        #expect(job.state == .finished, "\(job)")
        let restored = try await test.allPhotos()
        #expect(restored.count == 3 && restored.allSatisfy { $0.takenOffset == nil && $0.dateSource == nil })
        let clocks = moments.compactMap { $0.flatMap { Timestamp(rfc3339: $0) } }.map(LocalDateTime.init(here:))
        #expect(Set(restored.map(\.takenAt)) == Set(clocks.map(Optional.some) + [nil]))
        await test.library.close()
    }

    @Test func aBackupOfTodaySaysTheSameEverywhere() async {
        await #expect(processExitsWith: .success) {
            setenv("TZ", "Asia/Kolkata", 1)
            tzset()
            func clock(_ json: String) throws -> String {
                try JSONDecoder().decode(BackupMetadata.CameraClock.self, from: Data(json.utf8)).date.description
            }
            #expect(try clock("\"2024-06-01T22:30:00.250Z\"") == "2024-06-02T04:00:00.250")
            #expect(try clock("\"2024-06-01T22:30:00.250\"") == "2024-06-01T22:30:00.250")
            let written = try JSONEncoder().encode(BackupMetadata.CameraClock(LocalDateTime(milliseconds: 5000)))
            #expect(String(decoding: written, as: UTF8.self) == "\"1970-01-01T00:00:05\"")
            // Past the years of a calendar both were and are numbers.
            #expect(try clock(String(Int64.max)) == String(Int64.max))
        }
    }
}
