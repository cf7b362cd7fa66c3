import Foundation
import LibraryModel
import LibraryTestSupport
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// Categories that are called by a number alone, from before such names were refused: they go on, and come back from a
/// backup under another name, which is told.
@Suite(.timeLimit(.minutes(2))) struct NumberedCategoryTests {
    /// A backup of a library with the categories Family, `2025` and Category 2025, one photo in each.
    private func backup(_ folder: TemporaryFolder) async throws -> String {
        let test = try await TestLibrary("numbered")
        _ = try await test.importSamples(3)
        let photos = try await test.mesh.send(SelectPhotos()).ids
        for category in try await test.mesh.send(ListCategories()).categories.dropFirst() {
            _ = try await test.mesh.send(DeleteCategory(id: category.id))
        }
        for (photo, name) in zip(photos, ["Summer", "Category 2025"]) {
            let category = try await test.mesh.send(AddCategory(displayName: name))
            _ = try await test.mesh.send(MovePhotos(ids: [photo], categoryId: category.id))
        }
        let (path, edited) = (folder.file("b.zip"), folder.file("edited.zip"))
        _ = try await test.run(CreateBackup(path: path))
        await test.library.close()
        try EditedBackup.write(path, to: edited) { metadata in
            metadata["categories"] = (metadata["categories"] as? [[String: Any]] ?? []).map { category in
                category["displayName"] as? String == "Summer"
                    ? category.merging(["displayName": "2025"]) { $1 } : category
            }
        }
        return edited
    }

    @Test(arguments: [RestoreMode.merge, .replace])
    func aBackupsNumberBecomesAName(_ mode: RestoreMode) async throws {
        let folder = try TemporaryFolder("numbered")
        let path = try await backup(folder)
        let test = try await TestLibrary("restored")
        // A library that was not used yet would become the backup in a merge too.
        _ = try await test.mesh.send(EditCategory(id: 2, displayName: "Trains"))
        for _ in 1...2 {
            let job = try await test.run(RestoreBackup(path: path, mode: mode))
            #expect(job.state == .finished)
            let lines = try await test.lines(job.id).filter { $0.outcome == "renamed" }
            #expect(lines.map(\.item) == ["2025"])
            #expect(lines.first?.detail?.contains("'Category 2025 (2)'") == true)
            let categories = try await test.mesh.send(ListCategories()).categories
            let counts = Dictionary(uniqueKeysWithValues: categories.map { ($0.displayName, $0.photoCount) })
            #expect(counts["Category 2025 (2)"] == 1 && counts["Category 2025"] == 1 && counts["Family"] == 1)
            // The second merge meets what the first one made.
            #expect(categories.count == (mode == .merge ? 6 : 3))
        }
        await test.library.close()
    }

    /// Names that an older version told apart: the backup comes whole, and a second merge meets what the first one made.
    @Test(arguments: [RestoreMode.merge, .replace])
    func namesThatAreAlikeAreNumbered(_ mode: RestoreMode) async throws {
        let folder = try TemporaryFolder("alike")
        let test = try await TestLibrary("old")
        _ = try await test.importSamples(3)
        let photos = try await test.mesh.send(SelectPhotos()).ids
        let names = ["Straße", "Second", "Third"]
        for (photo, name) in zip(photos, names) {
            let category = try await test.mesh.send(AddCategory(displayName: name))
            _ = try await test.mesh.send(MovePhotos(ids: [photo], categoryId: category.id))
        }
        _ = try await test.run(CreateBackup(path: folder.file("b.zip")))
        await test.library.close()
        let old = ["Second": "STRAẞE", "Third": "\u{2800}"]
        try EditedBackup.write(folder.file("b.zip"), to: folder.file("edited.zip")) { metadata in
            metadata["categories"] = (metadata["categories"] as? [[String: Any]] ?? []).map { category in
                old[category["displayName"] as? String ?? ""].map { category.merging(["displayName": $0]) { $1 } }
                    ?? category
            }
        }
        let restored = try await TestLibrary("restored")
        _ = try await restored.mesh.send(EditCategory(id: 2, displayName: "Trains"))
        for _ in 1...2 {
            let job = try await restored.run(RestoreBackup(path: folder.file("edited.zip"), mode: mode))
            #expect(job.state == .finished)
            let lines = try await restored.lines(job.id).filter { $0.outcome == "renamed" }
            #expect(Set(lines.map(\.item)) == Set(old.values))
            let categories = try await restored.mesh.send(ListCategories()).categories
            let counts = Dictionary(uniqueKeysWithValues: categories.map { ($0.displayName, $0.photoCount) })
            #expect(counts["Straße"] == 1 && counts["STRAẞE (2)"] == 1 && counts["Category"] == 1, "\(counts)")
        }
        await restored.library.close()
    }
}
