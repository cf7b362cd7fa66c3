import CatalogueTestSupport
import Database
import LibraryModel
@testable import SQLiteCatalogue
import ServiceMesh
import TestSupport
import Testing

/// The row ids of the text index: in the order of dates, and in step with every change.
@Suite struct SearchPlaceTests {
    private static let dates: [Int64] = [
        .max, .max - 1, 1 << 60, 1 << 43, 1 << 43 - 1, 1_400_000_000_000, 1_400_000_000_000 - 1 << 29, 1, 0, -1,
        -1 << 43, -1 << 43 - 1, -1 << 60, .min + 1, .min,
    ]

    @Test func placesAreInTheOrderOfDatesAndTheSameInSQLAndSwift() async throws {
        let folder = try TemporaryFolder()
        let database = try await DatabasePool.open(at: folder.file("c.sqlite"), schema: CatalogueSchema.schema)
        let places = try await database.read { connection in
            try Self.dates.flatMap { date in
                try [1, 1000, SearchPlace.maximumID].map { id in
                    let place =
                        try connection.value("SELECT " + SearchPlace.sql(date: "?1", id: "?2"), date, id) as Int64?
                    #expect(place == SearchPlace.first(shownAt: date) + id)
                    let found = try connection.value("SELECT " + SearchPlace.id(of: "?"), place) as Int64?
                    #expect(found == id)
                    return try #require(place)
                }
            }
        }
        #expect(places.allSatisfy { $0 > 0 })
        for (date, place) in zip(Self.dates, stride(from: 0, to: places.count, by: 3).map { places[$0] }) {
            #expect(SearchPlace.lastOfWeek(place) == SearchPlace.last(shownAt: date))
        }
        let weeks = places.map(SearchPlace.lastOfWeek)
        #expect(weeks == weeks.sorted())
        // A week apart is another week, a millisecond beyond the ends is not.
        #expect(SearchPlace.first(shownAt: Self.dates[5]) < SearchPlace.first(shownAt: Self.dates[6]))
        #expect(SearchPlace.first(shownAt: .max) == SearchPlace.first(shownAt: 1 << 43 - 1))
        await database.close()
    }

    /// A backup may say any id. The index holds 48 bits of it, and of those that come after it, so such a photo gets a
    /// new one.
    @Test func anIDThatTheIndexCannotHoldIsNotKept() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("c.sqlite")
        let database = try await DatabasePool.open(at: path, schema: CatalogueSchema.schema)
        let ids = try await database.write { connection in
            try connection.execute("INSERT INTO categories VALUES (1, 'a', 'a', 0, NULL, '#4CAF50', 0, 0)")
            let sample = SampleCatalogue()
            return try [7, SearchPlace.maximumID + 7, SearchPlace.maximumID, .max, 0, -7].enumerated().map {
                index, id in
                var photo = sample.photo(index, takenAt: 5).photo
                (photo.categoryId, photo.caption) = (1, nil)
                let digest = sample.photo(index, takenAt: 5).sourceDigest
                return try PhotoTable(connection: connection).insertRow(
                    SourcedPhoto(photo: photo, sourceDigest: digest, sourceSize: 1), id: id)
            }
        }
        #expect(ids == [7, 8, 9, 10, 11, 12])
        await database.close()
        #expect(try await catalogueProblems(at: path).isEmpty)
    }
}
