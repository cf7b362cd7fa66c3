/// EXIF's UserComment: eight bytes that name a character set, and a text in it.
enum UserComment {
    private static let nameLength = 8

    /// Fit to be shown. Nil where it is nothing, or in a character set that is not read (JIS, as far as it is not ASCII).
    static func text(_ bytes: ArraySlice<UInt8>, isBigEndian: Bool) -> String? {
        let bytes = bytes.prefix(EmbeddedText.captionBytes)
        let rest = bytes.dropFirst(nameLength)
        let name = String(decoding: bytes.prefix(nameLength).prefix { $0 != 0 && $0 != 0x20 }, as: UTF8.self)
        switch name.uppercased() {
        case "UNICODE": return EmbeddedText.caption(unicode(rest, isBigEndian: isBigEndian))
        case "JIS": return rest.allSatisfy { $0 < 0x80 && $0 != 0x1B } ? narrow(rest) : nil
        case "ASCII", "": return narrow(rest)
        // A writer that knows of no character sets.
        default: return narrow(bytes)
        }
    }

    private static func narrow(_ bytes: ArraySlice<UInt8>) -> String? {
        EmbeddedText.caption(EmbeddedText.decoded(bytes.prefix { $0 != 0 }))
    }

    /// UTF-16 in the block's byte order, where it is: some writers use the other one, and some write UTF-8.
    private static func unicode(_ bytes: ArraySlice<UInt8>, isBigEndian: Bool) -> String {
        if bytes.starts(with: [0xFE, 0xFF]) { return EmbeddedText.wide(bytes.dropFirst(2), isBigEndian: true) }
        if bytes.starts(with: [0xFF, 0xFE]) { return EmbeddedText.wide(bytes.dropFirst(2), isBigEndian: false) }
        // Any language has spaces, digits and full stops, of which one byte is zero: in front where the higher one is first.
        let (upper, lower) = bytes.enumerated().reduce(into: (0, 0)) { zeros, byte in
            guard byte.element == 0 else { return }
            if byte.offset % 2 == 0 { zeros.0 += 1 } else { zeros.1 += 1 }
        }
        if upper == 0, lower == 0, !bytes.isEmpty, let text = String(validating: bytes, as: UTF8.self) { return text }
        return EmbeddedText.wide(bytes, isBigEndian: upper == lower ? isBigEndian : upper > lower)
    }
}
