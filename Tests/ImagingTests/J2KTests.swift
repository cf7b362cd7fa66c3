import Foundation
import ImageWorkerProtocol
import TestSupport
import Testing

@testable import Imaging
@testable import PhotoConversion

/// JPEG 2000 as OpenJPEG's own program writes it, through real workers.
@Suite struct J2KTests {
    private static let size = PixelSize(width: 96, height: 64)

    struct Kind: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var ending = "jp2"
        var arguments: [String] = []
        /// As ImageMagick is told to change the picture before.
        var change: [String] = []
        var isGrey = false
        var size = J2KTests.size
    }

    private static let shown: [Kind] = [
        Kind(testDescription: "lossless"),
        Kind(testDescription: "lossy", arguments: ["-r", "4"]),
        Kind(testDescription: "a codestream", ending: "j2k"),
        Kind(testDescription: "tiles", ending: "j2k", arguments: ["-t", "64,32", "-n", "3"]),
        Kind(testDescription: "waves that lose", arguments: ["-I", "-r", "4"]),
        Kind(testDescription: "no halves of it", arguments: ["-n", "1"]),
        Kind(testDescription: "16 bits", change: ["-depth", "16"]),
        Kind(testDescription: "grey", change: ["-colorspace", "Gray"], isGrey: true),
        Kind(testDescription: "opaque, with opacity", change: ["-alpha", "set"]),
        Kind(testDescription: "larger than is decoded", size: PixelSize(width: 8400, height: 420)),
    ]

    private func made(_ folder: TemporaryFolder, _ kind: Kind, of picture: Data? = nil) throws -> String {
        var png = try folder.write(picture ?? Pictures.file(.png, kind.size), "drawn.png")
        if !kind.change.isEmpty {
            // OpenJPEG's program makes colours darker where a PNG says how they were bent.
            let bare = ["-define", "png:exclude-chunks=gAMA,cHRM,sRGB,iCCP"]
            try Tool.magick.run([png] + kind.change + bare + [folder.file("changed.png")])
            png = folder.file("changed.png")
        }
        let path = folder.file("made." + kind.ending)
        try Tool.openJPEG.run(["-i", png, "-o", path] + kind.arguments)
        return path
    }

    private func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }

    @Test(.enabled(if: Tool.openJPEG.isPresent && Tool.magick.isPresent), arguments: shown)
    func everyKindIsShown(_ kind: Kind) async throws {
        let folder = try TemporaryFolder("j2k")
        let pool = ImageWorkerPool(executable: try workerExecutable(), workers: 1)
        let converted = try await convert(pool, made(folder, kind), folder)
        await pool.shutDown()
        #expect(converted.sourceMediaType == "image/jp2" && !converted.keptOriginal)
        #expect(PixelSize(width: converted.sourceWidth, height: converted.sourceHeight) == kind.size)
        let seen = try Pictures.look(atJPEG: folder.file("photo"))
        let greys = Pictures.quadrants.map { colour in
            let grey = (212_656 * colour[0] + 715_158 * colour[1] + 72_186 * colour[2]) / 1_000_000
            return [grey, grey, grey]
        }
        let difference = Pictures.difference(seen.quadrants, kind.isGrey ? greys : Pictures.quadrants)
        #expect(difference <= 14, "\(seen.quadrants)")
    }

    /// Puts another number where the container says what its colours are.
    private func recoloured(_ file: [UInt8], as number: UInt8) throws -> [UInt8] {
        let name = Array("colr".utf8)
        let box = try #require(file.indices.dropLast(4).first { file[$0..<$0 + 4].elementsEqual(name) })
        var changed = file
        changed.replaceSubrange(box + 4..<box + 11, with: [1, 0, 0, 0, 0, 0, number])
        return changed
    }

    /// Samples that are brightness and two differences.
    @Test(.enabled(if: Tool.openJPEG.isPresent)) func brightnessAndDifferencesAreShown() throws {
        let folder = try TemporaryFolder("j2k")
        let colour = [200, 40, 40]
        let kind = Kind(testDescription: "ycc", arguments: ["-mct", "0"])
        // Of that colour, by JFIF's equations.
        let file = try bytes(made(folder, kind, of: Pictures.plain(.png, Self.size, [88, 101, 208])))
        _ = try convertHere(try recoloured(file, as: 18), folder)
        let seen = try Pictures.look(atJPEG: folder.file("photo"))
        #expect(Pictures.difference(seen.quadrants, [[Int]](repeating: colour, count: 4)) <= 6, "\(seen.quadrants)")
    }

    @Test(.enabled(if: Tool.openJPEG.isPresent)) func inksAreShown() throws {
        let folder = try TemporaryFolder("j2k")
        // Nothing of cyan, half of magenta and yellow, no black.
        let raw = try folder.write(
            [0, 128, 128, 0].flatMap { [UInt8](repeating: $0, count: Self.size.pixels) }, "inks.raw")
        let form = "\(Self.size.width),\(Self.size.height),4,8,u"
        try Tool.openJPEG.run(["-i", raw, "-o", folder.file("inks.jp2"), "-F", form, "-mct", "0"])
        _ = try convertHere(try recoloured(bytes(folder.file("inks.jp2")), as: 12), folder)
        let seen = try Pictures.look(atJPEG: folder.file("photo"))
        let expected = [[Int]](repeating: [255, 127, 127], count: 4)
        #expect(Pictures.difference(seen.quadrants, expected) <= 6, "\(seen.quadrants)")
        guard case .unsupported? = try refusal(try recoloured(bytes(folder.file("inks.jp2")), as: 14)) else {
            Issue.record("L*a*b* is taken for something else")
            return
        }
    }

    @Test(.enabled(if: Tool.openJPEG.isPresent)) func itsBoxesSayWhenItWasTakenAndWhichWayIsUp() throws {
        let folder = try TemporaryFolder("j2k")
        let exif = ExifMaker.block(
            main: [.short(0x0112, 6), .text(0x010F, "SONY")], photo: [.text(0x9003, "2019:06:12 14:05:33")])
        let content = Array("JpgTiffExif->JP2".utf8) + exif
        let box = ExifMaker.bytes32(content.count + 8) + Array("uuid".utf8) + content
        let file = try bytes(made(folder, Self.shown[0]))
        let converted = try convertHere(file + box, folder)
        #expect(converted.facts.taken?.clock == 1_560_348_333_000 && converted.facts.camera == "SONY")
        #expect(PixelSize(width: converted.width, height: converted.height) == Self.size.transposed)
    }

    @Test(.enabled(if: Tool.openJPEG.isPresent)) func whatIsCutOffOrHugeIsRefused() throws {
        let folder = try TemporaryFolder("j2k")
        let file = try bytes(made(folder, Self.shown[2]))
        for count in [4, 30, 100, file.count / 2] {
            guard case .damaged? = try refusal(file.prefix(count)) else {
                Issue.record("\(count) of \(file.count) bytes are taken")
                continue
            }
        }
        func sized(_ width: Int, _ height: Int) -> [UInt8] {
            var changed = file
            changed.replaceSubrange(8..<16, with: ExifMaker.bytes32(width) + ExifMaker.bytes32(height))
            return changed
        }
        guard case .tooLarge? = try refusal(sized(200_000, 1)), case .needsMemory? = try refusal(sized(60_000, 60_000))
        else {
            Issue.record("not refused for its size")
            return
        }
        var film = try bytes(made(folder, Self.shown[0]))
        film.replaceSubrange(20..<24, with: Array("mjp2".utf8))
        guard case .unsupported? = try refusal(film) else {
            Issue.record("a film is taken")
            return
        }
    }
}
