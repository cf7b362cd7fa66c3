import Testing

@testable import Sidecars

/// Pictures that were edited in Google Photos and whose names were too long to say so.
struct EditedPictureTests {
    private static let words = "Family reunion at grandmother's house in Aarhus"

    /// As Google does: the original's stem and what it appends, cut to 47 UTF-16 units.
    private static func cut(_ stem: String, _ suffix: String) -> String {
        String(decoding: (stem + suffix).utf16.prefix(47), as: UTF16.self)
    }

    private static let suffixes = [
        "-edited", "-bearbeitet", "-modifié", "-modificato", "-editado", "-ha editado", "-editat", "-bewerkt",
        "-edytowane", "-отредактировано", "-编辑", "-編集済み", "-편집됨",
    ]

    @Test(arguments: suffixes, 30...46) func theCutNameLeadsToTheOriginal(suffix: String, length: Int) {
        let stem = String(Self.words.prefix(length))
        for number in ["", "(1)"] {
            let (edited, original) = (Self.cut(stem, suffix) + number + ".jpg", stem + number + ".jpg")
            let json =
                String(decoding: (stem + ".jpg.supplemental-metadata").utf16.prefix(46), as: UTF16.self)
                + number + ".json"
            let sidecars = SidecarNames([edited, original, json, "y.jpg"])
            for name in [edited, original] {
                let selection = sidecars.selection(for: name) { candidate in
                    #expect(sidecars.candidates(for: name).contains(candidate))
                    return SidecarFacts(title: stem + ".jpg")
                }
                #expect(selection == SidecarSelection(names: [json]), "\(name), \(json)")
            }
            #expect(sidecars.unclaimed.isEmpty)
        }
    }

    @Test(arguments: ["-edi", "-e", "-", "-bearb", "-modifi", "-EDI"]) func theOriginalMayBeOfAnotherKind(tail: String)
    {
        let stem = String(Self.words.prefix(47 - tail.utf16.count))
        let (edited, original) = (stem + tail + ".jpg", stem + ".HEIC")
        let json = String((original + ".supplemental-metadata").prefix(46)) + ".json"
        let sidecars = SidecarNames([edited, original, json])
        let selection = sidecars.selection(for: edited) { _ in SidecarFacts(title: original) }
        #expect(selection == SidecarSelection(names: [json]))
        // There is another: nothing is guessed.
        let two = SidecarNames([edited, original, stem + ".png", json])
        #expect(two.selection(for: edited) { _ in SidecarFacts(title: original) } == SidecarSelection())
    }

    @Test func theOriginalMayBeMissing() {
        let stem = String(Self.words.prefix(44))
        let (edited, json) = (stem + "-ed.jpg", stem + ".j.json")
        let sidecars = SidecarNames([edited, json])
        #expect(sidecars.selection(for: edited) == SidecarSelection(names: [json]))
        #expect(sidecars.selection(for: edited) { _ in SidecarFacts(title: stem + ".jpg") }.names == [json])
        #expect(sidecars.selection(for: edited) { _ in SidecarFacts(title: stem + "!.jpg") } == SidecarSelection())
    }

    @Test func oneMissingOriginalIsNotTakenForAnother() {
        for (one, other) in [("x-edited.jpg", "x-edited.png"), ("x-edited.jpg", "X-edited.JPG")] {
            let json = other.replacing("-edited", with: "") + ".json"
            for names in [[one, other, json], [other, one, json]] {
                let sidecars = SidecarNames(names)
                #expect(sidecars.selection(for: one) == SidecarSelection())
                #expect(sidecars.selection(for: other) == SidecarSelection(names: [json]))
            }
        }
    }

    @Test func itsOwnSidecarGoesFirst() {
        let stem = String(Self.words.prefix(44))
        let names = [stem + "-ed.jpg", stem + ".jpg", stem + ".j.json", stem + "-e.json"]
        let selection = SidecarNames(names).selection(for: names[0]) { candidate in
            SidecarFacts(title: candidate.name == names[3] ? stem + "-edited.jpg" : stem + ".jpg")
        }
        #expect(selection == SidecarSelection(names: [names[3]]))
    }

    @Test(arguments: ["-ed", "-x", "ed", "-edf", "_ed", "-ed ", "-de"]) func otherEndingsAreNames(ending: String) {
        // `-ed` is too short to have been cut.
        let stem = String(Self.words.prefix(ending == "-ed" ? 30 : 47 - ending.utf16.count))
        let (picture, original) = (stem + ending + ".jpg", stem + ".jpg")
        let sidecars = SidecarNames([picture, original, original + ".xmp"])
        #expect(sidecars.selection(for: picture) == SidecarSelection())
        #expect(sidecars.selection(for: original) == SidecarSelection(names: [original + ".xmp"]))
    }
}
