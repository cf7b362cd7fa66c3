import ControlSocket
import Foundation
import LibraryModel
import ServiceMesh
import TestSupport
import Testing

@testable import Commands

@Suite struct SheetCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("sheet") }

    private func stage() -> Stage { Stage(currentFolder: folder.file("")) }

    /// An answer with a picture of these words.
    private func answer(_ stage: Stage, _ words: String, photos: Int = 2, pages: Int = 1, next: String? = nil) {
        let memory = open(folder.file(".\(UUID().uuidString)"), O_RDWR | O_CREAT | O_EXCL, 0o600)
        _ = Array(words.utf8).withUnsafeBytes { write(memory, $0.baseAddress, $0.count) }
        let next = next.map { #","next":"\#($0)""# } ?? ""
        stage.answer(
            "photo.sheet",
            #"{"photos":\#(photos),"pages":\#(pages),"mediaType":"image/jpeg","width":1,"height":1,"size":\#(words.utf8.count),"content":0\#(next)}"#,
            files: [OwnedFile(owning: memory)])
    }

    private func content(_ name: String) throws -> String {
        try String(contentsOfFile: folder.file(name), encoding: .utf8)
    }

    @Test func eachPageGetsAFileOfItsOwn() async throws {
        let stage = stage()
        answer(stage, "one", pages: 3, next: "1.1")
        answer(stage, "two", pages: 3, next: "1.2")
        answer(stage, "three", photos: 1, pages: 3)
        #expect(await stage.run("photos", "sheet", "beach", "--columns", "3", "-o", "out.jpg") == .done)
        #expect(stage.results == ["out.jpg", "out-2.jpg", "out-3.jpg"].map { folder.file($0) + "\n" }.joined())
        #expect(try content("out.jpg") == "one" && content("out-2.jpg") == "two" && content("out-3.jpg") == "three")
        let asked = stage.allParams("photo.sheet")
        #expect(asked.map { $0["after"] } == [nil, "1.1", "1.2"] && asked.map { $0["page"] } == [1, 2, 3])
        #expect(asked[2]["words"] == ["beach"] && asked[2]["columns"] == 3 && asked[2]["format"] == "jpeg")
    }

    @Test func nothingIsOverwrittenUnlessTold() async throws {
        try Data("mine".utf8).write(to: URL(fileURLWithPath: folder.file("out-2.png")))
        let refused = stage()
        answer(refused, "one", pages: 2, next: "1.1")
        #expect(await refused.run("photos", "sheet", "-o", "out.png") == .failed)
        #expect(refused.messages.contains("out-2.png is there already") && refused.messages.contains("--force"))
        // Not the first page either.
        #expect(!FileManager.default.fileExists(atPath: folder.file("out.png")))
        let forced = stage()
        answer(forced, "one", pages: 2, next: "1.1")
        answer(forced, "two", pages: 2)
        #expect(await forced.run("photos", "sheet", "-o", "out.png", "--force") == .done)
        #expect(try content("out-2.png") == "two")
        #expect(forced.params("photo.sheet")?["format"] == "png")
    }

    @Test func tooManyPagesAndNoneAreRefusedBeforeAnythingIsWritten() async throws {
        let many = stage()
        answer(many, "one", pages: 417, next: "1.1")
        #expect(await many.run("photos", "sheet", "-o", "out.jpg") == .failed)
        #expect(many.messages.contains("417 pages") && many.messages.contains("--pages 417"))
        let none = stage()
        answer(none, "empty", photos: 0)
        #expect(await none.run("photos", "sheet", "-o", "out.jpg") == .failed)
        #expect(none.messages.contains("No photo meets these filters"))
        #expect(!FileManager.default.fileExists(atPath: folder.file("out.jpg")))
    }

    @Test func theEndingDecidesTheFormat() async throws {
        for name in ["out", "out.gif", ".jpg", "folder.d/out", "out."] {
            let stage = stage()
            #expect(await stage.run("photos", "sheet", "-o", name) == .usage)
            #expect(stage.messages.contains(".jpg or .png") && stage.methods.isEmpty)
        }
        #expect(await stage().run("photos", "sheet") == .usage)
        #expect(SheetTarget("/a.b/c.JPEG")?.path(ofPage: 12) == "/a.b/c-12.JPEG")
    }
}
