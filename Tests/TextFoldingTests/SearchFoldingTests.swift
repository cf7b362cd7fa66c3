import Randomness
import Testing
@testable import TextFolding

/// What a search takes for the same, and what of a folded text the catalogue's text index relies on.
@Suite struct SearchFoldingTests {
    @Test(arguments: [
        ("Łódź", "lodz"), ("Ørsted", "orsted"), ("Ærø", "aero"), ("Œuvre", "oeuvre"), ("ＦＵＬＬ", "full"),
        ("Đurđevac", "durdevac"), ("Þórður", "thordur"), ("Été", "ete"), ("Straße STRAẞE", "strasse strasse"),
        ("ızmır İzmir", "izmir izmir"), ("ﬁn ²", "fin 2"), ("so\u{AD}ft\u{200B}ly\u{FEFF}", "softly"), ("ǾǼ", "oae"),
        ("ΑΎΡΙΟΣ αύριος", "αυριοσ αυριοσ"), ("\u{1FB3}\u{3B1}\u{301}\u{345}", "αα"),
        ("a\u{0}b\u{FFFE}", "a\u{FFFD}b\u{FFFD}"),
        ("ｶﾞ", "カ"), ("#1 [x]_%", "#1 [x]_%"), ("", ""), ("\u{301}", ""),
    ])
    func whatAKeyboardWithoutTheLetterFinds(_ text: String, _ folded: String) {
        #expect(Array(text.searchFolded.utf8) == Array(folded.utf8), "\(text.searchFolded)")
    }

    /// Folding a folded text changes nothing; no capitals of ASCII, no marks, nothing that the text index reads as something else.
    @Test func everyCharacterIsFoldedToTheEnd() {
        for scalar in allScalars {
            let folded = "\(Character(scalar))".searchFolded
            #expect(Array(folded.searchFolded.utf8) == Array(folded.utf8), "U+\(String(scalar.value, radix: 16))")
            #expect(
                folded.unicodeScalars.allSatisfy {
                    ![0, 0xFFFE, 0xFFFF].contains($0.value) && !("A"..."Z").contains($0)
                        && !(0x300...0x33F).contains($0.value)
                }, "U+\(String(scalar.value, radix: 16))")
        }
    }

    /// What the migration of the catalogue leaves alone: texts that the fold of before had made ASCII are the same now.
    @Test func whatWasASCIIBeforeIsTheSameNow() {
        // Of later versions of Unicode the library's tables know nothing; it leaves their characters as they are.
        for scalar in allScalars where scalar != "\0" && scalar.properties.age.map({ $0.major <= 15 }) != false {
            var before = String.UnicodeScalarView()
            for part in String(Character(scalar)).decomposed.uppercased().lowercased().decomposed.unicodeScalars
            where part.properties.generalCategory != .nonspacingMark { before.append(part) }
            guard before.allSatisfy(\.isASCII) else { continue }
            #expect("\(Character(scalar))".searchFolded == String(before), "U+\(String(scalar.value, radix: 16))")
        }
    }

    /// Letters are folded one by one: of texts of anything it is the same as of their parts.
    @Test func textsOfAnything() {
        let pieces = [
            "A", "z", " ", "\u{0}", "\u{301}", "\u{323}", "\u{345}", "ß", "İ", "ı", "Σ", "ς", "É", "e\u{301}",
            "\u{212A}",
            "\u{37E}", "\u{FFFE}", "\u{FFFF}", "각", "\u{1100}", "\u{1161}", "👩‍👩‍👧", "ﬁ", "Ǆ", "\u{1F80}", "\u{1D15E}", "ཱི",
        ]
        var random = SplitMix64(seed: 12)
        for _ in 0..<5_000 {
            let parts = (0..<Int.random(in: 0...8, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }
            #expect(
                Array(parts.joined().searchFolded.utf8) == parts.flatMap { Array($0.searchFolded.utf8) }, "\(parts)")
        }
    }
}
