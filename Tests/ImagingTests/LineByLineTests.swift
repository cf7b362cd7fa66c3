import Foundation
import ImageWorkerProtocol
import TestSupport
import Testing

@testable import PhotoConversion

/// Types that are decoded line by line, whichever way their lines are stored.
@Suite struct LineByLineTests {
    private func colour(_ maker: PNGMaker) throws -> [Int] {
        let folder = try TemporaryFolder("png")
        _ = try convertHere(maker.file(), folder)
        let seen = try Pictures.look(atJPEG: folder.file("photo"))
        #expect(seen.size == PixelSize(width: maker.size.width, height: maker.size.height))
        return seen.quadrants[0]
    }

    @Test(
        arguments: [
            (PNGMaker(depth: 1, colours: 0, samples: [1]), [255, 255, 255]),
            (PNGMaker(depth: 1, colours: 0, samples: [0]), [0, 0, 0]),
            (PNGMaker(depth: 2, colours: 0, samples: [1]), [85, 85, 85]),
            (PNGMaker(depth: 4, colours: 0, samples: [3]), [51, 51, 51]),
            (PNGMaker(depth: 8, colours: 0, samples: [77]), [77, 77, 77]),
            (PNGMaker(depth: 16, colours: 0, samples: [0x8081]), [128, 128, 128]),
            (PNGMaker(depth: 8, colours: 2, samples: [200, 40, 40]), [200, 40, 40]),
            (PNGMaker(depth: 16, colours: 2, samples: [0xC8C8, 0x2828, 0x2828]), [200, 40, 40]),
            (PNGMaker(depth: 8, colours: 4, samples: [0, 51]), [204, 204, 204]),
            (PNGMaker(depth: 16, colours: 4, samples: [0, 0x3333]), [204, 204, 204]),
            (PNGMaker(depth: 8, colours: 6, samples: [255, 0, 0, 128]), [255, 127, 127]),
            (PNGMaker(depth: 16, colours: 6, samples: [0xFFFF, 0, 0, 0x8080]), [255, 127, 127]),
        ] as [(PNGMaker, [Int])])
    func everyKindOfPNGIsShown(_ maker: PNGMaker, _ expected: [Int]) throws {
        #expect(Pictures.difference([try colour(maker)], [expected]) <= 3)
    }

    @Test(arguments: [1, 2, 4, 8])
    func palettesAreShown(_ depth: Int) throws {
        var maker = PNGMaker(depth: depth, colours: 3, samples: [1])
        maker.chunks = [("PLTE", [9, 9, 9, 50, 70, 200])]
        #expect(Pictures.difference([try colour(maker)], [[50, 70, 200]]) <= 3)
        // The second colour is half transparent.
        maker.chunks.append(("tRNS", [255, 128]))
        #expect(Pictures.difference([try colour(maker)], [[152, 162, 227]]) <= 3)
    }

    @Test func oneTransparentColourIsWhite() throws {
        var grey = PNGMaker(depth: 8, colours: 0, samples: [77])
        grey.chunks = [("tRNS", [0, 77])]
        #expect(try colour(grey) == [255, 255, 255])
        var coloured = PNGMaker(depth: 8, colours: 2, samples: [200, 40, 40])
        coloured.chunks = [("tRNS", [0, 200, 0, 40, 0, 40])]
        #expect(try colour(coloured) == [255, 255, 255])
    }

    @Test func aPNGThatLacksALineIsDamaged() throws {
        var maker = PNGMaker(depth: 8, colours: 2, samples: [1, 2, 3])
        maker.lines = 15
        guard case .damaged = try refusal(maker.file()) else {
            Issue.record("taken")
            return
        }
    }

    @Test func anInterlacedPNGIsTheSamePicture() throws {
        let size = PixelSize(width: 301, height: 203)
        func photo(isInterlaced: Bool) throws -> Data {
            let folder = try TemporaryFolder("interlaced")
            _ = try convertHere(Pictures.file(.png, size, isInterlaced: isInterlaced), folder)
            return try folder.bytes("photo")
        }
        #expect(try photo(isInterlaced: true) == photo(isInterlaced: false))
    }

    /// What TIFF says of its samples: bits, how many, what they mean, and a palette where they mean one.
    struct Samples: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bits: Int
        let count: Int
        let meaning: Int
        var alpha: Int?
    }

    /// A strip that is too big is read line by line, and the picture is the same as of many small ones.
    @Test(
        arguments: [
            Samples(testDescription: "grey", bits: 8, count: 1, meaning: 1),
            Samples(testDescription: "grey, white is 0", bits: 1, count: 1, meaning: 0),
            Samples(testDescription: "grey of 16 bits", bits: 16, count: 1, meaning: 1),
            Samples(testDescription: "palette of 4 bits", bits: 4, count: 1, meaning: 3),
            Samples(testDescription: "colours", bits: 8, count: 3, meaning: 2),
            Samples(testDescription: "colours of 16 bits", bits: 16, count: 3, meaning: 2),
            Samples(testDescription: "colours with opacity", bits: 8, count: 4, meaning: 2, alpha: 2),
            Samples(testDescription: "inks", bits: 8, count: 4, meaning: 5),
        ])
    func aTIFFOfOneStripIsTheSamePicture(_ samples: Samples) throws {
        let size = PixelSize(width: 2300, height: 1000)
        func photo(linesOfStrip: Int) throws -> Data {
            let folder = try TemporaryFolder("strips")
            let path = try folder.write(tiff(size, samples, linesOfStrip: linesOfStrip))
            let files = try Files(path, folder)
            let source = try SourceFile(descriptor: files.source)
            let needed = try TIFFPicture(source).memory - source.count
            #expect(needed < 1 << 20, "\(needed) bytes would not be bounded by a line or a small strip")
            _ = try convertHere(files)
            return try folder.bytes("photo")
        }
        let one = try photo(linesOfStrip: size.height)
        #expect(try one == photo(linesOfStrip: 8))
        #expect(one.count > 20_000, "something is to be seen")
    }

    /// With a pattern in it, by PackBits: libtiff makes small strips of a big one by itself where nothing is compressed.
    private func tiff(_ size: PixelSize, _ samples: Samples, linesOfStrip: Int) -> [UInt8] {
        let stride = (size.width * samples.bits * samples.count + 7) / 8
        // Each line is stored as it is, in runs of at most 128 bytes.
        let packed = stride + (stride + 127) / 128
        var pixels: [UInt8] = []
        pixels.reserveCapacity(packed * size.height)
        for line in 0..<size.height {
            for byte in 0..<stride {
                if byte % 128 == 0 { pixels.append(UInt8(min(128, stride - byte) - 1)) }
                pixels.append(UInt8(truncatingIfNeeded: (byte / 24 * 7) ^ (line % 31 * 8)))
            }
        }
        let strips = (size.height + linesOfStrip - 1) / linesOfStrip
        func longs(_ tag: UInt16, _ values: [Int]) -> ExifMaker.Entry {
            .init(tag: tag, type: 4, count: UInt32(values.count), data: values.flatMap { ExifMaker.bytes32($0) })
        }
        func shorts(_ tag: UInt16, _ values: [Int]) -> ExifMaker.Entry {
            .init(tag: tag, type: 3, count: UInt32(values.count), data: values.flatMap { ExifMaker.bytes16($0) })
        }
        func block(_ start: Int) -> [UInt8] {
            var entries: [ExifMaker.Entry] = [
                .long(0x0100, size.width), .long(0x0101, size.height),
                shorts(0x0102, Array(repeating: samples.bits, count: samples.count)), .short(0x0103, 32_773),
                .short(0x0106, samples.meaning),
                longs(0x0111, (0..<strips).map { start + $0 * linesOfStrip * packed }),
                .short(0x0115, samples.count), .long(0x0116, linesOfStrip),
                longs(0x0117, (0..<strips).map { min(linesOfStrip, size.height - $0 * linesOfStrip) * packed }),
            ]
            if samples.meaning == 3 {
                entries.append(shorts(0x0140, (0..<48).map { $0 % 16 * 0x1111 ^ $0 / 16 * 0x2020 }))
            }
            if let alpha = samples.alpha { entries.append(.short(0x0152, alpha)) }
            return ExifMaker.block(main: entries)
        }
        return block(block(0).count) + pixels
    }
}
