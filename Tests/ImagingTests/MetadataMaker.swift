import Foundation
import Testing

@testable import PhotoConversion

/// XMP, IPTC and the containers around them, made to order.
enum MetadataMaker {
    /// An XMP packet with one description.
    /// - Parameters:
    ///   - attributes: of the description.
    ///   - elements: in it.
    static func packet(_ attributes: String = "", _ elements: String = "", padding: Int = 0) -> [UInt8] {
        let namespaces = [
            "xmp": "http://ns.adobe.com/xap/1.0/", "exif": "http://ns.adobe.com/exif/1.0/",
            "tiff": "http://ns.adobe.com/tiff/1.0/", "photoshop": "http://ns.adobe.com/photoshop/1.0/",
            "dc": "http://purl.org/dc/elements/1.1/", "my": "http://example.org/mine/",
        ].sorted { $0.key < $1.key }.map { "xmlns:\($0.key)=\"\($0.value)\"" }.joined(separator: " ")
        let text = """
            <?xpacket begin="\u{FEFF}" id="W5M0MpCehiHzreSzNTczkc9d"?>
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
            <rdf:Description rdf:about="" \(namespaces) \(attributes)>\(elements)</rdf:Description>
            </rdf:RDF></x:xmpmeta>\(String(repeating: " ", count: padding))<?xpacket end="w"?>
            """
        return Array(text.utf8)
    }

    static func alternatives(_ texts: [(language: String, text: String)]) -> String {
        "<dc:description><rdf:Alt>"
            + texts.map { "<rdf:li xml:lang=\"\($0.language)\">\($0.text)</rdf:li>" }.joined()
            + "</rdf:Alt></dc:description>"
    }

    /// IPTC's records, all of the second one.
    static func iptc(_ sets: [(UInt8, String)]) -> [UInt8] {
        sets.flatMap { number, text -> [UInt8] in
            let header: [UInt8] = [0x1C, 2, number, UInt8(text.utf8.count >> 8), UInt8(text.utf8.count & 255)]
            return header + Array(text.utf8)
        }
    }

    /// Photoshop's resources: one that is not read, then IPTC.
    static func resources(_ iptc: [UInt8]) -> [UInt8] {
        func block(_ number: Int, _ name: String, _ data: [UInt8]) -> [UInt8] {
            let named = [UInt8(name.utf8.count)] + Array(name.utf8)
            return Array("8BIM".utf8) + ExifMaker.bytes16(number) + named
                + [UInt8](repeating: 0, count: named.count % 2) + ExifMaker.bytes32(data.count) + data
                + [UInt8](repeating: 0, count: data.count % 2)
        }
        return block(0x03ED, "odd", [1, 2, 3]) + block(0x0404, "", iptc)
    }

    // MARK: Containers

    static func segment(_ marker: UInt8, _ bytes: [UInt8]) -> [UInt8] {
        [0xFF, marker] + ExifMaker.bytes16(bytes.count + 2) + bytes
    }

    static func jpeg(
        _ size: PixelSize, exif: [UInt8]? = nil, xmp: [UInt8]? = nil, iptc: [UInt8]? = nil, more: [UInt8] = []
    ) throws -> [UInt8] {
        let plain = Array(try Pictures.file(.jpeg, size))
        var segments: [UInt8] = []
        if let exif { segments += segment(0xE1, EmbeddedMetadata.exifName + exif) }
        if let xmp { segments += segment(0xE1, XMPSegments.standardName + xmp) }
        if let iptc { segments += segment(0xED, PhotoshopResources.segmentName + resources(iptc)) }
        return plain.prefix(2) + segments + more + plain.dropFirst(2)
    }

    /// The extension of a packet in segments of at most `length` bytes.
    static func extended(_ bytes: [UInt8], digest: String, length: Int) -> [[UInt8]] {
        stride(from: 0, to: bytes.count, by: length).map { start in
            segment(
                0xE1,
                XMPSegments.extensionName + Array(digest.utf8) + ExifMaker.bytes32(bytes.count)
                    + ExifMaker.bytes32(start) + bytes[start..<min(bytes.count, start + length)])
        }
    }

    /// The chunk goes behind the header; its sum is not looked at by what reads it here, and libpng passes over it.
    static func png(_ size: PixelSize, _ kind: String, _ data: [UInt8]) throws -> [UInt8] {
        let plain = Array(try Pictures.file(.png, size))
        let body = Array(kind.utf8) + data
        let chunk = ExifMaker.bytes32(data.count) + body + ExifMaker.bytes32(Int(checksum(body)))
        return plain.prefix(33) + chunk + plain.dropFirst(33)
    }

    /// PNG's, over kind and data.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var sum = UInt32.max
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        return ~sum
    }

    static func webp(_ size: PixelSize, xmp: [UInt8]) throws -> [UInt8] {
        func little(_ value: Int) -> [UInt8] { ExifMaker.bytes32(value).reversed() }
        let picture = Array(try Pictures.file(.webp, size).dropFirst(12))
        let canvas = little(size.width - 1).prefix(3) + little(size.height - 1).prefix(3)
        // The flag says that there is XMP.
        let header = Array("VP8X".utf8) + little(10) + [4, 0, 0, 0] + canvas
        let chunk = Array("XMP ".utf8) + little(xmp.count) + xmp + [UInt8](repeating: 0, count: xmp.count % 2)
        let body = Array("WEBP".utf8) + header + picture + chunk
        return Array("RIFF".utf8) + little(body.count) + body
    }

    static func gif(_ size: PixelSize, xmp: [UInt8]) throws -> [UInt8] {
        let plain = Array(try Pictures.file(.gif, size))
        let trailer = [1] + (0...255).reversed().map { UInt8($0) } + [0]
        return plain.dropLast() + [0x21, 0xFF, 11] + Array("XMP DataXMP".utf8) + xmp + trailer + [0x3B]
    }

    /// A big-endian TIFF in grey.
    static func tiff(_ size: PixelSize, _ tags: [ExifMaker.Entry]) -> [UInt8] {
        func block(strip: Int) -> [UInt8] {
            ExifMaker.block(
                main: [
                    .long(0x0100, size.width), .long(0x0101, size.height), .short(0x0102, 8), .short(0x0103, 1),
                    .short(0x0106, 1), .long(0x0111, strip), .short(0x0115, 1), .long(0x0116, size.height),
                    .long(0x0117, size.pixels),
                ] + tags)
        }
        return block(strip: block(strip: 0).count) + [UInt8](repeating: 0x80, count: size.pixels)
    }
}

/// What a JPEG carries.
func metadata(of jpeg: some Sequence<UInt8>) -> EmbeddedMetadata {
    Array(jpeg).withUnsafeBytes { EmbeddedMetadata(jpeg: ByteView($0)) }
}
