import Foundation
import LibraryServices
import Testing

// The next lines are the README's example, word for word: a test below holds the two together.
// README
import LibraryModel
import ServiceMesh

func importHolidays(from folder: String, into path: String) async throws -> [Photo] {
    let library = try await PhotoLibrary.open(at: path)
    let mesh = library.mesh
    let category = try await mesh.send(AddCategory(displayName: "Holidays", colorHex: "#2196F3"))

    let started = try await mesh.send(ImportPhotos(paths: [folder], categoryId: category.id))
    let job = try await mesh.observe(WatchJob(job: started.job)) { change in
        let progress = change.value.progress
        print("\(progress.phase): \(progress.itemsDone) of \(progress.itemsTotal ?? 0)")
    }
    print("\(job.state): \(job.outcomes)")

    let page = try await mesh.send(SearchPhotos(categoryId: category.id, limit: 100))
    await library.close()
    return page.photos
}
// README

import SampleAlbum
import TestSupport

@Suite struct EmbeddingExampleTests {
    @Test func theExampleRuns() async throws {
        let folder = try TemporaryFolder("example")
        try SampleAlbum(width: 64, height: 48).write(count: 3, to: folder.file("album"))
        #expect(try await importHolidays(from: folder.file("album"), into: folder.file("library")).count == 3)
    }

    @Test func theREADMEShowsTheSame() throws {
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        let example = try #require(source.components(separatedBy: "// README\n").dropFirst().first)
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let readme = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
        #expect(readme.contains(example))
    }
}
