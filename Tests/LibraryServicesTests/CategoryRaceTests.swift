import CatalogueTestSupport
import Foundation
import LibraryModel
import LibraryTestSupport
import ServiceMesh
import SmilePile
import Testing

/// The rules of categories when many ask at once, and what they make of strange names.
@Suite struct CategoryRaceTests {
    /// Runs everything at once and returns the status of each that failed.
    private func race(
        _ count: Int, _ body: @escaping @Sendable (Int) async throws -> Void
    ) async -> [MeshStatus?] {
        await withTaskGroup(of: MeshStatus?.self) { group in
            for number in 0..<count { group.addTask { await status { try await body(number) } } }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test func oneOfManySpellingsOfANameWins() async throws {
        let test = try await TestLibrary()
        let spellings = ["Été", "ÉTÉ", "été", "E\u{301}t\u{e9}", " ÉtÉ "]
        let added = await race(64) { number in
            _ = try await test.mesh.send(AddCategory(displayName: spellings[number % 5]))
        }
        #expect(added.count { $0 == nil } == 1 && added.count { $0 == .alreadyExists } == 63)
        // Renaming is no way around it.
        let ids = try await test.mesh.send(ListCategories()).categories.map(\.id)
        let renamed = await race(64) { number in
            _ = try await test.mesh.send(EditCategory(id: ids[number % 4], displayName: "σπίτι\(number / 32)"))
        }
        #expect(renamed.allSatisfy { $0 == nil || $0 == .alreadyExists })
        let names = try await test.mesh.send(ListCategories()).categories.map { CategoryName.key($0.displayName) }
        #expect(names.count == 5 && Set(names).count == 5)
        await test.library.close()
    }

    @Test func whoeverDeletesLastIsRefused() async throws {
        let test = try await TestLibrary()
        for number in 0..<12 { _ = try await test.mesh.send(AddCategory(displayName: "C\(number)")) }
        let ids = try await test.mesh.send(ListCategories()).categories.map(\.id)
        let results = await race(64) { _ = try await test.mesh.send(DeleteCategory(id: ids[$0 % 16])) }
        #expect(results.count { $0 == nil } == 15)
        #expect(results.allSatisfy { $0 == nil || $0 == .notFound || $0 == .failedPrecondition })
        #expect(results.contains(.failedPrecondition))
        #expect(try await test.mesh.send(ListCategories()).categories.count == 1)
        await test.library.close()
    }

    @Test func aNewOrderAndNewCategoriesDoNotLoseEachOther() async throws {
        let test = try await TestLibrary()
        let results = await race(64) { number in
            if number.isMultiple(of: 2) {
                _ = try await test.mesh.send(AddCategory(displayName: "C\(number)"))
            } else {
                let ids = try await test.mesh.send(ListCategories()).categories.map(\.id)
                _ = try await test.mesh.send(ReorderCategories(ids: ids.reversed()))
            }
        }
        // An order that does not name everyone is refused; nothing else can go wrong.
        #expect(results.allSatisfy { $0 == nil || $0 == .invalidArgument })
        let categories = try await test.mesh.send(ListCategories()).categories
        #expect(categories.count == 36)
        #expect(categories.map(\.position) == Array(0..<36))
        await test.library.close()
    }

    /// Photos are moved in and out, and marked, while their categories go: none is lost, and the counts are right.
    @Test func countsStayRightWhileEverythingMoves() async throws {
        let test = try await TestLibrary()
        let ids = try await test.mesh.send(ListCategories()).categories.map(\.id)
        var sample = SampleCatalogue(seed: 3)
        try await test.add(sample.photos(200, categories: ids))
        let photos = try await test.allPhotos()
        let results = await race(64) { number in
            let some = (0..<5).map { photos[(number * 7 + $0 * 31) % 200].id }
            switch number % 8 {
            case 0: _ = try await test.mesh.send(SetFavorite(ids: some, isFavorite: number.isMultiple(of: 16)))
            case 1: _ = try await test.mesh.send(DeletePhotos(ids: [some[0]]))
            case 2: _ = try await test.mesh.send(SetCaption(id: some[0], caption: "moved \(number)"))
            case 3 where number == 35: _ = try await test.mesh.send(DeleteCategory(id: ids[1], moveTo: ids[2]))
            case 4 where number == 52: _ = try await test.mesh.send(DeleteCategory(id: ids[3], deletePhotos: true))
            default: _ = try await test.mesh.send(MovePhotos(ids: some, categoryId: ids[number % 4]))
            }
        }
        #expect(results.allSatisfy { $0 == nil || $0 == .notFound })
        let left = try await test.allPhotos()
        let trashed = try await test.mesh.send(ListTrash(limit: 1000)).photos
        #expect(Set(left.map(\.id) + trashed.map(\.photo.id)) == Set(photos.map(\.id)))
        for category in try await test.mesh.send(ListCategories()).categories {
            #expect(category.photoCount == left.count { $0.categoryId == category.id })
        }
        let status = try await test.mesh.send(GetLibraryStatus())
        #expect(status.photos == left.count && status.favorites == left.count(where: \.isFavorite))
        #expect(status.photoBytes == left.reduce(0) { $0 + $1.fileSize })
        await test.library.close()
        #expect(try await catalogueProblems(at: test.path + "/catalogue.sqlite").isEmpty)
    }

    @Test func strangeNamesAreKeptOrRefused() async throws {
        let test = try await TestLibrary()
        let bad = [
            String(repeating: "x", count: 10_000), "a\u{0}b", " \t\u{A0}\u{2003} ", "a\u{7F}", "a\u{85}b",
            "a" + String(repeating: "\u{301}", count: 10_000),
        ]
        for name in bad {
            #expect(await status { _ = try await test.mesh.send(AddCategory(displayName: name)) } == .invalidArgument)
        }
        let good = ["משפחה", "العائلة", "👨‍👩‍👧‍👦 🏳️‍🌈", "%", "_", "';--", "\"*\"", String(repeating: "é", count: 200)]
        for name in good {
            #expect(try await test.mesh.send(AddCategory(displayName: name)).displayName == name)
            #expect(try await test.mesh.send(GetCategory(displayName: name.uppercased())).displayName == name)
        }
        #expect(try await test.mesh.send(ListCategories()).categories.map(\.displayName).suffix(8) == good[...])
        await test.library.close()
    }

    @Test func oneCategoryTooManyIsRefused() async throws {
        let test = try await TestLibrary()
        let results = await race(CategoryLimits.count + 20) {
            _ = try await test.mesh.send(AddCategory(displayName: "C\($0)"))
        }
        // Some may not even have been let in.
        #expect(results.allSatisfy { $0 == nil || $0 == .resourceExhausted })
        var number = 0
        while await status({ _ = try await test.mesh.send(AddCategory(displayName: "D\(number)")) }) == nil {
            number += 1
        }
        #expect(try await test.mesh.send(ListCategories()).categories.count == CategoryLimits.count)
        await test.library.close()
    }
}
