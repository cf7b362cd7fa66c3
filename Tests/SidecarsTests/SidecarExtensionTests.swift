import Testing

@testable import Sidecars

/// What XMP says of whose it is where several files are called alike.
struct SidecarExtensionTests {
    private func owners(_ names: [String], _ sidecar: String = "x.xmp", says fileExtension: String?) -> [String] {
        let sidecars = SidecarNames(names + [sidecar])
        return names.filter { name in
            sidecars.selection(for: name) { candidate in
                #expect(candidate.needsReading)
                return SidecarFacts(title: nil, fileExtension: fileExtension)
            }.names == [sidecar]
        }
    }

    @Test(arguments: [
        (["x.jpg", "x.png"], "PNG", ["x.png"]), (["x.jpg", "x.png"], "jpg", ["x.jpg"]),
        (["x.JPG", "x.png"], "jpg", ["x.JPG"]), (["x.CR2", "x.jpg"], "JPG", ["x.jpg"]),
        (["x.CR2", "x.jpg"], "CR2", ["x.CR2"]), (["x.HEIC", "x.MOV"], "mov", ["x.MOV"]),
        (["x.HEIC", "x.MOV"], "HEIC", ["x.HEIC"]), (["x.psd", "x.jpg", "x.tif"], "psd", ["x.psd"]),
        // As without it: the extension is not there, or two files have it.
        (["x.jpg", "x.png"], "gif", []), (["x.CR2", "x.jpg"], "gif", ["x.CR2"]),
        (["x.HEIC", "x.MOV"], "gif", ["x.HEIC"]),
        (["x.jpg", "x.JPG", "x.png"], "jpg", []),
        // Other capitals, which are as near as each other.
        (["X.jpg", "X.png"], "PNG", ["X.png"]),
    ]) func itBelongsToTheOneThatItNames(names: [String], says fileExtension: String, owners: [String]) {
        #expect(self.owners(names, says: fileExtension) == owners)
        #expect(self.owners(names.reversed(), says: fileExtension) == owners.reversed())
    }

    @Test(arguments: ["RWL", "iiq", "fff", "3fr", "srf", "dcr", "kdc", "gpr", "raw", "mrw", "erf", "mef", "mos", "x3f"])
    func withoutOneItIsTheRawFiles(ending: String) {
        #expect(owners(["x.jpg", "x." + ending], says: nil) == ["x." + ending])
    }

    @Test func withoutOneItIsAsBefore() {
        #expect(owners(["x.jpg", "x.png"], says: nil) == [])
        #expect(owners(["x.HEIC", "x.MOV"], says: nil) == ["x.HEIC"])
        let sidecars = SidecarNames(["x.jpg", "x.JPG", "x.png", "x.xmp"])
        let said = SidecarFacts(title: nil, fileExtension: "jpg")
        #expect(sidecars.selection(for: "x.jpg") { _ in said } == SidecarSelection(ambiguous: ["x.xmp"]))
        #expect(sidecars.selection(for: "x.png") { _ in said } == SidecarSelection())
    }

    /// A file whose capitals are others has the same sidecar where capitals do not count.
    @Test func itMayNameAFileOfOtherCapitals() {
        #expect(owners(["x.jpg", "X.PNG"], says: "png") == ["X.PNG"])
        #expect(owners(["x.jpg", "X.PNG"], says: "jpg") == ["x.jpg"])
        #expect(owners(["x.jpg", "X.PNG"], says: "gif") == ["x.jpg"])
    }

    @Test func eachOfTwoHasItsOwn() {
        let sidecars = SidecarNames(["x.jpg", "X.jpg", "x.xmp", "X.xmp"])
        for (name, own) in [("x.jpg", "x.xmp"), ("X.jpg", "X.xmp")] {
            let selection = sidecars.selection(for: name) { _ in SidecarFacts(title: nil, fileExtension: "JPG") }
            #expect(selection == SidecarSelection(names: [own]))
        }
    }

    @Test func onlyWhereTheNameDoesNotDecideItIsAsked() {
        for names in [["x.jpg", "x.jpg.xmp", "x.png"], ["x.jpg", "y.jpg", "x.xmp"]] {
            let selection = SidecarNames(names).selection(for: "x.jpg") { candidate in
                Issue.record("asked for \(candidate.name)")
                return nil
            }
            #expect(selection.names.count == 1)
        }
    }
}
