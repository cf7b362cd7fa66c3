import CatalogueTestSupport
import Database
import LibraryModel
import LibraryTestSupport
@testable import SQLiteCatalogue
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// Every `Flow` of the specification: the current value at once, and the new one after a change (Methods.md names the
/// tests; what holds for all observations is in ObservationTests).
@Suite(.timeLimit(.minutes(2))) struct ObservedMethodTests {
    private let sample = SampleCatalogue()

    /// Photos 1…6, in categories 1 and 2 by turns; photo `n` was taken at `n` seconds.
    private func library() async throws -> TestLibrary {
        let test = try await TestLibrary("flows")
        _ = try await test.add((1...6).map { sample.photo($0, category: Int64($0 % 2 + 1), takenAt: Int64($0) * 1000) })
        return test
    }

    private func seconds(_ number: Int64) -> LocalDateTime { LocalDateTime(milliseconds: number * 1000) }

    /// Observes, expects the photos that there are, changes something, and expects those that there are then.
    private func follow(
        _ request: ObservePhotos, from before: [Int64], to after: [Int64], _ change: (Mesh) async throws -> Void
    ) async throws {
        let test = try await library()
        let watched = Watched.follow(request, on: test.mesh)
        await watched.value { $0.photos.map(\.id) == before && $0.total == before.count }
        #expect(watched.newest?.sequence == 1)
        try await change(test.mesh)
        await watched.value { $0.photos.map(\.id) == after && $0.total == after.count }
        await test.library.close()
    }

    @Test func allPhotos() async throws {
        try await follow(ObservePhotos(), from: [6, 5, 4, 3, 2, 1], to: [6, 5, 3, 2, 1]) {
            _ = try await $0.send(DeletePhotos(ids: [4]))
        }
    }

    @Test func onePhoto() async throws {
        let test = try await library()
        let photo = try await test.mesh.send(GetPhoto(id: 2))
        let byID = Watched.follow(ObservePhoto(id: 2), on: test.mesh)
        let byUUID = Watched.follow(ObservePhoto(uuid: photo.uuid.uppercased()), on: test.mesh)
        await byID.becomes(ObservedPhoto(photo: photo))
        await byUUID.becomes(ObservedPhoto(photo: photo))
        let edited = try await test.mesh.send(EditPhoto(id: 2, caption: "new"))
        await byID.becomes(ObservedPhoto(photo: edited))
        await byUUID.becomes(ObservedPhoto(photo: edited))
        _ = try await test.mesh.send(ForgetPhotos(ids: [2]))
        await byID.becomes(ObservedPhoto(photo: nil))
        await byUUID.becomes(ObservedPhoto(photo: nil))
        await test.library.close()
    }

    @Test func photosOfACategory() async throws {
        try await follow(ObservePhotos(PhotoFilter(categoryId: 2)), from: [5, 3, 1], to: [5, 4, 3, 1]) {
            _ = try await $0.send(MovePhotos(ids: [4], categoryId: 2))
        }
    }

    @Test func theNumberOfPhotosInACategory() async throws {
        let test = try await library()
        let category = Watched.follow(ObserveCategory(id: 1), on: test.mesh)
        await category.value { $0.category?.photoCount == 3 }
        _ = try await test.mesh.send(MovePhotos(ids: [1, 3], categoryId: 1))
        await category.value { $0.category?.photoCount == 5 }
        await test.library.close()
    }

    @Test func favorites() async throws {
        try await follow(ObservePhotos(PhotoFilter(favoritesOnly: true)), from: [], to: [6, 2]) {
            _ = try await $0.send(SetFavorite(ids: [2, 6], isFavorite: true))
        }
    }

    @Test func photosByText() async throws {
        try await follow(ObservePhotos(PhotoFilter(text: "DSC5")), from: [5], to: [5, 2]) {
            _ = try await $0.send(EditPhoto(id: 2, caption: "like dsc5"))
        }
    }

    @Test func photosByTextInACategory() async throws {
        try await follow(ObservePhotos(PhotoFilter(text: "dsc", categoryId: 1)), from: [6, 4, 2], to: [6, 2]) {
            _ = try await $0.send(EditPhoto(id: 4, categoryId: 3))
        }
    }

    @Test func photosByDates() async throws {
        try await follow(
            ObservePhotos(PhotoFilter(from: seconds(2), to: seconds(4))), from: [4, 3, 2], to: [6, 4, 3, 2]
        ) {
            _ = try await $0.send(EditPhoto(id: 6, takenAt: seconds(4)))
        }
    }

    @Test func photosByDatesInACategory() async throws {
        try await follow(
            ObservePhotos(PhotoFilter(categoryId: 1, from: seconds(2), to: seconds(4))), from: [4, 2], to: [4, 3, 2]
        ) {
            _ = try await $0.send(MovePhotos(ids: [3], categoryId: 1))
        }
    }

    @Test func photosByEveryFilter() async throws {
        let request = ObservePhotos(
            PhotoFilter(text: "dsc", categoryId: 1, from: seconds(2), to: seconds(4), favoritesOnly: true))
        try await follow(request, from: [], to: [4]) {
            _ = try await $0.send(SetFavorite(ids: [1, 3, 4, 6], isFavorite: true))
        }
    }

    @Test func categoriesInTheirOrders() async throws {
        let test = try await library()
        let byPosition = Watched.follow(ObserveCategories(), on: test.mesh)
        let byName = Watched.follow(ObserveCategories(order: .displayName), on: test.mesh)
        let byAge = Watched.follow(ObserveCategories(order: .createdAt), on: test.mesh)
        await byPosition.value { $0.categories.map(\.id) == [1, 2, 3, 4] }
        await byName.value { $0.categories.map(\.id) == [2, 1, 3, 4] }
        await byAge.value { $0.categories.map(\.id) == [1, 2, 3, 4] }
        _ = try await test.mesh.send(AddCategory(displayName: "Änderung"))
        _ = try await test.mesh.send(ReorderCategories(ids: [5, 4, 3, 2, 1]))
        await byPosition.value { $0.categories.map(\.id) == [5, 4, 3, 2, 1] }
        await byName.value { $0.categories.map(\.id) == [5, 2, 1, 3, 4] }
        await byAge.value { $0.categories.map(\.id) == [1, 2, 3, 4, 5] }
        await test.library.close()
    }

    @Test func oneCategoryByIDAndByName() async throws {
        let test = try await library()
        let byID = Watched.follow(ObserveCategory(id: 3), on: test.mesh)
        let byName = Watched.follow(ObserveCategory(displayName: " GAMES "), on: test.mesh)
        let coming = Watched.follow(ObserveCategory(displayName: "spiele"), on: test.mesh)
        await byID.value { $0.category?.displayName == "Games" }
        await byName.value { $0.category?.id == 3 }
        await coming.value { $0.category == nil }
        _ = try await test.mesh.send(EditCategory(id: 3, displayName: "Spiele"))
        await byID.value { $0.category?.displayName == "Spiele" }
        await byName.value { $0.category == nil }
        await coming.value { $0.category?.id == 3 }
        await test.library.close()
    }

    @Test func theNumberOfCategories() async throws {
        let test = try await library()
        let categories = Watched.follow(ObserveCategories(), on: test.mesh)
        let events = Watched.follow(SubscribeToEvents(), on: test.mesh, mayRepeat: true)
        await categories.value { $0.categories.count == 4 }
        await events.value { $0.totals.categories == 4 }
        _ = try await test.mesh.send(AddCategory(displayName: "Fifth"))
        await categories.value { $0.categories.count == 5 }
        await events.value { $0.totals.categories == 5 }
        await test.library.close()
    }

    @Test func categoriesByAPartOfTheirName() async throws {
        let test = try await library()
        let found = Watched.follow(ObserveCategories(text: "AM", order: .displayName), on: test.mesh)
        await found.value { $0.categories.map(\.displayName) == ["Family", "Games"] }
        _ = try await test.mesh.send(EditCategory(id: 4, displayName: "Ämter"))
        await found.value { $0.categories.map(\.displayName) == ["Ämter", "Family", "Games"] }
        await test.library.close()
    }

    // MARK: Sealed fields

    /// The library with values in the table of sealed fields that no key opens: listing them opens none.
    private func sealedLibrary(_ fields: [(Int64, String)]) async throws -> (TemporaryFolder, PhotoLibrary) {
        let test = try await library()
        await test.library.close()
        let database = try await DatabasePool.open(at: test.path + "/catalogue.sqlite", schema: CatalogueSchema.schema)
        try await database.write { connection in
            for (photo, field) in fields {
                try connection.execute(
                    """
                    INSERT INTO sealed_fields (photo_uuid, field, sealed)
                    SELECT uuid, ?, x'00ff' FROM photos WHERE id = ?
                    """, field, photo)
            }
        }
        await database.close()
        return (test.folder, try await PhotoLibrary.open(at: test.path))
    }

    @Test func photosWithSealedFieldsAreListedAndCounted() async throws {
        let (folder, library) = try await sealedLibrary([
            (2, "notes"), (2, "tags"), (5, "location"), (3, "childName"), (3, "childAge"),
        ])
        let all = try await library.mesh.send(ListSealedPhotos())
        #expect(all.photos.map(\.id) == [5, 3, 2] && all.total == 3 && all.next == nil)
        let first = try await library.mesh.send(ListSealedPhotos(limit: 2))
        #expect(first.photos.map(\.id) == [5, 3] && first.total == 3)
        let second = try await library.mesh.send(ListSealedPhotos(limit: 2, after: first.next))
        #expect(second.photos.map(\.id) == [2] && second.total == 3 && second.next == nil)
        for request in [ListSealedPhotos(limit: 0), ListSealedPhotos(after: "x")] {
            #expect(await status { _ = try await library.mesh.send(request) } == .invalidArgument)
        }
        let kid = CallContext.root(mesh: library.mesh, role: .kid)
        #expect(await status { _ = try await library.mesh.send(ListSealedPhotos(), in: kid) } == .permissionDenied)
        await library.close()
        withExtendedLifetime(folder) {}
    }

    @Test func photosWithSealedFieldsAreObserved() async throws {
        let (folder, library) = try await sealedLibrary([(2, "notes"), (5, "location")])
        let watched = Watched.follow(ObserveSealedPhotos(), on: library.mesh)
        await watched.value { $0.photos.map(\.id) == [5, 2] && $0.total == 2 }
        _ = try await library.mesh.send(ForgetPhotos(ids: [5]))
        await watched.value { $0.photos.map(\.id) == [2] && $0.total == 1 }
        await library.close()
        withExtendedLifetime(folder) {}
    }
}
