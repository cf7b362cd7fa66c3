import Testing

@testable import Sidecars

extension SidecarFacts {
    /// Of a document that says nothing else.
    init(title: String?, fileExtension: String? = nil) {
        self.init()
        self.title = title
        self.fileExtension = fileExtension
    }
}

/// What the documents' titles decide where the names do not.
struct SidecarTitleTests {
    private func selection(_ picture: String, _ names: [String], _ titles: [String: String]) -> SidecarSelection {
        SidecarNames(names).selection(for: picture) { candidate in
            #expect(candidate.needsReading)
            return titles[candidate.name].map { SidecarFacts(title: $0) }
        }
    }

    @Test func titleDecidesBetweenShortenedOnes() {
        let names = ["x.jpg", "x.jpg.suppl.json", "x.jpg.s.json"]
        #expect(
            selection("x.jpg", names, ["x.jpg.suppl.json": "y.jpg", "x.jpg.s.json": "x.jpg"])
                == SidecarSelection(names: ["x.jpg.s.json"]))
        #expect(
            selection("x.jpg", names, ["x.jpg.suppl.json": "x.jpg", "x.jpg.s.json": "x.jpg"])
                == SidecarSelection(ambiguous: ["x.jpg.suppl.json", "x.jpg.s.json"]))
        #expect(
            selection("x.jpg", names, [:]) == SidecarSelection(ambiguous: ["x.jpg.suppl.json", "x.jpg.s.json"]))
        #expect(
            selection("x.jpg", names, ["x.jpg.suppl.json": "y.jpg", "x.jpg.s.json": "z.jpg"]) == SidecarSelection())
    }

    private static let cut = "Smith wedding 2019 in Chicago, high resolution"

    @Test func titleDecidesBetweenPicturesWhoseNamesAreCut() {
        #expect(Self.cut.utf16.count == 46)
        let (first, second, json) = (Self.cut + "1.jpg", Self.cut + "2.jpg", Self.cut + ".json")
        let names = [first, second, json]
        #expect(selection(first, names, [:]) == SidecarSelection(ambiguous: [json]))
        #expect(selection(second, names, [:]) == SidecarSelection(ambiguous: [json]))
        #expect(selection(first, names, [json: first]) == SidecarSelection(names: [json]))
        #expect(selection(second, names, [json: first]) == SidecarSelection())
        // The picture's own name was cut as well; the title is whole.
        #expect(selection(second, names, [json: Self.cut + "2 of many.jpg"]) == SidecarSelection(names: [json]))
        #expect(selection(second, names, [json: Self.cut + "2 of many"]) == SidecarSelection(names: [json]))
        #expect(selection(second, names, [json: Self.cut + "3.jpg"]) == SidecarSelection())
        #expect(selection(second, names, [json: Self.cut + "2.png"]) == SidecarSelection())
    }

    @Test func aTitleSpeaksAgainstTheOnlyPicture() {
        let (picture, json) = (Self.cut + "1.jpg", Self.cut + ".json")
        #expect(selection(picture, [picture, json], [:]) == SidecarSelection(names: [json]))
        #expect(selection(picture, [picture, json], [json: Self.cut + "2.jpg"]) == SidecarSelection())
    }

    @Test func signsThatNamesCannotHaveAreUnderscores() {
        let (picture, json) = (
            "Smith_s wedding_ 2019 in Chicago_ high resolution.jpg",
            "Smith_s wedding_ 2019 in Chicago_ high resolut.json"
        )
        #expect(
            selection(picture, [picture, json], [json: "Smith's wedding: 2019 in Chicago/ high resolution.jpg"])
                == SidecarSelection(names: [json]))
    }

    @Test func titleDecidesBetweenExtensions() {
        let names = ["x.png", "x.jpg", "x.json"]
        #expect(selection("x.png", names, ["x.json": "x.png"]) == SidecarSelection(names: ["x.json"]))
        #expect(selection("x.jpg", names, ["x.json": "x.png"]) == SidecarSelection())
        #expect(selection("x.jpg", names, ["x.json": "x"]) == SidecarSelection(ambiguous: ["x.json"]))
    }

    @Test func aTitleIsAskedOnlyWhereItDecides() {
        let names = ["x.jpg", "x.jpg.json", "x.jpg.s.json", "y.jpg", "y.jpg.su.json"]
        let sidecars = SidecarNames(names)
        for name in ["x.jpg", "y.jpg"] {
            let selection = sidecars.selection(for: name) { candidate in
                Issue.record("asked for \(candidate.name)")
                return nil
            }
            #expect(selection.names.count == 1 && selection.ambiguous.isEmpty)
        }
    }
}
