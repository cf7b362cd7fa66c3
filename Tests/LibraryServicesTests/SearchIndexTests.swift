import CatalogueTestSupport
import Database
import LibraryModel
import LibraryTestSupport
@testable import SQLiteCatalogue
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// The text index beside the photos of a whole library.
@Suite struct SearchIndexTests {
    @Test func aChangedDateMovesThePhotoInTheIndex() async throws {
        let test = try await TestLibrary()
        let sample = SampleCatalogue()
        _ = try await test.add((0..<20).map { sample.photo($0, caption: "beach", takenAt: Int64($0) << 30) })
        await test.library.close()
        let path = test.path + "/catalogue.sqlite"
        let database = try await DatabasePool.open(at: path, schema: CatalogueSchema.schema)
        try await database.write { connection in
            try connection.execute("UPDATE photos SET taken_at = -taken_at WHERE id % 2 = 0")
            try connection.execute("UPDATE photos SET taken_at = NULL, created_at = 5 WHERE id = 3")
        }
        await database.close()
        #expect(try await catalogueProblems(at: path).isEmpty)
    }

    /// Also where the statement that enters many failed: single photos afterwards are in the index.
    @Test func theIndexIsInStepAfterBatches() async throws {
        let test = try await TestLibrary()
        var sample = SampleCatalogue(seed: 3)
        let photos = sample.photos(1500, categories: [1, 2])
        _ = try await test.add(Array(photos[..<700]))
        #expect(await status { _ = try await test.add(Array(photos[600...])) } == .alreadyExists)
        let single = photos[700]
        let added = try await test.mesh.send(
            AddPhoto(single),
            in: CallContext.root(mesh: test.mesh, role: .service))
        _ = try await test.add(Array(photos[701...]))
        _ = try await test.mesh.send(ForgetPhotos(ids: [added.id, 1, 2]))
        await test.library.close()
        #expect(try await catalogueProblems(at: test.path + "/catalogue.sqlite").isEmpty)
    }
}
