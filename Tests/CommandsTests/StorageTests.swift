import LibraryModel
import Testing

@testable import Commands

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

    @Test("The help says that forgotten photos' files are among them")
    func help() async throws {
        let stage = Stage()
        #expect(await stage.run("storage", "clean", "--help") == .done)
        #expect(stage.results.contains("smilepile photos forget"))
    }
}
