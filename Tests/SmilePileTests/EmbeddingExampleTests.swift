import Foundation
import SampleAlbum
import TestSupport
import Testing

/// The example of the documentation's first page, which is a file of its own so that no import of a test's helps it along.
@Suite struct EmbeddingExampleTests {
    @Test func theExampleRuns() async throws {
        let folder = try TemporaryFolder("example")
        try SampleAlbum(width: 64, height: 48).write(count: 3, to: folder.file("album"))
        #expect(try await importHolidays(from: folder.file("album"), into: folder.file("library")).count == 3)
    }

    @Test func theDocumentationShowsThatFileWordForWord() throws {
        let here = URL(fileURLWithPath: #filePath)
        let example = try String(
            contentsOf: here.deletingLastPathComponent().appendingPathComponent("EmbeddingExample.swift"),
            encoding: .utf8)
        let root = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let page = root.appendingPathComponent("Sources/SmilePile/SmilePile.docc/SmilePile.md")
        #expect(try String(contentsOf: page, encoding: .utf8).contains("```swift\n" + example + "```"))
    }
}
