import Foundation
import TestSupport
import Testing
@testable import TextFolding

/// Folding against the data of the Unicode version that the library was made from.
@Suite(.enabled(if: UnicodeData.isPresent, "needs unicode-data: Scripts/setup --tests")) struct UnicodeDataTests {
    /// Every full case folding of Unicode, and nothing else, is folded; letters of Turkish are not.
    @Test func caseFolding() throws {
        var foldings: [UInt32: String] = [:]
        for fields in try UnicodeData.lines("CaseFolding.txt") where ["C", "F"].contains(fields[1]) {
            foldings[try #require(UInt32(fields[0], radix: 16))] = try UnicodeData.text(fields[2])
        }
        #expect(foldings.count > 1_500)
        for scalar in allScalars {
            let text = String(Character(scalar))
            // Canonical caseless matching: of the decomposed form each character is folded.
            let expected = text.decomposed.unicodeScalars.map { foldings[$0.value] ?? String(Character($0)) }.joined()
            #expect(
                Array(text.caseFolded.decomposed.unicodeScalars) == Array(expected.decomposed.unicodeScalars),
                "U+\(String(scalar.value, radix: 16))")
            #expect(Array(text.caseFolded.caseFolded.utf8) == Array(text.caseFolded.utf8))
        }
    }

    /// Sequences that are canonically the same are the same name, those that are the same but for their form one for a search.
    @Test func normalization() throws {
        let lines = try UnicodeData.lines("NormalizationTest.txt.bz2").filter { $0.count >= 5 }
        #expect(lines.count > 15_000)
        for line in lines {
            let forms = try line.prefix(5).map(UnicodeData.text)
            #expect(Set(forms.prefix(3).map { Array($0.caseFolded.utf8) }).count == 1, "\(line)")
            #expect(Set(forms[3...].map { Array($0.caseFolded.utf8) }).count == 1, "\(line)")
            #expect(Set(forms.map { Array($0.searchFolded.utf8) }).count == 1, "\(line)")
        }
    }

    /// Every character that Unicode lets be ignored, assigned or not, makes no other name.
    @Test func ignorableCharacters() throws {
        var count = 0
        for fields in try UnicodeData.lines("DerivedCoreProperties.txt")
        where fields[1] == "Default_Ignorable_Code_Point" {
            let range = fields[0].split(separator: ".").compactMap { UInt32($0, radix: 16) }
            for value in range[0]...range[range.count - 1] {
                let scalar = try #require(Unicode.Scalar(value))
                #expect("a\(Character(scalar))b".nameFolded == "ab", "U+\(fields[0])")
                count += 1
            }
        }
        #expect(count > 4_000)
    }
}

@Suite struct NameFoldingTests {
    @Test(arguments: [
        ["Straße", "STRAẞE", "STRASSE", "strasse", " Stra\u{200B}sse "], ["Été", "ÉTÉ", "E\u{301}te\u{301}"],
        ["A  B", "a b", "A\u{A0}B", "A \u{2800} B", "a\u{3000}b"], ["\u{200B}", "\u{2800}", " \u{FEFF}\u{3164} ", ""],
        ["ΟΔΟΣ", "οδος", "οδοσ"], ["izmir", "IZMIR"], ["ızmır"], ["İzmir", "i\u{307}zmir"], ["Ete"],
        ["❤\u{FE0F}", "❤"],
        ["Full"], ["ＦＵＬＬ", "ｆｕｌｌ"],
    ])
    func namesThatAreAlike(_ names: [String]) {
        #expect(Set(names.map { Array($0.nameFolded.utf8) }).count == 1, "\(names.map(\.nameFolded))")
    }

    @Test func namesThatAreNot() {
        let names = ["izmir", "ızmır", "i\u{307}zmir", "Été", "Ete", "ab", "a b", "", "full", "ｆｕｌｌ"]
        #expect(Set(names.map(\.nameFolded)).count == names.count)
    }

    @Test func everyCharacterIsFoldedToTheEnd() {
        for scalar in allScalars {
            let name = "x\(Character(scalar))y".nameFolded
            #expect(Array(name.nameFolded.utf8) == Array(name.utf8), "U+\(String(scalar.value, radix: 16))")
        }
    }
}

let allScalars = (UInt32(0)...0x10FFFF).compactMap(Unicode.Scalar.init)

extension String {
    var decomposed: String { decomposedStringWithCanonicalMapping }
}

/// Debian's copy of Unicode's data files.
enum UnicodeData {
    private static let folder = "/usr/share/unicode"

    static var isPresent: Bool {
        ["CaseFolding.txt", "NormalizationTest.txt.bz2", "DerivedCoreProperties.txt"].allSatisfy {
            FileManager.default.fileExists(atPath: folder + "/" + $0)
        } && Tool.python.isPresent
    }

    /// The fields of every line, without comments.
    static func lines(_ name: String) throws -> [[String]] {
        let program =
            "import bz2, sys; sys.stdout.buffer.write((bz2.open if sys.argv[1].endswith('2') else open)(sys.argv[1], 'rb').read())"
        let bytes = try Tool.python.run(["-c", program, folder + "/" + name])
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { line in
            let fields = (line.split(separator: "#", omittingEmptySubsequences: false).first ?? "").split(
                separator: ";"
            )
            .map { $0.trimmingCharacters(in: .whitespaces) }
            return fields.count > 1 ? fields : nil
        }
    }

    static func text(_ field: String) throws -> String {
        var text = String.UnicodeScalarView()
        for value in field.split(separator: " ") {
            text.append(try #require(UInt32(value, radix: 16).flatMap(Unicode.Scalar.init)))
        }
        return String(text)
    }
}
