import Foundation

extension String {
    /// Without white space and line breaks at either end.
    public var trimmingWhitespace: String { trimmingCharacters(in: .whitespacesAndNewlines) }

    /// For comparing while ignoring case in every script. Up and then down, because one direction alone keeps
    /// `ß` apart from `SS`; no locale, because a library must mean the same on every machine.
    public var caseFolded: String { precomposedStringWithCanonicalMapping.uppercased().lowercased() }

    /// For searching: case and diacritics ignored (`Été` and `ete` are alike). Nothing in it is NUL, where SQLite's
    /// text index would stop reading, nor U+FFFE or U+FFFF, which that index reads as U+FFFD.
    ///
    /// Letters of ASCII are folded as bytes, twenty times as fast; what lies between them, by Unicode's rules. Neither case nor
    /// decomposition looks over an ASCII character, so the parts are what the whole would be.
    public var searchFolded: String {
        var text = self
        return text.withUTF8 { bytes in
            var folded: [UInt8] = []
            folded.reserveCapacity(bytes.count)
            var index = 0
            while index < bytes.count {
                let byte = bytes[index]
                if byte < 0x80 && byte != 0 {
                    folded.append((0x41...0x5A).contains(byte) ? byte + 0x20 : byte)
                    index += 1
                    continue
                }
                let end = bytes[index...].firstIndex { $0 < 0x80 && $0 != 0 } ?? bytes.count
                folded += String(decoding: bytes[index..<end], as: UTF8.self).searchFoldedByScalars.utf8
                index = end
            }
            return String(decoding: folded, as: UTF8.self)
        }
    }

    /// The same without a short way.
    package var searchFoldedByScalars: String {
        var folded = String.UnicodeScalarView()
        for scalar in decomposedStringWithCanonicalMapping.uppercased().lowercased()
            .decomposedStringWithCanonicalMapping.unicodeScalars
        where scalar.properties.generalCategory != .nonspacingMark {
            folded.append([0, 0xFFFE, 0xFFFF].contains(scalar.value) ? "\u{FFFD}" : scalar)
        }
        return String(folded)
    }
}
