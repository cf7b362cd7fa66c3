import CUtf8proc

extension String {
    /// For searching: case, diacritics and forms of compatibility ignored (`Été` and `ete` are alike, `ＦＵＬＬ` and `full`,
    /// `Łódź` and `lodz`). Nothing in it is NUL, where SQLite's text index would stop reading, nor U+FFFE or U+FFFF, which that
    /// index reads as U+FFFD; there are neither nonspacing marks nor capitals of ASCII in it.
    ///
    /// Letters of ASCII are folded as bytes, twenty times as fast. Of the others each is folded alone: what Unicode looks further
    /// for is the order of marks, and all marks are left out.
    package var searchFolded: String {
        var text = self
        return text.withUTF8 { bytes in
            var folded: [UInt8] = []
            folded.reserveCapacity(bytes.count)
            var index = 0
            while index < bytes.count {
                let byte = bytes[index]
                if byte < 0x80 && byte != 0 {
                    folded.append(byte.asciiLowercased)
                    index += 1
                    continue
                }
                var codepoint: Int32 = 0
                let length = utf8proc_iterate(
                    bytes.baseAddress.map { $0 + index }, bytes.count - index, &codepoint)
                // A Swift string is valid UTF-8.
                guard length > 0 else { preconditionFailure("a string that is not UTF-8") }
                SearchLetters.append(codepoint, to: &folded)
                index += length
            }
            return String(decoding: folded, as: UTF8.self)
        }
    }
}

/// What a search takes a character for.
private enum SearchLetters {
    /// Decomposed first, so that a mark is seen as one before it may fold to a letter (U+0345).
    private static let decomposition = option([
        UTF8PROC_COMPAT, UTF8PROC_DECOMPOSE, UTF8PROC_IGNORE, UTF8PROC_STRIPMARK,
    ])
    private static let folding = option([
        UTF8PROC_COMPAT, UTF8PROC_DECOMPOSE, UTF8PROC_CASEFOLD, UTF8PROC_IGNORE, UTF8PROC_STRIPMARK,
    ])
    /// The longest decomposition of one character has 18 (U+FDFA).
    private static let mostCharacters = 32

    private static func option(_ options: [utf8proc_option_t]) -> utf8proc_option_t {
        utf8proc_option_t(options.reduce(0) { $0 | $1.rawValue })
    }

    static func append(_ codepoint: Int32, to text: inout [UInt8]) {
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: 2 * mostCharacters) { room in
            let (decomposed, folded) = (room.prefix(mostCharacters), room.suffix(mostCharacters))
            for part in characters(of: codepoint, decomposition, in: UnsafeMutableBufferPointer(rebasing: decomposed)) {
                for letter in characters(of: part, folding, in: UnsafeMutableBufferPointer(rebasing: folded)) {
                    append(letter: letter, to: &text)
                }
            }
        }
    }

    private static func characters(
        of codepoint: Int32, _ option: utf8proc_option_t, in room: UnsafeMutableBufferPointer<Int32>
    ) -> Slice<UnsafeMutableBufferPointer<Int32>> {
        let count = utf8proc_decompose_char(codepoint, room.baseAddress, room.count, option, nil)
        precondition((0...room.count).contains(count), "a character of more than \(mostCharacters)")
        return room[..<count]
    }

    private static func append(letter: Int32, to text: inout [UInt8]) {
        switch letter {
        // Letters with a stroke and ligatures, which Unicode does not take apart, as a keyboard without them has them.
        case 0xE6: text += "ae".utf8
        case 0xF0, 0x111: text += "d".utf8
        case 0xF8: text += "o".utf8
        case 0xFE: text += "th".utf8
        case 0x131: text += "i".utf8
        case 0x142: text += "l".utf8
        case 0x153: text += "oe".utf8
        case 0, 0xFFFE, 0xFFFF: text += "\u{FFFD}".utf8
        default:
            guard let scalar = Unicode.Scalar(UInt32(bitPattern: letter)) else { return }
            text += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
        }
    }
}
