import Foundation
import LibraryModel
import ServiceMesh
import Testing

@testable import CommandLineInterface

@Suite("Changing a photo's name and date")
struct PhotoEditTests {
    private func stage() throws -> Stage {
        let stage = Stage()
        var photo = Sample.photo(12)
        (photo.takenAt, photo.takenOffset) = (LocalDateTime("1987-08-01T14:05"), 120)
        photo.dateSource = .person
        try stage.answer("photo.edit", photo)
        let others = [Int64](13...14).map { id in
            var other = photo
            other.id = id
            return other
        }
        try stage.answer("photo.editAll", EditedPhotos(photos: [photo] + others))
        return stage
    }

    @Test("A date, an offset, a shift and a name go to the library as it takes them")
    func values() async throws {
        for (arguments, params) in [
            (["--date", "1987"], ["takenAt": "1987-01-01T00:00:00", "datePrecision": "year"]),
            (["--date", "1987-08"], ["takenAt": "1987-08-01T00:00:00", "datePrecision": "month"]),
            (["--date", "1987-08-01T14:05"], ["takenAt": "1987-08-01T14:05:00", "datePrecision": "minute"]),
            (["--date", "1987-08-01T14:05:09.5"], ["takenAt": "1987-08-01T14:05:09.500", "datePrecision": "second"]),
            (
                ["--date", "1987-08-01", "--offset", "-3:30"],
                ["takenAt": "1987-08-01T00:00:00", "datePrecision": "day", "takenOffset": -210]
            ),
            (["--offset", "+02:00"], ["takenOffset": 120]), (["--offset=0"], ["takenOffset": 0]),
            (["--shift", "+1h"], ["shift": 3_600_000]), (["--shift=-1h30m"], ["shift": -5_400_000]),
            (["--shift", "-30m", "--offset", "+02:00"], ["shift": -1_800_000, "takenOffset": 120]),
            (["--name", "Am Meer"], ["name": "Am Meer"]), (["--name", ""], ["name": ""]),
        ] as [([String], [String: JSONValue])] {
            let stage = try stage()
            #expect(await stage.program.run(["photos", "edit", "12"] + arguments) == .done, "\(stage.messages)")
            #expect(stage.params("photo.edit") == .object(params.merging(["id": 12]) { $1 }), "\(arguments)")
            #expect(stage.results == "Photo 12: beach, 1987-08-01 14:05 (UTC+02:00), as somebody said\n")
        }
    }

    @Test("Several photos of one camera are moved by the same time")
    func several() async throws {
        let stage = try stage()
        #expect(await stage.run("photos", "edit", "12", "13", "14", "--shift", "1h") == .done)
        #expect(
            stage.allParams("photo.editAll") == [["ids": [12, 13, 14], "shift": 3_600_000]])
        #expect(stage.results.split(separator: "\n").count == 3 && stage.results.hasPrefix("Photo 12: "))
    }

    @Test("In JSON one photo is the photo, and several are one document that counts them")
    func json() async throws {
        let stage = try stage()
        #expect(await stage.run("photos", "edit", "12", "--shift", "1h", "--json") == .done)
        #expect(try stage.json()["id"] == 12)
        let several = try self.stage()
        #expect(await several.run("photos", "edit", "12", "13", "14", "--shift", "1h", "--json") == .done)
        #expect(try several.json() == ["count": 3])
        // Whether a filter or a range finds one photo or many, a script reads the same.
        let found = try self.stage()
        try found.answer("photo.select", SelectedPhotos(ids: [12], next: nil))
        #expect(await found.run("photos", "edit", "--where", "favorites", "--shift", "1h", "--yes", "--json") == .done)
        #expect(try found.json() == ["count": 1])
        #expect(found.methods.filter { $0 == "photo.edit" }.count == 1)
    }

    @Test("What makes no sense is said before anything is changed")
    func refused() async throws {
        for (arguments, message) in [
            (["12"], "Say what changes: --name, --date, --shift or --offset."),
            (["12", "13", "--name", "x"], "Name one photo at a time."),
            (["12", "--shift", "one hour"], "Write 1h, -30m, 2d or 1h30m."),
            (["12", "--offset", "CEST"], "Write +02:00, -3:30 or 0."),
            (["12", "--offset", "+17"], "Write +02:00, -3:30 or 0."),
            (
                ["12", "--date", "1987-02-30"],
                "'--date' must be a date such as 1978, 1978-08, 2025-06-15 or 2025-06-15T14:05."
            ),
            (["12", "--date", "1987-02-03T24:00"], "must be a date"), (["--date", "1987-02-03"], "PHOTO"),
        ] {
            let stage = try stage()
            #expect(await stage.program.run(["photos", "edit"] + arguments) == .usage, "\(arguments)")
            #expect(stage.messages.contains(message), "\(stage.messages)")
            #expect(stage.methods.isEmpty)
        }
    }

    @Test("A number that was mistyped leaves the others as they are")
    func mistyped() async throws {
        let stage = try stage()
        #expect(await stage.run("photos", "edit", "12", "1x", "--shift", "1h") != .done)
        #expect(!stage.methods.contains("photo.edit"))
    }

    @Test("Spans of time are read as people write them")
    func shifts() {
        for (text, milliseconds) in [
            ("1h", 3_600_000), ("+1h", 3_600_000), ("-30m", -1_800_000), ("2d", 172_800_000), ("90s", 90_000),
            ("1h30m", 5_400_000), ("-1d12h", -129_600_000), ("0h", 0), ("36525d", 36_525 * 86_400_000),
            ("-36525d", -36_525 * 86_400_000),
        ] as [(String, Int64)] {
            #expect(TimeText.shift(text) == milliseconds, "\(text)")
        }
        for text in [
            "", "+", "-", "1", "h", "1h30", "1 h", "1.5h", "--1h", "1h-30m", "1H", "1w", "36526d", "36525d1s", "١h",
            "9999999999s", "999999999d999999999d",
        ] {
            #expect(TimeText.shift(text) == nil, "\(text)")
        }
    }

    @Test("Offsets from UTC are read as clocks and cameras write them")
    func offsets() {
        for (text, minutes) in [
            ("+02:00", 120), ("-3:30", -210), ("2", 120), ("0", 0), ("+0", 0), ("-00:30", -30), ("05:45", 345),
            ("+16:00", 960), ("-16", -960),
        ] {
            #expect(TimeText.offset(text) == minutes, "\(text)")
        }
        for text in [
            "", "+", "-", ":", "+:30", "2:", "+02:60", "16:01", "17", "-17", "002", "2:000", "+-2", "2:-30", "Z", "UTC",
            "2:00:00",
            "٢",
        ] {
            #expect(TimeText.offset(text) == nil, "\(text)")
        }
    }
}
