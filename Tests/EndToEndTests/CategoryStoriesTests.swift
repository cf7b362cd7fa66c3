import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import TestSupport
import Testing

/// The parents' stories about categories by their numbers, with the real programs, as a parent at a terminal.
/// Stories 8 and 10 are about a screen.
@Suite(.serialized) struct CategoryStoriesTests {
    private func categories(_ place: Installation) async throws -> [Category] {
        let list = try await place.smilepile("categories", "list", "--json")
        return try JSONDecoder().decode(CategoryList.self, from: Data(list.output.utf8)).categories
    }

    private func importPhotos(_ count: Int, into category: String, _ place: Installation) async throws {
        let album = place.folder.file("album-\(category)")
        try SampleAlbum(width: 64, height: 48, seed: UInt64(count)).write(count: count, to: album)
        let outcome = try await place.smilepile("import", album, "--category", category)
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    @Test func story1DefaultCategoriesAtTheFirstStart() async throws {
        let place = try Installation()
        try await place.up()
        let shown = try await place.smilepile("categories")
        #expect(shown.status == 0)
        let first = try await categories(place)
        #expect(first.map(\.displayName) == ["Family", "Cars", "Games", "Sports"])
        #expect(first.map(\.colorHex) == ["#E91E63", "#F44336", "#9C27B0", "#4CAF50"])
        #expect(first.allSatisfy { shown.output.contains($0.displayName) && $0.isDefault })
        #expect(try await place.smilepile("down").status == 0)
    }

    @Test func story2ACustomCategory() async throws {
        let place = try Installation()
        try await place.up()
        let added = try await place.smilepile("categories", "add", "Big Trip", "--color", "#ff9800")
        #expect(added.status == 0 && added.output.contains("Big Trip"))
        let last = try #require(try await categories(place).last)
        #expect(last.displayName == "Big Trip" && last.name == "big_trip" && last.colorHex == "#FF9800")
        let listed = try await place.smilepile("categories", "list", "--names")
        #expect(listed.output.split(separator: "\n").last == "Big Trip")
        #expect(try await place.smilepile("down").status == 0)
    }

    @Test func story3ACategoryIsEdited() async throws {
        let place = try Installation()
        try await place.up()
        let edited = try await place.smilepile("categories", "edit", "cars", "--name", "Motors", "--color", "#3F51B5")
        #expect(edited.status == 0, "\(edited.errors)")
        let second = try await categories(place)[1]
        #expect(second.displayName == "Motors" && second.name == "motors" && second.colorHex == "#3F51B5")
        #expect(second.position == 1)
        #expect(try await place.smilepile("down").status == 0)
    }

    @Test func story4EachCategoryShowsItsPhotoCount() async throws {
        let place = try Installation()
        try await place.up()
        try await importPhotos(3, into: "Cars", place)
        try await importPhotos(2, into: "Games", place)
        #expect(try await categories(place).map(\.photoCount) == [0, 3, 2, 0])
        let shown = try await place.smilepile("categories")
        let cars = try #require(shown.output.split(separator: "\n").first { $0.contains("Cars") })
        #expect(cars.split(separator: " ").last == "3")
        #expect(try await place.smilepile("down").status == 0)
    }

    @Test func story5AnEmptyCategoryIsDeleted() async throws {
        let place = try Installation()
        try await place.up()
        // Nobody is there to be asked.
        let asked = try await place.smilepile("categories", "delete", "Games")
        #expect(asked.status == 2 && asked.errors.contains("--yes"))
        #expect(try await categories(place).count == 4)
        let deleted = try await place.smilepile("categories", "delete", "Games", "--yes")
        #expect(deleted.status == 0 && deleted.output.contains("Deleted Games"))
        #expect(try await categories(place).map(\.displayName) == ["Family", "Cars", "Sports"])
        #expect(try await place.smilepile("down").status == 0)
    }

    @Test func story6ACategoryWithPhotosIsDeletedOnlyWhenToldHow() async throws {
        let place = try Installation()
        try await place.up()
        try await importPhotos(3, into: "Cars", place)
        let warned = try await place.smilepile("categories", "delete", "Cars")
        #expect(warned.status == 1)
        #expect(warned.errors.contains("3 photos") && warned.errors.contains("--delete-photos"))
        #expect(try await categories(place).map(\.photoCount) == [0, 3, 0, 0])
        let deleted = try await place.smilepile("categories", "delete", "Cars", "--delete-photos")
        #expect(deleted.status == 0 && deleted.output.contains("3 photos went to the trash"))
        #expect(try await categories(place).map(\.displayName) == ["Family", "Games", "Sports"])
        #expect(try await place.smilepile("down").status == 0)
    }

    @Test func story7TheLastCategoryStays() async throws {
        let place = try Installation()
        try await place.up()
        for name in ["Family", "Cars", "Games"] {
            #expect(try await place.smilepile("categories", "delete", name, "--yes").status == 0)
        }
        let refused = try await place.smilepile("categories", "delete", "Sports", "--yes")
        #expect(refused.status == 1 && refused.errors.contains("last category"))
        #expect(try await categories(place).map(\.displayName) == ["Sports"])
        #expect(try await place.smilepile("down").status == 0)
    }

    @Test func story9DuplicateNamesAreRefused() async throws {
        let place = try Installation()
        try await place.up()
        #expect(try await place.smilepile("categories", "add", "Été").status == 0)
        for name in ["ÉTÉ", "family", "  Cars "] {
            let refused = try await place.smilepile("categories", "add", name)
            #expect(refused.status == 1 && refused.errors.contains("already"), "\(name)")
        }
        let renamed = try await place.smilepile("categories", "edit", "Games", "--name", "été")
        #expect(renamed.status == 1 && renamed.errors.contains("already"))
        let blank = try await place.smilepile("categories", "add", "   ")
        #expect(blank.status == 1 && blank.errors.contains("needs a name"))
        #expect(try await categories(place).count == 5)
        #expect(try await place.smilepile("down").status == 0)
    }

    /// Sixty-four terminals at once.
    @Test func story9AlsoWhenSixtyFourAskAtOnce() async throws {
        let place = try Installation()
        try await place.up()
        let outcomes = try await withThrowingTaskGroup(of: Outcome.self) { group in
            for _ in 0..<64 { group.addTask { try await place.smilepile("categories", "add", "Zoo", "--json") } }
            return try await group.reduce(into: [Outcome]()) { $0.append($1) }
        }
        #expect(outcomes.count { $0.status == 0 } == 1)
        #expect(outcomes.count { $0.status == 1 && ($0.errors + $0.output).contains("already") } == 63)
        #expect(try await categories(place).map(\.displayName).filter { $0 == "Zoo" } == ["Zoo"])
        #expect(try await place.smilepile("down").status == 0)
    }
}
