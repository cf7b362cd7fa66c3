import DateTexts
import Foundation
import ImageWorkerProtocol
import TestSupport
import Testing

@testable import PhotoConversion

/// Which source of a date, a caption and a rating counts, and what is none.
@Suite struct PictureFactsTests {
    private static func exif(_ original: String?, _ created: String? = nil, _ main: [ExifMaker.Entry] = []) -> [UInt8] {
        ExifMaker.block(
            main: [.short(0x0112, 1)] + main,
            photo: [original.map { .text(0x9003, $0) }, created.map { .text(0x9004, $0) }].compactMap { $0 })
    }

    private static let iptc = MetadataMaker.iptc([(55, "20050505"), (60, "050505+0500"), (120, "From IPTC")])

    /// What is left of all sources when those before have none or an absurd date: day n of month n in the year 2000 + n.
    @Test func theFirstSourceWithADateCounts() {
        func facts(_ missing: Int, _ absurd: String?) -> CameraDate? {
            func date(_ number: Int) -> String? {
                number < missing ? absurd : "200\(number)-0\(number)-0\(number)T0\(number):00:00"
            }
            func attribute(_ name: String, _ number: Int) -> String { date(number).map { "\(name)=\"\($0)\" " } ?? "" }
            let packet = MetadataMaker.packet(
                attribute("xmp:CreateDate", 5) + attribute("exif:DateTimeOriginal", 3),
                date(4).map { "<photoshop:DateCreated>\($0)</photoshop:DateCreated>" } ?? "")
            return PictureFacts(
                EmbeddedMetadata(exif: Self.exif(date(1), date(2)), xmp: packet, iptc: missing > 6 ? nil : Self.iptc)
            ).taken
        }
        for absurd in [nil, "0000:00:00 00:00:00", "2021:02:30T10:00:00", "9999:01:01 00:00:00"] {
            let found = (1...7).map { facts($0, absurd) }
            #expect(found.map { $0?.source } == [.exif, .exifCreated, .xmp, .xmp, .xmp, .iptc, nil])
            #expect(
                found.prefix(5).map { $0?.clock }
                    == (1...5).map { WrittenDate("200\($0)-0\($0)-0\($0)T0\($0):00")?.milliseconds })
            #expect(found[5] == CameraDate(clock: 1_115_269_505_000, offset: 300, source: .iptc))
        }
    }

    @Test(
        arguments: [
            ("xmp:Rating=\"3\"", "", 3), ("", "<xmp:Rating>5</xmp:Rating>", 5), ("xmp:Rating=\"1.0\"", "", 1),
            ("xmp:Rating=\"0\"", "", 0), ("xmp:Rating=\"3.5\"", "", 3), ("xmp:Rating=\"-1\"", "", nil),
            ("xmp:Rating=\"6\"", "", nil), ("xmp:Rating=\"5.1\"", "", nil), ("xmp:Rating=\"55\"", "", nil),
            ("xmp:Rating=\"\"", "", nil), ("xmp:Rating=\"many\"", "", nil), ("my:Rating=\"4\"", "", nil),
            ("", "<my:List><xmp:Rating>4</xmp:Rating></my:List>", nil),
        ] as [(String, String, Int?)])
    func stars(_ attributes: String, _ elements: String, _ expected: Int?) {
        #expect(PictureFacts(EmbeddedMetadata(xmp: MetadataMaker.packet(attributes, elements))).rating == expected)
    }

    // MARK: Captions

    @Test func ofSeveralLanguagesTheCaptionForAnyCounts() {
        let german = (language: "de", text: "Am See"),
            any = (language: "x-default", text: "At the &lt;lake&gt; &#x1F3DE;")
        func caption(_ elements: String, _ exif: String = "") -> String? {
            PictureFacts(
                EmbeddedMetadata(
                    exif: Self.exif(nil, nil, [.text(0x010E, exif)]), xmp: MetadataMaker.packet("", elements),
                    iptc: elements.isEmpty ? nil : Self.iptc)
            ).caption
        }
        #expect(caption(MetadataMaker.alternatives([german, any])) == "At the <lake> \u{1F3DE}")
        #expect(caption(MetadataMaker.alternatives([german])) == "Am See")
        #expect(caption("<dc:description>Plain</dc:description>") == "Plain")
        #expect(caption(MetadataMaker.alternatives([("x-default", "  ")])) == "From IPTC")
        #expect(caption("<dc:description><rdf:Alt><rdf:li><my:b/></rdf:li></rdf:Alt></dc:description>") == "From IPTC")
        #expect(caption("<dc:description><![CDATA[a < b]]></dc:description>") == "a < b")
        #expect(caption(MetadataMaker.alternatives([german, any]), "From EXIF") == "From EXIF")
        #expect(caption("", "OLYMPUS DIGITAL CAMERA         ") == nil)
    }

    @Test(
        arguments: [
            ("OLYMPUS DIGITAL CAMERA", "", "", true), ("SONY DSC", "", "", true), ("DSC00006", "", "", true),
            ("SAMSUNG", "SAMSUNG ", "GT-I9000", true), ("Canon EOS 7D", "Canon", "Canon EOS 7D", true),
            ("<Digimax S500>", "Samsung", "Digimax S500", true),
            ("File written by Adobe Photoshop\u{A8} 4.0", "", "", true),
            ("oznor", "HUAWEI", "ANE-LX1", true), ("Exif_JPEG_PICTURE", "", "", true), ("....", "", "", true),
            ("oznor", "Canon", "", false), ("Am See", "HUAWEI", "", false), ("Geburtstag 2019", "", "", false),
            ("Mongol Els", "SONY", "DSLR-A700", false), ("DSC at the lake", "", "", false), ("Oma 80", "", "", false),
        ])
    func whatCamerasWriteIsNoCaption(_ text: String, _ make: String, _ model: String, _ isMachines: Bool) {
        let isOne = CameraPhrase.isOne(text, make: make, model: model) || CameraPhrase.isSceneCode(text, make: make)
        #expect(isOne == isMachines)
    }

    @Test func captionsAreOneLineOfWhatCanBeShown() {
        #expect(EmbeddedText.caption(" a\u{1B}[2Jb\r\n\n c\u{202E}d\u{0}\u{2029}e\t") == "a[2Jb cd e")
        #expect(EmbeddedText.caption(" \n\u{7}\u{85}") == nil)
        #expect(EmbeddedText.caption(String(repeating: "x", count: 5000))?.count == 2000)
        #expect(EmbeddedText.caption(String(repeating: "x ", count: 5000))?.unicodeScalars.count == 1999)
        // Of three scalars each, of which a whole number does not fit.
        let family = String(repeating: "\u{1F469}\u{200D}\u{1F467}", count: 900)
        #expect(EmbeddedText.caption(family) == String(family.prefix(666)))
        #expect(EmbeddedText.caption("a" + String(repeating: "\u{301}", count: 90_000)) == nil)
        #expect(EmbeddedText.decoded([0x41, 0x69, 0x6D, 0xE9]) == "Aim\u{E9}")
        let cut = Array(String(repeating: "\u{1F3DE}", count: 4).utf8)[...]
        for limit in 0...17 { #expect(EmbeddedText.decoded(EmbeddedText.prefix(cut, upTo: limit)).count == limit / 4) }
        // Windows-1252, of which five bytes have no character.
        #expect(EmbeddedText.decoded([0x84, 0x4B, 0xE4, 0x81, 0x93, 0x20, 0x80]) == "\u{201E}K\u{E4}\u{201C} \u{20AC}")
        #expect(
            EmbeddedText.mended(Array("\u{E4} \u{1F3DE}".utf8) + [0xE4, 0x80, 0xC3])
                == Array("\u{E4} \u{1F3DE}\u{E4}\u{20AC}\u{C3}".utf8))
    }

    // MARK: Cameras

    @Test(
        arguments: [
            ("Apple", "iPhone 12", "Apple iPhone 12"), ("Canon", "Canon EOS 5D", "Canon EOS 5D"),
            ("NIKON CORPORATION", "NIKON D70", "NIKON D70"), ("canon", "Canon", "Canon"),
            ("SONY", "DSC-W1", "SONY DSC-W1"),
            ("EASTMAN KODAK COMPANY", "KODAK DC240 ZOOM", "KODAK DC240 ZOOM"),
            ("Leica", "LeicaFlex", "Leica LeicaFlex"),
            ("Apple", "", "Apple"), ("", "iPhone 12", "iPhone 12"), ("  \t", "----", nil), ("---", "Z50", "Z50"),
            ("HUAWEI\r\n", " ANE-LX1\u{1B}[2J ", "HUAWEI ANE-LX1[2J"),
            ("\u{202E}Apple", "i\u{2066}Phone", "Apple iPhone"),
            (String(repeating: "x", count: 200), "y", String(repeating: "x", count: 128)),
        ] as [(String, String, String?)])
    func makeAndModelAreOneName(_ make: String, _ model: String, _ name: String?) {
        #expect(CameraName.name(make: make, model: model) == name)
    }

    @Test func theCameraIsOfEXIFElseOfXMP() {
        let packet = MetadataMaker.packet("tiff:Make='SONY' tiff:Model='DSC-W1'")
        func camera(_ main: [ExifMaker.Entry], _ xmp: [UInt8]?) -> String? {
            PictureFacts(EmbeddedMetadata(exif: Self.exif(nil, nil, main), xmp: xmp)).camera
        }
        let apple = [ExifMaker.Entry.text(0x010F, "Apple"), .text(0x0110, "iPhone 12")]
        #expect(camera(apple, packet) == "Apple iPhone 12")
        #expect(camera([], packet) == "SONY DSC-W1")
        #expect(camera([], nil) == nil)
        // A tag that claims a megabyte, or is no text, is none.
        #expect(camera([.short(0x0110, 7)], nil) == nil)
        #expect(camera([.text(0x0110, String(repeating: "y", count: 60_000))], nil)?.unicodeScalars.count == 128)
    }

    // MARK: Containers

    private static let size = PixelSize(width: 64, height: 48)
    private static let packet = MetadataMaker.packet(
        "xmp:Rating=\"4\" exif:DateTimeOriginal=\"2019-06-12T14:33:05+02:00\"",
        MetadataMaker.alternatives([("x-default", "At the lake")]))

    private func expectFacts(_ picture: [UInt8], _ source: CameraDate.Source = .xmp) throws {
        let converted = try convertHere(picture, TemporaryFolder("facts"))
        #expect(converted.facts.taken == CameraDate(clock: 1_560_349_985_000, offset: 120, source: source))
        #expect(converted.facts.caption == "At the lake")
        #expect(converted.facts.rating == (source == .xmp ? 4 : nil))
    }

    @Test func everyContainerIsLookedInto() throws {
        let packet = Self.packet
        try expectFacts(MetadataMaker.jpeg(Self.size, xmp: packet))
        try expectFacts(MetadataMaker.webp(Self.size, xmp: packet))
        try expectFacts(MetadataMaker.gif(Self.size, xmp: packet))
        try expectFacts(
            MetadataMaker.tiff(Self.size, [.init(tag: 700, type: 1, count: UInt32(packet.count), data: packet)]))
        let keyword = Array("XML:com.adobe.xmp\0".utf8)
        try expectFacts(MetadataMaker.png(Self.size, "iTXt", keyword + [0, 0, 0, 0] + packet))
        let deflated = try #require(Self.deflated(packet))
        try expectFacts(MetadataMaker.png(Self.size, "iTXt", keyword + [1, 0] + Array("de\0XMP\0".utf8) + deflated))
        let wide = String(decoding: packet, as: UTF8.self).utf16.flatMap { ExifMaker.bytes16(Int($0)) }
        try expectFacts(
            MetadataMaker.tiff(Self.size, [.init(tag: 700, type: 1, count: UInt32(wide.count), data: wide)]))

        let iptc = MetadataMaker.iptc([(55, "20190612"), (60, "143305+0200"), (120, "At the lake")])
        try expectFacts(MetadataMaker.jpeg(Self.size, iptc: iptc), .iptc)
        let padded = iptc + [UInt8](repeating: 0, count: 4 - iptc.count % 4)
        try expectFacts(
            MetadataMaker.tiff(Self.size, [.init(tag: 33723, type: 4, count: UInt32(padded.count / 4), data: padded)]),
            .iptc)
        let resources = MetadataMaker.resources(iptc)
        try expectFacts(
            MetadataMaker.tiff(
                Self.size, [.init(tag: 34377, type: 1, count: UInt32(resources.count), data: resources)]),
            .iptc)
        // From one segment to the next, wherever it ends.
        let parts = [resources.prefix(40), resources.dropFirst(40)].flatMap {
            MetadataMaker.segment(0xED, PhotoshopResources.segmentName + $0)
        }
        try expectFacts(MetadataMaker.jpeg(Self.size, more: parts), .iptc)
    }

    private static func deflated(_ bytes: [UInt8]) -> [UInt8]? {
        // Stored blocks: a header, lengths, the bytes, and Adler's sum.
        var (low, high) = (UInt32(1), UInt32(0))
        for byte in bytes {
            low = (low + UInt32(byte)) % 65_521
            high = (high + low) % 65_521
        }
        let count = UInt16(bytes.count)
        let lengths = [UInt8(count & 255), UInt8(count >> 8), UInt8(~count & 255), UInt8(~count >> 8)]
        return [0x78, 1, 1] + lengths + bytes + ExifMaker.bytes32(Int(high << 16 | low))
    }

    @Test func whatIsOverItsLimitIsNotRead() throws {
        let folder = try TemporaryFolder("limit")
        let blanks = [UInt8](repeating: 0x20, count: ImageLimits.xmpBytes + 1)
        #expect(blanks.withUnsafeBytes { EmbeddedMetadata.xmpPacket(ByteView($0)) } == nil)
        let records = MetadataMaker.iptc([(120, "x")]) + [UInt8](repeating: 0, count: ImageLimits.iptcBytes)
        #expect(records.withUnsafeBytes { EmbeddedMetadata.iptcRecords(ByteView($0)) } == nil)
        // UTF-16 that would be taken for it again once it is UTF-8.
        let twice: [UInt8] = [0xFF, 0xFE, 0x3C, 0, 0, 0, 0x61, 0, 0, 0, 0x62, 0, 0, 0, 0x63, 0, 0, 0, 0x64, 0]
        #expect(twice.withUnsafeBytes { EmbeddedMetadata.xmpPacket(ByteView($0)) } == nil)
        let noText = Array("XMP, perhaps".utf8)
        #expect(try convertHere(MetadataMaker.jpeg(Self.size, xmp: noText), folder).facts.taken == nil)
    }
}
