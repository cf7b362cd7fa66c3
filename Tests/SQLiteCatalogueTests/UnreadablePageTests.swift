import CatalogueTestSupport
import Database
import LibraryModel
import LibraryStorage
@testable import SQLiteCatalogue
import TestSupport
import Testing

/// Pages are full and walks come to the end, however many rows in between cannot be read.
@Suite struct UnreadablePageTests {
    @Test(arguments: [[String](), ["beach"]]) func pagesHaveAllOthersOnce(_ words: [String]) async throws {
        let folder = try TemporaryFolder()
        let database = try await DatabasePool.open(at: folder.file("c.sqlite"), schema: CatalogueSchema.schema)
        let sample = SampleCatalogue()
        try await database.write { connection in
            try connection.execute("INSERT INTO categories VALUES (1, 'a', 'a', 0, NULL, '#4CAF50', 0, 0)")
            try PhotoTable(connection: connection).insert(
                (0..<1_000).map { number in
                    var row = sample.photo(number, category: 1, takenAt: Int64(number / 3) * 1_000_000_000)
                    row.photo.caption = "at the beach"
                    return row
                })
            // More together than any part of a walk has, and single ones.
            try connection.execute(
                """
                UPDATE photos SET caption = CAST(x'FF' AS TEXT)
                WHERE id BETWEEN 100 AND 500 OR id % 10 = 0
                """)
        }
        let readable = (1...1_000).filter { !(100...500).contains($0) && $0 % 10 != 0 }.map(Int64.init)
        try await database.read { connection in
            let table = PhotoTable(connection: connection)
            var (found, next): ([Int64], String?) = ([], nil)
            repeat {
                let request = SearchPhotos(PhotoFilter(words: words.isEmpty ? nil : words), limit: 7, after: next)
                let page = try table.page(PhotoQuery(request))
                #expect(page.photos.count == 7 || page.next == nil)
                found += page.photos.map(\.id)
                next = page.next
            } while next != nil
            #expect(Array(found.reversed()) == readable)
            var (walked, after): ([Int64], Int64?) = ([], nil)
            while true {
                let part = try table.ids(PhotoIDQuery(SelectPhotos(limit: 256, after: after)))
                walked += try table.findReadable(part.ids.map { .id($0) }).map(\.id)
                guard let next = part.next else { break }
                after = next
            }
            #expect(walked == readable)
        }
        await database.close()
    }
}
