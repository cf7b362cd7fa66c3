import ImageWorkerProtocol

// XMP and IPTC as each container holds them, checked for their size and for being what they are called; and the containers
// that hold nothing else.

extension EmbeddedMetadata {
    /// An XMP packet in UTF-8. Nil where there is nothing, too much, or no text in angle brackets.
    static func xmpPacket(_ bytes: ByteView) -> [UInt8]? {
        guard bytes.count > 8, bytes.count <= ImageLimits.xmpBytes else { return nil }
        let beginning = (0..<2).map { bytes[$0] }
        switch beginning {
        case [0xFE, 0xFF], [0, 0x3C]: return utf8(bytes, isBigEndian: true)
        case [0xFF, 0xFE], [0x3C, 0]: return utf8(bytes, isBigEndian: false)
        default: break
        }
        var start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        while XMLScanner.isSpace(bytes[start]) { start += 1 }
        return bytes[start] == UInt8(ascii: "<") ? bytes.array : nil
    }

    /// XMP may be UTF-16 anywhere but in a JPEG, where it must not.
    private static func utf8(_ bytes: ByteView, isBigEndian: Bool) -> [UInt8]? {
        guard bytes.count <= ImageLimits.wideXMPBytes else { return nil }
        let units = stride(from: 0, to: bytes.count - 1, by: 2).map {
            isBigEndian ? bytes.bigEndian16(at: $0) : bytes.littleEndian16(at: $0)
        }
        let text = Array(String(decoding: units.drop { $0 == 0xFEFF }, as: UTF16.self).utf8)
        // With a zero there it would be taken for UTF-16 by whoever reads it next.
        return text.count > 8 && text[0] == UInt8(ascii: "<") && text[1] != 0 ? text : nil
    }

    /// IPTC's records. Nil where there are none or too many.
    static func iptcRecords(_ bytes: ByteView) -> [UInt8]? {
        bytes.count >= 5 && bytes.count <= ImageLimits.iptcBytes && bytes[0] == 0x1C ? bytes.array : nil
    }

    /// GIF: the application extension in which XMP stands as it is, not in blocks. A trailer of 258 bytes makes any reader
    /// that takes it for blocks come out at its end.
    init(gif bytes: ByteView) {
        self.init()
        var offset = 13 + Self.colourTable(bytes[10])
        while offset < bytes.count, xmp == nil {
            switch bytes[offset] {
            case 0x21:
                let isXMP = bytes[offset + 2] == 11 && bytes.text(at: offset + 3, count: 11) == "XMP DataXMP"
                let start = offset + 14
                offset = Self.endOfBlocks(bytes, from: offset + 2)
                if isXMP, offset - start > 258 {
                    xmp = Self.xmpPacket(bytes.part(from: start, count: offset - start - 258))
                }
            case 0x2C: offset = Self.endOfBlocks(bytes, from: offset + 11 + Self.colourTable(bytes[offset + 9]))
            default: return
            }
        }
    }

    /// Bytes of the table that a GIF's flags announce.
    private static func colourTable(_ flags: UInt8) -> Int { flags & 0x80 != 0 ? 3 << (Int(flags & 7) + 1) : 0 }

    /// Behind the empty block that ends blocks with their lengths.
    private static func endOfBlocks(_ bytes: ByteView, from start: Int) -> Int {
        var offset = start
        while offset < bytes.count, bytes[offset] != 0 { offset += Int(bytes[offset]) + 1 }
        return offset + 1
    }
}
