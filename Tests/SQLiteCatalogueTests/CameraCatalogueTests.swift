import CatalogueTestSupport
import Database
import Foundation
import LibraryModel
import LibraryStorage
@testable import SQLiteCatalogue
import ServiceMesh
import TestSupport
import Testing
import TextFolding

/// How photos are found by their cameras, and which cameras there are.
@Suite struct CameraCatalogueTests {
    private func filled(
        _ folder: TemporaryFolder, photos: Int, camera: (Int) -> String?
    ) async throws -> DatabasePool {
        let database = try await DatabasePool.open(at: folder.file("c.sqlite"), schema: CatalogueSchema.schema)
        let sample = SampleCatalogue()
        let rows = (0..<photos).map { number in
            var row = sample.photo(
                number, category: number % 3 == 0 ? 4 : 3, takenAt: Int64(number / 4), isFavorite: number % 5 == 0)
            row.photo.camera = camera(number)
            row.photo.lastDecision = number % 7 == 0 ? .trash : number % 2 == 0 ? .keep : nil
            return row
        }
        try await database.write { connection in
            for id in [3, 4] {
                try connection.execute("INSERT INTO categories VALUES (?1, ?1, ?1, 0, NULL, '#4CAF50', 0, 0)", id)
            }
            try PhotoTable(connection: connection).insert(rows)
        }
        return database
    }

    private func plan(_ statement: PhotoStatement, in connection: Connection) throws -> [String] {
        try connection.query("EXPLAIN QUERY PLAN \(statement.sql)", values: statement.values) {
            try $0["detail"] as String
        }
    }

    /// In the index, in its order, one search for each camera, and no photo more than the page has.
    @Test func pagesOfACameraAreFoundWithoutPassingOtherPhotos() async throws {
        let folder = try TemporaryFolder()
        let names = ["Canon EOS 5D", "Canon EOS 6D", "Apple iPhone 12"]
        let database = try await filled(folder, photos: 300) { $0 % 4 == 3 ? nil : names[$0 % 4] }
        try await database.write { try $0.execute("ANALYZE") }
        try await database.read { connection in
            for (category, favorites, index, term) in [
                (nil, nil, "photos_by_camera", "camera=?"), (nil, true, "photos_favorite_by_camera", "camera=?"),
                (3, nil, "photos_by_category_and_camera", "category_id=? AND camera=?"),
                (3, true, "photos_favorite_by_camera", "camera=?"),
            ] as [(Int64?, Bool?, String, String)] {
                for (camera, isKnown, arms) in [
                    ("IPHONE 12", nil, 1), ("5d canon", nil, 1), ("canon", nil, 2), ("eos", true, 2), (nil, true, 3),
                    (nil, false, 1),
                ] as [(String?, Bool?, Int)] {
                    let filter = try SQLFilter(
                        IndexFilter(
                            PhotoFilter(
                                categoryId: category, favoritesOnly: favorites, camera: camera, hasCamera: isKnown),
                            after: "70.5"), in: connection)
                    for range in filter.ranges {
                        for statement in [
                            PhotoStatement.walk(filter, range, containing: nil, limit: 101),
                            .walk(
                                filter, range,
                                containing: FoundWords(try #require(try SearchWords(text: "be", words: nil))),
                                limit: 101),
                            .date(after: 1000, filter, range),
                        ] {
                            let plan = try plan(statement, in: connection)
                            let searches = plan.filter { $0.hasPrefix("SEARCH p USING ") }
                            #expect(searches.count == arms, "\(plan)")
                            #expect(searches.allSatisfy { $0.contains("\(index) (\(term) AND shown_at") }, "\(plan)")
                            #expect(!plan.contains { $0.contains("TEMP B-TREE") || $0.hasPrefix("SCAN") }, "\(plan)")
                        }
                    }
                    let total = try plan(.total(filter.ofAllPages), in: connection)
                    #expect(total.contains { $0.contains("COVERING INDEX \(index)") }, "\(total)")
                    #expect(!total.contains { $0.hasPrefix("SCAN p") }, "\(total)")
                }
            }
        }
        await database.close()
    }

    /// Every combination on either side of what is few, against a look at all: pages, counts, months and ids.
    @Test(arguments: [(3, 900), (3, 6000), (90, 600), (90, 6000)])
    func whatIsFoundIsWhatPasses(_ cameras: Int, _ count: Int) async throws {
        let folder = try TemporaryFolder()
        let database = try await filled(folder, photos: count) { number in
            number % 10 == 9 ? nil : "\(number % 2 == 0 ? "Ácme" : "Other") X\(number % cameras)"
        }
        try await database.read { connection in
            let table = PhotoTable(connection: connection)
            var all: [Photo] = []
            try table.forEach(since: nil) { all.append($0.photo) }
            all.sort { PhotoPlace($1) < PhotoPlace($0) }
            for (camera, isKnown) in [
                ("acme", nil), ("x1 OTHER", nil), ("x", nil), (nil, true), (nil, false), ("nowhere", nil), ("  ", nil),
            ] as [(String?, Bool?)] {
                for (category, favorites, reviewed, decision) in [
                    (nil, nil, nil, nil), (3, nil, nil, nil), (nil, true, nil, nil), (4, true, nil, nil),
                    (nil, nil, true, nil), (nil, nil, false, nil), (3, nil, nil, .trash), (4, true, true, nil),
                ] as [(Int64?, Bool?, Bool?, SwipeAction?)] {
                    for text in [nil, "DSC1"] {
                        func request(limit: Int? = nil, after: String? = nil) -> SearchPhotos {
                            SearchPhotos(
                                PhotoFilter(
                                    text: text, categoryId: category, from: LocalDateTime(milliseconds: 5),
                                    favoritesOnly: favorites, reviewed: reviewed, decision: decision, camera: camera,
                                    hasCamera: isKnown), limit: limit, after: after)
                        }
                        let wanted = all.filter { photo in
                            let words = (camera ?? "").searchFolded.split(separator: " ")
                            let name = photo.camera?.searchFolded
                            let isOfCamera =
                                isKnown == false
                                ? name == nil
                                : isKnown == nil && words.isEmpty
                                    || name.map { name in words.allSatisfy { name.contains($0) } } ?? false
                            return isOfCamera && photo.shownAt.milliseconds >= 5
                                && (category == nil || photo.categoryId == category)
                                && (favorites == nil || photo.isFavorite)
                                && (reviewed == nil || reviewed == (photo.lastDecision != nil))
                                && (decision == nil || photo.lastDecision == decision)
                                && (text == nil || photo.name.contains("DSC1"))
                        }.map(\.id)
                        let first = try table.page(PhotoQuery(request(limit: 7)))
                        var ids = first.photos.map(\.id)
                        if let next = first.next {
                            ids += try table.page(PhotoQuery(request(limit: 1000, after: next))).photos.map(\.id)
                        }
                        #expect(ids == Array(wanted.prefix(first.next == nil ? 7 : 1007)), "\(request())")
                        #expect(try table.count(PhotoQuery(request())) == wanted.count, "\(request())")
                        let months = try table.months(PhotoQuery(request()), most: 6000)
                        #expect(months.reduce(0) { $0 + $1.count } == wanted.count)
                        let selected = try table.ids(
                            PhotoIDQuery(
                                SelectPhotos(
                                    PhotoFilter(
                                        text: text, categoryId: category, from: LocalDateTime(milliseconds: 5),
                                        favoritesOnly: favorites, reviewed: reviewed, decision: decision,
                                        camera: camera, hasCamera: isKnown))))
                        #expect(selected.ids == wanted.sorted())
                    }
                }
            }
        }
        await database.close()
    }

    @Test func theListKnowsEveryCameraThatHasPhotos() async throws {
        let folder = try TemporaryFolder()
        let database = try await filled(folder, photos: 40) { $0 % 4 == 3 ? nil : $0 % 4 == 0 ? "Canon EOS" : "Leica" }
        try await database.write { connection in
            let (photos, trash) = (PhotoTable(connection: connection), TrashTable(connection: connection))
            func list() throws -> [String] {
                let list = try photos.cameras(limit: 1)
                let all = try photos.cameras(limit: 9)
                #expect(list.cameras == Array(all.cameras.prefix(1)) && list.count == all.cameras.count)
                return all.cameras.map { "\($0.name) \($0.photoCount)" } + ["\(list.withoutCamera)"]
            }
            #expect(try list() == ["Leica 20", "Canon EOS 10", "10"])
            let canon = try photos.page(PhotoQuery(SearchPhotos(PhotoFilter(camera: "canon")))).photos
            _ = try trash.add(Array(canon.dropFirst()), at: .now())
            #expect(try list() == ["Leica 20", "Canon EOS 1", "10"])
            _ = try photos.forget([canon[0].id])
            #expect(try list() == ["Leica 20", "10"])
            #expect(try trash.restore([canon[1].id]).isEmpty)
            #expect(try photos.require(.id(canon[1].id)).camera == "Canon EOS")
            #expect(try list() == ["Leica 20", "Canon EOS 1", "10"])
            var other = canon[1]
            other.camera = "Leica"
            _ = try photos.setFiles(of: other, line: nil, of: nil)
            #expect(try list() == ["Leica 21", "10"])
            try photos.removeAll()
            #expect(try list() == ["0"])
        }
        await database.close()
    }
}
