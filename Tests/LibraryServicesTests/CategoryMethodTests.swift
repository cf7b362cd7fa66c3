import LibraryModel
import LibraryTestSupport
import ServiceMesh
import SmilePile
import Testing

/// What the specification's methods for categories do, method by method (Methods.md names the tests).
@Suite(.timeLimit(.minutes(2))) struct CategoryMethodTests {
    private func names(_ test: TestLibrary, _ request: ListCategories = ListCategories()) async throws -> [String] {
        try await test.mesh.send(request).categories.map(\.displayName)
    }

    @Test func oneIsAddedAndItsIDIsTold() async throws {
        let test = try await TestLibrary()
        let added = try await test.mesh.send(
            AddCategory(displayName: " Am Meer ", colorHex: "#00ff00", iconResource: "sea"))
        #expect(added.id == 5 && added.displayName == "Am Meer" && added.name == "am_meer" && added.position == 4)
        #expect(added.colorHex == "#00FF00" && added.iconResource == "sea" && !added.isDefault)
        #expect(try await test.mesh.send(GetCategory(id: 5)) == added)
        await test.library.close()
    }

    @Test func severalAreAddedInOneTransaction() async throws {
        let test = try await TestLibrary()
        let added = try await test.mesh.send(
            AddCategories(categories: [
                NewCategory(displayName: "Zoo"), NewCategory(displayName: "Été", colorHex: "#010203"),
                NewCategory(displayName: "Alpen"),
            ])
        ).categories
        #expect(added.map(\.displayName) == ["Zoo", "Été", "Alpen"] && added.map(\.position) == [4, 5, 6])
        // The first two palette colours that no category has.
        #expect(added.map(\.colorHex) == ["#2196F3", "#010203", "#FF9800"])
        let wrong: [([NewCategory], MeshStatus)] = [
            ([], .invalidArgument),
            ([NewCategory(displayName: "New"), NewCategory(displayName: " ")], .invalidArgument),
            ([NewCategory(displayName: "New"), NewCategory(displayName: "new")], .alreadyExists),
            ([NewCategory(displayName: "New"), NewCategory(displayName: "ZOO")], .alreadyExists),
            ([NewCategory(displayName: "New"), NewCategory(displayName: "b", colorHex: "red")], .invalidArgument),
            ((0..<994).map { NewCategory(displayName: "n\($0)") }, .resourceExhausted),
        ]
        for (categories, expected) in wrong {
            #expect(
                await status { _ = try await test.mesh.send(AddCategories(categories: categories)) } == expected)
            #expect(try await test.mesh.send(CountCategories()) == CategoryCount(count: 7))
        }
        await test.library.close()
    }

    @Test func editingChangesNameColourOrIconAlone() async throws {
        let test = try await TestLibrary()
        let before = try await test.mesh.send(GetCategory(id: 2))
        let renamed = try await test.mesh.send(EditCategory(id: 2, displayName: "Autos"))
        #expect(renamed.displayName == "Autos" && renamed.name == "autos" && renamed.colorHex == before.colorHex)
        let coloured = try await test.mesh.send(EditCategory(id: 2, colorHex: "#0a0b0c"))
        #expect(coloured.displayName == "Autos" && coloured.colorHex == "#0A0B0C")
        let whole = try await test.mesh.send(
            EditCategory(id: 2, displayName: "Cars", colorHex: before.colorHex, iconResource: "car"))
        #expect(whole.iconResource == "car" && whole.position == before.position && whole.isDefault)
        #expect(try await test.mesh.send(EditCategory(id: 2, iconResource: "")) == before)
        #expect(await status { _ = try await test.mesh.send(EditCategory(id: 99, displayName: "x")) } == .notFound)
        #expect(await status { _ = try await test.mesh.send(EditCategory(id: 2)) } == .invalidArgument)
        #expect(
            await status { _ = try await test.mesh.send(EditCategory(id: 2, displayName: "SPORTS")) }
                == .alreadyExists)
        await test.library.close()
    }

    @Test func deletingByID() async throws {
        let test = try await TestLibrary()
        #expect(
            try await test.mesh.send(DeleteCategory(id: 3)) == CategoryDeletion(photosTrashed: 0, photosMoved: 0))
        #expect(try await names(test) == ["Family", "Cars", "Sports"])
        #expect(await status { _ = try await test.mesh.send(DeleteCategory(id: 3)) } == .notFound)
        await test.library.close()
    }

    @Test func listsAreOrderedByPositionNameOrAge() async throws {
        let test = try await TestLibrary()
        for name in ["Zoo", "über", "Äpfel"] { _ = try await test.mesh.send(AddCategory(displayName: name)) }
        _ = try await test.mesh.send(ReorderCategories(ids: [7, 6, 5, 4, 3, 2, 1]))
        let byPosition = ["Äpfel", "über", "Zoo", "Sports", "Games", "Cars", "Family"]
        #expect(try await names(test) == byPosition)
        #expect(try await names(test, ListCategories(order: .position)) == byPosition)
        #expect(
            try await names(test, ListCategories(order: .displayName))
                == ["Äpfel", "Cars", "Family", "Games", "Sports", "über", "Zoo"])
        #expect(
            try await names(test, ListCategories(order: .createdAt))
                == ["Family", "Cars", "Games", "Sports", "Zoo", "über", "Äpfel"])
        await test.library.close()
    }

    @Test func oneIsFoundByIDAndByNameIgnoringCase() async throws {
        let test = try await TestLibrary()
        let added = try await test.mesh.send(AddCategory(displayName: "Été"))
        for request in [
            GetCategory(id: added.id), GetCategory(displayName: "Été"), GetCategory(displayName: " ÉTÉ "),
            GetCategory(displayName: "e\u{301}te\u{301}"),
        ] {
            #expect(try await test.mesh.send(request) == added)
        }
        for request in [GetCategory(id: 99), GetCategory(displayName: "Ete"), GetCategory(displayName: "")] {
            #expect(await status { _ = try await test.mesh.send(request) } == .notFound)
        }
        await test.library.close()
    }

    @Test func oneIsFoundByItsDerivedName() async throws {
        let test = try await TestLibrary()
        let added = try await test.mesh.send(AddCategory(displayName: "Big Trip"))
        let twin = try await test.mesh.send(AddCategory(displayName: "Big_trip"))
        #expect(try await test.mesh.send(GetCategory(name: "big_trip")) == added)
        _ = try await test.mesh.send(ReorderCategories(ids: [twin.id, 1, 2, 3, 4, added.id]))
        #expect(try await test.mesh.send(GetCategory(name: "big_trip")).id == twin.id)
        #expect(try await test.mesh.send(GetCategory(name: "family")).id == 1)
        for name in ["Family", "Big Trip", ""] {
            #expect(await status { _ = try await test.mesh.send(GetCategory(name: name)) } == .notFound)
        }
        await test.library.close()
    }

    @Test func aTakenNameIsToldAlsoForARename() async throws {
        let test = try await TestLibrary()
        let added = try await test.mesh.send(AddCategory(displayName: "Straße"))
        func use(_ name: String, except id: Int64? = nil) async throws -> CategoryNameUse {
            try await test.mesh.send(CheckCategoryName(displayName: name, exceptId: id))
        }
        #expect(try await use("STRASSE") == CategoryNameUse(categoryId: added.id))
        #expect(try await use("straße").isTaken)
        #expect(try await !use("straße", except: added.id).isTaken)
        #expect(try await use("straße", except: 1).isTaken)
        #expect(try await !use("Weg").isTaken)
        #expect(try await !use("").isTaken)
        #expect(try await !use("%").isTaken)
        await test.library.close()
    }

    @Test func theNumberIsCounted() async throws {
        let test = try await TestLibrary()
        #expect(try await test.mesh.send(CountCategories()) == CategoryCount(count: 4))
        _ = try await test.mesh.send(AddCategory(displayName: "Fifth"))
        #expect(try await test.mesh.send(CountCategories()) == CategoryCount(count: 5))
        _ = try await test.mesh.send(DeleteCategory(id: 1))
        #expect(try await test.mesh.send(CountCategories()) == CategoryCount(count: 4))
        await test.library.close()
    }

    @Test func namesAreSearchedLiterallyIgnoringCaseAndDiacritics() async throws {
        let test = try await TestLibrary()
        for name in ["Été 100%", "snake_case", "it's \"quoted\" 🐍", "Straße", "été tardif", "חופש"] {
            _ = try await test.mesh.send(AddCategory(displayName: name))
        }
        func found(_ text: String) async throws -> [String] {
            try await names(test, ListCategories(text: text, order: .displayName))
        }
        #expect(try await found("ETE") == ["Été 100%", "été tardif"])
        #expect(try await found("e\u{301}te\u{301} t") == ["été tardif"])
        #expect(try await found("%") == ["Été 100%"])
        #expect(try await found("_") == ["snake_case"])
        #expect(try await found("STRASSE") == ["Straße"])
        #expect(try await found("\"quoted\" 🐍") == ["it's \"quoted\" 🐍"])
        #expect(try await found("פש") == ["חופש"])
        #expect(try await found("*").isEmpty)
        #expect(try await found("").count == 10)
        #expect(try await names(test, ListCategories(text: "am")) == ["Family", "Games"])
        await test.library.close()
    }
}
