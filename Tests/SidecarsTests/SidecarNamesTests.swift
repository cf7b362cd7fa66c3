import Testing

@testable import Sidecars

struct SidecarNamesTests {
    /// What each picture gets without any title; pictures that get nothing are left out.
    private func selected(_ names: [String]) -> [String: [String]] {
        let sidecars = SidecarNames(names)
        var selected: [String: [String]] = [:]
        for name in names where !SidecarNames.isSidecar(name) {
            let selection = sidecars.selection(for: name).names
            if !selection.isEmpty { selected[name] = selection }
        }
        return selected
    }

    private static let long = "PXL_20230809_203449253.LONG_EXPOSURE-02.ORIGINA.jpg"

    @Test(arguments: [
        ("x.jpg", "x.jpg.xmp"), ("x.jpg", "x.xmp"), ("x.JPG", "x.XMP"), ("x.jpg", "x.jpg.json"),
        ("x.jpg", "x.jpg.JSON"),
        ("x.jpg", "x.jpg.supplemental-metadata.json"), ("x.jpg", "x.jpg.supplemental-met.json"),
        ("x.jpg", "x.jpg.suppl.json"), ("x.jpg", "x.jpg.s.json"), ("x.jpg", "x.jpg..json"),
        ("x(1).jpg", "x.jpg(1).json"), ("x(1).jpg", "x(1).jpg.json"),
        ("x(1).jpg", "x.jpg.supplemental-metadata(1).json"),
        ("x(1).jpg", "x.jpg.suppl(1).json"), ("x(1).jpg", "x(1).jpg.supplemental-metadata.json"),
        ("x.jpg", "x.json"), ("x.jpg", "x.supplemental-metadata.json"),
        ("2013-12-23(1).jpg", "2013-12-23.supplemental-metadata(1).json"),
        ("x", "x.json"), ("x", "x.xmp"), (".x", ".x.json"),
        // Names of real exports.
        (long, "PXL_20230809_203449253.LONG_EXPOSURE-02.ORIGIN.json"),
        ("05yqt21kruxwwlhhgrwrdyb6chhwszi9bqmzu16w0 2.jpg", "05yqt21kruxwwlhhgrwrdyb6chhwszi9bqmzu16w0 2.jp.json"),
        ("Screenshot_20231027_123303_Facebook.jpg", "Screenshot_20231027_123303_Facebook.jpg.supple.json"),
        ("Screenshot_20231027_123303_Facebook(1).jpg", "Screenshot_20231027_123303_Facebook.jpg.supple(1).json"),
        (
            "Backyard_ceremony_wedding_photography_xxxxxxx_m(494).jpg",
            "Backyard_ceremony_wedding_photography_xxxxxxx_(494).json"
        ),
        (
            "13039_327707840323_537645323_9470255_27214_n(1).jpg",
            "13039_327707840323_537645323_9470255_27214_n.j(1).json"
        ),
        ("MVIMG_20200207_134534~2.jpg", "MVIMG_20200207_134534~2.jpg.supplemental-metad.json"),
        // Counted in UTF-16.
        ("😀😃😄😁😆😅😂🤣🥲☺️😊😇🙂🙃😉😌😍🥰😘😗😙😚😋😛.jpg", "😀😃😄😁😆😅😂🤣🥲☺️😊😇🙂🙃😉😌😍🥰😘😗😙😚😋.json"),
        // One file came through macOS, which takes letters and accents apart.
        ("Caf\u{E9}.jpg", "Cafe\u{301}.jpg.json"), ("Cafe\u{301}.jpg", "Caf\u{E9}.jpg.suppl.json"),
    ]) func belongs(picture: String, sidecar: String) {
        #expect(selected([picture, sidecar]) == [picture: [sidecar]])
        #expect(
            selected([sidecar, picture, picture, "y.jpg", "y.jpg.xmp"]) == [picture: [sidecar], "y.jpg": ["y.jpg.xmp"]])
    }

    @Test(arguments: [
        ("x.jpg", "y.jpg.json"), ("x.jpg", "x.png.json"), ("x.jpg", "x.jpg(1).json"), ("x(1).jpg", "x.jpg.json"),
        ("x(1).jpg", "x.jpg(2).json"), ("x.jpg", "x.jpg.supplemental-metadatas.json"), ("x.jpg", "x.jpg.met.json"),
        ("x.HEIC", "x.MOV.json"), ("x.jpg", "x.jpg"), ("metadata.jpg", "metadata.json"),
        ("x(01).jpg", "x.jpg(01).json"), ("x.jpg", "json"), ("x.jpg", ".json"), ("x.jpg", ".xmp"),
        ("PXL_20220405_090123741.jpg", "PXL_20220405_090123740.jpg.json"),
        // Not cut, so nothing may be missing from it.
        ("Holiday in Denmark.jpg", "Holiday in Den.json"),
        // Cut one unit too early and too late.
        (long, "PXL_20230809_203449253.LONG_EXPOSURE-02.ORIGI.json"),
        (long, "PXL_20230809_203449253.LONG_EXPOSURE-02.ORIGINA.jp.json"),
    ]) func doesNotBelong(picture: String, sidecar: String) {
        #expect(selected([picture, sidecar]) == [:])
    }

    @Test func everyCutOfTheSupplementBelongs() {
        for length in 1...TakeoutName.supplement.count {
            let cut = String(decoding: TakeoutName.supplement.prefix(length), as: UTF8.self)
            #expect(selected(["x.jpg", "x.jpg\(cut).json"]).count == 1)
        }
    }

    @Test func surerFormsGoFirst() {
        let names = [
            "x.jpg.s.json", "x.jpg.json", "x.xmp", "x.json", "x.jpg.supplemental-metadata.json", "x.jpg.xmp", "x.jpg",
        ]
        let sidecars = SidecarNames(names)
        #expect(
            sidecars.candidates(for: "x.jpg").map(\.name) == [
                "x.jpg.xmp", "x.xmp", "x.jpg.supplemental-metadata.json", "x.jpg.json", "x.jpg.s.json", "x.json",
            ])
        // The exact ones win over the shortened one.
        #expect(
            sidecars.selection(for: "x.jpg")
                == SidecarSelection(names: ["x.jpg.xmp", "x.xmp", "x.jpg.supplemental-metadata.json", "x.jpg.json"]))
    }

    @Test(arguments: [
        ("x-edited.jpg", "x.jpg"), ("x-bearbeitet.jpg", "x.jpg"), ("x-modifi\u{E9}.jpg", "x.jpg"),
        ("x-modifie\u{301}.jpg", "x.jpg"), ("x-edytowane.jpg", "x.jpg"), ("x-ha editado.jpg", "x.jpg"),
        ("x-編集済み.jpg", "x.jpg"), ("x-edited(1).jpg", "x(1).jpg"), ("x(1)-edited.jpg", "x(1).jpg"),
        ("x-edited.jpg", "x.HEIC"), ("x-edited-edited.jpg", "x-edited.jpg"),
    ]) func editedPicturesHaveTheirOriginalsSidecar(edited: String, original: String) {
        let json = original + ".json"
        #expect(selected([edited, original, json]) == [edited: [json], original: [json]])
        // Its own comes first.
        let own = edited + ".supplemental-metadata.json"
        #expect(selected([edited, original, json, own]) == [edited: [own], original: [json]])
    }

    @Test func editedPicturesWhoseOriginalIsNotThere() {
        #expect(selected(["x-edited.jpg", "x.jpg.json"]) == ["x-edited.jpg": ["x.jpg.json"]])
        #expect(selected(["x-edited.jpg", "x-bearbeitet.jpg", "x.jpg.json"]).count == 2)
        #expect(selected(["-edited.jpg", ".jpg.json"]) == [:])
        // The picture that is there has the better claim.
        #expect(selected(["x-edited.jpg", "x.gif", "x.png", "x.jpg.xmp", "x.gif.json"])["x.gif"] == ["x.gif.json"])
    }

    @Test func videosOfLivePhotosHaveNone() {
        #expect(selected(["x.HEIC", "x.MOV", "x.HEIC.json"]) == ["x.HEIC": ["x.HEIC.json"]])
        #expect(selected(["x.HEIC", "x.MOV", "x.xmp"]) == ["x.HEIC": ["x.xmp"]])
        #expect(selected(["x.HEIC", "x.MOV", "x.json"]) == ["x.HEIC": ["x.json"]])
    }

    @Test func whatHasNoExtensionMeansTheRawPictureOrNobody() {
        #expect(selected(["x.CR2", "x.jpg", "x.xmp"]) == ["x.CR2": ["x.xmp"]])
        #expect(selected(["x.txt", "x.jpg", "x.xmp"]) == ["x.jpg": ["x.xmp"]])
        let sidecars = SidecarNames(["x.png", "x.jpg", "x.xmp"])
        for name in ["x.png", "x.jpg"] {
            #expect(sidecars.selection(for: name) == SidecarSelection(ambiguous: ["x.xmp"]))
        }
    }

    @Test func bytesGoBeforeNormalForms() {
        let (composed, decomposed) = ("Caf\u{E9}.jpg", "Cafe\u{301}.jpg")
        let sidecars = SidecarNames([composed, decomposed, composed + ".json", decomposed + ".xmp"])
        #expect(sidecars.selection(for: composed).names.map { Array($0.utf8) } == [Array((composed + ".json").utf8)])
        #expect(sidecars.selection(for: decomposed).names.map { Array($0.utf8) } == [Array((decomposed + ".xmp").utf8)])
    }

    @Test func whatNobodyClaims() {
        let names = [
            "x.jpg", "x.jpg.json", "gone.jpg.json", "gone.jpg.suppl(2).json", "gone.xmp", "video.mp4", "video.mp4.json",
            "metadata.json", "metadata(1).json", "package.json", "print-subscriptions.json", "notes.txt",
        ]
        #expect(SidecarNames(names).unclaimed == ["gone.jpg.json", "gone.jpg.suppl(2).json", "gone.xmp"])
    }

    /// As long as a file's name can be, with letters of two bytes and of three.
    @Test(arguments: ["y", "ü", "猫"]) func longNamesStayWhole(letter: String) {
        let room = 255 - "-one.jpg.xmp".utf8.count
        let stem =
            String(repeating: letter, count: room / letter.utf8.count)
            + String(repeating: "y", count: room % letter.utf8.count)
        let (one, two) = (stem + "-one.jpg", stem + "-two.jpg")
        #expect((one + ".xmp").utf8.count == 255)
        for ending in [".xmp", ".XMP"] {
            let sidecars = SidecarNames([one, two, one + ending, two + ending])
            #expect(sidecars.selection(for: one) == SidecarSelection(names: [one + ending]))
            #expect(sidecars.selection(for: two) == SidecarSelection(names: [two + ending]))
            #expect(SidecarNames([one, two + ending]).unclaimed == [two + ending])
        }
    }

    @Test func strangersHaveNothing() {
        let sidecars = SidecarNames(["x.jpg", "x.jpg.json"])
        #expect(sidecars.candidates(for: "y.jpg").isEmpty)
        #expect(sidecars.candidates(for: "x.jpg.json").isEmpty)
        #expect(SidecarNames([]).selection(for: "") == SidecarSelection())
    }
}
