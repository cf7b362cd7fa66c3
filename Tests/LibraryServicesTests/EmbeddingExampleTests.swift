import Foundation
import SampleAlbum
import TestSupport
import Testing

/// The README's example, which is a file of its own so that no import of a test's helps it along.
@Suite struct EmbeddingExampleTests {
    @Test func theExampleRuns() async throws {
        let folder = try TemporaryFolder("example")
        try SampleAlbum(width: 64, height: 48).write(count: 3, to: folder.file("album"))
        #expect(try await importHolidays(from: folder.file("album"), into: folder.file("library")).count == 3)
    }

    @Test func theREADMEShowsThatFileWordForWord() throws {
        let here = URL(fileURLWithPath: #filePath)
        let example = try String(
            contentsOf: here.deletingLastPathComponent().appendingPathComponent("EmbeddingExample.swift"),
            encoding: .utf8)
        let root = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let readme = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
        #expect(readme.contains("```swift\n" + example + "```"))
    }
}
