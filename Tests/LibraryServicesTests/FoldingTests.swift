import LibraryModel
import Randomness
import Testing

/// Folding in parts is folding the whole.
@Suite struct FoldingTests {
    private func agree(_ text: String) {
        #expect(
            Array(text.searchFolded.utf8) == Array(text.searchFoldedByScalars.utf8),
            "\(text.unicodeScalars.map { String($0.value, radix: 16) })")
    }

    @Test func lettersOfEveryScriptBetweenLettersOfASCII() {
        for value in UInt32(0)...0x2FFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            agree("aB\(Character(scalar))Z")
        }
    }

    /// Marks behind letters of ASCII, several in any order, characters that become ASCII, sigmas at ends of words.
    @Test func textsOfAnything() {
        let pieces =
            [
                "A", "z", " ", "\u{0}", "\u{301}", "\u{323}", "\u{345}", "ß", "İ", "ı", "Σ", "ς", "É", "e\u{301}",
                "\u{212A}",
            ]
            + [
                "\u{37E}", "\u{FFFE}", "\u{FFFF}", "각", "\u{1100}", "\u{1161}", "👩‍👩‍👧", "ﬁ", "Ǆ", "\u{1F80}", "\u{1D15E}",
                "ཱི",
            ]
        var random = SplitMix64(seed: 12)
        for _ in 0..<5_000 {
            let count = Int.random(in: 0...8, using: &random)
            agree((0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined())
        }
    }
}
