import Randomness
import Testing

@testable import Sidecars

/// What holds for whatever a folder holds, with names made from few parts, so that they meet.
struct SidecarNamesPropertyTests {
    private struct Names {
        var chance: SplitMix64
        private static let stems = [
            "x", "y", "IMG_1", "x(1)", "x-edited", "x-modifié", "x-modifie\u{301}", "é", "e\u{301}", "x.s", "",
            "Smith wedding 2019 in Chicago, high resolution", "Smith wedding 2019 in Chicago, high resolutio",
            "😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀x", "-edited-edited-edited", "(1)", ".", "X", "É", "Img_1",
            "SMITH wedding 2019 in Chicago, high resolutio", "Smith wedding 2019 in Chicago, high resolution-",
        ]
        private static let ends = [
            "", ".jpg", ".png", ".MOV", ".CR2", ".xmp", ".json", "(1)", "(2)", "-edited", "-bearbeitet", ".s", ".suppl",
            ".supplemental-metadata", ".jp", "1", "2", ".", "\u{301}",
            ".JPG", ".XMP", ".Suppl", "-e", "-EDI",
        ]

        mutating func name() -> String {
            var name = Self.stems[chance.below(Self.stems.count)]
            for _ in 0..<chance.below(5) { name += Self.ends[chance.below(Self.ends.count)] }
            return name
        }
    }

    @Test(arguments: 0..<400) func noSidecarIsGivenToTwoPictures(seed: Int) {
        var names = Names(chance: SplitMix64(seed: UInt64(seed)))
        let folder = (0..<(5 + seed % 120)).map { _ in names.name() }
        var facts: [String: SidecarFacts] = [:]
        for name in folder where names.chance.below(3) == 0 {
            let title = folder[names.chance.below(folder.count)]
            facts[name] = SidecarFacts(
                title: title, fileExtension: ["jpg", "JPG", "png", "MOV"][names.chance.below(4)])
        }
        let sidecars = SidecarNames(folder)
        var owners: [[UInt8]: Set<[UInt8]>] = [:]
        for name in folder where !SidecarNames.isSidecar(name) {
            let candidates = sidecars.candidates(for: name)
            let selection = sidecars.selection(for: name) { facts[$0.name] }
            let known = Set(candidates.map { Array($0.name.utf8) })
            #expect(candidates.count <= SidecarNames.maximumCandidates && known.count == candidates.count)
            #expect((selection.names + selection.ambiguous).allSatisfy { known.contains(Array($0.utf8)) })
            #expect(Set(selection.names).isDisjoint(with: selection.ambiguous))
            #expect(selection.names.allSatisfy { !sidecars.unclaimed.contains($0) })
            // An edited picture may have its original's.
            guard PictureName(FolderName(name.utf8)).original == nil else { continue }
            for sidecar in selection.names { owners[Array(sidecar.utf8), default: []].insert(Array(name.utf8)) }
        }
        #expect(owners.values.allSatisfy { $0.count == 1 }, "\(folder)")
    }

    @Test(arguments: 0..<50) func theOrderOfTheNamesDoesNotMatter(seed: Int) {
        var names = Names(chance: SplitMix64(seed: UInt64(seed)))
        let folder = (0..<60).map { _ in names.name() }
        let (one, other) = (SidecarNames(folder), SidecarNames(folder.shuffled(using: &names.chance)))
        #expect(one.unclaimed == other.unclaimed)
        for name in folder {
            #expect(one.candidates(for: name) == other.candidates(for: name))
            #expect(one.selection(for: name) == other.selection(for: name))
        }
    }

    /// Folders in which names meet as often as they can.
    private static let hostile: [@Sendable (Int) -> String] = [
        { "IMG_\($0 / 2).jpg" + ($0 % 2 == 0 ? "" : ".supplemental-metadata.json") },
        { "x.a\($0)" },
        { $0 % 2 == 0 ? "x.a\($0)" : "x." + "s" + String(repeating: "u", count: $0 % 3) + "(\($0)).json" },
        { "Smith wedding 2019 in Chicago, high resolution \($0)" + ($0 % 2 == 0 ? ".jpg" : ".json") },
        { number in "x.jpg." + String((0..<20).map { number >> $0 & 1 == 0 ? "s" : "S" }) + ".json" },
        { number in
            (0..<15).map { number >> $0 & 1 == 0 ? "\u{E9}" : "e\u{301}" }.joined()
                + (number % 2 == 0 ? ".jpg" : ".jpg.json")
        },
        { "x" + String(repeating: "-edited", count: $0 % 35) + "\($0 / 35 % 2).jpg" },
        { number in
            String(
                "abcdefghijklmno".map { $0 }.enumerated().map {
                    number >> $0.offset & 1 == 0 ? $0.element : Character($0.element.uppercased())
                })
                + (number % 3 == 0 ? ".jpg" : ".xmp")
        },
        { "Smith wedding 2019 in Chicago, high resolutio" + "-edited".prefix($0 % 7) + "(\($0 / 7)).jpg" },
        { "x(\($0)).jpg" + ($0 % 2 == 0 ? "" : ".s(\($0)).json") },
    ]

    @Test(arguments: hostile.indices) func workGrowsWithTheNames(folder: Int) {
        func steps(_ count: Int) -> Int { SidecarNames((0..<count).map(Self.hostile[folder])).steps }
        let (small, large) = (steps(2_000), steps(20_000))
        #expect(large <= 11 * small && large <= 60 * 20_000, "\(small) steps for 2,000 names, \(large) for 20,000")
    }
}
