/// How many columns of a terminal a text takes: two for East Asian wide characters and emoji, none for marks that
/// combine. Terminals differ about rare sequences; this is what most agree on.
package enum TextWidth {
    package static func of(_ text: String) -> Int {
        // Most of what is shown is ASCII, where a byte is a column.
        if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return text.utf8.count }
        return text.reduce(0) { $0 + width(of: $1) }
    }

    package static func width(of character: Character) -> Int {
        let scalars = character.unicodeScalars
        // The selector that asks for the coloured picture of a character that is narrow as a sign: ❤️.
        if scalars.contains("\u{FE0F}") { return 2 }
        return scalars.map(width(of:)).max() ?? 0
    }

    private static func width(of scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: break
        }
        if scalar.properties.isEmojiPresentation { return 2 }
        return wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    /// East_Asian_Width W and F (Unicode Standard Annex 11), in blocks; emoji are told by their property.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
        0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
        0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F265, 0x20000...0x3FFFD,
    ]

    /// Lines of whole words, at most `columns` wide where no word is wider.
    /// - Parameters:
    ///   - indent: spaces before every line.
    ///   - hanging: spaces before all lines but the first, beside those.
    package static func wrapped(_ text: String, to columns: Int, indent: Int = 0, hanging: Int = 0) -> [String] {
        var lines: [String] = []
        var line = String(repeating: " ", count: indent)
        var isEmpty = true
        for word in text.split(separator: " ") {
            if !isEmpty, of(line) + 1 + of(String(word)) > columns {
                lines.append(line)
                line = String(repeating: " ", count: indent + hanging)
                isEmpty = true
            }
            line += (isEmpty ? "" : " ") + word
            isEmpty = false
        }
        return lines + [line]
    }

    /// At most `columns` wide; what is cut off leaves an ellipsis.
    package static func cut(_ text: String, to columns: Int) -> String {
        guard of(text) > columns else { return text }
        guard columns > 0 else { return "" }
        var kept = ""
        var used = 0
        for character in text {
            let next = width(of: character)
            if used + next > columns - 1 { break }
            kept.append(character)
            used += next
        }
        return kept + "…"
    }

    /// Filled up with spaces to `columns`, in front or behind.
    package static func padded(_ text: String, to columns: Int, inFront: Bool = false) -> String {
        let spaces = String(repeating: " ", count: max(0, columns - of(text)))
        return inFront ? spaces + text : text + spaces
    }
}
