import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import ServiceMesh
import TestSupport
import Testing

/// What clocks showed is what is shown, wherever the daemon and its clients are.
@Suite(.serialized) struct TimeZoneTests {
    /// A zone, and how many minutes its clocks were ahead of UTC in June.
    struct Zone: Sendable, CustomTestStringConvertible {
        let name: String
        let summer: Int64
        var testDescription: String { name }

        func clock(_ moment: Int64) -> LocalDateTime { LocalDateTime(milliseconds: moment + summer * 60_000) }
    }

    static let zones = [
        Zone(name: "UTC", summer: 0), Zone(name: "America/New_York", summer: -240),
        Zone(name: "Asia/Kolkata", summer: 330),
    ]

    /// A photo as the command line lists it.
    private struct Listed: Decodable {
        let name: String
        let path: String
        let takenAt: LocalDateTime?
        let datePrecision: DatePrecision?
        let takenOffset: Int?
        let dateSource: DateSource?
    }

    private func list(_ place: Installation, _ filters: String...) async throws -> [Listed] {
        struct Page: Decodable { let photos: [Listed] }
        let outcome = try await place.run("smilepile", ["photos", "list", "--json"] + filters)
        #expect(outcome.status == 0, "\(outcome.errors)")
        return try JSONDecoder().decode(Page.self, from: Data(outcome.output.utf8)).photos
    }

    private func days(_ place: Installation, _ from: String, _ to: String) async throws -> [String] {
        try await list(place, "--from", from, "--to", to).map(\.name).sorted()
    }

    /// 2019-06-12 22:00 UTC, which is another day in India.
    private static let moment: Int64 = 1_560_376_800_000

    private func write(_ files: [String: Data], to folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (name, data) in files { try data.write(to: URL(fileURLWithPath: folder + "/" + name)) }
    }

    /// The album's photo without the camera's distance from UTC, which most cameras do not write.
    private func withoutOffset(_ jpeg: Data) throws -> Data {
        var jpeg = jpeg
        let place = try #require(jpeg.range(of: Data("+02:00".utf8)))
        jpeg.replaceSubrange(place, with: Data("      ".utf8))
        return jpeg
    }

    @Test(arguments: zones) func daysAndTimesAreTheClocks(_ zone: Zone) async throws {
        let place = try Installation("e2e-zone", timeZone: zone.name)
        let album = SampleAlbum(width: 32, height: 24)
        let undated = SampleAlbum(width: 32, height: 24, seed: 5)
        let camera = [
            "evening.jpg": try withoutOffset(album.photo(11)), "night.jpg": try withoutOffset(album.photo(12)),
            "abroad.jpg": try album.photo(13),
        ]
        let whatsApp = ["IMG-20190612-WA0007.jpg": try album.photo(9)]
        let takeout = [
            "IMG_0001.jpg": try undated.photo(9),
            "IMG_0001.jpg.supplemental-metadata.json": Data(
                #"{"title":"IMG_0001.jpg","photoTakenTime":{"timestamp":"\#(Self.moment / 1000)"}}"#.utf8),
        ]
        for (folder, files) in [("camera", camera), ("whatsapp", whatsApp), ("takeout", takeout)] {
            try write(files, to: place.folder.file("sources/" + folder))
        }
        try await place.up()
        let imported = try await place.smilepile("import", place.folder.file("sources"))
        #expect(imported.status == 0, "\(imported.output)\(imported.errors)")

        // The list, for programs and for people.
        let takeoutClock = zone.clock(Self.moment)
        let expected: [String: (String, Int?, DateSource)] = [
            "evening": ("2024-06-01T23:11:11.250", nil, .exif), "night": ("2024-06-02T00:12:12.250", nil, .exif),
            "abroad": ("2024-06-02T01:13:13.250", 120, .exif),
            "IMG-20190612-WA0007": ("2019-06-12T00:00:00", nil, .fileName),
            "IMG_0001": (takeoutClock.description, nil, .sidecar),
        ]
        let photos = try await list(place)
        #expect(photos.count == expected.count)
        let shown = try await place.smilepile("photos", "list")
        for photo in photos {
            let (clock, offset, source) = try #require(expected[photo.name])
            #expect(photo.takenAt?.description == clock, "\(photo.name)")
            #expect(photo.takenOffset == offset && photo.dateSource == source, "\(photo.name)")
            let line = try #require(shown.output.split(separator: "\n").first { $0.contains(" \(photo.name) ") })
            let known = photo.datePrecision == .day ? 10 : 16
            let text = (source.isGuess ? "~" : " ") + clock.prefix(known).replacing("T", with: " ")
            #expect(line.contains(text), "\(line)")
            let digits = clock.prefix(19).replacing("T", with: "_").filter { $0 != "-" && $0 != ":" }
            #expect(photo.path.hasPrefix("photos/IMG_\(digits)_"), "\(photo.path)")
        }
        // Whole days, and times.
        #expect(try await days(place, "2024-06-01", "2024-06-01") == ["evening"])
        #expect(try await days(place, "2024-06-02", "2024-06-02") == ["abroad", "night"])
        #expect(try await days(place, "2024-06-01T23:11:11.250", "2024-06-02T00:12:12") == ["evening"])
        let takeoutDay = String(takeoutClock.description.prefix(10))
        #expect(takeoutDay == (zone.summer > 0 ? "2019-06-13" : "2019-06-12"))
        #expect(
            try await days(place, "2019-06-12", "2019-06-12")
                == ["IMG-20190612-WA0007"] + (zone.summer > 0 ? [] : ["IMG_0001"]))
        #expect(try await days(place, "2019-06-13", "2019-06-13") == (zone.summer > 0 ? ["IMG_0001"] : []))

        // What comes out is what came in, byte for byte.
        let out = place.folder.file("out")
        #expect(try await place.smilepile("photos", "export", "--all", "--to", out).status == 0)
        let sources = [camera, whatsApp, takeout].flatMap { $0 }.filter { $0.key.hasSuffix("jpg") }
        for (name, data) in sources {
            #expect(try Data(contentsOf: URL(fileURLWithPath: out + "/" + name)) == data, "\(name)")
        }
        let exported = try FileManager.default.contentsOfDirectory(atPath: out).filter { $0.hasSuffix(".jpg") }
        #expect(exported.count == sources.count)
        #expect(try await place.smilepile("down").status == 0)
    }

    /// Version 6 kept moments. What clocks here show then is what the camera's showed, if it was here.
    @Test(arguments: zones) func anUpgradedLibraryShowsTheClockOfItsPlace(_ zone: Zone) async throws {
        let place = try Installation("e2e-upgrade", timeZone: zone.name)
        try FileManager.default.createDirectory(
            atPath: place.library, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let fixture = tests.appendingPathComponent("Fixtures/catalogue-v6.sql").path
        let made = try await place.run(
            "/usr/bin/env",
            [
                "sqlite3", "-batch", "-bail", place.library + "/catalogue.sqlite",
                "PRAGMA application_id = \(0x536D_6C50);", "PRAGMA user_version = 6;", ".read '\(fixture)'",
            ])
        try #require(made.status == 0, "\(made.errors)")
        try await place.up()

        // 2024-06-01 10:00:00.250 UTC, and an hour and a bit for each; one of the seven is in the trash.
        func clock(_ number: Int64) -> LocalDateTime { zone.clock(1_717_236_000_250 + number * 3_661_000) }
        let photos = try await list(place)
        #expect(photos.map(\.name).sorted() == (0..<6).map { "sample-000\($0)" })
        for photo in photos {
            let number = try #require(Int64(photo.name.suffix(1)))
            #expect(photo.takenAt == clock(number) && photo.dateSource == nil && photo.takenOffset == nil)
        }
        let trashed = try await place.client().call(ListTrash()).photos.map(\.photo)
        #expect(trashed.map(\.takenAt) == [clock(6)] && trashed.map(\.name) == ["sample-0006"])
        let first = clock(0).description.prefix(16).replacing("T", with: " ")
        let shown = try await place.smilepile("photos", "list", "--to", String(first.prefix(10))).output
        #expect(shown.contains(" \(first) "), "\(shown)")
        #expect(try await place.smilepile("down").status == 0)

        // Once it has clocks, it keeps them, wherever it goes on.
        let elsewhere = try await place.run(
            "/usr/bin/env",
            ["TZ=Pacific/Auckland", Installation.programs + "/smilepile", "up", "--library", place.library])
        try #require(elsewhere.status == 0, "\(elsewhere.errors)")
        #expect(try await list(place).map(\.takenAt) == photos.map(\.takenAt))
        #expect(try await place.smilepile("down").status == 0)
    }
}
