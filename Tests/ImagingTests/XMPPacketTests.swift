import Foundation
import ImageWorkerProtocol
import Testing

@testable import PhotoConversion

/// What is found in a packet, and that nothing in one does harm.
@Suite struct XMPPacketTests {
    private func date(_ text: String) -> String? {
        XMPPacket(Array(text.utf8))?.text(.photoshop, "DateCreated")
    }

    private static let rdf = "xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#'"
    private static let photoshop = "http://ns.adobe.com/photoshop/1.0/"

    @Test func prefixesMeanWhatThePacketSays() {
        let (rdf, photoshop) = (Self.rdf, Self.photoshop)
        #expect(date("<r:RDF \(rdf)><r:Description xmlns:p='\(photoshop)' p:DateCreated='1'/></r:RDF>") == "1")
        #expect(
            date(
                "<r:RDF \(rdf)><r:Description><DateCreated xmlns='\(photoshop)'>2</DateCreated></r:Description></r:RDF>"
            )
                == "2")
        #expect(
            date("<r:RDF \(rdf)><r:Description xmlns:p='other' p:DateCreated='3'/></r:RDF>") == nil, "another's name")
        #expect(
            date("<r:RDF \(rdf) xmlns:p='\(photoshop)'><r:Description xmlns:p='other' p:DateCreated='3'/></r:RDF>")
                == nil)
        // A declaration ends with its element.
        #expect(
            date(
                "<r:RDF \(rdf)><r:Description xmlns:p='\(photoshop)'/><r:Description p:DateCreated='4'/></r:RDF>")
                == nil)
        #expect(
            date(
                """
                <?xml version='1.0'?><!-- <r:RDF> --><a><r:RDF \(rdf)><r:Description xmlns:p='\(photoshop)'>
                <p:DateCreated > 5 </p:DateCreated ><p:DateCreated>6</p:DateCreated></r:Description></r:RDF></a>\0\0
                """) == " 5 ")
        #expect(
            date(
                "<r:RDF \(rdf)><r:Description xmlns:p='\(photoshop)'><p:DateCreated><![CDATA[7]]></p:DateCreated>"
                    + "</r:Description></r:RDF>") == nil)
    }

    @Test(arguments: [
        "", " ", "x", "<", "<a", "<a>", "<a></b>", "</a>", "<a/><b/>", "<a b=c/>", "<a b='c/>", "<a b/>", "<a b='<'/>",
        "<a b='1'c='2'/>", "<!DOCTYPE a [<!ENTITY e 'x'>]><a>&e;</a>", "<a/>text", "<a><![CDATA[</a>", "<a><!-- </a>",
        "<?xpacket", "<a / >", "< a/>", "<a></a", "<a/", "<a b='1' /", "<a><",
    ])
    func whatIsNotWellFormedIsNone(_ text: String) {
        #expect(XMPPacket(Array(text.utf8)) == nil)
    }

    /// More than any program writes: depth, names, properties.
    @Test func itsMemoryIsBounded() {
        func packet(_ content: String) -> XMPPacket? {
            XMPPacket(Array("<r:RDF \(Self.rdf)><r:Description>\(content)</r:Description></r:RDF>".utf8))
        }
        func many(_ count: Int, _ text: (Int) -> String) -> String { (0..<count).map(text).joined() }
        #expect(packet(many(60) { _ in "<a>" } + many(60) { _ in "</a>" }) != nil)
        #expect(packet(many(70) { _ in "<a>" } + many(70) { _ in "</a>" }) == nil)
        #expect(packet(many(4096) { _ in "<a/>" })?.properties.count == 4096)
        #expect(packet(many(4097) { _ in "<a/>" }) == nil)
        #expect(packet("<a \(many(120) { "xmlns:n\($0)='x' " })/>") != nil)
        #expect(packet("<a \(many(130) { "xmlns:n\($0)='x' " })/>") == nil)
        #expect(packet("<a \(many(5000) { "n\($0)='x' " })/>") == nil)
    }

    @Test func noPacketIsBrokenEnoughToTrap() {
        let whole = MetadataMaker.packet(
            "xmp:Rating='4' tiff:Orientation='6'",
            MetadataMaker.alternatives([("de", "Am &#x53;ee"), ("x-default", "At the lake")])
                + "<exif:PixelXDimension>4000</exif:PixelXDimension><my:Odd><![CDATA[<x>]]></my:Odd><!-- no -->")
        let pieces = ["<", ">", "/", "\"", "'", "&", "=", "<!--", "]]>", "<?", "rdf:li", "xmlns:", "</", "/>", "\u{0}"]
        var generator = Seeded(state: 11)
        var read = 0
        for _ in 0..<4000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let start = Int.random(in: 0..<bytes.count, using: &generator)
                let end = min(bytes.count, start + Int.random(in: 0...20, using: &generator))
                let piece = pieces.randomElement(using: &generator) ?? ""
                bytes.replaceSubrange(start..<end, with: Array(piece.utf8))
            }
            let metadata = EmbeddedMetadata(xmp: bytes, iptc: bytes)
            _ = PictureFacts(metadata)
            if let packet = XMPPacket(bytes) {
                read += 1
                for property in packet.properties {
                    #expect(property.span.upperBound <= bytes.count && property.span.contains(property.name.lowerBound))
                }
            }
            for segment in CarriedMetadata(metadata, upright: PixelSize(width: 10, height: 10)).segments {
                #expect(segment.bytes.count <= JPEGSegment.mostBytes)
            }
        }
        #expect((200..<3900).contains(read), "\(read) were well-formed")
    }

    @Test func recordsAreReadToTheirEnd() {
        let records = MetadataMaker.iptc([(5, "title"), (120, "caption"), (120, "second"), (55, "20190612")])
        #expect(IPTCRecord(records).caption == "caption")
        for count in 0..<records.count { _ = IPTCRecord(Array(records.prefix(count))).created }
        #expect(IPTCRecord(Array(records.dropLast())).created == nil, "a record that is cut")
        // A length of a length, and one that is longer than a number.
        #expect(IPTCRecord([0x1C, 2, 120, 0x80, 2, 0, 1, 0x61]).caption == "a")
        #expect(IPTCRecord([0x1C, 2, 120, 0xFF, 0xFF, 0, 1, 0x61]).caption == nil)
        #expect(IPTCRecord([0x1C, 2, 120, 0x80, 4, 0xFF, 0xFF, 0xFF, 0xFF]).caption == nil)
    }
}
