import CCrypto
import ImageWorkerProtocol

/// A packet as segments of a JPEG: one, or one and an extension (XMP specification, part 3, 1.1.3).
///
/// What does not fit one segment is moved property by property, the longest first, into a second packet, which follows in
/// parts; the first one names it by its digest. A reader puts the two together again.
struct XMPSegments {
    static let standardName: [UInt8] = Array("http://ns.adobe.com/xap/1.0/\0".utf8)
    static let extensionName: [UInt8] = Array("http://ns.adobe.com/xmp/extension/\0".utf8)
    /// What a segment holds beside its name: 65,502 bytes of the first packet.
    static let mostStandardBytes = 65_502
    /// What the specification lets a part of the second have at most.
    static let mostPartBytes = 65_400

    private(set) var segments: [JPEGSegment] = []

    /// - Parameters:
    ///   - packet: well-formed, and corrected already.
    ///   - extension: the rest of it, where the source had two.
    /// - Returns: Nil where it is too long for a segment and cannot be taken apart.
    init?(_ packet: [UInt8], extension rest: [UInt8]?) {
        var (standard, moved) = (packet, rest)
        if standard.count > Self.mostStandardBytes - (rest == nil ? 0 : Self.noteRoom) {
            standard = Self.withoutPadding(standard)
        }
        if rest == nil, standard.count > Self.mostStandardBytes {
            guard let parts = Self.divided(standard) else { return nil }
            (standard, moved) = parts
        }
        if let moved {
            let digest = Self.digest(moved)
            guard let noted = Self.noting(digest, in: standard) else { return nil }
            standard = noted
            segments = stride(from: 0, to: moved.count, by: Self.mostPartBytes).map { start in
                let part = moved[start..<min(moved.count, start + Self.mostPartBytes)]
                let header = digest + Self.bytes32(moved.count) + Self.bytes32(start)
                return JPEGSegment(marker: 0xE1, bytes: Self.extensionName + header + part)
            }
        }
        guard standard.count <= Self.mostStandardBytes else { return nil }
        segments.insert(Self.standard(standard), at: 0)
    }

    /// - Parameter packet: of at most ``mostStandardBytes``.
    static func standard(_ packet: [UInt8]) -> JPEGSegment {
        JPEGSegment(marker: 0xE1, bytes: standardName + packet)
    }

    private static func bytes32(_ value: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    }

    /// MD5 in 32 upper-case hexadecimal digits, as the specification wants it. It keeps no secret: it tells which parts
    /// belong together.
    static func digest(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 16)
        var length: UInt32 = 0
        EVP_Digest(bytes, bytes.count, &digest, &length, EVP_md5(), nil)
        let digits = Array("0123456789ABCDEF".utf8)
        return digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }

    /// Without the white space that programs leave at a packet's end for later changes, 2 to 4 KB or much more.
    private static func withoutPadding(_ bytes: [UInt8]) -> [UInt8] {
        func isBlank(_ byte: UInt8) -> Bool { XMLScanner.isSpace(byte) || byte == 0 }
        guard let close = bytes.lastIndex(where: { !isBlank($0) }), bytes[close] == UInt8(ascii: ">") else {
            return bytes
        }
        // The last tag is the packet's own end, a processing instruction; before it is the padding.
        let end = bytes[..<close].lastIndex(of: UInt8(ascii: "<")) ?? close
        guard bytes[end...].starts(with: "<?xpacket".utf8) else { return bytes }
        let content = bytes[..<end].lastIndex { !isBlank($0) } ?? end
        return Array(bytes[...content]) + bytes[end...close]
    }

    // MARK: Naming the second packet

    /// `xmlns:xmpNote="…" xmpNote:HasExtendedXMP="…"` with the spaces before them.
    private static let noteRoom = 110

    /// The packet with the digest of its second part, where it has a place for it.
    private static func noting(_ digest: [UInt8], in bytes: [UInt8]) -> [UInt8]? {
        guard let packet = XMPPacket(bytes) else { return nil }
        if let old = packet.property(.note, "HasExtendedXMP") {
            guard let value = old.value else { return nil }
            return packet.edited([XMPPacket.Edit(range: value, replacement: digest)])
        }
        guard let description = packet.descriptions.first else { return nil }
        // A prefix that the packet has not given to anything yet.
        let taken = Set(packet.innermost(description.declarations).map(\.name))
        let prefix = ["xmpNote", "xmpNote1", "xmpNote2"].first { !taken.contains("xmlns:" + $0) }
        guard let prefix else { return nil }
        let note = " xmlns:\(prefix)=\"\(XMPPacket.Namespace.note.rawValue)\" \(prefix):HasExtendedXMP=\""
        return packet.edited([
            XMPPacket.Edit(
                range: description.attributes..<description.attributes,
                replacement: Array(note.utf8) + digest + [UInt8(ascii: "\"")])
        ])
    }

    // MARK: Taking apart

    /// The packet without its longest properties, and a packet of those.
    private static func divided(_ bytes: [UInt8]) -> (standard: [UInt8], moved: [UInt8])? {
        guard let packet = XMPPacket(bytes) else { return nil }
        var excess = bytes.count - (mostStandardBytes - noteRoom)
        var moved: [XMPPacket.Property] = []
        for property in packet.properties.sorted(by: { $0.span.count > $1.span.count }) {
            guard excess > 0 else { break }
            // What other packets are found by has to stay.
            if property.namespace == .note { continue }
            moved.append(property)
            excess -= property.span.count
        }
        guard excess <= 0 else { return nil }
        let standard = packet.edited(moved.map { XMPPacket.Edit(range: $0.span) })
        return second(packet, moved.sorted { $0.span.lowerBound < $1.span.lowerBound }).map { (standard, $0) }
    }

    /// A packet of some of another's properties, each in a description like the one that it comes from. Nil where the
    /// other one gives RDF's usual prefix to something else, which nobody does.
    private static func second(_ packet: XMPPacket, _ moved: [XMPPacket.Property]) -> [UInt8]? {
        let rdf = "xmlns:rdf=\"\(XMPPacket.Namespace.rdf.rawValue)\""
        var result = Array("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF \(rdf)>".utf8)
        for (index, description) in packet.descriptions.enumerated() {
            let own = moved.filter { $0.description == index }
            guard !own.isEmpty else { continue }
            result += Array("<rdf:Description rdf:about=".utf8) + packet.quotedValue(description.about)
            for declaration in packet.innermost(description.declarations) {
                let text = packet.bytes[declaration.span]
                if declaration.name == "xmlns:rdf" {
                    guard
                        text.dropLast().suffix(XMPPacket.Namespace.rdf.rawValue.utf8.count)
                            .elementsEqual(XMPPacket.Namespace.rdf.rawValue.utf8)
                    else { return nil }
                } else {
                    result += text
                }
            }
            for property in own where property.isAttribute { result += packet.bytes[property.span] }
            result.append(UInt8(ascii: ">"))
            for property in own where !property.isAttribute { result += packet.bytes[property.span] }
            result += Array("</rdf:Description>".utf8)
        }
        return result + Array("</rdf:RDF></x:xmpmeta>".utf8)
    }
}

extension XMPPacket {
    /// The value of an attribute with its quotes; an empty one where there is none.
    fileprivate func quotedValue(_ attribute: Range<Int>?) -> [UInt8] {
        guard let attribute, let equals = bytes[attribute].firstIndex(of: UInt8(ascii: "=")) else {
            return Array("\"\"".utf8)
        }
        return Array(bytes[(equals + 1)..<attribute.upperBound].drop(while: XMLScanner.isSpace))
    }

    /// Of declarations for the same prefix the one that holds, with its name.
    fileprivate func innermost(_ declarations: [Range<Int>]) -> [(name: String, span: Range<Int>)] {
        var seen: Set<String> = []
        return declarations.reversed().compactMap { span in
            let text = bytes[span].drop(while: XMLScanner.isSpace).prefix { $0 != UInt8(ascii: "=") }
            let name = String(decoding: text.prefix { !XMLScanner.isSpace($0) }, as: UTF8.self)
            return seen.insert(name).inserted ? (name, span) : nil
        }
    }
}
