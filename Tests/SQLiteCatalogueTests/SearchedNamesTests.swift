import CatalogueTestSupport
import Database
import LibraryModel
import LibraryStorage
@testable import SQLiteCatalogue
import ServiceMesh
import TestSupport
import Testing
import TextFolding

/// Searches look where people look: into names, captions, names of sources and names of categories, and not into the library's
/// own file names.
@Suite struct SearchedNamesTests {
    private static let categories: [(id: Int64, name: String)] = [
        (1, "Été à Nice"), (2, "Garage"), (3, "beach"), (4097 + 2, "100% _Zoo_"),
    ]

    private func database(_ folder: TemporaryFolder, _ photos: [SourcedPhoto]) async throws -> DatabasePool {
        let database = try await DatabasePool.open(at: folder.file("c.sqlite"), schema: CatalogueSchema.schema)
        try await database.write { connection in
            for (id, name) in Self.categories {
                try connection.execute(
                    "INSERT INTO categories VALUES (?, ?, ?, 0, NULL, '#4CAF50', 0, 0)", id, name, name.searchFolded)
            }
            try PhotoTable(connection: connection).insert(photos)
        }
        return database
    }

    /// What is found, counted, spread over months and selected is what a look at each photo finds.
    @Test(arguments: [1, 40]) func wordsAreInPhotosOrInTheNamesOfTheirCategories(spread: Int) async throws {
        let folder = try TemporaryFolder()
        var sample = SampleCatalogue(seed: UInt64(spread))
        let photos = (0..<6_000).map { index in
            // With a spread, matches are few and old: the text index is asked and not each photo looked at.
            let isOld = index % spread == 0 && (spread == 1 || index < 2_000)
            var photo = sample.photo(
                index, category: isOld ? Self.categories[sample.number(below: 4)].id : 2,
                caption: isOld && sample.number(below: 3) == 0 ? "On the Beach, 100%" : nil,
                takenAt: Int64(index) << 25,
                isFavorite: sample.number(below: 5) == 0)
            if sample.number(below: 9) == 0 { photo.photo.sourceName = "Nice Place \(index).HEIC" }
            return photo
        }
        let database = try await database(folder, photos)
        let texts: [[String]] = [
            ["ete"], ["ÉTÉ"], ["ete", "beach"], ["beach"], ["nice"], ["nice place"], ["nice", "beach", "ic"], ["e"],
            ["zo"],
            ["_zoo_", "100%"], ["ete", "zebra"], ["garage", "GARAGE"], ["age", "beach"], [".heic", "ni"],
        ]
        try await database.read { connection in
            for words in texts {
                for (category, favorites) in [(nil, nil), (1, nil), (2, true), (nil, false)] as [(Int64?, Bool?)] {
                    let wanted = PhotoFilter(words: words, categoryId: category, favoritesOnly: favorites)
                    let expected = try connection.query(
                        "SELECT id, category_id, is_favorite FROM photos ORDER BY shown_at DESC"
                    ) {
                        (id: try $0[0] as Int64, category: try $0[1] as Int64, isFavorite: try $0[2] as Bool)
                    }.filter { row in
                        let photo = photos[Int(row.id) - 1].photo
                        let name = Self.categories.first { $0.id == row.category }?.name ?? ""
                        let fields = [photo.name, photo.caption ?? "", photo.sourceName ?? "", name].map(\.searchFolded)
                        return (category == nil || row.category == category)
                            && (favorites == nil || row.isFavorite == favorites)
                            && words.map(\.searchFolded).allSatisfy { word in fields.contains { $0.contains(word) } }
                    }.map(\.id)
                    var found: [Int64] = []
                    var after: String?
                    repeat {
                        let page = try PhotoSearch(PhotoQuery(wanted, after: after, limit: 700), in: connection).page()
                        found += page.photos.map(\.id)
                        after = page.next
                    } while after != nil
                    let query = try PhotoQuery(wanted)
                    #expect(found == expected, "\(words), \(category as Any), \(favorites as Any)")
                    #expect(try PhotoSearch(query, in: connection).total() == expected.count, "\(words)")
                    let months = try PhotoCalendar(query, in: connection).months(most: 1_000)
                    #expect(months.reduce(0) { $0 + $1.count } == expected.count, "\(words)")
                    let ids = try PhotoTable(connection: connection).ids(PhotoIDQuery(SelectPhotos(wanted))).ids
                    #expect(ids == expected.sorted().prefix(ids.count).map { $0 } && (ids.isEmpty == expected.isEmpty))
                }
            }
        }
        await database.close()
    }

    @Test func theLibrarysOwnFileNamesAreFoundAsAWholeOnly() async throws {
        let folder = try TemporaryFolder()
        let sample = SampleCatalogue()
        let photos = (0..<900).map { sample.photo($0, category: 2, name: "n", takenAt: Int64($0) << 25) }
        let database = try await database(folder, photos)
        let path = photos[7].photo.path
        func found(_ text: String, _ category: Int64? = nil) async throws -> [Int64] {
            try await database.read { connection in
                let query = try PhotoQuery(PhotoFilter(text: text, categoryId: category))
                let photos = try PhotoSearch(query, in: connection).page().photos.map(\.id)
                #expect(try PhotoSearch(query, in: connection).total() == photos.count)
                #expect(
                    try PhotoCalendar(query, in: connection).months(most: 99).reduce(0) { $0 + $1.count }
                        == photos.count)
                let selection = try PhotoIDQuery(SelectPhotos(PhotoFilter(text: text, categoryId: category)))
                #expect(try PhotoTable(connection: connection).ids(selection).ids == photos)
                return photos
            }
        }
        #expect(try await found(path) == [8])
        #expect(try await found(path, 2) == [8])
        #expect(try await found(path, 1) == [])
        for text in ["IMG_", "photos/", String(path.dropFirst(7)), String(path.dropLast()), ".jpg", path.uppercased()] {
            #expect(try await found(text) == [], "\(text)")
        }
        await database.close()
    }

    @Test func thePhotosSourceIsFoundAfterItWasRenamed() async throws {
        let folder = try TemporaryFolder()
        var photo = SampleCatalogue().photo(0, category: 2, name: "IMG_2231", takenAt: nil)
        photo.photo.sourceName = "IMG_2231.HEIC"
        let database = try await database(folder, [photo])
        let renamed = {
            var photo = photo.photo
            (photo.id, photo.name) = (1, "Grandma's garden")
            return photo
        }()
        try await database.write { try PhotoTable(connection: $0).update(renamed) }
        let counts = try await database.read { connection in
            try ["img_2231.heic", "garden", "2231.h", "garden\n", "den img"].map { text in
                try PhotoSearch(PhotoQuery(PhotoFilter(text: text)), in: connection).total()
            }
        }
        #expect(counts == [1, 1, 1, 1, 0])
        await database.close()
    }
}
