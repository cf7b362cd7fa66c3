import Foundation

extension String {
    /// Without white space and line breaks at either end.
    public var trimmingWhitespace: String { trimmingCharacters(in: .whitespacesAndNewlines) }

    /// For comparing while ignoring case in every script. Up and then down, because one direction alone keeps
    /// `ß` apart from `SS`; no locale, because a library must mean the same on every machine.
    public var caseFolded: String { precomposedStringWithCanonicalMapping.uppercased().lowercased() }

    /// For searching: case and diacritics ignored (`Été` and `ete` are alike). Nothing in it is NUL, where SQLite's
    /// text index would stop reading, nor U+FFFE or U+FFFF, which that index reads as U+FFFD.
    public var searchFolded: String {
        var folded = String.UnicodeScalarView()
        for scalar in decomposedStringWithCanonicalMapping.uppercased().lowercased()
            .decomposedStringWithCanonicalMapping.unicodeScalars
        where scalar.properties.generalCategory != .nonspacingMark {
            folded.append([0, 0xFFFE, 0xFFFF].contains(scalar.value) ? "\u{FFFD}" : scalar)
        }
        return String(folded)
    }
}
