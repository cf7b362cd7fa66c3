import Testing

@testable import Sidecars

/// Names that differ in capitals, as after a copy through Windows.
struct SidecarCaseTests {
    private static let long = "PXL_20230809_203449253.LONG_EXPOSURE-02.ORIGINA"

    @Test(arguments: [
        ("Lake.JPG", "Lake.jpg.xmp"), ("lake.jpg", "LAKE.JPG.XMP"), ("Lake.JPG", "lake.xmp"),
        ("P7040106.jpg", "P7040106.JPG.json"), ("Lake.JPG", "lake.jpg.supplemental-metadata.json"),
        ("Lake.JPG", "LAKE.JPG.SUPPLEMENTAL-METADATA.JSON"), ("Lake.JPG", "lake.jpg.Suppl.json"),
        ("x.jpg", "X.S.json"), ("X(1).JPG", "x.jpg(1).json"), ("X(1).JPG", "x(1).jpg.json"),
        ("X(1).JPG", "x.jpg.SUPPL(1).json"), ("Lake.JPG", "lake.json"), ("LAKE", "lake.json"),
        ("X(2).JPG", "x.SUPPLEMENTAL-METADATA(2).json"),
        (long + ".jpg", "pxl_20230809_203449253.long_exposure-02.origin.json"),
        (long + "(3).JPG", "pxl_20230809_203449253.long_exposure-02.origin(3).json"),
        ("STRAßE.JPG", "Straße.jpg.xmp"), ("CAFÉ.JPG", "Cafe\u{301}.jpg.json"), ("Cafe\u{301}.jpg", "CAFÉ.xmp"),
        ("ДАЧА.jpg", "дача.JPG.json"),
    ]) func capitalsDoNotMatter(picture: String, sidecar: String) {
        let sidecars = SidecarNames([picture, sidecar, "other.jpg"])
        #expect(sidecars.selection(for: picture) == SidecarSelection(names: [sidecar]))
        #expect(sidecars.selection(for: "other.jpg") == SidecarSelection())
        #expect(sidecars.unclaimed.isEmpty)
    }

    @Test(arguments: [("istanbul.jpg", "İstanbul.jpg.xmp"), ("ABC.jpg", "ＡＢＣ.jpg.xmp"), ("I.jpg", "ı.jpg.xmp")])
    func otherLettersAreOthers(picture: String, sidecar: String) {
        let sidecars = SidecarNames([picture, sidecar])
        #expect(sidecars.selection(for: picture) == SidecarSelection())
        #expect(sidecars.unclaimed == [sidecar])
    }

    private static let endings = [
        ".xmp", ".json", ".supplemental-metadata.json", ".suppl.json", ".XMP", ".JSON",
    ]

    @Test(arguments: endings) func eachOfTwoHasItsOwn(ending: String) {
        let names = ["x.jpg", "x.JPG", "x.jpg" + ending, "x.JPG" + ending]
        let sidecars = SidecarNames(names)
        #expect(sidecars.selection(for: "x.jpg") == SidecarSelection(names: ["x.jpg" + ending]))
        #expect(sidecars.selection(for: "x.JPG") == SidecarSelection(names: ["x.JPG" + ending]))
        // What one of them has is not the other's.
        let one = SidecarNames(["x.jpg", "x.JPG", "x.jpg" + ending])
        #expect(one.selection(for: "x.jpg") == SidecarSelection(names: ["x.jpg" + ending]))
        #expect(one.selection(for: "x.JPG") == SidecarSelection())
    }

    @Test func aThirdSpellingIsNobodys() {
        let sidecars = SidecarNames(["lake.jpg", "LAKE.JPG", "Lake.jpg.xmp", "Lake.jpg.json"])
        for name in ["lake.jpg", "LAKE.JPG"] {
            #expect(
                sidecars.selection(for: name) == SidecarSelection(ambiguous: ["Lake.jpg.xmp", "Lake.jpg.json"]))
            // Google's document says whose it is.
            let selection = sidecars.selection(for: name) { _ in SidecarFacts(title: "LAKE.JPG") }
            #expect(selection.names == (name == "LAKE.JPG" ? ["Lake.jpg.json"] : []))
        }
    }

    @Test func whatIsWrittenAlikeDrivesOutTheOther() {
        // The picture of the second is not here any more.
        let sidecars = SidecarNames(["x.JPG", "x.JPG.xmp", "x.jpg.xmp", "X.jpg.json", "x.JPG.json", "x.xmp"])
        #expect(
            sidecars.selection(for: "x.JPG") == SidecarSelection(names: ["x.JPG.xmp", "x.xmp", "x.JPG.json"]))
        #expect(sidecars.candidates(for: "x.JPG").count == 3)
        #expect(sidecars.unclaimed == ["X.jpg.json", "x.jpg.xmp"])
    }

    @Test func ofSeveralSpellingsNoneIsGuessed() {
        let (xmp, json) = (["LAKE.JPG.xmp", "lake.jpg.xmp"], ["LAKE.JPG.json", "lake.jpg.json"])
        let sidecars = SidecarNames(["Lake.JPG"] + xmp + json)
        let selection = sidecars.selection(for: "Lake.JPG")
        #expect(selection.names.isEmpty && selection.ambiguous.sorted() == (xmp + json).sorted())
        let titled = sidecars.selection(for: "Lake.JPG") {
            SidecarFacts(title: $0.name == json[0] ? "Lake.JPG" : "y.jpg")
        }
        #expect(titled.names == [json[0]])
    }

    @Test func bytesGoBeforeFormsBeforeCapitals() {
        let spellings = ["Caf\u{E9}.jpg", "Cafe\u{301}.jpg", "CAF\u{C9}.jpg", "CAFE\u{301}.jpg"]
        let sidecars = SidecarNames(spellings + spellings.map { $0 + ".json" } + spellings.map { $0 + ".xmp" })
        for spelling in spellings {
            let expected = [spelling + ".xmp", spelling + ".json"]
            #expect(sidecars.selection(for: spelling).names.map { Array($0.utf8) } == expected.map { Array($0.utf8) })
        }
        // Two ways to read a name: the one that leads to the same bytes counts.
        let read = SidecarNames(["X.jpg.s", "x.jpg", "x.jpg.s.json"])
        #expect(read.selection(for: "x.jpg").names == ["x.jpg.s.json"])
        #expect(read.selection(for: "X.jpg.s").names == [])
    }

    @Test func titlesMayHaveOtherCapitals() {
        let (picture, json) = (Self.long.lowercased() + ".jpg", String(Self.long.prefix(46)) + ".json")
        let sidecars = SidecarNames([picture, json])
        let own = sidecars.selection(for: picture) { _ in SidecarFacts(title: Self.long + "L.JPG") }
        #expect(own == SidecarSelection(names: [json]))
        let others = sidecars.selection(for: picture) { _ in SidecarFacts(title: Self.long.dropLast() + "X.JPG") }
        #expect(others == SidecarSelection())
    }

    @Test func editedPicturesFindTheirOriginal() {
        for (edited, original) in [("X-EDITED.JPG", "x.jpg"), ("x-edited.jpg", "X.HEIC"), ("X-MODIFIÉ.JPG", "x.jpg")] {
            let sidecars = SidecarNames([edited, original, original + ".json"])
            #expect(sidecars.selection(for: edited) == SidecarSelection(names: [original + ".json"]))
        }
        // There are two, and nothing is guessed.
        let two = SidecarNames(["X-edited.jpg", "x.jpg", "x.JPG", "x.jpg.json", "x.JPG.json"])
        #expect(two.selection(for: "X-edited.jpg") == SidecarSelection())
    }

    @Test func documentsOfAlbumsStayWithoutPicture() {
        let sidecars = SidecarNames(["Metadata.jpg", "METADATA.JSON", "metadata.json"])
        #expect(sidecars.candidates(for: "Metadata.jpg").isEmpty && sidecars.unclaimed.isEmpty)
    }

    /// One of 131,072, the first without capitals.
    private func spelling(_ number: Int) -> String {
        String(decoding: (0..<17).map { UInt8(0x61 + $0) ^ (number >> $0 & 1 == 0 ? 0 : 0x20) }, as: UTF8.self)
    }

    /// All of their names are one where capitals do not count.
    @Test(.timeLimit(.minutes(1))) func manySpellingsOfOneNameTakeLinearTime() {
        func steps(_ count: Int) -> Int {
            let names =
                (0..<count / 2).map { spelling($0) + ".jpg" } + (0..<count / 2).map { spelling($0 + 1) + ".jpg.json" }
            let sidecars = SidecarNames(names)
            #expect(sidecars.selection(for: spelling(1) + ".jpg").names == [spelling(1) + ".jpg.json"])
            #expect(sidecars.selection(for: spelling(0) + ".jpg") == SidecarSelection())
            return sidecars.steps
        }
        let (small, large) = (steps(10_000), steps(100_000))
        #expect(large <= 11 * small, "\(small) steps for 10,000 names, \(large) for 100,000")
    }

    @Test(.timeLimit(.minutes(1))) func oneNameAndManySpellingsOfItsSidecar() {
        let sidecars = SidecarNames(["abcdefghijklmnopq.jpg"] + (1..<20_000).map { spelling($0) + ".jpg.xmp" })
        let selection = sidecars.selection(for: "abcdefghijklmnopq.jpg")
        #expect(selection.names.isEmpty && selection.ambiguous.count == SidecarNames.maximumCandidates)
    }
}
