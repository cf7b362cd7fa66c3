import Foundation
import ImageWorkerProtocol
import TestSupport
import Testing

@testable import PhotoConversion

/// What a reduced photo carries of XMP and IPTC, and what it says of itself.
@Suite struct CarriedMetadataTests {
    private static let size = PixelSize(width: 3000, height: 2000)

    /// The metadata of a converted picture.
    private func carried(_ picture: some Sequence<UInt8>) throws -> EmbeddedMetadata {
        let folder = try TemporaryFolder("carried")
        let converted = try convertHere(picture, folder)
        #expect(!converted.keptOriginal)
        _ = try Pictures.look(atJPEG: folder.file("photo"))
        return metadata(of: try folder.bytes("photo"))
    }

    private func text(_ bytes: [UInt8]?) -> String { String(decoding: bytes ?? [], as: UTF8.self) }

    @Test func itSaysWhatThePictureHasBecome() throws {
        let packet = MetadataMaker.packet(
            "tiff:Orientation=\"6\" exif:PixelXDimension='3000' my:Orientation=\"6\"",
            """
            <tiff:ImageWidth>3000</tiff:ImageWidth><tiff:ImageLength>2000</tiff:ImageLength>
            <exif:PixelYDimension my:x="1">2000</exif:PixelYDimension><dc:title>Ünïcode &amp; more</dc:title>
            """, padding: 2000)
        let exif = ExifMaker.block(orientation: 6)
        let found = try carried(
            MetadataMaker.jpeg(Self.size, exif: exif, xmp: packet, iptc: [0x1C, 2, 120, 0, 1, 0x61]))
        var expected = String(decoding: packet, as: UTF8.self)
        for (old, new) in [
            ("tiff:Orientation=\"6\"", "tiff:Orientation=\"1\""),
            ("exif:PixelXDimension='3000'", "exif:PixelXDimension='1365'"),
            ("ImageWidth>3000<", "ImageWidth>1365<"), ("ImageLength>2000<", "ImageLength>2048<"),
            ("\"1\">2000</exif", "\"1\">2048</exif"),
        ] {
            #expect(expected.contains(old))
            expected = expected.replacing(old, with: new)
        }
        #expect(text(found.xmp) == expected)
        #expect(found.iptc == [0x1C, 2, 120, 0, 1, 0x61])
        #expect(found.exif.flatMap(ExifBlock.init)?.orientation == .upright)
    }

    @Test func whatCannotBeMadeTrueGoes() throws {
        let packet = MetadataMaker.packet(
            "", "<tiff:Orientation><![CDATA[6]]></tiff:Orientation><tiff:ImageWidth/><xmp:Rating>3</xmp:Rating>")
        let found = text(try carried(MetadataMaker.jpeg(Self.size, xmp: packet)).xmp)
        #expect(!found.contains("Orientation") && !found.contains("ImageWidth") && found.contains("<xmp:Rating>3<"))
        // Parts that stood behind the picture are no more.
        let motion = MetadataMaker.packet(
            "xmlns:c='http://ns.google.com/photos/1.0/camera/' c:MicroVideo='1' c:MotionPhoto='1' "
                + "xmlns:n='http://ns.adobe.com/xmp/note/' n:HasExtendedXMP='0123'")
        let still = text(try carried(MetadataMaker.jpeg(Self.size, xmp: motion)).xmp)
        #expect(
            still.contains("c:MicroVideo='0'") && still.contains("c:MotionPhoto='0'") && !still.contains("HasExtended"))
    }

    @Test func whatIsNotWellFormedStaysAsItIs() throws {
        let broken = Array("<x:xmpmeta><rdf:RDF tiff:Orientation='6'></x:xmpmeta>".utf8)
        #expect(try carried(MetadataMaker.jpeg(Self.size, xmp: broken)).xmp == broken)
        // Not even its padding is taken for one.
        let long = broken + [UInt8](repeating: 0x20, count: 65_503) + Array("<?xpacket end='w'?>".utf8)
        #expect(try carried(MetadataMaker.webp(Self.size, xmp: long)).xmp == nil, "no segment holds it")
        // Whatever stands behind a packet's end is none of its padding.
        let tail = MetadataMaker.packet("xmp:Rating='1'", "<my:Story>\(Self.longText)</my:Story>") + [0x78]
        #expect(XMPPacket(tail) == nil && XMPSegments(tail, extension: nil) == nil)
    }

    @Test func longRecordsGoOnInTheNextSegment() throws {
        let long = MetadataMaker.iptc(
            (0..<30).map { (25, String(repeating: "\($0)", count: 5000)) } + [(120, "The end")])
        #expect(long.count > 200_000)
        let parts = PhotoshopResources.segments(iptc: long)
        #expect(parts.count == 4 && parts.allSatisfy { $0.bytes.count <= JPEGSegment.mostBytes })
        let more = parts.flatMap { MetadataMaker.segment($0.marker, $0.bytes) }
        let found = try carried(MetadataMaker.jpeg(Self.size, more: more))
        #expect(found.iptc == long)
        #expect(PictureFacts(found).caption == "The end")
    }

    // MARK: Packets of two parts

    private static let longText = String(repeating: "A long story. ", count: 9000)

    @Test func aLongPacketIsTakenApartAndPutTogetherAgain() throws {
        let packet = MetadataMaker.packet(
            "xmp:Rating=\"4\" tiff:Orientation=\"6\" my:Short=\"s\" my:Data='\(Self.longText)'",
            "<my:Story xml:lang='en'>\(Self.longText)</my:Story><my:List><rdf:Bag><rdf:li>one</rdf:li></rdf:Bag></my:List>"
                + MetadataMaker.alternatives([("x-default", "At the lake")]), padding: 5000)
        let source = try MetadataMaker.webp(Self.size, xmp: packet)
        let found = try carried(source)
        let standard = try #require(found.xmp.flatMap(XMPPacket.init))
        let rest = try #require(found.extendedXMP.flatMap(XMPPacket.init))
        #expect(standard.bytes.count <= 65_502 && rest.bytes.count > 252_000)
        #expect(standard.text(.note, "HasExtendedXMP").map { Array($0.utf8) } == XMPSegments.digest(rest.bytes))
        #expect(standard.text(.tiff, "Orientation") == "1")
        #expect(PictureFacts(found).rating == 4 && PictureFacts(found).caption == "At the lake")
        #expect(rest.properties.map(\.isAttribute) == [true, false])
        #expect(rest.bytes[rest.properties[0].value ?? 0..<0].elementsEqual(Self.longText.utf8))
        #expect(text(rest.bytes).contains("<my:Story xml:lang='en'>A long"))
        #expect(text(rest.bytes).contains("xmlns:my=\"http://example.org/mine/\""))
        #expect(standard.properties.count + rest.properties.count == 8)
    }

    @Test func paddingAloneIsNoReasonToTakeItApart() throws {
        let packet = MetadataMaker.packet("xmp:Rating=\"4\"", "", padding: 70_000)
        let found = try carried(MetadataMaker.webp(Self.size, xmp: packet))
        #expect(found.extendedXMP == nil)
        #expect(text(found.xmp).hasSuffix("</x:xmpmeta><?xpacket end=\"w\"?>"))
    }

    @Test func aPacketOfTwoPartsIsCarriedInTwo() throws {
        let rest = MetadataMaker.packet(
            "", "<my:Story>\(Self.longText)</my:Story><tiff:ImageWidth>3000</tiff:ImageWidth>")
        let digest = String(repeating: "0123456789ABCDEF", count: 2)
        let first = MetadataMaker.packet("xmlns:note='http://ns.adobe.com/xmp/note/' note:HasExtendedXMP=\"\(digest)\"")
        var parts = MetadataMaker.extended(rest, digest: digest, length: 50_000)
        // In any order, one of them twice, and one of somebody else's.
        parts.swapAt(0, 2)
        parts.append(parts[1])
        parts += MetadataMaker.extended([1, 2, 3], digest: String(repeating: "F", count: 32), length: 50_000)
        let source = try MetadataMaker.jpeg(Self.size, xmp: first, more: parts.flatMap { $0 })
        #expect(metadata(of: source).extendedXMP == rest)
        let found = try carried(source)
        #expect(text(found.extendedXMP) == text(rest).replacing("ImageWidth>3000", with: "ImageWidth>2048"))
        // Its digest is another now.
        let expected = XMPSegments.digest(try #require(found.extendedXMP))
        #expect(text(found.xmp) == text(first).replacing(digest, with: text(expected)))

        for missing in [0, 1, 2] {
            var fewer = MetadataMaker.extended(rest, digest: digest, length: 50_000)
            fewer.remove(at: missing)
            let cut = try MetadataMaker.jpeg(Self.size, xmp: first, more: fewer.flatMap { $0 })
            #expect(metadata(of: cut).extendedXMP == nil, "with a gap")
        }
    }

    @Test func anyLengthNearTheSegmentsIsCarriedWhole() throws {
        let empty = MetadataMaker.packet("", "<my:Story></my:Story><my:Other>o</my:Other>").count
        for length in 65_380...65_620 {
            let story = String(repeating: "x", count: length - empty)
            let packet = MetadataMaker.packet("", "<my:Story>\(story)</my:Story><my:Other>o</my:Other>")
            let segments = try #require(XMPSegments(packet, extension: nil)?.segments)
            #expect((segments.count == 1) == (length <= 65_502), "\(length)")
            #expect(segments.allSatisfy { $0.bytes.count <= JPEGSegment.mostBytes })
            if let only = segments.first, segments.count == 1 {
                #expect(only.bytes == XMPSegments.standardName + packet)
            }
        }
    }
}
