import Foundation

/// The text of a file, as valid UTF-8 without its byte order mark.
enum SidecarText {
    /// What to take text for that is not UTF-8 and does not say what it is.
    enum Fallback {
        case none
        /// Every byte is a letter of Windows-1252. XMP without a declaration is found in the wild with names like Aimé in
        /// it.
        case latin1
    }

    /// Throws ``SidecarError`` `empty`, `tooLarge`, `notText`, `unknownEncoding`.
    static func utf8(of data: Data, fallback: Fallback) throws(SidecarError) -> [UInt8] {
        guard data.count <= SidecarLimits.bytes else { throw .tooLarge(bytes: data.count) }
        // NUL as well: a file of zeros is what is left when the power fails.
        let bytes = [UInt8](data)
        guard bytes.contains(where: { $0 != 0 && !XMLScanner.isSpace($0) }) else { throw .empty }
        switch encoding(of: bytes, fallback: fallback) {
        case .utf8(let skipped): return try validated(Array(bytes.dropFirst(skipped)))
        case .utf16(let skipped, let isBigEndian): return try utf16(bytes.dropFirst(skipped), isBigEndian)
        case .latin1: return latin1(bytes)
        case .unknown(let name): throw .unknownEncoding(name)
        }
    }

    private enum Encoding {
        case utf8(skipped: Int)
        case utf16(skipped: Int, isBigEndian: Bool)
        case latin1
        case unknown(String)
    }

    private static func encoding(of bytes: [UInt8], fallback: Fallback) -> Encoding {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return .utf8(skipped: 3) }
        if bytes.starts(with: [0xFF, 0xFE, 0, 0]) || bytes.starts(with: [0, 0, 0xFE, 0xFF]) {
            return .unknown("UTF-32")
        }
        if bytes.starts(with: [0xFE, 0xFF]) { return .utf16(skipped: 2, isBigEndian: true) }
        if bytes.starts(with: [0xFF, 0xFE]) { return .utf16(skipped: 2, isBigEndian: false) }
        // Without a mark: `<` or `{` in two bytes.
        for first in "<{".utf8 {
            if bytes.starts(with: [0, first]) { return .utf16(skipped: 0, isBigEndian: true) }
            if bytes.starts(with: [first, 0]) { return .utf16(skipped: 0, isBigEndian: false) }
        }
        guard let declared = declaredEncoding(of: bytes) else {
            let isLatin = fallback == .latin1 && String(validating: bytes, as: UTF8.self) == nil
            return isLatin ? .latin1 : .utf8(skipped: 0)
        }
        return switch declared {
        // What is in one byte a character cannot be UTF-16, whatever it says.
        case "utf-8", "utf8", "utf-16": .utf8(skipped: 0)
        // Programs that call it so write the system's letters.
        case "us-ascii", "ascii": String(validating: bytes, as: UTF8.self) == nil ? .latin1 : .utf8(skipped: 0)
        case "iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "latin-1", "windows-1252", "cp1252", "cp-1252", "ansi":
            .latin1
        default: .unknown(String(declared.prefix(40)))
        }
    }

    /// The name, in lower case, in an XML declaration.
    private static func declaredEncoding(of bytes: [UInt8]) -> String? {
        guard bytes.starts(with: "<?xml".utf8) else { return nil }
        let declaration = bytes.prefix(200).prefix { $0 != UInt8(ascii: ">") }
        let words = declaration.split { $0 <= 0x20 || [UInt8(ascii: "="), 0x22, 0x27, UInt8(ascii: "?")].contains($0) }
        guard let place = words.firstIndex(where: { $0.elementsEqual("encoding".utf8) }), place + 1 < words.count,
            words[place + 1].allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return nil }
        return String(decoding: words[place + 1], as: UTF8.self).lowercased()
    }

    private static func validated(_ bytes: [UInt8]) throws(SidecarError) -> [UInt8] {
        guard String(validating: bytes, as: UTF8.self) != nil else { throw .notText(encoding: "UTF-8") }
        return bytes
    }

    private static func utf16(_ bytes: ArraySlice<UInt8>, _ isBigEndian: Bool) throws(SidecarError) -> [UInt8] {
        guard bytes.count.isMultiple(of: 2) else { throw .notText(encoding: "UTF-16") }
        let units = stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map { index in
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            return isBigEndian ? first << 8 | second : second << 8 | first
        }
        guard let text = String(validating: units, as: UTF16.self) else { throw .notText(encoding: "UTF-16") }
        return Array(text.utf8)
    }

    /// Windows-1252, which is what is called Latin-1 in practice. The five bytes that are no letter in it are the control
    /// characters of Latin-1, which ``line(_:limit:)`` drops.
    private static func latin1(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count + bytes.count / 8)
        for byte in bytes {
            let scalar = (0x80...0x9F).contains(byte) ? windows1252[Int(byte) - 0x80] : Unicode.Scalar(byte)
            text += UTF8.encode(scalar) ?? .init()
        }
        return text
    }

    /// 0x80 to 0x9F.
    private static let windows1252: [Unicode.Scalar] = [
        "\u{20AC}", "\u{81}", "\u{201A}", "\u{192}", "\u{201E}", "\u{2026}", "\u{2020}", "\u{2021}", "\u{2C6}",
        "\u{2030}",
        "\u{160}", "\u{2039}", "\u{152}", "\u{8D}", "\u{17D}", "\u{8F}", "\u{90}", "\u{2018}", "\u{2019}", "\u{201C}",
        "\u{201D}", "\u{2022}", "\u{2013}", "\u{2014}", "\u{2DC}", "\u{2122}", "\u{161}", "\u{203A}", "\u{153}",
        "\u{9D}",
        "\u{17E}", "\u{178}",
    ]

    /// `text` as one line without control characters, trimmed, of at most `limit` characters and 16 bytes for each (a
    /// character may be one letter with a megabyte of accents); nil where nothing is left.
    static func line(_ text: some StringProtocol, limit: Int = SidecarFacts.captionLength) -> String? {
        kept(text, limit: limit) { $0.properties.generalCategory != .control }
    }

    /// The same with the ends of its lines, and tabs.
    static func lines(_ text: some StringProtocol, limit: Int = SidecarFacts.captionLength) -> String? {
        kept(text, limit: limit) { $0.properties.generalCategory != .control || $0 == "\n" || $0 == "\t" }
    }

    private static func kept(
        _ text: some StringProtocol, limit: Int, where isKept: (Unicode.Scalar) -> Bool
    ) -> String? {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if isKept(scalar) {
                scalars.append(scalar)
            } else if scalar.properties.isWhitespace {
                scalars.append(" ")
            }
        }
        var kept = Substring(String(scalars)).drop(while: \.isWhitespace)
        var bytes = 0
        var end = kept.startIndex
        for (index, character) in zip(kept.indices, kept).prefix(limit) {
            bytes += character.utf8.count
            guard bytes <= limit * 16 else { break }
            end = kept.index(after: index)
        }
        kept = kept[..<end]
        while kept.last?.isWhitespace == true { kept.removeLast() }
        return kept.isEmpty ? nil : String(kept)
    }
}
