import Foundation
import LibraryModel
import LibraryTestSupport
import ServiceMesh
import SmilePile
import TestSupport
import Testing

@Suite struct CategoryTests {
    @Test func theFirstStartMakesFourAndNeverAgain() async throws {
        let folder = try TemporaryFolder()
        var library = try await PhotoLibrary.open(at: folder.path)
        let first = try await library.mesh.send(ListCategories()).categories
        #expect(first.map(\.displayName) == ["Family", "Cars", "Games", "Sports"])
        #expect(first.map(\.colorHex) == ["#E91E63", "#F44336", "#9C27B0", "#4CAF50"])
        #expect(first.map(\.position) == [0, 1, 2, 3] && first.allSatisfy(\.isDefault))
        _ = try await library.mesh.send(DeleteCategory(id: first[1].id))
        await library.close()
        library = try await PhotoLibrary.open(at: folder.path)
        #expect(
            try await library.mesh.send(ListCategories()).categories.map(\.displayName) == [
                "Family", "Games", "Sports",
            ])
        await library.close()
    }

    @Test func namesAreUniqueIgnoringCaseInEveryScript() async throws {
        let test = try await TestLibrary()
        _ = try await test.mesh.send(AddCategory(displayName: "  Été "))
        for name in ["été", "ÉTÉ", "E\u{301}te\u{301}", "family"] {
            #expect(await status { _ = try await test.mesh.send(AddCategory(displayName: name)) } == .alreadyExists)
        }
        let other = try await test.mesh.send(AddCategory(displayName: "Ete"))
        #expect(
            await status { _ = try await test.mesh.send(EditCategory(id: other.id, displayName: "été")) }
                == .alreadyExists)
        #expect(try await test.mesh.send(EditCategory(id: other.id, displayName: "ETE")).displayName == "ETE")
        await test.library.close()
    }

    @Test func badNamesAndColoursAreRefused() async throws {
        let test = try await TestLibrary()
        for name in ["", "   ", "a\u{0}b", "a\nb", String(repeating: "x", count: 201)] {
            #expect(await status { _ = try await test.mesh.send(AddCategory(displayName: name)) } == .invalidArgument)
        }
        // `smilepile categories delete 3` must not depend on whether one is called so.
        for name in ["3", " 2025 ", "#3", "0", String(repeating: "9", count: 30)] {
            #expect(await status { _ = try await test.mesh.send(AddCategory(displayName: name)) } == .invalidArgument)
            #expect(
                await status { _ = try await test.mesh.send(EditCategory(id: 1, displayName: name)) }
                    == .invalidArgument)
            #expect(
                await status {
                    _ = try await test.mesh.send(AddCategories(categories: [NewCategory(displayName: name)]))
                } == .invalidArgument)
        }
        for name in ["3 a", "#", "#3a", "-3", "1.5", "٣"] {
            #expect(try await test.mesh.send(AddCategory(displayName: name)).displayName == name)
        }
        for color in ["", "red", "#12345", "#1234567", "#12345G", "123456 "] {
            let request = AddCategory(displayName: "Colour", colorHex: color)
            #expect(await status { _ = try await test.mesh.send(request) } == .invalidArgument)
        }
        await test.library.close()
    }

    @Test func newOnesComeLastInTheFirstFreeColour() async throws {
        let test = try await TestLibrary()
        let added = try await test.mesh.send(AddCategory(displayName: "Big Trip"))
        #expect(added.name == "big_trip" && added.position == 4 && added.colorHex == "#2196F3")
        await test.library.close()
    }

    @Test func reorderTakesEveryIDOnce() async throws {
        let test = try await TestLibrary()
        let ids = try await test.mesh.send(ListCategories()).categories.map(\.id)
        let turned = try await test.mesh.send(ReorderCategories(ids: ids.reversed()))
        #expect(turned.categories.map(\.id) == ids.reversed())
        for bad in [[], Array(ids.dropLast()), ids + [99], ids + [ids[0]]] {
            #expect(await status { _ = try await test.mesh.send(ReorderCategories(ids: bad)) } == .invalidArgument)
        }
        await test.library.close()
    }

    @Test func deletingAsksWhatBecomesOfThePhotos() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(3)
        let before = try await test.mesh.send(ListCategories()).categories
        let ids = before.map(\.id)
        do {
            _ = try await test.mesh.send(DeleteCategory(id: ids[0]))
            Issue.record("a category with photos was deleted")
        } catch {
            let error = MeshError(describing: error)
            #expect(error.status == .failedPrecondition && error.details["photoCount"] == 3)
        }
        #expect(try await test.mesh.send(DeleteCategory(id: ids[0], moveTo: ids[1])).photosMoved == 3)
        #expect(try await test.mesh.send(DeleteCategory(id: ids[1], deletePhotos: true)).photosTrashed == 3)
        let trash = try await test.mesh.send(ListTrash()).photos
        #expect(trash.count == 3 && trash.allSatisfy { $0.categoryName == "Cars" })
        _ = try await test.mesh.send(RestorePhotos(ids: trash.map(\.photo.id)))
        let cars = try await test.mesh.send(GetCategory(displayName: "cars"))
        #expect(cars.photoCount == 3 && cars.isDefault)
        // In its place, before those that came after it.
        let after = try await test.mesh.send(ListCategories()).categories
        #expect(after.map(\.displayName) == before.dropFirst().map(\.displayName))
        // An empty one too, when the request names a category that is not there.
        let toNowhere = DeleteCategory(id: ids[2], moveTo: 999)
        #expect(await status { _ = try await test.mesh.send(toNowhere) } == .notFound)
        #expect(try await test.mesh.send(GetCategory(id: ids[2])).photoCount == 0)
        await test.library.close()
    }

    /// One of a person's own is none of the first four; where others have taken its place, they stand behind it.
    @Test func aCategoryComesBackInItsPlaceFromTheTrash() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(1)
        let photo = try await test.allPhotos()[0]
        let own = try await test.mesh.send(AddCategory(displayName: "Own"))
        _ = try await test.mesh.send(MovePhotos(ids: [photo.id], categoryId: own.id))
        var ids = try await test.mesh.send(ListCategories()).categories.map(\.id)
        ids.swapAt(1, 4)
        _ = try await test.mesh.send(ReorderCategories(ids: ids))
        _ = try await test.mesh.send(DeleteCategory(id: own.id, deletePhotos: true))
        ids.removeAll { $0 == own.id }
        _ = try await test.mesh.send(ReorderCategories(ids: ids))
        _ = try await test.mesh.send(RestorePhotos(ids: [photo.id]))
        let after = try await test.mesh.send(ListCategories()).categories
        #expect(after.map(\.displayName) == ["Family", "Own", "Games", "Sports", "Cars"])
        #expect(after.map(\.isDefault) == [true, false, true, true, true])
        #expect(Set(after.map(\.position)).count == 5)
        await test.library.close()
    }

    @Test func theLastOneStays() async throws {
        let test = try await TestLibrary()
        let ids = try await test.mesh.send(ListCategories()).categories.map(\.id)
        // All at once: whoever comes last must find that theirs is the last one.
        let refused = await withTaskGroup(of: MeshStatus?.self) { group in
            for id in ids { group.addTask { await status { _ = try await test.mesh.send(DeleteCategory(id: id)) } } }
            return await group.reduce(into: [MeshStatus?]()) { $0.append($1) }
        }
        #expect(refused.filter { $0 == .failedPrecondition }.count == 1)
        #expect(try await test.mesh.send(ListCategories()).categories.count == 1)
        await test.library.close()
    }

    @Test func sixtyFourAtOnceMakeOne() async throws {
        let test = try await TestLibrary()
        let results = await withTaskGroup(of: MeshStatus?.self) { group in
            for _ in 0..<64 {
                group.addTask { await status { _ = try await test.mesh.send(AddCategory(displayName: "Zoo")) } }
            }
            return await group.reduce(into: [MeshStatus?]()) { $0.append($1) }
        }
        #expect(results.filter { $0 == nil }.count == 1)
        #expect(results.filter { $0 == .alreadyExists }.count == 63)
        await test.library.close()
    }
}
