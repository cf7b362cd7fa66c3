import ImageWorkerProtocol

/// Texts as pictures carry them, which may be in any encoding whatever the specification says.
package enum EmbeddedText {
    /// Bytes of a caption that are read: more than what is kept of it, because references and spaces shrink.
    static let captionBytes = 32 << 10

    /// UTF-8 where it is, else Windows-1252: what old programs wrote is one or the other.
    static func decoded(_ bytes: some Collection<UInt8>) -> String {
        String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.lazy.compactMap(windowsCharacter)))
    }

    /// UTF-8, in which each byte that is none has become the character that Windows-1252 has for it: a program that wrote its
    /// own texts in that stands beside one that did not.
    static func mended(_ bytes: [UInt8]) -> [UInt8] {
        guard String(validating: bytes, as: UTF8.self) == nil else { return bytes }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + bytes.count / 8)
        var rest = bytes[...]
        while let next = rest.first {
            if next < 0x80 {
                let plain = rest.prefix { $0 < 0x80 }
                result += plain
                rest = rest[plain.endIndex...]
                continue
            }
            let length = (2...4).first { isCharacter(rest.prefix($0), of: $0) }
            if let length {
                result += rest.prefix(length)
            } else if let character = windowsCharacter(next) {
                result += Array(String(character).utf8)
            }
            rest = rest.dropFirst(length ?? 1)
        }
        return result
    }

    private static func isCharacter(_ bytes: ArraySlice<UInt8>, of length: Int) -> Bool {
        bytes.count == length && String(validating: bytes, as: UTF8.self)?.unicodeScalars.count == 1
    }

    /// Nil for the five bytes that have none.
    private static func windowsCharacter(_ byte: UInt8) -> Unicode.Scalar? {
        guard (0x80...0x9F).contains(byte) else { return Unicode.Scalar(byte) }
        let scalar = Unicode.Scalar(windowsCharacters[Int(byte - 0x80)])
        return scalar?.value == 0 ? nil : scalar
    }

    /// Of 0x80 to 0x9F, where Latin-1 has control characters.
    private static let windowsCharacters: [UInt32] = [
        0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017D, 0,
        0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0, 0x017E,
        0x0178,
    ]

    /// UTF-16 up to its first zero; half a unit at the end is none.
    static func wide(_ bytes: some Collection<UInt8>, isBigEndian: Bool) -> String {
        let bytes = Array(bytes)
        let units = stride(from: 0, to: bytes.count - 1, by: 2).lazy.map { start in
            UInt16(bytes[isBigEndian ? start : start + 1]) << 8 | UInt16(bytes[isBigEndian ? start + 1 : start])
        }
        return String(decoding: Array(units.prefix { $0 != 0 }), as: UTF16.self)
    }

    /// The first `limit` bytes, or as many less as the character needs that would be cut.
    static func prefix(_ bytes: ArraySlice<UInt8>, upTo limit: Int) -> ArraySlice<UInt8> {
        guard bytes.count > limit else { return bytes }
        let cut = bytes.prefix(limit)
        // At most three bytes continue a character, and one begins it.
        let tail = cut.suffix(3).reversed().prefix { $0 & 0xC0 == 0x80 }.count
        return bytes[bytes.startIndex + limit] & 0xC0 == 0x80 ? cut.dropLast(tail + 1) : cut
    }

    /// What a person wrote under the picture, fit to be shown in one line; nil where that is nothing.
    ///
    /// Without control characters, and without those that turn the direction of what stands beside them: a caption comes
    /// from anywhere and is shown between others. Line breaks become spaces. Cut at ``ImageLimits/captionLength``, never
    /// within what a reader sees as one character.
    package static func caption(_ text: String) -> String? { line(text, upTo: ImageLimits.captionLength) }

    /// Likewise, of so many Unicode scalars at most.
    static func line(_ text: String, upTo length: Int) -> String? {
        var cleaned = String.UnicodeScalarView()
        var gap = false
        for scalar in text.unicodeScalars {
            if scalar.properties.isWhitespace {
                gap = !cleaned.isEmpty
                continue
            }
            guard PictureFacts.isShown(scalar) else { continue }
            guard cleaned.count + (gap ? 2 : 1) <= length else {
                return whole(cleaned, next: gap ? " " : scalar)
            }
            if gap { cleaned.append(" ") }
            gap = false
            cleaned.append(scalar)
        }
        return cleaned.isEmpty ? nil : String(cleaned)
    }

    /// What is before `next`, less the character that `next` goes on.
    private static func whole(_ scalars: String.UnicodeScalarView, next: Unicode.Scalar) -> String? {
        let text = String(scalars)
        var longer = scalars
        longer.append(next)
        let result = String(longer).count > text.count ? Substring(text) : text.dropLast()
        return result.isEmpty ? nil : String(result)
    }
}
