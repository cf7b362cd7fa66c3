import Foundation
import ImageWorkerProtocol
import TestSupport
import Testing

@testable import Imaging
@testable import PhotoConversion

/// JPEG XL as libjxl's own program writes it, through real workers: their cell, and their memory.
@Suite struct JXLTests {
    private static let size = PixelSize(width: 96, height: 64)

    struct Kind: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let arguments: [String]
        /// As ImageMagick is told to change the picture before.
        var change: [String] = []
        var isGrey = false
    }

    private static let shown: [Kind] = [
        Kind(testDescription: "lossy", arguments: ["-d", "1"]),
        Kind(testDescription: "lossy, in a container", arguments: ["-d", "1", "--container=1"]),
        Kind(testDescription: "lossy, modular", arguments: ["-d", "1", "-m", "1"]),
        Kind(testDescription: "lossy, progressive", arguments: ["-d", "1", "-p"]),
        Kind(testDescription: "lossless", arguments: ["-d", "0"]),
        Kind(testDescription: "16 bits", arguments: ["-d", "0"], change: ["-depth", "16"]),
        Kind(testDescription: "opaque, with opacity", arguments: ["-d", "0"], change: ["-alpha", "set"]),
        Kind(
            testDescription: "grey", arguments: ["-d", "0"], change: ["-colorspace", "Gray"], isGrey: true),
        Kind(
            testDescription: "grey with opacity", arguments: ["-d", "0"],
            change: ["-colorspace", "Gray", "-alpha", "set", "-define", "png:color-type=4"], isGrey: true),
    ]

    /// A JPEG XL of the quadrants.
    private func made(_ folder: TemporaryFolder, _ arguments: [String], change: [String] = []) throws -> String {
        var png = try folder.write(Pictures.file(.png, Self.size), "drawn.png")
        if !change.isEmpty {
            try Tool.magick.run([png] + change + [folder.file("changed.png")])
            png = folder.file("changed.png")
        }
        try Tool.cjxl.run([png, folder.file("made.jxl"), "--quiet"] + arguments)
        return folder.file("made.jxl")
    }

    @Test(.enabled(if: Tool.cjxl.isPresent && Tool.magick.isPresent), arguments: shown)
    func everyKindIsShown(_ kind: Kind) async throws {
        let folder = try TemporaryFolder("jxl")
        let pool = ImageWorkerPool(executable: try workerExecutable(), workers: 1)
        let converted = try await convert(pool, made(folder, kind.arguments, change: kind.change), folder)
        await pool.shutDown()
        #expect(converted.sourceMediaType == "image/jxl" && !converted.keptOriginal)
        #expect(PixelSize(width: converted.width, height: converted.height) == Self.size)
        let seen = try Pictures.look(atJPEG: folder.file("photo"))
        // As ImageMagick makes grey of them.
        let greys = Pictures.quadrants.map { colour in
            let grey = (212_656 * colour[0] + 715_158 * colour[1] + 72_186 * colour[2]) / 1_000_000
            return [grey, grey, grey]
        }
        let difference = Pictures.difference(seen.quadrants, kind.isGrey ? greys : Pictures.quadrants)
        #expect(difference <= 14, "\(seen.quadrants)")
    }

    @Test(.enabled(if: Tool.cjxl.isPresent))
    func aJPEGThatWasPackedKeepsItsDateAndIsTurnedOnce() async throws {
        let folder = try TemporaryFolder("jxl")
        let exif = ExifMaker.block(
            main: [.short(0x0112, 6), .text(0x010F, "SONY")], photo: [.text(0x9003, "2019:06:12 14:05:33")])
        let jpeg = try folder.write(Pictures.jpeg(Self.size, exif: exif), "camera.jpg")
        try Tool.cjxl.run([jpeg, folder.file("packed.jxl"), "--quiet"])
        let pool = ImageWorkerPool(executable: try workerExecutable(), workers: 1)
        let converted = try await convert(pool, folder.file("packed.jxl"), folder)
        await pool.shutDown()
        #expect(converted.facts.taken?.clock == 1_560_348_333_000 && converted.facts.camera == "SONY")
        #expect(PixelSize(width: converted.width, height: converted.height) == Self.size.transposed)
        // A quarter to the right.
        let expected = [2, 0, 3, 1].map { Pictures.quadrants[$0] }
        let seen = try Pictures.look(atJPEG: folder.file("photo"))
        #expect(Pictures.difference(seen.quadrants, expected) <= 14, "\(seen.quadrants)")
    }

    /// Colours that were kept come out in those of a screen.
    @Test(.enabled(if: Tool.cjxl.isPresent), arguments: [["-d", "0"], ["-d", "0.5"]])
    func wideColoursAreConverted(_ quality: [String]) async throws {
        let folder = try TemporaryFolder("jxl")
        let path = try made(folder, quality + ["-x", "color_space=RGB_D65_DCI_Rel_SRG"])
        let pool = ImageWorkerPool(executable: try workerExecutable(), workers: 1)
        _ = try await convert(pool, path, folder)
        await pool.shutDown()
        let transform = try #require(ColourTransform(.primaries(12), for: .rgb))
        let expected = Pictures.quadrants.map { colour in
            var converted = [UInt8](repeating: 0, count: 3)
            transform.convert(colour.map { UInt8($0) }, &converted, 1)
            return converted.map { Int($0) }
        }
        let seen = try Pictures.look(atJPEG: folder.file("photo"))
        #expect(Pictures.difference(seen.quadrants, expected) <= 14, "\(seen.quadrants) of \(expected)")
        #expect(Pictures.difference(expected, Pictures.quadrants) > 14, "they are other colours")
    }

    @Test(.enabled(if: Tool.cjxl.isPresent)) func whatIsCutOffIsDamaged() throws {
        let folder = try TemporaryFolder("jxl")
        let whole = try Data(contentsOf: URL(fileURLWithPath: made(folder, ["-d", "0", "--container=1"])))
        for count in [40, whole.count / 2, whole.count - 20] {
            guard case .damaged = try refusal(whole.prefix(count)) else {
                Issue.record("\(count) of \(whole.count) bytes were taken")
                continue
            }
        }
    }

    /// A codestream's beginning: a size in bits, and all else as usual.
    private static func header(_ width: Int, _ height: Int) -> [UInt8] {
        var bits: [Int] = []
        func add(_ value: Int, _ count: Int) { for bit in 0..<count { bits.append(value >> bit & 1) } }
        add(0, 1)
        for (index, side) in [height, width].enumerated() {
            add(3, 2)
            add(side - 1, 30)
            if index == 0 { add(0, 3) }
        }
        add(1, 1)
        add(1, 1)
        while bits.count % 8 != 0 { bits.append(0) }
        let bytes = stride(from: 0, to: bits.count, by: 8).map { start in
            (0..<8).reduce(UInt8(0)) { $0 | UInt8(bits[start + $1]) << UInt8($1) }
        }
        return [0xFF, 0x0A] + bytes + [UInt8](repeating: 0, count: 32)
    }

    @Test func whatSaysThatItIsHugeIsRefused() throws {
        switch (try refusal(Self.header(200_000, 1)), try refusal(Self.header(60_000, 60_000))) {
        case (.tooLarge?, .needsMemory(_, let picture)?):
            #expect(picture?.mediaType == "image/jxl" && picture?.width == 60_000)
        case let others: Issue.record("\(others)")
        }
    }

    @Test func twoBytesAloneAreNoPicture() throws {
        for bytes in [[0xFF, 0x0A], [0xFF, 0x0A] + Array("and a text that goes on".utf8)] as [[UInt8]] {
            guard case .unsupported? = try refusal(bytes) else {
                Issue.record("taken for a picture")
                continue
            }
        }
    }
}
