import CUtf8proc

// How texts are made alike that a person takes for one, by Unicode's tables as Debian's libutf8proc has them. There is no
// locale in it: a library must mean the same on every machine. What is folded is stored in catalogues, so another form of it
// needs a migration.

extension String {
    /// For comparing while ignoring case: canonical caseless matching (Unicode, D145). `Été` and `ÉTÉ`, composed or not, are
    /// one, and `Straße`, `STRAẞE` and `STRASSE`; `ı` is not `i`.
    package var caseFolded: String { caseFolded(leavingOutIgnorables: false) }

    /// For names: case ignored, characters left out that show nothing of themselves, and one blank for a run of them, none at the
    /// ends. Empty for a name of which nothing can be seen.
    package var nameFolded: String {
        var name = String.UnicodeScalarView()
        var isAfterBlank = false
        for scalar in caseFolded(leavingOutIgnorables: true).unicodeScalars {
            if scalar.isBlank {
                isAfterBlank = !name.isEmpty
                continue
            }
            if isAfterBlank { name.append(" ") }
            isAfterBlank = false
            name.append(scalar)
        }
        return String(name)
    }

    /// Decomposed before it is folded, or a mark that folds to a letter (U+0345) would stand behind those that it stood before.
    private func caseFolded(leavingOutIgnorables: Bool) -> String {
        var isFolded = true
        let isASCII = utf8.allSatisfy { byte in
            if (0x41...0x5A).contains(byte) { isFolded = false }
            return byte < 0x80
        }
        if isASCII { return isFolded ? self : String(decoding: utf8.map(\.asciiLowercased), as: UTF8.self) }
        var text = self
        if leavingOutIgnorables {
            text = String(
                String.UnicodeScalarView(unicodeScalars.filter { !$0.properties.isDefaultIgnorableCodePoint }))
        }
        let decomposed = text.mapped(by: [UTF8PROC_STABLE, UTF8PROC_DECOMPOSE])
        return decomposed.mapped(by: [UTF8PROC_STABLE, UTF8PROC_COMPOSE, UTF8PROC_CASEFOLD])
    }

    private func mapped(by options: [utf8proc_option_t]) -> String {
        var text = self
        return text.withUTF8 { bytes in
            var mapped: UnsafeMutablePointer<UInt8>?
            let count = utf8proc_map(
                bytes.baseAddress, bytes.count, &mapped, utf8proc_option_t(options.reduce(0) { $0 | $1.rawValue }))
            // A Swift string is valid UTF-8, and shorter than what overflows: only memory can be short, as in all of Swift.
            guard count >= 0, let mapped else { preconditionFailure("no memory to fold a text") }
            defer { free(mapped) }
            return String(decoding: UnsafeBufferPointer(start: mapped, count: count), as: UTF8.self)
        }
    }
}

extension UInt8 {
    var asciiLowercased: UInt8 { (0x41...0x5A).contains(self) ? self + 0x20 : self }
}

extension Unicode.Scalar {
    /// White space, and the four characters beside it that show nothing and that Unicode calls neither blank nor ignorable: a
    /// pattern of Braille without dots, a note's head that is null, and two blanks of hieroglyphs.
    fileprivate var isBlank: Bool { properties.isWhitespace || [0x2800, 0x1D159, 0x13441, 0x13442].contains(value) }
}
