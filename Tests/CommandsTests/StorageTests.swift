import Foundation
import LibraryModel
import ServiceMesh
import Testing

@Suite("Cleaning up")
struct StorageTests {
    @Test("Every unknown photo is counted, also those that are not named")
    func countsAll() async throws {
        let stage = Stage()
        let named = (0..<1_000).map { "photos/\($0).jpg" }
        try stage.answer(
            "storage.clean",
            StorageCleaning(thumbnails: 0, bytes: 0, unknownPhotos: named, unknownCount: 1_234, unknownBytes: 1_234))
        #expect(await stage.run("storage", "clean", "--unknown-photos") == .done)
        #expect(stage.results.contains("Removed 1234 photos that the catalogue does not know"), "\(stage.results)")
        #expect(stage.results.hasSuffix("  photos/999.jpg\n  … and 234 more\n"))
    }

    @Test("Thumbnails that could not be made are counted and named")
    func thumbnails() async throws {
        let stage = Stage()
        stage.answer("thumbnail.rebuild", #"{"job":"import-3f9a2c"}"#)
        let receipt = ThumbnailReceipt(photos: 1_204, made: 12, problems: 1, ending: .completeWithProblems)
        try stage.answer(
            "job.watch",
            Sample.job(
                "thumbnail.rebuild", needsAttention: true, outcomes: ["no_thumbnail": 1], receipt: receipt))
        let line = ReceiptLine(item: "photos/IMG_1.jpg", outcome: "no_thumbnail", detail: "This photo is damaged.")
        stage.answer("job.receipt", try String(decoding: JSONEncoder().encode(["lines": [line]]), as: UTF8.self))
        #expect(await stage.run("storage", "thumbnails", "--all") == .doneWithProblems)
        #expect(stage.params("thumbnail.rebuild") == ["all": true])
        #expect(
            stage.results.hasPrefix(
                "Looked at 1204 photos, made 12 thumbnails and previews. 1 picture could not be made.\n"),
            "\(stage.results)")
        #expect(stage.results.contains("no_thumbnail  photos/IMG_1.jpg: This photo is damaged.\n"))
    }

    @Test("The help says that forgotten photos' files are among them")
    func help() async throws {
        let stage = Stage()
        #expect(await stage.run("storage", "clean", "--help") == .done)
        #expect(stage.results.contains("smilepile photos forget"))
    }
}
