import Foundation
import ImageWorkerProtocol
import TestSupport
import Testing

@testable import PhotoConversion

@Suite struct ExifBlockTests {
    private let makerNote = (0..<200).map { UInt8($0 & 255) }

    private func cameraBlock(orientation: ExifMaker.Entry = .short(0x0112, 6)) -> [UInt8] {
        ExifMaker.block(
            main: [.long(0x0100, 4000), .short(0x0101, 3000), .text(0x010F, "Maker"), orientation],
            photo: [
                .text(0x9003, "2021:05:01 10:00:00"), .text(0x9011, "+02:00"), .text(0x9291, "25"),
                .undefined(0x927C, makerNote), .long(0xA002, 4000), .short(0xA003, 3000),
            ],
            place: [
                .text(0x0001, "S"), .angle(0x0002, 33, 30, 0), .text(0x0003, "E"), .angle(0x0004, 151, 15, 36),
            ],
            thumbnail: [0xFF, 0xD8] + [UInt8](repeating: 0x55, count: 500) + [0xFF, 0xD9])
    }

    @Test func aReducedPhotoKeepsItsExifButDescribesItself() throws {
        let folder = try TemporaryFolder("exif")
        let source = try Pictures.jpeg(PixelSize(width: 4000, height: 3000), exif: cameraBlock())
        let converted = try convertHere(source, folder)
        #expect(converted.width == 1536 && converted.height == 2048)
        #expect(converted.facts.taken == CameraDate(clock: 1_619_863_200_250, offset: 120, source: .exif))
        #expect(converted.facts.location?.latitude == -33.5)
        #expect(abs((converted.facts.location?.longitude ?? 0) - 151.26) < 1e-9)
        let stored = try folder.bytes("photo")
        let kept = try #require(stored.withUnsafeBytes { EmbeddedMetadata(jpeg: ByteView($0)).exif })
        let block = try #require(ExifBlock(kept))
        #expect(block.orientation == .upright)
        #expect(kept.count == cameraBlock().count - 504, "the thumbnail at the end is gone")
        var expected = cameraBlock()
        expected.removeLast(504)
        // All else stands where it stood: that is what keeps maker notes readable.
        let changed = zip(kept, expected).filter { $0 != $1 }.count
        #expect(changed <= 2 + 2 + 1 + 2 + 2 + 4)
        #expect(Data(kept).range(of: Data(makerNote)) == Data(expected).range(of: Data(makerNote)))
        // Converting the result again finds the same facts, and nothing to turn.
        let facts = ExifFacts(block: kept)
        #expect(facts.original?.milliseconds == converted.facts.taken?.clock)
        #expect(facts.location?.latitude == -33.5)
        // The camera's own directory: PixelXDimension as LONG, PixelYDimension as SHORT.
        #expect(Data(kept).range(of: Data([0xA0, 2, 0, 4, 0, 0, 0, 1, 0, 0, 6, 0])) != nil)
        #expect(Data(kept).range(of: Data([0xA0, 3, 0, 3, 0, 0, 0, 1, 8, 0])) != nil)
    }

    @Test func orientationIsReadFromAnyIntegerType() {
        #expect(ExifBlock(cameraBlock(orientation: .long(0x0112, 8)))?.orientation == .turnedLeft)
        let byte = ExifMaker.Entry(tag: 0x0112, type: 1, count: 1, data: [3])
        #expect(ExifBlock(cameraBlock(orientation: byte))?.orientation == .turned180)
        #expect(ExifBlock(cameraBlock(orientation: .short(0x0112, 0)))?.orientation == .upright)
        #expect(ExifBlock(cameraBlock(orientation: .short(0x0112, 9)))?.orientation == .upright)
        #expect(ExifBlock(cameraBlock(orientation: .text(0x0112, "6")))?.orientation == .upright)
    }

    @Test func noBlockIsBrokenEnoughToTrap() {
        let whole = cameraBlock()
        var generator = Seeded(state: 42)
        for round in 0..<4000 {
            var bytes = Array(whole.prefix(Int.random(in: 0...whole.count, using: &generator)))
            for _ in 0..<Int.random(in: 0...12, using: &generator) where !bytes.isEmpty {
                // Mostly in the directories, where offsets and counts are.
                let index = Int.random(
                    in: 0..<(round % 2 == 0 ? bytes.count : min(bytes.count, 120)), using: &generator)
                bytes[index] = UInt8.random(in: 0...255, using: &generator)
            }
            guard var block = ExifBlock(bytes) else { continue }
            let count = block.bytes.count
            _ = block.orientation
            _ = PictureFacts(EmbeddedMetadata(exif: bytes))
            block.describe(upright: PixelSize(width: 100, height: 50))
            #expect(block.bytes.count <= count)
            _ = bytes.withUnsafeBytes { TIFFExif.block(from: ByteView($0)) }
        }
    }

    @Test(
        arguments: [
            ([.text(1, "N"), .angle(2, 0, 0, 0), .text(3, "E"), .angle(4, 0, 0, 0)], false),
            ([.text(1, "X"), .angle(2, 48, 0, 0), .text(3, "E"), .angle(4, 2, 0, 0)], false),
            ([.text(1, "N"), .angle(2, 91, 0, 0), .text(3, "E"), .angle(4, 2, 0, 0)], false),
            ([.text(1, "N"), .angle(2, 48, 0, 0)], false),
            ([.text(1, "N"), .angle(2, 48, 0, 0), .text(3, "W"), .angle(4, 0, 0, 0)], true),
        ] as [([ExifMaker.Entry], Bool)])
    func aPlaceIsWholeOrNone(_ place: [ExifMaker.Entry], _ isOne: Bool) {
        let block = ExifMaker.block(main: [.short(0x0112, 1)], place: place)
        #expect((ExifFacts(block: block).location != nil) == isOne)
    }

    @Test func createDateStandsInForAnAbsurdOriginal() {
        let block = ExifMaker.block(
            main: [.short(0x0112, 1)],
            photo: [
                .text(0x9003, "0000:00:00 00:00:00"), .text(0x9004, "2020:01:02 03:04:05"), .text(0x9012, "+00:00"),
                .text(0x9291, "99"), .text(0x9292, "5"),
            ])
        let facts = PictureFacts(EmbeddedMetadata(exif: block))
        #expect(facts.taken == CameraDate(clock: 1_577_934_245_500, offset: 0, source: .exifCreated))
    }
}

/// xorshift64*: the same bytes on every run.
struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 0x2545_F491_4F6C_DD1D
    }
}
