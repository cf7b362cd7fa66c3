import DateTexts
import Foundation
import ImageWorkerProtocol
import TestSupport
import Testing

@testable import PhotoConversion

/// What PNG says in chunks of its own, and what other programs put into its texts.
@Suite struct PNGTextTests {
    private static let noon: Int64 = 1_560_348_333_000
    private static let date = Array("2019:06:12 14:05:33".utf8)

    private static func metadata(_ chunks: [(String, [UInt8])]) -> EmbeddedMetadata {
        PNGMaker(depth: 8, colours: 2, samples: [1, 2, 3], chunks: chunks).file().withUnsafeBytes {
            EmbeddedMetadata(png: ByteView($0))
        }
    }

    private static func taken(_ chunks: [(String, [UInt8])]) -> CameraDate? { PictureFacts(metadata(chunks)).taken }

    private static func text(_ keyword: String, _ text: [UInt8]) -> (String, [UInt8]) {
        ("tEXt", Array(keyword.utf8) + [0] + text)
    }

    /// Stored, not deflated: at most 65,535 bytes.
    private static func deflated(_ bytes: [UInt8]) -> [UInt8] {
        let sums = bytes.reduce(into: (UInt32(1), UInt32(0))) { sums, byte in
            sums.0 = (sums.0 + UInt32(byte)) % 65_521
            sums.1 = (sums.1 + sums.0) % 65_521
        }
        let count = UInt16(bytes.count)
        let lengths = [count, ~count].flatMap { number -> [UInt8] in [UInt8(number & 255), UInt8(number >> 8)] }
        let header: [UInt8] = [0x78, 1, 1]
        return header + lengths + bytes + ExifMaker.bytes32(Int(sums.1 << 16 | sums.0))
    }

    private static func profile(_ name: String, _ bytes: [UInt8], length: Int? = nil) -> [UInt8] {
        var text = "\n\(name)\n   \(length ?? bytes.count)\n"
        for (index, byte) in bytes.enumerated() {
            text += (byte < 16 ? "0" : "") + String(byte, radix: 16) + (index % 36 == 35 ? "\n" : "")
        }
        return Array((text + "\n").utf8)
    }

    @Test func aCreationTimeIsADateBeforeTheLastChange() {
        let changed = ("tIME", [0x07, 0xE3, 6, 13, 14, 5, 33] as [UInt8])
        let expected = CameraDate(clock: Self.noon, offset: nil, source: .png)
        #expect(Self.taken([changed, Self.text("Creation Time", Self.date)]) == expected)
        #expect(Self.taken([Self.text("creation time", Self.date), changed]) == expected)
        #expect(Self.taken([("zTXt", Array("Creation Time\0\0".utf8) + Self.deflated(Self.date))]) == expected)
        #expect(Self.taken([("iTXt", Array("Creation Time\0\0\0en\0\0".utf8) + Self.date)]) == expected)
        #expect(Self.taken([changed]) == CameraDate(clock: Self.noon + 86_400_000, offset: 0, source: .png))
        // What the file was created with is no date of the picture's.
        #expect(Self.taken([Self.text("date:create", Self.date)]) == nil)
        #expect(Self.taken([("tIME", [7, 0xE3, 6, 13])]) == nil)
        #expect(Self.taken([("tIME", [7, 0xE3, 13, 13, 0, 0, 0])]) == nil)
    }

    @Test(arguments: ["tEXt", "zTXt", "iTXt"])
    func blocksInHexadecimalAreRead(_ kind: String) {
        let exif = ExifMaker.block(main: [.short(0x0112, 6)], photo: [.text(0x9003, "2019:06:12 14:05:33")])
        let xmp = MetadataMaker.packet("exif:DateTimeOriginal='2019-06-12T14:05:33'")
        let iptc = MetadataMaker.iptc([(55, "20190612"), (60, "140533")])
        let named = EmbeddedMetadata.exifName + exif
        for (name, bytes, source) in [
            ("exif", exif, .exif), ("exif", named, .exif), ("APP1", named, .exif),
            ("APP1", XMPSegments.standardName + xmp, .xmp), ("xmp", xmp, .xmp), ("iptc", iptc, .iptc),
            ("iptc", MetadataMaker.resources(iptc), .iptc), ("8bim", MetadataMaker.resources(iptc), .iptc),
        ] as [(String, [UInt8], CameraDate.Source)] {
            let text = Self.profile(name.lowercased(), bytes)
            let keyword = Array("Raw profile type \(name)".utf8)
            let chunk =
                switch kind {
                case "zTXt": keyword + [0, 0] + Self.deflated(text)
                case "iTXt": keyword + [0, 1, 0, 0, 0] + Self.deflated(text)
                default: keyword + [0] + text
                }
            #expect(Self.taken([(kind, chunk)]) == CameraDate(clock: Self.noon, offset: nil, source: source))
        }
    }

    @Test func aChunkOfItsOwnComesFirst() {
        let text = ExifMaker.block(main: [.text(0x010E, "From the text")])
        let own = ExifMaker.block(main: [.text(0x010E, "From the chunk")])
        let profile = Self.text("Raw profile type exif", Self.profile("exif", text))
        #expect(PictureFacts(Self.metadata([profile, ("eXIf", own)])).caption == "From the chunk")
        #expect(PictureFacts(Self.metadata([profile])).caption == "From the text")
        // Other lengths than it says, other digits, nothing.
        for broken in [
            Self.profile("exif", text, length: text.count + 1), Self.profile("exif", text, length: 1 << 40),
            Array("\nexif\n  4\n4d4g002a".utf8), Array("\nexif".utf8), [],
        ] {
            #expect(Self.metadata([Self.text("Raw profile type exif", broken)]).exif == nil)
        }
    }

    @Test func whatIsDeflatedIsBounded() {
        // Of 2 MB of zeros, each made of 2 KB.
        let bomb = Array("Raw profile type exif\0\0".utf8) + [0x78, 0xDA, 1, 2, 3]
        let texts = [(String, [UInt8])](repeating: ("zTXt", bomb), count: 64)
        #expect(Self.taken(texts + [Self.text("Creation Time", Self.date)]) == nil, "behind more texts than are read")
        #expect(Self.taken(texts.dropLast() + [Self.text("Creation Time", Self.date)]) != nil)
    }

    @Test func aDescriptionIsACaption() {
        #expect(
            PictureFacts(Self.metadata([Self.text("Description", Array("At the lake".utf8))])).caption == "At the lake")
        #expect(PictureFacts(Self.metadata([Self.text("Description", [0x4B, 0xE4])])).caption == "K\u{E4}")
        #expect(PictureFacts(Self.metadata([Self.text("Comment", Array("At the lake".utf8))])).caption == nil)
    }

    @Test(
        arguments: [
            ("Wed, 12 Jun 2019 14:05:33 +0200", noon, 120), ("12 Jun 2019 14:05:33", noon, nil),
            ("12 June 2019 14:05:33 GMT", noon, 0), ("Wed Jun 12 14:05:33 2019", noon, nil),
            ("2019:06:12 14:05:33", noon, nil), ("2019-06-12T14:05:33-01:30", noon, -90),
            ("2019-06-12 14:05:33", noon, nil), ("12-Jun-2019 14:05:33", noon, nil),
            ("12 Jun 2019", noon - 50_733_000, nil), ("Wed, 31 Jun 2019 14:05:33", nil, nil),
            ("Jun 2019", nil, nil), ("junk", nil, nil), ("", nil, nil), ("12 Jun 19 14:05:33", nil, nil),
        ] as [(String, Int64?, Int?)])
    func freeTextsAreDates(_ text: String, _ clock: Int64?, _ offset: Int?) {
        let date = WrittenDate(text)
        #expect(date?.milliseconds == clock && date?.offset == offset)
    }

    /// What a PNG kept in its texts stays with the photo that is made of it.
    @Test func aPhotoMadeOfItCarriesItsBlocks() throws {
        let exif = ExifMaker.block(main: [.short(0x0112, 6)], photo: [.text(0x9003, "2019:06:12 14:05:33")])
        var maker = PNGMaker(depth: 8, colours: 2, samples: [1, 2, 3])
        maker.size = (width: 24, height: 16)
        maker.chunks = [Self.text("Raw profile type exif", Self.profile("exif", exif))]
        let folder = try TemporaryFolder("png-text")
        let converted = try convertHere(maker.file(), folder)
        #expect(converted.width == 16 && converted.height == 24)
        let kept = ImagingTests.metadata(of: try folder.bytes("photo"))
        #expect(kept.exif.flatMap(ExifBlock.init)?.orientation == .upright)
        #expect(PictureFacts(kept).taken == converted.facts.taken && converted.facts.taken != nil)
    }
}
