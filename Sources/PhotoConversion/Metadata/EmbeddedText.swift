import ImageWorkerProtocol

/// Texts as pictures carry them, which may be in any encoding whatever the specification says.
enum EmbeddedText {
    /// UTF-8 where it is, else Latin-1, in which every byte is a character: what old programs wrote is one or the other.
    static func decoded(_ bytes: some Collection<UInt8>) -> String {
        String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.lazy.map { Unicode.Scalar($0) }))
    }

    /// The first `limit` bytes, or as many less as the character needs that would be cut.
    static func prefix(_ bytes: ArraySlice<UInt8>, upTo limit: Int) -> ArraySlice<UInt8> {
        guard bytes.count > limit else { return bytes }
        let cut = bytes.prefix(limit)
        // At most three bytes continue a character, and one begins it.
        let tail = cut.suffix(3).reversed().prefix { $0 & 0xC0 == 0x80 }.count
        return bytes[bytes.startIndex + limit] & 0xC0 == 0x80 ? cut.dropLast(tail + 1) : cut
    }

    /// XML's text without its references: the five that need no declaration, and numbers. Others stay as they are.
    static func unescaped(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var rest = bytes
        while let next = rest.first {
            // The longest reference that there is: &#x10FFFF;
            if next == UInt8(ascii: "&"), let end = rest.prefix(10).firstIndex(of: UInt8(ascii: ";")),
                let character = character(rest[(rest.startIndex + 1)..<end])
            {
                result += Array(String(character).utf8)
                rest = rest[(end + 1)...]
            } else {
                result.append(next)
                rest = rest.dropFirst()
            }
        }
        return result
    }

    private static func character(_ reference: ArraySlice<UInt8>) -> Unicode.Scalar? {
        let text = String(decoding: reference, as: UTF8.self)
        switch text {
        case "lt": return "<"
        case "gt": return ">"
        case "amp": return "&"
        case "quot": return "\""
        case "apos": return "'"
        default:
            guard text.hasPrefix("#") else { return nil }
            let digits = text.dropFirst()
            let number = digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
            return number.flatMap(Unicode.Scalar.init)
        }
    }

    /// What a person wrote under the picture, fit to be shown in one line; nil where that is nothing.
    ///
    /// Without control characters, and without those that turn the direction of what stands beside them: a caption comes
    /// from anywhere and is shown between others. Line breaks become spaces. Cut at ``ImageLimits/captionLength``, never
    /// within what a reader sees as one character.
    static func caption(_ text: String) -> String? { line(text, upTo: ImageLimits.captionLength) }

    /// Likewise, of so many Unicode scalars at most.
    static func line(_ text: String, upTo length: Int) -> String? {
        var cleaned = String.UnicodeScalarView()
        var gap = false
        for scalar in text.unicodeScalars {
            if scalar.properties.isWhitespace {
                gap = !cleaned.isEmpty
                continue
            }
            guard ConvertedPhoto.isShown(scalar) else { continue }
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
