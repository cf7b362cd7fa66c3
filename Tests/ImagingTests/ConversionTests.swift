import Foundation
import ImageWorkerProtocol
import TestSupport
import Testing

@testable import PhotoConversion

/// What comes out of one file: sizes, upright, colours, kept bytes.
@Suite struct ConversionTests {
    @Test(arguments: Pictures.Format.allCases)
    func everyFormatBecomesAPhotoAndAThumbnail(_ format: Pictures.Format) throws {
        let folder = try TemporaryFolder("format")
        let converted = try convertHere(Pictures.file(format, PixelSize(width: 401, height: 301)), folder)
        #expect(converted.sourceMediaType == format.mediaType)
        #expect(converted.width == 401 && converted.height == 301)
        #expect(converted.sourceWidth == 401 && converted.sourceHeight == 301)
        #expect(converted.thumbnailWidth == 300 && converted.thumbnailHeight == 225)
        #expect(converted.keptOriginal == (format == .jpeg))
        let photo = try Pictures.look(atJPEG: folder.file("photo"))
        #expect(photo.size == PixelSize(width: 401, height: 301))
        // gd writes GIF with a palette of its choosing.
        let tolerance = format == .gif ? 16 : 8
        #expect(Pictures.difference(photo.quadrants, Pictures.quadrants) <= tolerance)
        let thumbnail = try Pictures.look(atJPEG: folder.file("thumbnail"))
        #expect(thumbnail.size == PixelSize(width: 300, height: 225))
        #expect(Pictures.difference(thumbnail.quadrants, Pictures.quadrants) <= tolerance)
        #expect(try converted.fileSize == Int64(folder.bytes("photo").count))
        #expect(try converted.thumbnailSize == Int64(folder.bytes("thumbnail").count))
    }

    @Test(arguments: [
        (PixelSize(width: 2049, height: 1), PixelSize(width: 2048, height: 1)),
        (PixelSize(width: 4001, height: 2999), PixelSize(width: 2048, height: 1535)),
        (PixelSize(width: 2050, height: 4099), PixelSize(width: 1024, height: 2048)),
        (PixelSize(width: 3, height: 5000), PixelSize(width: 1, height: 2048)),
    ])
    func largeJPEGsAreReducedWhateverTheirShape(_ source: PixelSize, _ expected: PixelSize) throws {
        let folder = try TemporaryFolder("large")
        let converted = try convertHere(Pictures.file(.jpeg, source), folder)
        #expect(PixelSize(width: converted.width, height: converted.height) == expected)
        #expect(PixelSize(width: converted.sourceWidth, height: converted.sourceHeight) == source)
        #expect(!converted.keptOriginal)
        let photo = try Pictures.look(atJPEG: folder.file("photo"))
        #expect(photo.size == expected)
        if min(expected.width, expected.height) > 100 {
            #expect(Pictures.difference(photo.quadrants, Pictures.quadrants) <= 8)
        }
    }

    @Test func nothingIsEnlarged() throws {
        let folder = try TemporaryFolder("small")
        let converted = try convertHere(Pictures.file(.png, PixelSize(width: 7, height: 5)), folder)
        #expect(converted.width == 7 && converted.height == 5)
        #expect(converted.thumbnailWidth == 7 && converted.thumbnailHeight == 5)
    }

    @Test func aJPEGWithinTheLimitIsKeptByteForByte() throws {
        let folder = try TemporaryFolder("kept")
        let source = try Pictures.file(.jpeg, PixelSize(width: 2048, height: 1000))
        let converted = try convertHere(source, folder)
        #expect(converted.keptOriginal)
        #expect(try folder.bytes("photo") == source)
        #expect(converted.sourceDigest == converted.contentDigest)
    }

    @Test func photosAndThumbnailsHaveTheirQualities() throws {
        let folder = try TemporaryFolder("quality")
        _ = try convertHere(Pictures.file(.png, PixelSize(width: 401, height: 301)), folder)
        #expect(try brightness(folder.bytes("photo")) == brightness(ofQuality: 90))
        #expect(try brightness(folder.bytes("thumbnail")) == brightness(ofQuality: 85))
    }

    /// What brightness is divided by in a JPEG, in its order there.
    private func brightness(_ jpeg: Data) throws -> [Int] {
        let start = try #require(jpeg.firstRange(of: [0xFF, 0xDB])).upperBound + 3
        return jpeg[start..<start + 64].map(Int.init)
    }

    /// The standard's table K.1, in the order of a file, and libjpeg's measure of quality.
    private func brightness(ofQuality quality: Int) -> [Int] {
        [
            16, 11, 12, 14, 12, 10, 16, 14, 13, 14, 18, 17, 16, 19, 24, 40, 26, 24, 22, 22, 24, 49, 35, 37, 29, 40, 58,
            51,
            61, 60, 57, 51, 56, 55, 64, 72, 92, 78, 64, 68, 87, 69, 55, 56, 80, 109, 81, 87, 95, 98, 103, 104, 103, 62,
            77,
            113, 121, 112, 100, 120, 92, 101, 103, 99,
        ].map { ($0 * (200 - 2 * quality) + 50) / 100 }
    }

    @Test func digestsAreSHA256() {
        #expect(
            Array("abc".utf8).withUnsafeBytes(Digest.sha256)
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    /// Thumbnails of a version are all of one kind: who changes what they are raises it, here too.
    @Test func aThumbnailsSizeBelongsToItsVersion() {
        #expect(ThumbnailMaker.version == 1 && ImageLimits.thumbnailSide == 300 && ImageLimits.thumbnailQuality == 85)
    }

    @Test func alphaIsCompositedOverWhite() throws {
        let folder = try TemporaryFolder("alpha")
        let source = try Pictures.transparentPNG(PixelSize(width: 40, height: 40), [255, 0, 0], opacity: 0.5)
        _ = try convertHere(source, folder)
        let photo = try Pictures.look(atJPEG: folder.file("photo"))
        #expect(Pictures.difference(photo.quadrants, Array(repeating: [255, 128, 128], count: 4)) <= 4)
    }

    @Test(arguments: 1...8, [false, true])
    func everyOrientationComesOutUpright(_ orientation: Int, _ isReduced: Bool) throws {
        let folder = try TemporaryFolder("orientation")
        let stored = isReduced ? PixelSize(width: 2400, height: 1200) : PixelSize(width: 480, height: 240)
        let block = ExifMaker.block(orientation: orientation)
        let converted = try convertHere(Pictures.jpeg(stored, exif: block), folder)
        let upright = stored.fitting(2048).upright(Orientation(exif: orientation))
        #expect(PixelSize(width: converted.width, height: converted.height) == upright)
        #expect(
            PixelSize(width: converted.sourceWidth, height: converted.sourceHeight)
                == stored.upright(Orientation(exif: orientation)))
        // Where each stored quadrant is seen, from the table of the EXIF specification.
        let seen: [[Int]] = [
            [0, 1, 2, 3], [1, 0, 3, 2], [3, 2, 1, 0], [2, 3, 0, 1], [0, 2, 1, 3], [2, 0, 3, 1], [3, 1, 2, 0],
            [1, 3, 0, 2],
        ]
        let expected = seen[orientation - 1].map { Pictures.quadrants[$0] }
        let thumbnail = try Pictures.look(atJPEG: folder.file("thumbnail"))
        #expect(thumbnail.size == upright.fitting(300))
        #expect(Pictures.difference(thumbnail.quadrants, expected) <= 8)
        if isReduced {
            let photo = try Pictures.look(atJPEG: folder.file("photo"))
            #expect(photo.size == upright)
            #expect(Pictures.difference(photo.quadrants, expected) <= 8)
        } else {
            #expect(converted.keptOriginal)
        }
    }

    @Test(arguments: [Pictures.Format.png, .jpeg])
    func aThumbnailSaysWhichMakerItIsFrom(_ format: Pictures.Format) throws {
        let folder = try TemporaryFolder("maker")
        _ = try convertHere(Pictures.file(format, PixelSize(width: 401, height: 301)), folder)
        let head = Array(try folder.bytes("thumbnail").prefix(ThumbnailMaker.headBytes))
        #expect(ThumbnailMaker.version(ofThumbnail: head) == ThumbnailMaker.version)
        // The photo does not: it may be stored as it came.
        #expect(ThumbnailMaker.version(ofThumbnail: Array(try folder.bytes("photo").prefix(64))) == 0)
        for count in 0..<head.count {
            let part = ThumbnailMaker.version(ofThumbnail: Array(head[..<count]))
            #expect(count < 4 ? part == nil : [0, ThumbnailMaker.version].contains(part), "\(count) bytes")
        }
        #expect(ThumbnailMaker.version(ofThumbnail: Array("<svg/>".utf8)) == nil)
        // Whatever the bytes are, nothing traps.
        var generator = Seeded(state: 5)
        for _ in 0..<10_000 {
            var other = head
            for _ in 0..<3 {
                other[Int.random(in: 0..<other.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            _ = ThumbnailMaker.version(ofThumbnail: other)
        }
    }

    @Test func anEnlargedGamutIsBroughtIntoSRGB() throws {
        let transform = try #require(ColourTransform(.primaries(12), for: .rgb))
        var converted = [UInt8](repeating: 0, count: 3)
        transform.convert([150, 100, 100], &converted, 1)
        // Display P3's muted red is a stronger one in sRGB.
        #expect(converted[0] > 152 && converted[1] < 99 && converted[2] < 100)
        #expect(ColourTransform(.primaries(1), for: .rgb) == nil, "sRGB's own primaries need no conversion")
        #expect(ColourTransform(.icc([UInt8](repeating: 7, count: 500)), for: .rgb) == nil, "a broken profile is none")
    }
}
