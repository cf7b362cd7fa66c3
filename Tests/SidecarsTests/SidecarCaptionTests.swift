import Foundation
import Testing

@testable import Sidecars

/// Captions of XMP: the description, or else the title, and in which letters they are.
struct SidecarCaptionTests {
    private func facts(_ attributes: String, named name: String = "x.jpg.xmp") throws -> SidecarFacts {
        try SidecarFacts(Data(xmp(attributes).utf8), named: name, now: now)
    }

    @Test func theDescriptionGoesBeforeTheTitle() throws {
        #expect(try facts(#"dc:title="Grandma" dc:description="At the lake""#).caption == "At the lake")
        let titled = try facts(#"dc:title="Grandma at the lake""#)
        #expect(titled.caption == "Grandma at the lake" && titled.title == "Grandma at the lake")
        #expect(try facts(#"dc:title="Grandma" dc:description=" ""#).caption == "Grandma")
    }

    @Test(arguments: [
        ("x.jpg", "x.jpg.xmp"), ("x", "x.jpg.xmp"), ("X.JPG", "x.jpg.xmp"), ("x", "x.xmp"), ("X.jpg", "x.xmp"),
        ("x.psd", "x.psd.xmp"), ("x.psd", "x.xmp"), ("x.y", "x.y.jpg.xmp"), ("IMG_1234.JPG", "Grandma.jpg.xmp"),
        ("IMG_1", "IMG_1 (2).jpg.xmp"), ("IMG_1", "IMG_1(2).jpg.xmp"), ("Cafe\u{301}", "CAF\u{C9}.jpg.xmp"),
    ]) func theNameOfAFileIsNoCaption(title: String, sidecar: String) throws {
        let facts = try facts(#"dc:title="\#(title)""#, named: sidecar)
        #expect(facts.caption == nil && facts.title == title)
        let described = try self.facts(#"dc:title="\#(title)" dc:description="\#(title)""#, named: sidecar)
        #expect(described.caption == title)
    }

    @Test(arguments: [
        ("Grandma, 5 p.m.", "x.jpg.xmp"), ("x-ray", "x.jpg.xmp"), ("Mr. X", "x.xmp"), ("2 (1)", "2.jpg.xmp"),
    ]) func otherTitlesAreCaptions(title: String, sidecar: String) throws {
        #expect(try facts(#"dc:title="\#(title)""#, named: sidecar).caption == title)
    }

    @Test func aTitleOfGooglesIsNoCaption() throws {
        let json = Data(#"{"title": "Grandma at the lake", "photoTakenTime": {"timestamp": "1"}}"#.utf8)
        #expect(try SidecarFacts(json, named: "x.jpg.json", now: now).caption == nil)
    }

    @Test func aDescriptionOfALaterSidecarGoesBeforeATitle() throws {
        let (title, other) = (try facts(#"dc:title="Grandma""#), try facts(#"dc:title="Grandpa""#))
        let description = try facts(#"dc:description="At the lake""#)
        #expect(title.merging(description).caption == "At the lake")
        #expect(description.merging(title).caption == "At the lake")
        #expect(title.merging(other).caption == "Grandma")
        #expect(title.merging(SidecarFacts()).caption == "Grandma")
        #expect(SidecarFacts().merging(title).merging(description).caption == "At the lake")
        #expect(title.merging(description).merging(try facts(#"dc:description="b""#)).caption == "At the lake")
    }

    private func caption(_ bytes: [UInt8], declaration: String) throws -> String? {
        let parts = xmp(#"dc:description="~""#).replacing("\u{FEFF}", with: "").split(separator: "~")
        #expect(parts.count == 2)
        let data = Data(declaration.utf8) + Data(parts[0].utf8) + Data(bytes) + Data(parts[1].utf8)
        return try SidecarFacts(data, named: "x.xmp", now: now).caption
    }

    @Test(arguments: [
        "", #"<?xml version="1.0" encoding="windows-1252"?>"#, #"<?xml version="1.0" encoding="ISO-8859-1"?>"#,
        #"<?xml version="1.0" encoding="us-ascii"?>"#, #"<?xml version='1.0' encoding='ANSI'?>"#,
    ]) func everyLetterOfWindows(declaration: String) throws {
        let signs = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8D}Ž\u{8F}\u{90}‘’“”•–—˜™š›œ\u{9D}žŸ"
        #expect(signs.unicodeScalars.count == 32)
        for (byte, scalar) in zip(0x80...0x9F, signs.unicodeScalars) {
            let expected = scalar.value < 0xA0 ? "ab" : "a\(scalar)b"
            #expect(try caption([0x61, UInt8(byte), 0x62], declaration: declaration) == expected, "\(byte)")
        }
        // A byte that is no letter does not make others of the rest.
        #expect(try caption([0x84, 0x81, 0xE4, 0x93], declaration: declaration) == "„ä“")
        let upper = (0xA1...0xFF).map { UInt8($0) }
        #expect(try caption(upper, declaration: declaration)?.unicodeScalars.map(\.value) == upper.map(UInt32.init))
    }

    @Test(.timeLimit(.minutes(1))) func aMebibyteOfText() throws {
        let room = SidecarLimits.bytes - 2_000
        for byte in [UInt8(0x84), 0x81, 0x61] {
            let found = try caption(Array(repeating: byte, count: room), declaration: "")
            #expect(found?.count == (byte == 0x81 ? nil : SidecarFacts.captionLength))
        }
        let places = String(repeating: "1,", count: room / 2)
        #expect(try facts("exif:GPSLatitude='\(places)' exif:GPSLongitude='1'").latitude == nil)
        let references = String(repeating: "S", count: room)
        #expect(
            try facts("exif:GPSLatitude='1' exif:GPSLatitudeRef='\(references)' exif:GPSLongitude='1'").latitude == nil)
        #expect(try facts("photoshop:SidecarForExtension='\(references)'").fileExtension?.count == 100)
        #expect(try facts("xmp:Rating='\(String(repeating: "9", count: room))'").rating == nil)
        #expect(try facts("dc:title='\(references)'").caption?.count == SidecarFacts.captionLength)
    }
}
