import Executors
import LibraryModel
import LibraryTestSupport
@testable import LibraryServices
import PhotoFolder
import SampleAlbum
import ServiceMesh
import SmilePile
import Testing

/// What leaves the trash by itself, and when.
@Suite(.timeLimit(.minutes(2))) struct TrashExpiryTests {
    /// Says of a photo in the trash that it has been there for so long.
    private func age(_ photo: Photo, days: Int64, in test: TestLibrary) async throws {
        let then = Timestamp.now().milliseconds - days * 86_400_000
        let id = photo.id
        try await test.library.catalogue.database.write {
            try $0.execute("UPDATE trash SET deleted_at = ? WHERE id = ?", then, id)
        }
    }

    @Test func photosGoAfterThirtyDaysUnlessTheSettingSaysNo() async throws {
        let test = try await TestLibrary("trash")
        _ = try await test.importSamples(3, album: SampleAlbum(width: 32, height: 24))
        let photos = try await test.allPhotos()
        _ = try await test.mesh.send(DeletePhotos(ids: photos.map(\.id)))
        try await age(photos[0], days: 31, in: test)
        try await age(photos[1], days: 29, in: test)
        func left() async throws -> [Int64] { try await test.mesh.send(ListTrash()).photos.map(\.photo.id) }

        let pool = BlockingPool(name: "trash", threads: 1)
        let catalogue = test.library.catalogue
        let store = PhotoStore(
            catalogue: catalogue,
            discards: DiscardedFiles(
                catalogue: catalogue, photoFiles: LibraryFolder(path: test.path), pool: pool))
        #expect(try await test.mesh.send(GetSettings()).storageCleanupEnabled)
        _ = try await test.mesh.send(ChangeSettings(storageCleanupEnabled: false))
        await store.purgeExpired()
        #expect(try await left() == photos.map(\.id).reversed())
        _ = try await test.mesh.send(ChangeSettings(storageCleanupEnabled: true))
        await store.purgeExpired()
        #expect(try await left() == [photos[2].id, photos[1].id])
        #expect(try test.files("photos").count == 2)

        // It is looked at when a library is opened.
        try await age(photos[1], days: 30, in: test)
        await test.library.close()
        let library = try await test.reopened()
        let trash = Watched.follow(ObserveTrash(), on: library.mesh)
        await trash.value { $0.photos.map(\.photo.id) == [photos[2].id] }
        await library.close()
    }
}
