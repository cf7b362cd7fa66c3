import DateTexts
import Foundation
import Testing

@testable import Sidecars

/// A document with these attributes and elements in its description.
func xmp(_ attributes: String = "", _ elements: String = "") -> String {
    """
    <?xpacket begin="\u{FEFF}" id="W5M0MpCehiHzreSzNTczkc9d"?>
    <x:xmpmeta xmlns:x="adobe:ns:meta/">
     <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
      <rdf:Description rdf:about="" xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:xmp="http://ns.adobe.com/xap/1.0/"
        xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/" \(attributes)>
       \(elements)
      </rdf:Description>
     </rdf:RDF>
    </x:xmpmeta>
    <?xpacket end="w"?>
    """
}

struct XMPSidecarTests {
    private func facts(_ attributes: String = "", _ elements: String = "") throws -> SidecarFacts {
        try XMPSidecar(Data(xmp(attributes, elements).utf8), now: now).facts
    }

    private func wall(_ time: String, _ offset: Int? = nil, precision: DatePrecision = .second) throws -> CaptureTime {
        CaptureTime(milliseconds: try milliseconds(time), clock: .wall(offsetMinutes: offset), precision: precision)
    }

    @Test func attributesAndElementsSayTheSame() throws {
        var expected = SidecarFacts()
        expected.taken = try wall("2019-06-12T14:05:33Z", 120)
        expected.caption = "a & b"
        expected.rating = 4
        expected.latitude = 52.02
        expected.longitude = -12.5
        expected.title = "t"
        let attributes = """
            exif:DateTimeOriginal="2019-06-12T14:05:33+02:00" xmp:Rating='4' exif:GPSLatitude="52,1.2N"
            exif:GPSLongitude="12,30,0W" dc:description="a &amp; b" dc:title="t"
            """
        #expect(try facts(attributes) == expected)
        let elements = """
            <exif:DateTimeOriginal>2019-06-12T14:05:33+02:00</exif:DateTimeOriginal><xmp:Rating> 4 </xmp:Rating>
            <exif:GPSLatitude>52,1.2N</exif:GPSLatitude><exif:GPSLongitude>12,30,0W</exif:GPSLongitude>
            <dc:description><rdf:Alt><rdf:li xml:lang="x-default">a <![CDATA[& b]]></rdf:li></rdf:Alt></dc:description>
            <dc:title><rdf:Alt><rdf:li>t</rdf:li></rdf:Alt></dc:title>
            """
        #expect(try facts("", elements) == expected)
        let prefixes = """
            <e:DateTimeOriginal xmlns:e="http://ns.adobe.com/exif/1.0/">2019-06-12T14:05:33+02:00</e:DateTimeOriginal>
            <Rating xmlns="http://ns.adobe.com/xap/1.0/">4</Rating>
            """
        #expect(try facts("", prefixes).taken == expected.taken)
        #expect(try facts("", prefixes).rating == 4)
    }

    @Test func onlyPropertiesOfThePictureCount() throws {
        let inside = """
            <xmp:Thumbnails><rdf:Alt><rdf:li rdf:parseType="Resource">
            <xmp:CreateDate>2001-01-01</xmp:CreateDate></rdf:li>
            </rdf:Alt></xmp:Thumbnails><xmp:Ingredients><rdf:Description xmp:Rating="5"/><rdf:RDF><rdf:Description
            xmp:CreateDate="2001-01-01"/></rdf:RDF></xmp:Ingredients>
            """
        #expect(try facts("", inside) == SidecarFacts())
        // Of another namespace, and without one.
        #expect(
            try facts(#"Rating="5" dc:Rating="5""#, #"<dc:CreateDate>2001-01-01</dc:CreateDate>"#) == SidecarFacts())
    }

    @Test func theFirstDateThatIsOneCounts() throws {
        let (original, created, create) = (
            #"exif:DateTimeOriginal="2001-01-01T01:01:01""#, #"photoshop:DateCreated="2002-02-02T02:02:02""#,
            #"xmp:CreateDate="2003-03-03T03:03:03""#
        )
        #expect(try facts("\(create) \(created) \(original)").taken == wall("2001-01-01T01:01:01Z"))
        #expect(try facts("\(create) \(created)").taken == wall("2002-02-02T02:02:02Z"))
        #expect(try facts(create).taken == wall("2003-03-03T03:03:03Z"))
        for absurd in ["0000:00:00 00:00:00", "1904-01-01T00:00:00", "2026-01-03T00:00:00", "1799-12-31T00:00:00"] {
            #expect(try facts("\(create) exif:DateTimeOriginal='\(absurd)'").taken == wall("2003-03-03T03:03:03Z"))
        }
        // A day is made exact by a time of that day, and by none of another.
        #expect(try facts(#"exif:DateTimeOriginal="2003-03-03" \#(create)"#).taken == wall("2003-03-03T03:03:03Z"))
        #expect(
            try facts(#"exif:DateTimeOriginal="2003-03-04" \#(create)"#).taken
                == wall("2003-03-04T00:00:00Z", precision: .day))
    }

    @Test func anEarlierSidecarGoesFirst() throws {
        let (edited, takeout) = (
            Data(xmp(#"xmp:CreateDate="2019-06-12" xmp:Rating="3""#).utf8),
            Data(
                #"{"photoTakenTime": {"timestamp": 1}, "description": "a", "geoData": {"latitude": 1, "longitude": 0}}"#
                    .utf8)
        )
        let first = try SidecarFacts(edited, named: "x.xmp", now: now)
        let second = try SidecarFacts(takeout, named: "x.jpg.JSON", now: now)
        #expect(throws: SidecarError.notTakeout) { try SidecarFacts(Data("{}".utf8), named: "x.json", now: now) }
        var merged = first
        merged.caption = "a"
        merged.latitude = 1
        merged.longitude = 0
        #expect(first.merging(second) == merged)
        #expect(second.merging(first).taken == CaptureTime(milliseconds: 1000, clock: .universal))
        #expect(second.merging(first).rating == 3)
    }

    @Test func ratings() throws {
        for (text, rating) in [
            ("0", 0), ("5", 5), ("4.0", 4), ("-1", nil), ("6", nil), ("nan", nil), ("", nil), ("x", nil),
        ]
            as [(String, Int?)]
        {
            #expect(try facts(#"xmp:Rating="\#(text)""#).rating == rating, "\(text)")
        }
    }

    @Test func places() throws {
        func place(_ latitude: String, _ longitude: String) throws -> [Double?] {
            let facts = try facts(#"exif:GPSLatitude="\#(latitude)" exif:GPSLongitude="\#(longitude)""#)
            return [facts.latitude, facts.longitude]
        }
        #expect(try place("48,30S", "11,0,36E") == [-48.5, 11.01])
        #expect(try place("-48.5", "11.01") == [-48.5, 11.01])
        for (latitude, longitude) in [
            ("0,0N", "0,0E"), ("91,0N", "0,0E"), ("48,60N", "11,0E"), ("48,-1N", "11,0E"), ("48,,0N", "11,0E"),
            ("48,1,1,1N", "11,0E"), ("N", "E"), ("nan", "inf"), ("-48,30S", "11,0E"), ("48,30E", "11,0N"),
        ] {
            #expect(try place(latitude, longitude) == [nil, nil], "\(latitude) \(longitude)")
        }
    }

    @Test func theDefaultLanguageIsTheCaption() throws {
        func caption(_ items: String) throws -> String? {
            try facts("", "<dc:description><rdf:Alt>\(items)</rdf:Alt></dc:description>").caption
        }
        let (german, plain) = (#"<rdf:li xml:lang="de">See</rdf:li>"#, #"<rdf:li xml:lang="x-default">Lake</rdf:li>"#)
        #expect(try caption(german + plain) == "Lake")
        #expect(try caption(plain + german) == "Lake")
        #expect(try caption(german) == "See")
        #expect(try caption(german + #"<rdf:li xml:lang="x-default">   </rdf:li>"#) == "See")
        #expect(try caption("<rdf:li>a&#10;b&#x9;&#127; c</rdf:li>") == "a b  c")
        #expect(try facts("", "<dc:description>Sea</dc:description>").caption == "Sea")
        #expect(try facts(#"dc:description="\#(String(repeating: "x", count: 3_000))""#).caption?.count == 2_000)
    }

    @Test func encodings() throws {
        let text = xmp(#"dc:description="Aimé – 5""#)
        let units = Array(text.utf16)
        let little = units.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let big = units.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        for bytes in [
            Array(text.utf8), [0xEF, 0xBB, 0xBF] + Array(text.utf8), [0xFF, 0xFE] + little, [0xFE, 0xFF] + big, little,
            big,
            Array((#"<?xml version="1.0" encoding="UTF-8"?>"# + text).utf8),
        ] {
            #expect(try XMPSidecar(Data(bytes), now: now).facts.caption == "Aimé – 5")
        }
        // 0x96 is a dash in Windows-1252, 0x81 nothing.
        let plain = Array(xmp(#"dc:description="Aim# 5""#).replacing("\u{FEFF}", with: "").utf8)
        for declaration in [
            "", #"<?xml version='1.0' encoding='ISO-8859-1' ?>"#, #"<?xml encoding = "windows-1252"?>"#,
        ] {
            let bytes = Array(declaration.utf8) + plain.flatMap { $0 == UInt8(ascii: "#") ? [0xE9, 0x20, 0x96] : [$0] }
            // The `#` of the namespace is one too, so the document is not RDF any more where it is replaced.
            let repaired = bytes.split(
                separator: Array("syntax-ns".utf8) + [0xE9, 0x20, 0x96], omittingEmptySubsequences: false
            )
            .joined(separator: Array("syntax-ns#".utf8))
            #expect(try XMPSidecar(Data(repaired), now: now).facts.caption == "Aimé – 5", "\(declaration)")
        }
        func error(_ bytes: [UInt8]) -> SidecarError? {
            do throws(SidecarError) {
                _ = try XMPSidecar(Data(bytes), now: now)
                return nil
            } catch { return error }
        }
        #expect(error(Array((#"<?xml encoding="Shift_JIS"?>"# + text).utf8)) == .unknownEncoding("shift_jis"))
        #expect(error(Array(#"<?xml encoding="UTF-8"?><a>"#.utf8) + [0xE9]) == .notText(encoding: "UTF-8"))
        #expect(error([0xEF, 0xBB, 0xBF, 0x3C, 0xE9]) == .notText(encoding: "UTF-8"))
        #expect(error([0xFF, 0xFE, 0x3C]) == .notText(encoding: "UTF-16"))
    }
}
