import Foundation
import ImageWorkerProtocol
import TestSupport
import Testing

@testable import PhotoConversion

/// Dates, captions and ratings that stand where fewer programs write them.
@Suite struct FactOrderTests {
    private static let size = PixelSize(width: 64, height: 48)

    /// Noon of such a day of June 2019.
    private static func noon(_ day: Int) -> Int64 { 1_559_390_400_000 + Int64(day - 1) * 86_400_000 }

    private static func facts(
        _ main: [ExifMaker.Entry] = [], photo: [ExifMaker.Entry] = [], place: [ExifMaker.Entry] = [],
        xmp: String? = nil, iptc: [UInt8]? = nil
    ) -> PictureFacts {
        PictureFacts(
            EmbeddedMetadata(
                exif: ExifMaker.block(main: [.short(0x0112, 1)] + main, photo: photo, place: place),
                xmp: xmp.map { MetadataMaker.packet("", $0) }, iptc: iptc))
    }

    // MARK: Dates

    private static let satellites: [ExifMaker.Entry] = [
        .text(0x001D, "2019:06:06"), .fractions(0x0007, [(12, 1), (0, 1), (2500, 1000)]),
    ]
    private static let modified = [ExifMaker.Entry.text(0x0132, "2019:06:07 12:00:00"), .text(0x9010, "+01:00")]

    @Test func theLaterSourcesHaveAnOrderToo() {
        let digitized = MetadataMaker.iptc([(62, "20190605"), (63, "120000")])
        let xmp = "<exif:DateTimeDigitized>2019-06-04T12:00:00</exif:DateTimeDigitized>"
        let late = "<xmp:ModifyDate>2019-06-08T12:00:00</xmp:ModifyDate>"
        #expect(
            Self.facts(Self.modified, place: Self.satellites, xmp: xmp + late, iptc: digitized).taken
                == CameraDate(clock: Self.noon(4), offset: nil, source: .xmp))
        // A time without an offset has none.
        #expect(
            Self.facts(Self.modified, place: Self.satellites, xmp: late, iptc: digitized).taken
                == CameraDate(clock: Self.noon(5), offset: nil, source: .iptc))
        #expect(
            Self.facts(Self.modified, place: Self.satellites, xmp: late).taken
                == CameraDate(clock: Self.noon(6) + 2500, offset: 0, source: .gps))
        #expect(
            Self.facts(Self.modified, xmp: late).taken
                == CameraDate(clock: Self.noon(7), offset: 60, source: .modified))
        #expect(
            Self.facts(xmp: late).taken == CameraDate(clock: Self.noon(8), offset: nil, source: .modified))
        let stamp = "<exif:GPSTimeStamp>2019-06-09T12:00:00Z</exif:GPSTimeStamp>"
        #expect(Self.facts(xmp: late + stamp).taken == CameraDate(clock: Self.noon(9), offset: 0, source: .gps))
    }

    @Test func aSatellitesDayWithoutATimeIsADay() {
        let midnight = Self.noon(6) - 43_200_000
        for place in [
            Array(Self.satellites.prefix(1)), [Self.satellites[0], .fractions(0x0007, [(12, 1), (0, 0), (0, 1)])],
        ] {
            let taken = Self.facts(place: place).taken
            #expect(taken?.clock == midnight && taken?.offset == nil && taken?.source == .gps)
        }
        #expect(Self.facts(place: Array(Self.satellites.suffix(1))).taken == nil, "a time without a day")
    }

    /// As BYTE, as UNDEFINED, in the main directory, in directories whose entries are in no order, beside a link to nowhere.
    @Test func anyTypeAndDirectoryOfADateIsRead() {
        let text = Array("2019:06:01 12:00:00\0".utf8)
        let expected = CameraDate(clock: Self.noon(1), offset: nil, source: .exif)
        for type: UInt16 in [1, 2, 7] {
            let entry = ExifMaker.Entry(tag: 0x9003, type: type, count: UInt32(text.count), data: text)
            #expect(Self.facts(photo: [entry]).taken == expected)
            #expect(Self.facts(photo: [.short(0xA003, 1), entry, .text(0x9000, "0220")]).taken == expected)
            #expect(Self.facts([entry, .long(0x8769, 0)]).taken == expected)
        }
        #expect(Self.facts(photo: [.long(0x9003, 2019)]).taken == nil)
        // A maker's note is not looked into, and harms nothing.
        #expect(
            Self.facts(
                [.text(0x010F, "Canon")],
                photo: [
                    .undefined(0x927C, Array(repeating: 0xFF, count: 64)),
                    .text(0x9003, "2019:06:01 12:00:00"),
                ]
            ).taken == expected)
    }

    @Test func aSecondSegmentHasWhatTheFirstLacks() throws {
        let first = ExifMaker.block(main: [.text(0x010E, "From the first"), .text(0x0131, "Editor")])
        let second = ExifMaker.block(
            main: [.text(0x010E, "From the second"), .text(0x010F, "Maker"), .text(0x0110, "Model")],
            photo: [.text(0x9003, "2019:06:01 12:00:00")],
            place: [.text(1, "N"), .angle(2, 48, 30, 0), .text(3, "E"), .angle(4, 11, 0, 0)])
        let segment = MetadataMaker.segment(0xE1, EmbeddedMetadata.exifName + second)
        let found = metadata(of: try MetadataMaker.jpeg(Self.size, exif: first, more: segment))
        #expect(found.exif == first && found.furtherExif == [second])
        let facts = PictureFacts(found)
        #expect(facts.taken == CameraDate(clock: Self.noon(1), offset: nil, source: .exif))
        #expect(facts.caption == "From the first" && facts.camera == "Maker Model")
        #expect(facts.location == PicturePlace(latitude: 48.5, longitude: 11))
    }

    // MARK: Captions

    private static func wide(_ text: String, isBigEndian: Bool = false) -> [UInt8] {
        text.utf16.flatMap { isBigEndian ? [UInt8($0 >> 8), UInt8($0 & 255)] : [UInt8($0 & 255), UInt8($0 >> 8)] }
    }

    /// Each source counts where those before it have nothing, or a camera's words.
    @Test func captionsHaveAnOrder() {
        let camera = "OLYMPUS DIGITAL CAMERA  "
        func caption(_ first: Int, _ missing: String?) -> String? {
            func text(_ number: Int) -> String? { number < first ? missing : "Caption \(number)" }
            func byte(_ tag: UInt16, _ number: Int) -> [ExifMaker.Entry] {
                text(number).map { Self.wide($0 + "\0") }.map {
                    [.init(tag: tag, type: 1, count: UInt32($0.count), data: $0)]
                } ?? []
            }
            let comment = text(4).map {
                [ExifMaker.Entry.undefined(0x9286, Array("ASCII\0\0\0".utf8) + Array($0.utf8))]
            }
            let xmp =
                (text(1).map { MetadataMaker.alternatives([("x-default", $0)]) } ?? "")
                + (text(3).map { "<dc:title><rdf:Alt><rdf:li xml:lang='x-default'>\($0)</rdf:li></rdf:Alt></dc:title>" }
                    ?? "")
            var metadata = EmbeddedMetadata(
                exif: ExifMaker.block(
                    main: [.short(0x0112, 1)] + (text(0).map { [.text(0x010E, $0)] } ?? []) + byte(0x9C9C, 5)
                        + byte(0x9C9B, 6), photo: comment ?? []),
                xmp: MetadataMaker.packet("", xmp), iptc: text(2).map { MetadataMaker.iptc([(120, $0)]) })
            if let text = text(7) { metadata.texts.add("description", text) }
            return PictureFacts(metadata).caption
        }
        for missing in [nil, camera, "   "] {
            #expect((0...8).map { caption($0, missing) } == (0...7).map { "Caption \($0)" } + [nil])
        }
    }

    @Test(
        arguments: [
            ("ASCII\0\0\0", Array("At the lake\0\0".utf8)), ("ascii\0\0\0", Array("At the lake  ".utf8)),
            ("\0\0\0\0\0\0\0\0", Array("At the lake".utf8)), ("", Array("At the lake".utf8)),
            ("JIS\0\0\0\0\0", Array("At the lake".utf8)), ("UNICODE\0", Array("At the lake".utf8)),
            ("UNICODE\0", wide("At the lake", isBigEndian: true)), ("UNICODE\0", wide("At the lake")),
            ("UNICODE\0", wide("\u{FEFF}At the lake")), ("Unicode\0", wide("\u{FEFF}At the lake", isBigEndian: true)),
        ] as [(String, [UInt8])])
    func aCommentNamesItsCharacters(_ name: String, _ text: [UInt8]) {
        #expect(Self.facts(photo: [.undefined(0x9286, Array(name.utf8) + text)]).caption == "At the lake")
    }

    @Test func whatIsNoCommentIsNone() {
        for bytes in [
            Array("JIS\0\0\0\0\0\u{1B}$B$\"".utf8), Array("ASCII\0\0\0".utf8), Array("UNICODE\0\0".utf8), [0],
            Array("UNICODE\0".utf8) + Self.wide("     "),
        ] {
            #expect(Self.facts(photo: [.undefined(0x9286, bytes)]).caption == nil)
        }
    }

    @Test func textsInAnotherCharacterSetAreWindows() {
        let windows: [UInt8] = [0x84, 0x4B, 0xE4, 0x73, 0x65, 0x93, 0x20, 0x96, 0x20, 0x35, 0x20, 0x80]
        let text = "\u{201E}K\u{E4}se\u{201C} \u{2013} 5 \u{20AC}"
        let record = [0x1C, 2, 120, 0, UInt8(windows.count)] + windows
        #expect(Self.facts(iptc: record).caption == text)
        #expect(Self.facts([.init(tag: 0x010E, type: 2, count: UInt32(windows.count), data: windows)]).caption == text)
        let packet = MetadataMaker.packet("", "<dc:title>\u{E4}|</dc:title>")
        let bar = packet.firstIndex(of: UInt8(ascii: "|")) ?? 0
        let mixed = packet[..<bar] + windows + packet[(bar + 1)...]
        #expect(PictureFacts(EmbeddedMetadata(xmp: Array(mixed))).caption == "\u{E4}" + text)
        // What says that it is UTF-8 was cut within a character.
        let cut = Array("K\u{E4}se \u{E4}".utf8).dropLast()
        let named = [0x1C, 1, 90, 0, 3, 0x1B, 0x25, 0x47, 0x1C, 2, 120, 0, UInt8(cut.count)] + cut
        #expect(Self.facts(iptc: named).caption == "K\u{E4}se")
    }

    // MARK: Ratings

    @Test(
        arguments: [
            ([.short(0x4746, 5)], "", 5), ([.short(0x4749, 99)], "", 5), ([.short(0x4749, 75)], "", 4),
            ([.short(0x4749, 50)], "", 3), ([.short(0x4749, 25)], "", 2), ([.short(0x4749, 1)], "", 1),
            ([.short(0x4749, 0)], "", nil), ([.short(0x4746, 6)], "", nil), ([.short(0x4749, 101)], "", nil),
            ([.short(0x4746, 2)], "xmp:Rating='4'", 4), ([.short(0x4746, 2)], "xmp:Rating='0'", 2),
            ([.short(0x4746, 0)], "", 0), ([], "m:Rating='75' xmlns:m='http://ns.microsoft.com/photo/1.0/'", 4),
            ([.short(0x4746, 2)], "m:Rating='75' xmlns:m='http://ns.microsoft.com/photo/1.0/'", 2),
        ] as [([ExifMaker.Entry], String, Int?)])
    func starsAreWhereWindowsWritesThem(_ main: [ExifMaker.Entry], _ attributes: String, _ stars: Int?) {
        let block = ExifMaker.block(main: [.short(0x0112, 1)] + main)
        #expect(PictureFacts(EmbeddedMetadata(exif: block, xmp: MetadataMaker.packet(attributes))).rating == stars)
    }

    // MARK: Packets

    @Test func onePropertyThatStandsTwiceCostsNoOther() {
        let twice = "<xmp:CreateDate>2019-06-01T12:00:00</xmp:CreateDate><xmp:CreateDate>2019-06-02</xmp:CreateDate>"
        let facts = Self.facts(xmp: twice + "<xmp:Rating>3</xmp:Rating><my:Story>x</my:Story><my:Story>y</my:Story>")
        #expect(facts.taken?.clock == Self.noon(1) && facts.rating == 3)
        // What is too long to be a fact goes past, and is not read.
        let long = "<dc:title>\(String(repeating: "x", count: 1 << 20))</dc:title><xmp:Rating>3</xmp:Rating>"
        #expect(Self.facts(xmp: long).rating == 3 && Self.facts(xmp: long).caption == nil)
        // A prefix that means something else.
        let other = MetadataMaker.packet("xmlns:photoshop='other' photoshop:DateCreated='2019-06-01'")
        #expect(PictureFacts(EmbeddedMetadata(xmp: other)).taken == nil)
    }
}
