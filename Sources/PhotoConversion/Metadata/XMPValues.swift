import CExiv2

/// The properties of an XMP packet, taken apart by libexiv2.
final class XMPValues {
    /// What programs write that know of no UTF-8 is short; what is long is made of other things than texts.
    private static let mostMendedBytes = 1 << 20

    private let xmp: OpaquePointer

    /// Nil where it is no well-formed XMP.
    ///
    /// libexiv2 is given the part of it that is read here. A packet that holds a second picture would be in its memory nine
    /// times; it refuses all of one in which a single property stands twice; and it goes by prefixes, which mean whatever
    /// the packet says.
    convenience init?(_ bytes: [UInt8]) {
        let mended = bytes.count <= Self.mostMendedBytes ? EmbeddedText.mended(bytes) : bytes
        guard let packet = XMPPacket(mended) else { return nil }
        self.init(packet)
    }

    private init?(_ packet: XMPPacket) {
        var seen: Set<[UInt8]> = []
        let unread = packet.properties.filter { property in
            guard let namespace = property.namespace, property.span.count <= 2 * EmbeddedText.captionBytes else {
                return true
            }
            let name = Array(namespace.rawValue.utf8) + packet.bytes[property.name]
            return !seen.insert(name).inserted
        }
        let rest = packet.edited(unread.map { XMPPacket.Edit(range: $0.span) })
        guard let xmp = cexiv2_read_xmp(rest, rest.count) else { return nil }
        self.xmp = xmp
    }

    deinit { cexiv2_free_xmp(xmp) }

    /// A property's text: of a list the first one, of several languages that for any.
    /// - Parameter name: by libexiv2's prefix, as `dc.title`.
    func text(_ name: String, upTo limit: Int = 256) -> String? {
        var bytes: UnsafePointer<UInt8>?
        var length = 0
        guard cexiv2_find_property(xmp, "Xmp." + name, &bytes, &length) else { return nil }
        let text = Array(UnsafeBufferPointer(start: bytes, count: min(length, limit + 1)))
        return String(decoding: EmbeddedText.prefix(text[...], upTo: limit), as: UTF8.self)
    }
}
