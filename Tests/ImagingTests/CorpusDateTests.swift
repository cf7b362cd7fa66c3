import Foundation
import ImageWorkerProtocol
import TestSupport
import Testing

@testable import Imaging

/// What the table says of a photo's date, by the order in which sources count.
enum CorpusDate {
    private struct Expected {
        /// To the second, as the table's tools write it.
        var clock: String
        /// Digits behind the point; empty where the table does not tell.
        var fraction = ""
        var offset: String
        var source: CameraDate.Source
    }

    /// Rows in which the table's columns do not say what the picture does, and why.
    private static let exceptions: [String: (clock: String, offset: Int?, source: CameraDate.Source)] = [
        // Two dates in one property: the table has both, and the first one counts.
        "real/camera-jpeg/mdx__Issue 600 (2).jpg": ("2009-09-09 17:00:00.000", nil, .xmp),
        // Apple's XMP says GMT+02:00.
        "real/mpf-motion/pilheif__spatial_photo.heic": ("2024-04-22 14:38:09.526", 120, .xmp),
        // The table has no columns for PNG's own dates.
        "real/png/immich__density_plot.png": ("2007-02-13 06:34:38.000", nil, .png),
        "real/png/mdx__sampleWithExifData.png": ("2020-05-20 19:37:26.000", 0, .png),
        "real/png/pillow__exif.png": ("2019-01-07 10:13:34.000", 0, .png),
        "real/png/pillow__exif_imagemagick.png": ("2019-01-07 10:13:34.000", 0, .png),
        "real/orientation/pillow__exif_imagemagick_orientation.png": ("2019-01-07 10:13:34.000", 0, .png),
        "real/png/pillow__itxt_chunks.png": ("2015-09-21 12:25:33.000", 0, .png),
        "real/png/pillow__transparent.png": ("2013-04-26 12:18:33.000", 0, .png),
        "real/png/sharp__Flag_of_the_Netherlands-alpha.png": ("2022-08-10 09:13:54.000", 0, .png),
        // XMP's ModifyDate is not in the table, and has an 88th second.
        "real/orientation/pillow__xmp_tags_orientation_exiftool.png": ("2014-10-08 05:10:00.000", nil, .modified),
        // Its 70th second ends the date before it.
        "real/tiff/pillow__tiff_16bit_RGB.tiff": ("2017-08-21 15:08:00.000", nil, .modified),
        // XMP's, before which the table puts a word.
        "real/dates/immich__gps-datetime.jpg": ("2023-11-15 12:30:00.000", 0, .gps),
    ]

    /// Without dates of the table's columns: one has a time and no day; the other is in the future.
    private static let dateless: Set = [
        "real/dates/immich__time-created.jpg", "real/jpeg-variants/pillow__exif_gps.jpg",
    ]

    static func matches(_ row: Corpus.Row, _ taken: CameraDate?) -> Bool {
        let path = row["path"] ?? ""
        if let exception = exceptions[path] {
            return taken.map { (text($0), $0.offset, $0.source) == exception } ?? false
        }
        guard !dateless.contains(path), let expected = expected(row) else { return taken == nil }
        guard let taken, taken.source == expected.source else { return false }
        let digits = expected.fraction.prefix(3)
        let milliseconds = digits + String(repeating: "0", count: 3 - digits.count)
        // Nor are CreateDate's sub-seconds.
        let isKnown = expected.source != .exifCreated && expected.source != .modified
        return text(taken).hasPrefix(isKnown ? "\(expected.clock).\(milliseconds)" : expected.clock)
            && (expected.source == .modified || offset(taken.offset) == expected.offset)
    }

    private static func expected(_ row: Corpus.Row) -> Expected? {
        let columns: [(String, CameraDate.Source)] = [
            ("exif_DateTimeOriginal", .exif), ("exif_CreateDate", .exifCreated), ("xmp_date", .xmp),
            ("iptc_date", .iptc), ("gps_datetime", .gps), ("exif_ModifyDate", .modified),
        ]
        for (column, source) in columns {
            let parts = (row[column] ?? "").split(separator: " ", maxSplits: 1)
            guard parts.count == 2, parts[0].count == 10, !parts[0].hasPrefix("0000"), parts[0].first != " " else {
                continue
            }
            let day = parts[0].replacing(":", with: "-")
            switch source {
            case .exif, .exifCreated:
                let offset = row[source == .exif ? "exif_OffsetTimeOriginal" : "exif_OffsetTimeDigitized"]
                let fraction = source == .exif ? row["exif_SubSecTimeOriginal"] : nil
                return Expected(
                    clock: "\(day) \(parts[1])", fraction: fraction ?? "", offset: offset ?? "", source: source)
            // ModifyDate's sub-seconds and offset are not in the table.
            case .modified: return Expected(clock: "\(day) \(parts[1])", offset: "", source: source)
            case .xmp, .iptc, .gps, .png, .film, .filmMoment:
                let time = parts[1].prefix { $0.isNumber || $0 == ":" }
                let rest = parts[1].dropFirst(time.count)
                let fraction = rest.hasPrefix(".") ? rest.dropFirst().prefix { $0.isNumber } : ""
                let offset = rest.drop { $0 == "." || $0.isNumber }
                return Expected(
                    clock: "\(day) \(time.count == 5 ? time + ":00" : time)", fraction: String(fraction),
                    offset: offset == "Z" ? "+00:00" : String(offset), source: source)
            }
        }
        return nil
    }

    /// By another way than the one under test.
    private static func text(_ date: CameraDate) -> String {
        let format = Date.ISO8601FormatStyle(
            dateSeparator: .dash, dateTimeSeparator: .space, timeZoneSeparator: .omitted,
            includingFractionalSeconds: true)
        let moment = Date(timeIntervalSince1970: Double(date.clock / 1000))
        let milliseconds = String(date.clock % 1000 + 1000).suffix(3)
        return moment.formatted(format).prefix(19) + "." + milliseconds
    }

    private static func offset(_ minutes: Int?) -> String {
        guard let minutes else { return "" }
        let digits = [abs(minutes) / 60, abs(minutes) % 60].map { String($0 + 100).suffix(2) }
        return (minutes < 0 ? "-" : "+") + digits.joined(separator: ":")
    }
}

/// The dates of real photos, by workers in two places of the world; where this machine is, another test takes all of them.
@Suite(.enabled(if: Corpus.isPresent, "no corpus beside the checkout"))
struct CorpusDateTests {
    private static let folders = [
        "dates", "xmp-iptc", "camera-jpeg", "heic", "png", "webp", "tiff", "gif", "plain-photo", "jpeg-variants",
    ]

    /// Of more pixels, pictures only take longer.
    private static let mostPixels = 5_000_000

    @Test(arguments: ["America/New_York", "Asia/Kolkata"])
    func noZoneOfTheMachineHasAPartInADate(_ zone: String) async throws {
        let folder = try TemporaryFolder("zone")
        let script = "#!/bin/sh\nTZ='\(zone)' exec '\(try workerExecutable())'\n"
        let worker = try folder.write(script.utf8, "worker.sh")
        try #require(chmod(worker, 0o700) == 0)
        let pool = ImageWorkerPool(executable: worker, workers: 2)
        let rows = try Corpus.table("real/truth.tsv").filter { row in
            let parts = (row["path"] ?? "").split(separator: "/")
            let sides = ["width_stored", "height_stored"].map { Int(row[$0] ?? "") ?? 0 }
            return row["pillow"] == "ok" && sides[0] * sides[1] < Self.mostPixels && parts.count == 3
                && Self.folders.contains(String(parts[1]))
        }
        // By as many as there are workers.
        let dated = await withTaskGroup(of: Int.self) { lanes in
            for lane in 0..<2 {
                lanes.addTask {
                    var dated = 0
                    for row in rows.enumerated() where row.offset % 2 == lane {
                        let path = row.element["path"] ?? ""
                        // Whether it should have been taken is another test's question.
                        guard let converted = try? await convert(pool, Corpus.folder + "/" + path, folder) else {
                            continue
                        }
                        #expect(
                            CorpusDate.matches(row.element, converted.facts.taken),
                            "\(path): \(String(describing: converted.facts.taken))")
                        if converted.facts.taken != nil { dated += 1 }
                    }
                    return dated
                }
            }
            return await lanes.reduce(0, +)
        }
        #expect(dated > 50)
        await pool.shutDown()
    }
}
