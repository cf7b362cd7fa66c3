import Foundation
import ImageWorkerProtocol
import TestSupport
import Testing

@testable import Imaging
@testable import PhotoConversion

/// Every file of the corpus through real workers. What disagrees is named by its path alone: many files show real
/// places and faces.
@Suite(.enabled(if: Corpus.isPresent, "no corpus beside the checkout"))
struct CorpusTests {
    private static let supported: Set = [
        "JPEG", "MPO", "PNG", "APNG", "WEBP", "Extended WEBP", "GIF", "BMP", "TIFF", "BTF", "HEIC", "HEIF", "AVIF",
    ]

    /// Rows that this module reads otherwise than the table's tools, and why.
    private static let exceptions: [String: String] = [
        "real/heic/pilheif__invalid_id.heic": "Pillow shows another picture than the primary one"
    ]

    private func run(
        _ rows: [Corpus.Row], _ body: @escaping @Sendable (Corpus.Row, ImageWorkerPool) async throws -> Void
    )
        async throws
    {
        let pool = ImageWorkerPool(executable: try workerExecutable(), workers: 2)
        try await withThrowingTaskGroup(of: Void.self) { group in
            // Two at a time: as many as workers, so that a slow machine does not time out what waits.
            for (index, row) in rows.enumerated() {
                if index >= 2 { try await group.next() }
                group.addTask { try await body(row, pool) }
            }
            try await group.waitForAll()
        }
        await pool.shutDown()
    }

    @Test func everyRealPhotoThatOthersReadIsConverted() async throws {
        let rows = try Corpus.table("real/truth.tsv").filter { row in
            row["pillow"] == "ok" && row["identify"] == "ok" && Self.supported.contains(row["filetype"] ?? "")
                && Self.exceptions[row["path"] ?? ""] == nil
        }
        #expect(rows.count > 250)
        try await run(rows) { row, pool in
            let path = row["path"] ?? ""
            let folder = try TemporaryFolder("corpus")
            do {
                let converted = try await convert(pool, Corpus.folder + "/" + path, folder)
                Self.checkSize(row, converted)
                #expect(CorpusDate.matches(row, converted.facts.taken), "\(path): date")
                try Self.checkColours(row, folder)
                try Self.checkPreview(path, converted, folder)
            } catch {
                Issue.record("\(path): \(error)")
            }
        }
    }

    private static func checkSize(_ row: Corpus.Row, _ converted: ConvertedPhoto) {
        guard let width = row["width_display"].flatMap(Int.init), let height = row["height_display"].flatMap(Int.init)
        else { return }
        let whole = PixelSize(width: width, height: height)
        let expected = converted.keptOriginal ? whole : whole.fitting(ImageLimits.photoSide)
        #expect(
            abs(converted.width - expected.width) <= 1 && abs(converted.height - expected.height) <= 1,
            "\(row["path"] ?? ""): size")
    }

    private static func checkColours(_ row: Corpus.Row, _ folder: TemporaryFolder) throws {
        let profile = row["icc"] ?? ""
        // The table's colours are unmanaged, so a wide gamut cannot agree with them.
        guard profile.isEmpty || profile.hasPrefix("sRGB") else { return }
        guard try !hasHighlights(Corpus.folder + "/" + (row["path"] ?? "")) else { return }
        // Nor can a PNG that says light itself is stored (gAMA 1.0), as the format's own test pictures do.
        let source = try Data(contentsOf: URL(fileURLWithPath: Corpus.folder + "/" + (row["path"] ?? "")))
        guard row["mime"] != "image/png" || source.withUnsafeBytes({ ColourProfile(pngColours: ByteView($0)) }) == nil
        else { return }
        let expected = ["tl", "tr", "bl", "br"].compactMap { UInt32(row[$0] ?? "", radix: 16) }.map { colour in
            [Int(colour >> 16 & 255), Int(colour >> 8 & 255), Int(colour & 255)]
        }
        let seen = try Pictures.look(atJPEG: folder.file("thumbnail"))
        guard expected.count == 4, seen.size.width > 1, seen.size.height > 1 else { return }
        let difference = Pictures.difference(seen.quadrants, expected)
        #expect(difference <= 12, "\(row["path"] ?? ""): colours differ by \(difference)")
    }

    /// Whether it is tone-mapped, which the table's colours are not.
    private static func hasHighlights(_ path: String) throws -> Bool {
        let folder = try TemporaryFolder("highlights")
        let files = try Files(path, folder)
        let source = try SourceFile(descriptor: files.source, memory: PhotoConverter.unshared)
        defer { withExtendedLifetime(source) {} }
        return try pictureDecoder(PictureType(content: source.bytes), source).highRange != nil
    }

    /// A photo that is large enough has a preview that looks like its thumbnail, and no other photo has one.
    private static func checkPreview(_ path: String, _ converted: ConvertedPhoto, _ folder: TemporaryFolder) throws {
        guard let size = ImageLimits.previewSize(ofPhoto: converted.width, converted.height) else {
            #expect(try converted.previewSize == nil && folder.bytes("preview").isEmpty, "\(path)")
            return
        }
        let (seen, small) = try (
            Pictures.look(atWebP: folder.file("preview")), Pictures.look(atJPEG: folder.file("thumbnail"))
        )
        #expect(seen.size == PixelSize(width: size.width, height: size.height), "\(path)")
        let difference = Pictures.difference(seen.quadrants, small.quadrants)
        #expect(difference <= 4, "\(path): preview and thumbnail differ by \(difference)")
    }

    @Test func everyHostileFileIsTakenOrRefusedAsItShould() async throws {
        let rows = try Corpus.table("hostile/expect.tsv").filter { $0["kind"] == "image" }
        #expect(rows.count > 80)
        try await run(rows) { row, pool in
            let path = row["path"] ?? ""
            let folder = try TemporaryFolder("hostile")
            do {
                let converted = try await convert(pool, Corpus.folder + "/" + path, folder)
                #expect(row["must"] != "REJECT", "\(path): taken")
                // Whatever was taken is a whole JPEG.
                _ = try Pictures.look(atJPEG: folder.file("thumbnail"))
                try Self.checkPreview(path, converted, folder)
            } catch let error as ImagingError {
                #expect(row["must"] != "ACCEPT", "\(path): \(error)")
                switch error {
                case .unsupported, .damaged, .tooLarge, .needsMemory: break
                case .timedOut, .workerCrashed, .workerLost, .changed, .cancelled, .noWorkers, .io, .diskFull,
                    .fileTooLarge:
                    Issue.record("\(path): \(error)")
                }
            }
        }
    }

    @Test(
        arguments: [
            ("date-zeros", nil), ("date-feb-30", nil), ("date-year-9999", nil),
            ("date-dst-gap", CameraDate(clock: 1_616_898_600_000, offset: 120, source: .exif)),
            ("offset-bad", CameraDate(clock: 1_619_863_200_000, offset: nil, source: .exif)),
            ("offset-blank", CameraDate(clock: 1_619_863_200_000, offset: nil, source: .exif)),
            ("gps-null-island", nil), ("gps-bad-ref", nil),
        ] as [(String, CameraDate?)])
    func madeExifGivesTheFactsItShould(_ name: String, _ expected: CameraDate?) throws {
        let folder = try TemporaryFolder("made-exif")
        let data = try Data(contentsOf: URL(fileURLWithPath: Corpus.folder + "/hostile/made-exif/\(name).jpg"))
        let converted = try convertHere(data, folder)
        #expect(converted.facts.taken == expected)
        #expect(converted.facts.location == nil)
    }
}
