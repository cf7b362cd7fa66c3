import Foundation
import ImageWorkerProtocol
import TestSupport
import Testing

@testable import Imaging
@testable import PhotoConversion

/// A JPEG with a map of its highlights behind it (Ultra HDR): the picture is shown, and the map is nobody's second picture.
@Suite struct GainMapTests {
    private static let announced =
        "xmlns:hdrgm='http://ns.adobe.com/hdr-gain-map/1.0/' hdrgm:Version='1.0' xmp:Rating='3'"

    private static func directory(_ length: Int) -> String {
        """
        <Container:Directory xmlns:Container="http://ns.google.com/photos/1.0/container/" \
        xmlns:Item="http://ns.google.com/photos/1.0/container/item/"><rdf:Seq>\
        <rdf:li rdf:parseType="Resource"><Container:Item Item:Semantic="Primary" Item:Mime="image/jpeg"/></rdf:li>\
        <rdf:li rdf:parseType="Resource"><Container:Item Item:Semantic="GainMap" Item:Mime="image/jpeg" \
        Item:Length="\(length)"/></rdf:li></rdf:Seq></Container:Directory><dc:title>By the sea</dc:title>
        """
    }

    /// As Android writes it: the picture, an index of both (MPF), and the map with its own figures.
    private static func file(_ size: PixelSize) throws -> [UInt8] {
        let figures = MetadataMaker.packet(
            "xmlns:hdrgm='http://ns.adobe.com/hdr-gain-map/1.0/' hdrgm:Version='1.0' hdrgm:GainMapMax='3' "
                + "hdrgm:HDRCapacityMax='3'")

        let map = try MetadataMaker.jpeg(PixelSize(width: 64, height: 64), xmp: figures)
        let index =
            Array("MPF\0MM\0*".utf8) + ExifMaker.bytes32(8) + ExifMaker.bytes16(1) + ExifMaker.bytes16(0xB001)
            + ExifMaker.bytes16(4) + ExifMaker.bytes32(1) + ExifMaker.bytes32(2) + ExifMaker.bytes32(0)
        return try MetadataMaker.jpeg(
            size, xmp: MetadataMaker.packet(announced, directory(map.count)),
            more: MetadataMaker.segment(0xE2, index)) + map
    }

    @Test func aSmallOneStaysByteForByte() throws {
        let folder = try TemporaryFolder("gain-map")
        let source = try Self.file(PixelSize(width: 640, height: 480))
        let converted = try convertHere(source, folder)
        #expect(converted.keptOriginal && converted.facts.film == nil && converted.facts.rating == 3)
        #expect(try folder.bytes("photo") == Data(source))
        let seen = try Pictures.look(atJPEG: folder.file("thumbnail"))
        #expect(Pictures.difference(seen.quadrants, Pictures.quadrants) <= 12, "\(seen.quadrants)")
    }

    @Test func aCopyDoesNotAnnounceWhatItHasNot() throws {
        let folder = try TemporaryFolder("gain-map")
        let converted = try convertHere(Self.file(PixelSize(width: 3_000, height: 2_000)), folder)
        #expect(!converted.keptOriginal && converted.width == 2_048 && converted.facts.film == nil)
        #expect(converted.facts.caption == "By the sea" && converted.facts.rating == 3)
        let shown = try folder.bytes("photo")
        for text in ["hdrgm:Version", "Container:Directory", "GainMap", "MPF\0"] {
            #expect(shown.range(of: Data(text.utf8)) == nil, "\(text)")
        }
        #expect(shown.range(of: Data("By the sea".utf8)) != nil, "what else it says comes along")
        let seen = try Pictures.look(atJPEG: folder.file("photo"))
        #expect(Pictures.difference(seen.quadrants, Pictures.quadrants) <= 12, "\(seen.quadrants)")
    }
}
